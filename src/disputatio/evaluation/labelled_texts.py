"""Read texts that others labelled with fallacies; the texts are never stored.

Three published sets are known. Their labels are mapped to the seven fallacies of the protocol. The mapping is printed
with every result. A label that is none of the seven becomes "other", which the judge cannot name.

    mafalda             Helwe et al. 2024, "MAFALDA: A Benchmark and Comprehensive Study of Fallacy Detection and
                        Classification" (NAACL): spans with alternative labels, including "nothing" where annotators
                        also accept that there is no fallacy
    logic               Jin et al. 2022, "Logical Fallacy Detection" (EMNLP Findings): one label for each text
    informal_fallacies  Sahai et al. 2021, "Breaking Down the Invisible Wall of Informal Fallacies in Online
                        Discussions" (ACL): labels for each word of a comment, read as labels of the comment

A CSV or TSV file with a text and a label in each row is read too (``read_csv_texts``). Columns are known by their usual
names. A label is one of the seven in a usual spelling, "none" or empty, or several of them with ``;`` or ``|`` between.
Other labels become "other" unless the user maps them.
"""

from __future__ import annotations

import ast
import csv
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.evaluation.input_files import read_text
from disputatio.judging.fallacies import Fallacy
from disputatio.motion import one_line

OTHER, NONE = "other", "none"
CLASSES = (*(fallacy.value for fallacy in Fallacy), OTHER, NONE)

_F = Fallacy
MAPPINGS: Mapping[str, Mapping[str, Fallacy]] = {
    "mafalda": {
        "straw man": _F.STRAW_MAN,
        "appeal to (false) authority": _F.APPEAL_TO_AUTHORITY,
        "slippery slope": _F.SLIPPERY_SLOPE,
        "false dilemma": _F.FALSE_DILEMMA,
        "hasty generalization": _F.ANECDOTAL_EVIDENCE,
        "circular reasoning": _F.CIRCULAR_REASONING,
        "ad hominem": _F.AD_HOMINEM,
    },
    "logic": {
        "fallacy of extension": _F.STRAW_MAN,
        "fallacy of credibility": _F.APPEAL_TO_AUTHORITY,
        "false dilemma": _F.FALSE_DILEMMA,
        "faulty generalization": _F.ANECDOTAL_EVIDENCE,
        "circular reasoning": _F.CIRCULAR_REASONING,
        "ad hominem": _F.AD_HOMINEM,
    },
    "informal_fallacies": {
        "authority": _F.APPEAL_TO_AUTHORITY,
        "slippery_slope": _F.SLIPPERY_SLOPE,
        "blackwhite": _F.FALSE_DILEMMA,
        "hasty_generalization": _F.ANECDOTAL_EVIDENCE,
    },
}
"""The set's own label, in lower case, to one of the seven."""

_NO_FALLACY = frozenset({"nothing", "none"})
_NO_LABEL = "(no label)"
_UNUSABLE = frozenset({"to clean"})
_FILES: Mapping[str, tuple[str, ...]] = {
    "mafalda": ("datasets/gold_standard_dataset.jsonl", "gold_standard_dataset.jsonl"),
    "logic": ("edu_test.csv",),
    "informal_fallacies": ("test.txt",),
}


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """Characters ``start`` to ``end`` of a text with the labels accepted there, in the set's own words."""

    start: int
    end: int
    labels: frozenset[str]

    @property
    def optional(self) -> bool:
        """Whether finding nothing here is accepted too."""
        return bool(self.labels & _NO_FALLACY)


@dataclass(frozen=True, slots=True)
class LabelledText:
    """One text with its labelled spans. A set without spans has one span for each label, over the whole text."""

    id: str
    text: str
    spans: tuple[GoldSpan, ...]
    mapping: Mapping[str, Fallacy]

    def classes_of(self, span: GoldSpan) -> frozenset[str]:
        """The classes accepted in a span: one of the seven, or "other"."""
        return frozenset(
            self.mapping[label].value if label in self.mapping else OTHER for label in span.labels - _NO_FALLACY
        )

    @property
    def gold(self) -> frozenset[str]:
        """Every class accepted somewhere in the text; "none" if there is none."""
        found = frozenset(name for span in self.spans for name in self.classes_of(span))
        return found or frozenset({NONE})

    @property
    def stratum(self) -> str:
        """The first of its classes in the protocol's order. Sampling keeps these in proportion."""
        return next(name for name in CLASSES if name in self.gold)


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """A set of texts read from ``path``. ``own`` is the mapping of a user's own set."""

    name: str
    path: Path
    texts: tuple[LabelledText, ...]
    own: Mapping[str, Fallacy] | None = None

    @property
    def mapping(self) -> Mapping[str, Fallacy]:
        """The set's labels that are among the seven."""
        return MAPPINGS[self.name] if self.own is None else self.own

    def labels(self) -> Counter[str]:
        """How many texts have each of the set's own labels."""
        return Counter(
            label
            for text in self.texts
            for label in {label for span in text.spans for label in span.labels} or {_NO_LABEL}
        )

    def sizes(self) -> Counter[str]:
        """How many texts are in each class; a text may be in several."""
        return Counter(name for text in self.texts for name in text.gold)

    def sample(self, limit: int | None, seed: int) -> LabelledSet:
        """Draw at most ``limit`` texts by ``seed``. Classes keep their proportions and get at least one text each."""
        if limit is None or limit >= len(self.texts):
            return self
        strata: dict[str, list[int]] = {}
        for place, text in enumerate(self.texts):
            strata.setdefault(text.stratum, []).append(place)
        counts = _shares({name: len(places) for name, places in strata.items()}, limit)
        chance = random.Random(f"{seed} {self.name}")  # noqa: S311  (reproducible by its seed)
        chosen = [place for name in sorted(strata) for place in chance.sample(strata[name], counts[name])]
        return LabelledSet(self.name, self.path, tuple(self.texts[place] for place in sorted(chosen)), self.own)


def _shares(sizes: Mapping[str, int], whole: int) -> dict[str, int]:
    """Divide ``whole`` in proportion to ``sizes`` by largest remainders, at least one each where possible."""
    least = 1 if whole >= len(sizes) else 0
    rest, total = whole - least * len(sizes), sum(sizes.values()) - least * len(sizes)
    exact = {name: (size - least) * rest for name, size in sizes.items()}
    shares = {name: least + (value // total if total else 0) for name, value in exact.items()}
    order = sorted(sizes, key=lambda name: (-(exact[name] % total if total else 0), name))
    for name in order:
        if sum(shares.values()) < whole and shares[name] < sizes[name]:
            shares[name] += 1
    return shares


def read_labelled(name: str, where: Path) -> LabelledSet:
    """Read the set ``name`` from a file or the published folder.

    Raises:
        InvalidInputError: there is no such set or file, or a line cannot be read; names the line and key.
    """
    if name not in MAPPINGS:
        raise InvalidInputError(
            f"There is no set of labelled texts called {name!r}.",
            f"Known sets: {', '.join(MAPPINGS)}; csv for a file of your own.",
        )
    path = where
    if where.is_dir():
        path = next((where / row for row in _FILES[name] if (where / row).is_file()), where / _FILES[name][0])
    content = read_text(path, f"Give the folder or file of {name} with --data PATH.")
    texts = tuple(_READERS[name](path, content))
    if not texts:
        raise InvalidInputError(f"{path} contains no text.", f"Give the file as {name} publishes it.")
    return LabelledSet(name, path, texts)


def _fault(path: Path, line: int, what: str) -> InvalidInputError:
    return InvalidInputError(f"{path}, line {line}: {what}.", "Give the file as it is published.")


def _read_mafalda(path: Path, content: str) -> Iterator[LabelledText]:
    for line, raw in enumerate(content.split("\n"), start=1):
        if not raw.strip():
            continue
        try:
            row: Any = json.loads(raw)
        except ValueError:
            raise _fault(path, line, "it is not JSON") from None
        text = row.get("text") if isinstance(row, dict) else None
        if not isinstance(text, str):
            raise _fault(path, line, 'the key "text" is missing or is not a string')
        labels = row.get("labels")
        if not isinstance(labels, list):
            raise _fault(path, line, 'the key "labels" is missing or is not a list')
        spans: dict[tuple[int, int], set[str]] = {}
        for label in labels:
            match label:
                case [int(start), int(end), str(name)] if 0 <= start < end:
                    if name.lower() not in _UNUSABLE:
                        spans.setdefault((start, end), set()).add(name.lower())
                case _:
                    raise _fault(path, line, f'a label in "labels" is not [start, end, name]: {str(label)[:60]}')
        gold = tuple(GoldSpan(start, end, frozenset(names)) for (start, end), names in spans.items())
        yield LabelledText(f"mafalda-{line}", text, gold, MAPPINGS["mafalda"])


def _read_logic(path: Path, content: str) -> Iterator[LabelledText]:
    csv.field_size_limit(min(sys.maxsize, 1 << 24))
    reader = csv.DictReader(content.splitlines(keepends=True))
    names = reader.fieldnames or ()
    label_key = next((key for key in ("updated_label", "logical_fallacies") if key in names), None)
    if label_key is None or "source_article" not in names:
        raise _fault(path, 1, 'the columns "source_article" and "updated_label" (or "logical_fallacies") are missing')
    for row in reader:
        text, label = row["source_article"], row[label_key]
        if not text or not label:
            raise _fault(path, reader.line_num, f'"source_article" or "{label_key}" is empty')
        span = GoldSpan(0, len(text), frozenset({label.strip().lower()}))
        yield LabelledText(f"{path.stem}-{reader.line_num}", text, (span,), MAPPINGS["logic"])


def _read_informal(path: Path, content: str) -> Iterator[LabelledText]:
    for line, raw in enumerate(content.split("\n"), start=1):
        if not raw.strip():
            continue
        columns = raw.split("\t")
        if len(columns) < 5:
            raise _fault(path, line, f"it has {len(columns)} columns between tabs, and at least 5 are needed")
        try:
            labels = ast.literal_eval(columns[4])
        except (ValueError, SyntaxError):
            labels = None
        if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
            raise _fault(path, line, "column 5 (the label of each word) is not a list of labels")
        text = columns[2]
        found = sorted({label.lower() for label in labels} - _NO_FALLACY)
        spans = tuple(GoldSpan(0, max(len(text), 1), frozenset({label})) for label in found)
        yield LabelledText(f"informal-{line}", text, spans, MAPPINGS["informal_fallacies"])


_READERS: Mapping[str, Callable[[Path, str], Iterator[LabelledText]]] = {
    "mafalda": _read_mafalda,
    "logic": _read_logic,
    "informal_fallacies": _read_informal,
}


def mapping_lines(labelled: LabelledSet) -> list[str]:
    """Render the mapping: each label of the set with its number of texts and its class, most frequent first."""
    return [f"{name} ({count}) -> {_class_of(labelled, name)}" for name, count in labelled.labels().most_common()]


def _class_of(labelled: LabelledSet, label: str) -> str:
    if label in labelled.mapping:
        return labelled.mapping[label].value
    return NONE if label in _NO_FALLACY or label == _NO_LABEL else OTHER


CSV_SET = "csv"
TEXTS = ("text", "source_article", "statement", "argument", "sentence", "comment", "input", "content")
LABELS = ("label", "labels", "fallacy", "updated_label", "logical_fallacies", "fallacy_type", "class", "category")
_SEVEN = Fallacy
SPELLINGS: Mapping[str, Fallacy] = {
    **{fallacy.value.replace("_", " "): fallacy for fallacy in Fallacy},
    "strawman": _SEVEN.STRAW_MAN,
    "fallacy of extension": _SEVEN.STRAW_MAN,
    "authority": _SEVEN.APPEAL_TO_AUTHORITY,
    "appeal to false authority": _SEVEN.APPEAL_TO_AUTHORITY,
    "false authority": _SEVEN.APPEAL_TO_AUTHORITY,
    "fallacy of credibility": _SEVEN.APPEAL_TO_AUTHORITY,
    "argument from authority": _SEVEN.APPEAL_TO_AUTHORITY,
    "slippery slope fallacy": _SEVEN.SLIPPERY_SLOPE,
    "false dichotomy": _SEVEN.FALSE_DILEMMA,
    "black or white": _SEVEN.FALSE_DILEMMA,
    "black and white": _SEVEN.FALSE_DILEMMA,
    "blackwhite": _SEVEN.FALSE_DILEMMA,
    "either or": _SEVEN.FALSE_DILEMMA,
    "anecdotal": _SEVEN.ANECDOTAL_EVIDENCE,
    "anecdote": _SEVEN.ANECDOTAL_EVIDENCE,
    "hasty generalization": _SEVEN.ANECDOTAL_EVIDENCE,
    "hasty generalisation": _SEVEN.ANECDOTAL_EVIDENCE,
    "faulty generalization": _SEVEN.ANECDOTAL_EVIDENCE,
    "begging the question": _SEVEN.CIRCULAR_REASONING,
    "circular argument": _SEVEN.CIRCULAR_REASONING,
    "circular": _SEVEN.CIRCULAR_REASONING,
    "personal attack": _SEVEN.AD_HOMINEM,
    "ad hominem attack": _SEVEN.AD_HOMINEM,
}
"""Usual spellings, in lower case and without hyphens or underscores, to one of the seven."""
_NONE_WORDS = frozenset({"", "none", "nothing", "no fallacy", "no", "valid", "not a fallacy", "0"})


def read_csv_texts(path: Path, given: Iterable[str] = ()) -> LabelledSet:
    """Read the texts of a CSV file.

    Args:
        path: a CSV file, or a TSV file by its ending.
        given: the user's mappings, each ``LABEL=CLASS``; CLASS is one of the seven, ``other`` or ``none``.

    Raises:
        InvalidInputError: it cannot be read, has no rows or lacks a column, or a mapping is invalid.
    """
    own = _mapped(given)
    rows, text_key, label_key = _rows(path)
    texts = []
    labels: set[str] = set()
    for number, row in rows:
        text = row[text_key] or ""
        if not text.strip():
            raise InvalidInputError(f"{path}, line {number}: {text_key!r} is empty.", "Give every row a text.")
        found = {_plain(part) for part in re.split(r"[;|]", row[label_key] or "")}
        named = {part for part in found if own.get(part, NONE if part in _NONE_WORDS else "") != NONE}
        labels |= named
        spans = tuple(GoldSpan(0, len(text), frozenset({part})) for part in sorted(named))
        texts.append((f"{path.stem}-{number}", text, spans))
    mapping = {**SPELLINGS, **{label: Fallacy(name) for label, name in own.items() if name not in {OTHER, NONE}}}
    mapping = {label: row for label, row in mapping.items() if own.get(label) != OTHER and label in labels}
    return LabelledSet(CSV_SET, path, tuple(LabelledText(*row, mapping) for row in texts), mapping)


def _rows(path: Path) -> tuple[list[tuple[int, dict[str, str]]], str, str]:
    """The rows with their line numbers, and the columns of texts and labels."""
    content = read_text(path, "Give a CSV file with --data PATH.")
    csv.field_size_limit(min(sys.maxsize, 1 << 24))
    delimiter = "\t" if path.suffix == ".tsv" else ","
    reader = csv.DictReader(content.splitlines(keepends=True), delimiter=delimiter)
    names = list(reader.fieldnames or ())
    keys = [next((name for one in wanted for name in names if name.strip().casefold() == one), None)
            for wanted in (TEXTS, LABELS)]  # fmt: skip
    text_key, label_key = keys
    if text_key is None or label_key is None:
        lacking, wanted = ("texts", TEXTS) if text_key is None else ("labels", LABELS)
        raise InvalidInputError(
            f"{path} has no column of {lacking}; its columns are: {one_line(', '.join(names), 200) or 'none'}.",
            f"Call it one of: {', '.join(wanted)}.",
        )
    rows = [(reader.line_num, row) for row in reader]
    if not rows:
        raise InvalidInputError(f"{path} has no rows below its header.", "Give a text and a label in each row.")
    return rows, text_key, label_key


def _mapped(given: Iterable[str]) -> dict[str, str]:
    classes = {_plain(name): name for name in (*(fallacy.value for fallacy in Fallacy), OTHER, NONE)}
    found = {}
    for row in given:
        label, equals, name = row.partition("=")
        if not equals or _plain(name) not in classes:
            raise InvalidInputError(
                f"--map {one_line(row, 60)!r} does not map a label to a class.",
                f"Write LABEL=CLASS; classes are: {', '.join(sorted(classes.values()))}.",
            )
        found[_plain(label)] = classes[_plain(name)]
    return found


def _plain(label: str) -> str:
    """A label in lower case, with single spaces for hyphens, underscores and brackets."""
    return " ".join(re.sub(r"[-_()/]", " ", label.casefold()).split())
