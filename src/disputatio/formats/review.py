"""The review: a proposition, its critic, a rebuttal, a moderator; one round, three at most.

The rules
    1. Framing. The framer turns the question into a thesis, its scope, the criteria for a good answer and the key
       evidence. It takes no side. Where the motion is a question, its thesis is what is argued; a motion that is a
       statement is argued as it stands. Where several positions are weighed and none was named, it names them.
    2. Proposition. The proposer makes the case: a thesis, three to five arguments with the weightiest first, and the
       strongest objections met in advance. They are numbered PROP-1, PROP-2, ... in the first round, from PROP-201 on
       in the second, from PROP-301 on in the third.
    3. Critique. The critic takes the proposition to be wrong and attacks: tail risks, misread evidence, hidden
       assumptions, harm even if it is true. Each criticism aims at one argument, or at the thesis: CRIT-1, CRIT-2, ...
       It must not soften itself. A critique whose strength is below 6 is asked for once more, with a stronger
       instruction; the stronger of the two counts. Below 5 the debate is flagged.
    4. Rebuttal. The rebutter answers every criticism by its number: it refutes, accepts in part or concedes it, with
       new evidence or reasoning for what it contests. REB-3 is the answer to CRIT-3.
    5. Where there are sources, what rests on evidence that is not there is struck as soon as it is said: no seat, and
       so no moderator, is shown more of it than its number and the reason.
    6. Moderation. The moderator judges arguments, not positions: the quality of each, what became of each criticism, a
       synthesis with its confidence and at least one uncertainty, and whether another round would help. In a further
       round it says so of every criticism that is still open as well, from whichever round; the last state counts.
    7. Another round is held when the moderator says that it would help and the rounds that were set are not used up;
       there are never more than three. All roles speak again and have everything before in view. Sources may be
       introduced at the beginning of a round. A round that is cut short changes nothing in the last moderation.
    8. With several positions, each has a proposer, and the critic and the rebutter take each by itself, side by side.
       The moderator hears them all and says how far the debate supports each; the ranking is code's.

Who does not speak is missed, and nothing is put in the place of its turn. Without a proposition there is nothing to
review. Without a critique the proposition is unchallenged, which is flagged. Without a framing the motion is debated as
it stands. Without a moderation the review ends there.

Source: the review pattern. Departures: a second and third round are held when the moderator asks for them and not by
configuration alone; the strength of a critique is capped by what code finds in it (see `judging.challenge`).

Editions. Records name the edition of the rules that their debate began under, and go on under it. A record that names
none is of the first: each moderation settled its own round alone, a question was argued as it stood, and criticisms
that only repeat were left out of the share of definite ones.
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
    """What may be set about the rules. ``positions`` are those to be weighed; with none the motion is the only one.

    ``edition`` is not set but recorded; ``ABSENT`` is what the rules of a record are that does not name them.
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
    """Where the debate stands as a round begins: everything said before, and what may be cited."""

    number: int
    transcript: Transcript
    rules: ReviewRules
    citing: Citing
    english: bool = True
    before: tuple[Round, ...] = ()
    struck: frozenset[str] = frozenset()

    def phase(self, name: str) -> Phase:
        """A phase of this round."""
        return Phase(name if self.number == 1 else f"{name}-round-{self.number}")


def review(rules: ReviewRules, context: DebateContext) -> Rulebook[ReviewVerdict]:
    """A review from its framing to the last moderation."""
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
        held, transcript = yield from run_round(positions, round_context)
        rounds = (*rounds, held)
        stop = find_stop(held)
        if stop is not Stop.MAXIMUM:
            break
    return build_review_verdict(
        context.motion.text, framing, positions, rounds, stop, rules.brief, find_unreached_sources(context, rounds)
    )


def frame(rules: ReviewRules, context: DebateContext, proposers: int) -> Rulebook[tuple[Framing | None, Transcript]]:
    """The framing, and the floor with it."""
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
    """Every position is proposed, criticised and defended; then the moderator speaks."""
    contests: tuple[Contest, ...]
    if len(positions) == 1:
        contests = ((yield from run_contest(positions[0], round_context)),)
    else:
        contests = yield from together(**{row.id.lower(): run_contest(row, round_context) for row in positions})
    transcript = round_context.transcript.add(
        *(message for row in contests for message in list_messages(row, round_context))
    )
    held = Round(round_context.number, contests)
    for name, why in held.struck.items():
        yield from declare("penalty", name, {"penalty": "struck", "reason": why, "round": round_context.number})
    if any(row.proposition for row in contests):
        held = yield from moderate(held, replace(round_context, transcript=transcript))
    if held.moderation:
        for found in held.moderation.findings:
            yield from declare("score", found.argument, {"round": round_context.number, "criteria": found.scores})
        transcript = transcript.add(Message(MODERATOR, round_context.phase("moderation"), held.moderation.text()))
    return held, transcript


def run_contest(position: Position, round_context: RoundContext) -> Rulebook[Contest]:
    """One position in one round: its case, the critique, the rebuttal. Each hears what was said before it."""
    held = yield from propose(Contest(position), round_context)
    held = replace(held, proposition=omit(position.seat, held.proposition, round_context.struck))
    if held.proposition:
        held = yield from criticise(held, round_context)
        held = replace(held, criticism=omit(CRITIC, held.criticism, round_context.struck))
    if held.criticism and held.criticism.standing:
        held = yield from rebut(held, round_context)
        held = replace(held, rebuttals=omit(REBUTTER, held.rebuttals, round_context.struck))
    return held


def propose(held: Contest, round_context: RoundContext) -> Rulebook[Contest]:
    """The case for the position; in a further round the case that is left of it, in view of what was found."""
    rules, position = round_context.rules, held.position
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
    return replace(held, proposition=turn) if isinstance(turn, Proposition) else held.without(turn)


def criticise(held: Contest, round_context: RoundContext) -> Rulebook[Contest]:
    """The case against the position. A weak one is asked for once more; the stronger of the two counts."""
    assert held.proposition  # noqa: S101  (there is nothing to criticise otherwise)
    rules, position = round_context.rules, held.position
    standing = held.proposition.standing
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
    sees = round_context.transcript.add(*list_messages(held, round_context)).visible_to(CRITIC)
    phase = round_context.phase("critique")
    first = yield from ask(
        CRITIC, phase, spec=spec, task=Task("critique", words, quotes), messages=sees, limits=rules.critique
    )
    if not isinstance(first, Criticism):
        return held.without(first)
    if not first.strength.weak:
        return replace(held, criticism=first)
    told = {**words, "strength": str(first.strength.value), "because": first.strength.because}
    stronger = Task("critique-again", told, {**quotes, "critique": first.shown(first.struck)})
    again = yield from ask(CRITIC, phase, spec=spec, task=stronger, messages=sees, limits=rules.critique)
    if not isinstance(again, Criticism):
        return replace(held.without(again), criticism=first, first_critique=first)
    kept = again if again.strength.value >= first.strength.value else first
    return replace(held, criticism=kept, first_critique=first)


def rebut(held: Contest, round_context: RoundContext) -> Rulebook[Contest]:
    """An answer to every criticism that stands."""
    assert held.proposition  # noqa: S101  (nobody criticised nothing)
    assert held.criticism  # noqa: S101
    rules, position = round_context.rules, held.position
    known = tuple(row.reasoning for row in held.proposition.standing)
    known += tuple(row.answer for row in held.proposition.objections)
    spec = RebuttalSpec(position.prefix("REB"), position.text, held.criticism.standing, known, round_context.citing)
    task = Task(
        "rebuttal", {"targets": ", ".join(row.id for row in held.criticism.standing)}, {"position": position.text}
    )
    sees = round_context.transcript.add(*list_messages(held, round_context)).visible_to(REBUTTER)
    turn = yield from ask(
        REBUTTER, round_context.phase("rebuttal"), spec=spec, task=task, messages=sees, limits=rules.rebuttal
    )
    return replace(held, rebuttals=turn) if isinstance(turn, Rebuttals) else held.without(turn)


def moderate(held: Round, round_context: RoundContext) -> Rulebook[Round]:
    """What the moderator finds on the round. It is shown nothing of what was struck but numbers and reasons."""
    rules, positions = round_context.rules, [row.position for row in held.contests]
    several = len(positions) > 1
    named = tuple(row.position.id for row in held.contests if row.proposition) if several else ()
    thesis = "" if several else positions[0].text
    if rules.edition > 1:
        held = replace(held, carried=still_open(round_context.before))
    spec = ModerationSpec(held.exhibits, held.open_criticisms, named, thesis, held.carried)
    words = {
        "arguments": ids(held.exhibits) or "none stands",
        "criticisms": ", ".join(held.open_criticisms) or "none stands",
        "carried": ids(held.carried) or "none",
        "criteria": "\n".join(f"  {row}" for row in criteria_text().splitlines()),
        "round": str(round_context.number),
        "rounds": str(min(rules.rounds, rules.MAXIMUM_ROUNDS)),
        "struck": ", ".join(held.struck) or "none",
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
    return replace(held, moderation=turn) if isinstance(turn, Moderation) else replace(held, silent=(turn,))


def list_messages(held: Contest, round_context: RoundContext) -> tuple[Message, ...]:
    """What one contest puts on the floor so far; of what was struck only the number and the reason."""
    turns = (
        (held.position.seat, "proposition", held.proposition),
        (CRITIC, "critique", held.criticism),
        (REBUTTER, "rebuttal", held.rebuttals),
    )
    return tuple(
        Message(seat, round_context.phase(name), turn.shown(turn.struck)) for seat, name, turn in turns if turn
    )


def find_stop(held: Round) -> Stop:
    """Why there is no round after this one; ``MAXIMUM`` where only their number could end it."""
    if any(row.reason == "budget" for row in held.abstentions):
        return Stop.CEILING
    if not any(row.proposition for row in held.contests):
        return Stop.NO_PROPOSITION
    if held.moderation is None:
        return Stop.NO_MODERATION
    return Stop.MAXIMUM if held.moderation.another_round else Stop.MODERATOR


def assign_positions(
    rules: ReviewRules, context: DebateContext, proposers: Sequence[Seat], framing: Framing | None
) -> tuple[Position, ...]:
    """The positions and who argues for them; none where several were to be named and nobody named them."""
    texts = rules.positions or (framing.positions if framing else ())
    if len(proposers) == 1 and len(texts) <= 1:
        argued = framing.thesis if framing and context.motion.is_question and rules.edition > 1 else context.motion.text
        texts = texts or (argued,)
    return tuple(
        Position(number, seat, text) for number, (seat, text) in enumerate(zip(proposers, texts, strict=False), start=1)
    )


def make_citing(context: DebateContext, number: int) -> Citing:
    """What may be cited in round ``number``: the sources that were introduced by then."""
    known = context.sources_by(number)
    return Citing(known, context.motion.text) if known else NOTHING


def introduce_sources(context: DebateContext, number: int) -> tuple[Message, ...]:
    """The sources that a further round brings, as they are laid before every seat."""
    return tuple(
        Message(EVIDENCE, Phase(f"round-{number}"), f"New evidence {row.source_id}: {row.title}\n{row.text}")
        for row in context.sources
        if number > 1 and context.introduced.get(row.source_id) == number
    )


def find_unreached_sources(context: DebateContext, rounds: Sequence[Round]) -> tuple[str, ...]:
    """The sources whose round was never held."""
    return tuple(name for name, number in context.introduced.items() if number > len(rounds))
