"""Competition: what many short speeches are worth against few long ones."""

from __future__ import annotations

from typing import Any

from decisions.point import Played, Point, play
from disputatio.kernel import Ask

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


POINTS = (Point(14, "all marks 7, brief speeches against long ones", "PRO wins, 105.00 to 56.00", equal_chances),)
