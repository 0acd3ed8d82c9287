"""What stands within the lines of MediaWiki's pages: links, templates, references, as text without marks."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

from nlb_retriever.reading.omissions import Omissions, count_words

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_PLAIN = re.compile(r"</?(?P<tag>nowiki|pre|syntaxhighlight|source|math|code)\b[^<>]{0,300}(?<!/)>", re.IGNORECASE)
_REFERENCE = re.compile(r"</?(?P<tag>ref)\b[^<>]{0,300}(?<!/)>", re.IGNORECASE)
_LINK = re.compile(r"\[\[([^\[\]]*)\]\]")
_URL = re.compile(
    r"\[(?P<target>(?:https?:|ftp:|mailto:)?//?[^\s\[\]]+|mailto:[^\s\[\]]+)(?:[ \t]++(?P<shown>[^\[\]\n]*))?\]"
)
_PASSES = 3
"""Links within captions within links."""
_BRACES = re.compile(r"\{\{|\}\}")
_FILE = re.compile(r":?(?:file|image|datei|bild|fichier|archivo|immagine|bestand|plik|файл):", re.IGNORECASE)
_CATEGORY = re.compile(
    r"(?:category|kategorie|catégorie|categoría|categoria|categorie|kategoria|категория):", re.IGNORECASE
)
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]+)?:[^\s]")
_LAYOUT = re.compile(
    r"thumb|thumbnail|frame|frameless|border|left|right|center|none|upright.*|\d+px|\d*x\d+px|(?:alt|link|page|lang|class)=.*|"
    r"baseline|middle|sub|super|top|bottom",
    re.IGNORECASE,
)
_NOT_IN_NAMES = frozenset("\n<>[]{}")
_LONGEST_NAME, _DEEPEST = 60, 40
"""Characters of a parameter's name, and templates within templates."""
_MEASURES = frozenset({"convert", "cvt"})
_CITED = ("last", "last1", "first", "first1", "author", "author1", "title", "chapter", "work", "website", "journal",
          "newspaper", "publisher", "date", "year", "volume", "pages", "page", "isbn")  # fmt: skip
_CITATION = re.compile(r"cite\b.*|citation|harv\w*", re.DOTALL)
_NOTE = re.compile(r"sfn\w*|efn\w*")
"""Templates that are notes."""
_GALLERY = re.compile(rf"^[ \t]*{_FILE.pattern}[^|\n]{{1,200}}\|?(?P<shown>[^\n]*)$", re.IGNORECASE | re.MULTILINE)
_SHOWN = frozenset("nowrap small big lang abbr ill nobr quote blockquote cquote center poem sic em strong".split())
"""Templates that show their text, however short; of others a parameter of three words or more is shown."""
_LEAST_WORDS = 3
_POINTERS = frozenset(
    {"main", "main article", "see also", "further", "about", "for", "hatnote", "redirect", "short description"}
)
"""Templates that name other pages, or what a page is for lists of pages."""
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,400}>")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_QUOTES = re.compile(r"'{2,5}")
_WORD_SWITCH = re.compile(r"__[A-Z]{3,20}__")
_KEPT, _END = "\ue000", "\ue001"
"""Around the number of a text that stands as it is."""
_KEPT_TEXT = re.compile(f"{_KEPT}(\\d+){_END}")


class Wikitext:
    """Takes the marks out of a page, and keeps its notes."""

    def __init__(self, omissions: Omissions, note: Callable[[str], None]) -> None:
        self.omissions = omissions
        self.note = note
        self.kept: list[str] = []

    def strip(self, text: str) -> str:
        """A page with its lines and what marks headings, items and tables, but nothing else."""
        self.kept = []
        text = text.replace(_KEPT, "").replace(_END, "")
        text = _COMMENT.sub(lambda match: self._skip("comment", match[0]), text)
        text = _replace_enclosed(text, _PLAIN, self._keep)
        for _ in range(_PASSES):
            text = _LINK.sub(self._link, text)
        text = _replace_enclosed(self._templates(text), _REFERENCE, self._reference)
        text = _GALLERY.sub(self._picture, _URL.sub(self._url, text))
        text = _BREAK.sub("\n", text)
        text = _WORD_SWITCH.sub("", _QUOTES.sub("", _TAG.sub("", text)))
        return _KEPT_TEXT.sub(lambda match: self.kept[int(match[1])], unescape(text))

    def _skip(self, name: str, text: str) -> str:
        self.omissions.skip_element(name, count_words(text))
        return ""

    def _keep(self, tag: str, text: str) -> str:
        if tag in {"pre", "syntaxhighlight", "source"}:
            text = "\n" + "\n".join(f" {line}" for line in text.strip("\n").split("\n")) + "\n"
        self.kept.append(unescape(text))
        return f"{_KEPT}{len(self.kept) - 1}{_END}"

    def _link(self, match: re.Match[str]) -> str:
        target, *shown = match[1].split("|")
        if _FILE.match(target):
            captions = [each for each in shown if not _LAYOUT.fullmatch(each.strip())]
            self._skip("file name", target)
            return f"\n\n{captions[-1]}\n\n" if captions and captions[-1].strip() else ""
        if _CATEGORY.match(target) or (not shown and _LANGUAGE.match(target)):
            return self._skip("category or language link", target)
        if shown and shown[-1].strip():
            self._skip("link target", target)
            return shown[-1]
        return target.lstrip(":").replace("_", " ")

    def _picture(self, match: re.Match[str]) -> str:
        self._skip("file name", match[0].removesuffix(match["shown"]))
        return f"\n{match['shown']}\n"

    def _url(self, match: re.Match[str]) -> str:
        return self._skip("link target", match["target"]) + match["shown"] if match["shown"] else match["target"]

    def _templates(self, text: str) -> str:
        """Text whose templates are what they show."""
        open_: list[list[str]] = [[]]
        at = 0
        for brace in _BRACES.finditer(text):
            open_[-1].append(text[at : brace.start()])
            at = brace.end()
            if len(open_) > _DEEPEST:
                open_[0] += (part for parts in open_[1:] for part in parts)
                del open_[1:]
            if brace[0] == "{{":
                open_.append([])
            elif len(open_) > 1:
                inner = "".join(open_.pop())
                open_[-1].append(self._template(inner))
        open_[-1].append(text[at:])
        return "".join(part for parts in open_ for part in parts)

    def _template(self, inner: str) -> str:
        name, *given = inner.split("|")
        name = name.strip().lower()
        named: dict[str, str] = {}
        texts: list[str] = []
        for each in given:
            key, is_named, value = each.partition("=")
            key = key.strip().lower()
            if is_named and key and len(key) <= _LONGEST_NAME and "://" not in key and not _NOT_IN_NAMES & {*key}:
                named[key] = value.strip()
            else:
                texts.append(each.strip())
        if _NOTE.fullmatch(name):
            return f"<ref>{' '.join(texts)}</ref>"
        if "date" in name and len(texts) > 2 and all(map(str.isdecimal, texts[:3])):
            return "-".join(each.zfill(2) for each in texts[:3])
        if _CITATION.fullmatch(name):
            cited = [named[key] for key in _CITED if named.get(key)] or texts
            self._skip("template", " ".join({**named, name: ""}.values()) if not cited else name)
            return ". ".join(cited)
        if name in _MEASURES and len(texts) > 1:
            return " ".join(texts[:2])
        texts += [named[key] for key in ("1", "2", "text", "quote") if named.get(key)]
        if "\n" in inner and len(named) > 1:  # an infobox
            self._skip("template", name)
            rows = [f"* {key.replace('_', ' ')}: {' '.join(value.split())}" for key, value in named.items() if value]
            return "\n\n" + "\n".join([*texts, *rows]) + "\n\n"
        if name in _POINTERS:
            return self._skip("template", " ".join([name, *texts]))
        shown = texts[-1:] if name in _SHOWN else [each for each in texts if count_words(each) >= _LEAST_WORDS]
        self._skip("template", " ".join([name, *(each for each in (*texts, *named.values()) if each not in shown)]))
        return " ".join(shown)

    def _reference(self, _: str, text: str) -> str:
        if text := self._note_text(text):
            self.note(text)
        return ""

    def _note_text(self, text: str) -> str:
        text = _QUOTES.sub("", _TAG.sub("", _URL.sub(self._url, text)))
        return " ".join(_KEPT_TEXT.sub(lambda match: self.kept[int(match[1])], unescape(text)).split())


def _replace_enclosed(text: str, tags: re.Pattern[str], replace: Callable[[str, str], str]) -> str:
    """A text in which what stands between two tags, and they, are what a function of the name and it gives."""
    parts: list[str] = []
    at = 0
    opened: re.Match[str] | None = None
    for tag in tags.finditer(text):
        name = tag["tag"].lower()
        is_same = opened is None or opened["tag"].lower() == name
        if is_same and not tag[0].startswith("</"):
            opened = tag
        elif is_same and opened is not None:
            parts += [text[at : opened.start()], replace(name, text[opened.end() : tag.start()])]
            at, opened = tag.end(), None
    return "".join([*parts, text[at:]])
