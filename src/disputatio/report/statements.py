"""What a seat said, as statements: one for each argument, response, answer or finding.

Every surface shows turns through this one view, whole ones and ones that are still being written: whatever a
content lacks is left out. The content of a form that is not known here is shown key by key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from disputatio.formats.turns.monologue import HEADINGS
from disputatio.report.amounts import spoken
from disputatio.report.citations import CitationReading
from disputatio.report.custom_format import OWN_VIEWS
from disputatio.report.market import MARKET_VIEWS, market_part
from disputatio.report.match import MATCH_VIEWS
from disputatio.report.review_views import REVIEW_VIEWS, review_part
from disputatio.report.statement import Questions, Statement, any_content, natural, text_of

_View: TypeAlias = Callable[[str, Mapping[str, Any], Questions], Iterable[Statement]]


def statements(
    form: str,
    seat: str,
    content: Mapping[str, Any],
    questions: Questions | None = None,
    citations: Sequence[CitationReading] = (),
    unstated: Sequence[tuple[str, tuple[str, ...]]] = (),
) -> tuple[Statement, ...]:
    """What ``seat`` says in ``content``, which may be incomplete.

    Args:
        form: the name of the form, as the record keeps it.
        seat: who speaks.
        content: the turn as JSON.
        questions: the questions put earlier, so that answers can show what they answer.
        citations: the checked citations of the turn; each stands with the argument it supports or answers.
        unstated: the figures that stand in no source, by the argument they are about.
    """
    view = _VIEWS.get(form)
    shown = tuple(view(seat, content, questions or {})) if view else ()
    # A form of another format may carry a known name; its content is shown all the same.
    said = _with_citations(shown or tuple(any_content(content)), citations)
    loose = {about: ", ".join(figures) for about, figures in unstated if figures}
    marked = [
        replace(row, points=(*row.points, ("In no source", figures))) if (figures := loose.get(_about(row))) else row
        for row in said
    ]
    return tuple(marked)


def _about(row: Statement) -> str:
    """The argument that a statement supports or answers."""
    return row.mark.rpartition(" -> ")[2]


def _with_citations(said: tuple[Statement, ...], citations: Sequence[CitationReading]) -> tuple[Statement, ...]:
    if not citations:
        return said
    marks = {_about(row) for row in said}
    cited: dict[str, list[CitationReading]] = {}
    for row in citations:
        cited.setdefault(row.about, []).append(row)
    placed = [replace(row, citations=tuple(cited.get(_about(row), ()))) for row in said]
    lost = [Statement(about, citations=tuple(rows)) for about, rows in cited.items() if about not in marks]
    return (*placed, *lost)


def whole_of_part(form: str, part: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """The content of one part of a turn as if it were the whole turn, with the other parts missing."""
    whole = review_part(form, part, content)
    whole = market_part(form, part, content) if whole is None else whole
    if whole is not None:
        return whole
    if form == "opening":
        number = int(part.rpartition("-")[2]) if part.rpartition("-")[2].isdecimal() else 1
        return {"arguments": [*({} for _ in range(min(number, 100) - 1)), content]}
    if form == "cross_examination":
        return {part: content}
    if form == "closing" and part != "position":
        return {"answers": {part: content.get("answer", "")}}
    if form == "adjudication" and part != "overall":
        return {"arguments": {part: content}}
    if form == "position":
        stance = next((text for key, text in content.items() if key != "my_vote"), "")
        return {"stance": stance, "rationale": content.get("my_vote", "")}
    if form == "summing":
        return {part: content.get("text", "")}
    return dict(content)


def questions_in(form: str, content: Mapping[str, Any]) -> dict[str, str]:
    """The follow-up questions that a turn puts, by the ids that the rules give them."""
    if form != "cross_examination":
        return {}
    return {
        f"{target}.Q{number}": text
        for target, row in content.items()
        for number, text in enumerate(_rows(_object(row).get("questions")), start=1)
        if isinstance(text, str)
    }


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _rows(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _keyed(value: Any) -> list[tuple[str, Any]]:
    """The rows of an object in the order of their ids; the record keeps keys in another."""
    return sorted(_object(value).items(), key=lambda row: natural(row[0]))


def _opening(seat: str, content: Mapping[str, Any], _: Questions) -> Iterable[Statement]:
    for number, row in enumerate(_rows(content.get("arguments")), start=1):
        argument = _object(row)
        points = (("", text_of(argument.get("reasoning"))), ("Evidence", text_of(argument.get("evidence"))))
        if argument:
            yield Statement(f"{seat.upper()}-{number}", "", text_of(argument.get("claim")), _present(points))


def _present(points: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((label, text) for label, text in points if text)


def _cross_examination(seat: str, content: Mapping[str, Any], _: Questions) -> Iterable[Statement]:
    for target, row in _keyed(content):
        response = _object(row)
        asks = [(f"Q{number}", text_of(text)) for number, text in enumerate(_rows(response.get("questions")), start=1)]
        yield Statement(
            f"{seat.upper()} -> {target}",
            text_of(response.get("response")),
            text_of(response.get("reasoning")),
            _present(asks),
        )


def _closing(seat: str, content: Mapping[str, Any], questions: Questions) -> Iterable[Statement]:
    for question, text in _keyed(content.get("answers")):
        yield Statement(question, "answer", text_of(text), context=questions.get(question, ""))
    for target, text in _keyed(content.get("concessions")):
        yield Statement(f"{seat.upper()} -> {target}", "accepts", text_of(text))
    for argument, row in _keyed(content.get("own_arguments")):
        held = _object(row)
        yield Statement(argument, text_of(held.get("status")), text_of(held.get("because")))
    if content.get("final_position"):
        yield Statement("Final position", spoken(text_of(content.get("shift"))), text_of(content["final_position"]))


def _adjudication(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    for argument, row in _keyed(content.get("arguments")):
        finding = _object(row)
        scores = [f"{spoken(key)} {value}" for key, value in finding.items() if isinstance(value, int)]
        fallacies = [
            (spoken(text_of(found.get("fallacy"))).capitalize(), f'"{text_of(found.get("words"))}"')
            for found in map(_object, _rows(finding.get("fallacies")))
            if found.get("words")
        ]
        grounds = ", ".join(text_of(row) for row in _rows(finding.get("rests_on")))
        points = (("", ", ".join(scores)), ("Rests on", grounds), *_marks(finding), *fallacies, *_no_credit(finding))
        yield Statement(argument, text_of(finding.get("standing")), text_of(finding.get("reason")), _present(points))
    if content.get("key_insight"):
        yield Statement("Key insight", "", text_of(content["key_insight"]), overall=True)
    unresolved = [text_of(row) for row in _rows(content.get("unresolved_questions"))]
    if unresolved:
        points = tuple((f"{number}.", text) for number, text in enumerate(unresolved, start=1))
        yield Statement("Unresolved", "", "", points, overall=True)
    if content.get("recommendation"):
        yield Statement("Recommendation", "", text_of(content["recommendation"]), overall=True)


def _marks(finding: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """How far each answer meets its question, with the words that show it."""
    for answer, row in _keyed(finding.get("answers")):
        marked = _object(row)
        yield f"{answer} {spoken(text_of(marked.get('mark')))}", f'"{text_of(marked.get("words"))}"'


def _no_credit(finding: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """New arguments and cross-references, which earn nothing."""
    for found in map(_object, _rows(finding.get("new_arguments"))):
        yield f"New argument of the {text_of(found.get('said_by'))}", f'"{text_of(found.get("words"))}"'
    for words in _rows(finding.get("cross_references")):
        yield "Leans on another argument", f'"{text_of(words)}"'


def _monologue(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    yield Statement("", "", text_of(content.get("speech")))


def _transcript(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    for row in map(_object, _rows(content.get("claims"))):
        by = ", ".join(text_of(name) for name in _rows(row.get("referred_to_by")))
        yield Statement(text_of(row.get("id")), "", text_of(row.get("text")), _present([("Referred to by", by)]))


def _summing(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    for key, title in HEADINGS.items():
        if content.get(key):
            yield Statement(title, "", text_of(content[key]), overall=True)


def _position(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    points = (("Rationale", text_of(content.get("rationale"))), ("Vote", text_of(content.get("vote"))))
    if content.get("stance") or content.get("rationale"):
        yield Statement("", "", text_of(content.get("stance")), _present(points))


_VIEWS: dict[str, _View] = {
    "opening": _opening,
    "cross_examination": _cross_examination,
    "closing": _closing,
    "adjudication": _adjudication,
    "monologue": _monologue,
    "summing": _summing,
    "position": _position,
    "transcript": _transcript,
    **REVIEW_VIEWS,
    **MATCH_VIEWS,
    **OWN_VIEWS,
    **MARKET_VIEWS,
}
