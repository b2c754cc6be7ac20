"""Ask a judge for the fallacies in labelled texts, each in a small recorded debate, and score its answers.

The judge gets the same prompt file and schema as in a structured debate, with one argument: the text. Changes of the
judging prompt therefore show here too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from disputatio.config import Settings
from disputatio.engine.opening import Proposal
from disputatio.evaluation.experiment import ExperimentResult, Trial
from disputatio.evaluation.fallacy_scores import FallacyScores, JudgedText, NamedFallacy, score_fallacies
from disputatio.evaluation.labelled_texts import CLASSES, LabelledSet, LabelledText, mapping_lines
from disputatio.formats.debate_context import DebateContext
from disputatio.formats.format import Format
from disputatio.formats.jury import JUDGE, PRO
from disputatio.formats.registry import find_format
from disputatio.formats.structured import StructuredRules
from disputatio.formats.turns.adjudication import Adjudication, AdjudicationSpec, Exhibit
from disputatio.formats.turns.opening import Argument
from disputatio.kernel import JsonObject, Message, Phase, Rulebook, Task, ask
from disputatio.motion import Motion
from disputatio.record.events import Abstained
from disputatio.record.history import History

JSON_VERSION = 1
NOT_ASKED = "not asked"
OPENING, JUDGING = Phase("opening"), Phase("judging")
_MOTION = "What the speaker says is well argued"


@dataclass(frozen=True, slots=True)
class TextRules(StructuredRules):
    """The rules of a structured debate reduced to the judging of one text."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class LoneText(Argument):
    """A text that is an argument by itself, without parts."""

    def text(self) -> str:
        """The text with its id."""
        return f"{self.id}: {self.claim}"


@dataclass(frozen=True, slots=True)
class TextFinding:
    """What the judge found in one text; None if it abstained."""

    adjudication: Adjudication | None

    def as_json(self) -> JsonObject:
        """The finding as the record keeps it; the judge's own words are in its turn."""
        rows = self.adjudication.judgements if self.adjudication else ()
        return {
            "format": "structured",
            "judged": bool(rows),
            "trace": [],
            "fallacies": [
                {"fallacy": found.fallacy.value, "words": found.words, "quoted": found.quoted}
                for row in rows
                for found in row.fallacies
            ],
        }


def judge_text(rules: TextRules, _context: DebateContext) -> Rulebook[TextFinding]:
    """Ask the judge about one text."""
    exhibit = Exhibit(LoneText("PRO-1", rules.text, "", ""), ())
    form = AdjudicationSpec((exhibit,), rules.rubric)
    heard = Message(PRO.seat, OPENING, exhibit.argument.text())
    task = Task("judging", form.task_values())
    turn = yield from ask(JUDGE, JUDGING, spec=form, task=task, messages=(heard,), limits=rules.judging)
    return TextFinding(turn if isinstance(turn, Adjudication) else None)


def make_text_format() -> Format:
    """Reduce the structured format to the judging of one text; its prompts stay the same."""
    return replace(find_format("structured"), seats=(JUDGE,), rules=TextRules, rulebook=judge_text)


def make_fallacy_trials(labelled: LabelledSet, settings: Settings, prompts: Path | None = None) -> list[Trial]:
    """Make one small debate for each text; ``prompts`` is a folder of overrides."""
    form, motion = make_text_format(), Motion(_MOTION, settings.language)
    return [
        Trial(
            row.id,
            Proposal(motion, form, replace(settings, rules={**settings.rules, "text": row.text}), prompts=prompts),
        )
        for row in labelled.texts
    ]


def read_judged_text(text: LabelledText, history: History | None) -> JudgedText:
    """Read what the judge found in ``text``, or why there is no finding."""
    if history is None:
        return JudgedText(text, failure=NOT_ASKED)
    abstained = next((row for row in history.answered.values() if isinstance(row, Abstained)), None)
    if abstained is not None:
        return JudgedText(text, failure=abstained.reason)
    outcome = history.closed.outcome if history.closed else {}
    found = outcome.get("fallacies")
    if not outcome.get("judged") or not isinstance(found, Sequence):
        return JudgedText(text, failure="unfinished")
    return JudgedText(
        text,
        tuple(
            NamedFallacy.of(str(row["fallacy"]), str(row["words"]), text.text)
            for row in found
            if isinstance(row, Mapping)
        ),
    )


@dataclass(frozen=True, slots=True)
class FallacyReport:
    """The report of ``check-fallacies``. ``drawn`` is the sample, ``whole`` the set it was drawn from."""

    judge: str
    whole: LabelledSet
    drawn: LabelledSet
    seed: int
    scores: FallacyScores
    result: ExperimentResult = field(repr=False)

    def as_json(self) -> JsonObject:
        """The stable JSON form, version ``JSON_VERSION``."""
        sizes, drawn = self.whole.sizes(), self.drawn.sizes()
        return {
            "schema": "disputatio/fallacy-check",
            "version": JSON_VERSION,
            "judge": self.judge,
            "set": self.whole.name,
            "file": self.whole.path.name,
            "seed": self.seed,
            "texts_in_the_set": len(self.whole.texts),
            "mapping": {
                label: self.whole.mapping[label].value if label in self.whole.mapping else None
                for label in sorted(self.whole.labels())
            },
            "class_sizes": {name: {"set": sizes[name], "sample": drawn[name]} for name in CLASSES},
            **self.scores.as_json(),
            **self.result.as_json(),
        }


def make_fallacy_report(
    judge: str, whole: LabelledSet, drawn: LabelledSet, seed: int, result: ExperimentResult
) -> FallacyReport:
    """Score the experiment. Texts that were not asked stay in the counts."""
    histories = {row.key: row.history for row in result.finished}
    judged = [read_judged_text(text, histories.get(text.id)) for text in drawn.texts]
    scores = score_fallacies(judged, spans=whole.name == "mafalda", seed=seed)
    return FallacyReport(judge, whole, drawn, seed, scores, result)


def report_lines(report: FallacyReport) -> list[str]:
    """Render the report as text."""
    whole, scores = report.whole, report.scores
    sizes, drawn = whole.sizes(), report.drawn.sizes()
    lines = [
        f"Fallacies in {whole.name} ({whole.path.name}), judged by {report.judge}",
        f"{scores.texts} of {len(whole.texts)} texts, drawn by seed {report.seed}; {scores.answered} answered"
        + "".join(f", {count} {reason}" for reason, count in scores.failures.items()),
        "",
        "The set's labels (texts) -> classes:",
        *(f"  {line}" for line in mapping_lines(whole)),
        "",
        f"{'class':20} {'set':>5} {'sample':>6} {'support':>7}  {'precision':32} {'recall':32} F1",
    ]
    lines += [
        (
            f"{row.name:20} {sizes[row.name]:5d} {drawn[row.name]:6d} {row.support:7d}  "
            f"{row.precision.text():32} {row.recall.text():32} {row.f1.text()}"
        )
        for row in (*scores.classes, scores.none)
    ]
    lines.append(f"{'other':20} {sizes['other']:5d} {drawn['other']:6d} {'-':>7}  the judge cannot name these")
    precision, recall, f1 = scores.micro
    lines.append(f"{'micro average':42}{precision.text():32} {recall.text():32} {f1.text()}")
    lines.append(
        f"{'macro average':42}{scores.macro[0].text():32} {scores.macro[1].text():32} {scores.macro[2].text()}"
    )
    quotes = f"Quotes that are not in the text: {scores.unfound_quotes.text()}"
    if not scores.unfound_quotes.of:
        quotes = "The judge named no fallacy in any text, so it quoted nothing."
    lines += ["", quotes, *_span_lines(scores), ""]
    lines += _confusion_lines(scores)
    lines += [
        "",
        "Intervals are 95 %: Wilson for shares, 1,000 resamples for F1 and macro averages. Averages are over the seven",
        "fallacies. A text without an answer is a miss for each of its classes.",
    ]
    return lines + report.result.lines()


def _span_lines(scores: FallacyScores) -> list[str]:
    row = scores.spans
    if row is None:
        return []
    measured = f"precision {row.precision:.3f}, recall {row.recall:.3f}, F1 {row.f1:.3f}"
    return [
        f"MAFALDA's span measure: {measured}",
        f"  seven of its 23 labels can be named, so recall is at most {row.reachable:.3f} here; naming nothing gets",
        f"  F1 {row.silent:.3f}",
    ]


_SHORT = {
    "straw_man": "straw",
    "appeal_to_authority": "author",
    "slippery_slope": "slope",
    "false_dilemma": "dilem",
    "anecdotal_evidence": "anecd",
    "circular_reasoning": "circul",
    "ad_hominem": "homin",
    "none": "none",
    "failed": "failed",
}


def _confusion_lines(scores: FallacyScores) -> list[str]:
    heads = "".join(f"{row:>7}" for row in _SHORT.values())
    lines = ["Labelled (rows) against named (columns); a text may count in several", " " * 20 + heads]
    for name, columns in scores.confusion.items():
        lines.append(f"{name:20}" + "".join(f"{columns[key]:7d}" for key in _SHORT))
    return lines
