"""Adapters of the library to other people's frameworks."""
