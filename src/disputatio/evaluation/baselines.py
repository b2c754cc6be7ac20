"""Baselines of one debate: a single answer, a vote of single answers at the debate's cost, and a free-form debate.

Each has its own record in the same store. One event at the end of the debate's record keeps its result and cost, so
every surface shows them together. Baselines run after the debate is closed and cannot change it. The ceiling of the
debate covers them too: they may spend what it left.

On an open motion the answer is for or against. In a panel it is one of the panel's options. A market debate argues
whether its subject will rise, so its baseline answers up or down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from disputatio.config import Settings
from disputatio.engine.journal import Journal
from disputatio.engine.market_setup import choose_knowledge, default_question, find_horizon, knowledge_as_source
from disputatio.engine.opening import Proposal
from disputatio.engine.runtime import Runtime
from disputatio.errors import DisputatioError, InvalidInputError
from disputatio.evaluation.experiment import (
    Experiment,
    Spending,
    Trial,
    add_spending,
    compute_remaining,
    read_outcome,
    read_spending,
    total_spending,
)
from disputatio.evaluation.questions.arms import count_turns
from disputatio.evaluation.votes import Votes, count_nearest, with_sampling
from disputatio.evidence.sources import Source
from disputatio.formats.options import Panel
from disputatio.formats.registry import find_format
from disputatio.formats.single import SINGLE, pick_most_given
from disputatio.ledger.budget import UNLIMITED, Budget
from disputatio.motion import Evidence, Motion, one_line
from disputatio.record.events import BaselineHeld
from disputatio.record.history import History, Status
from disputatio.record.verified import read_verified

Who = TypeVar("Who")
BASELINES = ("single", "vote", "freeform")
FOR_OR_AGAINST = ("for", "against")
UP_OR_DOWN = ("up", "down")
_MOST_BATCHES = 8
_JUDGES = ("judge", "moderator")


def parse_baselines(text: str) -> tuple[str, ...]:
    """Read names of baselines between commas; ``all`` is every one.

    Raises:
        InvalidInputError: a name is unknown.
    """
    names = [row.strip().lower() for row in text.split(",") if row.strip()]
    if names == ["all"]:
        return BASELINES
    strange = next((row for row in names if row not in BASELINES), None)
    if strange is not None or not names:
        shown = repr(one_line(strange or text, 40))
        raise InvalidInputError(f"There is no baseline called {shown}.", f"There are: {', '.join(BASELINES)}, or all.")
    return tuple(row for row in BASELINES if row in names)


def choose_answerer(named: Sequence[tuple[str, Who]], debate: Settings) -> tuple[tuple[str, Who], ...]:
    """Choose who answers from ``--seat``: the answerer or ``all`` if named, else the judge or the first speaker."""
    seats = {seat.strip().lower(): who for seat, who in named}
    if "answerer" in seats or "all" in seats:
        return tuple((seat, who) for seat, who in seats.items() if seat in {"answerer", "all"})
    known = next((seat for seat in (*_JUDGES, *debate.seats) if seat in seats), None)
    return () if known is None else (("answerer", seats[known]),)


@dataclass(slots=True)
class Baselines:
    """Runs baselines of a debate.

    Args:
        proposal: the debate as it was requested.
        settings: of the formats ``single`` and ``freeform``.
        runtime: the runtime of the debate.
        budget: the ceilings of the debate; they cover the baselines too.
        say: called with a sentence when a baseline starts.
        trial_id: returns the record id of a trial by its key; empty allows any fitting record of the store.
    """

    proposal: Proposal
    settings: Mapping[str, Settings]
    runtime: Runtime
    budget: Budget = UNLIMITED
    say: Callable[[str], None] = lambda _: None
    prompts: Path | None = None
    trial_id: Callable[[str], str] = lambda _: ""

    async def run(self, debate: str, names: tuple[str, ...]) -> tuple[BaselineHeld, ...]:
        """Run the baselines ``names`` of ``debate`` and record their results. Do nothing if the debate has no result.

        Raises:
            VerificationError: the record was altered.
            StoreError: a result could not be recorded.
        """
        history = _history(self.runtime, debate)
        if history.closed is None or history.status in {Status.TRUNCATED, Status.FAILED}:
            return ()
        done = {row.baseline for row in history.baselines}
        events: list[BaselineHeld] = []
        spent = read_spending(history)
        for row in history.baselines:
            spent = spent.plus(Spending(row.calls, row.tokens, None if row.usd is None else Decimal(row.usd)))
        for name in names:
            if name in done:
                continue
            self.say(f"Baseline: {_WORDS[name]}.")
            try:
                event, took = await self._run_one(name, history, spent)
            except DisputatioError as failure:
                event, took = _event(name, history, Spending(), failure=failure.cause), Spending()
            spent = spent.plus(took)
            await self._write(debate, event)
            events.append(event)
        return tuple(events)

    async def _run_one(self, name: str, history: History, spent: Spending) -> tuple[BaselineHeld, Spending]:
        """Run one baseline; return its event and what it spent."""
        left = compute_remaining(self.budget, spent)
        if left is None:
            return _event(name, history, Spending(), failure="the debate used up its ceiling"), Spending()
        runtime = self.runtime
        experiment = Experiment(runtime.store, runtime.client_factory, budget=left, batches=runtime.batches)
        if name == "vote":
            return await self._vote(history, experiment)
        if name == "single":
            trial = self._answers(1, 1, warm=False)
        else:
            form = find_format("freeform")
            proposal = Proposal(self._motion(), form, self.settings["freeform"], self._sources(), prompts=self.prompts)
            trial = Trial(name, proposal, self.trial_id(name))
        result = await experiment.run([trial])
        if not result.finished:
            return _event(name, history, Spending(), failure=result.stopped or "it did not run"), Spending()
        took = total_spending(row.history for row in result.finished)
        outcome = read_outcome(result.finished[0].history)
        answer = outcome.get("winner") if name == "single" else outcome.get("recommendation")
        why = "" if answer else "the model gave none"
        debates = tuple(row.debate for row in result.finished)
        return _event(name, history, took, str(answer or ""), debates=debates, failure=why), took

    def _motion(self) -> Motion:
        """The motion of the debate; of a market debate the question its analysts argue."""
        motion = self.proposal.motion
        base = choose_knowledge(self.proposal.format, self.proposal.knowledge, ())
        return (
            motion if base is None or find_horizon(motion.text, base) else replace(motion, text=default_question(base))
        )

    def _sources(self) -> tuple[Evidence | Source, ...]:
        """The sources of the debate; of a market debate the whole knowledge base."""
        base = choose_knowledge(self.proposal.format, self.proposal.knowledge, ())
        return (*self.proposal.evidence, *(() if base is None else (knowledge_as_source(base),)))

    async def _vote(self, history: History, experiment: Experiment) -> tuple[BaselineHeld, Spending]:
        """Draw samples until their tokens come nearest to those of the debate."""
        target, turns, votes = read_spending(history).tokens, count_turns(history), Votes[str](experiment)

        def wanted() -> list[Trial]:
            made = votes.next_batch("", target, turns, 0, lambda first, count: self._answers(first, count, warm=True))
            return [] if made is None else [made]

        await experiment.run_further(wanted, _MOST_BATCHES)
        why, samples = experiment.stopped, votes.samples("")
        took = total_spending(row.history for row in experiment.finished.values())
        if not samples:
            return _event("vote", history, took, failure=why or "it did not run"), took
        kept = samples[: count_nearest(samples, target, turns)]
        answers = [row.answer for row in kept]
        winner = pick_most_given(answers)
        event = _event(
            "vote",
            history,
            add_spending(row.spent for row in kept),
            winner or "",
            tally={answer: answers.count(answer) for answer in dict.fromkeys(answers) if answer is not None},
            samples=len(kept),
            debates=tuple(dict.fromkeys(row.debate for row in kept)),
            failure="" if winner else why or "no sample answered",
        )
        return event, took

    def _answers(self, first: int, samples: int, *, warm: bool) -> Trial:
        chosen = self.proposal.settings.format
        options = chosen.options if isinstance(chosen, Panel) else ()
        settings = with_sampling(self.settings["single"]) if warm else self.settings["single"]
        usual = UP_OR_DOWN if self.proposal.format.knows else FOR_OR_AGAINST
        rules: Any = {**settings.rules, "options": tuple(options or usual), "first": first, "samples": samples}
        settings = replace(settings, rules=rules)
        proposal = Proposal(self._motion(), SINGLE, settings, self._sources(), prompts=self.prompts)
        key = f"{'vote' if warm else 'single'}/{first}"
        return Trial(key, proposal, self.trial_id(key))

    async def _write(self, debate: str, event: BaselineHeld) -> None:
        runtime = self.runtime
        runtime.store.claim(debate)
        try:
            record = read_verified(runtime.store, debate)
            journal = Journal(
                debate, store=runtime.store, clock=runtime.clock, observer=runtime.observer, written=record
            )
            journal.write(replace(event, head=record[-1].hash))
            await journal.wait_until_durable()
        finally:
            runtime.store.release(debate)


_WORDS = {
    "single": "a single answer",
    "vote": "a vote of single answers at the cost of the debate",
    "freeform": "a free-form debate",
}


def _history(runtime: Runtime, debate: str) -> History:
    return History.of(row.event() for row in read_verified(runtime.store, debate))


def _event(
    name: str,
    history: History,
    took: Spending,
    answer: str = "",
    *,
    tally: Mapping[str, int] | None = None,
    samples: int = 1,
    debates: tuple[str, ...] = (),
    failure: str = "",
) -> BaselineHeld:
    return BaselineHeld(
        baseline=name,
        answer=one_line(answer, 2_000),
        tally=dict(tally or {}),
        samples=samples if debates else 0,
        debates=debates,
        tokens=took.tokens,
        calls=took.calls,
        usd=None if took.usd is None else str(took.usd),
        debate_tokens=read_spending(history).tokens,
        failure=one_line(failure, 400),
        head="",
    )
