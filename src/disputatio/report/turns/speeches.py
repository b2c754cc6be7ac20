"""Turns that are one speech or one text: of free-form debates, panels, competitions, own formats and transcripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from disputatio.formats.turns.monologue import HEADINGS
from disputatio.report.amounts import seat_name, spoken
from disputatio.report.json_values import as_list, as_object, objects_in, text_of
from disputatio.report.turns.statement import Questions, Statement, any_content, enumerated, present, scores_in
from disputatio.report.turns.turn_kind import TurnKind

_LONG = 40


def _speech(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    yield Statement("", "", text_of(content.get("speech")))


def _summing(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    for key, title in HEADINGS.items():
        if content.get(key):
            yield Statement(title, "", text_of(content[key]), overall=True)


def _position(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    points = present(("Rationale", text_of(content.get("rationale"))), ("Vote", text_of(content.get("vote"))))
    if content.get("stance") or content.get("rationale"):
        yield Statement("", "", text_of(content.get("stance")), points)


def _position_part(_: str, content: Mapping[str, Any]) -> dict[str, Any]:
    stance = next((text for key, text in content.items() if key != "my_vote"), "")
    return {"stance": stance, "rationale": content.get("my_vote", "")}


def _transcript(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    for row in map(as_object, as_list(content.get("claims"))):
        by = ", ".join(text_of(name) for name in as_list(row.get("referred_to_by")))
        yield Statement(text_of(row.get("id")), "", text_of(row.get("text")), present(("Referred to by", by)))


def _own_answer(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    """A single text as it is, else what is long first; the record does not keep the order."""
    if len(content) == 1 and isinstance(text := next(iter(content.values())), str):
        yield Statement("", "", text)
        return
    rows = sorted(content.items(), key=lambda row: (not (isinstance(row[1], str) and len(row[1]) > _LONG), row[0]))
    yield from any_content(dict(rows))


def _questions(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    if points := present(*enumerated(map(text_of, as_list(content.get("questions"))))):
        yield Statement(f"To {seat_name(text_of(content.get('answerer')))}", points=points)


def _direction(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    word = f"bids {content['bid']}" if isinstance(content.get("bid"), int) else ""
    mark = f"To the team, {seat_name(text_of(content.get('speaker')))} next"
    yield Statement(mark, word, text_of(content.get("direction")))


def _scoring(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    fouls = [
        (spoken(text_of(row.get("violation"))).capitalize(), f'"{text_of(row.get("words"))}"')
        for row in objects_in(content.get("violations"))
    ]
    yield Statement("", "", text_of(content.get("comment")), (*present(("", scores_in(content))), *fouls))


def _summation(_: str, content: Mapping[str, Any], __: Questions) -> Iterable[Statement]:
    for label, text in summary_points(content):
        yield Statement(label.capitalize(), "", text)


def summary_points(points: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """What the judge says of a stage, in the order in which it was asked; the record keeps keys in another."""
    # Only a competition needs the modules of its format.
    from disputatio.formats.turns.scoring import FINAL_POINTS, STAGE_POINTS

    known = [key for key in FINAL_POINTS + STAGE_POINTS if key in points]
    return tuple((spoken(key), str(points[key])) for key in dict.fromkeys((*known, *sorted(points))))


FREEFORM = (
    TurnKind("monologue", _speech, word_limit="speech_words"),
    TurnKind(
        "summing",
        _summing,
        lambda part, content: {part: content.get("text", "")},
        noun="heading",
        expected=lambda _, __: len(HEADINGS),
        concludes=True,
    ),
)
PANEL = (TurnKind("position", _position, _position_part, noun="position"),)
COMPETITION = (
    TurnKind("speech", _speech, heard_by="all"),
    TurnKind("questions", _questions, heard_by="all"),
    TurnKind(
        "direction",
        _direction,
        activity="directs the team",
        heard_by="team",
        held_back="has told its team who speaks next",
    ),
    TurnKind(
        "scoring",
        _scoring,
        activity="scores the speech",
        heard_by="judge",
        held_back="has noted a score; the scores are told at the end",
    ),
    TurnKind(
        "summation",
        _summation,
        activity="sums up",
        heard_by="judge",
        held_back="has summed up; that is told at the end",
    ),
)
IMPORTED = (
    TurnKind(
        "transcript",
        _transcript,
        place=lambda row: ("claim", row.mark) if row.mark else ("other", ""),
        spoken_at="at",
    ),
)
CUSTOM = (TurnKind("own_answer", _own_answer),)
