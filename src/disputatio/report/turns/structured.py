"""The turns of a structured debate: openings, cross-examinations, closings and findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from disputatio.report.amounts import spoken
from disputatio.report.json_values import as_list, as_object, text_of
from disputatio.report.turns.statement import (
    Questions,
    Statement,
    enumerated,
    in_natural_order,
    part_number,
    present,
    scores_in,
    target_of,
)
from disputatio.report.turns.turn_kind import Place, TurnKind


def _opening(seat: str, content: Mapping[str, Any], _: Questions) -> Iterable[Statement]:
    for number, row in enumerate(as_list(content.get("arguments")), start=1):
        argument = as_object(row)
        points = present(("", text_of(argument.get("reasoning"))), ("Evidence", text_of(argument.get("evidence"))))
        if argument:
            yield Statement(f"{seat.upper()}-{number}", "", text_of(argument.get("claim")), points)


def _opening_part(part: str, content: Mapping[str, Any]) -> dict[str, Any]:
    return {"arguments": [*({} for _ in range(part_number(part, 100) - 1)), content]}


def _numbers(_: str, seat: str, count: int) -> list[str]:
    return [f"{seat.upper()}-{number}" for number in range(1, count + 1)]


def _cross_examination(seat: str, content: Mapping[str, Any], _: Questions) -> Iterable[Statement]:
    for target, row in in_natural_order(content):
        response = as_object(row)
        asks = [
            (f"Q{number}", text_of(text)) for number, text in enumerate(as_list(response.get("questions")), start=1)
        ]
        mark = f"{seat.upper()} -> {target}"
        yield Statement(mark, text_of(response.get("response")), text_of(response.get("reasoning")), present(*asks))


def _questions(content: Mapping[str, Any]) -> dict[str, str]:
    return {
        f"{target}.Q{number}": text
        for target, row in content.items()
        for number, text in enumerate(as_list(as_object(row).get("questions")), start=1)
        if isinstance(text, str)
    }


def _closing(seat: str, content: Mapping[str, Any], questions: Questions) -> Iterable[Statement]:
    for question, text in in_natural_order(content.get("answers")):
        yield Statement(question, "answer", text_of(text), context=questions.get(question, ""))
    for target, text in in_natural_order(content.get("concessions")):
        yield Statement(f"{seat.upper()} -> {target}", "accepts", text_of(text))
    for argument, row in in_natural_order(content.get("own_arguments")):
        state = as_object(row)
        yield Statement(argument, text_of(state.get("status")), text_of(state.get("because")))
    if content.get("final_position"):
        yield Statement("Final position", spoken(text_of(content.get("shift"))), text_of(content["final_position"]))


def _closing_part(part: str, content: Mapping[str, Any]) -> dict[str, Any]:
    return dict(content) if part == "position" else {"answers": {part: content.get("answer", "")}}


def response_place(row: Statement) -> Place:
    """Where a statement of a cross-examination or a rebuttal belongs: on the argument that it answers."""
    return ("response", target_of(row)) if " -> " in row.mark else ("other", "")


def closing_place(row: Statement) -> Place:
    """Where a statement of a closing belongs."""
    if row.word == "answer":
        return "answer", row.mark
    if row.word == "accepts":
        return "accepts", target_of(row)
    return ("hold", row.mark) if row.word in {"stands", "narrowed", "withdrawn"} else ("other", "")


def _adjudication(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    for argument, row in in_natural_order(content.get("arguments")):
        finding = as_object(row)
        fallacies = [
            (spoken(text_of(found.get("fallacy"))).capitalize(), f'"{text_of(found.get("words"))}"')
            for found in map(as_object, as_list(finding.get("fallacies")))
            if found.get("words")
        ]
        grounds = ", ".join(text_of(row) for row in as_list(finding.get("rests_on")))
        points = present(
            ("", scores_in(finding)), ("Rests on", grounds), *_marks(finding), *fallacies, *_no_credit(finding)
        )
        yield Statement(argument, text_of(finding.get("standing")), text_of(finding.get("reason")), points)
    if content.get("key_insight"):
        yield Statement("Key insight", "", text_of(content["key_insight"]), overall=True)
    if unresolved := enumerated(map(text_of, as_list(content.get("unresolved_questions")))):
        yield Statement("Unresolved", "", "", unresolved, overall=True)
    if content.get("recommendation"):
        yield Statement("Recommendation", "", text_of(content["recommendation"]), overall=True)


def _marks(finding: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """How far each answer meets its question, with the words that show it."""
    for answer, row in in_natural_order(finding.get("answers")):
        marked = as_object(row)
        yield f"{answer} {spoken(text_of(marked.get('mark')))}", f'"{text_of(marked.get("words"))}"'


def _no_credit(finding: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """New arguments and cross-references, which earn nothing."""
    for found in map(as_object, as_list(finding.get("new_arguments"))):
        yield f"New argument of the {text_of(found.get('said_by'))}", f'"{text_of(found.get("words"))}"'
    for words in as_list(finding.get("cross_references")):
        yield "Leans on another argument", f'"{text_of(words)}"'


def _adjudication_part(part: str, content: Mapping[str, Any]) -> dict[str, Any]:
    return dict(content) if part == "overall" else {"arguments": {part: content}}


def finding_place(row: Statement) -> Place:
    """Where a statement of a judge belongs: on an argument where it has a standing."""
    return ("finding", row.mark) if row.word else ("other", "")


TURNS = (
    TurnKind(
        "opening",
        _opening,
        _opening_part,
        lambda row: ("argument", row.mark),
        noun="argument",
        expected=lambda heard, _: heard.rule("minimum_arguments"),
        names_angles=True,
        struck_from="arguments",
        numbers=_numbers,
    ),
    TurnKind(
        "cross_examination",
        _cross_examination,
        lambda part, content: {part: content},
        response_place,
        _questions,
        noun="response",
        expected=lambda heard, seat: heard.made("opening", except_by=seat),
        struck_from="",
        part_name=lambda seat, about: f"{seat.upper()} on {about}",
    ),
    TurnKind(
        "closing",
        _closing,
        _closing_part,
        closing_place,
        noun="answer",
        expected=lambda heard, seat: sum(name.startswith(f"{seat.upper()}-") for name in heard.questions),
        closing=("own_arguments", "shift"),
    ),
    TurnKind(
        "adjudication",
        _adjudication,
        _adjudication_part,
        finding_place,
        noun="finding",
        expected=lambda heard, _: heard.made("opening"),
        concludes=True,
    ),
)
