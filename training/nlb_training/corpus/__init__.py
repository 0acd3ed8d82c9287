"""A corpus: the chunk vectors of books on disk, made once and memory-mapped by training runs and their workers.

`cutting` chunks a book at a given length and offset, `storage` keeps one book in one chunking as one Arrow file,
`building` makes a folder of them from files, `books` opens it.
"""

from __future__ import annotations

from nlb_training.corpus.books import Corpus, open_corpus, write_listing
from nlb_training.corpus.building import build_corpus
from nlb_training.corpus.cutting import Chunking
from nlb_training.corpus.storage import CorpusBook

__all__ = ["Chunking", "Corpus", "CorpusBook", "build_corpus", "open_corpus", "write_listing"]
