"""What a driver shows, what it takes, and what it refuses."""

from __future__ import annotations

import gc
import weakref
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.formats.registry import FORMATS
from disputatio.kernel import (
    Abstention,
    AskPath,
    Branches,
    Driver,
    Fact,
    Rulebook,
    RulebookError,
    Seat,
    UnaskedAnswerError,
    declare,
    together,
)
from strategies import (
    Answers,
    Debate,
    Said,
    Step,
    debates,
    docket_of,
    hold,
    orders,
    plain_ask,
    rulebook_of,
    said_at,
    steps,
)


def state(driver: Driver) -> tuple[Any, ...]:
    return driver.open_asks, list(driver.open_asks), driver.facts, driver.finished, driver.outcome


@given(steps(), orders, st.text(max_size=20))
def test_an_unasked_answer_is_refused_and_changes_nothing(step: Step, order: Random, other: str) -> None:
    answering = said_at("s", 0.3)
    driver = Driver(rulebook_of(step))
    past: list[AskPath] = []
    while True:
        for path in {AskPath(other), *past} - set(driver.open_asks):
            before = state(driver)
            with pytest.raises(UnaskedAnswerError, match="no ask is open"):
                driver.answer(path, Said("nobody asked"))
            assert state(driver) == before
        if driver.finished:
            break
        path = order.choice(list(driver.open_asks))
        driver.answer(path, answering(path, driver.open_asks[path]))
        past.append(path)
    assert driver.outcome == hold(rulebook_of(step), answering).outcome


@given(debates(), orders)
def test_refused_answers_change_no_debate(debate: Debate, order: Random) -> None:
    driver = Driver(debate.rulebook())
    while not driver.finished:
        with pytest.raises(UnaskedAnswerError):
            driver.answer(AskPath("nowhere/nobody"), Abstention(Seat("nobody"), "none"))
        path = order.choice(list(driver.open_asks))
        driver.answer(path, debate.answers(path, driver.open_asks[path]))
    assert driver.outcome == debate.held().outcome


def test_asks_are_shown_in_the_order_the_rules_open_them() -> None:
    def rules() -> Rulebook[None]:
        inner = together(left=plain_ask("c"), right=plain_ask("d"))
        yield from together(plain_ask("b"), inner, plain_ask("a"))

    assert list(Driver(rules()).open_asks) == ["talk/b", "talk/left/c", "talk/right/d", "talk/a"]


def test_branch_results_join_in_order_unnamed_ones_first() -> None:
    def told(seat: str) -> Rulebook[str]:
        turn = yield from plain_ask(seat)
        return f"{seat} said {turn.words}"

    def rules() -> Rulebook[tuple[str, ...]]:
        return (yield from together(told("a"), told("b"), z=told("c"), y=told("d")))

    for seed in range(20):
        driver = Driver(rules())
        order = Random(seed)
        while not driver.finished:
            path = order.choice(list(driver.open_asks))
            driver.answer(path, Said(path))
        assert driver.outcome == (
            "a said talk/a",
            "b said talk/b",
            "c said talk/z/c",
            "d said talk/y/d",
        )


def test_serial_inside_parallel_moves_each_branch_for_itself() -> None:
    def pair(name: str) -> Rulebook[list[str]]:
        bull = yield from plain_ask("bull")
        bear = yield from plain_ask("bear")
        return [name, bull.words, bear.words]

    def rules() -> Rulebook[tuple[list[str], ...]]:
        return (yield from together(tech=pair("tech"), macro=pair("macro")))

    driver = Driver(rules())
    assert list(driver.open_asks) == ["talk/tech/bull", "talk/macro/bull"]
    driver.answer(AskPath("talk/tech/bull"), Said("1"))
    assert set(driver.open_asks) == {"talk/tech/bear", "talk/macro/bull"}, "the fast pair does not wait"
    driver.answer(AskPath("talk/tech/bear"), Said("2"))
    assert set(driver.open_asks) == {"talk/macro/bull"}
    assert not driver.finished
    driver.answer(AskPath("talk/macro/bull"), Said("3"))
    driver.answer(AskPath("talk/macro/bear"), Said("4"))
    assert driver.outcome == (["tech", "1", "2"], ["macro", "3", "4"])


def test_repeated_asks_are_counted_across_a_join() -> None:
    def twice() -> Rulebook[None]:
        yield from plain_ask("a")
        yield from plain_ask("a")

    def rules() -> Rulebook[None]:
        yield from plain_ask("a")
        yield from together(twice(), plain_ask("b"))
        yield from together(side=plain_ask("a"))
        yield from plain_ask("a")

    held = hold(rules(), lambda path, asked: Said(path))
    assert list(held.answers) == ["talk/a", "talk/a#2", "talk/b", "talk/a#3", "talk/side/a", "talk/a#4"]


def same_seat_twice() -> Rulebook[Any]:
    yield from together(plain_ask("a"), plain_ask("a"))


def same_branch_name_deeper() -> Rulebook[Any]:
    yield from together(together(x=plain_ask("a")), together(x=plain_ask("a")))


def same_path_by_its_number() -> Rulebook[Any]:
    yield from together(together(plain_ask("a#2")), plain_ask("a"))
    yield from plain_ask("a")


@pytest.mark.parametrize("rules", [same_seat_twice, same_branch_name_deeper, same_path_by_its_number])
def test_the_same_path_twice_is_a_rulebook_error(rules: Any) -> None:
    with pytest.raises(RulebookError, match="two asks have the path 'talk/"):
        hold(rules(), lambda path, asked: Said(path))


def test_a_repeated_path_is_found_in_any_order_of_answers() -> None:
    def late(seat: str) -> Rulebook[None]:
        yield from plain_ask(seat)
        yield from plain_ask("c")

    def rules() -> Rulebook[None]:
        yield from together(late("a"), late("b"))

    for seed in range(8):
        with pytest.raises(RulebookError, match="two asks have the path"):
            hold(rules(), lambda path, asked: Said(path), Random(seed))


@pytest.mark.parametrize("request_", [None, "ask", 1, Said("turn"), (), {}, Abstention(Seat("a"), "x"), Fact, object()])
def test_what_is_no_request_is_a_rulebook_error(request_: object) -> None:
    def rules() -> Rulebook[None]:
        yield request_  # type: ignore[misc]

    with pytest.raises(RulebookError, match=f"not {type(request_).__name__}"):
        Driver(rules())


@pytest.mark.parametrize("branch", [None, "branch", 7, [], plain_ask, iter(())])
def test_a_branch_that_is_no_rulebook_is_a_rulebook_error(branch: Any) -> None:
    def rules() -> Rulebook[None]:
        yield Branches((("", branch),))

    with pytest.raises(RulebookError, match="rulebook"):
        Driver(rules())


@pytest.mark.parametrize("rules", [None, 42, "rules", plain_ask, FORMATS["freeform"]])
def test_what_is_no_rulebook_at_all_is_a_rulebook_error(rules: Any) -> None:
    with pytest.raises(RulebookError, match="rulebook"):
        Driver(rules)


def test_a_rulebook_that_was_started_already_is_a_rulebook_error() -> None:
    begun = plain_ask("a")
    next(begun)
    with pytest.raises(RulebookError, match="fresh"):
        Driver(begun)


def test_one_rulebook_in_two_branches_is_a_rulebook_error() -> None:
    one = plain_ask("a")

    def rules() -> Rulebook[None]:
        yield from together(x=one, y=one)

    with pytest.raises(RulebookError, match="fresh"):
        Driver(rules())


def test_an_error_of_the_rules_themselves_comes_through_as_it_is() -> None:
    def rules() -> Rulebook[None]:
        yield from plain_ask("a")
        raise ZeroDivisionError("a bug of the format")

    driver = Driver(rules())
    with pytest.raises(ZeroDivisionError, match="a bug of the format"):
        driver.answer(AskPath("talk/a"), Said("x"))


def test_rules_that_ask_nothing_are_over_at_once() -> None:
    def rules() -> Rulebook[str]:
        yield from declare("score", "all", {"value": 1})
        results = yield from together()
        assert results == ()
        return "done"

    driver = Driver(rules())
    assert driver.finished
    assert driver.outcome == "done"
    assert driver.facts == (Fact("score", "all", {"value": 1}),)


def test_a_debate_may_be_long_and_its_branches_may_ask_nothing() -> None:
    def nothing() -> Rulebook[int]:
        yield from declare("note", "n", {})
        return 1

    def rules() -> Rulebook[int]:
        total = 0
        for _ in range(5000):
            total += sum((yield from together(nothing(), nothing())))
        return total

    driver = Driver(rules())
    assert driver.finished
    assert driver.outcome == 10_000


def test_a_finished_debate_leaves_no_reference_cycle() -> None:
    def pair(name: str) -> Rulebook[list[str]]:
        said = yield from together(pro=plain_ask(f"{name} pro"), con=plain_ask(f"{name} con"))
        return [each.words for each in said]

    def rules() -> Rulebook[Any]:
        return (yield from together(one=pair("one"), two=pair("two")))

    driver = Driver(rules())
    while driver.open_asks:
        driver.answer(next(iter(driver.open_asks)), Said("x"))
    assert driver.finished
    left = weakref.ref(driver)
    was_on = gc.isenabled()
    gc.disable()
    try:
        del driver
        assert left() is None, "debates that are over would fill the memory until circles are looked for"
    finally:
        if was_on:
            gc.enable()


def test_an_abstention_reaches_the_rules_as_a_value() -> None:
    def rules() -> Rulebook[object]:
        return (yield from plain_ask("a"))

    driver = Driver(rules())
    driver.answer(AskPath("talk/a"), Abstention(Seat("a"), "timed_out", "60 s"))
    assert driver.outcome == Abstention(Seat("a"), "timed_out", "60 s")


def test_the_outcome_is_none_until_the_debate_is_over() -> None:
    held = Driver(FORMATS["freeform"].rulebook(FORMATS["freeform"].rules(rounds=1), docket_of("freeform")))
    answers = Answers("seed")
    while not held.finished:
        assert held.outcome is None
        path, asked = next(iter(held.open_asks.items()))
        held.answer(path, answers(path, asked))
    assert held.outcome is not None
