"""The review: a proposition, its critic, a rebuttal, a moderator; one round, three at most.

The rules
    1. Framing. The framer turns the question into a thesis, its scope, the criteria for a good answer and the key
       evidence. It takes no side. For a question its thesis is argued; a statement is argued as it stands. Where
       several positions are weighed and none is given, the framer names them.
    2. Proposition. The proposer makes the case: a thesis, three to five arguments with the weightiest first, and
       answers to the strongest objections. Arguments are numbered PROP-1, PROP-2, ... in the first round, from PROP-201
       on in the second, from PROP-301 on in the third.
    3. Critique. The critic assumes that the proposition is wrong and attacks: tail risks, misread evidence, hidden
       assumptions, harm even if it is true. Each criticism aims at one argument, or at the thesis: CRIT-1, CRIT-2, ...
       It must not soften itself. A critique with a strength below 6 is asked for once more, with a stronger
       instruction; the stronger of the two counts. Below 5 the debate is flagged.
    4. Rebuttal. The rebutter answers every criticism by its number: it refutes, accepts in part or concedes it, with
       new evidence or reasoning for what it contests. REB-3 answers CRIT-3.
    5. Striking. Where there are sources, an argument with missing or fabricated evidence is struck at once. Other
       seats, the moderator included, see only its number and the reason.
    6. Moderation. The moderator judges arguments, not positions: the quality of each, the resolution of each criticism,
       a synthesis with its confidence and at least one uncertainty, and whether another round would help. In a further
       round it also rules on every criticism still open from earlier rounds; the last ruling counts.
    7. Another round follows when the moderator asks for one and rounds are left; three is the maximum. All roles speak
       again and see everything before. Sources may be introduced at the beginning of a round. A round that is cut short
       does not change the last moderation.
    8. With several positions, each has a proposer. The critic and the rebutter take each position by itself, in
       parallel. The moderator reads them all and says how far the debate supports each; code ranks them.

A missing turn stays missing. Without a proposition there is nothing to review. Without a critique the proposition is
unchallenged, which is flagged. Without a framing the motion is debated as it stands. Without a moderation the review
ends.

Source: the review pattern. Departures: the moderator, not the configuration alone, decides on a second and third round;
what code finds in a critique caps its strength (see `judging.challenge`).

Editions. A record names the edition of the rules it began under, and resumes under it. A record without one is of the
first. There, each moderation settled its own round alone, a question was argued as it stood, and repetitive criticisms
did not count in the share of definite ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, ClassVar

from disputatio.formats.debate_context import DebateContext, numbered
from disputatio.formats.omission import omit
from disputatio.formats.review_round import Contest, Position, Round, numbers_from, still_open
from disputatio.formats.review_verdict import ReviewVerdict, Stop, build_review_verdict
from disputatio.formats.rule_values import Brief
from disputatio.formats.turns.citing import NOTHING, Citing
from disputatio.formats.turns.criticism import Criticism, CriticismSpec, Rebuttals, RebuttalSpec
from disputatio.formats.turns.moderation import Moderation, ModerationSpec, criteria_text, ids
from disputatio.formats.turns.proposition import Framing, FramingSpec, Proposition, PropositionSpec
from disputatio.kernel import Limits, Message, Phase, Rulebook, Seat, Task, Transcript, ask, declare, together

FRAMER, PROPOSER, CRITIC = Seat("framer"), Seat("proposer"), Seat("critic")
REBUTTER, MODERATOR, EVIDENCE = Seat("rebutter"), Seat("moderator"), Seat("evidence")
FRAMING = Phase("framing")


@dataclass(frozen=True, slots=True)
class ReviewRules:
    """The rules of a review. ``positions`` are weighed against each other; with none the motion is the only one.

    ``edition`` is recorded and cannot be set; ``ABSENT`` is its value for records without one.
    """

    ABSENT: ClassVar[Mapping[str, Any]] = {"edition": 1}
    MAXIMUM_ROUNDS: ClassVar[int] = 3
    USUAL_USD: ClassVar[Decimal] = Decimal("0.50")

    rounds: int = 1
    minimum_arguments: int = 3
    maximum_arguments: int = 5
    brief: Brief = field(default=Brief())
    positions: tuple[str, ...] = ()
    edition: int = 2
    framing: Limits = field(default=Limits(max_tokens=1000, temperature=0.3))
    proposition: Limits = field(default=Limits(max_tokens=2500, temperature=0.7))
    critique: Limits = field(default=Limits(max_tokens=2500, temperature=0.7))
    rebuttal: Limits = field(default=Limits(max_tokens=2000, temperature=0.5))
    moderation: Limits = field(default=Limits(max_tokens=3500, temperature=0.2))


@dataclass(frozen=True, slots=True)
class RoundContext:
    """The state at the beginning of a round: everything said before, and what may be cited."""

    number: int
    transcript: Transcript
    rules: ReviewRules
    citing: Citing
    english: bool = True
    before: tuple[Round, ...] = ()
    struck: frozenset[str] = frozenset()

    def phase(self, name: str) -> Phase:
        """Return the name of a phase in this round."""
        return Phase(name if self.number == 1 else f"{name}-round-{self.number}")


def review(rules: ReviewRules, context: DebateContext) -> Rulebook[ReviewVerdict]:
    """Run a review."""
    proposers = numbered(PROPOSER, context.seats)
    framing, transcript = yield from frame(rules, context, len(proposers))
    positions = assign_positions(rules, context, proposers, framing)
    rounds: tuple[Round, ...] = ()
    stop = Stop.UNFRAMED
    for number in range(1, min(rules.rounds, rules.MAXIMUM_ROUNDS) + 1):
        if not positions:
            break
        transcript = transcript.add(*introduce_sources(context, number))
        english = context.motion.language == "English"
        round_context = RoundContext(
            number, transcript, rules, make_citing(context, number), english, rounds, context.struck
        )
        current, transcript = yield from run_round(positions, round_context)
        rounds = (*rounds, current)
        stop = find_stop(current)
        if stop is not Stop.MAXIMUM:
            break
    return build_review_verdict(
        context.motion.text, framing, positions, rounds, stop, rules.brief, find_unreached_sources(context, rounds)
    )


def frame(rules: ReviewRules, context: DebateContext, proposers: int) -> Rulebook[tuple[Framing | None, Transcript]]:
    """Ask for the framing; return it with the transcript."""
    to_find = proposers if proposers > 1 and not rules.positions else 0
    first = tuple(row.source_id for row in context.sources if context.introduced.get(row.source_id, 1) == 1)
    spec = FramingSpec(rules.brief.criteria, first, to_find)
    words = {
        "hints": rules.brief.framing,
        "criteria": "\n".join(f"  - {row}" for row in rules.brief.criteria) or "  - none",
    }
    task = Task("framing-positions", {**words, "number": str(to_find)}) if to_find else Task("framing", words)
    turn = yield from ask(FRAMER, FRAMING, spec=spec, task=task, limits=rules.framing)
    if not isinstance(turn, Framing):
        return None, Transcript()
    turn = replace(turn, positions=rules.positions or turn.positions)
    return turn, Transcript().add(Message(FRAMER, FRAMING, turn.text()))


def run_round(positions: Sequence[Position], round_context: RoundContext) -> Rulebook[tuple[Round, Transcript]]:
    """Run every contest in parallel, then ask the moderator."""
    contests: tuple[Contest, ...]
    if len(positions) == 1:
        contests = ((yield from run_contest(positions[0], round_context)),)
    else:
        contests = yield from together(**{row.id.lower(): run_contest(row, round_context) for row in positions})
    transcript = round_context.transcript.add(
        *(message for row in contests for message in list_messages(row, round_context))
    )
    current = Round(round_context.number, contests)
    for name, why in current.struck.items():
        yield from declare("penalty", name, {"penalty": "struck", "reason": why, "round": round_context.number})
    if any(row.proposition for row in contests):
        current = yield from moderate(current, replace(round_context, transcript=transcript))
    if current.moderation:
        for found in current.moderation.findings:
            yield from declare("score", found.argument, {"round": round_context.number, "criteria": found.scores})
        transcript = transcript.add(Message(MODERATOR, round_context.phase("moderation"), current.moderation.text()))
    return current, transcript


def run_contest(position: Position, round_context: RoundContext) -> Rulebook[Contest]:
    """Run one position through one round: proposition, critique, rebuttal."""
    contest = yield from propose(Contest(position), round_context)
    contest = replace(contest, proposition=omit(position.seat, contest.proposition, round_context.struck))
    if contest.proposition:
        contest = yield from criticise(contest, round_context)
        contest = replace(contest, criticism=omit(CRITIC, contest.criticism, round_context.struck))
    if contest.criticism and contest.criticism.standing:
        contest = yield from rebut(contest, round_context)
        contest = replace(contest, rebuttals=omit(REBUTTER, contest.rebuttals, round_context.struck))
    return contest


def propose(contest: Contest, round_context: RoundContext) -> Rulebook[Contest]:
    """Ask for the case for the position; in a further round, for what is left of it."""
    rules, position = round_context.rules, contest.position
    fewest = rules.minimum_arguments if round_context.number == 1 else 1
    spec = PropositionSpec(
        position.prefix("PROP"),
        position.text,
        fewest,
        rules.maximum_arguments,
        numbers_from(round_context.number),
        round_context.citing,
        rules.brief.angles,
    )
    words = {"minimum": str(fewest), "maximum": str(rules.maximum_arguments)}
    task = Task("proposition", words, {"position": position.text})
    if round_context.number > 1:
        task = Task("proposition-further", {**words, "round": str(round_context.number)}, task.quotes)
    seat = position.seat
    turn = yield from ask(
        seat,
        round_context.phase("proposition"),
        spec=spec,
        task=task,
        messages=round_context.transcript.visible_to(seat),
        limits=rules.proposition,
    )
    return replace(contest, proposition=turn) if isinstance(turn, Proposition) else contest.without(turn)


def criticise(contest: Contest, round_context: RoundContext) -> Rulebook[Contest]:
    """Ask for the critique. A weak one is asked for once more; the stronger of the two counts."""
    assert contest.proposition  # noqa: S101  (there is nothing to criticise otherwise)
    rules, position = round_context.rules, contest.position
    standing = contest.proposition.standing
    spec = CriticismSpec(
        position.prefix("CRIT"),
        position.text,
        standing,
        rules.minimum_arguments,
        rules.maximum_arguments,
        numbers_from(round_context.number),
        round_context.citing,
        round_context.english,
        counts_repeats=rules.edition > 1,
    )
    words = {
        "minimum": str(spec.minimum),
        "maximum": str(spec.maximum),
        "targets": ", ".join(row.id for row in standing) or "none stands",
        "lines": "\n".join(f"- {row}" for row in rules.brief.attack_lines) or "- what nobody has thought of",
    }
    quotes = {"position": position.text}
    sees = round_context.transcript.add(*list_messages(contest, round_context)).visible_to(CRITIC)
    phase = round_context.phase("critique")
    first = yield from ask(
        CRITIC, phase, spec=spec, task=Task("critique", words, quotes), messages=sees, limits=rules.critique
    )
    if not isinstance(first, Criticism):
        return contest.without(first)
    if not first.strength.weak:
        return replace(contest, criticism=first)
    told = {**words, "strength": str(first.strength.value), "because": first.strength.because}
    stronger = Task("critique-again", told, {**quotes, "critique": first.shown(first.struck)})
    again = yield from ask(CRITIC, phase, spec=spec, task=stronger, messages=sees, limits=rules.critique)
    if not isinstance(again, Criticism):
        return replace(contest.without(again), criticism=first, first_critique=first)
    kept = again if again.strength.value >= first.strength.value else first
    return replace(contest, criticism=kept, first_critique=first)


def rebut(contest: Contest, round_context: RoundContext) -> Rulebook[Contest]:
    """Ask for an answer to every criticism that was not struck."""
    assert contest.proposition  # noqa: S101  (a criticism has a proposition)
    assert contest.criticism  # noqa: S101
    rules, position = round_context.rules, contest.position
    known = tuple(row.reasoning for row in contest.proposition.standing)
    known += tuple(row.answer for row in contest.proposition.objections)
    spec = RebuttalSpec(position.prefix("REB"), position.text, contest.criticism.standing, known, round_context.citing)
    task = Task(
        "rebuttal", {"targets": ", ".join(row.id for row in contest.criticism.standing)}, {"position": position.text}
    )
    sees = round_context.transcript.add(*list_messages(contest, round_context)).visible_to(REBUTTER)
    turn = yield from ask(
        REBUTTER, round_context.phase("rebuttal"), spec=spec, task=task, messages=sees, limits=rules.rebuttal
    )
    return replace(contest, rebuttals=turn) if isinstance(turn, Rebuttals) else contest.without(turn)


def moderate(current: Round, round_context: RoundContext) -> Rulebook[Round]:
    """Ask the moderator. It sees only numbers and reasons of what was struck."""
    rules, positions = round_context.rules, [row.position for row in current.contests]
    several = len(positions) > 1
    named = tuple(row.position.id for row in current.contests if row.proposition) if several else ()
    thesis = "" if several else positions[0].text
    if rules.edition > 1:
        current = replace(current, carried=still_open(round_context.before))
    spec = ModerationSpec(current.exhibits, current.open_criticisms, named, thesis, current.carried)
    words = {
        "arguments": ids(current.exhibits) or "none stands",
        "criticisms": ", ".join(current.open_criticisms) or "none stands",
        "carried": ids(current.carried) or "none",
        "criteria": "\n".join(f"  {row}" for row in criteria_text().splitlines()),
        "round": str(round_context.number),
        "rounds": str(min(rules.rounds, rules.MAXIMUM_ROUNDS)),
        "struck": ", ".join(current.struck) or "none",
    }
    task = Task("moderation", words)
    if several:
        named_by = ", ".join(f"{row.id} ({row.seat})" for row in positions)
        task = Task("moderation-positions", {**words, "positions": named_by})
    turn = yield from ask(
        MODERATOR,
        round_context.phase("moderation"),
        spec=spec,
        task=task,
        messages=round_context.transcript.visible_to(MODERATOR),
        limits=rules.moderation,
    )
    return replace(current, moderation=turn) if isinstance(turn, Moderation) else replace(current, silent=(turn,))


def list_messages(contest: Contest, round_context: RoundContext) -> tuple[Message, ...]:
    """Return what one contest has added so far; of struck items only the number and the reason."""
    turns = (
        (contest.position.seat, "proposition", contest.proposition),
        (CRITIC, "critique", contest.criticism),
        (REBUTTER, "rebuttal", contest.rebuttals),
    )
    return tuple(
        Message(seat, round_context.phase(name), turn.shown(turn.struck)) for seat, name, turn in turns if turn
    )


def find_stop(current: Round) -> Stop:
    """Return why no round follows; ``MAXIMUM`` where only the number of rounds could end the review."""
    if any(row.reason == "budget" for row in current.abstentions):
        return Stop.CEILING
    if not any(row.proposition for row in current.contests):
        return Stop.NO_PROPOSITION
    if current.moderation is None:
        return Stop.NO_MODERATION
    return Stop.MAXIMUM if current.moderation.another_round else Stop.MODERATOR


def assign_positions(
    rules: ReviewRules, context: DebateContext, proposers: Sequence[Seat], framing: Framing | None
) -> tuple[Position, ...]:
    """Return the positions and who argues for them; none where several were needed and the framer named none."""
    texts = rules.positions or (framing.positions if framing else ())
    if len(proposers) == 1 and len(texts) <= 1:
        argued = framing.thesis if framing and context.motion.is_question and rules.edition > 1 else context.motion.text
        texts = texts or (argued,)
    return tuple(
        Position(number, seat, text) for number, (seat, text) in enumerate(zip(proposers, texts, strict=False), start=1)
    )


def make_citing(context: DebateContext, number: int) -> Citing:
    """Return what may be cited in round ``number``: the sources introduced by then."""
    known = context.sources_by(number)
    return Citing(known, context.motion.text) if known else NOTHING


def introduce_sources(context: DebateContext, number: int) -> tuple[Message, ...]:
    """Return the sources that a further round introduces, as messages to every seat."""
    return tuple(
        Message(EVIDENCE, Phase(f"round-{number}"), f"New evidence {row.source_id}: {row.title}\n{row.text}")
        for row in context.sources
        if number > 1 and context.introduced.get(row.source_id) == number
    )


def find_unreached_sources(context: DebateContext, rounds: Sequence[Round]) -> tuple[str, ...]:
    """Return the sources whose round never took place."""
    return tuple(name for name, number in context.introduced.items() if number > len(rounds))
