"""What a transcript of a debate that was held elsewhere tells, whatever form its file has.

Nothing is in it that the file does not say. What a file states beyond what is known here is kept under ``stated``, key
by key, as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import NoReturn

from disputatio.errors import InvalidInputError
from disputatio.motion import clean, one_line
from disputatio.report.imported import CLAIM_ID

_BRACKETS = re.compile(r"\[([A-Za-z0-9][^\[\]\n]{0,200})\]")


@dataclass(frozen=True, slots=True)
class Claim:
    """A stretch of a turn. ``id`` is empty where the transcript gives it none."""

    id: str
    text: str

    @property
    def references(self) -> tuple[str, ...]:
        """The ids in square brackets in its text, each once, its own apart: ``[C1.2]`` or ``[C1.2, C1.4]``."""
        found: dict[str, None] = {}
        for match in _BRACKETS.finditer(self.text):
            ids = [piece.strip() for piece in re.split(r"[,;]", match[1])]
            if all(CLAIM_ID.fullmatch(piece) for piece in ids):
                found.update(dict.fromkeys(ids))
        found.pop(self.id, None)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """One turn. ``phase`` and ``at`` are empty where the transcript does not say."""

    seat: str
    phase: str
    claims: tuple[Claim, ...]
    at: str = ""
    stated: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgment:
    """What one judge of the transcript found. ``winner`` is in the transcript's words, empty where it names none."""

    judge: str
    winner: str
    stated: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportedTranscript:
    """A debate as its transcript tells it.

    Attributes:
        file: the name of the file, without its folders.
        text: the whole file as it was.
        motion: what was debated, on one line.
        language: the language as the file names it; empty where it does not.
        held: when it was held, in the file's words; empty where it does not say.
        seats: who sat in each seat, as the file says; an empty string where it does not.
        turns: the turns in their order.
        judgments: what judges found, in the order of the file.
        stated: everything else the file states of the debate.
    """

    file: str
    text: str
    motion: str
    language: str
    held: str
    seats: Mapping[str, str]
    turns: tuple[SpokenTurn, ...]
    judgments: tuple[Judgment, ...]
    stated: Mapping[str, str]

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Every claim of every turn."""
        return tuple(claim for turn in self.turns for claim in turn.claims)

    @property
    def dangling(self) -> tuple[tuple[str, str], ...]:
        """References to claims that the transcript does not have, as (claim it stands in, id it names)."""
        known = {claim.id for claim in self.claims}
        return tuple((claim.id, name) for claim in self.claims for name in claim.references if name not in known)


def refuse_file(file: str, place: str, what: str, next_step: str) -> NoReturn:
    """Refuse a file in one sentence; ``place`` is a line or a key, empty where the whole file is meant."""
    where = f", {place}" if place else ""
    raise InvalidInputError(f"The transcript {one_line(file, 80)}{where}: {what}.", next_step)


def take_file_name(path: str) -> str:
    """The name of a file without its folders, as it is kept."""
    return one_line(PurePath(path).name, 160) or "transcript"


def normalise_seat_name(text: str) -> str:
    """The name of a seat as the record keeps it: lower case, words joined by hyphens."""
    return re.sub(r"[^\w]+", "-", one_line(text, 40).lower()).strip("-")


def clean_facts(rows: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Stated facts, cleaned; a key that comes twice keeps both values."""
    facts: dict[str, str] = {}
    for name, said in rows:
        key, value = one_line(name, 60), clean(said).strip()
        if key and value:
            facts[key] = f"{facts[key]}; {value}" if key in facts else value
    return facts


def check_claims(file: str, turns: Iterable[tuple[str, SpokenTurn]]) -> None:
    """Refuse turns that say nothing and ids that are given twice; each turn comes with its place in the file."""
    seen: dict[str, str] = {}
    for place, turn in turns:
        if not any(claim.text for claim in turn.claims):
            refuse_file(file, place, f"the turn of {turn.seat} says nothing", "Give it a text, or leave the turn out.")
        for claim in turn.claims:
            if claim.id and claim.id in seen:
                what = f"the claim {one_line(claim.id, 40)} is in {seen[claim.id]} already"
                refuse_file(file, place, what, "Give each claim an id of its own.")
            seen[claim.id] = place
