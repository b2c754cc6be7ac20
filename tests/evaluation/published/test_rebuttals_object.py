"""The tables of objection and agreement were written for critiques; here they meet the rebuttals of forty debates.

The transcripts were held between frontier models by somebody else, and no word of the tables was taken from them.
"""

from __future__ import annotations

import re
from functools import cache

from recorded import folder

from disputatio.judging.critic_language import find_agreement, find_softening, has_objection

CLAIM = re.compile(r"^\[[PC]\d+\.\d+\] (.{80,})$", re.MULTILINE)


@cache
def rebuttals() -> tuple[str, ...]:
    """The claims of all turns called a rebuttal that are longer than a line."""
    found: list[str] = []
    for file in sorted((folder("lechmazur_debate") / "transcripts").glob("*.md")):
        turns = re.split(r"\n## ", file.read_text("utf-8"))[1:]
        found += [text for turn in turns if "Rebuttal" in turn[:40] for text in CLAIM.findall(turn)]
    return tuple(found)


def test_nine_in_ten_claims_of_a_rebuttal_are_told_as_objecting() -> None:
    assert len(rebuttals()) > 900
    assert sum(map(has_objection, rebuttals())) / len(rebuttals()) > 0.9


def test_hardly_any_rebuttal_claim_softens() -> None:
    taken = [text for text in rebuttals() if find_agreement(text) or find_softening(text)]
    assert len(taken) / len(rebuttals()) < 0.01
