"""Review: what becomes of criticisms, what is argued, and how strong a lazy critique is."""

from __future__ import annotations

from typing import Any

import disputatio
from decisions.point import Played, Point, play
from disputatio.errors import InvalidInputError
from disputatio.judging.challenge import Attack, RatedCriticism, measure_challenge
from disputatio.judging.gate import should_debate
from disputatio.kernel import Ask
from disputatio.record.events import DebateOpened
from disputatio.report.review import review_points
from disputatio.testing import instance

MET, UPHELD, OPEN = "resolved_for_proposition", "resolved_for_critique", "unresolved"
THESIS = "The supplier may sign the clause if its liability is capped."


def reviewed(motion: str, outcomes: dict[str, str], *, rounds: int = 1) -> Played:
    """A review whose moderator says ``outcomes`` of the criticisms, ``MET`` of the others, and wants all rounds."""

    def answering(ask: Ask, made: dict[str, Any]) -> dict[str, Any]:
        if ask.spec.name == "framing":
            made["thesis"] = THESIS
        elif ask.spec.name == "rebuttal":
            made["answers"] = {name: {**row, "response": "refute"} for name, row in made["answers"].items()}
        elif ask.spec.name == "moderation":
            rows = made["points"].items()
            made["points"] = {name: {**row, "outcome": outcomes.get(name, MET)} for name, row in rows}
            made["another_round_would_help"] = "yes"
        return made

    return play("review", motion, answering, rounds=rounds)


def earlier_rounds() -> tuple[str, bool]:
    """CRIT-2 is open in round 1 and nobody settles it; everything of round 2 is met."""
    played = reviewed("We should sign the clause", {"CRIT-2": OPEN}, rounds=2)
    asked: Any = played.asks["moderation-round-2/moderator"].spec.schema
    unresolved = [row["id"] for row in played.outcome["unresolved_points"]]
    holds = "CRIT-2" in asked["properties"]["points"]["properties"] and unresolved == ["CRIT-2"]
    return played.outcome["reading"].partition(": ")[2], holds


def argued() -> tuple[str, bool]:
    """The motion is a question, and the framing makes a thesis of it."""
    position = reviewed("May we sign the clause?", {}).asks["proposition/proposer"].task.quotes["position"]
    return f'"You argue for this position: {position}"', position == THESIS


def lazy_critic() -> tuple[str, bool]:
    """One definite criticism and three that only say again what they attack."""
    attacked = "Microservices reduce infrastructure investment significantly"
    told = "Suppliers abandon 3 of 9 infrastructure contracts."
    rows = [RatedCriticism(Attack.TAIL_RISK, "PROP-1", told, attacked)]
    rows += [
        RatedCriticism(row, "PROP-1", f"{attacked}{end}", attacked) for row, end in zip(Attack, ".!?", strict=False)
    ]
    found = measure_challenge(10, rows, ["PROP-1", "PROP-2", "PROP-3"])
    share = next(part for part in found.because.split(", ") if "definite" in part)
    return f"{share}, strength {found.value}, {'asked again' if found.weak else 'taken'}", found.weak


def all_upheld() -> tuple[str, bool]:
    """The moderator upholds every criticism."""
    outcomes = {f"CRIT-{number}": UPHELD for number in range(1, 6)}
    outcome = reviewed("We should sign the clause", outcomes).outcome
    reading, first = outcome["reading"].partition(": ")[2], review_points(outcome)[0][0]
    return f"{reading}; first comes: {first}", "0 met" in reading and first == "Synthesis"


def known_kinds() -> tuple[str, bool]:
    """What the gate makes of a preset's name and of a misspelt kind, both with an unsure answer."""
    named = should_debate("contract-risk", 0.2)
    try:
        should_debate("contrakt", 0.2)
    except InvalidInputError as refused:
        return f"contract-risk: {'debate' if named.debate else 'no debate'}; contrakt: {refused.cause}", named.debate
    return "contrakt passes", False


def every_seat() -> tuple[str, bool]:
    """Who sits where when one participant is given for all seats and three positions are weighed."""
    script = disputatio.Scripted(lambda ask, path, _: instance(ask.spec.schema, path))
    debate = disputatio.debate_sync(
        "How should we go on?",
        format=disputatio.Review(positions=["Adopt it this year.", "Keep what we have.", "Wait for a year."]),
        seats={"all": script},
        store=disputatio.MemoryStore(),
    )
    seats: Any = next(row for row in debate.events if isinstance(row, DebateOpened)).seats
    others = [seat for seat, row in seats.items() if row["kind"] != "scripted"]
    return f"{len(seats) - len(others)} of {len(seats)} seats are the participant's", not others


POINTS = (
    Point(9, "a criticism left open in round 1 of 2", "3 of 3 resolved", earlier_rounds),
    Point(10, "a motion that is a question", '"You argue for this position: May we ...?"', argued),
    Point(11, "one definite criticism, three restatements", "1 of 1 definite, strength 6", lazy_critic),
    Point(12, "every criticism upheld", "4 of 4 criticisms resolved; first comes: Thesis", all_upheld),
    Point(13, "a participant for all, three positions", "proposer_2 and _3 on the configured model", every_seat),
    Point(13, "kinds of tasks", "contract-risk: no debate; contrakt: no debate", known_kinds),
)
