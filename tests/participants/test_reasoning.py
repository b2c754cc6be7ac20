"""How much room a model is given to reason, what raises and lowers it, and when a call was cut while reasoning."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.participants.call import Call, Fault, FaultKind, OutputMode, Reply, Segment, Usage
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.reasoning import (
    ALLOWANCES,
    EIGHTFOLD,
    LARGEST,
    LARGEST_LIMIT,
    THREEFOLD,
    Allowances,
    ReasoningStats,
    first_allowance,
)
from disputatio.testing.provider.answers import context_too_long

WHOLE = json.dumps({"speech": "It is so."})
HALF = WHOLE[:9]


def seat(model: str = "mystery", effort: str | int | None = None, **more: Any) -> ModelSeating:
    given: dict[str, Any] = {"provider": "openai_compatible", "base_url": "http://a/v1", **more}
    return ModelSeating(model=model, reasoning_effort=effort, **given)


def call(answer: int = 1_000, allowance: int = 0) -> Call:
    segments = (Segment("user", "Speak."),)
    return Call(segments, None, "", OutputMode.TEXT, None, answer + allowance, reasoning_allowance=allowance)


def cut(text: str = "", reasoning: int | None = None, output: int | None = None) -> Reply:
    return Reply(text, "served", Usage(10, output, reasoning_tokens=reasoning), "length")


class TestFirst:
    """What a model is given before anything is known of it."""

    @pytest.mark.parametrize(
        ("model", "effort", "expected"),
        [
            ("mystery", None, 0),
            ("gpt-5", None, ALLOWANCES["medium"]),
            ("gpt-5", "minimal", ALLOWANCES["minimal"]),
            ("mystery", "high", ALLOWANCES["high"]),
            ("gpt-5", "none", 0),
            ("mystery", 7_777, 7_777),
        ],
    )
    def test_it_is_that_of_the_effort(self, model: str, effort: str | int | None, expected: int) -> None:
        assert first_allowance(seat(model, effort)) == expected
        assert Allowances().of(seat(model, effort), 1_000) == expected

    def test_the_embedded_model_has_none_and_gets_none(self) -> None:
        own, allowances = ModelSeating(provider="embedded", model="smollm2-135m"), Allowances()
        assert allowances.judge(own, call(), cut()) == cut()
        assert allowances.of(own, 1_000) == 0
        for effort in ("high", 7_777):
            thinker = ModelSeating(provider="embedded", model="qwen3-4b", reasoning_effort=effort)
            assert first_allowance(thinker) == allowances.of(thinker, 1_000) == 0, "its thinking is switched off"


class TestCutWhileReasoning:
    """A reply whose limit went into reasoning is a fault; one whose answer was too long is not."""

    @pytest.mark.parametrize(
        ("allowance", "reply"),
        [
            (0, cut()),
            (0, cut(" \n")),
            (4_000, cut(reasoning=5_000, output=5_000)),
            (0, cut(HALF, reasoning=900, output=1_000)),
            (4_000, cut(HALF, reasoning=4_900, output=5_000)),
            # Nobody says how much was reasoning; nine bytes are nine tokens at most.
            (0, cut(HALF, output=1_000)),
        ],
    )
    def test_it_is_told_with_the_setting_that_helps(self, allowance: int, reply: Reply) -> None:
        fault = Allowances().judge(seat(), call(allowance=allowance), reply)
        assert isinstance(fault, Fault)
        assert fault.kind is FaultKind.CUT_WHILE_REASONING
        assert (fault.usage, fault.served_model, fault.text) == (reply.usage, "served", reply.text)
        assert fault.message.startswith("openai_compatible:mystery at http://a/v1 used ")
        assert f"{1_000 + allowance:,} tokens of its limit for reasoning" in fault.message
        assert "reasoning_effort" in fault.message
        assert "max_tokens" in fault.message

    @pytest.mark.parametrize(
        ("allowance", "reply"),
        [
            # It did not reason, and wrote nothing all the same.
            (0, cut(reasoning=0, output=1_000)),
            # The answer was too long: reasoning kept to its allowance.
            (4_000, cut(HALF * 300, reasoning=3_000, output=5_000)),
            (0, cut(HALF * 300)),
            (0, cut(HALF * 300, output=1_000)),
            # It came to its end exactly at the limit.
            (0, cut(WHOLE, reasoning=990, output=1_000)),
            (0, Reply("", "served", Usage(10, 1_000, reasoning_tokens=1_000), "stop")),
            (0, Reply(WHOLE, "served", Usage(10, 1_000, reasoning_tokens=990), "stop")),
        ],
    )
    def test_other_answers_are_replies(self, allowance: int, reply: Reply) -> None:
        assert Allowances().judge(seat(), call(allowance=allowance), reply) is reply


class TestRaising:
    def test_who_did_not_finish_reasoning_gets_the_largest_at_once(self) -> None:
        allowances = Allowances()
        allowances.judge(seat(), call(), cut(reasoning=1_000, output=1_000))
        assert allowances.of(seat(), 1_000) == LARGEST

    def test_who_finished_gets_eight_times_what_it_took(self) -> None:
        allowances = Allowances()
        allowances.judge(seat(), call(2_000), cut(HALF, reasoning=1_900, output=2_000))
        assert allowances.of(seat(), 2_000) == EIGHTFOLD * 1_900

    def test_a_little_reasoning_gives_the_usual_room(self) -> None:
        allowances = Allowances()
        allowances.judge(seat(), call(), cut(HALF, reasoning=50, output=1_000))
        assert allowances.of(seat(), 1_000) == ALLOWANCES["medium"]

    def test_it_is_never_less_than_three_times_most_that_was_seen(self) -> None:
        """It is never less than three times the most that was seen."""
        allowances, gpt = Allowances(), seat("gpt-5")
        for tokens in (900, 5_000, 1_000):
            allowances.judge(gpt, call(allowance=10_000), Reply(WHOLE, None, Usage(1, 6_000, reasoning_tokens=tokens)))
        assert allowances.of(gpt, 1_000) == THREEFOLD * 5_000
        assert allowances.seen(gpt) == ReasoningStats(3, 6_900, 5_000)

    def test_it_holds_for_the_model_at_its_address_with_its_effort(self) -> None:
        allowances = Allowances()
        allowances.judge(seat(), call(), cut())
        assert allowances.of(seat(persona="A nurse.", temperature=0.1), 1_000) == LARGEST
        for other in (seat("other"), seat(base_url="http://b/v1"), seat(effort="none"), seat(provider="ollama")):
            assert allowances.of(other, 1_000) == first_allowance(other)

    def test_the_limit_never_passes_the_largest_that_providers_take(self) -> None:
        allowances = Allowances()
        allowances.judge(seat(), call(), cut())
        assert allowances.of(seat(), 16_000) == LARGEST_LIMIT - 16_000

    def test_a_users_own_number_may_be_larger(self) -> None:
        assert Allowances().of(seat(effort=200_000), 3_000) == 200_000

    def test_prompt_answer_and_allowance_fit_a_known_window(self) -> None:
        allowances = Allowances(lambda _: 32_768)
        allowances.judge(seat(), call(), cut())
        prompt = (Segment("user", "x" * 30_000),)
        assert allowances.of(seat(), 2_000, prompt) == 32_768 - 10_000 - 2_000
        assert allowances.of(seat(), 2_000, (Segment("user", "x" * 200_000),)) == 0


class TestRefusedLimits:
    """A server that does not take the limit is asked with a smaller one, down to that of the answer alone."""

    def refused(self, allowances: Allowances, own: ModelSeating, words: str, kind: FaultKind) -> Fault:
        sent = call(2_000, allowances.of(own, 2_000))
        fault = allowances.judge(own, sent, Fault(kind, words))
        assert isinstance(fault, Fault)
        return fault

    @pytest.mark.parametrize(
        ("kind", "words", "fits"),
        [
            (FaultKind.BAD_REQUEST, "max_tokens is too large: 27000. This model supports at most 16384 tokens", 14_384),
            (FaultKind.BAD_REQUEST, "`max_tokens` must be less than or equal to `8192`, the maximum", 6_192),
            (FaultKind.CONTEXT_TOO_LONG, context_too_long(16_384, 900, 27_000).message, 14_384),
            (FaultKind.CONTEXT_TOO_LONG, "the prompt is too long", 25_000 // 8),
        ],
    )
    def test_its_words_say_what_it_takes(self, kind: FaultKind, words: str, fits: int) -> None:
        allowances, own = Allowances(), seat(effort="high")
        fault = self.refused(allowances, own, words, kind)
        assert (fault.kind, fault.message) == (FaultKind.LIMIT_TOO_LARGE, words)
        assert allowances.of(own, 2_000) == fits

    def test_where_it_says_nothing_room_shrinks_until_there_is_none(self) -> None:
        """Where it says nothing the room shrinks until there is none."""
        allowances, own = Allowances(), seat(effort="high")
        tried = [allowances.of(own, 2_000)]
        while tried[-1]:
            self.refused(allowances, own, "too long", FaultKind.CONTEXT_TOO_LONG)
            tried.append(allowances.of(own, 2_000))
        assert tried == [25_000, 3_125, 0]
        assert self.refused(allowances, own, "too long", FaultKind.CONTEXT_TOO_LONG).kind is FaultKind.CONTEXT_TOO_LONG

    def test_a_window_that_is_told_and_does_not_fit_either_is_shrunk(self) -> None:
        allowances, own = Allowances(), seat(effort="high")
        words = "maximum context length is 16384 tokens"
        tried = [allowances.of(own, 2_000)]
        while tried[-1]:
            self.refused(allowances, own, words, FaultKind.CONTEXT_TOO_LONG)
            tried.append(allowances.of(own, 2_000))
        assert tried[:2] == [25_000, 14_384]
        assert tried == sorted(tried, reverse=True)
        assert len(tried) < 6

    def test_what_is_cut_later_does_not_pass_what_the_server_takes(self) -> None:
        allowances, own = Allowances(), seat(effort="high")
        self.refused(allowances, own, "supports at most 16384 completion tokens", FaultKind.BAD_REQUEST)
        allowances.judge(own, call(2_000, 14_384), cut(reasoning=16_384, output=16_384))
        assert allowances.of(own, 2_000) == 14_384

    def test_answer_that_grew_shrinks_to_what_answers_usually_need(self) -> None:
        """In as many calls as a seat has attempts: with room to reason, less, none, and with a usual answer."""
        allowances, own = Allowances(), seat("gpt-5")
        allowances.judge(own, call(), cut())
        tried = []
        for _ in range(4):
            answer, allowance = allowances.room(own, 12_000, 3_000, ())
            tried.append((answer, allowance))
            sent = replace(call(answer, allowance), usual_tokens=3_000)
            last = allowances.judge(own, sent, Fault(FaultKind.BAD_REQUEST, "max_tokens is too large"))
        assert tried == [(12_000, LARGEST_LIMIT - 12_000), (12_000, 6_692), (12_000, 0), (3_000, 0)]
        assert isinstance(last, Fault)
        assert last.kind is FaultKind.BAD_REQUEST

    def test_answer_shrinks_to_what_server_says_and_no_further(self) -> None:
        """An answer shrinks to what the server says and no further than is usual."""
        allowances, own = Allowances(), seat()
        sent = replace(call(12_000), usual_tokens=3_000)
        refused = Fault(FaultKind.BAD_REQUEST, "max_tokens is too large. This model supports at most 8192 tokens")
        judged = allowances.judge(own, sent, refused)
        assert isinstance(judged, Fault)
        assert judged.kind is FaultKind.LIMIT_TOO_LARGE
        assert allowances.room(own, 12_000, 3_000, ()) == (8_192, 0)
        assert allowances.room(own, 12_000, 9_000, ()) == (9_000, 0)
        assert allowances.room(own, 2_000, 2_000, ()) == (2_000, 0)

    def test_another_refusal_is_left_as_it_is(self) -> None:
        own, sent = seat(effort="high"), call(2_000, 25_000)
        other = Fault(FaultKind.BAD_REQUEST, "Unknown field: seed")
        assert Allowances().judge(own, sent, other) is other


class TestSmaller:
    """Where a ceiling forbids a call, one with less room to reason may do."""

    def limits(self, own: ModelSeating, allowances: Allowances, allowance: int) -> list[int]:
        smaller = list(allowances.smaller_calls(own, call(1_000, allowance)))
        assert all(row.max_tokens - row.reasoning_allowance == 1_000 for row in smaller)
        return [row.reasoning_allowance for row in smaller]

    def test_call_itself_comes_first_and_only_one_without_allowance(self) -> None:
        """The call itself comes first and is the only one without an allowance."""
        assert self.limits(seat(), Allowances(), 0) == [0]

    def test_it_goes_down_to_half_of_what_the_model_starts_with(self) -> None:
        assert self.limits(seat("gpt-5"), Allowances(), 60_000) == [60_000, 30_000, 15_000, 7_500]

    def test_an_answer_that_grew_has_what_is_usual_in_the_end(self) -> None:
        grown = replace(call(12_000, 20_000), usual_tokens=3_000)
        smaller = [
            (row.answer_tokens, row.reasoning_allowance) for row in Allowances().smaller_calls(seat("gpt-5"), grown)
        ]
        assert smaller == [(12_000, 20_000), (12_000, 10_000), (12_000, 5_000), (3_000, 5_000)]

    def test_it_never_goes_below_what_was_seen_and_a_quarter_more(self) -> None:
        allowances = Allowances()
        allowances.judge(seat(), call(), cut(reasoning=9_000, output=9_000))
        assert self.limits(seat(), allowances, 60_000) == [60_000, 30_000, 15_000]


def test_what_debates_of_before_have_seen_counts_until_this() -> None:
    """What debates of before have seen counts until this process has seen itself."""
    allowances = Allowances()
    assert list(allowances.claim_lookups([seat(), seat(), ModelSeating(provider="embedded", model="m")]).values()) == [
        seat()
    ]
    assert not allowances.claim_lookups([seat()])
    allowances.remember(seat(), ReasoningStats(40, 80_000, 6_000))
    assert allowances.of(seat(), 1_000) == 18_000
    allowances.judge(seat("two"), call(), Reply(WHOLE, None, Usage(1, 60, reasoning_tokens=50)))
    allowances.remember(seat("two"), ReasoningStats(40, 80_000, 6_000))
    assert allowances.of(seat("two"), 1_000) == 150


OUTCOMES = st.builds(
    cut,
    st.sampled_from(["", HALF, HALF * 900, WHOLE]),
    st.none() | st.integers(0, 70_000),
    st.none() | st.integers(0, 70_000),
) | st.builds(Fault, st.sampled_from(FaultKind), st.sampled_from(["max_tokens is too large", "context length is 4096"]))


@given(st.lists(st.tuples(st.sampled_from(["mystery", "gpt-5"]), OUTCOMES), max_size=8), st.integers(1, 20_000))
def test_allowance_is_never_negative_and_never_more_than_fits(
    rows: list[tuple[str, Reply | Fault]], answer: int
) -> None:
    """Whatever comes the allowance is no less than nothing and no more than fits."""
    allowances = Allowances(lambda _: 128_000)
    for model, outcome in rows:
        own = seat(model)
        allowances.judge(own, call(answer, allowances.of(own, answer)), outcome)
        for each in ("mystery", "gpt-5"):
            assert 0 <= allowances.of(seat(each), answer) <= LARGEST_LIMIT - answer
    assert list(itertools.islice(allowances.smaller_calls(seat(), call(answer)), 2)) == [call(answer)]
