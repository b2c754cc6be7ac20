"""Criticism and rebuttal: the strongest case against a position, and an answer to every criticism.

Source: the review pattern, critic (assume that the proposition is wrong; tail risks, misread evidence, hidden
assumptions, harm even if it is true; no softening words; a rating of its own strength). For the weight of that rating
see `judging.challenge`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

from disputatio.evidence.citations import CheckedCitation
from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import (
    NOTHING,
    Citing,
    Support,
    collect_struck,
    read_support,
    resting_on_reasoning,
    standing_of,
    struck_line,
    support_fields,
    support_violations,
    text_with_support,
    unmarked,
)
from disputatio.formats.turns.proposition import NONE_STRUCK, ReviewArgument
from disputatio.judging.challenge import THESIS, Attack, ChallengeStrength, RatedCriticism, measure_challenge
from disputatio.judging.critic_language import find_agreement, find_softening
from disputatio.kernel import JsonObject, Part, Task, Violation
from disputatio.motion.text import same_words


@dataclass(frozen=True, slots=True)
class CounterArgument:
    """A criticism of one argument, or of the whole position (``THESIS``). Code gives the id."""

    id: str
    target: str
    attack: Attack
    claim: str
    reasoning: str
    support: Support = field(default=Support())

    def text(self) -> str:
        """The criticism as a reader sees it."""
        said = [f"{self.id} against {self.target} ({self.attack.value.replace('_', ' ')}): {self.claim}"]
        said += [f"Reasoning: {self.reasoning}"]
        return text_with_support(said, self.support)


@dataclass(frozen=True, slots=True)
class Criticism:
    """The case against a position. ``strength`` says how strong it is, and why."""

    thesis: str
    arguments: tuple[CounterArgument, ...]
    strength: ChallengeStrength

    @property
    def cited(self) -> tuple[tuple[str, CheckedCitation], ...]:
        """What each criticism cites."""
        return tuple((row.id, cited) for row in self.arguments for cited in row.support.citations)

    @property
    def struck(self) -> dict[str, str]:
        """The criticisms that are struck, each with the reason."""
        return collect_struck(self.arguments)

    @property
    def standing(self) -> tuple[CounterArgument, ...]:
        """The criticisms that are not struck."""
        return standing_of(self.arguments)

    def text(self) -> str:
        """The whole case."""
        rated = f"The critic rates its own strength {self.strength.claimed} of 10."
        return f"{self.shown(NONE_STRUCK)}\n\n{rated}"

    def shown(self, struck: Mapping[str, str]) -> str:
        """Return the case without the rating; of struck criticisms only their ids and reasons."""
        rows = [struck_line(row.id, struck[row.id]) if row.id in struck else row.text() for row in self.arguments]
        return "\n\n".join([unmarked(f"Thesis: {self.thesis}"), *rows])


@dataclass(frozen=True, slots=True)
class CriticismSpec:
    """``minimum`` to ``maximum`` criticisms of ``position`` and its standing arguments ``targets``.

    They are numbered ``PREFIX-1``, ... after ``before``. Agreement is detected by words in English only.
    ``counts_repeats``: whether repetitive criticisms lower the strength, as from the second edition on.
    """

    prefix: str
    position: str
    targets: tuple[ReviewArgument, ...]
    minimum: int = 3
    maximum: int = 5
    before: int = 0
    citing: Citing = NOTHING
    english: bool = True
    counts_repeats: bool = True
    name: str = "criticism"

    @property
    def schema(self) -> JsonObject:
        """What a criticism aims at is chosen from what there is."""
        argument = schema.record(
            {
                "target": schema.one_of([*(row.id for row in self.targets), THESIS]),
                "attack": schema.one_of([row.value for row in Attack]),
                "claim": schema.prose(10, 30),
                "reasoning": schema.prose(20, 90),
                **support_fields(self.citing),
            }
        )
        return schema.record(
            {
                "thesis": schema.prose(10, 60),
                "arguments": schema.several(argument, self.minimum, self.maximum),
                "challenge_strength": schema.whole(1, 10),
            }
        )

    def read(self, content: JsonObject) -> Criticism:
        """The case with ids, and how strong it is."""
        body = cast("dict[str, Any]", content)
        arguments = tuple(
            CounterArgument(
                f"{self.prefix}-{self.before + number}",
                row["target"],
                Attack(row["attack"]),
                row["claim"],
                row["reasoning"],
                read_support(row, self.citing),
            )
            for number, row in enumerate(body["arguments"], start=1)
        )
        strength = self._strength(int(body["challenge_strength"]), body["thesis"], arguments)
        return Criticism(body["thesis"], arguments, strength)

    def _strength(self, claimed: int, thesis: str, arguments: tuple[CounterArgument, ...]) -> ChallengeStrength:
        texts = {row.id: f"{row.claim} {row.reasoning}" for row in self.targets}
        rows = [
            RatedCriticism(
                row.attack,
                row.target,
                f"{row.claim} {row.reasoning}",
                texts.get(row.target, self.position),
                row.support.cites_soundly,
                self.position,
            )
            for row in arguments
            if not row.support.struck_because
        ]
        standing = [row.id for row in self.targets]
        return measure_challenge(
            claimed, rows, standing, thesis=thesis, english=self.english, counts_repeats=self.counts_repeats
        )

    def violations(self, turn: Criticism) -> tuple[Violation, ...]:
        """Softening words, agreement, repeated criticisms, and missing evidence."""
        found = [_softened("the thesis", words, "thesis") for words in find_softening(turn.thesis)]
        agreed = find_agreement(turn.thesis) if self.english else ()
        found += [_agreeing("the thesis", words, "thesis") for words in agreed]
        for number, row in enumerate(turn.arguments, start=1):
            part = f"argument-{number}"
            said = f"{row.claim}\n{row.reasoning}"
            found += [_softened(row.id, words, part) for words in find_softening(said)]
            found += [_agreeing(row.id, words, part) for words in (find_agreement(said) if self.english else ())]
            found += support_violations(row.support, row.id, part)
        for later, first in same_words([row.claim for row in turn.arguments]):
            detail = f"{turn.arguments[later].id} makes the same claim as {turn.arguments[first].id}"
            found.append(Violation("repeated_argument", detail, f"argument-{later + 1}"))
        return tuple(found)

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """One criticism on each line of attack, then the conclusion and the rating."""
        if len(done) < self._lines:
            target, attack = self._aim(len(done))
            aimed = next((f"{row.claim} {row.reasoning}" for row in self.targets if row.id == target), self.position)
            keys = {"criticism": schema.begun_with(_BEGINNINGS[attack], 20, 280), "because": schema.text(30, 400)}
            task = Task(f"criticism-{attack.value.replace('_', '-')}", {}, {"said": aimed, "position": self.position})
            return Part(f"argument-{len(done) + 1}", schema.record(keys), task, 260, temperature=0.5)
        if len(done) > self._lines:
            return None
        keys = {"conclusion": schema.begun_with(_CONCLUSIONS, 30, 280), "strength": schema.one_of(_WORDS)}
        quotes = {"position": self.position, "claims": "\n".join(str(row["criticism"]) for row in done)}
        return Part("thesis", schema.record(keys), Task("criticism-thesis", {}, quotes), 160, temperature=0.3)

    @property
    def _lines(self) -> int:
        """The number of criticisms a small critic is asked for: one for each line of attack, within the limits."""
        return min(max(self.minimum, len(Attack)), self.maximum)

    def _aim(self, place: int) -> tuple[str, Attack]:
        """Return what a small critic attacks at ``place`` and how; arguments and lines of attack alternate."""
        attacks = list(Attack)
        targets = [row.id for row in self.targets] or [THESIS]
        return targets[place % len(targets)], attacks[place % len(attacks)]

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The pieces as one case; code chose what each aims at."""
        *criticisms, last = done
        rows = []
        for place, row in enumerate(criticisms):
            target, attack = self._aim(place)
            rows.append(
                {
                    "target": target,
                    "attack": attack.value,
                    "claim": row["criticism"],
                    "reasoning": row["because"],
                    **resting_on_reasoning(self.citing),
                }
            )
        return {
            "thesis": last["conclusion"],
            "arguments": rows,
            "challenge_strength": _WORDS[cast("str", last["strength"])],
        }


# Asked for a number, a small model counts up; asked for a word, it chooses one.
_WORDS = {"very weak": 1, "weak": 3, "fair": 5, "good": 7, "strong": 9}
_CONCLUSIONS = ("The proposal is wrong because", "The proposal fails because")
_BEGINNINGS = {
    Attack.TAIL_RISK: ("It could fail because", "It goes wrong if"),
    Attack.MISREAD_EVIDENCE: ("This does not show that", "The example does not prove that"),
    Attack.HIDDEN_ASSUMPTION: ("It assumes that", "It takes for granted that"),
    Attack.HARM_IF_TRUE: ("Even if it works, it", "Even then it"),
}


def _softened(who: str, words: str, part: str) -> Violation:
    return Violation("softening", f'{who} softens itself ("{words}"); state it as a direct claim', part)


def _agreeing(who: str, words: str, part: str) -> Violation:
    return Violation("agreement", f'{who} agrees with what it attacks ("{words}"); say what is wrong with it', part)


class RebuttalKind(StrEnum):
    """What a rebuttal says of the criticism it answers."""

    REFUTE = "refute"
    """It is wrong, and here is the evidence or reasoning."""
    PARTIAL = "partial"
    """It is right in part; the rest is contested."""
    CONCEDE = "concede"
    """It is stronger than what was said for the position."""


@dataclass(frozen=True, slots=True)
class Rebuttal:
    """The answer to one criticism. ``target`` is the id of the criticism."""

    id: str
    target: str
    kind: RebuttalKind
    reasoning: str
    support: Support = field(default=Support())

    def text(self) -> str:
        """The answer as a reader sees it."""
        said = [f"{self.id} to {self.target}: {self.kind.value}", self.reasoning]
        return text_with_support(said, self.support)


@dataclass(frozen=True, slots=True)
class Rebuttals:
    """All answers, in the order of the criticisms, and the position after them."""

    thesis: str
    answers: tuple[Rebuttal, ...]

    @property
    def cited(self) -> tuple[tuple[str, CheckedCitation], ...]:
        """What each answer cites, by the criticism it answers."""
        return tuple((row.target, cited) for row in self.answers for cited in row.support.citations)

    @property
    def struck(self) -> dict[str, str]:
        """The struck answers, each with the reason; their criticisms count as not answered."""
        return collect_struck(self.answers)

    @property
    def standing(self) -> tuple[Rebuttal, ...]:
        """The answers that are not struck."""
        return standing_of(self.answers)

    @property
    def concessions(self) -> tuple[Rebuttal, ...]:
        """The answers that concede, whole or in part."""
        return tuple(row for row in self.standing if row.kind is not RebuttalKind.REFUTE)

    def text(self) -> str:
        """All answers."""
        return self.shown(NONE_STRUCK)

    def shown(self, struck: Mapping[str, str]) -> str:
        """Return all answers; of struck ones only their ids and reasons."""
        rows = [
            struck_line(f"{row.id} to {row.target}", struck[row.id]) if row.id in struck else row.text()
            for row in self.answers
        ]
        return "\n\n".join([*rows, unmarked(f"Thesis after the critique: {self.thesis}")])


@dataclass(frozen=True, slots=True)
class RebuttalSpec:
    """One answer for each of ``criticisms``. ``said`` are texts of the position, which are no new ground."""

    prefix: str
    position: str
    criticisms: tuple[CounterArgument, ...]
    said: tuple[str, ...] = ()
    citing: Citing = NOTHING
    name: str = "rebuttal"

    @property
    def schema(self) -> JsonObject:
        """A required key for every criticism."""
        answer = schema.record(
            {
                "reasoning": schema.prose(20, 90),
                "response": schema.one_of([row.value for row in RebuttalKind]),
                **support_fields(self.citing),
            }
        )
        answers = schema.record({row.id: answer for row in self.criticisms})
        return schema.record({"answers": answers, "thesis": schema.prose(10, 60)})

    def read(self, content: JsonObject) -> Rebuttals:
        """The answers; the one to ``CRIT-3`` is ``REB-3``."""
        body = cast("dict[str, Any]", content)
        return Rebuttals(
            body["thesis"],
            tuple(
                Rebuttal(
                    self._id(row.id),
                    row.id,
                    RebuttalKind(body["answers"][row.id]["response"]),
                    body["answers"][row.id]["reasoning"],
                    read_support(body["answers"][row.id], self.citing),
                )
                for row in self.criticisms
            ),
        )

    def _id(self, criticism: str) -> str:
        return f"{self.prefix}-{criticism.rpartition('-')[2]}"

    def violations(self, turn: Rebuttals) -> tuple[Violation, ...]:
        """Answers that bring nothing new, or whose evidence is not there."""
        found: list[Violation] = []
        for row in turn.answers:
            found += support_violations(row.support, f"the answer to {row.target}", row.target)
            contested = row.kind is not RebuttalKind.CONCEDE
            if contested and any(place == len(self.said) for place, _ in same_words([*self.said, row.reasoning])):
                detail = f"the answer to {row.target} says again what was said before; bring new evidence or reasoning"
                found.append(Violation("nothing_new", detail, row.target))
        for later, first in same_words([row.reasoning for row in turn.answers]):
            target, earlier = turn.answers[later].target, turn.answers[first].target
            detail = f"the answer to {target} repeats the one to {earlier}; speak to what {target} says"
            found.append(Violation("repeated_response", detail, target))
        return tuple(found)

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        """The answer to the next criticism, then the thesis after all of them."""
        if len(done) < len(self.criticisms):
            row = self.criticisms[len(done)]
            quotes = {"criticism": f"{row.claim} {row.reasoning}", "position": self.position}
            keys = {"reply": schema.begun_with(_ANSWER_BEGINNINGS, 20, 320), "new_reason": schema.text(20, 300)}
            return Part(row.id, schema.record(keys), Task("rebuttal-answer", {}, quotes), 260, temperature=0.5)
        if len(done) > len(self.criticisms):
            return None
        quotes = {"position": self.position, "replies": "\n".join(str(row["reply"]) for row in done)}
        keys = {"conclusion": schema.text(30, 300)}
        return Part("thesis", schema.record(keys), Task("rebuttal-thesis", {}, quotes), 120, temperature=0.3)

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        """The answers keyed by the criticism they answer; how a reply begins says what kind it is."""
        *replies, last = cast("tuple[dict[str, str], ...]", done)
        answers = {
            criticism.id: {
                "reasoning": f"{row['reply']} {row['new_reason']}",
                "response": next(
                    kind for words, kind in _ANSWER_BEGINNINGS.items() if row["reply"].startswith(words)
                ).value,
                **resting_on_reasoning(self.citing),
            }
            for criticism, row in zip(self.criticisms, replies, strict=True)
        }
        return {"answers": answers, "thesis": last["conclusion"]}


_ANSWER_BEGINNINGS = {
    "No, because": RebuttalKind.REFUTE,
    "Partly, but": RebuttalKind.PARTIAL,
    "Yes, because": RebuttalKind.CONCEDE,
}
