"""Text from marked lines: the lines of a paragraph are joined, items, rows and code keep theirs."""

from __future__ import annotations

from dataclasses import dataclass, field

from nlb_retriever.reading.draft import Draft, Heading, one_line


@dataclass
class Blocks:
    """Collects the blocks of a text, its headings and its footnotes."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    headings: list[Heading] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    counts: dict[int, int] = field(default_factory=dict)
    """Items so far of the open numbered list at each depth."""
    is_open: bool = False
    """Whether the next line of a paragraph goes on in the last block."""
    is_apart: bool = True
    """Whether a blank line comes before the next block."""

    def add(self, line: str) -> None:
        """A line of a paragraph, or of the item that is open."""
        if not (line := line.strip()):
            return
        if self.is_open:
            self._put(f" {line}")
        else:
            self._begin(line)
            self.is_open = True

    def item(self, text: str, depth: int = 1, *, counted: bool = False) -> None:
        """The first line of an item."""
        self.counts = {deep: count for deep, count in self.counts.items() if deep <= depth}
        if counted:
            self.counts[depth] = self.counts.get(depth, 0) + 1
            text = f"{self.counts[depth]}. {text.strip()}"
        else:
            self.counts.pop(depth, None)
        self.keep(text.strip())
        self.is_open = True

    def keep(self, line: str) -> None:
        """A line that stands as it is."""
        self.is_open = False
        if line.strip():
            self._begin(line.rstrip())
        else:
            self.end()

    def end(self) -> None:
        """A blank line."""
        self.is_open, self.is_apart = False, True

    def heading(self, level: int, title: str) -> None:
        """A title on a line of its own."""
        self.end()
        self.counts.clear()
        if title := one_line(title):
            self._begin(title)
            self.headings.append(Heading(self.length - len(title), level, title))
            self.end()

    def note(self, label: str, text: str) -> None:
        """A footnote, to stand at the end."""
        self.notes.append(f"{label} {text.strip()}".strip())

    def fill(self, draft: Draft) -> Draft:
        """Give a draft what was collected; a heading of level 0 is its title."""
        draft.text, draft.headings = "".join(self.parts), [h for h in self.headings if h.level]
        draft.title = draft.title or next((h.title for h in self.headings if not h.level), None)
        draft.append_notes("\n\n".join(self.notes))
        draft.is_page = True
        return draft

    def _begin(self, text: str) -> None:
        self._put(("\n\n" if self.is_apart else "\n") if self.length else "")
        self._put(text)
        self.is_apart = False

    def _put(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)
