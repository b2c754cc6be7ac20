"""The visible text of Markdown (CommonMark with tables): what a reader of the rendered page sees, without the marks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from disputatio.errors import InvalidInputError
from disputatio.evidence.html_text import Page, read_html

if TYPE_CHECKING:
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token


DEEPEST = 100
"""How deep quotations and lists may lie in each other; a list counts twice. The reader calls itself for each."""

_DEEPEST_INLINE = 20
"""As the library has it."""


def read_markdown(text: str, what: str) -> Page:
    """The title (the first heading, if any) and the visible text of Markdown ``text``.

    Raises:
        InvalidInputError: it is nested deeper than ``DEEPEST``, or holds HTML that cannot be read.
    """
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"maxNesting": DEEPEST}).enable(["table", "strikethrough"])
    reader.core.ruler.before("inline", "bound what stands within a line", _bound_inline)
    tokens = reader.parse(_without_front_matter(text))
    if any(token.nesting == 1 and token.level + 1 >= DEEPEST for token in tokens):
        # The reader leaves out what lies deeper, and says nothing.
        raise InvalidInputError(
            f"{what} is nested deeper than {DEEPEST - 1} levels.", "Give the part that bears on the motion."
        )
    title = next((_inline(after) for before, after in pairwise(tokens) if before.type == "heading_open"), "")
    if any(_is_markup(token) for token in tokens):
        # Raw HTML can hide text, so the page is read as a browser shows it.
        return Page(title, read_html(reader.renderer.render(tokens, reader.options, {}), what).text)
    return Page(title, _written(tokens))


def _bound_inline(state: StateCore) -> None:
    """Take brackets and stars that lie deeper as text: looking for their ends costs time for each level."""
    state.md.options.maxNesting = _DEEPEST_INLINE


def _without_front_matter(text: str) -> str:
    """``text`` without the settings some sites put between two lines of dashes at the top."""
    if not text.startswith("---\n"):
        return text
    end = text.find("\n---\n", 3)
    return text[end + 5 :] if 0 < end < 4_000 else text


def _is_markup(token: Token) -> bool:
    if token.type == "html_block":
        content = token.content.strip()
        return not (content.startswith("<!--") and content.endswith("-->") and content.count("<!--") == 1)
    return any(child.type == "html_inline" and not child.content.startswith("<!--") for child in token.children or ())


def _inline(token: Token) -> str:
    said = {"softbreak": "\n", "hardbreak": "\n"}
    kept = ("text", "code_inline")
    return "".join(child.content if child.type in kept else said.get(child.type, "") for child in token.children or ())


def _written(tokens: Sequence[Token]) -> str:
    out: list[str] = []
    numbers: list[int | None] = []
    cells: list[str] | None = None
    label = ""
    for token in tokens:
        if token.type in {"ordered_list_open", "bullet_list_open"}:
            start = token.attrGet("start")
            numbers.append((int(start) if start is not None else 1) if token.type[0] == "o" else None)
        elif token.type in {"ordered_list_close", "bullet_list_close"}:
            numbers.pop()
            out.append("")
        elif token.type == "list_item_open" and (number := numbers[-1]) is not None:
            label = f"{number}. "
            numbers[-1] = number + 1
        elif token.type == "tr_open":
            cells = []
        elif token.type == "tr_close" and cells is not None:
            out.append(" | ".join(cells))
            cells = None
        elif token.type == "inline" and cells is not None:
            cells.append(_inline(token))
        elif token.type in {"inline", "fence", "code_block"}:
            out.append(label + (_inline(token) if token.type == "inline" else token.content.rstrip("\n")))
            label = ""
        elif token.type in {"heading_close", "paragraph_close", "table_close"} and not token.hidden:
            out.append("")
    return "\n".join(out).strip()
