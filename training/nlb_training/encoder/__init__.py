"""Training of the chunk encoder itself, end to end, on books and what people say about them."""
