"""A person takes part like everybody else: the record says so, no prompt does, and whoever leaves can come back."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from staged_debates import Staged, house_of, settings_of

from disputatio.engine.opening import Proposal
from disputatio.engine.runtime import Resumption, resume, start
from disputatio.errors import PersonLeftError, ResumeMismatchError
from disputatio.formats.registry import find_format
from disputatio.kernel import Ask, AskPath
from disputatio.motion import read_motion
from disputatio.participants.call import Call
from disputatio.participants.human import Filled, Passed, Person, ScriptedSurface, TurnRequest
from disputatio.participants.scripted import Scripted
from disputatio.record.events import Abstained, AnswerRejected, DebateInterrupted, DebateOpened, TurnTaken
from disputatio.record.memory import MemoryStore
from disputatio.record.text import canonical
from disputatio.report.text import render_text
from disputatio.testing.instances import instance

pytestmark = pytest.mark.slow

SHORT: Any = {"set": ("rules.free_speeches=2",)}


def content_of(ask: Ask) -> dict[str, Any]:
    return dict(instance(ask.spec.schema, f"{ask.seat} {ask.phase}"))  # type: ignore[arg-type]


def answering(prompts: list[str]) -> Any:
    """A model that answers by the form alone, and keeps what it was shown."""

    def answer(_seat: str, call: Call) -> dict[str, Any]:
        prompts.append("\n".join(f"{row.role}: {row.text}" for row in call.segments))
        return dict(instance(call.schema, canonical(call.schema)))  # type: ignore[arg-type]

    return answer


async def held(
    participants: dict[str, Any], format_name: str = "competition", prompts: list[str] | None = None, **more: Any
) -> Staged:
    store = MemoryStore()
    given = SHORT if format_name == "competition" else {}
    seats = tuple(f"{seat}=ollama:model" for seat in find_format(format_name).seats)
    settings = settings_of(format_name, seats, **{**given, **more})
    proposal = Proposal(read_motion("We should act", "English"), find_format(format_name), settings, (), participants)
    kept: list[str] = [] if prompts is None else prompts
    opened: list[str] = []
    with contextlib.suppress(PersonLeftError):
        await start(proposal, house_of(store, answering(kept)), on_opened=opened.append)
    return Staged(opened[0], store)


def events(debate: Staged, kind: type) -> list[Any]:
    return [event for row in debate.events if isinstance(event := row.event(), kind)]


async def test_no_prompt_of_anybody_tells_which_seats_are_peoples() -> None:
    """The same words, once from people and once from scripts: everybody else is shown the same to the letter."""

    def script(ask: Ask, _path: AskPath, _reasons: tuple[str, ...]) -> dict[str, Any]:
        return content_of(ask)

    seats = ("pro_1", "pro_2", "con_4")
    shown: list[list[str]] = [[], []]
    surface = ScriptedSurface(lambda row: Filled(content_of(row.ask)))
    people = await held({seat: Person(surface) for seat in seats}, prompts=shown[0])
    await held({seat: Scripted(script) for seat in seats}, prompts=shown[1])
    assert shown[0] == shown[1]
    assert len(shown[0]) > 20
    (opened,) = events(people, DebateOpened)
    assert [seat for seat, row in opened.seats.items() if row == {"kind": "person", "name": ""}] == sorted(seats)
    assert "a person" in render_text(people.report)


async def test_a_person_hears_what_the_seat_may_hear_and_nothing_else() -> None:
    surface = ScriptedSurface(lambda row: Filled(content_of(row.ask)))
    await held(
        {"pro_2": Person(surface), "judge": Person(judge := ScriptedSurface(lambda row: Filled(content_of(row.ask))))}
    )
    channels = {post.channel for request in surface.asked for post in request.heard}
    assert channels == {"public", "team_pro"}
    assert {post.channel for request in judge.asked for post in request.heard} == {"public", "judge_notes"}
    free = [row for row in surface.asked if row.ask.phase == "free_debate"]
    assert all(row.heard[-1].channel == "team_pro" for row in free), "the captain's word stands last"
    assert all(row.situation.debate for row in surface.asked)
    assert "You are pro_2" in surface.asked[0].situation.role
    assert "limit" not in surface.asked[0].situation.task.split("$")[-1:], "no place is left unfilled"


@pytest.mark.parametrize("format_name", ["structured", "freeform", "review", "panel"])
async def test_a_person_can_take_every_seat_of_every_format(format_name: str) -> None:
    seats = [str(seat) for seat in find_format(format_name).seats]
    surface = ScriptedSurface(lambda row: Filled(content_of(row.ask)))
    more: Any = {"debaters": ",".join(seats)} if format_name == "panel" else {}
    debate = await held({seat: Person(surface) for seat in seats}, format_name, **more)
    assert {row.seat for row in surface.asked} == set(seats)
    assert len(events(debate, TurnTaken)) >= len(seats)


async def test_whoever_leaves_comes_back_to_the_same_turn() -> None:
    def leaves(request: TurnRequest) -> Filled:
        raise PersonLeftError("The person in con_1 left in the opening: nothing was written yet.", "")

    stopped = await held({"con_1": Person(ScriptedSurface(leaves))})
    assert [row.reason for row in events(stopped, DebateInterrupted)] == [
        "The person in con_1 left in the opening: nothing was written yet."
    ]
    before = [row.path for row in events(stopped, TurnTaken)]
    surface = ScriptedSurface(lambda row: Filled(content_of(row.ask), ("Speech is empty.",)))
    settings = settings_of("competition", ("all=ollama:model",))
    runtime = house_of(stopped.store, answering([]))
    with pytest.raises(ResumeMismatchError, match="was taken by a person"):
        await resume(stopped.id, Resumption(settings), runtime)
    await resume(stopped.id, Resumption(settings, participants={"con_1": Person(surface)}), runtime)
    assert surface.asked[0].path == "opening/con_1"
    taken = [row.path for row in events(stopped, TurnTaken)]
    assert taken[: len(before)] == before
    assert len(taken) == len(set(taken))
    refused = [row for row in events(stopped, AnswerRejected) if row.path == "opening/con_1"]
    assert [row.reasons for row in refused] == [("Speech is empty.",)]


async def test_whoever_passes_is_silent_and_the_match_goes_on() -> None:
    debate = await held({"pro_1": Person(ScriptedSurface(lambda _: Passed()))})
    silent = events(debate, Abstained)
    assert {(row.seat, row.reason) for row in silent} == {("pro_1", "passed")}
    assert debate.report.status == "DEGRADED"
    spoken = {row.seat for row in events(debate, TurnTaken) if row.phase == "free_debate"}
    assert {"pro_2", "con_2"} & spoken
