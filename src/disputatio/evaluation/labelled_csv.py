"""A CSV or TSV file of your own with a text and a label in each row, read as a set of labelled texts.

Columns are known by their usual names. A label is one of the seven fallacies in one of its usual spellings, "none" (or
empty) where there is none, or several of them with ``;`` or ``|`` between. What is none of these is "other", unless the
user maps it.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from disputatio.errors import InvalidInputError
from disputatio.evaluation.labelled_texts import NONE, OTHER, GoldSpan, LabelledSet, LabelledText
from disputatio.judging.fallacies import Fallacy
from disputatio.motion import one_line

NAME = "csv"
TEXTS = ("text", "source_article", "statement", "argument", "sentence", "comment", "input", "content")
LABELS = ("label", "labels", "fallacy", "updated_label", "logical_fallacies", "fallacy_type", "class", "category")
_F = Fallacy
SPELLINGS: Mapping[str, Fallacy] = {
    **{fallacy.value.replace("_", " "): fallacy for fallacy in Fallacy},
    "strawman": _F.STRAW_MAN,
    "fallacy of extension": _F.STRAW_MAN,
    "authority": _F.APPEAL_TO_AUTHORITY,
    "appeal to false authority": _F.APPEAL_TO_AUTHORITY,
    "false authority": _F.APPEAL_TO_AUTHORITY,
    "fallacy of credibility": _F.APPEAL_TO_AUTHORITY,
    "argument from authority": _F.APPEAL_TO_AUTHORITY,
    "slippery slope fallacy": _F.SLIPPERY_SLOPE,
    "false dichotomy": _F.FALSE_DILEMMA,
    "black or white": _F.FALSE_DILEMMA,
    "black and white": _F.FALSE_DILEMMA,
    "blackwhite": _F.FALSE_DILEMMA,
    "either or": _F.FALSE_DILEMMA,
    "anecdotal": _F.ANECDOTAL_EVIDENCE,
    "anecdote": _F.ANECDOTAL_EVIDENCE,
    "hasty generalization": _F.ANECDOTAL_EVIDENCE,
    "hasty generalisation": _F.ANECDOTAL_EVIDENCE,
    "faulty generalization": _F.ANECDOTAL_EVIDENCE,
    "begging the question": _F.CIRCULAR_REASONING,
    "circular argument": _F.CIRCULAR_REASONING,
    "circular": _F.CIRCULAR_REASONING,
    "personal attack": _F.AD_HOMINEM,
    "ad hominem attack": _F.AD_HOMINEM,
}
"""Usual spellings, in lower case and without hyphens or underscores, to ours."""
_NO_FALLACY = frozenset({"", "none", "nothing", "no fallacy", "no", "valid", "not a fallacy", "0"})


def read_csv_texts(path: Path, given: Iterable[str] = ()) -> LabelledSet:
    """The texts in ``path``.

    Args:
        path: a CSV file, or a TSV file by its ending.
        given: mappings of your own, each ``LABEL=CLASS``; CLASS is one of the seven, ``other`` or ``none``.

    Raises:
        InvalidInputError: it cannot be read, has no rows or lacks a column, or a mapping is none.
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
        named = {part for part in found if own.get(part, NONE if part in _NO_FALLACY else "") != NONE}
        labels |= named
        spans = tuple(GoldSpan(0, len(text), frozenset({part})) for part in sorted(named))
        texts.append((f"{path.stem}-{number}", text, spans))
    mapping = {**SPELLINGS, **{label: Fallacy(name) for label, name in own.items() if name not in {OTHER, NONE}}}
    mapping = {label: row for label, row in mapping.items() if own.get(label) != OTHER and label in labels}
    return LabelledSet(NAME, path, tuple(LabelledText(*row, mapping) for row in texts), mapping)


def _rows(path: Path) -> tuple[list[tuple[int, dict[str, str]]], str, str]:
    """The rows with their lines, and the columns of texts and labels."""
    try:
        content = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInputError(f"{path} is not UTF-8 text.", "Save it as UTF-8.") from None
    except OSError as error:
        reason = (error.strerror or "unknown cause").lower()
        raise InvalidInputError(f"{path} cannot be read: {reason}.", "Give a CSV file with --data PATH.") from None
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
        raise InvalidInputError(f"{path} has no rows below its head.", "Give a text and a label in each row.")
    return rows, text_key, label_key


def _mapped(given: Iterable[str]) -> dict[str, str]:
    classes = {_plain(name): name for name in (*(fallacy.value for fallacy in Fallacy), OTHER, NONE)}
    found = {}
    for row in given:
        label, equals, name = row.partition("=")
        if not equals or _plain(name) not in classes:
            raise InvalidInputError(
                f"--map {one_line(row, 60)!r} maps a label to no class.",
                f"Write LABEL=CLASS; classes are: {', '.join(sorted(classes.values()))}.",
            )
        found[_plain(label)] = classes[_plain(name)]
    return found


def _plain(label: str) -> str:
    """A label in lower case, with single spaces for hyphens, underscores and brackets."""
    return " ".join(re.sub(r"[-_()/]", " ", label.casefold()).split())
