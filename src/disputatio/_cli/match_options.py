"""What may be said of a competition on the command line, and ``disputatio topics``."""

from __future__ import annotations

from typing import Annotated

import typer

from disputatio.failures import InvalidInputError

_MATCH = "How a competition is held"

TopicOption = Annotated[
    str | None,
    typer.Option(
        "--topic",
        metavar="NAME",
        help="A built-in motion in the place of MOTION; `disputatio topics` lists them.",
        rich_help_panel="What is debated",
    ),
]
PersonalityOption = Annotated[
    list[str] | None,
    typer.Option(
        "--personality",
        metavar="SEAT=NAME",
        help="How a debater argues: logical, emotional, data_driven, aggressive, diplomatic, none; repeatable. "
        "'pro', 'con' and 'all' cover several.",
        rich_help_panel=_MATCH,
    ),
]
PersonalitiesOption = Annotated[
    str | None,
    typer.Option(
        "--personalities",
        metavar="FILE",
        help="Your own personalities in TOML or YAML.",
        rich_help_panel=_MATCH,
    ),
]


def motion_or_topic(motion: str | None, topic: str | None) -> str:
    """The motion that was given, or that of the built-in topic.

    Raises:
        InvalidInputError: both were given, or neither, or there is no such topic.
    """
    from disputatio.config.catalogue import topic_named

    if topic is not None and motion is not None:
        raise InvalidInputError(
            "A motion and --topic are given, and a debate has one motion.", "Leave one of them out."
        )
    if topic is not None:
        return topic_named(topic)
    if motion is None:
        raise InvalidInputError(
            "Missing argument 'MOTION'.",
            "Give a question or proposition, or --topic NAME. `disputatio debate --help` shows what it takes.",
        )
    return motion


def topics(
    json_: Annotated[bool, typer.Option("--json", metavar="", help="Print them as JSON.")] = False,
) -> None:
    """List the built-in topics and personalities for `disputatio debate --topic NAME --format competition`."""
    from disputatio._cli.streams import print_json, print_lines
    from disputatio.config.catalogue import personalities
    from disputatio.config.catalogue import topics as known

    if json_:
        print_json(
            {
                "topics": [{"name": name, "motion": motion} for name, motion in known().items()],
                "personalities": [{"name": name, "about": row.about} for name, row in personalities().items()],
            }
        )
        return
    wide = max(map(len, known()))
    print_lines("Topics\n" + "\n".join(f"  {name:<{wide}}  {motion}" for name, motion in known().items()))
    print_lines("Personalities\n" + "\n".join(f"  {name}" for name in personalities()))
