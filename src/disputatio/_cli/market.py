"""``disputatio market``: build a knowledge base of the market as of a day, and read one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disputatio._cli.streams import print_json, print_lines, tell

if TYPE_CHECKING:
    from disputatio.market.knowledge import Datum, KnowledgeBase

market = typer.Typer(
    name="market",
    help="Build a knowledge base of the market as of a day, and read one.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@market.command("build")
def build(
    as_of: Annotated[
        str,
        typer.Option(
            "--as-of",
            metavar="DATE",
            help="Use what was known at the end of this day in New York (2008-11-28), or at a time with its zone.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file for the knowledge base.")],
    source: Annotated[
        str,
        typer.Option(
            "--source",
            "-s",
            metavar="SOURCE",
            help="packages (S&P 500 from 1990 to 2022, offline), live (Yahoo Finance and FRED), or csv:FOLDER.",
        ),
    ] = "packages",
    subject: Annotated[
        str | None,
        typer.Option("--subject", metavar="KEY", help="What is debated. The folder has its prices in index_KEY.csv."),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", metavar="", help="Print the knowledge base as JSON.")] = False,
) -> None:
    """Build a knowledge base from what was known at a moment, and from nothing later.

    If a source lacks a value or fails, the value stays empty and a warning says so. There is no default day.
    """
    from disputatio.market.sources.builder import build as build_base
    from disputatio.market.sources.builder import open_source
    from disputatio.market.sources.files import save
    from disputatio.market.sources.moments import parse_as_of

    moment = parse_as_of(as_of)
    sources = open_source(source, subject)
    if source.strip().casefold() == "live":
        tell("Asking Yahoo Finance and FRED ...")
    # A knowledge base of the past is the same file every time. Only a live one says when it was made.
    now = datetime.now(UTC) if source.strip().casefold() == "live" else None
    base = build_base(moment, sources, generated_at=now)
    save(base, out)
    if json_:
        _print_json(base)
        return
    from disputatio._cli.screen import print_wrapped

    print_wrapped([*_summary(base).splitlines(), *(f"Note: {warning}" for warning in base.meta.warnings)], 2)
    print_lines(f"Written to {out}. Read it: disputatio market show {out}")


@market.command("show")
def show(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A knowledge base, or 'example' for the packaged one.")],
    json_: Annotated[bool, typer.Option("--json", metavar="", help="Print the knowledge base as JSON.")] = False,
) -> None:
    """Show the values of a knowledge base with their dates, and the missing values."""
    from disputatio._cli.screen import console
    from disputatio.market.sources.files import load_named

    base = load_named(file)
    if json_:
        _print_json(base)
        return
    from disputatio._cli.market_tables import make_tables

    printer = console()
    printer.print(_summary(base), soft_wrap=False)
    for part in make_tables(base, printer.width):
        printer.print()
        printer.print(part)


def _print_json(base: KnowledgeBase) -> None:
    from disputatio.market.knowledge_json import as_json
    from disputatio.market.sources.files import content_hash

    print_json({"sha256": content_hash(base), "knowledge": as_json(base)})


def _summary(base: KnowledgeBase) -> str:
    """Describe a knowledge base in two or three lines."""
    from disputatio.market.knowledge import collect_data
    from disputatio.motion import one_line

    meta, data = base.meta, collect_data(base)
    known = sum(datum.is_known for datum in data.values())
    invented = " Its values are invented." if meta.synthetic else ""
    status, sources = one_line(meta.market_status, 20), one_line(", ".join(meta.data_sources), 100)
    head = (
        f"{one_line(meta.subject_name, 60)} as known on {meta.day} (up to {meta.as_of}), New York: {status}.{invented}"
    )
    missing = f"{_count(data, 'Missing')} missing, {_count(data, 'Failed')} failed"
    return f"{head}\n{known} of {len(data)} values known, {missing}; {len(base.sectors)} sectors; from {sources}."


def _count(data: Mapping[str, Datum], kind: str) -> int:
    return sum(type(datum.content).__name__ == kind for datum in data.values())


@market.command("rules")
def market_rules() -> None:
    """Print the rules of rule-based analysts, as a table that you can change.

    `disputatio market rules > mine.toml`, then `disputatio debate --format market --seat all=rules:mine.toml`.
    """
    from disputatio.participants.analyst.textbook import packaged_text

    print_lines(packaged_text())
