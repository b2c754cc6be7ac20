"""The structured debate: two sides, three rounds, one judge.

The rules
    1. Opening. Both sides state their case at the same time: three to five arguments, each with a claim,
       reasoning and evidence, each standing alone. The arguments are numbered PRO-1, PRO-2, ... CON-1, ...
       Where sources are laid before the seats, arguments and responses may cite them. Code checks every
       citation; one that no source bears out is asked for again, and then stands as unverified.
    2. Cross-examination. Each side responds to every argument of the other: it refutes, challenges,
       concedes or partly accepts it, says why, and asks at least one follow-up question. No new arguments.
    3. Closing. Each side has heard the cross-examination. It first answers every question put to its own
       arguments. Then, in at most 200 words: what it conceded, which of its arguments stand, and its final
       position. What it lists as conceded is what it conceded in cross-examination.
    4. Judging. The judge, who has heard everything, scores each argument by the rubric, names fallacies with
       the words that show them, and says where each argument stands and what that rests on; a finding that
       rests on nothing real is void. Sums, means, the gap and the computed standing are worked out by code.
       There may be several judges, and each may judge with either side shown first: see the bench.

A side that abstains from its opening has no arguments, so there is nothing to cross-examine; a side that
abstains later leaves its questions unanswered. Nothing is put in the place of a missing turn.

Source: the structured debate protocol (three rounds, judge after). Departure: the closing answers the
follow-up questions, which the protocol scores under responsiveness but gives nobody a turn to answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from disputatio.formats.debate_context import DebateContext, numbered
from disputatio.formats.jury import Hearing, JuryRules, hear
from disputatio.formats.sides import CON, JUDGE, PRO, Case, Side
from disputatio.formats.trace import StructuredVerdict, exhibits, verdict
from disputatio.formats.turns.citing import NOTHING, Citing
from disputatio.formats.turns.closing import Closing, ClosingSpec
from disputatio.formats.turns.cross_examination import CrossExamination, CrossExaminationSpec
from disputatio.formats.turns.opening import Opening, OpeningSpec
from disputatio.judging.scoring import STANDARD, Rubric
from disputatio.kernel import Limits, Message, Phase, Rulebook, Seat, Task, Transcript, ask, declare, together

OPENING, CROSS_EXAMINATION, CLOSING = Phase("opening"), Phase("cross-examination"), Phase("closing")


@dataclass(frozen=True, slots=True)
class StructuredRules:
    """What may be set about the rules. Temperatures and token limits are the protocol's own."""

    minimum_arguments: int = 3
    maximum_arguments: int = 5
    closing_words: int = 200
    rubric: Rubric = STANDARD
    bench: JuryRules = field(default=JuryRules())
    opening: Limits = field(default=Limits(max_tokens=2000, temperature=0.7))
    cross_examination: Limits = field(default=Limits(max_tokens=1500, temperature=0.5))
    closing: Limits = field(default=Limits(max_tokens=600, temperature=0.5))
    judging: Limits = field(default=Limits(max_tokens=3000, temperature=0.2))


def structured(rules: StructuredRules, context: DebateContext) -> Rulebook[StructuredVerdict]:
    """A structured debate from its opening to its verdict."""
    transcript = Transcript()
    citing = Citing(context.sources, context.motion.text) if context.sources else NOTHING

    pro, con = yield from together(opening(PRO, rules, citing), opening(CON, rules, citing))
    transcript = transcript.post(*said(OPENING, pro), *said(OPENING, con))

    pro, con = yield from together(
        cross_examination(pro, con, transcript, rules, citing), cross_examination(con, pro, transcript, rules, citing)
    )
    transcript = transcript.post(*said(CROSS_EXAMINATION, pro), *said(CROSS_EXAMINATION, con))

    pro, con = yield from together(closing(pro, con, transcript, rules), closing(con, pro, transcript, rules))
    transcript = transcript.post(*said(CLOSING, pro), *said(CLOSING, con))

    judges = numbered(JUDGE, context.seats)
    hearings = yield from judging(pro, con, judges, transcript, rules)
    result = verdict(pro, con, hearings, judges, rules.bench, rules.rubric)
    for row in result.trace:
        yield from declare("score", row.argument, row.score_json())
    return result


def opening(side: Side, rules: StructuredRules, citing: Citing) -> Rulebook[Case]:
    """One side states its case. It hears nothing of the other."""
    form = OpeningSpec(side.prefix, rules.minimum_arguments, rules.maximum_arguments, citing)
    counts = {"minimum": str(form.minimum), "maximum": str(form.maximum)}
    task = Task("opening", {**side.words(), **counts})
    turn = yield from ask(side.seat, OPENING, returns=form, task=task, limits=rules.opening)
    return Case(side, opening=turn if isinstance(turn, Opening) else None)


def cross_examination(
    own: Case, other: Case, transcript: Transcript, rules: StructuredRules, citing: Citing
) -> Rulebook[Case]:
    """One side responds to every argument of the other; with no arguments there is nothing to ask."""
    if not other.arguments:
        return own
    known = frozenset(argument.id for argument in (*own.arguments, *other.arguments))
    task = Task("cross-examination", {**own.side.words(), "targets": other.argument_ids})
    turn = yield from ask(
        own.side.seat,
        CROSS_EXAMINATION,
        returns=CrossExaminationSpec(other.arguments, known, citing),
        task=task,
        sees=transcript.seen_by(own.side.seat),
        limits=rules.cross_examination,
    )
    return own.after(examination=turn if isinstance(turn, CrossExamination) else None)


def closing(own: Case, other: Case, transcript: Transcript, rules: StructuredRules) -> Rulebook[Case]:
    """One side answers the questions put to it, concedes what it conceded, and states its final position."""
    if not own.arguments:
        return own
    form = ClosingSpec(own.arguments, own.questions_from(other), own.conceded_of(other), rules.closing_words)
    questions = ", ".join(question.id for question in form.questions) or "none was put"
    conceded = ", ".join(argument.id for argument in form.conceded) or "none"
    words = {"questions": questions, "conceded": conceded, "own": own.argument_ids, "limit": str(form.limit)}
    turn = yield from ask(
        own.side.seat,
        CLOSING,
        returns=form,
        task=Task("closing", {**own.side.words(), **words}),
        sees=transcript.seen_by(own.side.seat),
        limits=rules.closing,
    )
    return own.after(closing=turn if isinstance(turn, Closing) else None)


def judging(
    pro: Case, con: Case, judges: tuple[Seat, ...], transcript: Transcript, rules: StructuredRules
) -> Rulebook[tuple[Hearing, ...]]:
    """Every judge hears everything and finds on every argument; without arguments there is nothing to judge."""
    if not pro.arguments and not con.arguments:
        return ()
    heard = yield from hear(judges, rules.bench, exhibits(pro, con), transcript, rules.rubric, rules.judging)
    return heard


def said(phase: Phase, case: Case) -> tuple[Message, ...]:
    """What one side puts on the floor in ``phase``; nothing where it abstained."""
    turn = {OPENING: case.opening, CROSS_EXAMINATION: case.examination, CLOSING: case.closing}[phase]
    return (Message(case.side.seat, phase, turn.text()),) if turn else ()
