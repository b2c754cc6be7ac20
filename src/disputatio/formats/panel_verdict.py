"""The outcome of a panel: the votes after every phase, the report, and whether its debaters were independent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from disputatio.formats.debate_context import Voice
from disputatio.formats.rule_values import (
    BUDGET_REACHED,
    ESCALATE,
    MAX_ROUNDS_EXHAUSTED,
    REVISE,
    DecisionRule,
    silence_of,
)
from disputatio.formats.turns.position import Position
from disputatio.judging.votes import Ballot, VoteOutcome, count_votes, select_latest_ballots
from disputatio.kernel import Json, JsonObject

SCHEDULE = "schedule"


@dataclass(frozen=True, slots=True)
class PanelTurn:
    """What one debater did in one phase: a position, or an abstention with its reason."""

    name: str
    number: int
    phase: str
    position: Position | None
    reason: str = ""
    detail: str = ""

    @property
    def ballot(self) -> Ballot:
        """Its vote or its silence."""
        if self.position is not None:
            return Ballot.cast(self.name, self.position.vote)
        return Ballot.silent(self.name, silence_of(self.reason), self.detail or self.reason)

    @property
    def not_asked(self) -> bool:
        """Whether the budget was used up before it was asked."""
        return self.position is None and self.reason == "budget"


@dataclass(frozen=True, slots=True)
class PanelHistory:
    """All turns so far, in schedule order."""

    debaters: tuple[str, ...]
    spoken: tuple[PanelTurn, ...] = ()

    def after(self, spoken: PanelTurn) -> PanelHistory:
        """Return the history with one more turn."""
        return replace(self, spoken=(*self.spoken, spoken))

    def last_words_of(self, name: str) -> str:
        """Return the latest stance of ``name``; empty where it has none."""
        return next((row.position.stance for row in reversed(self.spoken) if row.name == name and row.position), "")

    def last_words_before(self, name: str) -> str:
        """Return the latest stance of the nearest debater before ``name`` in speaking order who has one."""
        place = self.debaters.index(name)
        others = [*reversed(self.debaters[:place]), *reversed(self.debaters[place + 1 :])]
        return next(filter(None, map(self.last_words_of, others)), "")


@dataclass(frozen=True, slots=True)
class PhaseCount:
    """The count after one phase."""

    number: int
    phase: str
    speakers: tuple[str, ...]
    outcome: VoteOutcome

    def as_json(self) -> JsonObject:
        """Return the count as the record keeps it."""
        return {
            "round": self.number,
            "phase": self.phase,
            "speaker_schedule": list(self.speakers),
            "speaker_selected_by": SCHEDULE,
            "ballots": [_ballot_json(row) for row in self.outcome.ballots],
            **self.outcome.as_json(),
        }


def _ballot_json(ballot: Ballot) -> JsonObject:
    return {
        "voter": ballot.voter,
        "vote": ballot.choice,
        "silence": ballot.silence.value if ballot.silence else None,
        "carried": ballot.carried,
        "reason": ballot.reason,
    }


def count_phase(
    number: int,
    phase: str,
    spoken: Sequence[PanelTurn],
    history: PanelHistory,
    options: Sequence[str],
    rule: DecisionRule,
) -> PhaseCount:
    """Apply the rule to the latest vote of each registered debater."""
    ballots = select_latest_ballots(row.ballot for row in history.spoken)
    outcome = count_votes(rule.among(history.debaters), history.debaters, ballots, options)
    return PhaseCount(number, phase, tuple(row.name for row in spoken), outcome)


@dataclass(frozen=True, slots=True)
class PanelReport:
    """The report of a panel: nine lines, always the same and in this order."""

    debater_ids: tuple[str, ...]
    rounds_run: int
    max_rounds: int
    phase_sequence: tuple[str, ...]
    consensus_threshold: int | str
    vote_tally: Mapping[str, int]
    decision: str | None
    decision_rule: str
    speaker_schedule: tuple[str, ...]

    def as_json(self) -> JsonObject:
        """Return the report with exactly these keys."""
        return {
            "debater_ids": list(self.debater_ids),
            "rounds_run": self.rounds_run,
            "max_rounds": self.max_rounds,
            "phase_sequence": list(self.phase_sequence),
            "consensus_threshold": self.consensus_threshold,
            "vote_tally": dict(self.vote_tally),
            "decision": self.decision,
            "decision_rule": self.decision_rule,
            "speaker_schedule": list(self.speaker_schedule),
        }

    def text(self) -> str:
        """Return the report, a line for each key."""
        tally = ", ".join(f"{option}: {votes}" for option, votes in self.vote_tally.items())
        return "\n".join(
            (
                f"debater_ids: [{', '.join(self.debater_ids)}]",
                f"rounds_run: {self.rounds_run}",
                f"max_rounds: {self.max_rounds}",
                f"phase_sequence: [{', '.join(self.phase_sequence)}]",
                f"consensus_threshold: {self.consensus_threshold}",
                f"vote_tally: {{{tally}}}",
                f"decision: {self.decision or 'none'}",
                f"decision_rule: {self.decision_rule}",
                f"speaker_schedule: [{', '.join(self.speaker_schedule)}]",
            )
        )


@dataclass(frozen=True, slots=True)
class PanelVerdict:
    """The decision of a panel and its basis.

    ``decided_by`` is the rule that was met, or why none was. ``decision`` is None where the debate stopped at its
    budget.
    """

    debaters: tuple[str, ...]
    options: tuple[str, ...]
    max_rounds: int
    rule: DecisionRule
    counts: tuple[PhaseCount, ...]
    spoken: tuple[PanelTurn, ...]
    decision: str | None
    decided_by: str
    voices: tuple[Voice, ...] = ()

    @property
    def last(self) -> VoteOutcome:
        """The last count."""
        return self.counts[-1].outcome

    @property
    def report(self) -> PanelReport:
        """The report. Its tally omits options without votes."""
        needed = self.last.needed
        return PanelReport(
            debater_ids=self.debaters,
            rounds_run=self.counts[-1].number,
            max_rounds=self.max_rounds,
            phase_sequence=tuple(row.phase for row in self.counts),
            consensus_threshold=needed if isinstance(needed, int) else f"more than {needed}",
            vote_tally={option: self.last.tally[option] for option in self.options if self.last.tally[option]},
            decision=self.decision,
            decision_rule=self.decided_by,
            speaker_schedule=tuple(name for row in self.counts for name in row.speakers),
        )

    @property
    def reading(self) -> str:
        """The decision in one sentence."""
        where = f"the {self.counts[-1].phase} of round {self.counts[-1].number}"
        if self.decided_by == BUDGET_REACHED:
            return f"no decision, the debate stopped at its ceiling in {where}: {self.last.reason}"
        if self.decided_by == MAX_ROUNDS_EXHAUSTED:
            rounds = f"{self.max_rounds} round{'' if self.max_rounds == 1 else 's'}"
            return f"escalate, by {MAX_ROUNDS_EXHAUSTED}: no option met the rule in {rounds}; {self.last.reason}"
        return f"{self.decision}, by {self.decided_by} after {where}: {self.last.reason}"

    def latest(self, name: str) -> PanelTurn | None:
        """Return the latest turn of ``name`` with a position."""
        return next((row for row in reversed(self.spoken) if row.name == name and row.position), None)

    def as_json(self) -> JsonObject:
        """Return the verdict as the record and the exports keep it."""
        return {
            "format": "panel",
            "report": self.report.as_json(),
            "report_text": self.report.text(),
            "reading": self.reading,
            "speaker_selected_by": SCHEDULE,
            "options": list(self.options),
            "rule_text": self.last.rule.text(),
            "votes": [row.as_json() for row in self.counts],
            "positions": [row for name in self.debaters if (row := self._position(name)) is not None],
            "findings": self._findings(),
            "escalate": self.decision == ESCALATE,
            "diversity": self._diversity(),
            "conduct": self._conduct(),
        }

    def _position(self, name: str) -> JsonObject | None:
        row = self.latest(name)
        if row is None or row.position is None:
            return None
        return {
            "debater": name,
            "round": row.number,
            "phase": row.phase,
            "stance": row.position.stance,
            "rationale": row.position.rationale,
            "vote": row.position.vote,
        }

    def _findings(self) -> list[Json]:
        """Return the rationales of the voters for revision, where revision was decided."""
        if self.decision != REVISE:
            return []
        rows = (self.latest(ballot.voter) for ballot in self.last.ballots if ballot.choice == REVISE)
        return [
            {"debater": row.name, "stance": row.position.stance, "rationale": row.position.rationale}
            for row in rows
            if row is not None and row.position is not None
        ]

    def _diversity(self) -> JsonObject:
        """Return how the debaters differ: models, families and prompts."""
        models = list(dict.fromkeys(row.model for row in self.voices))
        families = list(dict.fromkeys(row.family for row in self.voices))
        prompts = len({row.persona for row in self.voices})
        return {
            "models": models,
            "families": families,
            "prompts": prompts,
            "alike": len(self.voices) > 1 and len(models) == 1 and prompts == 1,
            "debaters": [
                {"debater": row.seat, "model": row.model, "family": row.family, "persona": bool(row.persona)}
                for row in self.voices
            ],
        }

    def _conduct(self) -> JsonObject:
        """Return who said how much and who changed their vote, to show whether one debater led the others."""
        shares = self._shares()
        moved = self._moves()
        return {
            "debaters": [
                {
                    "debater": name,
                    "turns": sum(row.position is not None for row in self._of(name)),
                    "words": sum(row.position.words for row in self._of(name) if row.position),
                    "share": str(shares[name]),
                    "votes": [row.position.vote if row.position else None for row in self._of(name)],
                    "changed": sum(mover == name for mover, _ in moved),
                }
                for name in self.debaters
            ],
            "changes": [{"debater": mover, "followed": sorted(followed)} for mover, followed in moved],
            **self._dominance(shares, moved),
        }

    def _of(self, name: str) -> list[PanelTurn]:
        return [row for row in self.spoken if row.name == name]

    def _shares(self) -> dict[str, Fraction]:
        words = {name: sum(row.position.words for row in self._of(name) if row.position) for name in self.debaters}
        whole = sum(words.values())
        return {name: Fraction(words[name], whole) if whole else Fraction(0) for name in self.debaters}

    def _moves(self) -> list[tuple[str, frozenset[str]]]:
        """Return every change of a vote: who made it, and who voted the same at that time."""
        standing: dict[str, str] = {}
        moves = []
        for row in self.spoken:
            if row.position is None:
                continue
            before, now = standing.get(row.name), row.position.vote
            if before is not None and before != now:
                moves.append((row.name, frozenset(name for name, vote in standing.items() if vote == now)))
            standing[row.name] = now
        return moves

    def _dominance(self, shares: Mapping[str, Fraction], moves: Sequence[tuple[str, frozenset[str]]]) -> JsonObject:
        """Return who dominated: over half of all words (two thirds with two debaters), or the target of every one of
        several changes.
        """
        most = Fraction(2, 3) if len(self.debaters) == 2 else Fraction(1, 2)
        if len(self.debaters) > 1:
            for name in self.debaters:
                if shares[name] > most:
                    return {"dominant": name, "dominance": f"{name} spoke {round(shares[name] * 100)} % of all words"}
            movers = {mover for mover, _ in moves}
            for name in self.debaters:
                if len(moves) > 1 and name not in movers and all(name in followed for _, followed in moves):
                    said = f"all {len(moves)} changed votes moved to that of {name}, who never changed it"
                    return {"dominant": name, "dominance": said}
        return {"dominant": None, "dominance": "no debater dominated by words or by changed votes"}
