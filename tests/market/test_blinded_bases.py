"""A blinded base: nothing in any prompt tells a name or a date, and what it says of the market is the same."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
from market_stage import settings_of

from disputatio.engine.market_setup import default_question, knowledge_as_source
from disputatio.engine.opening import Proposal
from disputatio.engine.runtime import Runtime, start
from disputatio.formats.registry import find_format
from disputatio.formats.single import SINGLE
from disputatio.market.blinding import assign_blind_keys, blind
from disputatio.market.knowledge import SERIES, KnowledgeBase, blind_pointer, collect_data
from disputatio.market.knowledge_json import as_json, from_json
from disputatio.market.sources.builder import build
from disputatio.market.sources.csv_folder import open_csv_folder
from disputatio.motion import Motion
from disputatio.participants.analyst.turns import market_by_rules
from disputatio.record.memory import MemoryStore
from disputatio.testing import ScriptedClient, instance
from strategies import example_base

MARKET = Path(__file__).parents[3] / "shared" / "market"
real = pytest.mark.skipif(not MARKET.is_dir(), reason="no market history beside the repository, ../shared/market")
DAYS = (date(2003, 2, 28), date(2008, 10, 31), date(2020, 3, 31))


@pytest.fixture(scope="module")
def history() -> list[KnowledgeBase]:
    shelf = open_csv_folder(MARKET)
    return [build(day, shelf) for day in DAYS]


def telling(base: KnowledgeBase) -> set[str]:
    """Every word of ``base`` that tells a name, a source, a vintage or a date; years by themselves too."""
    rows = [*base.indices.items(), *base.sectors.items(), *base.global_markets.items()]
    words = {base.meta.subject, base.meta.subject_name, *base.meta.data_sources, "S&P", "SPX", "sp500", "VIX"}
    words |= {word for key, row in rows for word in (key, row.name)}
    words |= {key for key, (plain, _) in SERIES.items() if plain != key}
    dates = {base.meta.day, base.meta.as_of, base.meta.generated_at}
    for datum in collect_data(base).values():
        words |= {datum.source, datum.vintage}
        dates |= {datum.observed_at, datum.available_at}
    dates |= {text[:10] for text in dates}
    return (words | dates | {text[:4] for text in dates}) - {""}


def found_in(text: str, words: set[str]) -> list[str]:
    every = "|".join(re.escape(word) for word in sorted(words))
    lines = "\n".join(dict.fromkeys(text.splitlines()))
    return sorted({row.group() for row in re.finditer(rf"(?<![\w.])(?:{every})(?!\w)", lines, re.IGNORECASE)})


async def prompts_on(base: KnowledgeBase, *seats: str) -> str:
    """Everything that the seats of a market debate are sent; a seat that is not named is taken by rules."""
    proposal = Proposal(
        Motion(default_question(base)), find_format("market"), settings_of("market", *seats), knowledge=base
    )
    # The instances that the models answer with speak of energy use; a sector is called so too.
    return (await sent_in(proposal)).replace("energy use", "")


async def sent_in(proposal: Proposal) -> str:
    """Everything that models are sent, who answer with any instance of the schema."""
    said = []

    def answer(call):
        said.append("\n".join(row.text for row in call.segments))
        return instance(call.schema, str(len(said)))

    await start(proposal, Runtime(MemoryStore(), client_factory=lambda *_: ScriptedClient(answer), checks_first=False))
    return "\n".join(said)


ALL, MIXED = ("all=openai_compatible:m",), ("all=rules", "judge=openai_compatible:m", "macro_bear=openai_compatible:m")


@pytest.mark.slow
@pytest.mark.parametrize("seats", [ALL, MIXED], ids=["models", "rules before a model"])
async def test_no_prompt_of_the_example_tells_a_name_or_a_date(seats):
    base = example_base()
    assert found_in(await prompts_on(base, *seats), telling(base)), "the search finds what the named base tells"
    assert found_in(await prompts_on(blind(base), *seats), telling(base)) == []


@real
@pytest.mark.slow
@pytest.mark.parametrize("seats", [ALL, MIXED], ids=["models", "rules before a model"])
async def test_no_prompt_on_real_history_tells_a_name_or_a_date(history, seats):
    for base in history:
        prompts = await prompts_on(blind(base), *seats)
        assert found_in(prompts, telling(base)) == []
        assert not re.search(r"(?<![\d.,])(?:19|20)\d\d(?![\d%])", prompts), "no number of four digits that is a year"


def conclusions(base: KnowledgeBase, words: dict[str, str]) -> list[tuple[object, ...]]:
    """What the rules make of a base, with its keys in other words."""

    def plain(pointer: str) -> str:
        return re.sub(r"\w+", lambda found: words.get(found.group(), found.group()), blind_pointer(pointer))

    verdict = market_by_rules(base)
    return [
        (
            row.argument,
            row.score,
            row.confidence,
            row.standing,
            tuple(sorted(plain(figure.checked.item.basis) for figure in row.exhibit.argument.figures)),
            tuple(each.kind for each in row.exhibit.drew),
        )
        for row in verdict.trace
    ]


@real
@pytest.mark.slow
def test_rules_conclude_the_same_argument_by_argument(history):
    for base in history:
        there, blinded = conclusions(base, {}), conclusions(blind(base), {})
        assert len(there) >= 8
        assert [row[:4] for row in there] == [row[:4] for row in blinded]
        assert [row[5] for row in there] == [row[5] for row in blinded]
        keys = assign_blind_keys(base)
        simple = [row[4] for row in conclusions(base, keys) if not any("sectors" in basis for basis in row[4])]
        assert simple == [row[4] for row in blinded if not any("sectors" in basis for basis in row[4])]


@real
@pytest.mark.slow
def test_ratios_signs_labels_and_what_is_not_known_stay(history):
    for base in history:
        other, keys = blind(base), assign_blind_keys(base)
        assert set(keys) == set(base.indices)
        assert len(other.sectors) == len(base.sectors)
        for key, word in keys.items():
            row, hidden = base.indices[key], other.indices[word]
            assert hidden.price.number == 100
            assert [datum.number for datum in hidden.returns.values()] == [
                datum.number for datum in row.returns.values()
            ]
            chart, theirs = base.technicals[key], other.technicals[word]
            levels = [row.price, *chart.ma_levels.values(), *chart.macd.values(), chart.atr_14]
            rebased = [hidden.price, *theirs.ma_levels.values(), *theirs.macd.values(), theirs.atr_14]
            assert [type(datum.content) for datum in levels] == [type(datum.content) for datum in rebased]
            pairs = [
                (one.number, two.number) for one, two in zip(levels, rebased, strict=True) if one.number is not None
            ]
            for (one, its), (two, theirs_too) in pairwise(pairs):
                assert its * two == pytest.approx(theirs_too * one, rel=Decimal("1e-8")), "ratios"
                assert (one < two) == (its < theirs_too), "order and sign"
        kinds = sorted(type(datum.content).__name__ for datum in collect_data(base).values())
        assert kinds == sorted(type(datum.content).__name__ for datum in collect_data(other).values())


def test_the_same_base_gives_the_same_and_goes_through_json():
    base = example_base()
    assert blind(base) == blind(base)
    assert from_json(as_json(blind(base))) == blind(base)
    assert blind(base).meta.blinded
    assert not base.meta.blinded


@pytest.mark.slow
async def test_a_single_agent_is_not_told_either():
    base = example_base()
    hidden = blind(base)
    single = Proposal(
        Motion(default_question(hidden)), SINGLE, settings_of("single", *ALL), (knowledge_as_source(hidden),)
    )
    prompt = await sent_in(single)
    assert "technicals.IDX_A.rsi_14" in prompt
    assert found_in(prompt, telling(base)) == []
