"""Precision and recall of named fallacies against labelled texts.

What counts
    A fallacy is named when a finding bears its name and quotes words of the text. Findings that quote other words are
    counted apart and name nothing. The judge may name several.

    For each class and text: named and accepted is a hit; named and not accepted is a false alarm. Not named is a miss
    if a span accepts the class, and neither "nothing" nor another named class is an alternative there (only MAFALDA
    has alternatives).

    A text without an answer (the judge abstained, failed, or was not asked) has the predicted class "failed". It is a
    miss for each class of the text and is never left out of a recall.

    "none" is right where no label applies. Texts whose labels are all "other" do not count for it, since the judge
    has no name for what is wrong there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from disputatio.evaluation.labelled_texts import CLASSES, NONE, OTHER, LabelledText
from disputatio.evaluation.statistics.intervals import Estimate, Rate, bootstrap, mean_of, rate
from disputatio.judging.fallacies import Fallacy, words_are_in
from disputatio.kernel import JsonObject

SEVEN = tuple(fallacy.value for fallacy in Fallacy)
FAILED = "failed"
COLUMNS = (*SEVEN, NONE, FAILED)


@dataclass(frozen=True, slots=True)
class NamedFallacy:
    """One finding of the judge. ``quoted`` says whether its words are in the text."""

    fallacy: str
    words: str
    quoted: bool

    @classmethod
    def of(cls, fallacy: str, words: str, text: str) -> NamedFallacy:
        """Make a finding and look for its words in ``text``."""
        return cls(fallacy, words, words_are_in(words, text))


@dataclass(frozen=True, slots=True)
class JudgedText:
    """A text with the judge's findings, or ``failure`` with the reason why there are none."""

    text: LabelledText
    found: tuple[NamedFallacy, ...] = ()
    failure: str = ""

    @property
    def named(self) -> frozenset[str]:
        """The classes named with words of the text."""
        return frozenset(row.fallacy for row in self.found if row.quoted)

    @property
    def predicted(self) -> frozenset[str]:
        """The columns of the confusion table for this text."""
        if self.failure:
            return frozenset({FAILED})
        return self.named or frozenset({NONE})

    def outcome(self, name: str) -> str:
        """``hit``, ``false alarm``, ``miss``, or empty if the text says nothing about the class."""
        named = self.named
        if name == NONE:
            if self.text.gold == {OTHER}:
                return ""
            if NONE in self.text.gold:
                return "hit" if self.predicted == {NONE} else "miss"
            return "false alarm" if self.predicted == {NONE} else ""
        if name in named:
            return "hit" if name in self.text.gold else "false alarm"
        spans = [span for span in self.text.spans if name in self.text.classes_of(span) and not span.optional]
        excused = all(self.text.classes_of(span) & named for span in spans)
        return "" if excused else "miss"


@dataclass(frozen=True, slots=True)
class ClassScore:
    """One class. ``support`` is hits and misses, the texts its recall rests on."""

    name: str
    precision: Rate
    recall: Rate
    f1: Estimate

    @property
    def support(self) -> int:
        """Texts that should have been named so."""
        return self.recall.of

    def as_json(self) -> JsonObject:
        """The row."""
        return {
            "class": self.name,
            "support": self.support,
            "precision": self.precision.as_json(),
            "recall": self.recall.as_json(),
            "f1": self.f1.as_json(),
        }


@dataclass(frozen=True, slots=True)
class SpanScore:
    """MAFALDA's own measure, a mean over texts.

    ``reachable`` is the recall of naming everything that can be named. ``silent`` is the F1 of naming nothing: by the
    measure's rule that is precise, and complete wherever no fallacy is required.
    """

    precision: float
    recall: float
    f1: float
    reachable: float
    silent: float

    def as_json(self) -> JsonObject:
        """All numbers."""
        return {
            "precision": round(self.precision, 4),
            "recall": round(self.recall, 4),
            "f1": round(self.f1, 4),
            "reachable_recall": round(self.reachable, 4),
            "f1_of_silence": round(self.silent, 4),
        }


@dataclass(frozen=True, slots=True)
class FallacyScores:
    """All scores of a judge on one set."""

    texts: int
    answered: int
    failures: Mapping[str, int]
    classes: tuple[ClassScore, ...]
    none: ClassScore
    micro: tuple[Rate, Rate, Estimate]
    macro: tuple[Estimate, Estimate, Estimate]
    unfound_quotes: Rate
    confusion: Mapping[str, Mapping[str, int]]
    spans: SpanScore | None

    def as_json(self) -> JsonObject:
        """The whole report."""
        precision, recall, f1 = self.micro
        return {
            "texts": self.texts,
            "answered": self.answered,
            "failures": dict(self.failures),
            "classes": [row.as_json() for row in self.classes],
            "none": self.none.as_json(),
            "micro": {"precision": precision.as_json(), "recall": recall.as_json(), "f1": f1.as_json()},
            "macro": {name: row.as_json() for name, row in zip(("precision", "recall", "f1"), self.macro, strict=True)},
            "quotes_not_in_the_text": self.unfound_quotes.as_json(),
            "confusion": {row: dict(columns) for row, columns in self.confusion.items()},
            "mafalda_spans": None if self.spans is None else self.spans.as_json(),
        }


def score_fallacies(judged: Sequence[JudgedText], *, spans: bool = False, seed: int = 0) -> FallacyScores:
    """Count and average. ``spans`` adds MAFALDA's own measure; ``seed`` is that of the bootstrap."""
    failures: dict[str, int] = {}
    for row in judged:
        if row.failure:
            failures[row.failure] = failures.get(row.failure, 0) + 1
    tallies = [[mark for name in SEVEN for mark in _marks(row, name)] for row in judged]
    found = [finding for row in judged for finding in row.found]
    hits, alarms, misses = (sum(row[place] for tally in tallies for row in _threes(tally)) for place in range(3))
    return FallacyScores(
        texts=len(judged),
        answered=len(judged) - sum(failures.values()),
        failures=failures,
        classes=tuple(_class_score(name, judged, seed) for name in SEVEN),
        none=_class_score(NONE, judged, seed),
        micro=(
            rate(int(hits), int(hits + alarms)),
            rate(int(hits), int(hits + misses)),
            bootstrap(tallies, _micro_f1, seed),
        ),
        macro=(
            bootstrap(tallies, _macro(_precision), seed),
            bootstrap(tallies, _macro(_recall), seed),
            bootstrap(tallies, _macro(_f1), seed),
        ),
        unfound_quotes=rate(sum(not row.quoted for row in found), len(found)),
        confusion=_confusion(judged),
        spans=score_spans(judged) if spans else None,
    )


def _marks(row: JudgedText, name: str) -> tuple[int, int, int]:
    """One text's hit, false alarm and miss for one class, each 0 or 1."""
    outcome = row.outcome(name)
    return int(outcome == "hit"), int(outcome == "false alarm"), int(outcome == "miss")


def _threes(tally: Sequence[float]) -> list[Sequence[float]]:
    """Split a row of all classes into hits, false alarms and misses by class."""
    return [tally[start : start + 3] for start in range(0, len(tally), 3)]


def _class_score(name: str, judged: Sequence[JudgedText], seed: int) -> ClassScore:
    marks = [_marks(row, name) for row in judged]
    hits, alarms, misses = (sum(column) for column in zip(*marks, strict=True)) if marks else (0, 0, 0)
    f1 = bootstrap(marks, lambda sums: _f1(*sums), seed)
    return ClassScore(name, rate(hits, hits + alarms), rate(hits, hits + misses), f1)


def _precision(hits: float, alarms: float, _misses: float) -> float:
    # A class that occurs and is never named has no precision; averages count it as 0, as scikit-learn does.
    return hits / (hits + alarms) if hits + alarms else 0.0


def _recall(hits: float, _alarms: float, misses: float) -> float:
    return hits / (hits + misses)


def _f1(hits: float, alarms: float, misses: float) -> float | None:
    return 2 * hits / (2 * hits + alarms + misses) if hits + alarms + misses else None


def _macro(measure: Callable[[float, float, float], float | None]) -> Callable[[Sequence[float]], float | None]:
    """The plain mean over the classes that the texts have."""

    def over(tally: Sequence[float]) -> float | None:
        return mean_of([measure(*row) or 0.0 for row in _threes(tally) if row[0] + row[2]])

    return over


def _micro_f1(tally: Sequence[float]) -> float | None:
    hits, alarms, misses = (sum(column) for column in zip(*_threes(tally), strict=True))
    return _f1(hits, alarms, misses)


def _confusion(judged: Sequence[JudgedText]) -> dict[str, dict[str, int]]:
    """Accepted class by predicted class; a text counts once in each row and column it belongs to."""
    table = {name: dict.fromkeys(COLUMNS, 0) for name in CLASSES}
    for row in judged:
        for gold in row.text.gold:
            for predicted in row.predicted:
                table[gold][predicted] += 1
    return table


def score_spans(judged: Sequence[JudgedText]) -> SpanScore:
    """MAFALDA's measure (Helwe et al. 2024, section 4): precision and recall of spans with alternative labels.

    A prediction is worth the share of it that lies in the best span accepting its label. Precision is the mean over
    predictions, 1 without any. Recall is the mean over spans that do not accept "nothing" of the share that the best
    prediction covers, 1 without such spans. F1 is taken for each text; all three are means over texts. A text without
    an answer scores 0.
    """
    rows = [_span_row(row) for row in judged]
    best = [_reachable(row.text) for row in judged]
    mean = [mean_of([row[place] for row in rows]) or 0.0 for place in range(3)]
    silent = mean_of([_span_row(JudgedText(row.text))[2] for row in judged])
    return SpanScore(mean[0], mean[1], mean[2], mean_of(best) or 0.0, silent or 0.0)


Predicted = tuple[int, int, frozenset[str]]


def _span_row(row: JudgedText) -> tuple[float, float, float]:
    if row.failure:
        return 0.0, 0.0, 0.0
    names: dict[str, set[str]] = {}
    for label, fallacy in row.text.mapping.items():
        names.setdefault(fallacy.value, set()).add(label)
    predicted = [
        (start, end, frozenset(names.get(found.fallacy, {found.fallacy})))
        for found in row.found
        if found.quoted
        for start, end in [locate_words(found.words, row.text.text)]
    ]
    return compare_spans(predicted, [(span.start, span.end, span.labels, span.optional) for span in row.text.spans])


def compare_spans(
    predicted: Sequence[Predicted], gold: Sequence[tuple[int, int, frozenset[str], bool]]
) -> tuple[float, float, float]:
    """Precision, recall and F1 of one text. Spans are half-open in characters; gold spans say whether they are
    optional.
    """
    precision = mean_of([_best(one, gold, of_gold=False) for one in predicted])
    wanted = [(start, end, labels) for start, end, labels, optional in gold if not optional]
    recall = mean_of([max((_covered(one, span, of_gold=True) for one in predicted), default=0.0) for span in wanted])
    p, r = 1.0 if precision is None else precision, 1.0 if recall is None else recall
    return p, r, 2 * p * r / (p + r) if p + r else 0.0


def _best(one: Predicted, gold: Sequence[tuple[int, int, frozenset[str], bool]], *, of_gold: bool) -> float:
    return max((_covered(one, (s, e, labels), of_gold=of_gold) for s, e, labels, _ in gold), default=0.0)


def _covered(one: Predicted, span: Predicted, *, of_gold: bool) -> float:
    if not one[2] & span[2]:
        return 0.0
    shared = max(0, min(one[1], span[1]) - max(one[0], span[0]))
    length = span[1] - span[0] if of_gold else one[1] - one[0]
    return shared / length if length else 0.0


def _reachable(text: LabelledText) -> float:
    """The recall of naming every span that one of the seven can name, whole."""
    wanted = [span for span in text.spans if not span.optional]
    found = mean_of([float(bool(span.labels & set(text.mapping))) for span in wanted])
    return 1.0 if found is None else found


def locate_words(words: str, text: str) -> tuple[int, int]:
    """Find ``words`` in ``text``: exactly, else by its letters and digits, else the whole text."""
    start = text.find(words)
    if start >= 0:
        return start, start + len(words)
    found = _loose(words, text)
    return found or (0, len(text))


def _loose(words: str, text: str) -> tuple[int, int] | None:
    """Find where the letters and digits of ``words`` follow each other, whatever stands between them."""
    letters = [char for char in words.casefold() if char.isalnum()]
    places = [(char, place) for place, whole in enumerate(text) for char in whole.casefold() if char.isalnum()]
    kept = [char for char, _ in places]
    for start in range(len(kept) - len(letters) + 1):
        if letters and kept[start : start + len(letters)] == letters:
            return places[start][1], places[start + len(letters) - 1][1] + 1
    return None
