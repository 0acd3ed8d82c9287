"""What both searching and indexing do with text: sentences, chunks, words."""
