"""What a program gives of the wrong type is refused at once, in a sentence that says what would do."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any

import pytest

import disputatio
from disputatio.kernel import Ask, AskPath
from disputatio.testing import instance


def answer(ask: Ask, path: AskPath, _reasons: tuple[str, ...]) -> Any:
    return instance(ask.spec.schema, path)


async def answer_later(ask: Ask, path: AskPath, _reasons: tuple[str, ...]) -> Any:
    await asyncio.sleep(0)
    return instance(ask.spec.schema, path)


class AnswersLater:
    async def __call__(self, ask: Ask, path: AskPath, _reasons: tuple[str, ...]) -> Any:
        return await answer_later(ask, path, ())


SCRIPTED = disputatio.Scripted(answer)
MOTION = "We should split the service"


async def run(motion: Any = MOTION, **options: Any) -> disputatio.Debate:
    given = {"format": "freeform", "seats": {"all": SCRIPTED}, "store": disputatio.MemoryStore(), **options}
    return await disputatio.debate(motion, **given)


WRONG = [
    ({"motion": None}, "The motion is nothing", "a string"),
    ({"motion": 3}, "The motion is 3", "a string"),
    ({"seats": "openai:gpt-5"}, "seats is 'openai:gpt-5'", "{'all': 'openai:gpt-5'}"),
    ({"seats": {"pro": 5}}, "'pro' is given 5", "PROVIDER:MODEL"),
    ({"seats": {"pro": None}}, "'pro' is given nothing", "PROVIDER:MODEL"),
    ({"seats": {5: SCRIPTED}}, "5 is the name of no seat", "'all'"),
    ({"seats": {"all": answer}}, "'all' is given a function", "Scripted(...)"),
    ({"seats": {"all": disputatio.Scripted(3)}}, "the seat 'all' is 3", "(ask, path, reasons)"),  # type: ignore[arg-type]
    ({"seats": {"all": disputatio.Scripted(lambda ask: "")}}, "does not take three", "(ask, path, reasons)"),  # type: ignore[misc,arg-type]
    ({"evidence": "notes.md"}, "evidence is 'notes.md'", "['notes.md']"),
    ({"evidence": Path("notes.md")}, "evidence is 'notes.md'", "['notes.md']"),
    ({"evidence": 3}, "evidence is 3", "in a list"),
    ({"evidence": [3]}, "evidence holds 3", "paths"),
    ({"evidence": {"a": ["x.md"]}}, "'a' is the number of no round", "1"),
    ({"evidence": {1: "x.md"}}, "evidence is 'x.md'", "['x.md']"),
    ({"judging": 3}, "judging is 3", "Judging(...)"),
    ({"judging": disputatio.Budget(usd="1")}, "judging is a Budget", "Judging(...)"),  # type: ignore[arg-type]
    ({"judging": {"juges": 3}}, "'judging.juges'", "judges"),
    ({"budget": "0.50"}, "budget is '0.50'", "Budget(...)"),
    ({"budget": 0.5}, "budget is 0.5", "Budget(...)"),
    ({"budget": {"usd": -1}}, "budget.usd is -1", "positive"),
    ({"limits": 3}, "limits is 3", "Limits(...)"),
    ({"tools": "search"}, "tools is 'search'", "Tools(...)"),
    ({"format": 3}, "format is 3", "name of a format"),
    ({"format": None}, "format is nothing", "name of a format"),
    ({"format": {}}, "format is a table", "name of a format"),
    ({"format": disputatio.Panel}, "format is the class Panel", "Panel()"),
    ({"format": "pannel"}, "no format called 'pannel'", "panel"),
    ({"store": 3}, "store is 3", "MemoryStore()"),
    ({"store": {}}, "store is a table", "MemoryStore()"),
    ({"language": 3}, "language is 3", "quotes"),
    ({"seed": "5"}, "seed is '5', and it should be a number", "Change it"),
    ({"seed": True}, "seed is true", "whole number"),
    ({"baseline": 3}, "baseline is 3", "text"),
    ({"config": 3}, "config is 3", "TOML"),
    ({"config": [("seed", 1)]}, "config is a list", "TOML"),
    ({"prompts": 3}, "prompts is 3", "folder"),
    ({"observer": 3}, "observer is 3", "on_event"),
    ({"client_factory": 3}, "client_factory is 3", "function"),
]


@pytest.mark.parametrize(("options", "cause", "cure"), WRONG)
async def test_a_wrong_type_is_refused_in_a_sentence(options: dict[str, Any], cause: str, cure: str) -> None:
    with pytest.raises(disputatio.InvalidInputError) as refused:
        await run(**options)
    assert cause in refused.value.cause
    assert cure in refused.value.next_step


async def test_estimates_and_resumption_refuse_alike(tmp_path: Path) -> None:
    with pytest.raises(disputatio.InvalidInputError, match="judging is 3"):
        await disputatio.estimate(MOTION, judging=3)  # type: ignore[arg-type]
    with pytest.raises(disputatio.InvalidInputError, match="budget is 3"):
        await disputatio.resume("7f3a", budget=3, store=disputatio.MemoryStore())  # type: ignore[arg-type]
    with pytest.raises(disputatio.InvalidInputError, match="seats is 'x'"):
        await disputatio.resume("7f3a", seats="x", store=disputatio.MemoryStore())  # type: ignore[arg-type]
    with pytest.raises(disputatio.InvalidInputError, match="store is 3"):
        await disputatio.resume("7f3a", store=3)  # type: ignore[arg-type]
    with pytest.raises(disputatio.InvalidInputError, match="prompts is 3"):
        await disputatio.resume("7f3a", prompts=3, store=disputatio.MemoryStore())  # type: ignore[arg-type]


async def test_a_closed_store_is_refused(tmp_path: Path) -> None:
    store = disputatio.open_store(f"sqlite:///{tmp_path}/debates.sqlite")
    await store.aclose()
    with pytest.raises(disputatio.StoreError, match="closed"):
        await run(store=store)


async def test_a_store_may_be_the_path_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "debates.sqlite"
    debate = await run(store=path)
    assert path.exists()
    again = disputatio.open_store(str(path), create=False)
    assert [row.hash for row in again.read(debate.id)] == [row.hash for row in debate.record]
    await again.aclose()


@pytest.mark.parametrize(
    "options",
    [
        {"judging": {"both_orders": True}, "format": "structured"},
        {"budget": {"usd": "0.50"}},
        {"limits": {"closing_words": 150}, "format": "structured"},
        {"tools": {}},
        {"format": {"name": "panel", "threshold": 2}},
        {"format": {"name": "freeform", "rounds": 1}},
        {"seats": {"all": SCRIPTED, "judge": SCRIPTED}},
    ],
)
async def test_a_mapping_does_as_well_as_a_class(options: dict[str, Any]) -> None:
    assert (await run(**options)).status in {"COMPLETE", "DEGRADED"}


async def test_a_function_in_a_format_given_as_a_mapping_is_called() -> None:
    told: list[str] = []
    options = {"name": "panel", "debaters": ["ada", "bo"], "escalate": lambda debate: told.append(debate.id)}

    def vote(ask: Ask, path: AskPath, _reasons: tuple[str, ...]) -> Any:
        return {**answer(ask, path, ()), "vote": "escalate"}

    debate = await run(format=options, seats={"all": disputatio.Scripted(vote)})
    assert told == [debate.id]


@pytest.mark.parametrize("script", [answer_later, AnswersLater()])
async def test_a_coroutine_function_takes_a_seat(script: Any) -> None:
    """It gives the very debate that a plain function gives, also where it is gone through for an estimate."""
    plain, later = await run(), await run(seats={"all": disputatio.Scripted(script)})
    assert later.status == plain.status
    assert later.outcome == plain.outcome
    given = {"all": disputatio.Scripted(script)}
    assert await disputatio.estimate(MOTION, seats=given) == await disputatio.estimate(MOTION, seats={"all": SCRIPTED})


async def test_a_coroutine_function_is_told_why_it_is_asked_again() -> None:
    told: list[tuple[str, ...]] = []

    async def stubborn(ask: Ask, path: AskPath, reasons: tuple[str, ...]) -> Any:
        told.append(reasons)
        return {"nonsense": 1} if not reasons else answer(ask, path, ())

    debate = await run(seats={"all": disputatio.Scripted(stubborn)})
    assert debate.status == "COMPLETE"
    assert any(told)


@pytest.mark.parametrize("name", ["debate", "estimate", "resume", "import_transcripts"])
def test_a_twin_without_a_loop_takes_the_same(name: str) -> None:
    later, now = getattr(disputatio, name), getattr(disputatio, f"{name}_sync")
    assert inspect.signature(now) == inspect.signature(later)
    assert len(inspect.signature(now).parameters) <= 16


async def test_a_twin_is_refused_where_a_loop_runs() -> None:
    with pytest.raises(disputatio.InvalidInputError, match="event loop") as refused:
        disputatio.debate_sync(MOTION)
    assert "disputatio.debate" in refused.value.next_step
