"""Measure how strong a critique is, 1 to 10: the lower of the critic's rating and a measure by code.

A critic that rates itself 10 would never be asked again, so checkable things cap its rating. A criticism does not count
if it

    was struck, or says the same as an earlier one,
    only repeats what it attacks: two thirds of its long words are words of that,
    takes itself back, agrees, or objects to nothing (``judging.critic_language``, English only),
    is not definite: it has no figure, no citation that its source supports and no long word of the attacked argument;
        or it brings fewer than three long words that are neither there nor in the position.

The counted criticisms give points:

    attacks    one for each of the four lines of attack, at most 4
    aim        two if one attacks the proposer's first argument (or the thesis, if none stands); one more if they reach
               half of the standing arguments
    substance  up to two, by the share of criticisms that count. Repetitions are in the whole, so each lowers the share
    directness one if none agrees or takes itself back; each that does costs one

A long word has six letters or more and is compared by its first six, so "confirms" equals "confirmed". A critique whose
own thesis agrees or takes itself back has at most 4, so it is asked for again and flagged. A low measure means that the
critique is thin or agrees; a high one that it is aimed and definite, not that it is right.

Rejected: a rating by the moderator alone, which comes too late for the retry and would let the moderator decide whether
its own debate is flagged; its scores are shown beside the strength. Points for lines of attack that are only named, by
which four hollow criticisms had 4. And a share without repetitions, by which one definite criticism among restatements
had the whole share.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from disputatio.judging.critic_language import find_agreement, find_softening, has_objection
from disputatio.kernel import JsonObject

RETRY_BELOW = 6
"""A weaker critique is requested once more, with a stronger instruction."""
FLAG_BELOW = 5
"""A debate with a weaker final critique is flagged."""
OVERRATED_BY = 4
"""A larger excess of the critic's own rating over the measure is flagged."""
AGREEING_AT_MOST = FLAG_BELOW - 1
"""The limit for a critique whose own thesis agrees with its target."""
THESIS = "THESIS"
"""The target of a criticism of the whole position."""

_LONG_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]{6}")
_EMPTY_WORDS_TEXT = """
becaus withou nothin should before anothe itself either rather whethe throug agains
"""
_EMPTY_WORDS = frozenset(_EMPTY_WORDS_TEXT.split())
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

    ``attacked`` is the text of the argument it aims at; ``known`` are words used before it, such as in the position.
    """

    attack: Attack
    target: str
    text: str
    attacked: str
    cites: bool = False
    known: str = ""


@dataclass(frozen=True, slots=True)
class ChallengeStrength:
    """How strong a critique is: by its critic, by code, and why."""

    claimed: int
    measured: int
    because: str

    @property
    def value(self) -> int:
        """The strength that counts, 1 to 10."""
        return min(self.claimed, self.measured)

    @property
    def weak(self) -> bool:
        """Whether the critique is requested once more."""
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
        """Return the recorded form."""
        return {"strength": self.value, "claimed": self.claimed, "measured": self.measured, "because": self.because}


def measure_challenge(
    claimed: int,
    criticisms: Sequence[RatedCriticism],
    standing: Sequence[str],
    *,
    thesis: str = "",
    english: bool = True,
    counts_repeats: bool = True,
) -> ChallengeStrength:
    """Measure the strength of a critique.

    Args:
        claimed: the critic's own rating, 1 to 10.
        criticisms: those not struck, in order.
        standing: the ids of the proposer's standing arguments, the weightiest first.
        thesis: the critic's thesis in one sentence.
        english: whether agreement can be found by English words.
        counts_repeats: whether repetitions are part of the whole; records of earlier versions were measured without.
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
