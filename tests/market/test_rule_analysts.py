"""Rule-based analysts: what fires, what they do where nothing does, and that they are participants like any other."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import disputatio
from disputatio.engine.market_setup import knowledge_row, recorded_knowledge
from disputatio.errors import InvalidInputError
from disputatio.formats.market import ANALYSTS, LENSES, MarketRules, market
from disputatio.formats.turns.market_arguments import MarketOpeningSpec
from disputatio.formats.turns.market_figures import FigureChecker
from disputatio.kernel import Abstention, Driver
from disputatio.market.expressions import find_pointers
from disputatio.market.knowledge import KnowledgeBase, Missing, collect_data
from disputatio.market.slices import render_slice, take_slice
from disputatio.market.sources.builder import build, open_source
from disputatio.market.sources.files import load_example
from disputatio.motion import count_words
from disputatio.participants.analyst.signals import choose_rules, fire_rules
from disputatio.participants.analyst.textbook import packaged_text, read_textbook
from disputatio.participants.analyst.turns import answer, market_by_rules, opening
from disputatio.participants.answers import SchemaChecks
from disputatio.record.memory import MemoryStore
from disputatio.record.text import canonical
from disputatio.testing import InstanceClient
from strategies import docket_of, example_base

BOOK = read_textbook(packaged_text())
MARKET = Path(__file__).parents[3] / "shared" / "market"


def without(base: KnowledgeBase, *names: str) -> KnowledgeBase:
    """``base`` with nothing known where a pointer contains one of ``names``."""
    from disputatio.market.knowledge_json import as_json, from_json

    body: Any = as_json(base)
    gone = {pointer for pointer in collect_data(base) if any(name in pointer for name in names)}

    def emptied(node: Any, path: tuple[str, ...]) -> Any:
        if ".".join(path) in gone:
            return {**{key: value for key, value in node.items() if key == "unit"}, "missing": "nobody publishes it"}
        if isinstance(node, dict):
            return {key: emptied(value, (*path, key)) for key, value in node.items()}
        return node

    return from_json(emptied(body, ()))


def test_every_seat_has_sourced_rules_of_every_strength():
    """Every seat has rules of every strength each with its source."""
    for seat in ANALYSTS:
        rules = BOOK.rules_of(seat)
        assert {row.strength.value for row in rules} == {"strong", "moderate", "weak"}, seat
        assert all(row.source and row.rate.source and row.counterpoint and row.assumes for row in rules)
    assert {row.seat for row in BOOK.objections} == set(ANALYSTS)


def test_every_rule_looks_only_where_its_seat_can():
    parts = {lens: take_slice(example_base(), row) for lens, row in LENSES.items()}
    for row in (*BOOK.rules, *BOOK.objections):
        modules = {pointer.partition(".")[0] for pointer in parts[row.seat.partition("_")[0]].data}
        for _, basis in row.figures:
            named = {
                pointer.partition(".")[0] for pointer in find_pointers(basis.replace("{S}", "EXI").replace("*", "X"))
            }
            assert named, basis
            assert named <= modules, (row.seat, basis)


def test_every_turn_fits_its_form_and_breaks_no_rule():
    checks, driver = SchemaChecks(), Driver(market(MarketRules(), docket_of("market")))
    while not driver.finished:
        for path, asked in driver.open_asks.items():
            content = answer(BOOK, asked)
            assert not isinstance(content, Abstention)
            assert checks.reasons(content, asked.spec.schema) == (), path
            turn = asked.spec.read(content)
            assert asked.spec.violations(turn) == (), path
            driver.answer(path, turn)
    assert all(50 <= count_words(row.closing.final_stance) <= 100 for row in driver.outcome.analysts)


def test_every_figure_is_verified_and_every_argument_scored():
    verdict = market_by_rules(example_base())
    assert {row.status for row in verdict.figures} == {"verified"}
    assert all(row.score is not None and row.judgement for row in verdict.trace)
    assert len(verdict.trace) >= 2 * len(ANALYSTS)
    assert verdict.as_json() == market_by_rules(example_base()).as_json(), "no chance is in it"


def test_weak_signals_speak_only_to_make_the_fewest_arguments():
    for seat in ANALYSTS:
        part = take_slice(example_base(), LENSES[seat.partition("_")[0]])
        firm = [row for row in fire_rules(BOOK, seat, part) if row.rule.strength.value != "weak"]
        spoken = choose_rules(BOOK, seat, part, 2, 4)
        weak = [row for row in spoken if row.rule.strength.value == "weak"]
        assert len(spoken) - len(weak) == min(4, len(firm))
        assert len(weak) <= max(0, 2 - len(firm))


def test_an_analyst_without_signals_abstains():
    """An analyst without signals abstains and says what it looked at."""
    poor = without(example_base(), "fundamentals.", "sectors.")
    form = MarketOpeningSpec("fund_bear", FigureChecker(poor, take_slice(poor, LENSES["fund"])))
    said = opening(BOOK, form)
    assert isinstance(said, Abstention)
    assert said.reason == "no_signal"
    assert "0 of" in said.detail
    verdict = market_by_rules(poor)
    assert {row.seat for row in verdict.analysts if row.silences} >= {"fund_bull", "fund_bear"}
    assert verdict.of("fund_bear") == ()
    assert verdict.total("fund_bear") is None
    assert verdict.total("tech_bull") is not None


def test_a_missing_figure_makes_no_argument():
    poor = without(example_base(), "rsi_14", "macro.T10Y2Y")
    for row in market_by_rules(poor).trace:
        cited = [pointer for figure in row.exhibit.argument.figures for pointer in figure.checked.pointers]
        assert not any("rsi_14" in pointer or "T10Y2Y" in pointer for pointer in cited)


def test_a_false_figure_of_a_model_is_refuted_with_the_true_one():
    driver = Driver(market(MarketRules(), docket_of("market")))
    false = {"basis": "technicals.EXI.rsi_14", "value": "26", "unit": "points", "source": "technicals"}
    row = {"evidence": [false], "confidence": 0.9, "counterpoints": ["It may turn."], "assumptions": ["It holds."]}
    while not driver.finished:
        for path, asked in driver.open_asks.items():
            content = answer(BOOK, asked)
            if path == "opening/tech_bull":
                content = {
                    "arguments": [{"claim": f"The index is oversold, {word}", **row} for word in ("once", "twice")]
                }
            driver.answer(path, content if isinstance(content, Abstention) else asked.spec.read(content))
    (first, _) = driver.outcome.of("tech_bull")
    (drawn,) = first.exhibit.drew
    assert drawn.kind.value == "refute"
    assert [row.said for row in drawn.figures] == ["technicals.EXI.rsi_14 = 62 points"]
    assert first.judgement.standing.value == "REFUTED"
    assert first.judgement.scores["evidence"] <= 2


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (("version = 1", "version = 2"), "version"),
        (('when = ["rsi < 30"]', 'when = ["rsi under 30"]'), "rsi under 30"),
        (('strength = "strong"', 'strength = "huge"'), "huge"),
        (('seat = "tech_bull"', 'seat = "star_bull"'), "star_bull"),
        (("of {r200} over", "of {r300} over"), "rule"),
        (('name = "textbook"', "name = "), "TOML"),
    ],
)
def test_a_slip_in_an_own_table_is_one_sentence(change: tuple[str, str], named: str):
    before, after = change
    text = packaged_text()
    changed = text.replace(before, after, 1) if before in text else text.replace("gained {r200}", "gained {r300}", 1)
    with pytest.raises(InvalidInputError, match=named):
        read_textbook(changed, "mine.toml")


async def test_a_model_bull_faces_a_rule_based_bear(monkeypatch: pytest.MonkeyPatch):
    """A model bull faces a rule based bear and both are in the record."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    seats = {"tech_bull": "openai:gpt-5"}
    debate = await disputatio.debate(
        format="market", seats=seats, store=MemoryStore(), client_factory=lambda *_a, **_k: InstanceClient()
    )
    kinds = {seat.seat: seat.kind for seat in debate.report().seats}
    assert kinds == {seat: "model" if seat == "tech_bull" else "analyst" for seat in (*ANALYSTS, "judge")}
    assert {row.seat for row in debate.report().calls and [each.sent for each in debate.report().calls]} == {
        "tech_bull"
    }


async def test_the_debate_in_a_store_is_the_debate_in_memory():
    debate = await disputatio.debate(format="market", store=MemoryStore())
    assert debate.status == "COMPLETE"
    pure = market_by_rules(load_example()).as_json()
    assert canonical(debate.outcome) == canonical(pure)


def test_the_same_base_under_another_name():
    """The same base under another name of its subject argues alike."""
    base = example_base()
    other = replace(base, meta=replace(base.meta, subject_name="Another Index"))
    assert [row.exhibit.argument.claim for row in market_by_rules(other).trace] == [
        row.exhibit.argument.claim for row in market_by_rules(base).trace
    ]


def test_missing_is_no_zero():
    base = without(example_base(), "sentiment.vix_level")
    assert isinstance(collect_data(base)["sentiment.vix_level"].content, Missing)
    assert not any("VIX" in row.exhibit.argument.claim for row in market_by_rules(base).of("senti_bull"))


def test_a_base_out_of_a_record_lies_before_the_seats_as_it_lay():
    base = example_base()
    row, text = knowledge_row(base)
    kept = recorded_knowledge((row,), {str(row["text"]): text})
    assert kept == base
    assert kept is not None
    assert all(render_slice(take_slice(kept, lens)) == render_slice(take_slice(base, lens)) for lens in LENSES.values())


@pytest.mark.slow  # reading the history takes a second
@pytest.mark.skipif(not MARKET.is_dir(), reason="no market history beside the repository, ../shared/market")
def test_on_real_history_every_figure_of_the_rules_is_verified():
    """On real history every figure of the rules is verified and every sentence borne out."""
    shelf = open_source(f"csv:{MARKET}")
    for year in range(2000, 2023, 3):
        for month in (3, 10):
            verdict = market_by_rules(build(date(year, month, 28), shelf))
            said = [figure for row in verdict.trace for figure in row.exhibit.argument.figures]
            assert {row.status for row in (*said, *verdict.figures)} == {"verified"}, (year, month)
            drew = [each for row in verdict.trace for each in row.exhibit.drew]
            closings = [row.closing for row in verdict.analysts if row.closing]
            sentences = (*(row.exhibit.argument for row in verdict.trace), *drew, *closings, verdict.finding)
            assert not any(row.words for row in sentences if row is not None), (year, month)
            assert all(len(row.exhibit.argument.claim) < 100 for row in verdict.trace)
            assert all(50 <= count_words(row.final_stance) <= 100 for row in closings)


async def test_rules_over_eleven_sectors_fit_their_form():
    """An expression that names every sector has some 440 characters; a bound meant for models kept rules silent."""
    base = example_base()
    keys = ("XLB", "XLE", "XLF", "XLI", "XLK", "XLP", "XLU", "XLV", "XLY", "XLRE", "XLC")
    rows = list(base.sectors.values())
    many = {key: rows[place % len(rows)] for place, key in enumerate(keys)}
    debate = await disputatio.debate(
        format=disputatio.Market(knowledge=replace(base, sectors=many)), store=MemoryStore()
    )
    assert debate.status == "COMPLETE"
    cited = [row["pointer"] for each in debate.outcome["trace"] for row in each["citations"]]
    assert max(map(len, cited)) > 240
