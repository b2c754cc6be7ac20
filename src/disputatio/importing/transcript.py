"""A transcript of a debate that took place elsewhere, in any file format.

It has only what the file says. Unknown keys are in ``stated``, as they are written.
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
    """A part of a turn. ``id`` may be empty."""

    id: str
    text: str

    @property
    def references(self) -> tuple[str, ...]:
        """Ids in square brackets in its text, each once, without its own: ``[C1.2]`` or ``[C1.2, C1.4]``."""
        found: dict[str, None] = {}
        for match in _BRACKETS.finditer(self.text):
            ids = [piece.strip() for piece in re.split(r"[,;]", match[1])]
            if all(CLAIM_ID.fullmatch(piece) for piece in ids):
                found.update(dict.fromkeys(ids))
        found.pop(self.id, None)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """One turn. ``phase`` and ``at`` may be empty."""

    seat: str
    phase: str
    claims: tuple[Claim, ...]
    at: str = ""
    stated: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgment:
    """What one judge found. ``winner`` is in the transcript's words, and may be empty."""

    judge: str
    winner: str
    stated: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportedTranscript:
    """A debate as its transcript gives it.

    Attributes:
        file: the name of the file, without folders.
        text: the whole original file.
        motion: on one line.
        language: as the file names it; may be empty.
        held: the date of the debate in the file's words; may be empty.
        seats: the participant in each seat; may be empty.
        turns: in order.
        judgments: in the order of the file.
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
        """References to missing claims, as (claim with the reference, missing id)."""
        known = {claim.id for claim in self.claims}
        return tuple((claim.id, name) for claim in self.claims for name in claim.references if name not in known)


def refuse_file(file: str, place: str, what: str, next_step: str) -> NoReturn:
    """Refuse a file in one sentence. ``place`` is a line or a key, or empty for the whole file."""
    where = f", {place}" if place else ""
    raise InvalidInputError(f"The transcript {one_line(file, 80)}{where}: {what}.", next_step)


def take_file_name(path: str) -> str:
    """Return the name of a file without its folders."""
    return one_line(PurePath(path).name, 160) or "transcript"


def normalise_seat_name(text: str) -> str:
    """Return a recorded seat name: lower case, words joined by hyphens."""
    return re.sub(r"[^\w]+", "-", one_line(text, 40).lower()).strip("-")


def clean_facts(rows: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Clean stated facts; a key that comes twice keeps both values."""
    facts: dict[str, str] = {}
    for name, said in rows:
        key, value = one_line(name, 60), clean(said).strip()
        if key and value:
            facts[key] = f"{facts[key]}; {value}" if key in facts else value
    return facts


def check_claims(file: str, turns: Iterable[tuple[str, SpokenTurn]]) -> None:
    """Refuse empty turns and repeated ids; each turn comes with its place in the file."""
    seen: dict[str, str] = {}
    for place, turn in turns:
        if not any(claim.text for claim in turn.claims):
            refuse_file(file, place, f"the turn of {turn.seat} is empty", "Give it a text, or leave the turn out.")
        for claim in turn.claims:
            if claim.id and claim.id in seen:
                what = f"the claim {one_line(claim.id, 40)} is in {seen[claim.id]} already"
                refuse_file(file, place, what, "Give each claim an id of its own.")
            seen[claim.id] = place
