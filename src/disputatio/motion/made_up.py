"""The words of made-up answers, and whether a text is one.

A server that answers any schema (`disputatio.testing`) fills strings with sentences of these words, whatever the model
is called that it stands in for. Records of such a server are known by them, so that a run of the harness is never taken
for evidence about a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

NOUNS: Final = (
    "pilot programme",
    "phased rollout",
    "current contract",
    "internal audit",
    "new schedule",
    "regional survey",
    "cheaper option",
    "independent review",
    "proposed rule",
    "maintenance plan",
    "training budget",
    "system migration",
    "shared office",
    "data team",
    "second supplier",
    "public register",
    "quarterly report",
    "night shift",
    "central archive",
    "field trial",
    "repair fund",
    "travel allowance",
    "safety check",
)
VERBS: Final = (
    "cuts",
    "raises",
    "limits",
    "reveals",
    "doubles",
    "halves",
    "improves",
    "outweighs",
    "explains",
    "reduces",
    "drives",
    "steadies",
    "lowers",
)
_ACTOR = re.compile(rf"\b(?:{'|'.join(NOUNS)}) (?:{'|'.join(VERBS)})\b")


def is_made_up(text: str) -> bool:
    """Whether ``text`` has a sentence of a made-up answer."""
    return _ACTOR.search(text) is not None


def mostly_made_up(texts: Iterable[str]) -> bool:
    """Whether more than half of ``texts`` are made up; a model that quotes one such sentence is not."""
    found = [is_made_up(text) for text in texts]
    return sum(found) * 2 > len(found)
