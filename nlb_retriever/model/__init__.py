"""The next-level encoder: from chunk vectors to the vectors of sections and books."""
