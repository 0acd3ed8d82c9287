"""Printed pages: their lines, numbers, running heads, notes and titles."""
