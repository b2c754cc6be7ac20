"""Extract the visible text of an HTML page.

Omitted are scripts, styles, templates, comments, and what the page hides by the ``hidden`` attribute, by inline style
(not displayed, invisible, transparent, of no size, off the page) or by a plain rule of its own style sheet. Text hidden
by a linked style sheet or a script is kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from disputatio.errors import InvalidInputError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_INVISIBLE_TAGS = """
head script style template noscript svg canvas iframe object embed audio video datalist map input rp noframes frameset
"""
_INVISIBLE = frozenset(_INVISIBLE_TAGS.split())
_BLOCK_TAGS = """
address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form h1
h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre search section summary table tbody tfoot thead
tr ul
caption option optgroup select textarea
"""
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_PARAGRAPH_TAGS = """
p h1 h2 h3 h4 h5 h6 blockquote pre table ul ol dl figure section article
"""
_PARAGRAPHS = frozenset(_PARAGRAPH_TAGS.split())
_CELLS = frozenset({"td", "th"})
# All patterns take linear time: repetitions are possessive or have a fixed start.
_ZERO = r"(?:0++(?:\.0++)?|\.0++)"
_HIDING = re.compile(
    rf"display\s*+:\s*+none|visibility\s*+:\s*+(?:hidden|collapse)|opacity\s*+:\s*+{_ZERO}\s*+(?:;|$|!|%)"
    rf"|font-size\s*+:\s*+{_ZERO}\s*+(?:px|em|rem|pt|%|;|$|!)|(?:left|right|top|text-indent)\s*+:\s*+-\d{{3,}}"
    r"|clip(?:-path)?\s*+:\s*+(?:rect\(\s*+0|inset\(\s*+(?:50|100)%)|content-visibility\s*+:\s*+hidden",
    re.IGNORECASE,
)
# Each starts where a rule can start and matches in one way only, so a sheet takes linear time.
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_AT_RULE = re.compile(r"(?<![^{};])([^{};@]*+)@[^{};]++(?:;|\{(?:[^{}]++|\{[^{}]*+\})*+\})")
_RULE = re.compile(r"(?<![^{}])([^{}]++)\{([^{}]*+)\}")
_BLANKS = re.compile(r"[ \t\n\r\f]+")

MAX_ATTRIBUTES = 200
"""Of one element. The parser compares each attribute with all before it."""

MAX_HTML_DEPTH = 512
"""Levels of nested blocks, as in Chromium (kMaximumHTMLParserDOMTreeDepth).

The parser scans all open blocks whenever a block begins.
"""

_CONTAINER_TAGS = """
address applet article aside blockquote center details dialog dir div dl fieldset figcaption figure footer header hgroup
main marquee menu nav object ol pre search section select summary svg table template ul
"""
_CONTAINERS = frozenset(_CONTAINER_TAGS.split())
_CELL_PARTS = frozenset({"caption", "tbody", "td", "tfoot", "th", "thead", "tr"})
_ENDED_BY = {"li": frozenset({"ol", "ul", "menu", "dir"}), "dd": frozenset({"dl"}), "dt": frozenset({"dl"})}
_RAW_TAGS = frozenset({"script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "plaintext"})
_TAG = re.compile(
    r"<(?:(?P<end>/?)(?P<name>[a-zA-Z][^\s/>]*+)"
    r"(?P<attributes>(?:[^>=]++|=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))?+)*+)|!--.*?(?:-->|\Z)|[!?/][^>]*+)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"[^\s/>=][^\s/>=]*+(?:\s*+=\s*+(?:\"[^\"]*+\"?+|'[^']*+'?+|[^\s>]*+))?+")


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """A title, which may be empty, and the visible text."""

    title: str
    text: str


def read_html(html: str, what: str) -> ExtractedText:
    """Extract the title and visible text of ``html``.

    Raises:
        InvalidInputError: it has too many attributes or levels, or selectolax is not installed; ``what`` names it.
    """
    try:
        from selectolax.lexbor import LexborHTMLParser
    except ImportError:
        raise InvalidInputError(
            f"{what} is HTML, and the library that reads HTML is not installed.",
            "Install it with: pip install 'disputatio[evidence]'.",
        ) from None
    _check_complexity(html, what)
    tree = LexborHTMLParser(html)
    title = tree.css_first("head > title")
    shown = " ".join(title.text().split()) if title is not None else ""
    return ExtractedText(shown, _TextWriter(_find_hidden(tree)).written(tree.root) if tree.root is not None else "")


def _check_complexity(html: str, what: str) -> None:
    """Refuse a page for which the parser would take quadratic time.

    This counts tags leniently, and counts too few levels where tags overlap. The limits of the process cover the rest.

    Raises:
        InvalidInputError: an element has more than ``MAX_ATTRIBUTES``, or blocks are deeper than ``MAX_HTML_DEPTH``.
    """
    open_now: list[str] = []
    place = html.find("<")
    while place >= 0:
        tag = _TAG.match(html, place)
        place = place + 1 if tag is None else tag.end()
        name = tag["name"].lower() if tag is not None and tag["name"] else ""
        if tag is not None and name:
            said = tag["attributes"]
            if len(said) > 2 * MAX_ATTRIBUTES and sum(1 for _ in _ATTRIBUTE.finditer(said)) > MAX_ATTRIBUTES:
                raise InvalidInputError(
                    f"{what} has an element with more than {MAX_ATTRIBUTES} attributes.",
                    "Give its text, or the part that bears on the motion.",
                )
            if name in _RAW_TAGS and not tag["end"]:
                end = re.compile(f"</{name}(?![^\\s/>])", re.IGNORECASE).search(html, place)
                place = len(html) if end is None else end.start()
            elif not said.endswith("/"):
                _track_container(open_now, name, ends=bool(tag["end"]))
            if len(open_now) > MAX_HTML_DEPTH:
                raise InvalidInputError(
                    f"{what} is nested deeper than {MAX_HTML_DEPTH} levels.",
                    "Give its text, or the part that bears on the motion.",
                )
        place = html.find("<", place)


def _track_container(open_now: list[str], name: str, *, ends: bool) -> None:
    """Push or pop ``name`` on the stack of open containers."""
    if name in _CONTAINERS and not ends:
        open_now.append(name)
    elif name in _CONTAINERS:
        if name in open_now:
            while open_now.pop() != name:
                pass
    else:
        # A row or an item closes what is still open in the one before it.
        until = frozenset({"table"}) if name in _CELL_PARTS else _ENDED_BY.get(name, frozenset())
        if until and not until.isdisjoint(open_now):
            while open_now[-1] not in until:
                open_now.pop()


def _find_hidden(tree: LexborHTMLParser) -> frozenset[int]:
    """Return the addresses of hidden nodes. They stay in the tree, because a freed node must not be used."""
    from selectolax.lexbor import SelectolaxError

    selectors = ["[hidden]", "dialog:not([open])"]
    for style in tree.css("style"):
        rules = _RULE.findall(_AT_RULE.sub(r"\1", _COMMENT.sub("", style.text())))
        selectors += [selector.strip() for selector, body in rules if _HIDING.search(body)]
    hidden = {node.mem_id for node in tree.css("[style]") if _HIDING.search(node.attributes.get("style") or "")}
    for selector in selectors:
        try:
            hidden.update(node.mem_id for node in tree.css(selector))
        except SelectolaxError:
            continue  # a selector the library does not know hides nothing here; what is kept, everybody can read
    return frozenset(hidden)


class _TextWriter:
    """Writes the text of a tree without recursion, because pages may be nested thousands deep."""

    def __init__(self, hidden: frozenset[int]) -> None:
        self._hidden = hidden
        self._out: list[str] = []
        self._breaks = 0
        self._space = False
        self._preformatted = 0
        self._numbers: list[int | None] = []

    def written(self, root: LexborNode) -> str:
        """Return the text of everything under ``root``."""
        path: list[tuple[LexborNode, str]] = []
        node: LexborNode | None = root
        while node is not None:
            tag = node.tag or ""
            descends = self._enter(node, tag)
            if descends and node.first_child is not None:
                path.append((node, tag))
                node = node.first_child
                continue
            if descends:
                self._leave(tag)
            while node.next is None and path:
                node, tag = path.pop()
                self._leave(tag)
            node = node.next
        return "".join(self._out).strip()

    def _enter(self, node: LexborNode, tag: str) -> bool:
        """Begin a node; return whether to read its children."""
        if tag == "-text":
            self._text(node.text_content or "")
            return False
        if tag in _INVISIBLE or tag.startswith(("-", "_", "!")) or node.mem_id in self._hidden:
            return False
        if tag == "br":
            self._break(self._breaks + 1)
        elif tag in _CELLS and node.prev is not None:
            self._cell()
        elif tag in _BLOCKS:
            self._break(2 if tag in _PARAGRAPHS else 1)
        if tag in {"ol", "ul"}:
            start = node.attributes.get("start") or "1"
            self._numbers.append(int(start) if tag == "ol" and re.fullmatch(r"\d{1,6}", start) else None)
        elif tag == "li" and self._numbers:
            number = self._numbers[-1]
            if number is not None:
                self._text(f"{number}. ")
                self._numbers[-1] = number + 1
        self._preformatted += tag in {"pre", "textarea"}
        return True

    def _leave(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._break(2 if tag in _PARAGRAPHS else 1)
        if tag in {"ol", "ul"} and self._numbers:
            self._numbers.pop()
        self._preformatted -= tag in {"pre", "textarea"}

    def _break(self, lines: int) -> None:
        self._breaks = max(self._breaks, min(lines, 2))
        self._space = False

    def _cell(self) -> None:
        if self._out and not self._breaks:
            self._out.append(" | ")
            self._space = False

    def _text(self, text: str) -> None:
        if not self._preformatted:
            text = _BLANKS.sub(" ", text)
            if text[:1] == " ":
                self._space = True
                text = text[1:]
        if not text:
            return
        if self._breaks:
            self._out.append("\n" * self._breaks if self._out else "")
        elif self._space and self._out and not self._out[-1].endswith((" ", "\n")):
            self._out.append(" ")
        self._breaks, self._space = 0, False
        if not self._preformatted and text.endswith(" "):
            text, self._space = text[:-1], True
        self._out.append(text)
