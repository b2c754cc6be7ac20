"""What a cache serves and what is billed follow the rules that providers state."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.participants.caching import RULES, CachedCall, CacheRules, Prices, bill, cache_rules
from disputatio.participants.model_seat import ModelSeating
from strategies import examples

PRICES = Prices(read=0.1, written=1.25)
EVEN = Prices(read=0.1, written=1.0)
BEHIND = CacheRules(1000, 1, schema_in_front=False)
FRONT = CacheRules(1000, 1, schema_in_front=True)
MARKED = CacheRules(1000, 1, schema_in_front=True, marks=True)
RULES_TEXT, FIRST, SECOND = (1, 800), (2, 400), (3, 300)


def sent(wave: int, *heard: tuple[int, int], schema: str = "", task: int = 50) -> CachedCall:
    return CachedCall(wave, (RULES_TEXT, *heard), task, schema, 200 if schema else 0)


def served(*calls: CachedCall, rules: CacheRules = BEHIND, staggered: bool = False) -> list[int]:
    """What each call was served, one after the other."""
    totals = [0, *(bill(calls[: n + 1], rules, EVEN, staggered=staggered).served for n in range(len(calls)))]
    return [later - before for before, later in pairwise(totals)]


def test_a_beginning_is_served_from_the_next_wave_on() -> None:
    calls = sent(1, FIRST), sent(1, FIRST), sent(2, FIRST, SECOND), sent(3, SECOND)
    assert served(*calls) == [0, 0, 1200, 0]
    assert served(*calls, staggered=True) == [0, 1200, 1200, 0]


def test_less_than_the_least_is_never_served() -> None:
    assert served(sent(1), sent(2)) == [0, 0]


def test_a_cache_grows_by_steps() -> None:
    assert served(sent(1, FIRST), sent(2, FIRST), rules=CacheRules(1024, 128, schema_in_front=True)) == [0, 1152]


def test_a_schema_in_front_ends_what_two_calls_share() -> None:
    calls = sent(1, FIRST, schema="a"), sent(2, FIRST, schema="b"), sent(3, FIRST, schema="a")
    assert served(*calls, rules=FRONT) == [0, 0, 1400]
    assert served(*calls, rules=BEHIND) == [0, 1200, 1200]


def test_schema_is_written_when_it_comes_a_second_time() -> None:
    """Where writing costs more a schema is written when it comes again."""
    calls = [sent(wave, FIRST, schema="a") for wave in (1, 2, 3)]
    assert served(*calls, rules=MARKED) == [0, 0, 1400]
    found = bill(calls, MARKED, PRICES)
    assert found.cost == pytest.approx(1450 + (1400 * 1.25 + 50) + (1400 * 0.1 + 50))


def test_a_mark_before_the_task_serves_a_longer_history() -> None:
    calls = sent(1, FIRST), sent(2, FIRST, SECOND)
    assert served(*calls, rules=MARKED) == [0, 1200]
    assert bill(calls, MARKED, PRICES).cost == pytest.approx(1200 * 1.25 + 50 + 1200 * 0.1 + 300 * 1.25 + 50)


pieces = st.lists(st.tuples(st.integers(0, 3), st.just(700)), max_size=4)
calls = st.lists(
    st.builds(
        CachedCall, wave=st.integers(1, 4), shared=pieces, task=st.integers(0, 90), schema=st.sampled_from(("", "a"))
    ),
    max_size=8,
).map(lambda rows: sorted(rows, key=lambda row: row.wave))


@examples(100)
@given(calls, st.sampled_from((*RULES.values(), BEHIND, FRONT, MARKED)))
def test_staggering_never_serves_less(rows: list[CachedCall], rules: CacheRules) -> None:
    plain, ahead = (bill(rows, rules, EVEN, staggered=staggered) for staggered in (False, True))
    assert 0 <= plain.served <= ahead.served <= plain.tokens == ahead.tokens == sum(row.tokens for row in rows)
    assert ahead.cost <= plain.cost + 1e-9 <= plain.tokens + 2e-9


def test_nothing_is_known_of_other_providers_and_addresses() -> None:
    assert cache_rules(ModelSeating(provider="openai", model="m")) is RULES["openai"]
    assert cache_rules(ModelSeating(provider="openai", model="m", base_url="https://example.org/v1")) is None
    assert cache_rules(ModelSeating(provider="openai_compatible", model="m", base_url="http://localhost/v1")) is None
    assert cache_rules(ModelSeating(provider="mistral", model="m")) is None
