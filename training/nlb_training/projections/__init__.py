"""Retrieval training: the projections and the reranker over them."""
