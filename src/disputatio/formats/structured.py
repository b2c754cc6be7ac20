"""The structured debate: two sides, three rounds, one judge or several.

The rules
    1. Opening. Both sides speak at the same time: three to five arguments, each with a claim, reasoning and evidence,
       each independent of the others. They are numbered PRO-1, PRO-2, ... CON-1, ... Where there are sources, arguments
       and responses may cite them. Code checks every citation. One that no source supports is asked for again, and then
       stands as unverified.
    2. Cross-examination. Each side responds to every argument of the other: it refutes, challenges, concedes or partly
       accepts it, says why, and asks at least one question. New arguments are not allowed.
    3. Closing. Each side answers every question put to its arguments. Then, in at most 200 words, it says what it
       conceded, which of its arguments stand, and its final position. Its concessions are those of the
       cross-examination.
    4. Judging. The judge reads everything, scores each argument by the rubric, quotes fallacies, and says how each
       argument stands and what that rests on. A finding that rests on nothing real is void. Code computes sums, means,
       the gap and the computed standing. For several judges see the jury.

A side that abstains from its opening has no arguments, so there is nothing to cross-examine. A side that abstains later
leaves its questions unanswered. A missing turn stays missing.

Source: the structured debate protocol (three rounds, judge after). Departure: the closing answers the questions. The
protocol scores them under responsiveness but gives no turn to answer them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from disputatio.formats.debate_context import DebateContext, numbered
from disputatio.formats.jury import CON, JUDGE, PRO, Case, JuryRules, Ruling, Side, collect_rulings
from disputatio.formats.omission import omit
from disputatio.formats.structured_verdict import StructuredVerdict, build_exhibits, build_structured_verdict
from disputatio.formats.turns.citing import NOTHING, Citing
from disputatio.formats.turns.cross_examination import Closing, ClosingSpec, CrossExamination, CrossExaminationSpec
from disputatio.formats.turns.opening import Opening, OpeningSpec
from disputatio.judging.scoring import STANDARD, Rubric
from disputatio.kernel import Limits, Message, Phase, Rulebook, Seat, Task, Transcript, ask, declare, together

OPENING, CROSS_EXAMINATION, CLOSING = Phase("opening"), Phase("cross-examination"), Phase("closing")


@dataclass(frozen=True, slots=True)
class StructuredRules:
    """The rules of a structured debate. Temperatures and token limits are the protocol's."""

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
    """Run a structured debate."""
    transcript = Transcript()
    citing = Citing(context.sources, context.motion.text) if context.sources else NOTHING

    pro, con = yield from together(open_case(PRO, rules, citing), open_case(CON, rules, citing))
    pro, con = (replace(row, opening=omit(row.side.seat, row.opening, context.struck)) for row in (pro, con))
    transcript = transcript.add(*list_messages(OPENING, pro), *list_messages(OPENING, con))

    pro, con = yield from together(
        cross_examine(pro, con, transcript, rules, citing), cross_examine(con, pro, transcript, rules, citing)
    )
    pro, con = (replace(row, examination=omit(row.side.seat, row.examination, context.struck)) for row in (pro, con))
    transcript = transcript.add(*list_messages(CROSS_EXAMINATION, pro), *list_messages(CROSS_EXAMINATION, con))

    pro, con = yield from together(close_case(pro, con, transcript, rules), close_case(con, pro, transcript, rules))
    transcript = transcript.add(*list_messages(CLOSING, pro), *list_messages(CLOSING, con))

    judges = numbered(JUDGE, context.seats)
    rulings = yield from judge(pro, con, judges, transcript, rules)
    result = build_structured_verdict(pro, con, rulings, judges, rules.bench, rules.rubric)
    for row in result.trace:
        yield from declare("score", row.argument, row.score_json())
    return result


def open_case(side: Side, rules: StructuredRules, citing: Citing) -> Rulebook[Case]:
    """Ask one side for its opening. It hears nothing of the other."""
    spec = OpeningSpec(side.prefix, rules.minimum_arguments, rules.maximum_arguments, citing)
    counts = {"minimum": str(spec.minimum), "maximum": str(spec.maximum)}
    task = Task("opening", {**side.words(), **counts})
    turn = yield from ask(side.seat, OPENING, spec=spec, task=task, limits=rules.opening)
    return Case(side, opening=turn if isinstance(turn, Opening) else None)


def cross_examine(
    own: Case, other: Case, transcript: Transcript, rules: StructuredRules, citing: Citing
) -> Rulebook[Case]:
    """Ask one side to respond to every argument of the other."""
    if not other.arguments:
        return own
    known = frozenset(argument.id for argument in (*own.arguments, *other.arguments))
    task = Task("cross-examination", {**own.side.words(), "targets": other.argument_ids})
    turn = yield from ask(
        own.side.seat,
        CROSS_EXAMINATION,
        spec=CrossExaminationSpec(other.arguments, known, citing),
        task=task,
        messages=transcript.visible_to(own.side.seat),
        limits=rules.cross_examination,
    )
    return own.after(examination=turn if isinstance(turn, CrossExamination) else None)


def close_case(own: Case, other: Case, transcript: Transcript, rules: StructuredRules) -> Rulebook[Case]:
    """Ask one side to answer its questions, confirm its concessions and state its final position."""
    if not own.arguments:
        return own
    spec = ClosingSpec(own.arguments, own.questions_from(other), own.conceded_of(other), rules.closing_words)
    questions = ", ".join(question.id for question in spec.questions) or "none was put"
    conceded = ", ".join(argument.id for argument in spec.conceded) or "none"
    words = {"questions": questions, "conceded": conceded, "own": own.argument_ids, "limit": str(spec.limit)}
    turn = yield from ask(
        own.side.seat,
        CLOSING,
        spec=spec,
        task=Task("closing", {**own.side.words(), **words}),
        messages=transcript.visible_to(own.side.seat),
        limits=rules.closing,
    )
    return own.after(closing=turn if isinstance(turn, Closing) else None)


def judge(
    pro: Case, con: Case, judges: tuple[Seat, ...], transcript: Transcript, rules: StructuredRules
) -> Rulebook[tuple[Ruling, ...]]:
    """Collect the rulings; none where there are no arguments."""
    if not pro.arguments and not con.arguments:
        return ()
    heard = yield from collect_rulings(
        judges, rules.bench, build_exhibits(pro, con), transcript, rules.rubric, rules.judging
    )
    return heard


def list_messages(phase: Phase, case: Case) -> tuple[Message, ...]:
    """Return what one side said in ``phase``; nothing where it abstained."""
    turn = {OPENING: case.opening, CROSS_EXAMINATION: case.examination, CLOSING: case.closing}[phase]
    return (Message(case.side.seat, phase, turn.text()),) if turn else ()
