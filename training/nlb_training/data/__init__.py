"""What is learnt from: examples read, made and chosen, and their queries as vectors."""
