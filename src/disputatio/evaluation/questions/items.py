"""Questions with known answers, from JSONL or CSV.

A question has ``question`` and ``answer``, and fields that decide its kind:

    choice      ``options``: a list of texts, an object of label to text, or (in CSV) columns A, B, C ... or texts
                between bars; ``answer`` is the label or the text of one of them
    yes_no      ``answer`` is yes or no (true and false are accepted)
    number      ``answer`` is a number; ``tolerance`` is the accepted deviation, 0 by default
    pairwise    ``answer_a`` and ``answer_b``, two texts to choose from; ``answer`` is A, B or tie

Optional fields: ``id`` (by default the line number), ``kind``, ``context`` (a text that belongs to the question; in
JSONL also an object of title to text), ``reason`` and ``source`` of the label, and ``group``. Other fields are ignored.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.evaluation.input_files import json_objects, read_text
from disputatio.formats.rule_values import is_name
from disputatio.formats.turns.answer import plain_number
from disputatio.kernel import JsonObject
from disputatio.motion import MAX_MOTION_CHARS, Evidence, clean, one_line

TIE = "tie"
_YES_NO = {"yes": "yes", "no": "no", "true": "yes", "false": "no"}
_LETTERS = "ABCDEFGHIJ"
_STEP = "See docs/how-to/evaluate.md for what a question looks like."


class Kind(StrEnum):
    """The kind of an answer."""

    CHOICE = "choice"
    YES_NO = "yes_no"
    NUMBER = "number"
    PAIRWISE = "pairwise"


@dataclass(frozen=True, slots=True)
class Item:
    """One question.

    ``options`` are label and text; empty for numbers. ``known`` is the right label, or the right number in plain
    digits. ``sources`` are texts given to every seat.
    """

    id: str
    kind: Kind
    question: str
    known: str
    options: tuple[tuple[str, str], ...] = ()
    sources: tuple[Evidence, ...] = ()
    tolerance: Decimal = Decimal(0)
    reason: str = ""
    citation: str = ""
    group: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The allowed answers; empty for numbers."""
        return tuple(label for label, _ in self.options)

    @property
    def text(self) -> str:
        """The question with its options, as every way of answering gets it."""
        if self.kind is not Kind.CHOICE:
            return self.question
        return self.question + "\n" + "\n".join(f"{label}: {text}" for label, text in self.options)

    def is_right(self, answer: str | None) -> bool:
        """Whether ``answer`` is right; a number may be off by the tolerance."""
        if answer is None:
            return False
        if self.kind is not Kind.NUMBER:
            return answer == self.known
        given = plain_number(answer)
        return given is not None and abs(Decimal(given) - Decimal(self.known)) <= self.tolerance


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions in the order of their file."""

    name: str
    items: tuple[Item, ...]
    about: str = ""
    licence: str = ""
    warnings: tuple[str, ...] = field(default=())

    @property
    def digest(self) -> str:
        """SHA-256 over ids, questions, options, sources and right answers."""
        rows = [
            [row.id, row.question, row.known, list(map(list, row.options)), [s.text for s in row.sources]]
            for row in self.items
        ]
        return hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest()

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of its questions, each once."""
        return tuple(dict.fromkeys(row.kind for row in self.items))

    @property
    def classes(self) -> bool:
        """Whether right answers are classes with a meaning of their own, such as yes and no."""
        return self.kinds in {(Kind.YES_NO,), (Kind.PAIRWISE,)}

    def drawn(self, limit: int | None, seed: int) -> QuestionSet:
        """Draw at most ``limit`` questions by ``seed``, and keep their order."""
        if limit is None or limit >= len(self.items):
            return self
        ranked = sorted(self.items, key=lambda row: hashlib.sha256(f"{seed}/{row.id}".encode()).hexdigest())
        kept = {row.id for row in ranked[:limit]}
        items = tuple(row for row in self.items if row.id in kept)
        return QuestionSet(self.name, items, self.about, self.licence, self.warnings)


def read_questions(path: Path) -> QuestionSet:
    """Read the questions of a JSONL or CSV file.

    Raises:
        InvalidInputError: it cannot be read, or a question is incomplete; names the line.
    """
    text = read_text(path, "Give a file that can be read.")
    if path.suffix.lower() in {".csv", ".tsv"}:
        rows = list(_csv_rows(text, "\t" if path.suffix.lower() == ".tsv" else ","))
    else:
        rows = json_objects(path, text)
    items = tuple(read_item(f"{path.name}, line {line}", line, row) for line, row in rows)
    return check_questions(QuestionSet(path.stem, items), str(path))


def check_questions(questions: QuestionSet, where: str) -> QuestionSet:
    """Refuse an empty set and repeated ids or questions.

    A repeated question would be answered the same way and counted as two independent ones.

    Raises:
        InvalidInputError: one of these.
    """
    if not questions.items:
        raise InvalidInputError(f"{where} contains no question.", _STEP)
    seen: set[str] = set()
    asked: dict[tuple[str, ...], str] = {}
    for row in questions.items:
        if row.id in seen:
            raise InvalidInputError(f"{where} has the id {row.id!r} twice.", "Give each question its own id.")
        seen.add(row.id)
        before = asked.setdefault((row.text, *(source.text for source in row.sources)), row.id)
        if before != row.id:
            raise InvalidInputError(
                f"{where} asks the same twice: {before!r} and {row.id!r} have the same text.", "Leave one of them out."
            )
    return questions


def _csv_rows(text: str, delimiter: str) -> list[tuple[int, dict[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter)
    return [
        (reader.line_num, {key.strip(): value for key, value in row.items() if key and value not in {None, ""}})
        for row in reader
    ]


def read_item(where: str, number: int, row: Mapping[str, Any]) -> Item:
    """Read the question of one row.

    Raises:
        InvalidInputError: it is incomplete; ``where`` names it.
    """
    question = clean(str(row.get("question") or "")).strip()
    answer = row.get("answer")
    if not question or answer is None or str(answer).strip() == "":
        raise InvalidInputError(f"{where} has no {'answer' if question else 'question'}.", _STEP)
    options = _options(where, row)
    kind = _kind(where, row, options, str(answer))
    sources = _sources(row)
    known, tolerance = str(answer).strip(), Decimal(0)
    if kind is Kind.YES_NO:
        options, known = (("yes", "yes"), ("no", "no")), _YES_NO[known.casefold()]
    elif kind is Kind.PAIRWISE:
        labels = ("A", "B", TIE) if known.casefold() == TIE or row.get("ties") else ("A", "B")
        options = tuple((label, label) for label in labels)
        known = TIE if known.casefold() == TIE else known.upper()
        pair = (("A", "answer_a"), ("B", "answer_b"))
        sources += tuple(Evidence(f"answer-{s}", f"Answer {s}", clean(str(row[key])).strip()) for s, key in pair)
    elif kind is Kind.NUMBER:
        known, tolerance = plain_number(known) or "", Decimal(str(row.get("tolerance") or 0))
    else:
        known = _label(known, options)
    _check_known(where, kind, known, options)
    item = Item(
        one_line(str(row.get("id") or number), 80),
        kind,
        question,
        known,
        options,
        sources,
        tolerance,
        clean(str(row.get("reason") or "")),
        clean(str(row.get("source") or "")),
        one_line(str(row.get("group") or ""), 80),
    )
    if len(item.text) > MAX_MOTION_CHARS - 200:
        raise InvalidInputError(
            f"{where}: the question has {len(item.text):,} characters; at most {MAX_MOTION_CHARS - 200:,} are allowed.",
            "Put long texts under context.",
        )
    return item


def _kind(where: str, row: Mapping[str, Any], options: Sequence[object], answer: str) -> Kind:
    stated = row.get("kind")
    if stated:
        try:
            kind = Kind(str(stated).strip().lower().replace("-", "_").replace("numeric", "number"))
        except ValueError:
            raise InvalidInputError(
                f"{where}: {one_line(str(stated), 40)!r} is not a kind of question.",
                f"Kinds are: {', '.join(row.value for row in Kind)}.",
            ) from None
    elif row.get("answer_a") is not None:
        kind = Kind.PAIRWISE
    elif options:
        kind = Kind.CHOICE
    elif answer.strip().casefold() in _YES_NO:
        kind = Kind.YES_NO
    else:
        kind = Kind.NUMBER
    lacks = {
        Kind.PAIRWISE: row.get("answer_a") is None or row.get("answer_b") is None,
        Kind.CHOICE: len(options) < 2,
        Kind.YES_NO: answer.strip().casefold() not in _YES_NO,
        Kind.NUMBER: plain_number(answer) is None,
    }[kind]
    if lacks:
        needed = {
            Kind.PAIRWISE: "answer_a and answer_b",
            Kind.CHOICE: "two options or more",
            Kind.YES_NO: "an answer that is yes or no",
            Kind.NUMBER: "options, or an answer that is yes, no or a number",
        }[kind]
        raise InvalidInputError(f"{where} needs {needed}.", _STEP)
    return kind


def _options(where: str, row: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    given = row.get("options")
    if given is None:
        given = {letter: row[letter] for letter in _LETTERS if row.get(letter) is not None}
    if isinstance(given, str):
        given = given.split("|")
    if isinstance(given, Sequence):
        if len(given) > len(_LETTERS):
            raise InvalidInputError(f"{where} has {len(given)} options.", f"Give {len(_LETTERS)} at most.")
        given = dict(zip(_LETTERS, given, strict=False))
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"{where}: options are neither a list nor an object.", _STEP)
    rows = tuple((str(label).strip(), clean(str(text)).strip()) for label, text in given.items())
    strange = next((label for label, _ in rows if not is_name(label)), None)
    if strange is not None:
        raise InvalidInputError(
            f"{where}: {one_line(strange, 40)!r} cannot label an option.", "Use letters, digits and hyphens."
        )
    return rows


def _label(known: str, options: Sequence[tuple[str, str]]) -> str:
    """The label that ``known`` means: itself in any case, or that of its text."""
    by_label = {label.casefold(): label for label, _ in options}
    by_text = {re.sub(r"\s+", " ", text).casefold(): label for label, text in options}
    return by_label.get(known.casefold()) or by_text.get(re.sub(r"\s+", " ", known).casefold()) or known


def _check_known(where: str, kind: Kind, known: str, options: Sequence[tuple[str, str]]) -> None:
    labels = [label for label, _ in options]
    if kind is not Kind.NUMBER and known not in labels:
        raise InvalidInputError(
            f"{where}: the answer {one_line(known, 60)!r} is not one of its options.", f"They are: {', '.join(labels)}."
        )


def _sources(row: Mapping[str, Any]) -> tuple[Evidence, ...]:
    given = row.get("context")
    if not given:
        return ()
    rows = list(given.items()) if isinstance(given, Mapping) else [("Context", given)]
    return tuple(
        Evidence(
            f"context-{place}" if len(rows) > 1 else "context", one_line(str(title), 120), clean(str(text)).strip()
        )
        for place, (title, text) in enumerate(rows, start=1)
    )


def item_json(item: Item) -> JsonObject:
    """A question in a report."""
    return {
        "id": item.id,
        "kind": item.kind.value,
        "question": item.question,
        "options": dict(item.options),
        "known": item.known,
        "reason": item.reason,
        "source": item.citation,
        "group": item.group,
    }
