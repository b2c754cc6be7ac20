"""A match on screen: what is told is on record and fits any terminal, and players are told only what they hear."""

from __future__ import annotations

import asyncio
import io
import json
import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from rich.console import Console
from staged_debates import Staged, hold
from test_views import pipe, shown, terminal, written

from disputatio._terminal import LiveView, PlainView
from disputatio._terminal.match_narration import MatchNarration
from disputatio._terminal.paint import STYLES
from disputatio._terminal.progress import Progress
from disputatio._terminal.views import region_lines
from disputatio._terminal.visibility import Visibility
from disputatio.formats.registry import find_format
from disputatio.motion import count_words
from disputatio.participants.call import Call
from disputatio.record.chain import Sealed
from disputatio.record.events import PenaltyGiven, ScoreGiven, TurnAsked, TurnTaken
from disputatio.report.text_spans import Role, line_columns, plain

pytestmark = pytest.mark.slow

WORDS = "The second tram line carries more people than six lanes of cars, and everybody on it breathes. "


def spoken(_seat: str, call: Call) -> dict[str, Any]:
    """Marked words for everything, and a foul here and there."""
    task = call.segments[-1].text
    found = re.search(r"You are (pro|con)_(\d)", task, re.IGNORECASE)
    who = f"{found[1]}{found[2]}".lower() if found else "judge"
    properties: Any = call.schema["properties"] if call.schema else {}
    if "speech" in properties:
        over = 14 if who == "con1" else 1
        return {"speech": f"speech-by-{who} {WORDS * over}{'Why?' if 'answer every question' in task else ''}"}
    if "questions" in properties:
        return {"answerer": properties["answerer"]["enum"][-1], "questions": [f"Is it so, asks {who}?"] * 3}
    if "direction" in properties:
        return {"speaker": properties["speaker"]["enum"][-1], "direction": f"direction-by-{who}, go on."}
    if "logic" in properties:
        numbers = {key: 7 for key in properties if key not in {"comment", "violations"}}
        return {"comment": "comment-by-judge, well said.", "violations": [], **numbers}
    return {key: f"summary-by-judge: {key}." for key in properties}


@cache
def match() -> Staged:
    seats = tuple(f"{seat}=ollama:model" for seat in find_format("competition").seats)
    rules = ("rules.free_speeches=2", "rules.opening_words=100")
    return asyncio.run(hold("competition", spoken, seats=seats, set=rules))


def told(view: LiveView | PlainView, visibility: Visibility | None = None) -> None:
    """Show the whole match to ``view``."""
    if visibility is not None:
        view.restrict(visibility)
    with view:
        for row in match().events:
            view.on_event(row.event(), row)


def events(kind: type) -> list[Any]:
    return [event for row in match().events if isinstance(event := row.event(), kind)]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_plain_lines_fit_and_hold_no_control_code(width: int) -> None:
    console = pipe(width)
    told(PlainView(console))
    text = written(console)
    assert not [char for char in text if unicodedata.category(char) == "Cc" and char != "\n"]
    assert max(map(len, text.splitlines())) <= width


def test_every_speech_has_its_words_its_score_and_what_it_cost() -> None:
    console = pipe(100)
    told(PlainView(console))
    text = written(console)
    squeezed = " ".join(text.split())
    scores, penalties = events(ScoreGiven), events(PenaltyGiven)
    assert len(scores) == len(re.findall(r"^    S\d+ ", text, re.MULTILINE))
    assert penalties
    for score in scores:
        body = score.body
        assert f"{body['words']}/{body['limit']} words" in text
        assert f"= {body['score']:.2f}" in text
    for penalty in penalties:
        assert f"! {penalty.body['who'].upper()} {penalty.body['points']} for" in squeezed
    assert text.count("OVERTIME") == sum(row.body["words"] > row.body["limit"] for row in scores) > 0
    last = scores[-1].body["totals"]
    assert f"PRO {last['pro']:.2f} CON {last['con']:.2f}" in squeezed


@pytest.mark.parametrize("width", [80, 200])
def test_the_live_view_leaves_what_the_plain_one_prints(width: int) -> None:
    live, lines = terminal(width), pipe(width)
    told(LiveView(live))
    told(PlainView(lines))
    left = shown(live).replace("▎ ", "| ")
    assert [row.strip() for row in left.splitlines() if row.strip()] == [
        row.strip() for row in written(lines).splitlines() if row.strip()
    ]


def while_it_is_written(path: str, text: str, visibility: Visibility | None = None) -> tuple[Progress, MatchNarration]:
    """The match at the moment when so much of the turn at ``path`` is there."""
    progress = Progress()
    for row in match().events:
        event = row.event()
        progress.add(event, 0.0)
        if isinstance(event, TurnAsked) and event.path == path:
            break
    progress.add_text(path, "", text)
    assert progress.match is not None
    return progress, MatchNarration(progress.match, visibility or Visibility(), fancy=True)


def region(path: str, text: str, width: int, height: int, visibility: Visibility | None = None) -> list[str]:
    progress, telling = while_it_is_written(path, text, visibility)
    lines = region_lines(progress, 9.0, width, height, began=0.0, fancy=True, match=telling, visibility=visibility)
    assert max(line_columns(line) for line in lines) <= width
    assert len(lines) < height
    return [plain(line) for line in lines]


@pytest.mark.parametrize(("width", "height"), [(200, 50), (120, 40), (80, 24), (40, 12), (30, 8)])
def test_the_region_keeps_its_shape(width: int, height: int) -> None:
    (path,) = [row.path for row in events(TurnTaken) if (row.seat, row.phase) == ("con_1", "opening")]
    (content,) = [json.dumps(row.content) for row in events(TurnTaken) if row.path == path]
    shapes = {len(region(path, content[:size], width, height)) for size in (0, 20, 200, len(content))}
    assert len(shapes) == 1


def test_the_clock_runs_with_the_words_and_says_when_it_is_over() -> None:
    (path,) = [row.path for row in events(TurnTaken) if (row.seat, row.phase) == ("con_1", "opening")]
    half = "speech-by-con1 " + WORDS * 3
    row = next(line for line in region(path, json.dumps({"speech": half}), 100, 30) if "Con 1" in line)
    words = count_words(half)
    assert f"{words} / 100 words  0:{words * 60 // 250:02d} / 0:24" in row
    assert "OVERTIME" in " ".join(region(path, json.dumps({"speech": WORDS * 14}), 100, 30))


HIDDEN: list[tuple[Sequence[str], tuple[str, ...]]] = [
    (["pro_2"], ("direction-by-con1", "comment-by-judge", "summary-by-judge", "= 7.00")),
    (["con_4", "con_1"], ("direction-by-pro1", "comment-by-judge", "summary-by-judge")),
    (["pro_1", "con_1"], ("direction-by", "comment-by-judge", "summary-by-judge")),
    (["judge"], ("direction-by",)),
    (["judge", "pro_1"], ("direction-by", "comment-by-judge", "summary-by-judge", "= 7.00")),
]


@pytest.mark.parametrize(("seats", "hidden"), HIDDEN)
def test_players_are_told_what_all_of_them_may_hear(seats: Sequence[str], hidden: tuple[str, ...]) -> None:
    console = pipe(100)
    told(PlainView(console), Visibility("competition", frozenset(seats)))
    text = written(console)
    assert [word for word in hidden if word in text] == []
    assert "speech-by-pro1" in text
    assert "speech-by-con4" in text
    if list(seats) == ["pro_2"]:
        assert "direction-by-pro1" in text
    if list(seats) == ["judge"]:
        assert "comment-by-judge" in text


def test_private_drafts_are_not_shown() -> None:
    path = next(row.path for row in events(TurnTaken) if row.form == "direction" and row.seat == "con_1")
    text = json.dumps({"speaker": "con_2", "direction": "direction-by-con1"})
    assert "direction-by-con1" in " ".join(region(path, text, 80, 24))
    player = Visibility("competition", frozenset({"pro_2"}))
    assert "direction-by-con1" not in " ".join(region(path, text, 80, 24, player))


def test_simultaneous_turns_stay_hidden() -> None:
    for form in ("structured", "review", "panel", "freeform"):
        visibility = Visibility(form, frozenset({"pro"}))
        assert visibility.shows_turn("pro", "opening")
        assert not visibility.shows_turn("con", "opening")
        assert not visibility.shows_scores


def test_events_while_typing_are_shown_afterwards() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80, height=24, _environ={})
    rows: list[Sealed] = list(match().events)
    with LiveView(console) as view:
        half = len(rows) // 2
        for row in rows[:half]:
            view.on_event(row.event(), row)
        with view.paused():
            before = written(console)
            for row in rows[half:]:
                view.on_event(row.event(), row)
            assert written(console) == before
    whole = pipe(80)
    told(PlainView(whole))
    left = [row.strip() for row in shown(console).replace("▎ ", "| ").splitlines() if row.strip()]
    assert left == [row.strip() for row in written(whole).splitlines() if row.strip()]


def test_the_colours_are_those_of_the_protocol() -> None:
    """Blue for PRO, red for CON, yellow for the judge (the debate competition protocol, terminal display)."""
    colours = [STYLES[role].removeprefix("bold ") for role in (Role.PRO, Role.CON, Role.JUDGE)]
    assert colours == ["blue", "red", "yellow"]
