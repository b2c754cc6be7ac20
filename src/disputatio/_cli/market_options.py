"""What a market debate can be told on the command line: its knowledge base, or the day of which to build one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from disputatio.failures import InvalidInputError

if TYPE_CHECKING:
    from disputatio.formats.format import Format
    from disputatio.market.knowledge import KnowledgeBase

_MARKET = "Market debates"

KnowledgeOption = Annotated[
    str | None,
    typer.Option(
        "--knowledge",
        metavar="FILE",
        help="The knowledge base to debate, as `disputatio market build` writes it; 'example' is the synthetic one.",
        rich_help_panel=_MARKET,
    ),
]
AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="DATE",
        help="Debate the S&P 500 as it was known at the close of this day, such as 2008-10-31, from installed data.",
        rich_help_panel=_MARKET,
    ),
]


def knowledge_given(form: Format, knowledge: str | None, as_of: str | None) -> KnowledgeBase | None:
    """The knowledge base of a debate; None for a format that has none.

    Raises:
        InvalidInputError: an option is for another format, both are given, or the file or the day cannot be used.
    """
    given = "--knowledge" if knowledge is not None else "--as-of" if as_of is not None else ""
    if not form.knows:
        if given:
            cause = f"{given} is for market debates, and the format is {form.name}."
            raise InvalidInputError(cause, "Add --format market.")
        return None
    if knowledge is not None and as_of is not None:
        raise InvalidInputError(
            "--knowledge and --as-of are both given, and a debate has one knowledge base.", "Leave one of them out."
        )
    from disputatio.market import sources

    if as_of is None:
        named: KnowledgeBase = sources.knowledge_named(knowledge or "example")
        return named
    built: KnowledgeBase = sources.build(sources.read_as_of(as_of), sources.open_source("packages"))
    return built


def motion_of(motion: str | None, topic: str | None, base: KnowledgeBase | None) -> str | None:
    """The motion, where none is given that of a market debate: whether its subject will rise within a month."""
    if base is None or motion or topic is not None:
        return motion
    from disputatio.engine.market_matter import question_on

    return question_on(base)


def market_rules() -> None:
    """Print the table that rule-based analysts argue from; a copy of it, changed, can take its place.

    `disputatio market rules > mine.toml`, then `disputatio debate --format market --seat all=rules:mine.toml`.
    """
    from disputatio._cli.streams import print_lines
    from disputatio.participants.analyst.textbook import packaged_text

    print_lines(packaged_text())
