"""Hand an escalated decision to a person at the terminal, to another debate, or to a callback."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from disputatio._cli.streams import tell
from disputatio.motion import one_line

if TYPE_CHECKING:
    from disputatio._cli.screen import Screen
    from disputatio.config import Arguments, Settings
    from disputatio.engine.escalation import Handover, Target
    from disputatio.engine.runtime import Runtime

_MOST_TRIES = 3


def find_target(settings: Settings, arguments: Arguments, evidence: Sequence[Any] = ()) -> Target | None:
    """Who takes an escalated decision by the settings; None where the format has none.

    Raises:
        InvalidInputError: the target cannot be used here.
    """
    from disputatio.engine.escalation import choose_target, configured_recipient
    from disputatio.formats.custom_debate import OWN
    from disputatio.formats.registry import find_format

    if settings.format_name == OWN and arguments.value("escalate") is None:
        return None
    form = find_format(settings.format_name)
    return choose_target(
        configured_recipient(settings), form, arguments, evidence, ask_person if _has_person() else None
    )


def _has_person() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


async def escalate(debate_id: str, target: Target | None, runtime: Runtime, screen: Screen) -> None:
    """Hand the decision over if the panel decided so, and print what came of it."""
    from disputatio.engine.escalation import DebateTarget, hand_over
    from disputatio.report.panel import escalation_words

    if target is None:
        return
    if isinstance(target, DebateTarget):
        second = screen.sibling()
        async with second.showing():
            handover = await hand_over(debate_id, target, second.runtime(runtime.store))
    else:
        handover = await hand_over(debate_id, target, runtime)
    if handover is not None:
        tell(escalation_words(handover.to, handover.name, handover.answer, handover.debate, handover.failure))


async def ask_person(debate_id: str, runtime: Runtime) -> Handover:
    """Ask the person at the terminal to decide. Without an answer the decision stays open."""
    from disputatio._cli.screen import terminal_width
    from disputatio.engine.escalation import Handover, Recipient
    from disputatio.report.panel import panel_reading, tally_words
    from disputatio.report.reading import DebateReport

    report = DebateReport.of(debate_id, runtime.store.read(debate_id), runtime.store.texts(debate_id))
    reading = panel_reading(report)
    options = [one_line(row, 60) for row in reading.options] if reading else []
    tell(
        "",
        "The panel hands the decision to you.",
        *wrap(f"Motion: {report.motion}", terminal_width()),
        *(wrap(f"{reading.sentence}.", terminal_width()) if reading else []),
        *(wrap(f"Votes: {tally_words(reading)}.", terminal_width()) if reading else []),
        *(f"  {number}  {option}" for number, option in enumerate(options, start=1)),
    )
    for _ in range(_MOST_TRIES):
        tell("Type a number or a word of your own. An empty line leaves the decision open:")
        line = await _read_line()
        word = one_line(line, 200)
        if not word:
            return Handover(Recipient.PERSON, failure="the person left it open")
        if word in options or not word.isdigit():
            return Handover(Recipient.PERSON, answer=word)
        if 1 <= int(word) <= len(options):
            return Handover(Recipient.PERSON, answer=options[int(word) - 1])
        tell(f"There is no option {word}.")
    return Handover(Recipient.PERSON, failure="the person named no option")


async def _read_line() -> str:
    """Read a line from the terminal. Unlike a blocking read, this can be cancelled."""
    import asyncio

    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(sys.stdin.fileno(), lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return sys.stdin.readline()
