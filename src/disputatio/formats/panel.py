"""The panel: named debaters, options to vote on, and a decision that code counts.

The rules
    1. Register. The debaters are named before the debate, in speaking order. So are the options, the most rounds and
       the decision rule. A rule that these debaters cannot meet is refused before the debate.
    2. Schedule. A round has four phases: proposal, critique, revision, consensus. In each phase every debater takes one
       turn, in the order of registration. No model chooses who speaks.
    3. Independence. In the first phase of the first round all debaters speak at the same time and hear no one. From
       then on each hears everything said before.
    4. Turns. A turn is a stance, its rationale, and a vote for one option. Where there are sources it may cite them.
       Code checks each citation, and everybody sees the turn with the result.
    5. Stopping. After every phase the decision rule is applied to the latest vote of each debater. The first option
       that meets it ends the debate, even after the first proposals. Silent debaters stay in the denominator; an
       earlier vote of theirs stands and is marked carried. Without votes nothing is decided, and a tie never passes.
    6. Exhaustion. If no option met the rule in any round, the decision is to escalate. The report names the rule, so
       this differs from a vote for an option called escalate.
    7. Two options have a meaning of their own. ``escalate`` hands the decision to somebody else; ``revise`` returns the
       rationales of its voters to the author.

Source: the debate orchestration pattern. Departures: there the first of several equal options wins, here a tie never
passes; there only debaters who spoke count, here all registered ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from disputatio.errors import InvalidInputError
from disputatio.formats.debate_context import DebateContext
from disputatio.formats.panel_verdict import PanelHistory, PanelTurn, PanelVerdict, PhaseCount, count_phase
from disputatio.formats.rule_values import (
    BUDGET_REACHED,
    ESCALATE,
    LONGEST_NAME,
    MAX_ROUNDS_EXHAUSTED,
    DecisionRule,
    is_name,
)
from disputatio.formats.turns.citing import NOTHING, Citing
from disputatio.formats.turns.position import Position, PositionSpec
from disputatio.formats.turns.schema import ANGLES
from disputatio.kernel import (
    Abstention,
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

PHASES = ("proposal", "critique", "revision", "consensus")
DEBATERS = ("debater_1", "debater_2", "debater_3")
OPTIONS = ("release", "revise", "escalate")
BY_SCHEDULE = "schedule"


@dataclass(frozen=True, slots=True)
class PanelRules:
    """The rules of a panel.

    Attributes:
        debaters: the registered electorate, in speaking order.
        options: what can be voted for.
        rounds: the most rounds.
        decision: the rule by which an option wins.
        turn_words: the most words of a stance and its rationale together.
        speaker_selected_by: always the schedule; a field so that the record states it.

    Raises:
        InvalidInputError: no debater or a repeated one, fewer than two options or a repeated one, no round, or a rule
            that cannot be met.
    """

    debaters: tuple[str, ...] = DEBATERS
    options: tuple[str, ...] = OPTIONS
    rounds: int = 2
    decision: DecisionRule = field(default=DecisionRule())
    turn_words: int = 200
    speaker_selected_by: str = BY_SCHEDULE
    proposal: Limits = field(default=Limits(max_tokens=900, temperature=0.7))
    critique: Limits = field(default=Limits(max_tokens=900, temperature=0.5))
    revision: Limits = field(default=Limits(max_tokens=900, temperature=0.5))
    consensus: Limits = field(default=Limits(max_tokens=900, temperature=0.3))

    def __post_init__(self) -> None:
        if not self.debaters:
            raise InvalidInputError("A panel without debaters decides nothing.", "Name some: --debaters ada,bo,cleo.")
        check_names(self.debaters, "debater", "--debaters ada,bo,cleo")
        if len(self.options) < 2:
            raise InvalidInputError(
                f"There is nothing to vote on with {len(self.options)} option{'s' if not self.options else ''}.",
                "Give two or more: --options adopt,reject,revise.",
            )
        check_names(self.options, "option", "--options adopt,reject,revise")
        if self.rounds < 1:
            raise InvalidInputError(f"A panel cannot have {self.rounds} rounds.", "Give 1 or more: --rounds 2.")
        self.decision.among(self.debaters)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Every phase of every round, in order."""
        return tuple(Stage(number, phase) for number in range(1, self.rounds + 1) for phase in PHASES)


@dataclass(frozen=True, slots=True)
class Stage:
    """One phase of one round. Rounds count from 1."""

    number: int
    phase: str

    @property
    def name(self) -> Phase:
        """Its phase in the record."""
        return Phase(f"round_{self.number}_{self.phase}")

    @property
    def is_first(self) -> bool:
        """Whether it is the first phase of the first round."""
        return self.number == 1 and self.phase == PHASES[0]


def panel(rules: PanelRules, context: DebateContext) -> Rulebook[PanelVerdict]:
    """Run a panel."""
    transcript, history = Transcript(), PanelHistory(rules.debaters)
    citing = Citing(context.sources, context.motion.text) if context.sources else NOTHING
    counts: list[PhaseCount] = []
    for stage in rules.stages:
        transcript, history, spoken = yield from run_phase(stage, transcript, history, rules, citing)

        count = count_phase(stage.number, stage.phase, spoken, history, rules.options, rules.decision)
        counts.append(count)
        yield from declare("vote", stage.name, count.as_json())

        if count.outcome.winner is not None:
            return build_verdict(rules, context, history, counts, count.outcome.winner, rules.decision.name)
        if any(row.not_asked for row in spoken):
            return build_verdict(rules, context, history, counts, None, BUDGET_REACHED)
    return build_verdict(rules, context, history, counts, ESCALATE, MAX_ROUNDS_EXHAUSTED)


def run_phase(
    stage: Stage, transcript: Transcript, history: PanelHistory, rules: PanelRules, citing: Citing
) -> Rulebook[tuple[Transcript, PanelHistory, tuple[PanelTurn, ...]]]:
    """Ask every debater for one turn: in parallel in the first phase, then one after the other."""
    if stage.is_first:
        turns = yield from together(
            *(ask_debater(name, stage, transcript, history, rules, citing) for name in rules.debaters)
        )
        for spoken in turns:
            transcript, history = add_turn(spoken, stage, transcript), history.after(spoken)
        return transcript, history, turns
    taken: list[PanelTurn] = []
    for name in rules.debaters:
        spoken = yield from ask_debater(name, stage, transcript, history, rules, citing)
        transcript, history = add_turn(spoken, stage, transcript), history.after(spoken)
        taken.append(spoken)
    return transcript, history, tuple(taken)


def ask_debater(
    name: str, stage: Stage, transcript: Transcript, history: PanelHistory, rules: PanelRules, citing: Citing
) -> Rulebook[PanelTurn]:
    """Ask one debater for a turn."""
    place = rules.debaters.index(name)
    spec = PositionSpec(
        rules.options,
        rules.turn_words,
        stage.phase,
        ANGLES[place % len(ANGLES)],
        ("benefit", "problem")[place % 2],
        other=history.last_words_before(name),
        own=history.last_words_of(name),
        citing=citing,
    )
    words = {
        "name": name,
        "others": ", ".join(row for row in rules.debaters if row != name) or "nobody else",
        "options": ", ".join(rules.options),
        "round": str(stage.number),
        "rounds": str(rules.rounds),
        "limit": str(rules.turn_words),
    }
    turn = yield from ask(
        Seat(name),
        stage.name,
        spec=spec,
        task=Task(stage.phase, words),
        messages=transcript.visible_to(Seat(name)),
        limits=getattr(rules, stage.phase),
    )
    if isinstance(turn, Abstention):
        return PanelTurn(name, stage.number, stage.phase, None, turn.reason, turn.detail)
    return PanelTurn(name, stage.number, stage.phase, turn)


def add_turn(spoken: PanelTurn, stage: Stage, transcript: Transcript) -> Transcript:
    """Return the transcript with a turn; an abstention adds nothing."""
    position: Position | None = spoken.position
    return transcript if position is None else transcript.add(Message(Seat(spoken.name), stage.name, position.text()))


def build_verdict(
    rules: PanelRules,
    context: DebateContext,
    history: PanelHistory,
    counts: list[PhaseCount],
    decision: str | None,
    decided_by: str,
) -> PanelVerdict:
    """Return the verdict of the panel."""
    return PanelVerdict(
        debaters=rules.debaters,
        options=rules.options,
        max_rounds=rules.rounds,
        rule=rules.decision,
        counts=tuple(counts),
        spoken=history.spoken,
        decision=decision,
        decided_by=str(decided_by),
        voices=tuple(sorted(context.voices, key=lambda row: rules.debaters.index(row.seat))),
    )


def check_names(names: Iterable[str], what: str, example: str) -> None:
    """Refuse an illegal or repeated name."""
    seen: set[str] = set()
    for name in names:
        if not is_name(name):
            raise InvalidInputError(
                f"{name[:60]!r} cannot be the name of a {what}.".replace("a option", "an option"),
                f"Allowed are up to {LONGEST_NAME} letters, digits, spaces, hyphens and underscores: {example}.",
            )
        if name.casefold() in seen:
            raise InvalidInputError(f"The {what} {name} is named twice.", "Name each once.")
        seen.add(name.casefold())
