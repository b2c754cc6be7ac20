"""How a model's seat comes to its turn: requirement K2 and the patience with providers, order by order."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.formats.registry import FORMATS
from disputatio.formats.turns.monologue import MonologueSpec
from disputatio.kernel import Abstention, Ask, Limits, Phase, Seat, Task
from disputatio.participants.call import FaultKind, OutputMode, Reply, Segment
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.turn_taking import (
    LONGEST_ASKED_REST_S,
    LONGEST_REST_S,
    MOST_REFUSED,
    Send,
    TurnResult,
    TurnStep,
)
from disputatio.testing.malformed import malform
from strategies import Answers, Debate, examples
from turns_driven import Outcome, drive, fault, one_after_the_other, rejections, reply, rests, seating, sends, turn

NATIVE, TOOL, PROMPTED = OutputMode.NATIVE, OutputMode.TOOL, OutputMode.PROMPTED


def speech_ask(limit: int = 10, **limits: Any) -> Ask:
    """An ask for a speech of at most ``limit`` words."""
    values = {"side": "PRO", "stance": "for", "opponent": "CON", "limit": "10", "round": "1", "rounds": "1"}
    values["point"] = "a point for"
    return Ask(Seat("pro"), Phase("round-1"), MonologueSpec(limit), Task("monologue", values), limits=Limits(**limits))


def speech(words: int) -> Reply:
    return reply({"speech": " ".join(["consequently"] * words)})


GOOD, LONG, LONGER, BROKEN = speech(5), speech(20), speech(30), reply("I would rather not.")


# --- shape --------------------------------------------------------------------------------------------------------


def test_a_good_answer_is_taken_after_one_call() -> None:
    taken, orders = drive(turn(speech_ask()), one_after_the_other(GOOD))
    assert isinstance(taken, TurnResult)
    assert taken.content == json.loads(GOOD.text)
    assert (taken.asked, taken.repaired, taken.violations, taken.served_models) == (1, False, (), ("served-1",))
    assert len(orders) == 1


@pytest.mark.parametrize("shape_asks", [0, 1, 2, 4])
@pytest.mark.parametrize("wrong", [0, 1, 2, 3, 4, 5])
def test_wrong_shape_asked_again_so_many_times_and_then_seat(shape_asks: int, wrong: int) -> None:
    """A wrong shape is asked again so many times and then the seat abstains."""
    answers = one_after_the_other(*[BROKEN] * wrong, GOOD)
    result, orders = drive(turn(speech_ask(shape_asks=shape_asks)), answers)
    if wrong <= shape_asks:
        assert isinstance(result, TurnResult)
        assert result.asked == wrong + 1
        assert len(rejections(orders)) == wrong
    else:
        assert result == Abstention(
            Seat("pro"),
            "misfit",
            f"{shape_asks + 1} answers did not fit the form; the last: the answer holds no JSON object",
        )
        assert len(sends(orders)) == shape_asks + 1
        assert len(rejections(orders)) == shape_asks
    assert all(row.because == "shape" and row.reasons for row in rejections(orders))


def test_model_shown_its_answer_and_reasons_when_it_asked_again() -> None:
    """The model is shown its answer and the reasons when it is asked again."""
    _, orders = drive(turn(speech_ask()), one_after_the_other(reply('{"speech": "x"}'), GOOD))
    first, second = (order.call.segments for order in sends(orders))
    assert second[: len(first)] == first, "what was sent before stays the beginning"
    assert second[len(first)] == Segment("assistant", '{"speech": "x"}')
    assert "speech:" in second[-1].text
    assert second[-1].role == "user"


def test_only_the_last_wrong_answer_is_shown_again() -> None:
    _, orders = drive(turn(speech_ask()), one_after_the_other(reply("first"), reply("second"), GOOD))
    assert [row.text for row in sends(orders)[2].call.segments if row.role == "assistant"] == ["second"]


def test_what_is_shown_again_is_cleaned_and_cut() -> None:
    raw = "\x1b[31mred\x00 \ud83d \U000e0041" + "x" * 9000
    _, orders = drive(turn(speech_ask()), one_after_the_other(reply(raw), GOOD))
    (shown,) = [row.text for row in sends(orders)[1].call.segments if row.role == "assistant"]
    assert shown.startswith("[31mred \ufffd x")
    assert len(shown) < 4100
    shown.encode()


def test_an_answer_that_was_mended_is_marked() -> None:
    taken, _ = drive(turn(speech_ask()), one_after_the_other(reply("{'speech': 'It is so, and here is why.'}")))
    assert isinstance(taken, TurnResult)
    assert taken.repaired


# --- length -------------------------------------------------------------------------------------------------------


def test_cut_off_answer_gets_more_room_and_a_prompt_without_it() -> None:
    """An answer that was cut off is asked again with more room and without its beginning."""
    half = reply(GOOD.text[:20], finish="length")
    taken, orders = drive(turn(speech_ask(max_tokens=300)), one_after_the_other(half, half, GOOD))
    assert isinstance(taken, TurnResult)
    assert [order.call.max_tokens for order in sends(orders)] == [300, 600, 1200]
    assert all(row.role != "assistant" for order in sends(orders) for row in order.call.segments)
    assert "cut off at 300 tokens" in rejections(orders)[0].reasons[0]


@given(st.integers(0, len(GOOD.text) - 1), st.sampled_from(["", "}", '"}', "\n```"]))
def test_half_an_answer_is_never_accepted_when_it_was_cut_off(cut: int, tail: str) -> None:
    text = GOOD.text[:cut] + tail
    whole = text == GOOD.text
    try:
        whole = whole or isinstance(json.loads(text), dict)
    except ValueError:
        whole = False
    result, _ = drive(turn(speech_ask(shape_asks=0)), one_after_the_other(reply(text, finish="length")))
    assert whole or isinstance(result, Abstention)


def test_whole_answer_is_accepted_although_limit_was_reached() -> None:
    """A whole answer is accepted although the limit was reached."""
    result, _ = drive(turn(speech_ask()), one_after_the_other(replace(GOOD, finish="length")))
    assert isinstance(result, TurnResult)


def test_a_seat_s_own_token_limit_goes_before_the_phase_s() -> None:
    _, orders = drive(turn(speech_ask(max_tokens=300), seating(max_tokens=77)), one_after_the_other(GOOD))
    assert sends(orders)[0].call.max_tokens == 77


# --- rules --------------------------------------------------------------------------------------------------------


def test_broken_rule_asked_again_once_and_then_accepted() -> None:
    """A broken rule is asked again once and then accepted with its violation."""
    taken, orders = drive(turn(speech_ask()), one_after_the_other(LONG, LONGER))
    assert isinstance(taken, TurnResult)
    assert taken.asked == 2
    assert [row.because for row in rejections(orders)] == ["rule"]
    assert [row.rule for row in taken.violations] == ["word_limit"]
    assert "20 words and 10 are allowed" in rejections(orders)[0].reasons[0]


@pytest.mark.parametrize(
    ("answers", "kept"),
    [
        ((LONG, GOOD), GOOD),
        ((LONG, LONGER), LONGER),
        ((LONG, BROKEN, GOOD), GOOD),
        ((LONG, BROKEN, BROKEN, BROKEN), LONG),
        ((LONG, fault(FaultKind.KEY_REJECTED)), LONG),
        ((BROKEN, LONG, BROKEN, BROKEN, BROKEN), LONG),
    ],
)
def test_second_answer_counts_where_it_no_worse_and_else_first(answers: tuple[Outcome, ...], kept: Reply) -> None:
    """The second answer counts where it is no worse and else the first."""
    taken, orders = drive(turn(speech_ask()), one_after_the_other(*answers))
    assert isinstance(taken, TurnResult)
    assert taken.content == json.loads(kept.text)
    assert len(sends(orders)) == len(answers)


def test_a_second_answer_that_breaks_more_rules_is_not_taken() -> None:
    asked = next(iter(Debate("structured", FORMATS["structured"].rules(), Answers("x")).held().asks.values()))
    argument = {
        "claim": "Costs fall in a year.",
        "reasoning": "Because less is bought each year.",
        "evidence": "Audit.",
    }
    other = {**argument, "claim": "Teams ship sooner.", "reasoning": "As argued in argument 1, less is bought."}
    once = {"arguments": [argument, other, {**argument, "claim": "It is safer at night."}]}
    twice = {"arguments": [argument, other, argument]}
    taken, _ = drive(turn(asked, name="structured"), one_after_the_other(reply(once), reply(twice)))
    assert isinstance(taken, TurnResult)
    assert taken.content == once
    assert [row.rule for row in taken.violations] == ["dependent_argument"]


@pytest.mark.parametrize("rule_asks", [0, 2, 3])
def test_how_often_a_rule_is_asked_again_is_the_limit_s(rule_asks: int) -> None:
    _, orders = drive(turn(speech_ask(rule_asks=rule_asks)), lambda _send: LONG)
    assert len(rejections(orders)) == rule_asks
    assert len(sends(orders)) == 1 + rule_asks


# --- faults -------------------------------------------------------------------------------------------------------

PASSING = [kind for kind in FaultKind if kind.worth_retrying]
SETUP = [kind for kind in FaultKind if kind.is_setup]
FINAL = [FaultKind.CONTEXT_TOO_LONG, FaultKind.BAD_REQUEST, FaultKind.SCHEMA_UNSUPPORTED]
FREE = [FaultKind.PARAMETER_REFUSED, FaultKind.BATCH_FAILED]
ONCE = [FaultKind.REFUSED, FaultKind.ANSWER_TOO_LONG]


def test_every_fault_passing_final_for_setup_or_tried_once_more() -> None:
    """Every fault is passing final for setup or tried once more."""
    assert {*PASSING, *SETUP, *FINAL, *ONCE, *FREE} == set(FaultKind)
    assert not {*PASSING} & {*SETUP, *FINAL, *ONCE, *FREE}


@pytest.mark.parametrize("kind", FREE)
def test_a_refused_parameter_costs_no_attempt_and_no_rest(kind: FaultKind) -> None:
    """The gateway makes the same call in another form, or outside a batch; the turn only makes it again."""
    outcomes = (fault(kind),) * 3
    taken, orders = drive(turn(speech_ask(), seating(attempts=1)), one_after_the_other(*outcomes, GOOD))
    assert isinstance(taken, TurnResult)
    assert taken.asked == 1
    assert rests(orders) == []
    assert [order.call for order in sends(orders)] == [sends(orders)[0].call] * 4


def test_a_server_that_refuses_for_ever_is_left() -> None:
    result, orders = drive(turn(speech_ask()), lambda _send: fault(FaultKind.PARAMETER_REFUSED))
    assert result == Abstention(Seat("pro"), "parameter_refused", "it is parameter_refused")
    assert len(sends(orders)) == MOST_REFUSED + 1


def test_a_rate_limit_is_waited_out_up_to_two_minutes() -> None:
    result, orders = drive(turn(speech_ask(), seating(attempts=4)), lambda _send: fault(FaultKind.RATE_LIMITED))
    assert isinstance(result, Abstention)
    assert sum(rests(orders)) <= LONGEST_ASKED_REST_S < sum(rests(orders)) + LONGEST_REST_S
    assert len(sends(orders)) > 4


def test_a_short_asked_rest_grows_beyond_the_attempts() -> None:
    _, orders = drive(turn(speech_ask(), seating(attempts=2)), lambda _send: fault(FaultKind.RATE_LIMITED, 0.01))
    assert len(sends(orders)) < 15, "a server that always asks for an instant is not asked for ever"


def test_one_attempt_stays_one_under_a_rate_limit() -> None:
    _, orders = drive(turn(speech_ask(), seating(attempts=1)), lambda _send: fault(FaultKind.RATE_LIMITED))
    assert len(sends(orders)) == 1


@pytest.mark.parametrize("attempts", [1, 2, 4, 9])
@pytest.mark.parametrize("kind", [kind for kind in PASSING if kind is not FaultKind.RATE_LIMITED])
def test_passing_fault_tried_again_with_growing_rests_and_ends(kind: FaultKind, attempts: int) -> None:
    """A passing fault is tried again with growing rests and ends in an abstention."""
    result, orders = drive(turn(speech_ask(), seating(attempts=attempts)), lambda _send: fault(kind))
    assert result == Abstention(Seat("pro"), kind.value, f"it is {kind.value}")
    assert len(sends(orders)) == attempts
    assert rests(orders) == [min(2.0**number, LONGEST_REST_S) for number in range(attempts - 1)]
    assert rejections(orders) == []


def test_an_answer_after_faults_is_taken() -> None:
    outcomes = (fault(FaultKind.SERVER_ERROR), fault(FaultKind.TIMED_OUT), GOOD)
    taken, orders = drive(turn(speech_ask()), one_after_the_other(*outcomes))
    assert isinstance(taken, TurnResult)
    assert taken.asked == 1, "the seat was asked once, though the call was tried three times"
    assert all(order.call == sends(orders)[0].call for order in sends(orders))


def test_faults_do_not_use_up_the_asks_for_a_right_shape() -> None:
    outcomes = (fault(FaultKind.CUT_OFF), BROKEN, fault(FaultKind.GARBLED), BROKEN, GOOD)
    taken, _ = drive(turn(speech_ask(shape_asks=2)), one_after_the_other(*outcomes))
    assert isinstance(taken, TurnResult)
    assert taken.asked == 3


@pytest.mark.parametrize("asked_for", [0.5, 7.0, LONGEST_ASKED_REST_S])
def test_the_wait_a_provider_asks_for_is_honoured(asked_for: float) -> None:
    outcomes = (fault(FaultKind.RATE_LIMITED, asked_for), GOOD)
    _, orders = drive(turn(speech_ask()), one_after_the_other(*outcomes))
    assert rests(orders) == [asked_for]


@pytest.mark.parametrize("asked_for", [LONGEST_ASKED_REST_S + 1, 1e9, float("inf"), float("nan")])
def test_a_provider_that_asks_for_too_long_a_wait_counts_as_down(asked_for: float) -> None:
    result, orders = drive(turn(speech_ask()), lambda _send: fault(FaultKind.RATE_LIMITED, asked_for))
    assert isinstance(result, Abstention)
    assert len(sends(orders)) == 1
    assert rests(orders) == []


@pytest.mark.parametrize("asked_for", [0.0, -5.0, None])
def test_without_a_wait_asked_for_the_usual_one_is_taken(asked_for: float | None) -> None:
    _, orders = drive(turn(speech_ask()), one_after_the_other(fault(FaultKind.RATE_LIMITED, asked_for), GOOD))
    assert rests(orders) == [1.0]


@pytest.mark.parametrize("kind", ONCE)
def test_a_refusal_or_an_endless_answer_is_tried_once_more(kind: FaultKind) -> None:
    result, orders = drive(turn(speech_ask(), seating(attempts=9)), lambda _send: fault(kind))
    assert isinstance(result, Abstention)
    assert result.reason == kind.value
    assert len(sends(orders)) == 2
    taken, _ = drive(turn(speech_ask()), one_after_the_other(fault(kind), GOOD))
    assert isinstance(taken, TurnResult)


@pytest.mark.parametrize("kind", [*SETUP, *FINAL])
def test_what_no_retry_can_cure_is_not_tried_again(kind: FaultKind) -> None:
    result, orders = drive(turn(speech_ask()), lambda _send: fault(kind))
    assert result == Abstention(Seat("pro"), kind.value, f"it is {kind.value}")
    assert len(orders) == 1


@pytest.mark.parametrize("kind", list(FaultKind))
def test_fallback_takes_over_when_model_is_worn_out_and_stays(kind: FaultKind) -> None:
    """A fallback takes over when the model is worn out and stays."""

    def answering(send: Send) -> Outcome:
        return fault(kind) if send.seating.model == "first" else LONG

    chain = (seating(attempts=2), seating("second"), seating("third"))
    taken, orders = drive(turn(speech_ask(), *chain), answering)
    assert isinstance(taken, TurnResult)
    models = [order.seating.model for order in sends(orders)]
    tries = dict.fromkeys(FREE, MOST_REFUSED + 1).get(kind, 1 if kind in {*SETUP, *FINAL} else 2)
    assert models == ["first"] * tries + ["second"] * 2
    assert taken.served_models == ("served-1",)


def test_a_fallback_is_asked_in_an_output_mode_of_its_own() -> None:
    def answering(send: Send) -> Outcome:
        return fault(FaultKind.KEY_REJECTED) if send.seating.model == "first" else GOOD

    _, orders = drive(turn(speech_ask(), seating(), seating("second"), modes=[[NATIVE], [TOOL, PROMPTED]]), answering)
    assert [order.call.mode for order in sends(orders)] == [NATIVE, TOOL]


def test_when_all_are_worn_out_the_last_fault_is_the_reason() -> None:
    kinds = {"first": FaultKind.KEY_MISSING, "second": FaultKind.TIMED_OUT}
    chain = (seating(), seating("second", attempts=2))
    result, orders = drive(turn(speech_ask(), *chain), lambda send: fault(kinds[send.seating.model]))
    assert result == Abstention(Seat("pro"), "timed_out", "it is timed_out")
    assert [order.seating.model for order in sends(orders)] == ["first", "second", "second"]


def test_refused_output_mode_is_replaced_at_once() -> None:
    """A lesser output mode is tried at once where a server does not take the better."""

    def answering(send: Send) -> Outcome:
        return GOOD if send.call.mode is PROMPTED else fault(FaultKind.SCHEMA_UNSUPPORTED)

    taken, orders = drive(turn(speech_ask(), seating(attempts=1), modes=[[NATIVE, TOOL, PROMPTED]]), answering)
    assert isinstance(taken, TurnResult)
    assert [order.call.mode for order in sends(orders)] == [NATIVE, TOOL, PROMPTED]
    assert rests(orders) == []
    assert "JSON Schema" not in sends(orders)[0].call.segments[-1].text
    assert "JSON Schema" in sends(orders)[2].call.segments[-1].text, "prompted, the form is told in words"


def test_the_lesser_mode_is_kept_for_the_rest_of_the_turn() -> None:
    def answering(send: Send) -> Outcome:
        return fault(FaultKind.SCHEMA_UNSUPPORTED) if send.call.mode is NATIVE else BROKEN

    _, orders = drive(turn(speech_ask(), modes=[[NATIVE, PROMPTED]]), answering)
    assert [order.call.mode for order in sends(orders)] == [NATIVE, PROMPTED, PROMPTED, PROMPTED]


def test_every_served_model_is_named_once() -> None:
    outcomes = (reply("no", served="b"), reply("no", served="a"), replace(GOOD, served_model="b"))
    taken, _ = drive(turn(speech_ask()), one_after_the_other(*outcomes))
    assert isinstance(taken, TurnResult)
    assert taken.served_models == ("b", "a")


# --- seeds and replay -----------------------------------------------------------------------------------------------


def test_each_ask_of_turn_draws_seed_of_its_own_same_on_replay() -> None:
    """Each ask of a turn draws a seed of its own that is the same on replay."""

    def seeds(seed: int | None) -> list[int | None]:
        outcomes = (BROKEN, fault(FaultKind.CUT_OFF), BROKEN, GOOD)
        _, orders = drive(turn(speech_ask(), seed=seed), one_after_the_other(*outcomes))
        return [order.call.seed for order in sends(orders)]

    assert seeds(7) == seeds(7)
    assert len(set(seeds(7))) == 3, "a call that is tried again keeps its seed"
    assert set(seeds(7)).isdisjoint(seeds(8))
    assert all(seed is not None and 0 <= seed < 2**31 for seed in seeds(7))
    assert seeds(None) == [None] * 4


outcomes = st.one_of(
    st.sampled_from([GOOD, LONG, LONGER, BROKEN, reply(""), replace(GOOD, finish="length"), reply('{"sp', "length")]),
    st.builds(fault, st.sampled_from(FaultKind), st.sampled_from([None, None, 0.0, -1.0, 2.0, 500.0])),
)
chains = st.lists(st.builds(lambda n: seating(f"model-{n}", attempts=n), st.integers(1, 4)), min_size=1, max_size=3)


@examples(40)
@given(
    st.lists(outcomes, min_size=1, max_size=12),
    chains,
    st.integers(0, 3),
    st.integers(0, 2),
    st.lists(st.sampled_from([NATIVE, TOOL, PROMPTED]), min_size=1, max_size=3, unique=True),
    st.booleans(),
)
def test_any_sequence_of_replies_and_faults_comes_to_end_within(
    cycle: list[Outcome],
    chain: list[ModelSeating],
    shape_asks: int,
    rule_asks: int,
    modes: list[OutputMode],
    piecewise: bool,
) -> None:
    """Any sequence of replies and faults comes to an end within bounds."""
    seatings = [replace(row, piecewise=piecewise) for row in chain]
    asked = speech_ask(shape_asks=shape_asks, rule_asks=rule_asks)

    def run() -> tuple[TurnResult | Abstention, list[TurnStep]]:
        count = iter(range(10**6))
        taking = turn(asked, *seatings, modes=[modes] * len(seatings))
        return drive(taking, lambda _send: cycle[next(count) % len(cycle)])

    result, orders = run()
    asks = (1 + shape_asks) * (1 + rule_asks)
    # Two minutes of rests that double to half a minute are eight more calls to the last model at most.
    most_sends = asks * (sum(row.attempts + MOST_REFUSED for row in seatings) + 8) + len(seatings) * (len(modes) - 1)
    assert len(sends(orders)) <= most_sends
    assert len([row for row in rejections(orders) if row.because == "rule"]) <= rule_asks
    assert len([row for row in rejections(orders) if row.because == "shape"]) <= shape_asks * (1 + rule_asks)
    assert all(0 < seconds <= LONGEST_ASKED_REST_S for seconds in rests(orders))
    assert run() == (result, orders), "the same replies and faults bring the same orders: that is what resuming is"
    if isinstance(result, TurnResult):
        assert result.asked <= asks
        assert asked.spec.read(result.content) == result.turn
        assert asked.spec.violations(result.turn) == result.violations
    else:
        assert result.seat == "pro"
        assert result.reason == "misfit" or result.reason in set(FaultKind)
        assert result.detail


@examples(12)
@given(st.integers(0, 10**6), st.sampled_from(["freeform", "structured"]))
def test_seat_malformed_at_random_repaired_asked_again(seed: int, name: str) -> None:
    """A seat that is malformed at random is repaired asked again or abstains."""
    debate = Debate(name, FORMATS[name].rules(), Answers(str(seed)))
    path, asked = list(debate.held().asks.items())[seed % len(debate.held().asks)]
    good = json.dumps(debate.answers.content(path, asked))
    texts = iter([malform(good, seed + number) for number in range(2)] + [good] * 50)
    result, orders = drive(turn(asked, name=name), lambda _send: reply(next(texts)))
    assert isinstance(result, TurnResult)
    assert len(sends(orders)) <= (1 + asked.limits.shape_asks) * (1 + asked.limits.rule_asks)
