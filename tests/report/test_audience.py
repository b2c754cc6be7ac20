"""While people sit in a debate everybody is shown no more than they may know; afterwards everybody is shown all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from staged_debates import house_of, settings_of

from disputatio.api import Debate as Held
from disputatio.engine.opening import Proposal
from disputatio.engine.runtime import start
from disputatio.formats.registry import FORMATS, find_format
from disputatio.kernel import PUBLIC, Abstention, Ask, AskPath, Driver, Turn
from disputatio.motion import read_motion
from disputatio.participants.call import Call
from disputatio.participants.human import Filled, Passed, Person, ScriptedSurface, TurnRequest
from disputatio.record.chain import seal
from disputatio.record.events import (
    Abstained,
    AnswerRejected,
    DebateClosed,
    DebateOpened,
    DebateResumed,
    TurnAsked,
    TurnTaken,
)
from disputatio.record.memory import MemoryStore
from disputatio.record.text import canonical, digest
from disputatio.report.audience import WITHHELD, Audience
from disputatio.testing.instances import instance
from strategies import Debate, debates, examples, orders

pytestmark = pytest.mark.slow
TEXTS = ("text", "markdown", "html", "argdown")


class Walk:
    """A debate held step by step, with an audience that hears of it as from a record."""

    def __init__(self, debate: Debate, people: frozenset[str], rules: dict[str, Any] | None = None) -> None:
        self.driver = Driver(debate.rulebook())
        self.audience, self._number = Audience(), 0
        self.asks: dict[AskPath, Ask] = {}
        self.turns: dict[AskPath, Turn] = {}
        seats = {seat: {"kind": "person" if seat in people else "model"} for seat in FORMATS[debate.format].seats}
        opened = DebateOpened(format=debate.format, motion={}, seats=seats, rules=rules or {}, prompts={}, budget={})
        self._tell(opened)

    def steps(self, debate: Debate, order: Random) -> Iterator[None]:
        """After each ask and each answer."""
        while not self.driver.finished:
            for path, ask in self.driver.open_asks.items():
                if path not in self.asks:
                    self.asks[path] = ask
                    self._tell(
                        TurnAsked(path=path, seat=ask.seat, phase=ask.phase, form=ask.spec.name, mode="", prompt="")
                    )
            yield
            path = order.choice(list(self.driver.open_asks))
            answer = debate.answers(path, self.asks[path])
            self._tell(_event(path, self.asks[path], answer))
            if not isinstance(answer, Abstention):
                self.turns[path] = answer
            self.driver.answer(path, answer)
            yield

    def close(self) -> None:
        self._tell(DebateClosed(status="COMPLETE", missing=(), outcome={}))

    def _tell(self, event: Any) -> None:
        self._number += 1
        self.audience.add(event, self._number)


def _event(path: AskPath, ask: Ask, answer: Turn | Abstention) -> Any:
    if isinstance(answer, Abstention):
        return Abstained(path=path, seat=ask.seat, phase=ask.phase, reason="passed", detail="")
    return TurnTaken(path=path, seat=ask.seat, phase=ask.phase, form=ask.spec.name, content={})


seats = st.randoms(use_true_random=False)


def some_people(debate: Debate, drawn: Random) -> frozenset[str]:
    names = list(FORMATS[debate.format].seats)
    return frozenset(map(str, drawn.sample(names, drawn.randint(1, min(3, len(names))))))


@examples(60)
@given(debates(), orders, seats)
def test_no_person_is_shown_more_than_the_own_question_shows(debate: Debate, order: Random, drawn: Random) -> None:
    people = some_people(debate, drawn)
    walk = Walk(debate, people)
    for _ in walk.steps(debate, order):
        shown = [path for path in walk.turns if walk.audience.shows(path)]
        for path, ask in walk.driver.open_asks.items():
            if ask.seat not in people:
                continue
            heard = Counter((post.seat, post.phase) for post in ask.messages)
            others = Counter(
                (walk.asks[one].seat, walk.asks[one].phase) for one in shown if walk.asks[one].seat != ask.seat
            )
            assert not others - heard, (path, others - heard)
            # Nor what somebody writes meanwhile.
            assert not any(walk.audience.shows(other) for other in walk.driver.open_asks if other != path)
    walk.close()
    assert all(walk.audience.shows(path) for path in walk.turns)


@examples(40)
@given(debates(), orders)
def test_what_a_format_calls_public_goes_to_the_public_channel(debate: Debate, order: Random) -> None:
    walk = Walk(debate, frozenset())
    for _ in walk.steps(debate, order):
        pass
    channels = {post.text: post.channel for ask in walk.asks.values() for post in ask.messages}
    for path, turn in walk.turns.items():
        if turn.text() in channels and len(turn.text()) > 40:
            assert FORMATS[debate.format].public(walk.asks[path].spec.name) is (channels[turn.text()] == PUBLIC)


@examples(20)
@given(debates("freeform"), orders)
def test_what_was_said_before_a_question_is_shown(debate: Debate, order: Random) -> None:
    walk = Walk(debate, frozenset({"con"}))
    for _ in walk.steps(debate, order):
        assert all(walk.audience.shows(path) for path in walk.turns)


def test_without_people_and_after_the_end_nothing_is_held_back() -> None:
    debate = Debate("competition", FORMATS["competition"].rules(), _NEVER_SILENT)
    for people in (frozenset[str](), frozenset({"con_2"})):
        walk = Walk(debate, people)
        for _ in walk.steps(debate, Random(1)):
            assert people or all(walk.audience.shows(path) for path in walk.asks)
        assert all(walk.audience.shows(path) for path in walk.asks) is not bool(people)
        walk.close()
        assert all(walk.audience.shows(path) for path in walk.asks)
        walk.audience.add(DebateResumed(budget={}, software=""), 10_000)
        assert all(walk.audience.shows(path) for path in walk.asks) is not bool(people)


def test_a_blind_judge_is_not_told_which_side_is_which() -> None:
    debate = Debate("structured", FORMATS["structured"].rules(), _NEVER_SILENT)
    for rules, judge, shown in (({}, "judge", True), ({"bench": {"anonymous": True}}, "judge", False)):
        walk = Walk(debate, frozenset({judge}), rules)
        for _ in walk.steps(debate, Random(1)):
            if AskPath("cross-examination/pro") in walk.asks:
                break
        assert walk.audience.shows("opening/pro") is shown


def test_a_try_is_held_back_until_its_turn_is_taken() -> None:
    debate = Debate("freeform", FORMATS["freeform"].rules(), _NEVER_SILENT)
    walk = Walk(debate, frozenset({"pro"}))
    event = AnswerRejected(path="round-1/pro", part="", because="rule", reasons=("says: my secret plan",))
    row = seal(event, debate="d", seq=3, at="", previous="")
    shown = [walk.audience.in_place_of(row) for _ in walk.steps(debate, Random(1))]
    assert shown[0] is not None
    assert shown[0]["reasons"] == []
    assert shown[1:] == [None] * len(shown[1:])


class _Answers:
    def __call__(self, path: AskPath, asked: Ask) -> Turn:
        turn: Turn = asked.spec.read(instance(asked.spec.schema, str(path)))
        return turn


_NEVER_SILENT: Any = _Answers()


def words_in(value: object) -> Iterator[str]:
    """The texts of a turn that nobody could come upon by chance."""
    if isinstance(value, str):
        if len(value) > 20:
            yield value
    elif isinstance(value, dict):
        for row in value.values():
            yield from words_in(row)
    elif isinstance(value, list | tuple):
        for row in value:
            yield from words_in(row)


def answered(_seat: str, call: Call) -> dict[str, Any]:
    return dict(instance(call.schema, f"{_seat} {len(call.segments)} {digest(str(call.segments))}"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("format_name", "people", "never"),
    [
        ("competition", ("con_2",), {"direction", "scoring", "summation"}),
        ("competition", ("pro_1", "con_1", "judge"), {"direction", "scoring", "summation"}),
        ("competition", ("judge",), {"direction", "scoring", "summation"}),
        ("structured", ("con",), set()),
        ("structured", ("pro", "con"), set()),
        ("panel", ("pragmatist",), set()),
        ("review", ("rebutter",), set()),
        ("freeform", ("con",), set()),
    ],
)
async def test_no_surface_shows_what_is_held_back(format_name: str, people: tuple[str, ...], never: set[str]) -> None:
    """At every question to a person: what stands in the question stands on the surfaces, and nothing beyond it."""
    chosen = find_format(format_name)
    names = tuple(chosen.seats)
    people = tuple(name if name in names else str(names[0]) for name in people)
    store = MemoryStore()
    opened: list[str] = []
    looks = 0

    def look(request: TurnRequest) -> Filled | Passed:
        nonlocal looks
        looks += 1
        held = Held(opened[0], tuple(store.read(opened[0])), store.texts(opened[0]))
        _check(held, request, set(people), never)
        return Filled(dict(instance(request.ask.spec.schema, f"{request.seat} {request.path}")))  # type: ignore[arg-type]

    given_rules = ("rules.free_speeches=2",) if format_name == "competition" else ()
    settings = settings_of(format_name, tuple(f"{seat}=ollama:model" for seat in names), set=given_rules)
    sitters = {seat: Person(ScriptedSurface(look)) for seat in people}
    proposal = Proposal(read_motion("We should act", "English"), chosen, settings, (), sitters)
    await start(proposal, house_of(store, answered), on_opened=opened.append)
    assert looks
    over = Held(opened[0], tuple(store.read(opened[0])), store.texts(opened[0]))
    assert over.for_audience() is over


def _check(held: Held, request: TurnRequest, people: set[str], never: set[str]) -> None:
    heard = " ".join(post.text for post in request.heard)
    shown = held.for_audience()
    surfaces = {name: getattr(shown, name)() for name in TEXTS} | {"json": json.dumps(shown.as_json())}
    record = " ".join(row.body for row in shown.record)
    times = Counter(text for event in held.events if isinstance(event, TurnTaken) for text in words_in(event.content))
    hid = False
    for event in held.events:
        if not isinstance(event, TurnTaken) or (event.seat == request.seat and event.form not in never):
            continue
        said = list(words_in(event.content))
        # What two turns have in common may be shown as the other's.
        own = [one for one in said if times[one] == 1]
        for text in own if event.form in never else [one for one in own if one not in heard]:
            assert canonical(text)[1:-1] not in record, (event.path, text)
            for name, surface in surfaces.items():
                assert text not in surface, (name, event.path, text)
        if len(people) == 1 and event.form not in {*never, "criticism"} and said and all(one in heard for one in said):
            assert said[0] in surfaces["text"].replace("\n", " ") or canonical(said[0])[1:-1] in record
        hid = hid or (bool(said) and (event.form in never or said[0] not in heard))
    assert not hid or WITHHELD in surfaces["text"]
