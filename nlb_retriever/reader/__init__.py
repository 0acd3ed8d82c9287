"""The reader: scores passages for a question and finds the words in them that answer it.

One cross-encoder gives both (`network.ReaderNetwork`). `load_reader` runs it through OpenVINO on the CPU,
without torch, or through torch on a GPU.
"""

from __future__ import annotations

from nlb_retriever.reader.interface import AnswerSpan, Reader, Reading
from nlb_retriever.reader.load import find_reader, load_reader

__all__ = ["AnswerSpan", "Reader", "Reading", "find_reader", "load_reader"]
