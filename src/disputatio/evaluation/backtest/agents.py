"""Run one model alone on the dates of a backtest, at the cost of one answer and at that of the debate.

single   one answer, up or down, on the whole knowledge base vote     as many such answers as come nearest to the tokens
of that date's debate; the most frequent one counts
         (self-consistency), of equal ones the first given. This is the single agent at equal spend

The probability of up is the confidence of the answer, or the share of votes. Both see what the debate saw, with or
without names and dates. The recognition probe runs in the same experiment, so one ceiling covers everything. The id of
each record is a hash of what decides it: the same run finds its records and calls no model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from pathlib import Path

from disputatio.config import Arguments, Settings, fallback_seat, resolve
from disputatio.config.process import format_scope
from disputatio.engine.market_setup import default_question, is_rule_based, knowledge_as_source
from disputatio.engine.opening import Proposal, assign_seats, make_opening, make_plan, open_prompts
from disputatio.engine.runtime import software
from disputatio.evaluation.backtest.cases import BLIND, DEFAULT_HORIZON, ID_LENGTH, PLAIN, Case, KnowledgeBases
from disputatio.evaluation.backtest.forecasts import DateRecord
from disputatio.evaluation.backtest.recognition import (
    Probe,
    RecognitionReport,
    make_probes,
    make_recognition_report,
)
from disputatio.evaluation.experiment import (
    Experiment,
    Spending,
    Trial,
    add_spending,
    find_unreachable,
    read_outcome,
    read_spending,
    total_spending,
)
from disputatio.evaluation.questions.arms import is_harness
from disputatio.evaluation.votes import Votes, count_nearest, with_sampling
from disputatio.formats.format import Format
from disputatio.formats.market import JUDGE
from disputatio.formats.single import ANSWERER, SINGLE, pick_most_given
from disputatio.kernel import JsonObject
from disputatio.ledger.budget import UNLIMITED
from disputatio.motion import Motion
from disputatio.participants.model_seat import Credentials
from disputatio.participants.providers import SeatValue
from disputatio.participants.shared_clients import ClientFactory, SharedClients
from disputatio.record.text import canonical, digest

UP, DOWN = "up", "down"
SINGLE_AGENT, VOTE = "single", "vote"
_MOST_BATCHES = 8
_NO_IDENTITY = frozenset({"budget", "warnings", "estimate"})


def list_models(settings: Settings) -> dict[str, str]:
    """The language models in the seats of a market debate, each with one of its seats; the judge comes first."""
    seats = {seat: row for seat, row in settings.seats.items() if not is_rule_based(row)}
    found: dict[str, str] = {}
    for seat in sorted(seats, key=lambda name: name != JUDGE):
        found.setdefault(seats[seat].address, seat)
    return found


def make_agent_settings(form: Format, debate: Settings, seat: str) -> Settings:
    """The settings of ``form`` with the model of ``seat`` in the debate as answerer; the rest as in the debate."""
    model = debate.seats[seat]
    own = resolve(
        format_name=form.name,
        seats=tuple(form.seats),
        environ={},
        directory=Path(),
        arguments=Arguments().with_seats([(str(ANSWERER), SeatValue(model.provider, model.model, model.base_url))]),
        options=format_scope(form),
    )
    pairs = ((seat, str(ANSWERER)), (fallback_seat(seat), fallback_seat(ANSWERER)))
    keys = {there: key for here, there in pairs if (key := debate.credentials.key(here)) is not None}
    return replace(
        own,
        seats={str(ANSWERER): replace(model, persona="", max_tokens=None, temperature=None)},
        credentials=Credentials(keys),
        language=debate.language,
        seed=debate.seed,
        store=debate.store,
        prices=debate.prices,
    )


@dataclass(frozen=True, slots=True)
class AgentForecast:
    """The forecast of one model alone on one date.

    ``up`` is its call and ``p`` its probability of up, None without an answer. ``samples`` are the answers it rests on,
    and ``failure`` says how a provider failed.
    """

    case: Case
    agent: str
    up: bool | None
    p: float | None
    samples: int
    spent: Spending
    debates: tuple[str, ...] = ()
    failure: str = ""
    harness: bool = False

    def as_json(self) -> JsonObject:
        """The forecast as a row of the report."""
        return {
            "day": self.case.day.isoformat(),
            "arm": self.case.arm,
            "agent": self.agent,
            "up": self.up,
            "p": None if self.p is None else round(self.p, 6),
            "samples": self.samples,
            "spent": self.spent.as_json(),
            "records": list(self.debates),
            **({"failure": self.failure} if self.failure else {}),
        }


@dataclass(frozen=True, slots=True)
class FinishedAgents:
    """Forecasts by agent and case, the probe, and the total cost."""

    forecasts: Mapping[str, Mapping[Case, AgentForecast]]
    recognition: RecognitionReport | None
    spent: Spending
    stopped: str = ""
    provider_failed: bool = False

    @property
    def harness(self) -> bool:
        """Whether a script or a server that answers any schema took part."""
        rows = [row for own in self.forecasts.values() for row in own.values()]
        return any(row.harness for row in rows) or (self.recognition is not None and self.recognition.harness)


class AgentRunner:
    """Runs single agents, and the recognition probe, on the dates of a backtest.

    Args:
        records: the debates; mirrored ones are ignored.
        bases: the knowledge bases of their cases.
        single: the settings of the format ``single``, with the agent in its seat; None runs no agents.
        probes: the settings of the format ``recognition``, by model; none runs no probe.
        years: the first and the last year that the probe offers.
        experiment: runs all of it, under a ceiling of its own that excludes the debates.
        prompts: a folder of overrides.
        seed: decides which index the probe asks for.
        horizon: of the question.
    """

    def __init__(
        self,
        records: Sequence[DateRecord],
        bases: KnowledgeBases,
        single: Settings | None,
        probes: Mapping[str, Settings],
        years: tuple[int, int],
        experiment: Experiment,
        *,
        prompts: Path | None = None,
        seed: int = 0,
        horizon: str = DEFAULT_HORIZON,
    ) -> None:
        self._rows = [row for row in records if row.case.arm in {PLAIN, BLIND}]
        self._bases, self._settings, self._probes, self._years = bases, single, probes, years
        self._experiment, self._votes = experiment, Votes[Case](experiment)
        self._prompts, self._seed, self._horizon = prompts, seed, horizon
        self._proposals: dict[Case, tuple[Proposal, Proposal]] = {}

    async def run(self) -> FinishedAgents:
        """Run what has no record yet, and read everything.

        Raises:
            ProviderError, InvalidInputError, asyncio.CancelledError: as ``Experiment.run``.
        """
        asked = self.probes_on([row.case for row in self._rows])
        trials = [self._with_id(probe.trial) for probe in asked]
        if self._settings is not None:
            trials += [self._trial(row.case, 1, 1, warm=False) for row in self._rows]
        await self._experiment.run(trials)
        if self._settings is not None:
            await self._experiment.run_further(
                lambda: [found for row in self._rows if (found := self._next_samples(row)) is not None], _MOST_BATCHES
            )
        return self._found(asked)

    def _found(self, asked: Sequence[Probe]) -> FinishedAgents:
        result, finished = self._experiment.result, self._experiment.finished
        forecasts: dict[str, dict[Case, AgentForecast]] = {}
        if self._settings is not None:
            forecasts = {
                SINGLE_AGENT: {row.case: self._single(row.case) for row in self._rows},
                VOTE: {row.case: self._vote(row) for row in self._rows},
            }
        guesses = [
            probe.guess_in(trial.debate, trial.history)
            for probe in asked
            if (trial := finished.get(probe.trial.key)) is not None
        ]
        report = make_recognition_report(guesses, self._years, self._seed) if guesses else None
        spent = total_spending(row.history for row in result.finished)
        return FinishedAgents(forecasts, report, spent, result.stopped, result.provider_failed)

    def probes_on(self, cases: Sequence[Case]) -> tuple[Probe, ...]:
        """The probes on the days of ``cases``; none if no model is probed."""
        if not self._probes:
            return ()
        days: dict[date, Case] = {row.day: Case(row.day, PLAIN) for row in cases}
        named = {day: self._bases.of(case) for day, case in days.items()}
        return make_probes(named, self._probes, self._years, seed=self._seed, prompts=self._prompts)

    def _with_id(self, trial: Trial) -> Trial:
        return replace(trial, debate=_id_of(trial.proposal, trial.key, self._experiment.client_factory))

    def _trial(self, case: Case, first: int, samples: int, *, warm: bool) -> Trial:
        assert self._settings is not None  # noqa: S101  (agents need settings)
        if case not in self._proposals:
            self._proposals[case] = self.proposals_of(case)
        proposal = self._proposals[case][warm]
        rules = {**proposal.settings.rules, "first": first, "samples": samples}
        own = replace(proposal, settings=replace(proposal.settings, rules=rules))
        return self._with_id(Trial(f"{VOTE if warm else SINGLE_AGENT}/{case.key}/{first}+{samples}", own))

    def proposals_of(self, case: Case) -> tuple[Proposal, Proposal]:
        """The single answer, and the samples of a vote at their higher temperature."""
        assert self._settings is not None  # noqa: S101
        base, settings = self._bases.of(case), self._settings
        rules = {**settings.rules, "options": (UP, DOWN)}
        once = replace(settings, rules=rules)  # type: ignore[arg-type]
        motion = Motion(default_question(base, self._horizon), settings.language)
        proposal = Proposal(motion, SINGLE, once, (knowledge_as_source(base),), prompts=self._prompts)
        return proposal, replace(proposal, settings=with_sampling(once))

    def _next_samples(self, row: DateRecord) -> Trial | None:
        """The samples still wanted for the vote of one date; None if none are, or if the last batch failed."""
        if not row.spent.calls:
            return None
        single = self._experiment.finished.get(_single_key(row.case))
        usual = read_spending(single.history).tokens if single else 0
        return self._votes.next_batch(
            row.case, *_cost(row), usual, lambda first, count: self._trial(row.case, first, count, warm=True)
        )

    def _single(self, case: Case) -> AgentForecast:
        held = self._experiment.finished.get(_single_key(case))
        if held is None:
            return AgentForecast(case, SINGLE_AGENT, None, None, 0, Spending(), failure="not run")
        outcome = read_outcome(held.history)
        answer, sure = ([*(outcome.get(key) or ()), None][0] for key in ("answers", "confidence"))
        up = None if answer is None else answer == UP
        p = None if up is None or sure is None else int(sure) / 100 if up else 1 - int(sure) / 100
        spent, failure = read_spending(held.history), "" if answer else find_unreachable(held.history)
        harness = is_harness(held.history)
        return AgentForecast(case, SINGLE_AGENT, up, p, int(up is not None), spent, (held.debate,), failure, harness)

    def _vote(self, row: DateRecord) -> AgentForecast:
        samples = self._votes.samples(row.case)
        if not samples:
            return AgentForecast(row.case, VOTE, None, None, 0, Spending(), failure="not run")
        kept = samples[: count_nearest(samples, *_cost(row))]
        answers = [sample.answer for sample in kept]
        given = [answer for answer in answers if answer is not None]
        winner = pick_most_given(answers)
        spent = add_spending(sample.spent for sample in kept)
        debates = tuple(dict.fromkeys(sample.debate for sample in kept))
        histories = [each.history for each in self._experiment.finished.values() if each.debate in debates]
        failure = "" if given else next((text for each in histories if (text := find_unreachable(each))), "")
        p = given.count(UP) / len(given) if given else None
        up = None if winner is None else winner == UP
        return AgentForecast(row.case, VOTE, up, p, len(kept), spent, debates, failure, any(map(is_harness, histories)))


def _single_key(case: Case) -> str:
    return f"{SINGLE_AGENT}/{case.key}/1+1"


def _cost(row: DateRecord) -> tuple[int, int]:
    """The tokens and the turns of a debate; each turn is at least one call."""
    return row.spent.tokens, row.spent.calls


def _id_of(proposal: Proposal, key: str, client_factory: ClientFactory) -> str:
    """An id derived from the question, what is shown, who answers, and how."""
    table = assign_seats(proposal.format, proposal.settings, proposal.participants, SharedClients(client_factory))
    event, _ = make_opening(make_plan(proposal, table, open_prompts(proposal.prompts)), UNLIMITED, software())
    body = {row.name: getattr(event, row.name) for row in fields(event) if row.name not in _NO_IDENTITY}
    return digest(canonical(["backtest agent", key, body]))[:ID_LENGTH]
