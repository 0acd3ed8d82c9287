"""Headings and sections that a plain text shows by its words, numbers and lines."""
