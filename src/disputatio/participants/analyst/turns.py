"""How a rule-based analyst, and a rule-based judge, take their turns. No chance, no clock, no model.

Opening: the rules that fire, the strongest first; weak ones only as far as it takes to make the fewest arguments. Where
even they are too few, the analyst abstains and says so: it has nothing to argue from, and invents nothing.

Cross-examination: an argument with a figure that the base does not bear out is refuted by the true one. Else the first
objection of the table that fits counts. An argument that no objection fits is conceded, while half are challenged.

Closing: a challenge that brings verified figures narrows the argument, one that brings none leaves it as it is, and an
argument whose own figures are not borne out is withdrawn.

Judging: the standing is the computed one. The points follow from what code knows: the check of the figures, what the
argument drew, what its analyst made of it, and whether it names its own weaknesses.
"""

from __future__ import annotations

from collections.abc import Sequence

from disputatio.formats.debate_context import DebateContext
from disputatio.formats.market import ANALYSTS, JUDGE, MarketRules, market
from disputatio.formats.market_verdict import MarketVerdict
from disputatio.formats.turns.cross_examination import ArgumentStatus
from disputatio.formats.turns.market_arguments import (
    CHALLENGING,
    Challenge,
    ChallengeType,
    MarketArgument,
    MarketExaminationSpec,
    MarketOpeningSpec,
)
from disputatio.formats.turns.market_closing import Conviction, MarketClosingSpec
from disputatio.formats.turns.market_figures import Figure
from disputatio.formats.turns.market_judging import MarketExhibit, MarketJudgingSpec, MarketStanding
from disputatio.kernel import Abstention, Ask, Driver, Json, JsonObject, Seat
from disputatio.market.knowledge import KnowledgeBase
from disputatio.motion import Motion, count_words
from disputatio.participants.analyst.signals import choose_rules, find_objections, item_json
from disputatio.participants.analyst.textbook import Textbook, fill_in, in_plain_words, packaged_text, read_textbook

NO_SIGNAL = "no_signal"
_EVEN = 0.5


def answer(book: Textbook, ask: Ask) -> JsonObject | Abstention:
    """The turn of a rule-based participant.

    Args:
        book: the table it argues from.
        ask: the ask; its specification has the material to answer.
    """
    form = ask.spec
    if isinstance(form, MarketOpeningSpec | MarketExaminationSpec) and form.checker.part.blinded:
        book = in_plain_words(book)
    if isinstance(form, MarketOpeningSpec):
        return opening(book, form)
    if isinstance(form, MarketExaminationSpec):
        return examination(book, form)
    if isinstance(form, MarketClosingSpec):
        return closing(form)
    if isinstance(form, MarketJudgingSpec):
        return judging(form)
    return Abstention(ask.seat, "no_rules", f"there are no rules for a turn of the kind {form.name}")


def opening(book: Textbook, form: MarketOpeningSpec) -> JsonObject | Abstention:
    """The arguments of the rules that fire; an abstention where there are too few."""
    part = form.checker.part
    found = choose_rules(book, form.seat, part, form.minimum, form.maximum)
    if len(found) < form.minimum:
        looked_at = {row.indicator for row in book.rules_of(form.seat)}
        says = f"{len(found)} of {len(looked_at)} signals fire, and {form.minimum} arguments are the fewest"
        return Abstention(Seat(form.seat), NO_SIGNAL, says)
    return {
        "arguments": [
            {
                "claim": row.claim,
                "evidence": [item_json(item) for item in row.signal.items],
                "confidence": row.confidence,
                "counterpoints": [row.rule.counterpoint],
                "assumptions": [row.rule.assumes],
            }
            for row in found
        ]
    }


def examination(book: Textbook, form: MarketExaminationSpec) -> JsonObject:
    """A response to every opposing argument; of all that no objection fits, at most half are conceded."""
    spare = len(form.opposing) // 2
    used: set[str] = set()
    answers: dict[str, JsonObject] = {}
    for argument in form.opposing:
        found = _objection(book, form, argument, used)
        if found is None and spare:
            spare -= 1
            found = _response(ChallengeType.CONCEDE, _conceding(argument), ())
        elif found is None:
            found = _response(ChallengeType.QUESTION_EVIDENCE, _doubting(argument), ())
        elif found["challenge_type"] not in {row.value for row in CHALLENGING}:
            if spare:
                spare -= 1
            else:
                found = {**found, "challenge_type": ChallengeType.QUESTION_EVIDENCE.value}
        answers[argument.id] = found
        used.add(str(found["reasoning"]))
    return answers


def _objection(
    book: Textbook, form: MarketExaminationSpec, argument: MarketArgument, used: set[str]
) -> JsonObject | None:
    wrong = [row for row in argument.figures if not row.is_sound and not row.inferred]
    if wrong:
        return _response(ChallengeType.REFUTE, _correcting(argument, wrong[0]), _true_items(form, wrong[0]))
    if not any(row.is_sound for row in argument.figures):
        says = f"{argument.id} rests on inferences alone: the knowledge base has no figure for what it claims."
        return _response(ChallengeType.QUESTION_EVIDENCE, says, ())
    part = form.checker.part
    pointers = [pointer for row in argument.figures for pointer in row.checked.pointers]
    for row, signal in find_objections(book, form.seat, pointers, part):
        says = fill_in(row.says, signal.values)
        if says not in used:
            return _response(row.kind, says, [item_json(item) for item in signal.items])
    return None


def _true_items(form: MarketExaminationSpec, figure: Figure) -> list[JsonObject]:
    """The figure as the base has it, where the slice has it."""
    from disputatio.market.checking import build_item

    try:
        return [item_json(build_item(form.checker.part, figure.checked.item.basis))]
    except ValueError:
        return []


def _response(kind: ChallengeType, reasoning: str, items: Sequence[JsonObject]) -> JsonObject:
    rows: list[Json] = list(items)
    return {"reasoning": reasoning, "challenge_type": kind.value, "new_evidence": rows}


def _correcting(argument: MarketArgument, figure: Figure) -> str:
    return f"A figure of {argument.id} is not borne out by the knowledge base: it is {figure.status}."


def _conceding(argument: MarketArgument) -> str:
    return f"The figures of {argument.id} are verified, and no rule speaks against what follows from them."


def _doubting(argument: MarketArgument) -> str:
    return (
        f"The figures of {argument.id} are verified, but one reading of one indicator is thin: "
        "no published record ties it to the month ahead."
    )


def closing(form: MarketClosingSpec) -> JsonObject:
    """What is left of each argument, what is conceded, and a stance out of both."""
    claims: dict[str, JsonObject] = {}
    conceded: list[JsonObject] = []
    for argument in form.own:
        drew = [row for row in form.drew if row.target == argument.id]
        hold, confidence, says = _left_of(argument, drew)
        claims[argument.id] = {"refinement": says, "status": hold.value, "confidence_adjusted": confidence}
        if hold is not ArgumentStatus.STANDS:
            conceded.append({"target": argument.id, "accepted": _ACCEPTED[hold]})
    made = {row.target: row for row in form.made}
    conceded += [{"target": target, "accepted": _ACCEPTS[made[target].kind]} for target in form.conceded]
    before = sum(row.confidence for row in form.own)
    after = sum(float(str(row["confidence_adjusted"])) for row in claims.values())
    conviction = Conviction.UNCHANGED
    if abs(after - before) > 0.005 * len(form.own):
        conviction = Conviction.STRENGTHENED if after > before else Conviction.WEAKENED
    whole: dict[str, Json] = {"refined_claims": claims}
    if form.targets:
        whole["concessions"] = conceded[:8]
    whole["final_stance"] = _stance(form, claims, conviction)
    whole["conviction_change"] = conviction.value
    return whole


def _left_of(argument: MarketArgument, drew: Sequence[Challenge]) -> tuple[ArgumentStatus, float, str]:
    """Whether an argument stands, the confidence in it, and why."""
    if any(not row.is_sound and not row.inferred for row in argument.figures):
        return ArgumentStatus.WITHDRAWN, _EVEN, "A figure of it is not what the knowledge base says, so it is given up."
    proven = [row for row in drew if row.kind in CHALLENGING and row.figures and row.is_sound]
    if any(row.kind is ChallengeType.REFUTE for row in proven):
        says = "The figures hold, but so do those against it: it counts for less than it did."
        return ArgumentStatus.NARROWED, _towards(argument, 0.5), says
    if proven or any(row.kind is ChallengeType.PARTIAL for row in drew):
        says = "The figures hold; how far they reach is disputed with figures of the same base."
        return ArgumentStatus.NARROWED, _towards(argument, 0.75), says
    if any(row.kind is ChallengeType.CONCEDE for row in drew):
        return ArgumentStatus.STANDS, argument.confidence, "The other side accepts it."
    if not drew:
        return ArgumentStatus.STANDS, argument.confidence, "Nobody has said anything against it."
    return (
        ArgumentStatus.STANDS,
        argument.confidence,
        "What was said against it brings no figure, and its own figures are verified.",
    )


def _towards(argument: MarketArgument, share: float) -> float:
    """The confidence with so much of its distance from even odds; a confidence below even odds is cut by the same."""
    distance = argument.confidence - _EVEN
    return round(_EVEN + share * distance if distance > 0 else argument.confidence * (0.5 + share / 2), 4)


_ACCEPTED = {
    ArgumentStatus.NARROWED: "What was said against it is borne out by figures of the same base.",
    ArgumentStatus.WITHDRAWN: "The knowledge base does not bear out the figure it rests on.",
}
_ACCEPTS = {
    ChallengeType.CONCEDE: "Its figures are verified, and nothing in the rules speaks against it.",
    ChallengeType.PARTIAL: "The core of it is right; its reach is not.",
}


def _stance(form: MarketClosingSpec, claims: dict[str, JsonObject], conviction: Conviction) -> str:
    """Where the analyst stands, in fifty to a hundred words."""
    statuses = [str(row["status"]) for row in claims.values()]
    lens = {"tech": "technical", "fund": "fundamental", "macro": "macroeconomic", "senti": "sentiment"}
    way = "upwards" if form.seat.endswith("bull") else "downwards"
    first = next((row for row in form.own if claims[row.id]["status"] == ArgumentStatus.STANDS.value), form.own[0])
    counted = {hold: statuses.count(hold.value) for hold in ArgumentStatus}
    sentences = [
        f"By the published rules for {lens[form.seat.partition('_')[0]]} signals the case still points {way}."
        if counted[ArgumentStatus.WITHDRAWN] < len(statuses)
        else "By its own rules nothing is left of this case.",
        (
            f"Arguments: {_number(counted[ArgumentStatus.STANDS])} of {_number(len(statuses))} as made, "
            f"{_number(counted[ArgumentStatus.NARROWED])} narrowed, "
            f"{_number(counted[ArgumentStatus.WITHDRAWN])} withdrawn."
        ),
        f"The one that carries most is {first.id}.",
        f"Conviction is {conviction.value}.",
        "Rules read signals one by one: what they are not told they do not weigh, and of events they say nothing.",
        "A published rate is an average over many years and not a promise for the month ahead.",
    ]
    text = " ".join(sentences)
    return text if count_words(text) <= form.most_words else " ".join(sentences[:-1])


def _number(count: int) -> str:
    return ("none", "one", "two", "three", "four")[count] if count <= 4 else str(count)


def judging(form: MarketJudgingSpec) -> JsonObject:
    """Points and standings that follow from what code knows, and a summary of what is left of both cases."""
    findings: dict[str, JsonObject] = {}
    for exhibit in form.exhibits:
        points = _points(exhibit)
        scores = {row.key: points.get(row.key, _ORDINARY) for row in form.rubric.criteria}
        findings[exhibit.argument.id] = {
            "reason": _reason(exhibit),
            **scores,
            "standing": exhibit.computed.value,
        }
    return {"arguments": findings, **_synthesis(form.exhibits)}


_ORDINARY = 5
_BY_STANDING = {
    MarketStanding.UPHELD: 7,
    MarketStanding.WEAKENED: 6,
    MarketStanding.UNCERTAIN: 5,
    MarketStanding.REFUTED: 3,
}


def _points(exhibit: MarketExhibit) -> dict[str, int]:
    """Whole points, 1 to 10, from 5 for what is ordinary; 9 and 10 are never given."""
    argument, drew = exhibit.argument, exhibit.drew
    verified = sum(row.is_sound for row in argument.figures)
    wrong = sum(not row.is_sound and not row.inferred for row in argument.figures)
    inferred = sum(row.inferred for row in argument.figures)
    refuted = any(row.kind is ChallengeType.REFUTE and row.figures and row.is_sound for row in drew)
    conceded = any(row.kind is ChallengeType.CONCEDE for row in drew)
    hold = exhibit.refined.hold if exhibit.refined else None
    overstated = argument.confidence > 0.8 and (inferred or len(argument.figures) < 2)
    return {
        "logic": _within(_BY_STANDING[exhibit.computed] - bool(argument.words) - bool(overstated)),
        "evidence": _within(_ORDINARY + min(3, verified) - 2 * wrong - inferred if verified else 3 - min(2, wrong)),
        "clarity": _within(_ORDINARY + bool(verified) + (len(argument.claim) <= 85) - bool(argument.words)),
        "persuasiveness": _within(
            _BY_STANDING[exhibit.computed]
            + conceded
            - refuted
            - (hold is ArgumentStatus.WITHDRAWN)
            + bool(argument.counterpoints and hold is ArgumentStatus.NARROWED)
        ),
    }


def _within(points: int) -> int:
    return max(1, min(8, points))


def _reason(exhibit: MarketExhibit) -> str:
    argument = exhibit.argument
    verified = sum(row.is_sound for row in argument.figures)
    checked = f"{verified} of {len(argument.figures)} figures verified"
    drew = ", ".join(row.kind.value.replace("_", " ") for row in exhibit.drew) or "no response"
    return f"{exhibit.because[:1].upper()}{exhibit.because[1:]} ({checked}; drew {drew})."


def _synthesis(exhibits: Sequence[MarketExhibit]) -> JsonObject:
    sides = {side: [row for row in exhibits if row.argument.seat.endswith(f"_{side}")] for side in ("bull", "bear")}
    cases = {f"{side}_case": _case(side, rows) for side, rows in sides.items()}
    contested = [row for row in exhibits if row.computed in {MarketStanding.UNCERTAIN, MarketStanding.REFUTED}]
    point = max(contested, key=lambda row: len(row.drew), default=None)
    return {
        **cases,
        "key_disagreement": f"What {point.argument.id} claims is disputed with verified figures on both sides: "
        f"{point.argument.claim}."
        if point
        else "No claim was met with a figure that speaks against it; the two cases rest on different signals.",
        "key_insight": _insight(exhibits),
    }


def _case(side: str, rows: Sequence[MarketExhibit]) -> str:
    """The strongest remaining form of a case."""
    standing = [row for row in rows if row.computed in {MarketStanding.UPHELD, MarketStanding.WEAKENED}]
    if not standing:
        return f"Nothing of the {side} case came through the cross-examination whole."
    order = list(MarketStanding)
    best = sorted(standing, key=lambda row: order.index(row.computed))[:3]
    return "; ".join(row.argument.claim for row in best) + "."


def _insight(exhibits: Sequence[MarketExhibit]) -> str:
    upheld = dict.fromkeys(("bull", "bear"), 0)
    for row in exhibits:
        if row.computed is MarketStanding.UPHELD:
            upheld[row.argument.seat.rpartition("_")[2]] += 1
    lead = {True: "more of the bull case", False: "more of the bear case"}
    if upheld["bull"] == upheld["bear"]:
        return "Both cases come through alike: the same base supports either reading, by the signals one prefers."
    return (
        f"By fixed rules {lead[upheld['bull'] > upheld['bear']]} comes through the cross-examination. "
        "That measures which signals agree with each other, and not what the market will do."
    )


_USUAL = MarketRules()


def market_by_rules(
    base: KnowledgeBase, *, book: Textbook | None = None, rules: MarketRules = _USUAL, motion: str = ""
) -> MarketVerdict:
    """What the rule-based analysts and the rule-based judge make of ``base``; the same for the same base and table.

    Args:
        base: the knowledge base of one moment.
        book: the table they argue from; the packaged one where none is given.
        rules: the rules of the debate.
        motion: what is debated; the rules do not read it.

    Returns:
        The verdict: ``trace`` has every argument with its score, confidence and standing, ``of(seat)`` those of one
        analyst or side, ``analysts`` who abstained. It equals that of a debate in a store with ``--seat all=rules``.
    """
    table = book or read_textbook(packaged_text())
    subject = motion or f"Will {base.meta.subject_name} rise within a month?"
    driver = Driver(market(rules, DebateContext((*ANALYSTS, JUDGE), Motion(subject), knowledge=base)))
    while not driver.finished:
        for path, asked in driver.open_asks.items():
            given = answer(table, asked)
            driver.answer(path, given if isinstance(given, Abstention) else asked.spec.read(given))
    verdict: MarketVerdict = driver.outcome
    return verdict
