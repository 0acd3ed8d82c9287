"""Answers of a library: by a question's form where it has one, else by the sentences and words of passages."""
