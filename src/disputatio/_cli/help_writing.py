"""Writes what ``--help`` shows from the commands themselves: ``python -m disputatio._cli.help_writing``.

What stands in the file is what Typer would draw, before it is laid out: see ``help_page``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

from disputatio._cli.help_page import PAGES


def pages() -> str:
    """The file: every page by the words that call its command, as JSON."""
    from typer.main import get_command

    from disputatio._cli.app import app

    found = {" ".join(words): page for words, page in _pages(get_command(app), "disputatio", ())}
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def _pages(command: Any, name: str, words: tuple[str, ...], above: Any = None) -> Iterator[tuple[tuple[str, ...], Any]]:
    from typer import Context

    context = Context(command, info_name=name, parent=above, **command.context_settings)
    yield words, _page(command, context)
    for inner, found in getattr(command, "commands", {}).items():
        yield from _pages(found, inner, (*words, inner), context)


def _page(command: Any, context: Any) -> Any:
    first, _, rest = cleandoc(command.help or "").partition("\n\n")
    about = [_plain(text) for text in (first.replace("\n", " "), rest) if text]
    return {
        "usage": context.get_usage().removeprefix("Usage: "),
        "about": about,
        "panels": [[title, rows] for title, rows in _panels(command, context).items()],
        "commands": [[name, _sentence(inner)] for name, inner in getattr(command, "commands", {}).items()],
        "epilog": _plain(command.epilog or ""),
    }


def _panels(command: Any, context: Any) -> dict[str, list[list[str]]]:
    """The rows of each panel: arguments first, then options, those without a panel of their own before the others."""
    shown = [row for row in command.get_params(context) if not row.hidden]
    panels: dict[str, list[list[str]]] = {}
    for kind, title in (("argument", "Arguments"), ("option", "Options")):
        rows = [(row.rich_help_panel or title, row) for row in shown if row.param_type_name == kind]
        for panel, row in sorted(rows, key=lambda each: each[0] != title):
            panels.setdefault(panel, []).append(_row(row, context))
    return panels


def _row(row: Any, context: Any) -> list[str]:
    """The cells of an option or argument, as Typer makes them: star, name, letter, type, text, note."""
    from typer.rich_utils import _get_parameter_help

    if row.secondary_opts:
        raise ValueError(f"{row.name}: a flag with an opposite has no place in the table of help_page.")
    if row.param_type_name == "argument":
        more = "..." if row.metavar is None and row.nargs != 1 else ""
        long, short = "", row.display_name_raw + more
    else:
        long = ",".join(name for name in row.opts if "--" in name)
        short = ",".join(name for name in row.opts if "--" not in name)
    type_ = f"{row.display_type_rich(ctx=context) or ''}"
    if row._get_number_range_help_str():
        type_ += f" [{row._get_number_range_help_str()}]"
    told: Any = _get_parameter_help(param=row, ctx=context, markup_mode="rich")
    texts = [item.plain for item in told.renderables]
    about = texts.pop(0) if row.help else ""
    if len(texts) > 1:
        raise ValueError(f"{row.name}: several notes have no place in the table of help_page.")
    return ["*" if row.required else "", long, short, type_, about, "".join(texts)]


def _sentence(command: Any) -> str:
    return _plain(cleandoc(command.short_help or command.help or "").split("\n\n")[0].replace("\n", " ").strip())


def _plain(text: str) -> str:
    """A text without Rich's markup."""
    from rich.text import Text

    return Text.from_markup(text).plain.strip()


def main() -> None:
    """Write the file."""
    Path(PAGES).write_text(pages(), "utf-8")


if __name__ == "__main__":
    main()
