"""A training run from books to a checkpoint: corpus -> examples -> pretraining -> retrieval -> saving.

Each stage writes its result, so that a resumed run skips it; `nlb_training.run_folder` lists the files.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nlb_retriever.atomic import write_file
from nlb_retriever.config import expand
from nlb_retriever.encoding import DEFAULT_ENCODER, identify_encoder, load_encoder
from nlb_retriever.errors import TrainingError
from nlb_retriever.model import checkpoint as checkpoints
from nlb_retriever.model.checkpoint import FILES, Checkpoint
from nlb_retriever.records import source_of
from nlb_training.corpus import Chunking, Corpus, build_corpus, open_corpus, write_listing
from nlb_training.data.examples import Example, Problem, find_borders, match_examples, read_examples, write_examples
from nlb_training.data.selection import select_books
from nlb_training.data.synthetic import PseudoQueries, make_sentence_queries, make_title_queries
from nlb_training.events import Observer, StageEvent
from nlb_training.model_card import MODEL_CARD, describe_data, format_model_card, list_versions
from nlb_training.pretraining.history import LOSS_FILE, PLOT_FILE, History
from nlb_training.report import Request, TrainingReport, describe_history
from nlb_training.run_control import lock_folder, report_disk_errors
from nlb_training.run_folder import (
    CORPUS,
    ENCODER,
    EXAMPLES,
    LISTING,
    PRETRAINING,
    RECORD,
    RETRIEVAL,
    RUN,
    hash_examples,
    open_run,
    read_history,
)
from nlb_training.settings import write_json

if TYPE_CHECKING:
    from pathlib import Path

    from nlb_retriever.model.next_level import NextLevelEncoder
    from nlb_retriever.model.projections import Projections
    from nlb_training.projections.stage import RetrievalResult


def train(request: Request, *, resume: bool = False, observer: Observer | None = None) -> TrainingReport:
    """Train a next-level encoder, or continue a run that was stopped.

    Raises:
        TrainingInterrupted: pretraining was stopped, and can be resumed.
        TrainingError: no usable book, settings that differ from those of the run to resume, damaged vectors or files.
        EncoderError: an encoder or checkpoint is missing or damaged, or the two do not fit together.
    """
    return _Run(request, observer or (lambda event: None)).execute(resume=resume)


class _Run:
    """One run and its stages."""

    def __init__(self, request: Request, observe: Observer) -> None:
        self.request = request
        self.preset = request.preset
        self.observe = observe
        self.out = expand(request.out).absolute()
        self.folder = self.out / RUN
        self.started = time.monotonic()
        name = request.start or self.preset.start
        self.start = None if name == "scratch" else checkpoints.load(None if name == "released" else name)
        config = self.start.config if self.start else None
        self.chunk_encoder = request.chunk_encoder or (config.chunk_encoder if config else None) or DEFAULT_ENCODER
        self.identity = identify_encoder(self.chunk_encoder)
        self.chunking = Chunking(tokens=self.preset.corpus.tokens)
        """That of libraries; a corpus may have others beside it."""
        if self.start:
            self.start.check(self.identity, self.preset.corpus.tokens)
            self.start.build()  # fail now if the weights are damaged, not hours later

    def execute(self, *, resume: bool) -> TrainingReport:
        with report_disk_errors(self.folder):
            open_run(self.out, self._record(), resume=resume)
            with lock_folder(self.folder):
                return self._train()

    def _train(self) -> TrainingReport:
        user_examples, unreadable = self._read_examples()
        corpus = self._build_corpus(user_examples)
        examples, unmatched = self._make_examples(corpus, user_examples)
        encoder, history = self._pretrain(corpus)
        result = self._train_retrieval(encoder, corpus, examples)
        return TrainingReport(
            checkpoint=self._save(encoder, corpus, examples, history, result),
            corpus=corpus,
            examples=dict(sorted(Counter(example.kind for example in examples).items())),
            problems=(*unreadable, *unmatched),
            pretraining=history,
            retrieval=result.figures if result else None,
            seconds=time.monotonic() - self.started,
        )

    def _record(self) -> dict[str, Any]:
        """All settings that the result depends on."""
        return {
            "books": [os.path.abspath(os.path.expanduser(books)) for books in self.request.books],  # noqa: PTH100, PTH111
            "examples": {source_of(file): hash_examples(file) for file in self.request.examples},
            "preset": self.preset.to_dict(),
            "start": self.start.sha256 if self.start else "scratch",
            "chunk_encoder": asdict(self.identity),
        }

    def _read_examples(self) -> tuple[list[Example], list[Problem]]:
        examples: list[Example] = []
        problems: list[Problem] = []
        for file in self.request.examples:
            read, wrong = read_examples(file)
            examples += read
            problems += wrong
        return examples, problems

    def _build_corpus(self, user_examples: Sequence[Example]) -> Corpus:
        folder = self.request.corpus or self.folder / CORPUS
        listing = self.folder / LISTING  # of this run; other runs may add books to a shared corpus
        if listing.exists():
            self.observe(StageEvent(stage="corpus", done=True))
            return open_corpus(folder, listing=listing)
        self.observe(StageEvent(stage="corpus"))
        books: Sequence[str | Path] = self.request.books
        corpus = build_corpus(
            select_books(books, user_examples) if self.preset.corpus.examples_only else books,
            folder,
            encoder=load_encoder(self.chunk_encoder, device=self.request.device),
            chunkings=self.preset.corpus.chunkings(),
            borders=find_borders(user_examples),
            observer=self.observe,
        )
        write_listing(listing, self.identity, corpus)
        return corpus

    def _make_examples(self, corpus: Corpus, user_examples: Sequence[Example]) -> tuple[list[Example], list[Problem]]:
        """The user's examples and synthetic ones, each with the path of its book."""
        file = self.folder / EXAMPLES
        books = {book.source: book for book in corpus.books if book.chunking == self.chunking}
        matched, problems = match_examples(user_examples, {path: book.characters for path, book in books.items()})
        if file.exists():
            self.observe(StageEvent(stage="examples", done=True))
            examples, damages = read_examples(file)
            if damages:
                raise TrainingError(f"{damages[0]}: delete {file}, and run the same command with --resume")
            return examples, problems
        self.observe(StageEvent(stage="examples"))
        settings = self.preset.examples
        examples = [replace(example, file=path) for example, path in matched]
        for path, book in books.items():
            sections = corpus.sections(book)
            if settings.titles:
                examples += make_title_queries(path, sections)
            if settings.sentences:
                form = PseudoQueries(each=settings.sentences, sentences=(settings.least, settings.most))
                text, chunks, seed = corpus.text(book), corpus.spans(book), self.preset.loop.seed
                examples += make_sentence_queries(path, text, sections, chunks, seed=seed, form=form)
        write_examples(file, examples)
        return examples, problems

    def _pretrain(self, corpus: Corpus) -> tuple[NextLevelEncoder, History | None]:
        from nlb_training.pretraining.masked_chunks import pretrain

        settings = self.preset.pretraining
        folder = self.folder / PRETRAINING
        result = folder / ENCODER
        if (result / FILES.config).exists():
            self.observe(StageEvent(stage="pretraining", done=True))
            return checkpoints.load(result).build(), read_history(folder)
        encoder = self._initial_encoder()
        if settings is None:
            return encoder, None
        self.observe(StageEvent(stage="pretraining"))
        corpus.verify()
        training, held_out = self._split(corpus)
        history = pretrain(
            encoder,
            training,
            settings,
            self.preset.loop,
            folder,
            held_out=held_out,
            observer=self.observe,
        )
        self._write_checkpoint(encoder, result)
        shutil.rmtree(folder / "checkpoints", ignore_errors=True)
        return encoder, history

    def _initial_encoder(self) -> NextLevelEncoder:
        """The encoder before pretraining: that of the start, or a new one of the preset's shape."""
        from nlb_retriever.model.next_level import NextLevelEncoder
        from nlb_training.pretraining.masked_chunks import new_encoder

        preset = self.preset
        shape = preset.new_model(self.identity.dim)
        if self.start and self.start.config.model.layers:
            return self.start.build()
        if preset.pretraining is None:
            if preset.retrieval is None:
                raise TrainingError(
                    f"preset {preset.name} has no [retrieval], no [pretraining], and there is no backbone to start "
                    "from: nothing to train"
                )
            return NextLevelEncoder(replace(shape, layers=0)).eval()
        if not shape.layers:
            raise TrainingError(
                f"preset {preset.name} has [pretraining] and no layers to pretrain: "
                "set model.layers, or remove [pretraining]"
            )
        return new_encoder(shape, preset.pretraining, chunk_encoder=self.chunk_encoder, seed=preset.loop.seed)

    def _train_retrieval(
        self, encoder: NextLevelEncoder, corpus: Corpus, examples: Sequence[Example]
    ) -> RetrievalResult | None:
        from nlb_training.projections.stage import read_result, train_retrieval

        settings = self.preset.retrieval
        if settings is None:
            return None
        folder = self.folder / RETRIEVAL
        if result := read_result(folder, self.identity.dim):
            self.observe(StageEvent(stage="retrieval", done=True))
            return result
        self.observe(StageEvent(stage="retrieval"))
        return train_retrieval(
            corpus.select(lambda book: book.chunking == self.chunking),
            examples,
            settings,
            folder,
            seed=self.preset.loop.seed,
            load=lambda: load_encoder(self.chunk_encoder, device=self.request.device),
            encoder=encoder,
            start=self.start.projections if self.start else None,
            observer=self.observe,
        )

    def _split(self, corpus: Corpus) -> tuple[Corpus, Corpus | None]:
        """Books to pretrain on, and those held out, in the chunking of libraries."""
        hashes = sorted({book.content_hash for book in corpus.books})
        count = round(self.preset.corpus.held_out * len(hashes))
        random = np.random.default_rng(self.preset.loop.seed)
        aside = set(random.permutation(hashes)[:count].tolist())
        training = corpus.select(lambda book: book.content_hash not in aside)
        held_out = corpus.select(lambda book: book.content_hash in aside and book.chunking == self.chunking)
        return training, held_out if held_out.books else None

    def _save(
        self,
        encoder: NextLevelEncoder,
        corpus: Corpus,
        examples: Sequence[Example],
        history: History | None,
        result: RetrievalResult | None,
    ) -> Checkpoint:
        """Write the checkpoint, its model card and the plots to the run's folder; the config last."""
        config = self.out / FILES.config
        if config.exists():
            self.observe(StageEvent(stage="saving", done=True))
            return checkpoints.load(self.out)
        self.observe(StageEvent(stage="saving"))
        kept = self.start.projections if self.start else None
        saved = self._write_checkpoint(encoder, self.folder / "result", result.projections if result else kept)
        facts = {
            "command": self.request.command,
            "settings": {
                **self._record(),
                "books": list(self.request.books),  # as typed: the card's readers have other folders
                "examples": {file.name: hash_examples(file) for file in self.request.examples},
            },
            "start": self._start_name(),
            "data": describe_data(corpus, examples, self.request.examples, self.request.licences),
            "pretraining": describe_history(history) if history else None,
            "retrieval": dict(result.figures) if result else None,
            "model": saved.config.model.to_dict(),
            "sha256": saved.sha256,
            "versions": list_versions(),
        }
        write_json(self.out / RECORD, facts)
        write_file(self.out / MODEL_CARD, format_model_card(self.out.name, facts).encode())
        for name in (LOSS_FILE, PLOT_FILE):
            if history and (file := self.folder / PRETRAINING / name).exists():
                shutil.copyfile(file, self.out / name)
            if result and (file := self.folder / RETRIEVAL / name).exists():
                shutil.copyfile(file, self.out / f"{RETRIEVAL}-{name}")
        for name in (FILES.weights, FILES.config):
            (saved.folder / name).replace(self.out / name)
        shutil.rmtree(saved.folder)
        return checkpoints.load(self.out)

    def _start_name(self) -> str:
        if self.start is None:
            return "scratch"
        new = not self.start.config.model.layers and self.preset.pretraining
        return f"{self.start.name}, with a new backbone" if new else self.start.name

    def _write_checkpoint(
        self, encoder: NextLevelEncoder, folder: Path, projections: Projections | None = None
    ) -> Checkpoint:
        return checkpoints.save(
            encoder,
            folder,
            name=self.out.name,
            chunk_encoder=self.identity,
            chunk_tokens=self.preset.corpus.tokens if encoder.config.layers else None,
            projections=projections,
        )
