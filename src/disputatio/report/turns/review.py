"""The turns of a review: framing, proposition, critique, rebuttal and moderation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from disputatio.report.amounts import spoken
from disputatio.report.json_values import as_list, as_object
from disputatio.report.turns.statement import (
    Questions,
    Statement,
    enumerated,
    part_number,
    present,
    scores_in,
)
from disputatio.report.turns.structured import response_place
from disputatio.report.turns.turn_kind import Place, TurnKind

_POSITION = re.compile(r"/position-(\d+)/")
_ROUND = re.compile(r"-round-(\d+)/")
_NUMBERED = re.compile(r"(?:PROP|CRIT|REB)\d*-\d+")


def _numbers(stem: str, path: str, count: int) -> list[str]:
    """The ids of arguments. The path of a turn gives its position and its round."""
    # Only a review needs the modules of its format.
    from disputatio.formats.review_round import numbers_from, prefix_of

    position, number = _POSITION.search(path), _ROUND.search(path)
    prefix = prefix_of(stem, int(position[1]) if position else 1)
    before = numbers_from(int(number[1]) if number else 1)
    return [f"{prefix}-{place}" for place in range(before + 1, before + count + 1)]


def _framing(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    if content.get("thesis"):
        yield Statement("Thesis", "", _text(content["thesis"]))
    if content.get("scope"):
        yield Statement("Scope", "", _text(content["scope"]))
    criteria = enumerated(_texts(content.get("criteria")))
    if criteria:
        yield Statement("Criteria", points=criteria)
    key = [f"{_text(row.get('source'))}: {_text(row.get('why'))}" for row in _rows(content.get("key_evidence"))]
    evidence = enumerated([*key, *_texts(content.get("evidence_wanted"))])
    if evidence:
        yield Statement("Key evidence" if key else "To be known", points=evidence)
    for number, text in enumerate(_texts(content.get("positions")), start=1):
        yield Statement(f"POSITION-{number}", "", text)


def _proposition(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    if content.get("thesis"):
        yield Statement("Thesis", "", _text(content["thesis"]))
    for number, row in enumerate(_rows(content.get("arguments")), start=1):
        points = present(
            ("", _text(row.get("reasoning"))),
            ("Evidence", _text(row.get("evidence"))),
            ("Rests on", _text(row.get("rests_on"))),
        )
        if row:
            yield Statement(_text(row.get("id")) or f"PROP-{number}", "", _text(row.get("claim")), points)
    for row in _rows(content.get("objections")):
        if row:
            answer = present(("Answer", _text(row.get("answer"))))
            yield Statement("Expected objection", "", _text(row.get("objection")), answer)


def _criticism(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    if content.get("thesis"):
        yield Statement("Thesis", "", _text(content["thesis"]))
    for number, row in enumerate(_rows(content.get("arguments")), start=1):
        points = present(("", _text(row.get("reasoning"))), ("Rests on", _text(row.get("rests_on"))))
        aimed = f" against {_text(row.get('target'))}" if row.get("target") else ""
        if row:
            mark = _text(row.get("id")) or f"CRIT-{number}"
            word = f"{spoken(_text(row.get('attack')))}{aimed}"
            yield Statement(mark, word, _text(row.get("claim")), points)
    if content.get("challenge_strength") is not None:
        yield Statement("Own rating", "", f"{_text(content['challenge_strength'])} of 10, by the critic itself")


def _rebuttal(seat: str, content: Mapping[str, Any], _: Questions) -> Iterable[Statement]:
    for target, row in _keyed(content.get("answers")):
        points = present(("Rests on", _text(row.get("rests_on"))))
        mark = f"{seat.upper()} -> {target}"
        yield Statement(mark, _text(row.get("response")), _text(row.get("reasoning")), points)
    if content.get("thesis"):
        yield Statement("Thesis after the critique", "", _text(content["thesis"]))


def _moderation(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    points = dict(_keyed(content.get("points")))
    for name, row in _keyed(content.get("findings")):
        point = points.get(name, {})
        because = _text(point.get("because"))
        others = present(("", scores_in(row)), ("Because", because if because != _text(row.get("reason")) else ""))
        yield Statement(name, spoken(_text(point.get("outcome"))), _text(row.get("reason")), others)
    for name, row in _keyed(content.get("positions")):
        yield Statement(name, f"support {_text(row.get('support'))} of 10", _text(row.get("because")))
    if content.get("synthesis"):
        confidence = f"{_text(content.get('confidence'))} confidence" if content.get("confidence") else ""
        yield Statement("Synthesis", confidence, _text(content["synthesis"]), overall=True)
    uncertain = enumerated(_texts(content.get("uncertainties")))
    if uncertain:
        yield Statement("Uncertain", points=uncertain, overall=True)
    if content.get("another_round_would_help"):
        yield Statement("Another round would help", "", _text(content["another_round_would_help"]), overall=True)


def _argument_part(part: str, content: Mapping[str, Any]) -> dict[str, Any]:
    if part == "thesis":
        return {"thesis": content.get("conclusion", "")}
    if not part.startswith("argument-") or not part.rpartition("-")[2].isdecimal():
        return dict(content)
    row = {_WHOLE_NAMES.get(key, key): value for key, value in content.items()}
    return {"arguments": [*({} for _ in range(part_number(part, 100) - 1)), row]}


_WHOLE_NAMES = {"benefit": "claim", "criticism": "claim", "because": "reasoning", "for_example": "evidence"}


def _rebuttal_part(part: str, content: Mapping[str, Any]) -> dict[str, Any]:
    reply = f"{_text(content.get('reply'))} {_text(content.get('new_reason'))}".strip()
    return {"thesis": content.get("conclusion", "")} if part == "thesis" else {"answers": {part: {"reasoning": reply}}}


def _moderation_part(part: str, content: Mapping[str, Any]) -> dict[str, Any]:
    if part != "overall":
        return {"findings": {part: {"reason": content.get("verdict") or content.get("remark", "")}}}
    return {**content, "uncertainties": [content["uncertainty"]] if content.get("uncertainty") else []}


def _framing_part(_: str, content: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "thesis": content.get("it_claims", ""),
        "scope": content.get("it_is_about", ""),
        "criteria": [value for key, value in content.items() if key.startswith("criterion")],
        "positions": [value for key, value in content.items() if key.startswith("option")],
    }


def _numbered(kind: str) -> Callable[[Statement], Place]:
    """Where a statement with a number of the rules belongs: it is a ``kind`` of its own."""
    return lambda row: (kind, row.mark) if _NUMBERED.fullmatch(row.mark) else ("other", "")


TURNS = (
    TurnKind("framing", _framing, _framing_part),
    TurnKind(
        "proposition",
        _proposition,
        _argument_part,
        _numbered("argument"),
        noun="argument",
        expected=lambda heard, _: heard.rule("minimum_arguments"),
        struck_from="arguments",
        numbers=lambda path, _, count: _numbers("PROP", path, count),
    ),
    TurnKind(
        "criticism",
        _criticism,
        _argument_part,
        _numbered("argument"),
        noun="criticism",
        expected=lambda heard, _: heard.rule("minimum_arguments"),
        again="asked once more, the first critique was weak",
        again_note="the critique is weak: the critic is asked once more, with a stronger instruction",
        struck_from="arguments",
        numbers=lambda path, _, count: _numbers("CRIT", path, count),
    ),
    TurnKind(
        "rebuttal",
        _rebuttal,
        _rebuttal_part,
        response_place,
        noun="answer",
        expected=lambda heard, _: heard.made("criticism"),
        struck_from="answers",
        part_name=lambda _, about: about.replace("CRIT", "REB", 1),
    ),
    TurnKind(
        "moderation",
        _moderation,
        _moderation_part,
        _numbered("finding"),
        noun="finding",
        concludes=True,
    ),
)


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _rows(value: Any) -> list[Mapping[str, Any]]:
    """The rows of a list, those that are no objects as empty ones, so that the others keep their numbers."""
    return [as_object(row) for row in as_list(value)]


def _texts(value: Any) -> list[str]:
    return [row for row in as_list(value) if isinstance(row, str)]


def _keyed(value: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """The rows of an object, arguments before criticisms before answers; the record keeps keys in another order."""
    return sorted(((key, as_object(row)) for key, row in as_object(value).items()), key=lambda row: _order(row[0]))


def _order(name: str) -> tuple[int, int, str, int]:
    found = re.fullmatch(r"([A-Z]+?)(\d*)-(\d+)", name)
    if found is None:
        return (9, 0, name, 0)
    stems = {"PROP": 0, "CRIT": 1, "REB": 2}
    return (stems.get(found[1], 3), int(found[2] or 1), "", int(found[3]))
