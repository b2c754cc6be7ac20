"""The result of a match is on every surface, recounts from its export, and debaters write nothing out of its place."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import jsonschema_rs
import pytest

import disputatio
from disputatio.formats.registry import FORMATS
from disputatio.motion import count_words
from disputatio.record.memory import MemoryStore
from disputatio.report.columns import columns
from disputatio.report.json_export import export_schema

pytestmark = pytest.mark.slow

WILD = "<script>alert(1)</script> | # heading \x1b[31m **bold** "
LONG_SPEECH = WILD + "word " * 800 + "."
TOO_LONG = f"{count_words(LONG_SPEECH)}/750"
WEIGHTS = {"logic": "1/4", "persuasion": "1/4", "expression": "1/5", "teamwork": "3/20", "rule_compliance": "3/20"}


def script(ask: Any, path: Any, reasons: Any) -> Any:
    """Wild words everywhere; one counter-question, one speech that is too long, one score that is missing."""
    assert not reasons, "nothing is asked again in a match, wrong shapes apart"
    match ask.spec.name:
        case "speech":
            asks_back = path == "cross-examination/con_2"
            short = WILD + "word word " + ("Why?" if asks_back else ".")
            return {"speech": LONG_SPEECH if path == "closing/con_4" else short}
        case "questions":
            answerer = ask.spec.schema["properties"]["answerer"]["enum"][0]
            return {"answerer": answerer, "questions": [f"{WILD} so?"] * 3}
        case "direction":
            return {"speaker": ask.spec.schema["properties"]["speaker"]["enum"][-1], "direction": WILD}
        case "scoring":
            found = [{"violation": "off_topic", "words": "never said by anybody"}] if path.endswith("#3") else []
            scores = {key: 4 + (len(path) + place) % 4 for place, key in enumerate(WEIGHTS)}
            return {"comment": f"{WILD} well said", "violations": found, **scores}
        case _:
            return {key: f"{WILD} {key}" for key in ask.spec.schema["properties"]}


def silent_once(ask: Any, path: Any, reasons: Any) -> Any:
    return "nothing" if path == "opening/judge" else script(ask, path, reasons)


_HELD: list[disputatio.Debate] = []


async def held() -> disputatio.Debate:
    """The match of these tests; the same for all of them."""
    if not _HELD:
        seats = {
            seat: disputatio.Scripted(silent_once if seat == "judge" else script)
            for seat in FORMATS["competition"].seats
        }
        _HELD.append(await disputatio.debate("Be it so", format="competition", seats=seats, store=MemoryStore()))
    return _HELD[0]


@pytest.mark.parametrize("width", [40, 80, 200])
async def test_text_shows_scoreboard_clocks_and_penalties_at_any_width(width: int):
    text = (await held()).text(width)
    assert all(columns(line) <= width for line in text.splitlines())
    assert "\x1b" not in text
    flat = " ".join(text.split())
    for words in (
        "Result",
        "Scoreboard",
        "Speeches",
        "Penalties",
        "Summary of free debate",
        "Final verdict",
        TOO_LONG,
    ):
        assert words in flat
    assert "Con 4 -2 for overtime" in flat
    assert "Con 2 -2 for counter question" in flat
    assert "no score" in flat
    assert "S1" in flat


async def test_markdown_and_page_show_the_match_as_text_alone():
    result = await held()
    for shown in (result.markdown(), result.html()):
        assert "<script>alert(1)" not in shown
        assert "Scoreboard" in shown
        assert TOO_LONG in shown
        assert "Pro 4" in shown
        assert "Final verdict" in shown


async def test_totals_recount_from_the_exported_json():
    export: Any = (await held()).as_json()
    jsonschema_rs.validate(dict(export_schema()), export)
    outcome = export["outcome"]
    own: dict[str, Fraction] = {}
    cost = {"pro": 0, "con": 0}
    for row in outcome["speeches"]:
        points = sum(Fraction(WEIGHTS[key]) * score for key, score in row["counted"].items())
        own[row["seat"]] = own.get(row["seat"], Fraction(0)) + points
        assert row["score"] == (float(points) if row["counted"] else None)
    for row in outcome["penalties"]:
        if row["who"] in cost:
            cost[row["who"]] += row["points"]
        else:
            own[row["who"]] += row["points"]
    for team in ("pro", "con"):
        total = sum((points for seat, points in own.items() if seat.startswith(team)), Fraction(cost[team]))
        assert Fraction(outcome["teams"][team]["exact"]) == total
        assert outcome["teams"][team]["penalties"] == cost[team]
    assert outcome["unscored"] == ["S1"]
    assert len([row for row in export["scores"] if row["score"] is not None]) == len(outcome["speeches"]) - 1


async def test_the_schema_looks_at_the_match():
    export: Any = (await held()).as_json()
    check = jsonschema_rs.validator_for(dict(export_schema()))
    broken = {**export, "outcome": {**export["outcome"], "winner": "nobody"}}
    assert list(check.iter_errors(broken))
