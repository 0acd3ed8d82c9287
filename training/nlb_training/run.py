"""A training run from books to a checkpoint, stage by stage; each leaves its result, so that a resume skips it.

The folder of a run becomes that of its checkpoint:

    config.json model.safetensors    the next-level encoder, for `nlb index --checkpoint`; written last
    README.md                        its model card
    training.json                    every setting of the run and what came of it
    loss.json loss.png               of pretraining
    retrieval-loss.json, .png        of retrieval training
    run/                             what the stages left: settings.json, corpus.json, corpus/ (with the vectors of
                                     queries), examples.jsonl, pretraining/, retrieval/

Stages: corpus -> examples -> pretraining -> retrieval -> saving. Where several processes train together (RANK says
which one this is), the first makes corpus, examples, heads and checkpoint, and the others wait for it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nlb_retriever.encoding import DEFAULT_ENCODER, identify_encoder, load_encoder
from nlb_retriever.errors import TrainingError
from nlb_retriever.model import checkpoint as checkpoints
from nlb_retriever.model.checkpoint import FILES, Checkpoint
from nlb_retriever.records import source_of
from nlb_training.corpus import Chunking, Corpus, build_corpus, open_corpus, write_listing, write_whole
from nlb_training.data.examples import Example, Problem, find_borders, match_examples, read_examples, write_examples
from nlb_training.data.selection import name_books
from nlb_training.data.synthetic import PseudoQueries, ask_sentences, ask_titles
from nlb_training.model_card import CARD, describe_data, list_versions, write_card
from nlb_training.pretraining.loop import LOSS_FILE, PLOT_FILE, SETTINGS_FILE, History
from nlb_training.report import Observer, QueryEvent, Request, StageEvent, TrainingReport, describe_history
from nlb_training.settings import list_differences

if TYPE_CHECKING:
    from nlb_retriever.model.next_level import NextLevelEncoder
    from nlb_retriever.model.projections import Heads
    from nlb_training.projections.stage import Trained

RUN, CORPUS, EXAMPLES, PRETRAINING, ENCODER = "run", "corpus", "examples.jsonl", "pretraining", "encoder"
RETRIEVAL = "retrieval"
RECORD, LISTING = "training.json", "corpus.json"
_WAITING = 1.0
"""Seconds between two looks for what another process makes."""


def train(request: Request, *, resume: bool = False, observer: Observer | None = None) -> TrainingReport:
    """Train a next-level encoder, or go on with a run that was stopped.

    Raises:
        TrainingInterrupted: pretraining was told to stop, and can be resumed.
        TrainingError: no usable book, other settings than those of the run to resume, broken vectors or files.
        EncoderError: an encoder or checkpoint is missing, damaged, or not the one that the other was made for.
    """
    return _Run(request, observer or (lambda event: None)).carry_out(resume=resume)


class _Run:
    """One run: where its parts are, and its stages."""

    def __init__(self, request: Request, observe: Observer) -> None:
        self.request = request
        self.preset = request.preset
        self.observe = observe
        self.out = request.out.expanduser().absolute()
        self.folder = self.out / RUN
        self.first = os.environ.get("RANK", "0") == "0"
        self.started = time.monotonic()
        wanted = request.start or self.preset.start
        self.start = None if wanted == "scratch" else checkpoints.load(None if wanted == "released" else wanted)
        config = self.start.config if self.start else None
        self.chunk_encoder = request.chunk_encoder or (config.chunk_encoder if config else None) or DEFAULT_ENCODER
        self.identity = identify_encoder(self.chunk_encoder)
        if self.start:
            self.start.check(self.identity, self.preset.corpus.tokens)
            self.start.build()  # damaged weights are told of now, not hours later

    def carry_out(self, *, resume: bool) -> TrainingReport:
        with _disk(self.folder):
            if self.first:
                self._open(resume=resume)
            given, problems = self._read_examples()
            corpus = self._corpus(given)
            examples, wrong = self._examples(corpus, given)
            encoder, history = self._pretrain(corpus)
            trained = self._retrieve(encoder, corpus, examples)
            kinds = [example.kind for example in examples]
            return TrainingReport(
                checkpoint=self._save(encoder, corpus, examples, history, trained),
                corpus=corpus,
                examples={kind: kinds.count(kind) for kind in sorted(set(kinds))},
                problems=(*problems, *wrong),
                pretraining=history,
                retrieval=trained.figures if trained else None,
                seconds=time.monotonic() - self.started,
            )

    # -- what the run is --

    def _open(self, *, resume: bool) -> None:
        """Make the run's folder, or see that it is the same run.

        Raises:
            TrainingError: it holds another run, or none to resume.
        """
        record = json.loads(json.dumps(self._record()))
        file = self.folder / SETTINGS_FILE
        if not file.exists() and resume:
            raise TrainingError(f"{self.out} holds no run to resume: start it without --resume")
        books = self.folder / CORPUS / "books"
        if not file.exists() or not ((self.folder / LISTING).exists() or any(books.glob("*.arrow"))):
            if file.exists():  # a run that ended before its first book, such as one of files that are no books
                shutil.rmtree(self.folder)
            if self.out.exists() and any(self.out.iterdir()):
                raise TrainingError(f"{self.out} holds other files: name a folder that is empty or not there (--out)")
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(file, json.dumps(record, indent=1).encode())
            return
        if not resume:
            raise TrainingError(f"{self.out} holds an earlier run: go on with it (--resume), or name another folder")
        try:
            earlier = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise TrainingError(f"{file} is damaged ({error}): start the run again in another folder") from error
        if differences := list_differences(record, earlier):
            raise TrainingError(
                f"{self.out} cannot be resumed with other settings: {'; '.join(differences)}: give those it had, "
                "or name another folder"
            )

    def _record(self) -> dict[str, Any]:
        """All that decides the result."""
        return {
            "books": [os.path.abspath(os.path.expanduser(books)) for books in self.request.books],  # noqa: PTH100, PTH111
            "examples": {source_of(file): _hash(file) for file in self.request.examples},
            "preset": self.preset.to_dict(),
            "start": self.start.sha256 if self.start else "scratch",
            "chunk_encoder": asdict(self.identity),
        }

    # -- the stages --

    def _read_examples(self) -> tuple[list[Example], list[Problem]]:
        examples: list[Example] = []
        problems: list[Problem] = []
        for file in self.request.examples:
            read, wrong = read_examples(file)
            examples += read
            problems += wrong
        return examples, problems

    def _corpus(self, given: Sequence[Example]) -> Corpus:
        folder = self.request.corpus or self.folder / CORPUS
        done = self.folder / LISTING  # this run's own: another one may add its books to the same corpus
        if not self.first:
            _wait_for(done)
        if done.exists():
            self.observe(StageEvent(stage="corpus", there=True))
            return open_corpus(folder, listing=done)
        self.observe(StageEvent(stage="corpus"))
        corpus = build_corpus(
            name_books(self.request.books, given) if self.preset.corpus.examples_only else self.request.books,
            folder,
            encoder=load_encoder(self.chunk_encoder, device=self.request.device),
            chunkings=self.preset.corpus.chunkings(),
            borders=find_borders(given),
            observer=self.observe,
        )
        write_listing(done, self.identity, corpus)
        return corpus

    def _examples(self, corpus: Corpus, given: Sequence[Example]) -> tuple[list[Example], list[Problem]]:
        """Those given and those made of the books, each with its book's whole path."""
        file = self.folder / EXAMPLES
        main = {
            book.source: book for book in corpus.books if book.chunking == Chunking(tokens=self.preset.corpus.tokens)
        }
        found, problems = match_examples(given, {path: book.characters for path, book in main.items()})
        if not self.first:
            _wait_for(file)
        if file.exists():
            self.observe(StageEvent(stage="examples", there=True))
            return read_examples(file)[0], problems
        self.observe(StageEvent(stage="examples"))
        settings = self.preset.examples
        examples = [replace(example, file=path) for example, path in found]
        for path, book in main.items():
            sections = corpus.sections(book)
            if settings.titles:
                examples += ask_titles(path, sections)
            if settings.sentences:
                form = PseudoQueries(each=settings.sentences, sentences=(settings.least, settings.most))
                text, chunks, seed = corpus.text(book), corpus.spans(book), self.preset.loop.seed
                examples += ask_sentences(path, text, sections, chunks, seed=seed, form=form)
        write_examples(file, examples)
        return examples, problems

    def _pretrain(self, corpus: Corpus) -> tuple[NextLevelEncoder, History | None]:
        from nlb_retriever.model.next_level import NextLevelEncoder
        from nlb_training.pretraining.masked_chunks import new_encoder, pretrain

        settings = self.preset.pretraining
        folder = self.folder / PRETRAINING
        result = folder / ENCODER
        if (result / FILES.config).exists():
            self.observe(StageEvent(stage="pretraining", there=True))
            return checkpoints.load(result).build(), _read_history(folder / LOSS_FILE)
        shape = self.preset.new_model(self.identity.dim)
        if self.start and self.start.config.model.layers:
            encoder = self.start.build()
        elif settings is None:
            if self.preset.retrieval is None:
                raise TrainingError(
                    f"preset {self.preset.name} has no [retrieval], no [pretraining], and there is no trunk to go on "
                    "from: nothing to train"
                )
            encoder = NextLevelEncoder(replace(shape, layers=0)).eval()
        elif not shape.layers:
            raise TrainingError(
                f"preset {self.preset.name} has [pretraining] and no layers to pretrain: "
                "set model.layers, or leave [pretraining] out"
            )
        else:
            seed = self.preset.loop.seed
            encoder = new_encoder(shape, settings, chunk_encoder=self.chunk_encoder, seed=seed)
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
            resume=(folder / SETTINGS_FILE).exists(),
            observer=self.observe,
        )
        if self.first:
            self._save_to(encoder, result)
            shutil.rmtree(folder / "checkpoints", ignore_errors=True)
        return encoder, history

    def _retrieve(self, encoder: NextLevelEncoder, corpus: Corpus, examples: Sequence[Example]) -> Trained | None:
        """Heads that are trained on the examples; the first of several processes does it alone."""
        from nlb_training.projections.stage import read_trained, train_retrieval

        settings = self.preset.retrieval
        if settings is None or not self.first:
            return None
        folder = self.folder / RETRIEVAL
        if trained := read_trained(folder, self.identity.dim):
            self.observe(StageEvent(stage="retrieval", there=True))
            return trained
        self.observe(StageEvent(stage="retrieval"))
        main = Chunking(tokens=self.preset.corpus.tokens)
        return train_retrieval(
            corpus.select(lambda book: book.chunking == main),
            examples,
            settings,
            folder,
            seed=self.preset.loop.seed,
            load=lambda: load_encoder(self.chunk_encoder, device=self.request.device),
            encoder=encoder,
            start=self.start.heads if self.start else None,
            tell=self.observe,
            show_queries=lambda done, total: self.observe(QueryEvent(done=done, total=total)),
        )

    def _split(self, corpus: Corpus) -> tuple[Corpus, Corpus | None]:
        """Whole books to train on, and those kept aside in the chunking that libraries have."""
        hashes = sorted({book.content_hash for book in corpus.books})
        count = round(self.preset.corpus.held_out * len(hashes))
        random = np.random.default_rng(self.preset.loop.seed)
        aside = set(random.permutation(hashes)[:count].tolist())
        main = Chunking(tokens=self.preset.corpus.tokens)
        training = corpus.select(lambda book: book.content_hash not in aside)
        held_out = corpus.select(lambda book: book.content_hash in aside and book.chunking == main)
        return training, held_out if held_out.books else None

    # -- the result --

    def _save(
        self,
        encoder: NextLevelEncoder,
        corpus: Corpus,
        examples: Sequence[Example],
        history: History | None,
        trained: Trained | None,
    ) -> Checkpoint:
        """Put the checkpoint, its card and the curve into the run's folder; the checkpoint's config comes last."""
        config = self.out / FILES.config
        if not self.first:
            _wait_for(config)
        if config.exists():
            self.observe(StageEvent(stage="saving", there=True))
            return checkpoints.load(self.out)
        self.observe(StageEvent(stage="saving"))
        saved = self._save_to(encoder, self.folder / "result", trained.heads if trained else self._kept_heads())
        facts = {
            "command": self.request.command,
            "settings": {
                **self._record(),
                "books": list(self.request.books),  # as typed: a card is for others, who have other folders
                "examples": {file.name: _hash(file) for file in self.request.examples},
            },
            "start": self._start_name(),
            "data": describe_data(corpus, examples, self.request.examples, self.request.licences),
            "pretraining": describe_history(history) if history else None,
            "retrieval": dict(trained.figures) if trained else None,
            "model": saved.config.model.to_dict(),
            "sha256": saved.sha256,
            "versions": list_versions(),
        }
        write_whole(self.out / RECORD, (json.dumps(facts, indent=1) + "\n").encode())
        write_whole(self.out / CARD, write_card(self.out.name, facts).encode())
        for name in (LOSS_FILE, PLOT_FILE):
            if history and (curve := self.folder / PRETRAINING / name).exists():
                shutil.copyfile(curve, self.out / name)
            if trained and (curve := self.folder / RETRIEVAL / name).exists():
                shutil.copyfile(curve, self.out / f"{RETRIEVAL}-{name}")
        for name in (FILES.weights, FILES.config):
            (saved.folder / name).replace(self.out / name)
        shutil.rmtree(saved.folder)
        return checkpoints.load(self.out)

    def _start_name(self) -> str:
        if self.start is None:
            return "scratch"
        new = not self.start.config.model.layers and self.preset.pretraining
        return f"{self.start.name}, with a new trunk" if new else self.start.name

    def _kept_heads(self) -> Heads | None:
        """Those of the start: without training they stay."""
        return self.start.heads if self.start else None

    def _save_to(self, encoder: NextLevelEncoder, folder: Path, heads: Heads | None = None) -> Checkpoint:
        return checkpoints.save(
            encoder,
            folder,
            name=self.out.name,
            chunk_encoder=self.identity,
            chunk_tokens=self.preset.corpus.tokens if encoder.config.layers else None,
            heads=heads,
        )


@contextmanager
def _disk(folder: Path) -> Iterator[None]:
    """Make one line of what goes wrong with the disk."""
    try:
        yield
    except OSError as error:
        raise TrainingError(
            f"cannot write {folder} ({error.strerror or error}): what its stages left so far is kept; make room, "
            "then run the same command with --resume"
        ) from error


def _read_history(file: Path) -> History | None:
    """The losses of a stage that is done; None where its curve is gone."""
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
        return History(steps=values["steps"], losses=tuple(values["losses"]), validation=tuple(values["validation"]))
    except (OSError, ValueError, KeyError):
        return None


def _hash(file: Path) -> str:
    try:
        return hashlib.sha256(file.expanduser().read_bytes()).hexdigest()
    except OSError as error:
        raise TrainingError(f"examples {file} cannot be read ({error.strerror}): name a .jsonl file") from error


def _wait_for(file: Path) -> None:
    """Wait for what the first of several processes makes; whoever started them ends all when that one fails."""
    while not file.exists():
        time.sleep(_WAITING)
