"""The seven fallacies a judge looks for, and the check that its quotes were really spoken.

Source: structured debate protocol, "Logical Fallacy Detection".
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from disputatio.motion import spaced


class Fallacy(StrEnum):
    """A named fault of reasoning."""

    STRAW_MAN = "straw_man"
    APPEAL_TO_AUTHORITY = "appeal_to_authority"
    SLIPPERY_SLOPE = "slippery_slope"
    FALSE_DILEMMA = "false_dilemma"
    ANECDOTAL_EVIDENCE = "anecdotal_evidence"
    CIRCULAR_REASONING = "circular_reasoning"
    AD_HOMINEM = "ad_hominem"


FALLACIES: dict[Fallacy, str] = {
    Fallacy.STRAW_MAN: "attacks something the opponent did not say",
    Fallacy.APPEAL_TO_AUTHORITY: "puts a famous name in the place of a reason",
    Fallacy.SLIPPERY_SLOPE: "assumes that one step sets off an unstoppable chain",
    Fallacy.FALSE_DILEMMA: "reduces a question with many answers to two",
    Fallacy.ANECDOTAL_EVIDENCE: "puts single cases in the place of systematic evidence",
    Fallacy.CIRCULAR_REASONING: "has its conclusion already among its premises",
    Fallacy.AD_HOMINEM: "attacks the opponent instead of the argument",
}


@dataclass(frozen=True, slots=True)
class FoundFallacy:
    """A fallacy the judge found, with the words that show it.

    Attributes:
        fallacy: its kind.
        words: the words that show it.
        quoted: whether the speaker used them.
        place: the id of their text, such as ``PRO-1`` or ``CON on PRO-1``; empty if not found, and in older records.
    """

    fallacy: Fallacy
    words: str
    quoted: bool
    place: str = ""

    def text(self) -> str:
        """Describe the finding for a reader."""
        doubt = "" if self.quoted else " (these words were not found in the debate)"
        where = f" in {self.place}" if self.place else ""
        return f'{self.fallacy.value.replace("_", " ")}{where}: "{self.words}"{doubt}'


@lru_cache(maxsize=256)  # one judge's findings are all looked for in the same few texts
def _fold(text: str) -> str:
    text = spaced(unicodedata.normalize("NFKC", text).casefold())
    apart = {ord(char): " " for char in set(text) if not char.isalnum() and unicodedata.category(char)[0] != "M"}
    return " ".join(text.translate(apart).split())


def words_are_in(words: str, text: str) -> bool:
    """Whether ``words`` occur in ``text`` as whole words, ignoring case, spaces and punctuation.

    A word is what word limits count: in a script without spaces, each letter.
    """
    wanted = _fold(words)
    return bool(wanted) and f" {wanted} " in f" {_fold(text)} "
