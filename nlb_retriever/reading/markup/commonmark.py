"""A CommonMark parser that loses no words: what looks like a tag in prose is text, as is all that it would drop."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from nlb_retriever.reading.omissions import Omissions, count_words

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

_DEEPEST = 60
"""Levels of quotes and lists (two a list); what lies deeper is one paragraph."""
_INLINE = """a abbr b bdo big br center cite code del dfn em font i img ins kbd mark p q rp rt ruby s samp small span
    strike strong sub sup time tt u var wbr"""
_BLOCK = """address article aside blockquote body button caption col colgroup dd details dialog div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html legend li link main math menu meta nav ol
    optgroup option pre script section select source style summary svg table tbody td text textarea tfoot th thead tr
    track ul audio video canvas iframe noscript object input label path g title tspan"""
_INLINE_TAGS = frozenset(_INLINE.split())
_TAGS = _INLINE_TAGS | frozenset(_BLOCK.split())
_EMPTY = frozenset({"br", "hr", "img", "wbr", "input", "link", "meta", "col", "source", "track"})
_FLAGS = "hidden|open|checked|disabled|nowrap|noshade|compact|reversed|controls|loop|muted|autoplay|allowfullscreen"
_TAG = re.compile(
    rf"<(/?)([A-Za-z][A-Za-z0-9]*)((?:\s+(?:[\w:.-]+\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'=<>`]+)|(?:{_FLAGS})(?=[\s/>])))*)\s*/?>"
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_OPEN_BLOCK = re.compile(
    r"^ {0,3}<(?:(?:script|pre|style|textarea)(?=[\s>])|!--|\?|!\[CDATA\[|![A-Za-z])", re.MULTILINE | re.IGNORECASE
)
"""Beginnings of raw HTML that goes on, over blank lines, to its own end or that of the file."""
_ENDS = {"<!--": "-->", "<?": "?>", "<![CDATA[": "]]>"}
_END_TAG = re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)
_DEFINITION = re.compile(r"^( {0,3})(\[(?:[^\[\]\\\n]|\\.)+\]:[ \t]*(\S+))", re.MULTILINE)
_NUMBER_ALONE = re.compile(r"(?:\A|(?<=\n\n))( {0,3}\d{1,9})(?=[.)][ \t]*(?:\n[ \t]*\n|\n?\Z))")
"""A year or a chapter's number in a paragraph of its own: for Markdown an item of a list, with nothing in it."""
_ONLY_NUMBER = ["list_item_open", "ordered_list_open", "list_item_open", "list_item_close", "ordered_list_close"]
"""Tokens of an item that is a number, "3. 7.": for Markdown a list in a list, with nothing in it."""
_ATTRIBUTES = re.compile(
    r"^(?:(?P<kept>(?:#{1,6}[ \t][^\n{]*|[^\n{]*(?=\{[^{}\n]*\}[ \t]*\n(?:={3,}|-{3,})[ \t]*$)))"
    r"(?P<attributes>\{[#.=-][^{}\n]*\})[ \t]*|:{3,}+[ \t]*+(?P<of_block>\{[^{}\n]*\}|[\w-]+)?+[ \t]*+:*+[ \t]*+)$",
    re.MULTILINE,
)
"""Of a heading; of a block, or its end."""
_KRAMDOWN = re.compile(
    r"(?<![ \t])[ \t]*\{:[^{}\n]{0,200}\}[ \t]*$|(?<=[)\]])\{[ \t]*[.#:][^{}\n]{0,200}\}", re.MULTILINE
)
"""The same of Jekyll and MkDocs: at the end of a block, behind a link or picture."""
_CODE_TITLE = re.compile(r"\b(?:title|filename|caption|name)=\"([^\"]{1,200})\"")
_ADDRESS = re.compile(
    r"<?(?:[a-z][a-z0-9+.-]*:\S|[./#?]|www\.)|.*[/#]|.*\.(?:x?html?|md|png|jpe?g|gif|svg|webp|pdf|com|org|net)\b",
    re.IGNORECASE,
)


def make_parser() -> MarkdownIt:
    """A parser of CommonMark with tables and struck text.

    Its core rule and renderers are bound to what they are given, not global.
    """
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": 10 * _DEEPEST}).enable(["table", "strikethrough"])
    rules = parser.block.ruler
    rules.before("table", "too_deep", _too_deep)
    table = next(rule.fn for rule in rules.__rules__ if rule.name == "table")

    def whole_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        first = len(state.tokens)
        if not table(state, start, end, silent):
            return False
        source = state.getLines(start, state.line, state.blkIndent, False)
        if not silent and count_words(source) > sum(count_words(t.content) for t in state.tokens[first:]):
            del state.tokens[first:]  # rows with more cells than the head lose them
            if wider := _widened(source):
                state.md.block.parse(wider, state.md, state.env, state.tokens)
            else:
                _push_paragraph(state, source, start)
        return True

    rules.at("table", whole_table, {"alt": ["paragraph", "reference"]})
    parser.core.ruler.push("tags_in_prose", _tags_in_prose)
    parser.core.ruler.before("inline", "only_numbers", _keep_only_numbers)
    parser.core.ruler.push("written_numbers", _keep_written_numbers)
    parser.add_render_rule("image", _render_image)
    parser.add_render_rule("fence", _render_fence)
    parser.add_render_rule("s_open", lambda *_: "<del>")
    parser.add_render_rule("s_close", lambda *_: "</del>")
    return parser


def prepare(source: str) -> str:
    """Markdown source in which no definition or raw HTML takes in the prose that follows, and no number vanishes."""
    source = _DEFINITION.sub(
        lambda m: m[0] if _ADDRESS.match(m[3]) and not m[2].startswith("[^") else f"{m[1]}\\{m[2]}", source
    )
    source = _NUMBER_ALONE.sub(r"\1\\", source)
    parts: list[str] = []
    done = 0
    for match in _OPEN_BLOCK.finditer(source):
        opening = match[0].strip()
        if match.start() < done:
            continue
        if opening.upper() in _ENDS:
            ends = source.find(_ENDS[opening.upper()], match.end()) >= 0
        elif opening.startswith("<!"):
            ends = False  # a declaration: its words are text
        else:
            ends = _END_TAG.search(source, match.end()) is not None
        if not ends or (opening.startswith(("<?", "<!")) and opening != "<!--"):
            parts += (source[done : match.end() - len(opening)], "\\" + opening)
            done = match.end()
    return "".join([*parts, source[done:]])


def without_attributes(source: str, omissions: Omissions) -> str:
    """Markdown source without what Pandoc and Quarto write of its elements: "# Night {.unnumbered}", "::: note"."""

    def drop(match: re.Match[str]) -> str:
        omissions.skip_element("attribute", count_words(match["attributes"] or match["of_block"] or ""))
        return match["kept"] or ""

    def drop_short(match: re.Match[str]) -> str:
        omissions.skip_element("attribute", count_words(match[0]))
        return ""

    source = _KRAMDOWN.sub(drop_short, source) if "{" in source else source
    return _ATTRIBUTES.sub(drop, source) if "{" in source or ":::" in source else source


def note_code_words(tokens: Sequence[Token], omissions: Omissions) -> None:
    """Note the names of languages at fenced code, which are not shown."""
    for token in tokens:
        if token.type == "fence":
            words = count_words(token.info) - count_words(_shown_info(token.info))
            omissions.skip_element("code language name", words)


def _too_deep(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if silent or state.level < _DEEPEST:
        return False
    _push_paragraph(state, state.getLines(start, end, state.blkIndent, False), start)
    state.line = end
    return True


def _widened(table: str) -> str:
    """A table whose head has as many cells as its longest row; empty where it has them already."""
    rows = [row.strip().strip("|") for row in table.strip().split("\n")]
    missing = max(row.count("|") for row in rows) - rows[0].count("|")
    head, rule = f"{rows[0]}{' |' * missing}", f"{rows[1]}{'|---' * missing}"
    return "\n".join(f"|{row}|" for row in (head, rule, *rows[2:])) if missing else ""


def _push_paragraph(state: StateBlock, content: str, start: int) -> None:
    token = state.push("paragraph_open", "p", 1)
    token.map = [start, state.line]
    token = state.push("inline", "", 0)
    token.content, token.map, token.children = content.strip(), [start, state.line], []
    state.push("paragraph_close", "p", -1)


def _keep_only_numbers(state: StateCore) -> None:
    """Make text of items that are numbers, behind the numbers of the items."""
    types = [token.type for token in state.tokens]
    tokens: list[Token] = []
    at = 0
    while at < len(types):
        tokens.append(state.tokens[at])
        if types[at : at + len(_ONLY_NUMBER)] == _ONLY_NUMBER:
            item, text, number = state.tokens[at : at + 3]
            label = f"{item.info}{item.markup} " if item.info else ""
            text.type, text.tag, text.nesting, text.children = "inline", "", 0, []
            text.content = f"{label}{number.info}{number.markup}"
            tokens.append(text)
            at += len(_ONLY_NUMBER) - 1
        at += 1
    state.tokens = tokens


def _keep_written_numbers(state: StateCore) -> None:
    """Give the items of a list the numbers that they have in the source, but for one that counts "1. 1. 1."."""
    lists: list[list[Token]] = []
    for token in state.tokens:
        if token.type == "list_item_open":
            lists[-1].append(token)
        elif token.type in {"ordered_list_open", "bullet_list_open"}:
            lists.append([])
        elif token.type in {"ordered_list_close", "bullet_list_close"}:
            items = lists.pop()
            if len({item.info for item in items}) == len(items):
                for item in items:
                    item.attrSet("value", item.info)


def _tags_in_prose(state: StateCore) -> None:
    """Make text of what looks like HTML and is none: unknown names, words for attributes, tags without their mate."""
    for token in state.tokens:
        if token.type == "html_block":
            token.content = _with_known_tags(token.content)
        for child in _not_markup(token.children or ()):
            child.type = "text"


def _not_markup(children: Sequence[Token]) -> list[Token]:
    found: list[Token] = []
    open_tags: dict[str, list[Token]] = {}
    for child in children:
        if child.type != "html_inline" or child.content.startswith("<!--"):
            continue
        match = _TAG.fullmatch(child.content)
        name = match[2].lower() if match else ""
        if match is None or name not in _INLINE_TAGS:
            found.append(child)
        elif match[1]:
            if open_tags.get(name):
                open_tags[name].pop()
            elif name != "p":
                found.append(child)
        elif name not in _EMPTY and not child.content.endswith("/>"):
            open_tags.setdefault(name, []).append(child)
    return found + [tag for tags in open_tags.values() for tag in tags if " " not in tag.content]


def _with_known_tags(block: str) -> str:
    """A block of raw HTML in which only whole tags of known names are tags."""
    parts: list[str] = []
    done = 0
    while (start := block.find("<", done)) >= 0:
        parts.append(block[done:start])
        match = _COMMENT.match(block, start) or _TAG.match(block, start)
        if match and (match[0].startswith("<!--") or match[2].lower() in _TAGS):
            parts.append(match[0])
            done = match.end()
        else:
            parts.append("&lt;")
            done = start + 1
    return "".join([*parts, block[done:]])


def _render_image(self: RendererHTML, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
    """A picture's description is all that a reader of the text has of it."""
    return escape(self.renderInlineAsText(tokens[i].children, options, env)) if tokens[i].children else ""


def _render_fence(self: RendererHTML, tokens: Sequence[Token], i: int, options: Any, env: Any) -> str:
    info = _shown_info(tokens[i].info)
    title = f"<p>{escape(info)}</p>" if info else ""
    return f"{title}<pre><code>{escape(tokens[i].content)}</code></pre>\n"


def _shown_info(info: str) -> str:
    """What stands behind the fence of code and is text: its title, or more than the name of a language."""
    words = info.split()
    if any("=" in word for word in words):
        titled = _CODE_TITLE.search(info)
        return titled[1] if titled else ""
    return " ".join(words) if len(words) > 1 else ""
