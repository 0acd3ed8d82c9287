"""What the package promises to those who import it."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import nlb_integrations.prose
import nlb_retriever
from nlb_retriever import (
    Answer,
    BookRecord,
    IndexEvent,
    IndexReport,
    PassageRecord,
    Retriever,
    SearchRequest,
    SearchResult,
    SectionRecord,
    book_from_text,
    errors,
    index_books,
    index_files,
    open_store,
)

CALLS: tuple[Any, ...] = (
    Retriever.__init__,
    Retriever.search,
    Retriever.answer,
    Retriever.run,
    Retriever.store.fget,  # type: ignore[attr-defined]
    Retriever.vectorizer.fget,  # type: ignore[attr-defined]
    index_files,
    index_books,
    book_from_text,
    open_store,
)
RECORDS = (Answer, SearchRequest, SearchResult, IndexReport, IndexEvent, BookRecord, SectionRecord, PassageRecord)


def own_types(annotation: Any) -> Iterator[type]:
    """The package's own classes that an annotation is made of."""
    if parts := typing.get_args(annotation):
        for part in parts:
            yield from own_types(part)
    elif isinstance(annotation, list):
        for part in annotation:
            yield from own_types(part)
    elif inspect.isclass(annotation) and annotation.__module__.startswith("nlb_retriever"):
        yield annotation


def mentioned() -> set[type]:
    """The package's own classes in public signatures, and in the fields of the records among them."""
    hints = [hint for call in CALLS for hint in typing.get_type_hints(call).values()]
    seen: set[type] = set()
    queue = [*RECORDS, *(kind for hint in hints for kind in own_types(hint))]
    while queue:
        kind = queue.pop()
        if dataclasses.is_dataclass(kind) and kind not in seen:
            queue += [each for hint in typing.get_type_hints(kind).values() for each in own_types(hint)]
        seen.add(kind)
    return seen


def test_every_public_name_can_be_imported() -> None:
    assert nlb_retriever.__version__[0].isdigit()
    for name in nlb_retriever.__all__:
        assert getattr(nlb_retriever, name) is not None


def test_every_error_is_public() -> None:
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, errors.NlbError):
            assert getattr(nlb_retriever, name) is kind


def test_every_type_of_a_public_signature_is_public() -> None:
    kinds = mentioned()
    assert nlb_retriever.Citation in kinds and nlb_retriever.Condition in kinds
    missing = {kind.__name__ for kind in kinds if kind.__name__ not in nlb_retriever.__all__}
    assert not missing


def test_importing_the_package_loads_no_heavy_library() -> None:
    heavy = {"torch", "transformers", "numpy", "openvino", "qdrant_edge", "qdrant_client", "tokenizers", "llama_index"}
    code = f"import sys, nlb_retriever; loaded = {heavy!r} & set(sys.modules); assert not loaded, loaded"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_completion_knows_the_names_that_are_resolved_when_first_used() -> None:
    for package in (nlb_retriever, nlb_integrations, nlb_integrations.prose):
        assert set(dir(package)) >= {"__name__", *package.__all__}


def test_all_that_is_public_is_described() -> None:
    public = {name: getattr(nlb_retriever, name) for name in nlb_retriever.__all__}
    public = {name: each for name, each in public.items() if inspect.isclass(each) or inspect.isfunction(each)}
    for name, kind in list(public.items()):
        for key, member in vars(kind).items():
            if not key.startswith("_") and isinstance(member, FunctionType | property):
                public[f"{name}.{key}"] = member
    made = {name for name, each in public.items() if str(each.__doc__).startswith(f"{name}(")}  # by dataclass
    assert len(public) > 60 and not made
    assert [name for name, each in public.items() if not each.__doc__] == []


def test_all_that_is_installed_is_typed() -> None:
    top = Path(nlb_retriever.__file__).parents[1]
    packages = [
        top / "nlb_retriever",
        top / "cli/nlb_cli",
        top / "integrations/nlb_integrations",
        top / "training/nlb_training",
    ]
    packages += [path.parent for path in (top / "integrations/llama_index").glob("*/nlb/__init__.py")]
    assert len(packages) == 9
    assert [package for package in packages if not (package / "py.typed").is_file()] == []
