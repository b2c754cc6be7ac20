"""Competition: what many short speeches are worth against few long ones."""

from __future__ import annotations

import re
from typing import Any

from decisions.point import Played, Point, play
from disputatio.kernel import Ask
from disputatio.motion import Motion
from disputatio.prompts import PromptBook, Setting, compose

MARKS = {"logic": 7, "persuasion": 7, "expression": 7, "teamwork": 7, "rule_compliance": 7}


def matched(pro: int, con: int) -> Played:
    """A match with all marks 7; free speeches have ``pro`` and ``con`` words, others 60."""

    def answering(ask: Ask, made: dict[str, Any]) -> dict[str, Any]:
        if ask.form.name == "scoring":
            return {"comment": "It was fine.", "violations": [], **MARKS}
        if ask.form.name == "questions":
            return {**made, "questions": ["Is it so?"] * 3}
        if ask.form.name == "speech":
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
    setting = Setting("competition", Motion("We should split the service"))
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


def _whole(setting: Setting, ask: Ask) -> str:
    return "\n".join(row.text for row in compose(PromptBook(), setting, ask))


POINTS = (
    Point(15, "what the prompts of a match say", "none of these; seats as pro_1 and PRO_1", prompts),
    Point(14, "all marks 7, brief speeches against long ones", "PRO wins, 105.00 to 56.00", equal_chances),
)
