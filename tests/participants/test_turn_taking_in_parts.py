"""A turn asked for piece by piece: the same rules as for a whole one, piece by piece."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.formats.registry import FORMATS
from disputatio.kernel import Abstention, Ask, AskPath, Seat
from disputatio.participants.call import FaultKind
from disputatio.participants.turn_taking import MOST_REFUSED, Send, TurnResult
from disputatio.testing.instances import instance
from strategies import Answers, Debate, debates, examples
from turns_driven import Outcome, drive, fault, one_after_the_other, rejections, reply, seating, sends, turn

SMALL = seating(piecewise=True)
BROKEN = reply("I would rather not.")


def part_answer(send: Send, seed: str = "") -> Outcome:
    assert send.call.schema is not None
    return reply(instance(send.call.schema, f"{seed} {send.part} {send.call.seed}"))


@examples(15)
@given(debates())
def test_every_turn_of_a_debate_can_be_taken_in_parts(debate: Debate) -> None:
    for kept in debate.held().asks.values():
        asked = replace(kept, limits=replace(kept.limits, rule_asks=0))
        taking = turn(asked, SMALL, name=debate.format)
        result, orders = drive(taking, lambda send: part_answer(send, debate.answers.seed))
        assert isinstance(result, TurnResult)
        jsonschema_rs.validate(dict(asked.spec.schema), result.content)
        assert result.asked == len(sends(orders))
        labels = [order.part for order in sends(orders)]
        assert all(labels)
        assert len(set(labels)) == len(labels)


def opening_ask() -> Ask:
    return Debate("structured", FORMATS["structured"].rules(), Answers("x")).held().asks[AskPath("opening/pro")]


def argument(number: int, reasoning: str = "") -> Any:
    claims = ("Costs fall in the very first year.", "Teams ship a good deal sooner.", "It is far safer in the night.")
    claim = claims[number - 1]
    reasoning = reasoning or f"Because it was measured with care: {claim} That is what follows."
    return {"benefit": claim, "because": reasoning, "for_example": "An audit of the year 2021 in nine offices."}


def whole(*pieces: Any) -> Any:
    """What the pieces make: what was named as a benefit is the claim."""
    names = {"benefit": "claim", "because": "reasoning", "for_example": "evidence"}
    return {"arguments": [{names[key]: text for key, text in piece.items()} for piece in pieces]}


def test_only_the_piece_of_the_wrong_shape_is_asked_again() -> None:
    outcomes = (reply(argument(1)), BROKEN, reply(argument(2)), reply(argument(3)))
    taken, orders = drive(turn(opening_ask(), SMALL, name="structured"), one_after_the_other(*outcomes))
    assert isinstance(taken, TurnResult)
    assert [order.part for order in sends(orders)] == ["argument-1", "argument-2", "argument-2", "argument-3"]
    assert [(row.part, row.because) for row in rejections(orders)] == [("argument-2", "shape")]
    assert taken.content == whole(argument(1), argument(2), argument(3))
    assert taken.asked == 4


def test_a_piece_that_stays_misshapen_ends_the_turn_and_is_named() -> None:
    result, orders = drive(
        turn(opening_ask(), SMALL, name="structured"), one_after_the_other(reply(argument(1)), BROKEN, BROKEN, BROKEN)
    )
    assert isinstance(result, Abstention)
    assert (result.seat, result.reason) == (Seat("pro"), "misfit")
    assert "for argument-2" in result.detail
    assert len(sends(orders)) == 4


LEANING = "As argued in argument 1, that much at least follows from it."


def test_only_piece_broke_rule_asked_again_with_all_its_reasons() -> None:
    """Only the piece that broke a rule is asked again with all its reasons."""
    both = {**argument(1), "because": LEANING}
    outcomes = [reply(argument(1)), reply(both), reply(argument(3)), reply(argument(2))]
    taken, orders = drive(turn(opening_ask(), SMALL, name="structured"), one_after_the_other(*outcomes))
    assert isinstance(taken, TurnResult)
    assert [order.part for order in sends(orders)] == ["argument-1", "argument-2", "argument-3", "argument-2"]
    (row,) = rejections(orders)
    assert (row.part, row.because) == ("argument-2", "rule")
    assert len(row.reasons) == 2, "it leans on another argument, and repeats its claim"
    told = sends(orders)[-1].call.segments[-1].text
    assert all(reason.replace('"', "'") in told for reason in row.reasons)
    assert taken.violations == ()
    assert taken.content == whole(argument(1), argument(2), argument(3))


@pytest.mark.parametrize(
    "again",
    [
        (reply(argument(1, LEANING)),),
        (BROKEN, BROKEN, BROKEN),
        (fault(FaultKind.KEY_REJECTED),),
    ],
    ids=["worse", "misshapen", "fault"],
)
def test_piece_comes_back_no_better_leaves_first_one_standing(again: tuple[Outcome, ...]) -> None:
    """A piece that comes back no better leaves the first one standing."""
    faulty = argument(2, LEANING)
    outcomes = (reply(argument(1)), reply(faulty), reply(argument(3)), *again)
    taken, orders = drive(turn(opening_ask(), SMALL, name="structured"), one_after_the_other(*outcomes))
    assert isinstance(taken, TurnResult)
    assert len(sends(orders)) == len(outcomes)
    assert taken.content == whole(argument(1), faulty, argument(3))
    assert [(row.rule, row.part) for row in taken.violations] == [("dependent_argument", "argument-2")]


def test_each_faulty_piece_is_asked_again_once() -> None:
    outcomes = [reply(argument(number, LEANING)) for number in (1, 2, 3)] * 2
    taken, orders = drive(turn(opening_ask(), SMALL, name="structured"), one_after_the_other(*outcomes))
    assert isinstance(taken, TurnResult)
    assert Counter(order.part for order in sends(orders)) == {"argument-1": 2, "argument-2": 2, "argument-3": 2}
    assert len(taken.violations) == 3


def test_a_raw_answer_is_not_shown_again_to_a_small_model() -> None:
    outcomes = (reply('{"benefit": 7}'), reply(argument(1)), reply(argument(2)), reply(argument(3)))
    _, orders = drive(turn(opening_ask(), SMALL, name="structured"), one_after_the_other(*outcomes))
    assert all(row.role != "assistant" for order in sends(orders) for row in order.call.segments)


@examples(25)
@given(
    debates(),
    st.lists(st.sampled_from(["good", "good", "good", "broken", "cut", *map(str, FaultKind)]), min_size=1, max_size=9),
    st.data(),
)
def test_any_sequence_of_replies_and_faults_comes_to_end(debate: Debate, cycle: list[str], data: st.DataObject) -> None:
    """Any sequence of replies and faults comes to an end in parts too."""
    asks = list(debate.held().asks.values())
    asked = asks[data.draw(st.integers(0, len(asks) - 1))]

    def run() -> tuple[TurnResult | Abstention, list[Any]]:
        count = iter(range(10**6))

        def answering(send: Send) -> Outcome:
            match cycle[next(count) % len(cycle)]:
                case "good":
                    return part_answer(send)
                case "broken":
                    return BROKEN
                case "cut":
                    return replace(reply('{"benefit": "Half of'), finish="length")
                case kind:
                    return fault(FaultKind(kind))

        return drive(turn(asked, replace(SMALL, attempts=2), seating("second"), name=debate.format), answering)

    result, orders = run()
    calls = Counter(order.part for order in sends(orders))
    each = (1 + asked.limits.shape_asks) * (1 + asked.limits.rule_asks) * (2 + 4 + 2 * MOST_REFUSED)
    assert all(number <= each for number in calls.values())
    assert run() == (result, orders)
    if isinstance(result, TurnResult):
        jsonschema_rs.validate(dict(asked.spec.schema), json.loads(json.dumps(result.content)))


def names_of(calls: Any) -> list[tuple[Any, ...]]:
    return [(row.segments, row.schema, row.seed, row.max_tokens, row.temperature) for row in calls]


@examples(15)
@given(debates())
def test_calls_announced_are_those_sent_next(debate: Debate) -> None:
    """A call announces the next calls of its turn where they do not depend on its answer."""
    for kept in debate.held().asks.values():
        asked = replace(kept, limits=replace(kept.limits, rule_asks=0))
        _, orders = drive(
            turn(asked, SMALL, name=debate.format, seed=4), lambda send: part_answer(send, debate.answers.seed)
        )
        calls = [order.call for order in sends(orders)]
        for place, call in enumerate(calls):
            following = names_of(call.following())
            assert following == names_of(calls[place + 1 : place + 1 + len(following)])


def test_a_judge_announces_the_findings_on_other_arguments() -> None:
    debate = Debate("structured", FORMATS["structured"].rules(), Answers("x"))
    asked = debate.held().asks[AskPath("judging/judge")]
    _, orders = drive(turn(asked, SMALL, name="structured"), part_answer)
    parts = [order.part for order in sends(orders)]
    announced = [len(order.call.following()) for order in sends(orders)[: len(parts)]]
    assert announced[:1] == [min(3, len(parts) - 1)]


def test_a_conclusion_from_earlier_answers_is_not_announced() -> None:
    """The thesis of a critic sums up its criticisms, so it is asked for when they are there."""
    debate = Debate("review", FORMATS["review"].rules(), Answers("x"))
    asked = next(ask for path, ask in debate.held().asks.items() if path == "critique/critic")
    _, orders = drive(turn(asked, SMALL, name="review"), part_answer)
    calls = [order.call for order in sends(orders)]
    assert len(calls) >= 3
    assert names_of([calls[-1]])[0] not in [row for call in calls for row in names_of(call.following())]


def test_corrections_of_one_round_are_announced_together() -> None:
    leaning = [reply({**argument(number), "because": LEANING}) for number in (1, 2, 3)]
    mended = [reply(argument(number)) for number in (1, 2, 3)]
    _, orders = drive(turn(opening_ask(), SMALL, name="structured", seed=1), one_after_the_other(*leaning, *mended))
    calls = [order.call for order in sends(orders)]
    assert len(calls) == 6
    assert names_of(calls[3].following()) == names_of(calls[4:6])
    assert calls[5].following() == ()
