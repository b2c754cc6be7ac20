"""What a dossier says of measured performance: how debates did on labelled questions of the same task type.

The evidence is the report of an evaluation (``disputatio eval``), read as data: a dossier shows what it says, names it
by its hash, and says where it is none: a harness test, other models than in this debate, questions that were not held.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.kernel import JsonObject
from disputatio.motion import one_line
from disputatio.report.blocks import Block, Facts, Paragraph, Under, grid

SCHEMA = "disputatio/evaluation"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Performance:
    """The report of an evaluation, and the SHA-256 of its file."""

    body: Mapping[str, Any]
    digest: str

    @property
    def kind(self) -> str:
        """What kind of questions they were: the task type of a golden set, else the name of the file."""
        return str(self.body["questions"]["name"])

    @property
    def harness(self) -> bool:
        """Whether scripts or servers that answer any schema took part."""
        return bool(self.body["harness_test"])

    @property
    def models(self) -> frozenset[str]:
        """Who took part."""
        return frozenset(str(model) for seats in self.body["who"].values() for model in seats.values())


def read_performance(text: str, where: str) -> Performance:
    """The evaluation in ``text``.

    Raises:
        InvalidInputError: it is no report of an evaluation that this version reads.
    """
    step = "Give the report.json that `disputatio eval --golden TASK --out FOLDER` wrote."
    try:
        body: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInputError(f"{where}, line {error.lineno}: {error.msg}.", step) from None
    if not isinstance(body, Mapping) or body.get("schema") != SCHEMA or body.get("version") != _VERSION:
        raise InvalidInputError(f"{where} is no report of an evaluation that this version reads.", step)
    found = Performance(body, hashlib.sha256(text.encode()).hexdigest())
    try:
        performance_blocks(found, frozenset())
    except (KeyError, TypeError, AttributeError, ValueError):
        raise InvalidInputError(f"{where} is a report of an evaluation with parts missing.", step) from None
    return found


def performance_blocks(found: Performance, seated: frozenset[str]) -> list[Block]:
    """What was measured, with everything that limits it; ``seated`` are the models of the debate at hand."""
    body = found.body
    questions: JsonObject = body["questions"]
    drawn = "" if questions["drawn_from"] == questions["items"] else f", drawn from {questions['drawn_from']}"
    blocks: list[Block] = [Paragraph(row, strong=True) for row in _limits(found, seated)]
    blocks.append(
        Facts(
            (
                ("Questions", f"{questions['items']} labelled, of the kind {one_line(found.kind, 60)}{drawn}"),
                ("About", one_line(str(questions["about"] or "not stated"), 300)),
                ("SHA-256 of the questions", str(questions["sha256"])),
                ("Models", one_line("; ".join(sorted(found.models)), 300)),
                ("SHA-256 of the report", found.digest),
            )
        )
    )
    blocks.append(
        grid(
            (
                "way of answering",
                "agreement with labels",
                "no answer",
                "failed",
                "tokens a right answer",
                "USD a right",
            ),
            [_arm(row) for row in body["arms"]],
            (2, 3, 4, 5),
        )
    )
    if body["comparisons"]:
        blocks.append(Under("Debate against a single agent and other baselines"))
        blocks.append(
            grid(
                ("comparison", "difference, points", "McNemar mid-p", "after Holm", "power, 10 points", "finding"),
                [_comparison(row) for row in body["comparisons"]],
                (2, 3, 4),
            )
        )
        blocks.append(
            Paragraph(
                "A vote has as many single answers as cost what the debate cost on the same question: it is the single "
                "agent at equal spend. Intervals are 95 %."
            )
        )
    return blocks


def _limits(found: Performance, seated: frozenset[str]) -> list[str]:
    sentences = []
    if found.harness:
        sentences.append(
            "A harness test and no evidence: scripts, recordings or servers that answer any schema took part in it."
        )
    if seated and not seated <= found.models:
        sentences.append("It was measured with other models than those of this debate, and says nothing about these.")
    if found.body.get("stopped"):
        sentences.append("It was not finished; what was not held counts as not right.")
    return sentences


def _arm(row: Mapping[str, Any]) -> Sequence[str]:
    outcomes, per = row["outcomes"], row["per_right_answer"]
    tokens, usd = per["tokens"], per["usd"]
    return (
        one_line(str(row["name"]), 60),
        _share(row["accuracy"]),
        str(outcomes["no answer"] + outcomes["not held"]),
        str(outcomes["failed"]),
        "-" if tokens is None else f"{float(tokens):,.0f}",
        "unknown" if usd is None else f"{float(usd):.6f}",
    )


def _share(row: Mapping[str, Any]) -> str:
    if row["value"] is None:
        return "-"
    return (
        f"{row['count']} of {row['of']}: {100 * row['value']:.1f} % [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"
    )


def _comparison(row: Mapping[str, Any]) -> Sequence[str]:
    gap, power = row["difference"], row["power"]["at_usual_discordance"]
    difference = "-" if gap["value"] is None else f"{100 * gap['value']:+.1f}"
    if gap["low"] is not None:
        difference += f" [{100 * gap['low']:+.1f}, {100 * gap['high']:+.1f}]"
    return (
        one_line(f"{row['first']} - {row['second']}", 100),
        difference,
        f"{row['mcnemar_mid_p']:.3f}",
        f"{row['holm_adjusted_mid_p']:.3f}",
        f"{power:.2f}",
        one_line(str(row["verdict"]), 200),
    )
