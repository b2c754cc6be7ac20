"""The market debate: eight analysts with four lenses, and a judge.

The rules
    1. Seats. Technical, fundamental, macro and sentiment, each with a bull and a bear: tech_bull, tech_bear, fund_bull,
       fund_bear, macro_bull, macro_bear, senti_bull, senti_bear. Each pair sees only its own slice of the knowledge
       base, and only what the pair says. The judge sees everything.
    2. Opening, all eight at once. Two to four arguments each: a falsifiable claim of under 100 characters, its figures,
       a confidence from 0 to 1, counterpoints and assumptions. They are numbered tech_bull_arg_0, tech_bull_arg_1, ...
       A figure names its place in the slice, or how it follows from figures there. Code looks up every figure; one that
       the slice lacks must be marked as inferred. An unsupported figure or claim is asked for again once, and then
       stands with its status.
    3. Cross-examination within the lens. The bull first, then the bear, who has heard it; the four pairs at once. Each
       responds to every argument of the other: it refutes, questions the evidence, concedes or partly accepts. At least
       half of the responses must refute or question. New figures come from the slice; none may be inferred.
    4. Closing, all eight at once: what is left of each claim and the confidence in it now, the concessions, a final
       stance of 50 to 100 words, and whether the conviction is strengthened, weakened or unchanged.
    5. Judging. The judge scores every argument from 1 to 10 on logic, evidence, clarity and persuasiveness, gives its
       standing (upheld, weakened, refuted, uncertain), and sums up the bull case, the bear case, the main disagreement
       and the most important insight. Code computes weighted scores, the spread of the scores, and the standing that
       follows from the exchange.
    6. The scores measure the quality of the argument. They are no forecast, and nothing here is financial advice.

An analyst without an opening has nothing to defend or attack with. Its opponent is then not examined, which is shown.
Without arguments there is nothing to judge. A missing turn stays missing.

Source: the market debate protocol (eight agents, three rounds, judge). Departures: evidence is a list of figures that
code can look up instead of a sentence; the closing repeats the concessions of the cross-examination.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from disputatio.errors import InvalidInputError
from disputatio.formats.debate_context import DebateContext
from disputatio.formats.market_verdict import Analyst, MarketVerdict, build_exhibits, build_market_verdict
from disputatio.formats.turns.market_arguments import (
    MarketExamination,
    MarketExaminationSpec,
    MarketOpening,
    MarketOpeningSpec,
)
from disputatio.formats.turns.market_closing import FEWEST_WORDS, MOST_WORDS, MarketClosing, MarketClosingSpec
from disputatio.formats.turns.market_figures import FigureChecker
from disputatio.formats.turns.market_judging import MarketAdjudication, MarketExhibit, MarketJudgingSpec
from disputatio.judging.scoring import Criterion, Rubric
from disputatio.kernel import (
    Abstention,
    Channel,
    Limits,
    Message,
    Phase,
    Rulebook,
    Seat,
    Task,
    Transcript,
    ask,
    declare,
    together,
)
from disputatio.market.knowledge import KnowledgeBase
from disputatio.market.slices import Lens, take_slice, take_whole

LENSES: dict[str, Lens] = {
    "tech": Lens.TECHNICAL,
    "fund": Lens.FUNDAMENTAL,
    "macro": Lens.MACRO,
    "senti": Lens.SENTIMENT,
}
"""The lenses by their name in seats."""
BULL, BEAR = "bull", "bear"
ANALYSTS = tuple(Seat(f"{name}_{way}") for name in LENSES for way in (BULL, BEAR))
JUDGE, KNOWLEDGE_BASE = Seat("judge"), Seat("knowledge base")
OPENING, CROSS_EXAMINATION = Phase("opening"), Phase("cross-examination")
CLOSING, JUDGING, SLICE = Phase("closing"), Phase("judging"), Phase("slice")
JUDGE_CHANNEL = Channel("full_checker")

MARKET_RUBRIC = Rubric(
    "market",
    (
        Criterion(
            "logic", Fraction(30, 100), "Does the claim follow from its figures? 1 = it does not; 10 = watertight."
        ),
        Criterion(
            "evidence",
            Fraction(30, 100),
            "Are the figures specific, verified and to the point? 1 = vague or wrong; 10 = irrefutable.",
        ),
        Criterion(
            "clarity", Fraction(20, 100), "Can it be understood exactly and answered? 1 = no; 10 = at first reading."
        ),
        Criterion(
            "persuasiveness",
            Fraction(20, 100),
            "How well did it survive the cross-examination, honestly? 1 = it fell; 10 = nothing touched it.",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class MarketRules:
    """The rules of a market debate. Temperatures and token limits are the protocol's.

    Attributes:
        minimum_arguments: the fewest arguments of an opening.
        maximum_arguments: the most arguments of an opening.
        stance_fewest_words: the fewest words of a final stance.
        stance_most_words: the most words of a final stance.
        rubric: what the judge scores, with the weights.
    """

    minimum_arguments: int = 2
    maximum_arguments: int = 4
    stance_fewest_words: int = FEWEST_WORDS
    stance_most_words: int = MOST_WORDS
    rubric: Rubric = MARKET_RUBRIC
    opening: Limits = field(default=Limits(max_tokens=2000, temperature=0.7))
    cross_examination: Limits = field(default=Limits(max_tokens=1500, temperature=0.4))
    closing: Limits = field(default=Limits(max_tokens=900, temperature=0.5))
    judging: Limits = field(default=Limits(max_tokens=6000, temperature=0.2))


def market(rules: MarketRules, context: DebateContext) -> Rulebook[MarketVerdict]:
    """Run a market debate.

    Raises:
        InvalidInputError: the context has no knowledge base.
    """
    base = require_knowledge(context)
    checkers = {name: FigureChecker(base, take_slice(base, lens)) for name, lens in LENSES.items()}
    full_checker = FigureChecker(base, take_whole(base))
    transcript = open_transcript(checkers, full_checker)

    analysts = yield from together(
        *(open_case(seat, checkers[lens_name(seat)], transcript, rules) for seat in ANALYSTS)
    )
    transcript = transcript.add(*list_messages(OPENING, analysts))

    pairs = yield from together(
        **{name: cross_examine_pair(pair_of(name, analysts), transcript, rules) for name in LENSES}
    )
    analysts = tuple(row for pair in pairs for row in pair)
    transcript = transcript.add(*list_messages(CROSS_EXAMINATION, analysts))

    analysts = yield from together(
        *(close_case(row, opponent_of(row, analysts), transcript, rules) for row in analysts)
    )
    transcript = transcript.add(*list_messages(CLOSING, analysts))

    exhibits = build_exhibits(analysts)
    finding = yield from judge(exhibits, full_checker, transcript, rules)
    verdict = build_market_verdict(analysts, exhibits, finding, rules.rubric, base)
    for row in verdict.trace:
        yield from declare("score", row.argument, row.score_json())
    return verdict


def require_knowledge(context: DebateContext) -> KnowledgeBase:
    """Return the knowledge base of the debate.

    Raises:
        InvalidInputError: there is none.
    """
    if context.knowledge is None:
        raise InvalidInputError(
            "A market debate needs a knowledge base, and none is given.",
            "Give one with --knowledge FILE, or --knowledge example for the synthetic one.",
        )
    return context.knowledge


def lens_name(seat: str) -> str:
    """Return the name of a lens in its seats: ``tech``, ``fund``, ``macro`` or ``senti``."""
    return seat.partition("_")[0]


def lens_of(seat: str) -> Lens:
    """The lens of an analyst's seat."""
    return LENSES[lens_name(seat)]


def channel_of(seat: str) -> Channel:
    """Return the channel of a lens, which its pair and the judge read."""
    return Channel(seat.partition("_")[0])


def open_transcript(checkers: Mapping[str, FigureChecker], full_checker: FigureChecker) -> Transcript:
    """Return the transcript before the first turn: each pair reads its slice, the judge the whole base."""
    pairs = {Channel(name): frozenset({Seat(f"{name}_{BULL}"), Seat(f"{name}_{BEAR}"), JUDGE}) for name in LENSES}
    own = {_slice_channel(name): pairs[Channel(name)] - {JUDGE} for name in LENSES}
    readers = {**pairs, **own, JUDGE_CHANNEL: frozenset({JUDGE})}
    slices = [Message(KNOWLEDGE_BASE, SLICE, checker.text, _slice_channel(name)) for name, checker in checkers.items()]
    return Transcript(readers=tuple(readers.items())).add(
        *slices, Message(KNOWLEDGE_BASE, SLICE, full_checker.text, JUDGE_CHANNEL)
    )


def _slice_channel(name: str) -> Channel:
    return Channel(f"{name} slice")


def open_case(seat: Seat, checker: FigureChecker, transcript: Transcript, rules: MarketRules) -> Rulebook[Analyst]:
    """Ask one analyst for its case. It hears no other analyst."""
    spec = MarketOpeningSpec(
        seat, checker, rules.minimum_arguments, rules.maximum_arguments, bullish=seat.endswith(BULL)
    )
    counts = {"minimum": str(spec.minimum), "maximum": str(spec.maximum)}
    turn = yield from ask(
        seat,
        OPENING,
        spec=spec,
        task=make_task("opening", seat, checker, counts),
        messages=transcript.visible_to(seat),
        limits=rules.opening,
    )
    return (
        Analyst(seat, checker, opening=turn)
        if isinstance(turn, MarketOpening)
        else Analyst(seat, checker).without(turn)
    )


def cross_examine_pair(
    pair: tuple[Analyst, Analyst], transcript: Transcript, rules: MarketRules
) -> Rulebook[tuple[Analyst, Analyst]]:
    """Let the bull of a lens examine the bear; then the bear, who has heard it, the bull."""
    bull, bear = pair
    bull = yield from cross_examine(bull, bear, transcript, rules)
    bear = yield from cross_examine(bear, bull, transcript.add(*list_messages(CROSS_EXAMINATION, (bull,))), rules)
    return bull, bear


def cross_examine(own: Analyst, other: Analyst, transcript: Transcript, rules: MarketRules) -> Rulebook[Analyst]:
    """Ask one analyst to respond to every argument of the other."""
    if not other.arguments:
        return own
    targets = {"targets": ", ".join(row.id for row in other.arguments), "half": str(-(-len(other.arguments) // 2))}
    turn = yield from ask(
        own.seat,
        CROSS_EXAMINATION,
        spec=MarketExaminationSpec(own.seat, other.arguments, own.arguments, own.checker),
        task=make_task("cross-examination", own.seat, own.checker, targets),
        messages=transcript.visible_to(own.seat),
        limits=rules.cross_examination,
    )
    return own.after(examination=turn) if isinstance(turn, MarketExamination) else own.without(turn)


def close_case(own: Analyst, other: Analyst, transcript: Transcript, rules: MarketRules) -> Rulebook[Analyst]:
    """Ask one analyst what is left of its arguments."""
    if not own.arguments:
        return own
    spec = MarketClosingSpec(
        own.seat,
        own.arguments,
        other.challenges,
        own.challenges,
        own.checker,
        rules.stance_fewest_words,
        rules.stance_most_words,
    )
    words = {
        "own": ", ".join(row.id for row in own.arguments),
        "conceded": ", ".join(spec.conceded) or "none",
        "fewest": str(spec.fewest_words),
        "most": str(spec.most_words),
    }
    turn = yield from ask(
        own.seat,
        CLOSING,
        spec=spec,
        task=make_task("closing", own.seat, own.checker, words),
        messages=transcript.visible_to(own.seat),
        limits=rules.closing,
    )
    return own.after(closing=turn) if isinstance(turn, MarketClosing) else own.without(turn)


def judge(
    exhibits: tuple[MarketExhibit, ...], full_checker: FigureChecker, transcript: Transcript, rules: MarketRules
) -> Rulebook[MarketAdjudication | Abstention | None]:
    """Ask the judge for a finding on every argument; None without arguments."""
    if not exhibits:
        return None
    spec = MarketJudgingSpec(exhibits, rules.rubric, full_checker)
    words = {
        "criteria": "\n".join(f"  {row}" for row in spec.criteria().splitlines()),
        "arguments": ", ".join(row.argument.id for row in exhibits),
    }
    finding = yield from ask(
        JUDGE,
        JUDGING,
        spec=spec,
        task=Task("judging", words),
        messages=transcript.visible_to(JUDGE),
        limits=rules.judging,
    )
    return finding


def make_task(prompt: str, seat: Seat, checker: FigureChecker, words: dict[str, str]) -> Task:
    """Return an analyst's task in four layers: role, data, behaviour, and this turn."""
    lens = lens_of(seat)
    other = BEAR if seat.endswith(BULL) else BULL
    values = {
        **words,
        "seat": seat,
        "opponent": f"{seat.partition('_')[0]}_{other}",
        "lens": lens.value,
        "about": ABOUT[lens],
        "stance": STANCE[seat.partition("_")[2]],
        "modules": ", ".join(checker.modules),
    }
    return Task(prompt, values, layers=("role", "data", "behaviour"))


ABOUT: dict[Lens, str] = {
    Lens.TECHNICAL: "price, trend, momentum and the sectors' moves; not earnings, the economy or mood",
    Lens.FUNDAMENTAL: "valuation, earnings yield and which sectors lead; not chart patterns, the economy or mood",
    Lens.MACRO: "growth, prices, rates, jobs and markets abroad; not this market's chart, valuation or mood",
    Lens.SENTIMENT: "fear, volume and breadth; not the chart, valuation or the economy",
}
STANCE = {
    BULL: "that the market will rise",
    BEAR: "that the market will fall or is too risky to hold",
}


def pair_of(name: str, analysts: tuple[Analyst, ...]) -> tuple[Analyst, Analyst]:
    """Return the bull and the bear of one lens."""
    rows = {row.seat: row for row in analysts}
    return rows[Seat(f"{name}_{BULL}")], rows[Seat(f"{name}_{BEAR}")]


def opponent_of(own: Analyst, analysts: tuple[Analyst, ...]) -> Analyst:
    """The other analyst of the same lens."""
    bull, bear = pair_of(own.seat.partition("_")[0], analysts)
    return bear if own.seat == bull.seat else bull


def list_messages(phase: Phase, analysts: tuple[Analyst, ...]) -> tuple[Message, ...]:
    """Return what analysts said in ``phase``, on the channels of their lenses."""
    found = []
    for row in analysts:
        turn = {OPENING: row.opening, CROSS_EXAMINATION: row.examination, CLOSING: row.closing}[phase]
        if turn is not None:
            found.append(Message(row.seat, phase, turn.text(), channel_of(row.seat)))
    return tuple(found)
