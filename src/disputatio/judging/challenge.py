"""How strong a critique is, 1 to 10: what its critic says of it, and no more than what code finds in it.

The pattern that this follows lets the critic rate itself. A critic that always says 10 would then never be asked again,
so its rating is capped by a measure of things that can be checked, of which the critic cannot talk:

    attacks    one point for each of the four lines of attack that it takes, 4 at most
    aim        two points where it attacks the argument that the proposer put first (or the thesis, where none stands);
               one more where it reaches half of the standing arguments
    substance  up to two points, by the share of its criticisms that have something definite in them: a figure, a
               citation that its source bears out, or two long words of the argument they attack
    directness one point where no criticism softens itself

A criticism that says the same as an earlier one, that was struck, or that only says again what it attacks (two thirds
of its long words are words of that) counts for nothing. The strength is the lower of the two numbers. A critic can only
talk its strength down; a low measure says that the critique is thin, and a high one that it is aimed and definite, not
that it is right.

Rejected: a rating by the moderator alone. It comes after the rebuttal, too late for the retry, and the moderator would
decide whether its own debate is flagged. The moderator's scores of the critique stand beside the strength.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from disputatio.judging.softening import softening_in
from disputatio.kernel import JsonObject

RETRY_BELOW = 6
"""A weaker critique is asked for once more, with a stronger instruction."""
FLAG_BELOW = 5
"""A debate whose critique is still weaker is flagged."""
OVERRATED_BY = 4
"""Points by which a critic may rate itself above the measure before that is flagged."""
THESIS = "THESIS"
"""What a criticism aims at that is against the whole position."""

_LONG_WORD = re.compile(r"[^\W\d_]{6,}")
_FIGURE = re.compile(r"\d")


class Attack(StrEnum):
    """The lines of attack of a critic."""

    TAIL_RISK = "tail_risk"
    MISREAD_EVIDENCE = "misread_evidence"
    HIDDEN_ASSUMPTION = "hidden_assumption"
    HARM_IF_TRUE = "harm_if_true"


@dataclass(frozen=True, slots=True)
class Criticised:
    """One criticism, as far as its strength depends on it. ``attacked`` is the text of the argument it aims at."""

    attack: Attack
    target: str
    text: str
    attacked: str
    cites: bool = False


@dataclass(frozen=True, slots=True)
class ChallengeStrength:
    """How strong a critique is: as its critic rates it, as code measures it, and why."""

    claimed: int
    measured: int
    because: str

    @property
    def value(self) -> int:
        """The strength that counts, 1 to 10."""
        return min(self.claimed, self.measured)

    @property
    def weak(self) -> bool:
        """Whether the critique is asked for once more."""
        return self.value < RETRY_BELOW

    @property
    def flagged(self) -> bool:
        """Whether the debate is flagged for it."""
        return self.value < FLAG_BELOW

    @property
    def overrated(self) -> bool:
        """Whether the critic rates itself far above what code finds."""
        return self.claimed - self.measured >= OVERRATED_BY

    def as_json(self) -> JsonObject:
        """As the record and the exports keep it."""
        return {
            "strength": self.value,
            "claimed": self.claimed,
            "measured": self.measured,
            "because": self.because,
        }


def challenge_strength(claimed: int, criticisms: Sequence[Criticised], standing: Sequence[str]) -> ChallengeStrength:
    """The strength of a critique.

    Args:
        claimed: what the critic says of it, 1 to 10.
        criticisms: those that were not struck, in their order.
        standing: the ids of the proposer's arguments that stand, the weightiest first.
    """
    told = _distinct(criticisms)
    attacks = len({row.attack for row in told})
    aimed = {row.target for row in told}
    first = bool(aimed & ({standing[0]} if standing else {THESIS}))
    wide = bool(standing) and 2 * len(aimed & set(standing)) >= len(standing)
    definite = sum(_definite(row) for row in told)
    substance = 2 * definite // len(told) if told else 0
    direct = bool(told) and not any(softening_in(row.text) for row in told)
    measured = attacks + 2 * first + wide + substance + direct
    because = (
        f"{attacks} of {len(Attack)} lines of attack, {'aimed' if first else 'not aimed'} at the foremost argument, "
        f"{definite} of {len(told)} definite, {'direct' if direct else 'softened' if told else 'nothing said'}"
    )
    return ChallengeStrength(claimed, max(1, measured), because)


def _distinct(criticisms: Sequence[Criticised]) -> list[Criticised]:
    kept: dict[str, Criticised] = {}
    for row in criticisms:
        words = _words(row.text)
        if words and 3 * len(words & _words(row.attacked)) >= 2 * len(words):
            continue
        kept.setdefault("".join(filter(str.isalnum, row.text.casefold())), row)
    return list(kept.values())


def _definite(row: Criticised) -> bool:
    return row.cites or bool(_FIGURE.search(row.text)) or len(_words(row.text) & _words(row.attacked)) >= 2


def _words(text: str) -> set[str]:
    return {found.casefold() for found in _LONG_WORD.findall(text)}
