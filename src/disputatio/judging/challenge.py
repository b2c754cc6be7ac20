"""How strong a critique is, 1 to 10: what its critic says of it, and no more than what code finds in it.

The pattern that this follows lets the critic rate itself. A critic that always says 10 would then never be asked again,
so its rating is capped by a measure of things that can be checked, of which the critic cannot talk. First it is decided
which criticisms count. One counts for nothing

    that was struck, or says the same as an earlier one,
    that only says again what it attacks: two thirds of its long words are words of that,
    that takes itself back (``judging.softening``), agrees, or objects to nothing (``judging.objecting``, English only),
    that is not definite: it has no figure, no citation that its source bears out and no long word of the argument it
        attacks; or it brings fewer than three long words that are neither there nor in the position.

Of those that count:

    attacks    one point for each of the four lines of attack, 4 at most
    aim        two points where one attacks the argument that the proposer put first (or the thesis, where none stands);
               one more where they reach half of the standing arguments
    substance  up to two points, by the share of all criticisms that count: those that were left out because they repeat
               an earlier one or what they attack are in the whole, so each of them lowers the share
    directness one point where none agrees or takes itself back; one is taken away for each that does

A long word has six letters or more and is told by its first six, so that "confirms" and "confirmed" are one. A
critique whose own thesis agrees or takes itself back is never stronger than 4, so it is asked for again and flagged.
The strength is the lower of the two numbers. A critic can only talk its strength down; a low measure says that the
critique is thin or agrees, and a high one that it is aimed and definite, not that it is right.

Rejected: a rating by the moderator alone. It comes after the rebuttal, too late for the retry, and the moderator would
decide whether its own debate is flagged. The moderator's scores of the critique stand beside the strength. Rejected as
well: points for lines of attack that are only named. The critic names its line itself, so four hollow criticisms had 4.
And the share among the criticisms that are left without repetitions: one definite criticism and three restatements
had the whole share, as one of one, and with it a strength that was not asked for again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from disputatio.judging.critic_language import find_agreement, find_softening, has_objection
from disputatio.kernel import JsonObject

RETRY_BELOW = 6
"""A weaker critique is asked for once more, with a stronger instruction."""
FLAG_BELOW = 5
"""A debate whose critique is still weaker is flagged."""
OVERRATED_BY = 4
"""Points by which a critic may rate itself above the measure before that is flagged."""
AGREEING_AT_MOST = FLAG_BELOW - 1
"""What a critique is worth at most whose own thesis agrees with what it is to attack."""
THESIS = "THESIS"
"""What a criticism aims at that is against the whole position."""

_LONG_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]{6}")
_EMPTY_WORDS = frozenset(
    {
        "becaus",
        "withou",
        "nothin",
        "should",
        "before",
        "anothe",
        "itself",
        "either",
        "rather",
        "whethe",
        "throug",
        "agains",
    }
)
_FIGURE = re.compile(r"\d")
_MIN_NEW_WORDS = 3


class Attack(StrEnum):
    """The lines of attack of a critic."""

    TAIL_RISK = "tail_risk"
    MISREAD_EVIDENCE = "misread_evidence"
    HIDDEN_ASSUMPTION = "hidden_assumption"
    HARM_IF_TRUE = "harm_if_true"


@dataclass(frozen=True, slots=True)
class RatedCriticism:
    """One criticism, as far as its strength depends on it.

    ``attacked`` is the text of the argument it aims at; ``known`` are further words that were said before it, such as
    those of the position.
    """

    attack: Attack
    target: str
    text: str
    attacked: str
    cites: bool = False
    known: str = ""


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


def measure_challenge(
    claimed: int,
    criticisms: Sequence[RatedCriticism],
    standing: Sequence[str],
    *,
    thesis: str = "",
    english: bool = True,
    counts_repeats: bool = True,
) -> ChallengeStrength:
    """The strength of a critique.

    Args:
        claimed: what the critic says of it, 1 to 10.
        criticisms: those that were not struck, in their order.
        standing: the ids of the proposer's arguments that stand, the weightiest first.
        thesis: what the critic says in one sentence.
        english: whether it is in English, so that agreement can be told by words.
        counts_repeats: whether those that only repeat are in the whole of which a share counts; records of earlier
            versions were measured without.
    """
    told = _drop_repeats(criticisms)
    agreeing = [row for row in told if _is_softened(row.text, english=english)]
    hollow = [row for row in told if english and not has_objection(row.text)]
    counted = [row for row in told if row not in agreeing and row not in hollow and _is_definite(row)]
    attacks = len({row.attack for row in counted})
    aimed = {row.target for row in counted}
    first = bool(aimed & ({standing[0]} if standing else {THESIS}))
    wide = bool(standing) and 2 * len(aimed & set(standing)) >= len(standing)
    whole = len(criticisms) if counts_repeats else len(told)
    repeated = whole - len(told)
    substance = 2 * len(counted) // whole if whole else 0
    direct = bool(counted) and not agreeing
    measured = attacks + 2 * first + wide + substance + direct - len(agreeing)
    because = [
        f"{attacks} of {len(Attack)} lines of attack",
        f"{'aimed' if first else 'not aimed'} at the foremost argument",
        f"{len(counted)} of {whole} definite",
        *([f"{repeated} only repeat" if repeated > 1 else "1 only repeats"] if repeated else []),
        f"{len(agreeing)} of {whole} agree or soften" if agreeing else "direct" if counted else "nothing in it",
    ]
    if thesis and _is_softened(thesis, english=english):
        measured = min(measured, AGREEING_AT_MOST)
        because.append("its own thesis agrees")
    return ChallengeStrength(claimed, max(1, measured), ", ".join(because) if told else "nothing said")


def _drop_repeats(criticisms: Sequence[RatedCriticism]) -> list[RatedCriticism]:
    kept: dict[str, RatedCriticism] = {}
    for row in criticisms:
        words = _collect_words(row.text)
        if words and 3 * len(words & _collect_words(row.attacked)) >= 2 * len(words):
            continue
        kept.setdefault("".join(filter(str.isalnum, row.text.casefold())), row)
    return list(kept.values())


def _is_softened(text: str, *, english: bool) -> bool:
    return bool(find_softening(text)) or (english and bool(find_agreement(text)))


def _is_definite(row: RatedCriticism) -> bool:
    words, attacked = _collect_words(row.text), _collect_words(row.attacked)
    if len(words - attacked - _collect_words(row.known)) < _MIN_NEW_WORDS:
        return False
    return row.cites or bool(_FIGURE.search(row.text)) or bool(words & attacked)


def _collect_words(text: str) -> set[str]:
    return {found.casefold() for found in _LONG_WORD.findall(text)} - _EMPTY_WORDS
