"""The model card: README.md of a checkpoint, with its data, settings and results."""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from nlb_retriever.errors import counted
from nlb_training.corpus import Corpus
from nlb_training.data.examples import Example, read_lines

MODEL_CARD = "README.md"
UNKNOWN = "unknown"
_LICENCE = "licence"
"""Key of a row that names its licence."""
_LIBRARIES = ("nlb-retriever", "torch", "transformers", "accelerate", "datasets", "numpy", "tokenizers", "openvino")


def list_versions() -> dict[str, str]:
    """Versions of Python and of the libraries that a result depends on."""
    versions = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed as a package"
    return versions


def describe_data(
    corpus: Corpus, examples: Sequence[Example], files: Sequence[Path], licences: Mapping[str, str]
) -> dict[str, Any]:
    """The training data, with the licences that the user or the rows name.

    Args:
        corpus: the books.
        examples: all that were used.
        files: that examples were read from.
        licences: "books", or the name of an example file with or without its suffixes -> licence.
    """
    books = {book.content_hash: book for book in corpus.books}
    return {
        "books": {
            "count": len(books),
            "licence": licences.get("books", UNKNOWN),
            "tokens": sum(book.tokens for book in corpus.books) // max(1, len({b.chunking for b in corpus.books})),
            "sequences": len(corpus.books),
            "chunks": corpus.chunks,
            "chunkings": sorted({str(book.chunking) for book in corpus.books}),
            "files": [{"file": book.file, "title": book.title, "author": book.author} for book in books.values()],
            "failed": [file.reason for file in corpus.failed],
        },
        "example_files": [{"file": file.name, "licence": _licence(file, licences)} for file in files],
        "examples": dict(sorted(Counter(f"{one.kind} -> {one.level}" for one in examples).items())),
    }


def format_model_card(name: str, facts: Mapping[str, Any]) -> str:
    """The text of the model card.

    Args:
        name: of the checkpoint.
        facts: content of training.json.
    """
    settings, data, model = facts["settings"], facts["data"], facts["model"]
    encoder, preset = settings["chunk_encoder"], settings["preset"]
    books = data["books"]
    chunks = f"up to {preset['corpus']['tokens']} tokens" if preset["corpus"]["tokens"] else "one sentence each"
    lines = [
        f"# {name}",
        "",
        "A next-level encoder (after NextLevelBERT, arXiv 2402.17682): from the vectors of a book's chunks it "
        "computes the vectors of its sections and of the book. Use it with",
        "",
        "    nlb index --checkpoint THIS-FOLDER BOOKS",
        "",
        f"- chunk encoder: {encoder['name']}, {encoder['dim']} numbers a vector, SHA-256 of its weights "
        f"`{encoder['sha256']}`",
        f"- chunks: {chunks}, never across a section's border",
        _shape(model, facts.get("retrieval")),
        f"- started from: {facts['start']}",
        f"- identity (SHA-256 of its config and weights): `{facts['sha256']}`",
        "",
        "## Data",
        "",
        f"- {counted(books['count'], 'book')}, {books['tokens']:,} tokens, cut into "
        f"{books['chunks']:,} chunks "
        f"({'; '.join(books['chunkings'])}). Licence: {books['licence']}",
        *_examples(data, trained=facts.get("retrieval") is not None),
        *([f"- {len(books['failed'])} files could not be used, see training.json"] if books["failed"] else []),
        "",
        "The books are listed in training.json.",
        "",
        "## Training",
        "",
        f"    {facts['command'] or 'from Python'}",
        "",
        f"Preset {preset['name']}, seed {preset['loop']['seed']}. {preset['about']}",
        "",
        *_pretraining(facts["pretraining"]),
        *_retrieval(facts.get("retrieval")),
        "Every setting:",
        "",
        "```json",
        json.dumps({key: value for key, value in preset.items() if key not in {"name", "about"}}, indent=1),
        "```",
        "",
        "## Versions",
        "",
        ", ".join(f"{library} {number}" for library, number in facts["versions"].items()),
        "",
    ]
    return "\n".join(lines)


def _shape(model: Mapping[str, Any], retrieval: Mapping[str, Any] | None) -> str:
    mapped = "; an affine projection for each kind of text" if retrieval else ""
    if retrieval and retrieval["order_dim"]:
        mapped += f"; {retrieval['order_dim']} order features at the end of section vectors"
    if not model["layers"]:
        return f"- shape: no backbone, sections and books are means of chunk vectors{mapped}"
    return (
        f"- shape: {model['layers']} layers of {model['backbone']}, {model['hidden']} wide, {model['heads']} attention "
        f"heads, windows of {model['positions'] - 2} chunks{mapped}"
    )


def _examples(data: Mapping[str, Any], *, trained: bool) -> Iterator[str]:
    for file in data["example_files"]:
        yield f"- examples from {file['file']}. Licence: {file['licence']}"
    if data["examples"]:
        counts = ", ".join(f"{count:,} {kind}" for kind, count in data["examples"].items())
        use = "" if trained else ", in run/examples.jsonl; not used, as this run had no retrieval training"
        yield f"- examples (query -> level): {counts}{use}"


def _pretraining(figures: Mapping[str, Any] | None) -> Iterator[str]:
    if figures is None:
        yield from ("No pretraining.", "")
        return
    yield (
        f"Masked-chunk pretraining: {figures['steps']:,} steps, loss {figures['first_loss']:.4g} -> "
        f"{figures['last_loss']:.4g} (means of the first and last twentieth; loss.png)."
    )
    yield ""
    if rows := figures["held_out"]:
        names = [name for name in rows[0] if name != "step"]
        yield f"| held-out books, after step | {' | '.join(names)} |"
        yield f"|---|{'---|' * len(names)}"
        for row in rows:
            yield f"| {row['step']:,} | {' | '.join(f'{row[name]:.4g}' for name in names)} |"
        yield ""


def _retrieval(figures: Mapping[str, Any] | None) -> Iterator[str]:
    if figures is None:
        yield from ("No retrieval training.", "")
        return
    held_out, reranker = figures.get("held_out"), figures.get("reranker")
    if figures["trained"]:
        yield (
            f"Retrieval training of the projections: {figures['examples']:,} examples on "
            f"{figures['books_with_examples']} of {figures['books']} books, started from {figures['start']}, "
            f"{figures['steps']} steps, loss {figures['first_loss']:.4g} -> {figures['last_loss']:.4g} "
            "(retrieval-loss.png)."
        )
    elif held_out:
        yield (
            f"Retrieval training on {figures['examples']:,} examples made results on held-out books worse, so its "
            f"projections were not kept: those of this checkpoint are the start ({figures['start']})."
        )
    elif reranker:
        yield (
            f"Only the reranker was trained, on {figures['books_with_examples']} of {figures['books']} books: the "
            f"projections are the start ({figures['start']})."
        )
    else:
        yield (f"No retrieval training, as there were no examples: the projections are the start ({figures['start']}).")
    yield ""
    if held_out:
        yield (
            f"Measured on {held_out['books']} of these books, with projections that were trained without them"
            f"{'; those of this checkpoint were then trained on all' if figures['trained'] else ''}. MRR x 100, "
            "among the sections, passages or books of those books:"
        )
        yield from ("", "| level, query | means of chunk vectors | start | trained |", "|---|---|---|---|")
        for name, raw in held_out["raw"].items():
            yield f"| {name} | {raw:.1f} | {held_out['start'][name]:.1f} | {held_out['trained'][name]:.1f} |"
        yield ""
    if reranker and "after reranking" in reranker:
        yield (
            f"Reranker, over the 50 best sections by projections and BM25 ({reranker['queries']:,} queries of three "
            "sentences or more on those books, cross-validated over two halves of the books): MRR "
            f"{reranker['before reranking']:.1f} -> {reranker['after reranking']:.1f}."
        )
        yield ""


def _licence(file: Path, licences: Mapping[str, str]) -> str:
    """That named by the user, else by the rows, else unknown."""
    for name in (file.name, file.name.removesuffix(".bz2"), file.name.removesuffix(".bz2").removesuffix(".jsonl")):
        if name in licences:
            return licences[name]
    named: set[str] = set()
    for line in read_lines(file):
        if _LICENCE in line:
            with suppress(ValueError, AttributeError):
                named.add(str(json.loads(line).get(_LICENCE)))
    return ", ".join(sorted(named)) or UNKNOWN
