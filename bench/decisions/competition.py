"""Competition: what many short speeches are worth against few long ones."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

from decisions.point import Played, Point, play
from disputatio.config import Arguments, resolve
from disputatio.config.process import format_scope
from disputatio.engine.opening import Proposal
from disputatio.engine.preview import preview, preview_range
from disputatio.evidence.sources import Source, SourceSet
from disputatio.formats.debate_context import DebateContext
from disputatio.formats.registry import FORMATS
from disputatio.formats.turns.citing import cited_json
from disputatio.kernel import Ask, Driver
from disputatio.motion import Motion
from disputatio.prompts import PromptBook, PromptContext, compose
from disputatio.testing.instances import instance

MARKS = {"logic": 7, "persuasion": 7, "expression": 7, "teamwork": 7, "rule_compliance": 7}


def matched(pro: int, con: int) -> Played:
    """A match with all marks 7; free speeches have ``pro`` and ``con`` words, others 60."""

    def answering(ask: Ask, made: dict[str, Any]) -> dict[str, Any]:
        if ask.spec.name == "scoring":
            return {"comment": "It was fine.", "violations": [], **MARKS}
        if ask.spec.name == "questions":
            return {**made, "questions": ["Is it so?"] * 3}
        if ask.spec.name == "speech":
            free = {"pro": pro, "con": con}[ask.seat[:3]] if ask.phase == "free_debate" else 60
            return {"speech": " ".join(["word"] * free)}
        return made

    return play("competition", "We should split the service", answering)


def equal_chances() -> tuple[str, bool]:
    """Eight speeches of 60 words against speeches of as many words as are allowed."""
    outcome = matched(60, 125).outcome
    counts = [outcome["teams"][team]["speeches"] for team in ("pro", "con")]
    return f"{outcome['reading']}, {counts[0]} speeches each", outcome["winner"] == "draw" and counts[0] == counts[1]


def prompts() -> tuple[str, bool]:
    """What the prompt of a free speech and that of the judge have in them."""
    played = matched(60, 125)
    setting = PromptContext("competition", Motion("We should split the service"))
    told = {row.task.prompt: _whole(setting, row) for row in played.asks.values()}
    found = {
        "criteria": "- logic (25 %)" in told["free"],
        "penalties": "more words than the clock allows: team 3, speaker 2" in told["free"],
        "limits": "free speech 125" in told["free"],
        "exceptions of the fence rule": "two exceptions, by name" in told["free"],
        "one spelling": not any(re.search(r"(?:PRO|CON)_[1-4]", text) for text in told.values()),
        "no lower mark for what code penalises": "as if it had not happened" in told["scoring"],
    }
    return ", ".join(name for name, there in found.items() if there), all(found.values())


def _whole(setting: PromptContext, ask: Ask) -> str:
    return "\n".join(row.text for row in compose(PromptBook(), setting, ask))


def checked_evidence() -> tuple[str, bool]:
    """The first turn of a panel and of a match quotes a source rightly and wrongly."""
    source = Source("audit", "audit.txt", "In the audit of 2021 the supplier was late in 14 of 52 deliveries.")
    quotes = ("the supplier was late in 14 of 52 deliveries", "the supplier was never late at all")
    told = []
    for name in ("panel", "competition"):
        form = FORMATS[name]
        context = DebateContext(form.seats, Motion("We should change the supplier"), SourceSet((source,)))
        driver: Any = Driver(form.rulebook(form.rules(), context))
        path, ask = next(iter(driver.open_asks.items()))
        made: Any = instance(ask.spec.schema, str(path))
        made["quotations"] = [{"source": "audit", "quote": quote} for quote in quotes]
        told.append([row["status"] for row in cited_json(ask.spec.read(made))])
    return " and ".join(", ".join(map(str, row)) for row in told), told == [["verified", "unverified"]] * 2


def dry_run() -> tuple[str, bool]:
    """The calls of a match whose free speeches have 60 words, against the range of a dry run."""
    used = len(matched(60, 60).asks)
    form = FORMATS["competition"]
    settings = resolve(
        format_name="competition",
        seats=tuple(form.seats),
        environ={},
        directory=Path(__file__).parent,
        arguments=Arguments().with_seats([("all", "ollama:any")]),
        options=format_scope(form),
    )
    proposal = Proposal(Motion("We should split the service"), form, settings)
    least, most = asyncio.run(_range(proposal))
    return f"{least} to {most} calls told, {used} used", least <= used <= most


async def _range(proposal: Proposal) -> tuple[int, int]:
    least, most = await preview_range(proposal, await preview(proposal))
    return least.calls, most.calls


POINTS = (
    Point(16, "quotes of a source, right and wrong", "not checked in a panel or a competition", checked_evidence),
    Point(16, "the range of a dry run", "39 to 57 calls told, 81 used", dry_run),
    Point(15, "what the prompts of a match say", "none of these; seats as pro_1 and PRO_1", prompts),
    Point(14, "all marks 7, brief speeches against long ones", "PRO wins, 105.00 to 56.00", equal_chances),
)
