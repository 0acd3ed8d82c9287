"""Training of the reader: questions with passages in, a cross-encoder that finds and judges answers out."""
