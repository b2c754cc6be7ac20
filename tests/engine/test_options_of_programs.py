"""What a program gives to the library stays what it is: no name becomes a value, and no value is read twice."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import disputatio
from disputatio.config import Arguments, resolve
from disputatio.config.process import format_scope
from disputatio.engine.seat_assignments import fill_seats
from disputatio.formats.registry import find_format
from disputatio.record.events import DebateOpened
from disputatio.testing import instance

SCRIPTED = disputatio.Scripted(lambda ask, path, _: instance(ask.spec.schema, path))
MOTION = "We should split the service"


async def held(**options: Any) -> disputatio.Debate:
    given = {"format": "freeform", "seats": {"all": SCRIPTED}, "store": disputatio.MemoryStore(), **options}
    return await disputatio.debate(MOTION, **given)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"seats": {"all=openai:x at http://127.0.0.1:1/v1": "embedded"}}, "no seat"),
        ({"tools": {"all=search,": ["calculate"]}}, "no seat"),
        ({"tools": disputatio.Tools(mcp={"files=sh -c true": "x"})}, "mcp_servers"),
        ({"format": disputatio.Competition(personality={"all=none": "logical"})}, "no seat"),
        ({"format": disputatio.Panel(debaters=["ada,bo", "cleo"])}, "debaters"),
        ({"format": disputatio.Panel(debaters=["ada", "bo"], options=["adopt,reject", "wait"])}, "options"),
        ({"config": {"rules": {"speech_words=5\nstore": "x"}}}, "rules"),
        ({"config": {"rules": {"speech_words": True}}}, "rules.speech_words is true"),
        ({"config": {"rules": {"speech_words": None}}}, "rules.speech_words"),
    ],
)
async def test_a_name_is_no_place_for_a_value(options: dict[str, Any], word: str) -> None:
    with pytest.raises(disputatio.InvalidInputError) as refused:
        await held(**options)
    assert word in refused.value.cause


@pytest.mark.parametrize("value", [120, "120", 120.0, Decimal(120)])
async def test_a_number_may_be_of_any_type(value: object) -> None:
    debate = await held(config={"rules": {"speech_words": value}})
    assert debate.report().rules["speech_words"] == 120


async def test_lists_and_paths_are_taken_as_they_are(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[calm]\nabout = "slow and careful"\n')
    style = disputatio.Competition(personalities=str(own), personality={"pro": "calm"})
    match = await held(format=style)
    assert "slow and careful" in str(match.report().rules["cast"])
    panel = await held(format=disputatio.Panel(debaters=("ada", "bo"), options=("adopt", "put off")))
    assert panel.report().rules["options"] == ["adopt", "put off"]


def opened_of(debate: disputatio.Debate) -> DebateOpened:
    return next(row for row in debate.events if isinstance(row, DebateOpened))


@pytest.mark.parametrize(
    ("options", "further"),
    [
        (
            {"format": disputatio.Review(positions=["Adopt it this year.", "Keep what we have.", "Wait for a year."])},
            {"proposer_2", "proposer_3"},
        ),
        ({"format": "structured", "judging": disputatio.Judging(judges=3)}, {"judge_2", "judge_3"}),
        ({"format": "structured", "config": {"judges": 2}}, {"judge_2"}),
        ({"format": disputatio.Panel(debaters=["ada", "bo", "cleo"])}, {"ada", "bo", "cleo"}),
        ({"format": "panel", "config": {"debaters": ["ada", "bo"]}}, {"ada", "bo"}),
        ({"format": "competition"}, {"pro_4", "con_4"}),
    ],
)
async def test_all_covers_every_seat_there_is(options: dict[str, Any], further: set[str]) -> None:
    """A repeatable or free seat is no exception: it would be taken by the configured model, which may cost money."""
    debate = await held(**options)
    seats = opened_of(debate).seats
    assert further <= set(seats)
    assert {row["kind"] for row in seats.values()} == {"scripted"}  # type: ignore[index,call-overload]
    assert not [row for row in debate.events if row.kind == "CallSent"], "no model was asked"


def test_a_seat_that_is_named_is_not_covered_by_all(tmp_path: Path) -> None:
    """A model that is named for a team keeps its seats beside a participant for all others."""
    judge = disputatio.Scripted(lambda ask, path, _: instance(ask.spec.schema, path))
    form = find_format("competition")
    named = {"con": "ollama:fake"}
    settings = resolve(
        format_name=form.name,
        seats=tuple(form.seats),
        environ={},
        directory=tmp_path,
        arguments=Arguments().with_seats(named.items()),
        options=format_scope(form),
    )
    seats = fill_seats(SCRIPTED, form, settings, named, {"judge": judge})
    assert seats["judge"] is judge
    assert {seat for seat, who in seats.items() if who is SCRIPTED} == {f"pro_{place}" for place in range(1, 5)}
    assert set(seats) == {"judge", "pro_1", "pro_2", "pro_3", "pro_4"}
