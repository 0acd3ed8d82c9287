"""The reading side: a question to ranked hits at one level, coarse to fine, dense and BM25 fused."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Literal

from nlb_retriever import checkpoint as checkpoints
from nlb_retriever.config import RELEASED, Manifest, locate_library
from nlb_retriever.encoding import Vectors, load_encoder
from nlb_retriever.errors import MismatchError, QueryError
from nlb_retriever.fusion import Candidates
from nlb_retriever.records import LEVELS, Hit, Level
from nlb_retriever.store import And, BookEntry, Condition, Filter, LibraryStore, StoredPoint, StoreQuery, open_store
from nlb_retriever.vectorizer import Vectorizer

Mode = Literal["fused", "dense", "bm25"]
Strategy = Literal["coarse-to-fine", "flat"]
