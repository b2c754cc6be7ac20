"""The visible text of an HTML page.

Left out: scripts, styles, templates, comments, and whatever the page hides by the ``hidden`` attribute, by inline
style (not displayed, invisible, transparent, of no size, moved off the page) or by a plain rule in its own style sheet.
What a linked style sheet or a script would hide cannot be known and is kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from disputatio.failures import InvalidInputError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_UNSEEN_TAGS = """
head script style template noscript svg canvas iframe object embed audio video datalist map input rp noframes frameset
"""
_UNSEEN = frozenset(_UNSEEN_TAGS.split())
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
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0*\.?0+\s*(?:;|$|!|%)"
    r"|font-size\s*:\s*0*\.?0+\s*(?:px|em|rem|pt|%|;|$|!)|(?:left|right|top|text-indent)\s*:\s*-\d{3,}"
    r"|clip(?:-path)?\s*:\s*(?:rect\(\s*0|inset\(\s*(?:50|100)%)|content-visibility\s*:\s*hidden",
    re.IGNORECASE,
)
_AT_RULE = re.compile(r"@[^{};]+(?:;|\{(?:[^{}]|\{[^{}]*\})*\})")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_BLANKS = re.compile(r"[ \t\n\r\f]+")


@dataclass(frozen=True, slots=True)
class Page:
    """A page's title, empty where it has none, and its visible text."""

    title: str
    text: str


def read_html(html: str, what: str) -> Page:
    """The title and the visible text of ``html``.

    Raises:
        InvalidInputError: the library that reads HTML is not installed; ``what`` names the source.
    """
    try:
        from selectolax.lexbor import LexborHTMLParser
    except ImportError:
        raise InvalidInputError(
            f"{what} is HTML, and the library that reads HTML is not installed.",
            "Install it with: pip install 'disputatio[evidence]'.",
        ) from None
    tree = LexborHTMLParser(html)
    title = tree.css_first("head > title")
    shown = " ".join(title.text().split()) if title is not None else ""
    return Page(shown, _Writer(_hidden(tree)).written(tree.root) if tree.root is not None else "")


def _hidden(tree: LexborHTMLParser) -> frozenset[int]:
    """The nodes that the page hides, by their addresses. They stay in the tree: a freed node must not be touched."""
    from selectolax.lexbor import SelectolaxError

    selectors = ["[hidden]", "dialog:not([open])"]
    for style in tree.css("style"):
        sheet = re.sub(r"/\*.*?\*/", "", style.text(), flags=re.DOTALL)
        rules = _RULE.findall(_AT_RULE.sub("", sheet))
        selectors += [selector.strip() for selector, body in rules if _HIDING.search(body)]
    hidden = {node.mem_id for node in tree.css("[style]") if _HIDING.search(node.attributes.get("style") or "")}
    for selector in selectors:
        try:
            hidden.update(node.mem_id for node in tree.css(selector))
        except SelectolaxError:
            continue  # a selector the library does not know hides nothing here; what is kept, everybody can read
    return frozenset(hidden)


class _Writer:
    """Writes the text of a tree without recursion, because pages may be nested thousands deep."""

    def __init__(self, hidden: frozenset[int]) -> None:
        self._hidden = hidden
        self._out: list[str] = []
        self._breaks = 0
        self._space = False
        self._preformatted = 0
        self._numbers: list[int | None] = []

    def written(self, root: LexborNode) -> str:
        """The text of everything under ``root``."""
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
        """Begins a node; whether its children are to be read."""
        if tag == "-text":
            self._text(node.text_content or "")
            return False
        if tag in _UNSEEN or tag.startswith(("-", "_", "!")) or node.mem_id in self._hidden:
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
