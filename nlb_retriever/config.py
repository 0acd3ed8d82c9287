"""What a library pins, and where libraries are."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from nlb_retriever.errors import LibraryNotFound, MismatchError, NlbError, StoreError, brief
from nlb_retriever.records import Level

RELEASED = "released"
"""What a manifest calls the trained checkpoint that comes with the package."""
UNTRAINED = "untrained"
"""What it calls the one whose vectors are means of chunk vectors, for chunk encoders that the other does not fit."""

DEFAULT_CHUNK_TOKENS = 256
"""Tokens of a chunk in the paper (arXiv 2402.17682, section 3)."""

FORMAT = 2
"""Version of a manifest; raised when older libraries can no longer be read."""

OTHER_VERSION = "use the version that made it, or index your books into another library"
"""What to do with a library that another version wrote."""
_HERE = re.compile(r"http://([^/@]*@)?(localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1\])(:\d+)?(/|$)", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What every vector in a library was made with; a library refuses anything else."""

    chunk_encoder: str
    """Its name or folder."""
    chunk_encoder_sha256: str
    """Hash of its weights."""
    dim: int
    """Numbers of the vectors of passages and books."""
    chunk_tokens: int
    """Tokens a chunk with [CLS] and [SEP]; 0 for one sentence a chunk."""
    checkpoint: str
    """Folder of the next-level encoder's checkpoint, or "released" or "untrained"."""
    checkpoint_sha256: str
    order_dim: int = 0
    """Length of the order features that follow the first `dim` numbers of a section's vector."""
    terms_sha256: str | None = None
    """Hash of what made the vectors of terms; None where there are none, as in libraries of former versions."""
    format: int = FORMAT

    @property
    def dims(self) -> dict[Level, int]:
        """Numbers of the vectors of each level."""
        return {"book": self.dim, "section": self.dim + self.order_dim, "passage": self.dim}

    def to_dict(self) -> dict[str, Any]:
        """All keys; without `terms_sha256` where there is none, as former versions read it."""
        return {key: value for key, value in asdict(self).items() if value is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Manifest:
        """Read back what `to_dict` made.

        Raises:
            MismatchError: a key is missing or unknown, or the format is not this version's.
        """
        known = {field.name for field in fields(cls)}
        if values.get("format") != FORMAT:
            raise MismatchError(
                f"the library has format {values.get('format')!r}, this version reads {FORMAT}: {OTHER_VERSION}"
            )
        if wrong := sorted((known ^ set(values)) - {"terms_sha256"}):
            raise MismatchError(f"the library's manifest has wrong or missing keys {wrong}: {OTHER_VERSION}")
        return cls(**values)

    def fingerprint(self) -> str:
        """Hash of all that decides a book's vectors besides its content, 16 hexadecimal digits."""
        return hashlib.sha256(json.dumps(self._decisive(), sort_keys=True).encode()).hexdigest()[:16]

    def _decisive(self) -> dict[str, Any]:
        """All but the names: a model is the same in whatever folder it is."""
        return {key: value for key, value in self.to_dict().items() if key not in {"chunk_encoder", "checkpoint"}}

    def check(self, other: Manifest, library: str) -> None:
        """Refuse `other` (what the caller wants to use) where it differs from what the library was made with.

        Raises:
            MismatchError: naming each difference with both values.
        """
        mine, theirs = self._decisive(), other._decisive()
        different = [key for key in mine if key in theirs and mine[key] != theirs[key]]
        if not different:
            return
        differences = "; ".join(
            f"{key} {_short(mine[key])} in the library, {_short(theirs[key])} requested" for key in different
        )
        same = self.chunk_encoder == other.chunk_encoder
        how = "with other settings" if same else f"with {self.chunk_encoder}, not {other.chunk_encoder}"
        raise MismatchError(
            f"library {library} was made {how} ({differences}): "
            "run `nlb index --rebuild`, or use the encoder it was made with"
        )


def _short(value: object) -> str:
    return value[:12] if isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) else str(value)


def home() -> Path:
    """The folder that holds all named libraries: $NLB_HOME, else the platform's user data folder.

    Raises:
        StoreError: $NLB_HOME names the home folder of an unknown user, or without it this user has none.
    """
    if folder := os.environ.get("NLB_HOME"):
        return _absolute(folder, "NLB_HOME")
    from platformdirs import user_data_path

    with suppress(RuntimeError):
        found = user_data_path("nlb-retriever")
        if found.is_absolute():  # former versions of platformdirs leave the "~" there
            return found
    raise StoreError("this user has no home folder: set NLB_HOME to a folder for libraries and the cache")


def locate_library(library: str | Path | None = None) -> str | Path:
    """Turn what a user calls a library into its folder, or into its URL on a server.

    Args:
        library: a folder's path, a plain name (a folder under `home()`), a URL
            (`http://host:6333/NAME`), or None for $NLB_LIBRARY, else the library "default".

    Raises:
        StoreError: it is none of these.
    """
    if library is None:
        library = os.environ.get("NLB_LIBRARY") or "default"
    if isinstance(library, Path):
        return _absolute(library, "library")
    if not isinstance(library, str):
        raise StoreError(f"a library is a folder, a name or a URL, not {brief(library)}")
    if "://" in library:
        return _check_url(library)
    if "/" in library or os.sep in library or library in {".", ".."} or library.startswith("~"):
        return _absolute(library, "library")
    if not _NAME.fullmatch(library):
        raise StoreError(
            f"{library!r} is not a library's name: use letters, digits, '.', '_' and '-', or a path with '/'"
        )
    return home() / "libraries" / library


def missing_library(location: str | Path) -> LibraryNotFound:
    """The error where a library is looked for and is not; a folder of that name here may be the one that was meant."""
    here = Path(Path(location).name)
    is_here = os.path.isfile(here / "library.json") and "://" not in str(location)  # noqa: PTH113 - never raises
    hint = f"there is one in this folder: ./{here}" if is_here else "run `nlb index FOLDER` first"
    return LibraryNotFound(f"no library at {location}: {hint}")


def expand(path: str | Path) -> Path:
    """A path with its `~` or `~name` replaced.

    Raises:
        NlbError: there is no such user, or it is no path.
    """
    try:
        return Path(path).expanduser()
    except TypeError as error:
        raise NlbError(f"a name or a folder must be a string or a Path, not {brief(path)}") from error
    except RuntimeError as error:
        raise NlbError(f"{path}: there is no home folder of that user: write the whole path") from error


def stays_here(url: str) -> bool:
    """Whether requests to a server stay on this machine: no proxy that the environment names stands between."""
    return _HERE.match(url) is not None


def unusable_network(error: Exception) -> str:
    """What to say where no HTTP client can be made: of the environment's proxies one is of an unknown kind, or so."""
    reason = str(error).partition(". ")[0]
    return (
        f"the proxies or certificates that the environment names cannot be used ({reason}): "
        "check ALL_PROXY, HTTPS_PROXY, HTTP_PROXY and SSL_CERT_FILE"
    )


def _absolute(path: str | Path, what: str) -> Path:
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError as error:  # ~name of an unknown user
        raise StoreError(f"{what} {path}: there is no home folder of that user: write the whole path") from error


def _check_url(url: str) -> str:
    """A library's URL; one that could hold a secret is refused, and not repeated.

    Raises:
        StoreError: it is not `http(s)://HOST[:PORT]/NAME`.
    """
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        is_address = parts.hostname and parts.port != 0 and not parts.netloc.endswith(":")
    except ValueError:
        raise StoreError("this is not a library's URL: write http://HOST:6333/NAME") from None
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise StoreError(
            "a library's URL is http://HOST:6333/NAME, without user, password or '?': put the key into QDRANT_API_KEY"
        )
    if parts.scheme not in {"http", "https"} or not is_address or not _NAME.fullmatch(parts.path.strip("/")):
        raise StoreError(f"{url} is not a library's URL: write http://HOST:6333/NAME")
    return parts.geturl()
