"""What a quote may not cut off: part of a word, part of a figure, or the negation right beside it."""

from __future__ import annotations

from disputatio.evidence.figures import REACH, Figure, figures
from disputatio.evidence.findings import Objection, Reason
from disputatio.evidence.sense import negates, negation_beside
from disputatio.evidence.words import DASH, SPACE, WORD, Atoms

_VERBS = frozenset(
    {
        "lack",
        "lacks",
        "lacked",
        "lacking",
        "fail",
        "fails",
        "failed",
        "failing",
        "failure",
        "refuse",
        "refused",
        "refuses",
    }
    | {"deny", "denied", "denies"}
)
"""Words that negate within a sentence, but say nothing about what merely stands beside them."""

_SHOWN = 90


def shown(text: str) -> str:
    """``text`` on one line and short enough for a sentence."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1].rstrip() + "…"


def objection_at_edges(atoms: Atoms, first: int, last: int) -> Objection | None:
    """Why atoms ``first`` to ``last`` of a source cannot be quoted alone, or None."""
    return _cut_figure(atoms, first, last) or _cut_word(atoms, first, last) or _cut_negation(atoms, first, last)


def _cut_figure(atoms: Atoms, first: int, last: int) -> Objection | None:
    seen: set[Figure] = set()
    for edge in (first, last):
        near = figures(atoms, max(0, edge - REACH), min(len(atoms) - 1, edge + REACH))
        seen.update(
            figure for figure in near if figure.first < first <= figure.last or figure.first <= last < figure.last
        )
    for figure in sorted(seen, key=lambda found: found.first):
        whole = shown(atoms.raw(figure.first, figure.last))
        kept = shown(atoms.raw(max(figure.first, first), min(figure.last, last)))
        detail = f"the source says {whole}, the quote {kept}"
        return Objection(Reason.NUMBER_DIFFERS, detail, min(first, figure.first), max(last, figure.last))
    return None


def _cut_word(atoms: Atoms, first: int, last: int) -> Objection | None:
    for left, right in ((first - 1, first), (last, last + 1)):
        if left < 0 or right >= len(atoms) or atoms.joints[right] != DASH:
            continue
        gap = atoms.text[atoms.ends[left] : atoms.starts[right]]
        if gap in {"-", "\u2010", "\u2011"} and {atoms.kinds[left], atoms.kinds[right]} <= {WORD, "n"}:
            detail = f"the quote cuts the word '{shown(atoms.raw(left, right))}' of the source"
            return Objection(Reason.NOT_FOUND, detail, min(left, first), max(right, last))
    return None


def _cut_negation(atoms: Atoms, first: int, last: int) -> Objection | None:
    left, right, word = first, last, ""
    if first and _says_no(atoms, first - 1, first):
        left, word = first - 1, atoms.raw(first - 1, first - 1)
    if last + 1 < len(atoms) and _says_no(atoms, last + 1, last + 1):
        right, word = last + 1, atoms.raw(last + 1, last + 1)
    word = word or negation_beside(atoms.text, atoms.starts[first], atoms.ends[last])
    if not word:
        return None
    detail = f"the quote leaves out '{word.strip()}', which stands right beside it in the source"
    return Objection(Reason.NEGATION_DIFFERS, detail, left, right)


def _says_no(atoms: Atoms, atom: int, right: int) -> bool:
    """Whether ``atom`` is a negation with nothing but a space between it and the quote.

    ``right`` is the atom behind that space. A new line that begins with a capital is taken for another sentence.
    """
    fold, start = atoms.folds[atom], atoms.starts[right]
    new_line = "\n" in atoms.text[atoms.ends[right - 1] : start] and atoms.text[start].isupper()
    beside = atoms.joints[right] == SPACE and atoms.kinds[atom] == WORD and not new_line
    return beside and negates(fold) and fold not in _VERBS
