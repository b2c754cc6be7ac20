"""Criticism: the strongest case against a position, by a critic that takes it to be wrong.

Source: the review pattern, critic (assume that the proposition is wrong; tail risks, misread evidence, hidden
assumptions, harm even if it is true; no softening words; a rating of its own strength). How far that rating counts:
`judging.challenge`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from disputatio.evidence.citations import CheckedCitation
from disputatio.formats.turns import schema
from disputatio.formats.turns.citing import NOTHING, Citing, unmarked
from disputatio.formats.turns.proposition import NONE_STRUCK, ReviewArgument
from disputatio.formats.turns.striking import (
    Support,
    read_support,
    resting_on_reasoning,
    standing_of,
    struck_line,
    struck_of,
    support_breaches,
    support_fields,
    text_with_support,
)
from disputatio.judging.challenge import THESIS, Attack, ChallengeStrength, RatedCriticism, measure_challenge
from disputatio.judging.critic_language import find_agreement, find_softening
from disputatio.kernel import JsonObject, Part, Task, Violation
from disputatio.motion.wording import same_words


@dataclass(frozen=True, slots=True)
class CounterArgument:
    """A criticism of one argument, or of the whole position (``THESIS``). The id is given by code."""

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
        return struck_of(self.arguments)

    @property
    def standing(self) -> tuple[CounterArgument, ...]:
        """The criticisms that are not struck."""
        return standing_of(self.arguments)

    def text(self) -> str:
        """The whole case."""
        rated = f"The critic rates its own strength {self.strength.claimed} of 10."
        return f"{self.shown(NONE_STRUCK)}\n\n{rated}"

    def shown(self, struck: Mapping[str, str]) -> str:
        """The case with nothing of the criticisms that are ``struck`` but their ids and the reasons, and no rating."""
        rows = [struck_line(row.id, struck[row.id]) if row.id in struck else row.text() for row in self.arguments]
        return "\n\n".join([unmarked(f"Thesis: {self.thesis}"), *rows])


@dataclass(frozen=True, slots=True)
class CriticismSpec:
    """``minimum`` to ``maximum`` criticisms of ``position`` and its ``targets``, the arguments that stand.

    They are numbered ``PREFIX-1``, ... counted on from ``before``. Whether one agrees is told by words in English only.
    ``counts_repeats`` is whether criticisms that only repeat lower its strength, as they do from the second edition on.
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
        """Softening words, agreement, criticisms that repeat an earlier one, and evidence that is not there."""
        found = [_softened("the thesis", words, "thesis") for words in find_softening(turn.thesis)]
        agreed = find_agreement(turn.thesis) if self.english else ()
        found += [_agreeing("the thesis", words, "thesis") for words in agreed]
        for number, row in enumerate(turn.arguments, start=1):
            part = f"argument-{number}"
            said = f"{row.claim}\n{row.reasoning}"
            found += [_softened(row.id, words, part) for words in find_softening(said)]
            found += [_agreeing(row.id, words, part) for words in (find_agreement(said) if self.english else ())]
            found += support_breaches(row.support, row.id, part)
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
        """How many criticisms a small critic is asked for: one on each line of attack, where there may be so many."""
        return min(max(self.minimum, len(Attack)), self.maximum)

    def _aim(self, place: int) -> tuple[str, Attack]:
        """What a small critic attacks at ``place``, and how: the arguments and the lines of attack in turn."""
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


# Asked for a number, a small model counts; asked for a word, it at least chooses one.
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
