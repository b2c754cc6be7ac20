"""The gate opens by its rules: never for look-ups, for a great downside, for risk with an unsure answer."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio import should_debate
from disputatio.errors import InvalidInputError
from disputatio.judging.gate import HEDGES, HIGH_RISK, PRESET_KINDS

amounts = st.none() | st.decimals(0, 10**9, allow_nan=False, allow_infinity=False, places=2)
confidences = st.none() | st.floats(0, 1)


@given(st.sampled_from(["factual", "lookup", " FACTUAL "]), confidences, amounts)
def test_a_factual_look_up_is_never_debated(kind: str, confidence: float | None, downside: Decimal | None) -> None:
    assert not should_debate(kind, confidence, downside, answer="perhaps").debate


@given(st.sampled_from([*HIGH_RISK, "general"]), confidences, amounts, st.booleans())
def test_the_gate_is_the_rule_written_out(
    kind: str, confidence: float | None, downside: Decimal | None, hedged: bool
) -> None:
    found = should_debate(kind, confidence, downside, answer="It depends on the court." if hedged else "It is so.")
    great = downside is not None and downside > 25
    unsure = (confidence is not None and confidence < 0.7) or hedged
    assert found.debate == (great or (kind in HIGH_RISK and unsure))
    assert found.rule == ("downside" if great else "risk" if found.debate else "otherwise")
    assert found.reason


@pytest.mark.parametrize(("preset", "kind"), PRESET_KINDS.items())
def test_a_kind_may_be_called_by_its_preset(preset: str, kind: str) -> None:
    assert should_debate(preset.upper(), 0.2) == should_debate(kind, 0.2)


@pytest.mark.parametrize("kind", ["contrakt", "pricing", "", "contract risk"])
def test_an_unknown_kind_of_task_is_refused(kind: str) -> None:
    """A misspelt kind passed for one without risk, and its debate was never held."""
    with pytest.raises(InvalidInputError, match="no kind of task"):
        should_debate(kind, 0.2)


def test_the_downside_must_be_more_than_fifty_times_the_cost() -> None:
    assert not should_debate("general", downside=Decimal(100), cost=Decimal(2)).debate
    assert should_debate("general", downside=Decimal("100.01"), cost=Decimal(2)).debate


@pytest.mark.parametrize("words", HEDGES)
def test_every_hedge_of_the_table_is_found(words: str) -> None:
    assert should_debate("contract", 0.9, answer=f"The clause {words.upper()} a lawyer.").debate


@pytest.mark.parametrize("answer", ["The maybelline clause is dead.", "Improbable.", "It believes nothing."])
def test_words_that_only_contain_a_hedge_are_none(answer: str) -> None:
    assert not should_debate("contract", 0.9, answer=answer).debate


@pytest.mark.parametrize("given", [{"confidence": 1.2}, {"confidence": -0.1}, {"downside": -1}, {"cost": Decimal(0)}])
def test_numbers_out_of_range_are_refused(given: dict[str, float | Decimal]) -> None:
    with pytest.raises(InvalidInputError):
        should_debate("contract", **given)  # type: ignore[arg-type]
