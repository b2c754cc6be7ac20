"""The outcome of a review: standings, flags, the last moderation. Code computes everything from the turns.

A criticism, computed from the answer to it:
- UPHELD where it was conceded or not answered;
- PARTIALLY_UPHELD where it was accepted in part;
- UNCERTAIN where it was refuted, since the critic has no further word in the round.

A criticism, as the moderator judged it: UPHELD where resolved for the critique, REFUTED where for the proposition,
UNCERTAIN where unresolved.

An argument, by the criticisms that stand against it, computed or judged:
- REFUTED where one shows misread evidence or a hidden assumption;
- PARTIALLY_UPHELD where a tail risk or a harm stands against it, or a criticism holds in part;
- UNCERTAIN where one is contested;
- UPHELD otherwise.

Struck items have no standing. The last ruling on a criticism counts, even from a later round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, Protocol

from disputatio.formats.review_round import Contest, Position, Round, last_points
from disputatio.formats.rule_values import Brief
from disputatio.formats.turns.criticism import CounterArgument, Criticism, Rebuttal, RebuttalKind, Rebuttals
from disputatio.formats.turns.moderation import Moderation, Point, Resolution
from disputatio.formats.turns.proposition import Framing, Proposition, ReviewArgument
from disputatio.judging.challenge import Attack
from disputatio.judging.scoring import mean, round_half_up
from disputatio.judging.standing import Standing
from disputatio.kernel import JsonObject

VOID = "VOID"


class Stop(StrEnum):
    """Why no further round took place."""

    MODERATOR = "moderator"
    """The moderator found that another round would not help."""
    MAXIMUM = "maximum_rounds"
    """It would have helped, and the rounds that were set are used up."""
    CEILING = "ceiling"
    """The money, tokens or calls were used up."""
    NO_PROPOSITION = "no_proposition"
    NO_MODERATION = "no_moderation"
    UNFRAMED = "no_positions"
    """Several positions were to be weighed, but none were named."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A warning about the review. A critical one is a failed validation."""

    flag: str
    round: int
    about: str
    detail: str
    critical: bool = False

    def as_json(self) -> JsonObject:
        """Return the recorded form."""
        return {
            "flag": self.flag,
            "round": self.round,
            "about": self.about,
            "detail": self.detail,
            "critical": self.critical,
        }


@dataclass(frozen=True, slots=True)
class ReviewVerdict:
    """The outcome of a review."""

    question: str
    framing: Framing | None
    positions: tuple[Position, ...]
    rounds: tuple[Round, ...]
    stop: Stop
    brief: Brief
    flags: tuple[Flag, ...]

    @property
    def moderated(self) -> Round | None:
        """The last round with a moderation."""
        return next((row for row in reversed(self.rounds) if row.moderation), None)

    @property
    def moderation(self) -> Moderation | None:
        """The last moderation; None where there is none."""
        return self.moderated.moderation if self.moderated else None

    @property
    def points(self) -> dict[str, Point]:
        """The latest ruling on every moderated criticism, by id."""
        return last_points(self.rounds)

    @property
    def unmoderated(self) -> tuple[CounterArgument, ...]:
        """The standing criticisms that no moderator ruled on."""
        points = self.points
        rows = [row for round_ in self.rounds for each in round_.contests for row in each.criticisms]
        struck = {name for round_ in self.rounds for name in round_.struck}
        return tuple(row for row in rows if row.id not in points and row.id not in struck)

    @property
    def reading(self) -> str:
        """The result in a sentence."""
        found = self.moderation
        if found is None:
            return "no synthesis: nothing was moderated"
        points = self._counted()
        critical = sum(row.critical for row in self.flags)
        failed = f", {critical} struck for want of evidence" if critical else ""
        return f"{found.confidence.value} confidence after {_rounds(self.moderated)}: {points}{failed}"

    def _counted(self) -> str:
        """Return how many criticisms were upheld, met, left unresolved, or not moderated."""
        ended = [row.resolution for row in self.points.values()]
        if not ended:
            return "no criticism"
        counts = [f"{ended.count(Resolution.CRITIQUE)} upheld", f"{ended.count(Resolution.PROPOSITION)} met"]
        open_ = ended.count(Resolution.UNRESOLVED)
        counts += [f"{open_} unresolved"] if open_ else []
        counts += [f"{len(self.unmoderated)} not moderated"] if self.unmoderated else []
        total = len(ended) + len(self.unmoderated)
        return f"of {total} criticism{'s' if total > 1 else ''} {', '.join(counts)}"

    @property
    def ranking(self) -> tuple[tuple[int, str], ...]:
        """The positions by rank, 1 the best supported; ties share a rank."""
        backings = self.moderation.backings if self.moderation else ()
        ranked = sorted(backings, key=lambda row: -row.support)
        return tuple((1 + sum(each.support > row.support for each in backings), row.position) for row in ranked)

    def totals(self) -> dict[str, Fraction | None]:
        """Return the moderator's mean score of each role, 1 to 10; None without scores."""
        found: dict[str, list[Fraction]] = {"proposer": [], "critic": [], "rebuttal": []}
        for round_ in self.rounds:
            for role, scores in role_scores(round_).items():
                found[role] += scores
        return {role: mean(scores) if scores else None for role, scores in found.items()}

    def tilt(self) -> JsonObject:
        """Return how much higher, in points, the moderator scored the case than the critique."""
        rows: dict[str, list[Fraction]] = {"proposition": [], "critique": []}
        for round_ in self.rounds:
            scores = role_scores(round_)
            rows["proposition"] += scores["proposer"] + scores["rebuttal"]
            rows["critique"] += scores["critic"]
        both = {name: mean(scores) if scores else None for name, scores in rows.items()}
        known = {name: None if value is None else round_half_up(value, 4) for name, value in both.items()}
        gap = None
        if both["proposition"] is not None and both["critique"] is not None:
            gap = round_half_up(both["proposition"] - both["critique"], 4)
        return {**known, "difference": gap}

    def as_json(self) -> JsonObject:
        """Return the whole verdict, as the record and the exports keep it."""
        found = self.moderation
        last = self.moderated
        claims = _claims(self.rounds)
        settled = [row for row in self.points.values() if row.resolution is not Resolution.UNRESOLVED]
        unsettled = [row for row in self.points.values() if row.resolution is Resolution.UNRESOLVED]
        names = {row.id: row for row in self.positions}
        return {
            "format": "review",
            "judged": found is not None,
            "task_type": self.brief.task_type,
            "preset": self.brief.name,
            "question": self.question,
            "framing": self.framing.as_json() if self.framing else None,
            "positions": [{"id": row.id, "seat": row.seat, "text": row.text} for row in self.positions],
            "ranking": [{"rank": rank, "position": name, "text": names[name].text} for rank, name in self.ranking],
            "rounds_run": len(self.rounds),
            "stopped_by": self.stop.value,
            "reading": self.reading,
            "synthesis": found.synthesis if found else "",
            "recommendation": found.synthesis if found else "",
            "moderated_round": last.number if last else None,
            "confidence": found.confidence.value if found else None,
            "uncertainties": list(found.uncertainties) if found else [],
            "resolved_points": [_point_json(row, claims) for row in settled],
            "unresolved_points": [_point_json(row, claims) for row in unsettled],
            "unmoderated_points": [{"id": row.id, "claim": row.claim} for row in self.unmoderated],
            "challenge_strength": self._challenge(),
            "agreed": self._agreed(),
            "critical": any(row.critical for row in self.flags),
            "flags": [row.as_json() for row in self.flags],
            "totals": {
                role: None if value is None else round_half_up(value, 4) for role, value in self.totals().items()
            },
            "tilt": self.tilt(),
            "trace": [row for round_ in self.rounds for row in trace_of(round_, self.points)],
            "rounds": [round_json(round_, claims) for round_ in self.rounds],
            "rubric": "review",
            "measures": "the quality of the argument, not who is right",
        }

    def _agreed(self) -> list[JsonObject]:
        """Return the criticisms that the rebuttal fully conceded."""
        return [
            {"id": row.id, "claim": row.claim, "conceded_by": "rebutter"}
            for round_ in self.rounds
            for each in round_.contests
            for row in each.criticisms
            if (answer := each.answer_to(row.id)) and answer.kind is RebuttalKind.CONCEDE
        ]

    def _challenge(self) -> int | None:
        """Return the strength of the weakest critique that counts; None without one."""
        strengths = [row.criticism.strength.value for round_ in self.rounds for row in round_.contests if row.criticism]
        return min(strengths, default=None)


def build_review_verdict(
    question: str,
    framing: Framing | None,
    positions: tuple[Position, ...],
    rounds: tuple[Round, ...],
    stop: Stop,
    brief: Brief,
    not_reached: Sequence[str],
) -> ReviewVerdict:
    """Build the verdict of a review."""
    flags = [] if framing else [Flag("unframed", 0, "framing", "the motion was debated as it stands")]
    for round_ in rounds:
        flags += [row for each in round_.contests for row in _contest_flags(round_.number, each)]
    verdict = ReviewVerdict(question, framing, positions, rounds, stop, brief, ())
    found = verdict.moderation
    unresolved = [name for name, row in verdict.points.items() if row.resolution is Resolution.UNRESOLVED]
    if stop is Stop.MAXIMUM and found and unresolved:
        names = ", ".join(unresolved)
        detail = f"the moderator asked for another round and there is none; unresolved: {names}"
        flags.append(Flag("unresolved_at_maximum", len(rounds), names, detail))
    flags += [
        Flag("evidence_not_reached", len(rounds), name, "the review ended before the round that brings it")
        for name in not_reached
    ]
    return ReviewVerdict(question, framing, positions, rounds, stop, brief, tuple(flags))


def _contest_flags(number: int, contest: Contest) -> list[Flag]:
    flags = [
        Flag("fabricated_citation" if why.startswith("fabricated") else "uncited_evidence", number, name, why, True)
        for name, why in contest.struck.items()
    ]
    about = contest.position.id
    if contest.proposition and contest.criticism is None:
        flags.append(Flag("unchallenged", number, about, "no critique was heard: nobody challenged the proposition"))
    if contest.criticism is None:
        return flags
    strength = contest.criticism.strength
    if strength.flagged:
        detail = f"the strength of the critique is {strength.value} of 10 ({strength.because}); see the critic's prompt"
        flags.append(Flag("weak_challenge", number, about, detail))
    if strength.overrated:
        detail = f"the critic rates itself {strength.claimed} of 10, and {strength.measured} is found"
        flags.append(Flag("overrated_challenge", number, about, detail))
    return flags


def role_scores(round_: Round) -> dict[str, list[Fraction]]:
    """Return the mean score of every argument by role, in debate order."""
    found: dict[str, list[Fraction]] = {"proposer": [], "critic": [], "rebuttal": []}
    if round_.moderation is None:
        return found
    roles = {row.id: "proposer" for each in round_.contests for row in each.arguments}
    roles |= {row.id: "critic" for each in round_.contests for row in each.criticisms}
    for row in round_.moderation.findings:
        found[roles.get(row.argument, "rebuttal")].append(_mean_of(row.scores))
    return found


def _mean_of(scores: Mapping[str, int]) -> Fraction:
    return Fraction(sum(scores.values()), len(scores))


class Aimed(Protocol):
    """A criticism, as far as what it does to an argument depends on it."""

    @property
    def id(self) -> str:
        """As code numbered it."""

    @property
    def attack(self) -> Attack:
        """Its line of attack."""


def computed_of_criticism(answer: RebuttalKind | None) -> tuple[Standing, str]:
    """Return how a criticism stands by the answer to it alone, and why."""
    if answer is None:
        return Standing.UPHELD, "nobody answered it"
    if answer is RebuttalKind.CONCEDE:
        return Standing.UPHELD, "the rebuttal conceded it"
    if answer is RebuttalKind.PARTIAL:
        return Standing.PARTIALLY_UPHELD, "the rebuttal accepted it in part"
    return Standing.UNCERTAIN, "the rebuttal contests it, and the critic has no further word"


def standing_under(criticisms: Iterable[tuple[Aimed, Standing]]) -> tuple[Standing, str]:
    """Return how an argument stands under criticisms with the given standings, and why."""
    rows = list(criticisms)
    if not rows:
        return Standing.UPHELD, "no criticism that stands aims at it"
    groups: dict[Standing, list[Aimed]] = {}
    for row, standing in rows:
        groups.setdefault(standing, []).append(row)
    upheld = groups.get(Standing.UPHELD, [])
    fatal = [row.id for row in upheld if row.attack in {Attack.MISREAD_EVIDENCE, Attack.HIDDEN_ASSUMPTION}]
    if fatal:
        return Standing.REFUTED, f"{', '.join(fatal)} stands and takes away what it rests on"
    if upheld:
        return Standing.PARTIALLY_UPHELD, f"{', '.join(row.id for row in upheld)} stands beside it"
    if Standing.PARTIALLY_UPHELD in groups:
        return Standing.PARTIALLY_UPHELD, f"{groups[Standing.PARTIALLY_UPHELD][0].id} holds in part"
    if Standing.UNCERTAIN in groups:
        return Standing.UNCERTAIN, f"{groups[Standing.UNCERTAIN][0].id} is contested"
    return Standing.UPHELD, "every criticism of it was met"


_JUDGED = {
    Resolution.CRITIQUE: Standing.UPHELD,
    Resolution.PROPOSITION: Standing.REFUTED,
    Resolution.UNRESOLVED: Standing.UNCERTAIN,
}


def trace_of(round_: Round, points: Mapping[str, Point]) -> list[JsonObject]:
    """Return the argument trace table of one round: every argument and criticism with its responses.

    ``points`` are the latest rulings on all criticisms, by id.
    """
    judged = {name: _JUDGED[row.resolution] for name, row in points.items()}
    rows: list[JsonObject] = []
    for each in round_.contests:
        rows += [_argument_row(row, each, round_, judged) for row in each.arguments]
        rows += [_criticism_row(row, each, round_, points) for row in each.criticisms]
    return rows


def _argument_row(row: ReviewArgument, contest: Contest, whole: Round, judged: Mapping[str, Standing]) -> JsonObject:
    against = contest.criticisms_of(row.id)
    answers = [(each, contest.answer_to(each.id)) for each in against]
    computed, why = standing_under(
        (each, computed_of_criticism(answer.kind if answer else None)[0]) for each, answer in answers
    )
    found, reason = None, ""
    if whole.moderation:
        found, reason = standing_under((each, judged[each.id]) for each in against)
    drew: list[JsonObject] = [
        {"response": each.attack.value, "reasoning": each.claim, "questions": [], "by": each.id} for each in against
    ]
    struck = contest.struck.get(row.id, "")
    base = _trace_base(row.id, contest.position.seat, row.claim, whole, struck, drew)
    return base | _standings(found, reason, computed, why, struck)


def _criticism_row(row: CounterArgument, contest: Contest, whole: Round, points: Mapping[str, Point]) -> JsonObject:
    answer = contest.answer_to(row.id)
    computed, why = computed_of_criticism(answer.kind if answer else None)
    point = points.get(row.id)
    struck = contest.struck.get(row.id, "")
    drew: list[JsonObject] = []
    if answer:
        drew.append({"response": answer.kind.value, "reasoning": answer.reasoning, "questions": [], "by": answer.id})
    base = _trace_base(row.id, "critic", row.claim, whole, struck, drew)
    found = _JUDGED[point.resolution] if point else None
    body = base | _standings(found, point.because if point else "", computed, why, struck)
    return {**body, "target": row.target, "attack": row.attack.value}


def _trace_base(
    name: str, side: str, claim: str, whole: Round, struck: str, drew: Sequence[JsonObject]
) -> dict[str, Any]:
    findings = whole.moderation.findings if whole.moderation else ()
    scores = next((each.scores for each in findings if each.argument == name), None)
    return {
        "id": name,
        "side": side,
        "round": whole.number,
        "claim": claim,
        "drew": list(drew),
        "criteria": scores,
        "weighted": None if scores is None else round_half_up(_mean_of(scores), 4),
        "struck": struck,
        "fallacies": [],
    }


def _standings(judged: Standing | None, reason: str, computed: Standing, why: str, struck: str) -> dict[str, Any]:
    if struck:
        return {
            "judged": None,
            "found": VOID,
            "void": struck,
            "computed": VOID,
            "differs": False,
            "judged_reason": "",
            "computed_reason": f"struck: {struck}",
        }
    return {
        "judged": judged and judged.value,
        "found": judged and judged.value,
        "void": "",
        "computed": computed.value,
        "differs": judged is not None and judged is not computed,
        "judged_reason": reason,
        "computed_reason": why,
    }


def _claims(rounds: Sequence[Round]) -> dict[str, str]:
    return {row.id: row.claim for round_ in rounds for each in round_.contests for row in each.criticisms}


def _point_json(row: Point, claims: Mapping[str, str]) -> JsonObject:
    claim = claims.get(row.criticism, "")
    return {"id": row.criticism, "claim": claim, "outcome": row.resolution.value, "because": row.because}


def round_json(round_: Round, claims: Mapping[str, str]) -> JsonObject:
    """Return one round as the outcome keeps it. The published round record combines it with the cost of the calls."""
    found = round_.moderation
    scores = {role: mean(rows) if rows else None for role, rows in role_scores(round_).items()}
    evaluation: JsonObject | None = None
    if found:
        evaluation = {
            "quality": {role: None if value is None else round_half_up(value, 1) for role, value in scores.items()},
            "findings": [{"id": r.argument, **r.scores, "reason": r.reason} for r in found.findings],
            "resolved": [_point_json(row, claims) for row in found.resolved],
            "unresolved": [_point_json(row, claims) for row in found.unresolved],
            "another_round": found.another_round,
            "synthesis": found.synthesis,
            "confidence": found.confidence.value,
            "uncertainties": list(found.uncertainties),
            "critical": [f"{name} was struck: {why}" for name, why in round_.struck.items()],
            "backings": [{"position": r.position, "support": r.support, "because": r.because} for r in found.backings],
        }
    return {
        "number": round_.number,
        "contests": [_contest_json(row) for row in round_.contests],
        "evaluation": evaluation,
    }


def _contest_json(contest: Contest) -> JsonObject:
    struck = contest.struck
    return {
        "position": contest.position.id,
        "seat": contest.position.seat,
        "proposition": _proposition_json(contest.proposition, struck) if contest.proposition else None,
        "criticism": _criticism_json(contest.criticism, contest.first_critique, struck) if contest.criticism else None,
        "rebuttals": _rebuttals_json(contest.rebuttals, struck) if contest.rebuttals else None,
    }


def _proposition_json(turn: Proposition, struck: Mapping[str, str]) -> JsonObject:
    return {
        "thesis": turn.thesis,
        "arguments": [
            {"id": row.id, "claim": row.claim, "reasoning": row.reasoning, "evidence": row.evidence}
            | _support_json(row, struck)
            for row in turn.arguments
        ],
        "objections": [{"objection": row.objection, "answer": row.answer} for row in turn.objections],
    }


def _criticism_json(turn: Criticism, first: Criticism | None, struck: Mapping[str, str]) -> JsonObject:
    return {
        "thesis": turn.thesis,
        "arguments": [
            {
                "id": row.id,
                "target": row.target,
                "attack": row.attack.value,
                "claim": row.claim,
                "reasoning": row.reasoning,
            }
            | _support_json(row, struck)
            for row in turn.arguments
        ],
        "challenge": turn.strength.as_json(),
        "asked_again": first is not None,
        "first_challenge": first.strength.as_json() if first else None,
    }


def _rebuttals_json(turn: Rebuttals, struck: Mapping[str, str]) -> JsonObject:
    return {
        "thesis": turn.thesis,
        "answers": [
            {"id": row.id, "target": row.target, "response": row.kind.value, "reasoning": row.reasoning}
            | _support_json(row, struck)
            for row in turn.answers
        ],
    }


def _support_json(row: ReviewArgument | CounterArgument | Rebuttal, struck: Mapping[str, str]) -> dict[str, Any]:
    basis = row.support.basis
    return {
        "rests_on": basis and basis.value,
        "citations": [each.as_json() for each in row.support.citations],
        "struck": struck.get(row.id, ""),
    }


def _rounds(round_: Round | None) -> str:
    number = round_.number if round_ else 0
    return "1 round" if number == 1 else f"{number} rounds"
