"""The turns of a review as statements, and the numbers of their arguments, which the record leaves to the rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from disputatio.report.amounts import spoken
from disputatio.report.statement import Questions, Statement

_POSITION = re.compile(r"/position-(\d+)/")
_ROUND = re.compile(r"-round-(\d+)/")
_STEMS = {"proposition": "PROP", "criticism": "CRIT"}


def with_numbers(path: str, form: str, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """``content`` with the number of each argument, where it is a proposition or a critique.

    Args:
        path: where the turn was asked for, which tells its round and position.
        form: the name of its form.
        content: the turn as the record keeps it.
    """
    arguments = content.get("arguments")
    if form not in _STEMS or not isinstance(arguments, list | tuple):
        return content
    # Every report passes through here; the modules of a review are for those of one.
    from disputatio.formats.review_round import numbers_from, prefix_of

    position, number = _POSITION.search(path), _ROUND.search(path)
    prefix = prefix_of(_STEMS[form], int(position[1]) if position else 1)
    before = numbers_from(int(number[1]) if number else 1)
    # A row that holds nothing stands for one that a fork left out.
    named = [
        {**_object(row), "id": f"{prefix}-{place}"} if row else {}
        for place, row in enumerate(arguments, start=before + 1)
    ]
    return {**content, "arguments": named}


def _framing(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    if content.get("thesis"):
        yield Statement("Thesis", "", _text(content["thesis"]))
    if content.get("scope"):
        yield Statement("Scope", "", _text(content["scope"]))
    criteria = _numbered(_texts(content.get("criteria")))
    if criteria:
        yield Statement("Criteria", points=criteria)
    key = [f"{_text(row.get('source'))}: {_text(row.get('why'))}" for row in _objects(content.get("key_evidence"))]
    wanted = _numbered([*key, *_texts(content.get("evidence_wanted"))])
    if wanted:
        yield Statement("Key evidence" if key else "To be known", points=wanted)
    for number, text in enumerate(_texts(content.get("positions")), start=1):
        yield Statement(f"POSITION-{number}", "", text)


def _proposition(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    if content.get("thesis"):
        yield Statement("Thesis", "", _text(content["thesis"]))
    for number, row in enumerate(_objects(content.get("arguments")), start=1):
        points = (
            ("", _text(row.get("reasoning"))),
            ("Evidence", _text(row.get("evidence"))),
            ("Rests on", _text(row.get("rests_on"))),
        )
        if row:
            yield Statement(_text(row.get("id")) or f"PROP-{number}", "", _text(row.get("claim")), _present(points))
    for row in _objects(content.get("objections")):
        if row:
            answer = _present((("Answer", _text(row.get("answer"))),))
            yield Statement("Expected objection", "", _text(row.get("objection")), answer)


def _criticism(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    if content.get("thesis"):
        yield Statement("Thesis", "", _text(content["thesis"]))
    for number, row in enumerate(_objects(content.get("arguments")), start=1):
        points = (("", _text(row.get("reasoning"))), ("Rests on", _text(row.get("rests_on"))))
        aimed = f" against {_text(row.get('target'))}" if row.get("target") else ""
        if row:
            mark = _text(row.get("id")) or f"CRIT-{number}"
            word = f"{spoken(_text(row.get('attack')))}{aimed}"
            yield Statement(mark, word, _text(row.get("claim")), _present(points))
    if content.get("challenge_strength") is not None:
        yield Statement("Own rating", "", f"{_text(content['challenge_strength'])} of 10, by the critic itself")


def _rebuttal(seat: str, content: Mapping[str, Any], _: Questions) -> Iterable[Statement]:
    for target, row in _keyed(content.get("answers")):
        points = _present((("Rests on", _text(row.get("rests_on"))),))
        mark = f"{seat.upper()} -> {target}"
        yield Statement(mark, _text(row.get("response")), _text(row.get("reasoning")), points)
    if content.get("thesis"):
        yield Statement("Thesis after the critique", "", _text(content["thesis"]))


def _moderation(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    points = dict(_keyed(content.get("points")))
    for name, row in _keyed(content.get("findings")):
        scores = ", ".join(f"{spoken(key)} {value}" for key, value in row.items() if isinstance(value, int))
        point = points.get(name, {})
        because = _text(point.get("because"))
        told = _present((("", scores), ("Because", because if because != _text(row.get("reason")) else "")))
        yield Statement(name, spoken(_text(point.get("outcome"))), _text(row.get("reason")), told)
    for name, row in _keyed(content.get("positions")):
        yield Statement(name, f"support {_text(row.get('support'))} of 10", _text(row.get("because")))
    if content.get("synthesis"):
        confidence = f"{_text(content.get('confidence'))} confidence" if content.get("confidence") else ""
        yield Statement("Synthesis", confidence, _text(content["synthesis"]), overall=True)
    uncertain = _numbered(_texts(content.get("uncertainties")))
    if uncertain:
        yield Statement("Uncertain", points=uncertain, overall=True)
    if content.get("another_round_would_help"):
        yield Statement("Another round would help", "", _text(content["another_round_would_help"]), overall=True)


REVIEW_VIEWS = {
    "framing": _framing,
    "proposition": _proposition,
    "criticism": _criticism,
    "rebuttal": _rebuttal,
    "moderation": _moderation,
}


def review_part(form: str, part: str, content: Mapping[str, Any]) -> dict[str, Any] | None:
    """A piece of a turn as if it were the whole turn; None where it is no turn of a review."""
    number = part.rpartition("-")[2]
    if form in _STEMS and part.startswith("argument-") and number.isdecimal():
        row = {_WHOLE_NAMES.get(key, key): value for key, value in content.items()}
        return {"arguments": [*({} for _ in range(min(int(number), 100) - 1)), row]}
    if form in _STEMS and part == "thesis":
        return {"thesis": content.get("conclusion", "")}
    if form == "rebuttal":
        replied = f"{_text(content.get('reply'))} {_text(content.get('new_reason'))}".strip()
        whole: dict[str, Any] = {"thesis": content.get("conclusion", "")} if part == "thesis" else {}
        return whole or {"answers": {part: {"reasoning": replied}}}
    if form == "moderation" and part != "overall":
        return {"findings": {part: {"reason": content.get("verdict") or content.get("remark", "")}}}
    if form == "moderation":
        return {**content, "uncertainties": [content["uncertainty"]] if content.get("uncertainty") else []}
    if form == "framing":
        return {
            "thesis": content.get("it_claims", ""),
            "scope": content.get("it_is_about", ""),
            "criteria": [value for key, value in content.items() if key.startswith("criterion")],
            "positions": [value for key, value in content.items() if key.startswith("option")],
        }
    return None


_WHOLE_NAMES = {
    "benefit": "claim",
    "criticism": "claim",
    "because": "reasoning",
    "for_example": "evidence",
}


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _objects(value: Any) -> Sequence[Mapping[str, Any]]:
    return [_object(row) for row in value] if isinstance(value, list | tuple) else []


def _texts(value: Any) -> list[str]:
    return [row for row in value if isinstance(row, str)] if isinstance(value, list | tuple) else []


def _keyed(value: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """The rows of an object, arguments before criticisms before answers; the record keeps keys in another order."""
    return sorted(((key, _object(row)) for key, row in _object(value).items()), key=lambda row: _place(row[0]))


def _place(name: str) -> tuple[int, int, str, int]:
    found = re.fullmatch(r"([A-Z]+?)(\d*)-(\d+)", name)
    if found is None:
        return (9, 0, name, 0)
    stems = {"PROP": 0, "CRIT": 1, "REB": 2}
    return (stems.get(found[1], 3), int(found[2] or 1), "", int(found[3]))


def _numbered(texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((f"{number}.", text) for number, text in enumerate(texts, start=1))


def _present(points: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((label, text) for label, text in points if text)
