"""The turns of a market debate: openings, examinations and closings of analysts, and the judge's findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from disputatio.report.amounts import spoken
from disputatio.report.json_values import as_list, as_number, as_object, objects_in
from disputatio.report.turns.statement import (
    Questions,
    Statement,
    in_natural_order,
    part_number,
    scores_in,
    target_of,
)
from disputatio.report.turns.structured import closing_place, finding_place
from disputatio.report.turns.turn_kind import TurnKind

SYNTHESIS = (
    ("bull_case", "Bull case"),
    ("bear_case", "Bear case"),
    ("key_disagreement", "Key disagreement"),
    ("key_insight", "Key insight"),
)
"""What the judge says of the whole, by its keys in the record."""


def _opening(seat: str, content: Mapping[str, Any], _: Questions) -> Iterable[Statement]:
    for number, row in enumerate(objects_in(content.get("arguments"))):
        confidence = as_number(row.get("confidence"))
        points = [("Confidence", f"{confidence:.2f}")] if confidence is not None else []
        points += [("Counterpoint", str(text)) for text in as_list(row.get("counterpoints"))]
        points += [("Assumes", str(text)) for text in as_list(row.get("assumptions"))]
        yield Statement(f"{seat}_arg_{number}", "", str(row.get("claim") or ""), tuple(points))


def _opening_part(part: str, content: Mapping[str, Any]) -> dict[str, Any]:
    argument = {"claim": content.get("claim", ""), "counterpoints": [content.get("but", "")]}
    return {"arguments": [*({} for _ in range(part_number(part, 20) - 1)), argument]}


def _examination(seat: str, content: Mapping[str, Any], _: Questions) -> Iterable[Statement]:
    for target, row in in_natural_order(content):
        body = as_object(row)
        word, text = spoken(str(body.get("challenge_type") or "")), str(body.get("reasoning") or "")
        yield Statement(f"{seat.upper()} -> {target}", word, text)


def _closing(seat: str, content: Mapping[str, Any], _: Questions) -> Iterable[Statement]:
    for argument, row in in_natural_order(content.get("refined_claims")):
        body = as_object(row)
        confidence = None if body.get("status") == "withdrawn" else as_number(body.get("confidence_adjusted"))
        points = (("Confidence now", f"{confidence:.2f}"),) if confidence is not None else ()
        yield Statement(argument, str(body.get("status") or ""), str(body.get("refinement") or ""), points)
    for row in objects_in(content.get("concessions")):
        yield Statement(f"{seat.upper()} -> {row.get('target')}", "accepts", str(row.get("accepted") or ""))
    if content.get("final_stance"):
        yield Statement("Final stance", str(content.get("conviction_change") or ""), str(content["final_stance"]))


def _closing_part(part: str, content: Mapping[str, Any]) -> dict[str, Any]:
    if part == "stance":
        return dict(content)
    return {"refined_claims": {part: {"refinement": content.get("my_point") or content.get("accepted", "")}}}


def _judging(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    for argument, row in in_natural_order(content.get("arguments")):
        body = as_object(row)
        scores = scores_in(body)
        points = (("", scores),) if scores else ()
        yield Statement(argument, str(body.get("standing") or ""), str(body.get("reason") or ""), points)
    for key, title in SYNTHESIS:
        if content.get(key):
            yield Statement(title, "", str(content[key]), overall=True)


def _judging_part(part: str, content: Mapping[str, Any]) -> dict[str, Any]:
    return dict(content) if part == "overall" else {"arguments": {part: {"reason": content.get("verdict", "")}}}


TURNS = (
    TurnKind("market_opening", _opening, _opening_part, lambda row: ("argument", row.mark)),
    TurnKind(
        "market_examination",
        _examination,
        lambda part, content: {part: {"reasoning": content.get("reply", "")}},
        lambda row: ("response", target_of(row)),
    ),
    TurnKind(
        "market_closing",
        _closing,
        _closing_part,
        lambda row: finding_place(row) if closing_place(row)[0] == "other" else closing_place(row),
        closing=("refined_claims", "conviction_change"),
    ),
    TurnKind("market_judging", _judging, _judging_part, finding_place, concludes=True),
)
