"""The content of a debate does not depend on the order in which its answers arrive."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.kernel import Abstention, AskPath, Fact, Turn
from strategies import (
    Asking,
    Debate,
    Held,
    Parallel,
    Said,
    Serial,
    Stating,
    Step,
    debates,
    examples,
    hold,
    orders,
    rulebook_of,
    said_at,
    steps,
    turns_in,
)

pytestmark = pytest.mark.slow


def same(one: Held, other: Held) -> None:
    assert other.outcome == one.outcome
    assert other.facts == one.facts
    assert other.asks == one.asks
    assert other.answers == one.answers


@given(steps(), st.floats(0, 1), orders, orders)
def test_drawn_rulebooks_come_out_the_same_in_any_order(
    step: Step, abstaining: float, first: Random, second: Random
) -> None:
    answering = said_at("s", abstaining)
    same(hold(rulebook_of(step), answering, first), hold(rulebook_of(step), answering, second))


@given(debates(), orders, orders)
def test_formats_come_out_the_same_in_any_order(debate: Debate, first: Random, second: Random) -> None:
    same(debate.held(first), debate.held(second))


@given(steps(), st.floats(0, 1), orders, orders, st.data())
def test_a_drawn_rulebook_goes_on_from_any_prefix_of_answers(
    step: Step, abstaining: float, first: Random, second: Random, data: st.DataObject
) -> None:
    answering = said_at("s", abstaining)
    whole = hold(rulebook_of(step), answering, first)
    count = data.draw(st.integers(0, len(whole.answers)))
    prefix = dict(list(whole.answers.items())[:count])
    same(whole, hold(rulebook_of(step), answering, second, given=prefix))


@examples(8)
@given(debates(), orders, orders)
def test_a_format_goes_on_from_every_prefix_of_answers(debate: Debate, first: Random, second: Random) -> None:
    whole = debate.held(first)
    answered = list(whole.answers.items())
    for count in range(len(answered) + 1):
        same(whole, hold(debate.rulebook(), debate.answers, second, given=dict(answered[:count])))


def told(step: Step, answering: Any) -> tuple[Any, dict[str, Any], list[Fact]]:
    """What a drawn rulebook must come to, worked out by walking its tree without any driver."""
    said: dict[str, Turn | Abstention] = {}
    facts: list[Fact] = []

    def spoken(step: Asking, names: tuple[str, ...], counts: dict[str, int]) -> Turn | Abstention:
        stem = "/".join((step.phase, *names, step.seat))
        counts[stem] = counts.get(stem, 0) + 1
        path = AskPath(stem if counts[stem] == 1 else f"{stem}#{counts[stem]}")
        assert path not in said
        said[path] = answering(path, step)
        return said[path]

    def walk(step: Step, place: str, names: tuple[str, ...], counts: dict[str, int]) -> Any:
        match step:
            case Asking():
                heard = [spoken(step, names, counts)]
                if step.follow_up and isinstance(heard[0], Said):
                    heard.append(spoken(step, names, counts))
                return tuple(heard)
            case Stating():
                facts.append(Fact("note", f"{place} {step.about}", {"place": place}))
                return step.about
            case Serial():
                results = []
                for number, inner in enumerate(step.steps):
                    results.append(walk(inner, f"{place}.{number}", names, counts))
                    facts.append(Fact("count", f"{place}.{number}", {"turns": turns_in(results)}))
                return tuple(results)
            case Parallel():
                own = [dict(counts) for _ in step.branches]
                results = [
                    walk(inner, f"{place}.{name}", (*names, name), mine)
                    for (name, inner), mine in zip(step.branches, own, strict=True)
                ]
                for mine in own:
                    # A branch knows nothing of what was asked in the others meanwhile.
                    counts.update({stem: max(count, counts.get(stem, 0)) for stem, count in mine.items()})
                return tuple(results)

    return walk(step, "0", (), {}), said, facts


@examples(40)
@given(steps(), st.floats(0, 1), orders)
def test_a_drawn_rulebook_matches_a_walk_of_its_tree(step: Step, abstaining: float, order: Random) -> None:
    answering = said_at("s", abstaining)
    held = hold(rulebook_of(step), answering, order)
    outcome, said, facts = told(step, answering)
    assert held.outcome == outcome
    assert held.answers == said
    assert held.facts == sorted(facts, key=lambda fact: (fact.kind, fact.about, repr(fact.body)))


@given(debates(), orders)
def test_debates_of_every_format_end_and_repeat_no_path(debate: Debate, order: Random) -> None:
    held = debate.held(order)
    assert held.driver.finished
    assert held.driver.open_asks == {}
    assert set(held.asks) == set(held.answers)
    assert len(held.asks) <= 120, "no format of these rules asks more often"
