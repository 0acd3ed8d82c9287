"""Files to books: `discover` finds them, `ReaderPool` (or `read_book`) reads them.

The formats are those of `book.FORMATS`. A module of `formats` makes a `Draft` (text, headings, metadata);
`structure.partition` cuts it into sections.
"""

from nlb_retriever.reading.book import hash_file, hash_of_bytes, is_read_alike, read_book
from nlb_retriever.reading.containers.unpacked import is_book_file
from nlb_retriever.reading.discovery import Discovery, discover
from nlb_retriever.reading.limits import DEFAULT, Limits
from nlb_retriever.reading.pool import ReaderPool

__all__ = [
    "DEFAULT",
    "Discovery",
    "Limits",
    "ReaderPool",
    "discover",
    "hash_file",
    "hash_of_bytes",
    "is_book_file",
    "is_read_alike",
    "read_book",
]
