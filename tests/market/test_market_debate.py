"""What is true of every market debate: who sees what, what is checked, and what follows from the turns."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from disputatio.errors import InvalidInputError
from disputatio.formats.debate_context import DebateContext
from disputatio.formats.market import ANALYSTS, LENSES, MARKET_RUBRIC, MarketRules, lens_of, market
from disputatio.formats.market_verdict import DISCLAIMERS, MarketVerdict
from disputatio.formats.registry import FORMATS
from disputatio.formats.turns.market_arguments import MarketExaminationSpec, MarketOpeningSpec
from disputatio.formats.turns.market_closing import MarketClosingSpec
from disputatio.formats.turns.market_figures import FigureChecker
from disputatio.formats.turns.market_judging import MarketJudgingSpec
from disputatio.judging.scoring import weigh_scores
from disputatio.kernel import Abstention, Ask, AskPath, Driver
from disputatio.market.knowledge import KnowledgeBase
from disputatio.market.knowledge_json import as_json, from_json
from disputatio.market.slices import Lens, format_datum, take_slice
from disputatio.motion import Motion
from disputatio.participants.analyst.textbook import packaged_text, read_textbook
from disputatio.participants.analyst.turns import answer
from disputatio.participants.human.turn_form import NumberField, form_from_schema
from disputatio.prompts import PromptBook, PromptContext, compose
from disputatio.testing import instance
from strategies import Answers, debates, docket_of, example_base, examples, hold

BOOK = read_textbook(packaged_text())
DOCKET = docket_of("market")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")


def checker(lens: str) -> FigureChecker:
    """What a seat of the lens has before it, of the example."""
    return FigureChecker(example_base(), take_slice(example_base(), LENSES[lens]))


def figure(basis: str, value: str, unit: str, source: str) -> dict[str, str]:
    return {"basis": basis, "value": value, "unit": unit, "source": source}


def argument(claim: str, *figures: dict[str, str], confidence: float = 0.7) -> dict[str, Any]:
    return {
        "claim": claim,
        "evidence": list(figures),
        "confidence": confidence,
        "counterpoints": ["It may be otherwise."],
        "assumptions": ["Nothing else changes."],
    }


RSI = figure("technicals.EXI.rsi_14", "62", "points", "technicals")


def by_rules(path: AskPath, asked: Ask) -> Any:
    given = answer(BOOK, asked)
    return given if isinstance(given, Abstention) else asked.spec.read(given)


# --- the order of speech, and who sees what --------------------------------------------------------------------


def test_openings_and_closings_are_asked_at_once():
    """Openings and closings are asked at once and pairs one after the other."""
    driver = Driver(market(MarketRules(), DOCKET))
    seen: list[set[str]] = []
    while not driver.finished:
        seen.append(set(driver.open_asks))
        for path, asked in driver.open_asks.items():
            driver.answer(path, by_rules(path, asked))
    bulls = {f"cross-examination/{lens}/{lens}_bull" for lens in LENSES}
    bears = {f"cross-examination/{lens}/{lens}_bear" for lens in LENSES}
    assert seen[0] == {f"opening/{seat}" for seat in ANALYSTS}
    assert seen[1] == bulls
    assert set().union(*seen[2:-2]) <= bulls | bears
    assert seen[-2] == {f"closing/{seat}" for seat in ANALYSTS}
    assert seen[-1] == {"judging/judge"}


def test_a_bear_hears_its_bull_and_not_the_reverse():
    """A bear has heard its bull and a bull has not heard its bear."""
    held = hold(market(MarketRules(), DOCKET), by_rules)
    for lens in LENSES:
        bull = held.asks[AskPath(f"cross-examination/{lens}/{lens}_bull")]
        bear = held.asks[AskPath(f"cross-examination/{lens}/{lens}_bear")]
        heard = [(post.seat, post.phase) for post in bear.messages]
        assert (f"{lens}_bull", "cross-examination") in heard
        assert all(post.phase != "cross-examination" for post in bull.messages)


def foreign_texts(seat: str) -> set[str]:
    """Every value of the example as it is written, and every pointer, that the seat's slice does not hold."""
    base, own = example_base(), take_slice(example_base(), lens_of(seat))
    told = {format_datum(row) for row in own.data.values() if row.is_known}
    pointers = [pointer for lens in LENSES.values() for pointer in take_slice(base, lens).data]
    found = {pointer for pointer in pointers if pointer not in own.data}
    values = {pointer: row for lens in LENSES.values() for pointer, row in take_slice(base, lens).data.items()}
    numbers = {format_datum(row) for pointer, row in values.items() if pointer in found and row.number is not None}
    # A number that the slice has too (two sectors changed by 4.1 and so did a price) tells nothing.
    own_numbers = {number for text in told for number in NUMBER.findall(text)}
    return found | {text for text in numbers if not set(NUMBER.findall(text)) & own_numbers}


def prompts_of(answering: Any) -> dict[str, list[str]]:
    """Every prompt of every seat, as a model would be sent it."""
    held = hold(market(MarketRules(), DOCKET), answering)
    setting, book = PromptContext("market", Motion("Will it rise?")), PromptBook()
    found: dict[str, list[str]] = {}
    for asked in held.asks.values():
        text = "\n".join(row.text for row in compose(book, setting, asked))
        found.setdefault(asked.seat, []).append(text)
    return found


@pytest.mark.parametrize("answering", [by_rules, Answers("seen")], ids=["rules", "instances"])
def test_no_prompt_of_a_seat_holds_a_value_outside_its_slice(answering: Any):
    for seat, prompts in prompts_of(answering).items():
        if seat == "judge":
            continue
        foreign = foreign_texts(seat)
        assert len(foreign) > 20, "there is something to leak"
        leaked = {
            text
            for text in foreign
            for prompt in prompts
            if re.search(rf"(?<![\w.+-]){re.escape(text)}(?![\w.])", prompt)
        }
        assert leaked == set()


def test_the_judge_sees_every_value():
    """The judge sees every value and what the check of every figure came to."""
    (prompt,) = prompts_of(by_rules)["judge"]
    base = example_base()
    for lens in LENSES.values():
        for pointer, datum in take_slice(base, lens).data.items():
            assert f"{pointer} {'=' if datum.is_known else 'is'} {format_datum(datum)}" in prompt
    held = hold(market(MarketRules(), DOCKET), by_rules)
    assert prompt.count("⟦verified⟧") >= len(held.outcome.figures)


# --- what a legal turn is ------------------------------------------------------------------------------------------


def opening(*arguments: dict[str, Any], seat: str = "tech_bull") -> Any:
    form = MarketOpeningSpec(seat, checker(seat.partition("_")[0]))
    turn = form.read({"arguments": list(arguments)})
    return turn, {row.rule for row in form.violations(turn)}


def test_arguments_are_numbered_from_nought_under_their_seat():
    turn, broken = opening(argument("The RSI at 62 shows momentum", RSI), argument("The MACD is bullish", RSI))
    assert [row.id for row in turn.arguments] == ["tech_bull_arg_0", "tech_bull_arg_1"]
    assert broken == set()


@pytest.mark.parametrize(
    ("given", "status"),
    [
        (RSI, "verified"),
        (figure("technicals.EXI.rsi_14", "26", "points", "technicals"), "wrong"),
        (figure("indices.EXI.vs_52w_high_pct", "3.2", "%", "indices"), "wrong"),
        (figure("technicals.EXI.rsi_14", "62", "%", "technicals"), "wrong"),
        (figure("sentiment.vix_level", "18.2", "points", "technicals"), "not in slice"),
        (figure("technicals.EXI.rsi_15", "62", "points", "technicals"), "not in base"),
        (figure("its own estimate", "4000", "points", "inferred"), "inferred"),
    ],
)
def test_a_figure_is_looked_up_and_what_is_not_borne_out(given: dict[str, str], status: str):
    """A figure is looked up and what is not borne out is asked again."""
    turn, broken = opening(argument("Momentum is there", given), argument("The MACD is bullish", RSI))
    assert turn.arguments[0].figures[0].status == status
    assert ("unverified_figure" in broken) == (status not in {"verified", "inferred"})
    assert f"⟦{status}⟧" in turn.text()


def test_a_claim_of_a_hundred_characters_is_a_breach():
    """A claim of a hundred characters is a breach that is kept."""
    long = argument("x" * 100, RSI)
    form = MarketOpeningSpec("tech_bull", checker("tech"))
    _, broken = opening(long, argument("The MACD is bullish", RSI))
    assert "claim_length" in broken
    assert form.schema["properties"]["arguments"]["items"]["properties"]["claim"]["maxLength"] == 99  # type: ignore[index,call-overload]


def test_a_number_in_a_claim_that_nothing_bears_out_is_a_breach():
    turn, broken = opening(argument("Price is 17 % above its average", RSI), argument("The RSI is 62", RSI))
    assert broken == {"unsupported_number"}
    assert [row.text for row in turn.arguments[0].words] == ["17"]


@given(st.lists(st.sampled_from(["refute", "question_evidence", "concede", "partial"]), min_size=1, max_size=4))
def test_at_least_half_of_the_responses_challenge(kinds: list[str]):
    """At least half of the responses challenge or it is a breach."""
    turn, _ = opening(*(argument(f"Claim {'abcd'[place]} of the bull", RSI) for place in range(len(kinds))))
    form = MarketExaminationSpec("tech_bear", turn.arguments, (), checker("tech"))
    content = {
        row.id: {"reasoning": f"For a reason of its own, {row.id}", "challenge_type": kind, "new_evidence": []}
        for row, kind in zip(turn.arguments, kinds, strict=True)
    }
    broken = {row.rule for row in form.violations(form.read(content))}
    challenging = sum(kind in {"refute", "question_evidence"} for kind in kinds)
    assert ("too_few_challenges" in broken) == (challenging < len(kinds) - challenging)
    assert "inferred" not in str(form.schema), "new evidence comes from the knowledge base alone"


@pytest.mark.parametrize(("words", "legal"), [(49, False), (50, True), (100, True), (101, False)])
def test_a_final_stance_has_fifty_to_a_hundred_words(words: int, legal: bool):
    turn, _ = opening(argument("The RSI is 62", RSI), argument("The MACD is bullish", RSI))
    form = MarketClosingSpec("tech_bull", turn.arguments, (), (), checker("tech"))
    claim = {"refinement": "It stands as it is.", "status": "stands", "confidence_adjusted": 0.5}
    content: Any = {
        "refined_claims": {row.id: claim for row in turn.arguments},
        "final_stance": " ".join(["word"] * words),
        "conviction_change": "unchanged",
    }
    broken = {row.rule for row in form.violations(form.read(content))}
    assert ("word_limit" not in broken) == legal


# --- what follows ----------------------------------------------------------------------------------------------


@examples(6)
@given(debates("market", st.sampled_from((0.0, 0.2))))
def test_scores_are_the_exact_weights(debate: Any):
    """Scores are the exact weights and missing turns stay missing."""
    held = debate.held()
    verdict: MarketVerdict = held.outcome
    for row in verdict.trace:
        if row.judgement is None:
            assert row.score is None
            continue
        scores = row.judgement.scores
        weights = {"logic": 30, "evidence": 30, "clarity": 20, "persuasiveness": 20}
        assert row.score == Fraction(sum(weights[key] * scores[key] for key in weights), 100)
    silent = {path.rpartition("/")[2] for path, turn in held.answers.items() if isinstance(turn, Abstention)}
    assert {row.seat for row in verdict.analysts if row.silences} == silent - {"judge"}
    body = verdict.as_json()
    assert tuple(body["disclaimers"]) == DISCLAIMERS  # type: ignore[arg-type]


def test_an_argument_on_a_false_figure_is_refuted():
    """An argument on a false figure is refuted whatever the other side says."""
    false = figure("technicals.EXI.rsi_14", "26", "points", "technicals")

    def answering(path: AskPath, asked: Ask) -> Any:
        if path == "opening/tech_bull":
            return asked.spec.read({"arguments": [argument("Oversold", false), argument("The RSI is 62", RSI)]})
        if path == "cross-examination/tech/tech_bear":
            kind = {"reasoning": "It is so, for all I know.", "challenge_type": "concede", "new_evidence": []}
            return asked.spec.read({"tech_bull_arg_0": kind, "tech_bull_arg_1": kind})
        return by_rules(path, asked)

    verdict: MarketVerdict = hold(market(MarketRules(), DOCKET), answering).outcome
    standings = {row.argument: row.exhibit.computed.value for row in verdict.of("tech_bull")}
    assert standings["tech_bull_arg_0"] == "REFUTED"
    assert standings["tech_bull_arg_1"] == "UPHELD"


def test_a_judge_who_gives_everything_eight_is_found_out():
    def answering(path: AskPath, asked: Ask) -> Any:
        if isinstance(asked.spec, MarketJudgingSpec):
            content: Any = answer(BOOK, asked)
            for row in content["arguments"].values():
                row.update(dict.fromkeys(("logic", "evidence", "clarity", "persuasiveness"), 8))
            return asked.spec.read(content)
        return by_rules(path, asked)

    verdict: MarketVerdict = hold(market(MarketRules(), DOCKET), answering).outcome
    assert [row.value for row in verdict.spread.findings] == ["crowded", "flat"]
    assert verdict.as_json()["inflation"]["findings"] == ["crowded", "flat"]  # type: ignore[index,call-overload]


def test_without_a_knowledge_base_there_is_no_debate():
    with pytest.raises(InvalidInputError, match="needs a knowledge base"):
        Driver(market(MarketRules(), DebateContext(FORMATS["market"].seats, Motion("Up?"))))


# --- the document's example (requirement M, [001]) -----------------------------------------------------------------

PE = "fundamentals.sp500_pe_approx"
DOCUMENTS_FIGURES = [
    ("fund", f"({PE}.current_pe_approx / {PE}.long_term_avg_pe - 1) * 100", "+18.8", "%", "fundamentals"),
    ("fund", "fundamentals.sp500_earnings_yield_approx", "3.51", "%", "fundamentals"),
    ("fund", f"100 / {PE}.current_pe_approx", "3.51", "", "fundamentals"),
    ("tech", "sectors.XTECH.relative_strength_vs_spx", "2.7", "pp", "sectors"),
    ("tech", "sectors.XFIN.relative_strength_vs_spx", "-3.6", "pp", "sectors"),
    ("tech", "sectors.XIND.relative_strength_vs_spx", "-0.7", "pp", "sectors"),
    ("tech", "sectors.XTECH.change_20d_pct - indices.EXI.returns.20d", "2.7", "pp", "sectors"),
    ("macro", "macro.T10Y2Y.latest_value", "-0.35", "%", "macro"),
    ("senti", "sentiment.sector_breadth.positive_20d", "7/10", "", "sentiment"),
    ("senti", "indices.EXI.volume_ratio", "1.3", "x", "indices"),
]


@pytest.mark.parametrize(("lens", "basis", "value", "unit", "source"), DOCUMENTS_FIGURES)
def test_what_the_documents_base_supports_is_computed(lens: str, basis: str, value: str, unit: str, source: str):
    """What the documents base supports is computed and verified."""
    (found,) = checker(lens).read([figure(basis, value, unit, source)])
    assert found.status == "verified", found.why


@pytest.mark.parametrize(
    ("seat", "claim", "given"),
    [
        # An MA200 level inferred from the 200-day return: 4,850 / 1.285 is no average, and 4,120 is in no base.
        (
            "tech_bear",
            "Price is 17.7 % above its 200-day average",
            figure("technicals.EXI.ma_levels.ma200", "4120", "points", "technicals"),
        ),
        (
            "tech_bull",
            "Price sits above the 20-day average at 4,720",
            figure("technicals.EXI.ma_levels.ma20", "4720", "points", "technicals"),
        ),
        (
            "tech_bull",
            "The MACD line at 58.3 crossed above its signal line",
            figure("technicals.EXI.macd.line", "58.3", "points", "technicals"),
        ),
        # "75 %" where the base has 7 of 10.
        (
            "senti_bull",
            "75 % of the sectors gained over 20 days",
            figure("sentiment.sector_breadth.positive_20d", "75", "%", "sentiment"),
        ),
        # "Spread still positive": 3.51 against a bond yield of 4.2, which the base does not hold.
        (
            "fund_bull",
            "Earnings yield less bond yield is still positive",
            figure("fundamentals.sp500_earnings_yield_approx - 4.2", "0.69", "pp", "fundamentals"),
        ),
    ],
)
def test_what_the_documents_base_does_not_support_is_caught(seat: str, claim: str, given: dict[str, str]):
    form = MarketOpeningSpec(seat, checker(seat.partition("_")[0]))
    turn = form.read({"arguments": [argument(claim, given)]})
    (found,) = turn.arguments[0].figures
    assert found.status in {"wrong", "not in base"}, found.said
    assert {row.rule for row in form.violations(turn)} >= {"unverified_figure"}


JUDGED = [  # (logic, evidence, clarity, persuasiveness) of the document's judge, with the weighted score it prints
    ("tech_bull", (7, 8, 8, 7), "7.5"),
    ("tech_bear", (6, 6, 7, 5), "6.0"),
    ("fund_bull", (8, 7, 7, 7), "7.3"),
    ("fund_bear", (9, 8, 9, 8), "8.5"),
    ("macro_bull", (7, 7, 7, 6), "6.8"),
    ("macro_bear", (8, 8, 8, 8), "8.0"),
    ("senti_bull", (7, 7, 8, 6), "7.0"),
    ("senti_bear", (6, 5, 7, 5), "5.7"),
]


@pytest.mark.parametrize(("seat", "scores", "printed"), JUDGED)
def test_the_documents_weighted_scores_follow_from_its_integers(seat: str, scores: tuple[int, ...], printed: str):
    keys = ("logic", "evidence", "clarity", "persuasiveness")
    assert weigh_scores(dict(zip(keys, scores, strict=True)), MARKET_RUBRIC) == Fraction(printed)


def test_every_turn_can_be_taken_by_a_person():
    asks = hold(market(MarketRules(), DOCKET), Answers("people")).asks.values()
    assert all(form_from_schema(asked.spec.schema).fields for asked in asks)
    confidence = next(row for row in form_from_schema(next(iter(asks)).spec.schema).leaves() if row.key == "confidence")
    assert isinstance(confidence, NumberField)
    assert confidence.read("0.85") == 0.85
    with pytest.raises(ValueError, match="no number from 0 to 1"):
        confidence.read("85")


def test_a_small_model_whose_slice_knows_nothing_can_only_infer():
    base = nothing_known()
    form = MarketOpeningSpec(seat="fund_bull", checker=FigureChecker(base, take_slice(base, Lens.FUNDAMENTAL)))
    done: list[Any] = []
    while (part := form.next_part(tuple(done))) is not None:
        done.append(instance(part.schema, str(len(done))))
    turn = form.read(form.join(tuple(done)))
    assert len(turn.arguments) == form.minimum
    assert {row.status for argument in turn.arguments for row in argument.figures} == {"inferred"}


def test_a_small_model_that_is_asked_again_may_come():
    """A small model that is asked again may come to a figure it had."""
    form = MarketOpeningSpec(seat="tech_bull", checker=checker("tech"))
    part = form.next_part(())
    assert part is not None
    twice = instance(part.schema, "same")
    turn = form.read(form.join((twice, {**twice, "claim": "Another claim on the very same figure."})))
    assert turn.arguments[0].figures == turn.arguments[1].figures


def nothing_known() -> KnowledgeBase:
    """The example with no value known of any pointer."""
    body: Any = as_json(example_base())

    def emptied(node: Any) -> Any:
        if isinstance(node, dict) and "unit" in node:
            return {"value": None, "unit": node["unit"], "missing": "nobody publishes it"}
        return {key: emptied(row) for key, row in node.items()} if isinstance(node, dict) else node

    return from_json(emptied(body))
