"""From files and texts to published books. `indexer.index_files` and `indexer.index_books` are the way in."""
