"""Masked-chunk pretraining of the backbone."""
