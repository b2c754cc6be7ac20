"""What came of a review, read from the outcome in its record, and its rounds as the published round record."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from disputatio.report.amounts import listed, spoken
from disputatio.report.json_values import objects_in
from disputatio.report.reading import DebateReport, EntryState

_STOPPED = {
    "moderator": "the moderator found that another round would not help",
    "maximum_rounds": "the rounds that were set are used up, and the moderator asked for another",
    "ceiling": "the ceiling was reached; what is shown is the moderation so far",
    "no_proposition": "no proposition was made",
    "no_moderation": "the moderator was silent",
    "no_positions": "nobody named the positions that were to be weighed",
}


def is_review(outcome: Mapping[str, Any]) -> bool:
    """Whether an outcome is that of a review."""
    return outcome.get("format") == "review"


def contests_in(outcome: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Every round of a review with each of its contests, one for each position."""
    for round_ in objects_in(outcome.get("rounds")):
        for contest in objects_in(round_.get("contests")):
            yield round_, contest


def review_points(outcome: Mapping[str, Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The entries of the decision briefing of a review, in their order; empty for another outcome."""
    if not is_review(outcome):
        return ()
    framing = outcome.get("framing")
    points: list[tuple[str, list[str]]] = []
    if outcome.get("judged"):
        points.append(("Synthesis", [str(outcome.get("synthesis"))]))
        points.append(("Confidence", [_confidence(outcome)]))
        points.append(("Ranking", _ranking(objects_in(outcome.get("ranking")))))
        points.append(("Uncertain", list(map(str, outcome.get("uncertainties") or ()))))
        settled = objects_in(outcome.get("resolved_points"))
        for label, ended in (("Upheld", "resolved_for_critique"), ("Met", "resolved_for_proposition")):
            rows = [row for row in settled if row.get("outcome") == ended]
            points.append((label, [_point(row) for row in rows] or ["no criticism"]))
        points.append(
            ("Unresolved", [_point(row) for row in objects_in(outcome.get("unresolved_points"))] or ["nothing"])
        )
        points.append(("Not moderated", [_claim(row) for row in objects_in(outcome.get("unmoderated_points"))]))
    if isinstance(framing, Mapping):
        points.append(("Thesis", [str(framing.get("thesis"))]))
        points.append(("Criteria", list(map(str, framing.get("criteria") or ()))))
    points.append(("Challenge", _challenges(outcome)))
    points.append(("Flags", [_flag(row) for row in objects_in(outcome.get("flags"))] or ["none"]))
    points.append(("Ended", [_STOPPED.get(str(outcome.get("stopped_by")), str(outcome.get("stopped_by")))]))
    return tuple((label, tuple(texts)) for label, texts in points if texts)


def _ranking(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The positions from the best supported on. Points are numbered where they are shown, so only equals are said."""
    ranks = [row.get("rank") for row in rows]
    return [
        f"{row.get('position')}{' (equal in rank)' if ranks.count(row.get('rank')) > 1 else ''}: {row.get('text')}"
        for row in rows
    ]


def _confidence(outcome: Mapping[str, Any]) -> str:
    number, run = outcome.get("moderated_round"), outcome.get("rounds_run")
    when = "" if number == run else f", found in round {number} of {run}: the last was not moderated"
    return f"{outcome.get('confidence')}{when}"


def _point(row: Mapping[str, Any]) -> str:
    return f"{row.get('id')}: {row.get('because')}"


def _claim(row: Mapping[str, Any]) -> str:
    return f"{row.get('id')}: {row.get('claim')}"


def _flag(row: Mapping[str, Any]) -> str:
    critical = "CRITICAL, " if row.get("critical") else ""
    where = f"round {row.get('round')}, " if row.get("round") else ""
    return f"{critical}{spoken(str(row.get('flag')))} ({where}{row.get('about')}): {row.get('detail')}"


def _challenges(outcome: Mapping[str, Any]) -> list[str]:
    found = []
    for held, contest in contests_in(outcome):
        criticism = contest.get("criticism")
        if not isinstance(criticism, Mapping):
            continue
        challenge = criticism.get("challenge") or {}
        first = criticism.get("first_challenge")
        again = f"; asked again after {first.get('strength')} of 10" if isinstance(first, Mapping) else ""
        where = _where(outcome, held, contest)
        found.append(
            f"{where}strength {challenge.get('strength')} of 10 (the critic says {challenge.get('claimed')}, "
            f"the program finds {challenge.get('measured')}: {challenge.get('because')}){again}"
        )
    return found


def _where(outcome: Mapping[str, Any], held: Mapping[str, Any], contest: Mapping[str, Any]) -> str:
    words = [f"round {held.get('number')}"] if len(objects_in(outcome.get("rounds"))) > 1 else []
    words += [str(contest.get("position"))] if len(objects_in(held.get("contests"))) > 1 else []
    return f"{', '.join(words)}: " if words else ""


def superseded(report: DebateReport) -> frozenset[str]:
    """The paths of critiques that do not count, because the critic was asked once more and the other is stronger."""
    theses = {
        (criticism := contest.get("criticism")) and criticism.get("thesis")
        for _, contest in contests_in(report.outcome)
    }
    found = set()
    critiques = {row.path: row for row in report.turns if row.form == "criticism"}
    for path, row in critiques.items():
        first = path.removesuffix("#2")
        if first != path and first in critiques:
            # Without an outcome the second counts: that is what the critic was asked for.
            counts = not theses or row.content.get("thesis") in theses
            found.add(first if counts else path)
    return frozenset(found)


def review_sureness(report: DebateReport) -> list[str]:
    """How far a review can be trusted, in sentences."""
    outcome = report.outcome
    rounds = [row for row in report.turns if row.form == "moderation"]
    sentences = [_moderated(len(rounds))] if rounds else ["not moderated"]
    struck = [str(row.get("about")) for row in objects_in(outcome.get("flags")) if row.get("critical")]
    if struck:
        sentences.append(f"CRITICAL: {listed(struck)} struck, because the evidence is not there")
    if is_weakly_challenged(outcome):
        sentences.append(
            "the challenge was weak or missing: this review is not evidence that the decision was challenged"
        )
    tilt = outcome.get("tilt")
    if isinstance(tilt, Mapping) and tilt.get("difference") is not None:
        sentences.append(
            f"the moderator scored the case for it {tilt['proposition']:.1f} and the critique {tilt['critique']:.1f}"
        )
    return sentences


def _moderated(rounds: int) -> str:
    return "moderated once, not repeated" if rounds == 1 else f"moderated in {rounds} rounds, each once, not repeated"


def round_records(report: DebateReport) -> list[dict[str, Any]]:
    """The rounds under exactly the keys of the published round record: one for each round and position.

    What is unknown is null. Tokens are those that the providers reported, null where one did not; with several
    positions the moderator's are in the record of the first, and null in the others.
    """
    if not is_review(report.outcome):
        return []
    return [
        _record(report, round_, contest, place)
        for round_ in objects_in(report.outcome.get("rounds"))
        for place, contest in enumerate(objects_in(round_.get("contests")))
    ]


def debate_uuid(debate: str) -> str:
    """A UUID of version 4 for the debate called so in its store, the same in every export of it.

    The published round record wants one, and a store's own names are shorter. It is made of a hash of the name.
    """
    return str(UUID(bytes=hashlib.sha256(debate.encode()).digest()[:16], version=4))


def _record(report: DebateReport, held: Mapping[str, Any], contest: Mapping[str, Any], place: int) -> dict[str, Any]:
    several = len(objects_in(held.get("contests"))) > 1
    number = int(held["number"])
    tokens = {
        role: _tokens(report, phase, number, f"position-{place + 1}" if several else "")
        for role, phase in (("proposer", "proposition"), ("critic", "critique"), ("rebuttal", "rebuttal"))
    }
    tokens["moderator"] = None if place else _tokens(report, "moderation", number, "")
    return {
        "debateId": debate_uuid(report.id),
        "roundNumber": number,
        "question": report.outcome.get("question"),
        "proposerPosition": _proposer(contest.get("proposition")),
        "criticPosition": _critic(contest.get("criticism")),
        "rebuttalPosition": _rebuttal(contest.get("rebuttals")),
        "moderatorEvaluation": _evaluation(held.get("evaluation")),
        "tokenCost": tokens,
    }


def _proposer(turn: Any) -> dict[str, Any] | None:
    if not isinstance(turn, Mapping):
        return None
    names = ("id", "claim", "reasoning", "evidence", "struck")
    return {
        "thesis": turn["thesis"],
        "supporting_arguments": [_plain(row, names) for row in turn["arguments"]],
        "evidence_cited": _cited(turn["arguments"]),
    }


def _critic(turn: Any) -> dict[str, Any] | None:
    if not isinstance(turn, Mapping):
        return None
    names = ("id", "target", "attack", "claim", "reasoning", "struck")
    return {
        "thesis": turn["thesis"],
        "counter_arguments": [_plain(row, names) for row in turn["arguments"]],
        "evidence_cited": _cited(turn["arguments"]),
        "challengeStrength": turn["challenge"]["strength"],
    }


def _rebuttal(turn: Any) -> dict[str, Any] | None:
    if not isinstance(turn, Mapping):
        return None
    names = ("id", "target", "response", "reasoning", "struck")
    rows = [_plain(row, names) for row in turn["answers"]]
    return {
        "thesis": turn["thesis"],
        "rebuttals": rows,
        "concessions": [row for row in rows if row["response"] != "refute" and not row["struck"]],
    }


def _evaluation(found: Any) -> dict[str, Any] | None:
    if not isinstance(found, Mapping):
        return None
    critical = [f"CRITICAL: {row}" for row in found["critical"]]
    return {
        "argumentQualityScore": {role: found["quality"].get(role) for role in ("proposer", "critic", "rebuttal")},
        "resolvedPoints": [dict(row) for row in found["resolved"]],
        "unresolvedPoints": [dict(row) for row in found["unresolved"]],
        "recommendAnotherRound": found["another_round"],
        "synthesis": found["synthesis"],
        "confidenceLevel": found["confidence"],
        "explicitUncertainties": [*critical, *found["uncertainties"]],
    }


def _cited(arguments: Any) -> list[dict[str, Any]]:
    return [{"argument": row["id"], **dict(cited)} for row in arguments for cited in row["citations"]]


def _plain(row: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: row[name] for name in names}


def _tokens(report: DebateReport, phase: str, number: int, position: str) -> int | None:
    """The tokens of the calls of one phase of one round; None where a provider did not report them."""
    wanted = phase if number == 1 else f"{phase}-round-{number}"
    paths = {row.path for row in report.entries if row.phase == wanted and f"/{position}" in row.path}
    entries = [row for row in report.entries if row.path in paths and row.state is not EntryState.OPEN]
    if not entries:
        return None
    total = 0
    for call in report.calls:
        if call.sent.path in paths:
            tokens = [call.tokens(name) for name in ("input_tokens", "output_tokens")]
            if call.made is None or (None in tokens and not call.made.fault):
                return None
            total += sum(each or 0 for each in tokens)
    return total


class CriticismOutcome(StrEnum):
    """What became of a criticism."""

    UPHELD = "upheld"
    """The moderator found for the critique."""
    MET = "met"
    """The moderator found for the proposition."""
    UNRESOLVED = "unresolved"
    """The moderator left it open."""
    NOT_MODERATED = "not moderated"
    """It was not withdrawn, and the moderator did not rule on it."""


@dataclass(frozen=True, slots=True)
class CriticismReading:
    """A criticism of a review. ``because`` is the moderator's reason, empty where it gave none."""

    id: str
    claim: str
    outcome: CriticismOutcome
    because: str = ""


@dataclass(frozen=True, slots=True)
class ReviewReading:
    """The result of a review.

    Attributes:
        criticisms: every criticism that was not withdrawn, the settled ones first.
        conceded: the criticisms that the rebutter conceded, by their ids.
        challenge_strength: how strong the challenge was, 0 to 10; None if it was not measured.
        weak_challenge: whether the decision was hardly challenged, so that the review is no evidence for it.
        confidence: the moderator's own word for its confidence; empty where no round was moderated.
        uncertainties: what the moderator calls uncertain.
        synthesis: the moderator's result; empty where no round was moderated.
        rounds: the number of rounds.
        stopped_by: the record's word for why there was no further round.
    """

    criticisms: tuple[CriticismReading, ...]
    conceded: tuple[str, ...]
    challenge_strength: int | None
    weak_challenge: bool
    confidence: str
    uncertainties: tuple[str, ...]
    synthesis: str
    rounds: int
    stopped_by: str

    def ended(self, outcome: CriticismOutcome) -> tuple[CriticismReading, ...]:
        """The criticisms that ended in this way."""
        return tuple(row for row in self.criticisms if row.outcome is outcome)

    def ids(self, outcome: CriticismOutcome) -> tuple[str, ...]:
        """Their ids."""
        return tuple(row.id for row in self.ended(outcome))


def review_reading(report: DebateReport) -> ReviewReading | None:
    """The result of a review; None where the outcome is that of another format."""
    outcome: Mapping[str, Any] = report.outcome
    if not is_review(outcome):
        return None
    strength, uncertain = outcome.get("challenge_strength"), outcome.get("uncertainties")
    rounds = outcome.get("rounds_run")
    return ReviewReading(
        criticisms=_criticisms(outcome),
        conceded=_conceded(outcome),
        challenge_strength=strength if isinstance(strength, int) else None,
        weak_challenge=is_weakly_challenged(outcome),
        confidence=str(outcome.get("confidence") or ""),
        uncertainties=tuple(map(str, uncertain)) if isinstance(uncertain, list | tuple) else (),
        synthesis=str(outcome.get("synthesis") or ""),
        rounds=rounds if isinstance(rounds, int) else len(objects_in(outcome.get("rounds"))),
        stopped_by=str(outcome.get("stopped_by") or ""),
    )


def is_weakly_challenged(outcome: Mapping[str, Any]) -> bool:
    """Whether the outcome of a review says that it was hardly challenged."""
    return any(row.get("flag") in {"weak_challenge", "unchallenged"} for row in objects_in(outcome.get("flags")))


_SETTLED = {
    "resolved_for_critique": CriticismOutcome.UPHELD,
    "resolved_for_proposition": CriticismOutcome.MET,
}


def _criticisms(outcome: Mapping[str, Any]) -> tuple[CriticismReading, ...]:
    settled = [
        _criticism(row, _SETTLED.get(str(row.get("outcome")), CriticismOutcome.UNRESOLVED))
        for row in objects_in(outcome.get("resolved_points"))
    ]
    open_ = [_criticism(row, CriticismOutcome.UNRESOLVED) for row in objects_in(outcome.get("unresolved_points"))]
    unseen = [_criticism(row, CriticismOutcome.NOT_MODERATED) for row in objects_in(outcome.get("unmoderated_points"))]
    return (*settled, *open_, *unseen)


def _criticism(row: Mapping[str, Any], outcome: CriticismOutcome) -> CriticismReading:
    return CriticismReading(
        str(row.get("id") or ""), str(row.get("claim") or ""), outcome, str(row.get("because") or "")
    )


def _conceded(outcome: Mapping[str, Any]) -> tuple[str, ...]:
    """The criticisms that a rebuttal did not refute."""
    found = []
    for _, contest in contests_in(outcome):
        rebuttals = contest.get("rebuttals")
        answers = objects_in(rebuttals.get("answers")) if isinstance(rebuttals, Mapping) else []
        found += [str(row.get("target")) for row in answers if row.get("response") == "concede"]
    return tuple(found)
