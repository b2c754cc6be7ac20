"""What one model alone says on the very dates of a backtest, at the cost of one answer and at that of the debate.

single   one answer, up or down, on the whole knowledge base
vote     so many such answers as come nearest to the tokens that the debate on that date took; the one given most often
         (self-consistency), of level ones the first given. This is the single agent at equal spend

The probability of up is what the answerer says of its answer, or the share of votes. Both see what the debate saw, with
names and dates or without. The recognition probe is held in the same series, so that one ceiling covers all of it.
Everything has an ordinary record with an id that follows from what decides it: the same run finds it and asks nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from pathlib import Path

from disputatio.config import Arguments, Settings, fallback_seat, resolve
from disputatio.config.format_scope import format_scope
from disputatio.engine.debates import software
from disputatio.engine.market_matter import is_rules, knowledge_as_source, question_on
from disputatio.engine.opening import Proposal, book_of, opened_event, plan_of, seat_table
from disputatio.evaluation.backtest.cases import BLIND, ID_LENGTH, PLAIN, USUAL_HORIZON, Bases, Case
from disputatio.evaluation.backtest.reading import DateRecord
from disputatio.evaluation.backtest.recognition import (
    Probe,
    RecognitionReport,
    probes_of,
    recognition_report,
)
from disputatio.evaluation.beside import MOST_SAMPLES, more_samples
from disputatio.evaluation.comparing.reading import (
    Sample,
    is_harness,
    nearest,
    outcome_of,
    samples_in,
    total_spent,
)
from disputatio.evaluation.series import Held, Spent, Trial, unreachable
from disputatio.evaluation.waves import Waves
from disputatio.formats.format import Format
from disputatio.formats.market import JUDGE
from disputatio.formats.single import ANSWERER, SAMPLED, SINGLE, most_given
from disputatio.kernel import JsonObject
from disputatio.ledger.budget import UNLIMITED, Budget
from disputatio.motion import Motion
from disputatio.participants.gateways import OpenGateway, SharedGateways, open_gateway
from disputatio.participants.providers import SeatValue
from disputatio.participants.seating import Credentials
from disputatio.record.store import Store
from disputatio.record.text import canonical, digest

UP, DOWN = "up", "down"
SINGLE_AGENT, VOTE = "single", "vote"
_MOST_WAVES = 8
_NO_IDENTITY = frozenset({"budget", "warnings", "estimate"})


def models_in(settings: Settings) -> dict[str, str]:
    """The language models in the seats of a market debate, each with a seat of its own; the judge comes first."""
    seats = {seat: row for seat, row in settings.seats.items() if not is_rules(row)}
    found: dict[str, str] = {}
    for seat in sorted(seats, key=lambda name: name != JUDGE):
        found.setdefault(seats[seat].address, seat)
    return found


def agent_settings(form: Format, debate: Settings, seat: str) -> Settings:
    """The settings of ``form`` whose answerer is the model that has ``seat`` in a debate; all else as there."""
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
    """What one model alone said on one date.

    ``up`` is its call and ``p`` its probability of up, None where there is no answer; ``samples`` are the answers it
    rests on, and ``failure`` says why there is none where a provider failed.
    """

    case: Case
    agent: str
    up: bool | None
    p: float | None
    samples: int
    spent: Spent
    debates: tuple[str, ...] = ()
    failure: str = ""
    harness: bool = False

    def as_json(self) -> JsonObject:
        """The forecast in a line of the report."""
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
class HeldAgents:
    """What was held beside the debates: forecasts by agent and case, the probe, and what all of it took."""

    forecasts: Mapping[str, Mapping[Case, AgentForecast]]
    recognition: RecognitionReport | None
    spent: Spent
    stopped: str = ""
    provider_failed: bool = False

    @property
    def harness(self) -> bool:
        """Whether a script or a server that answers any schema took part."""
        rows = [row for own in self.forecasts.values() for row in own.values()]
        return any(row.harness for row in rows) or (self.recognition is not None and self.recognition.harness)


@dataclass(slots=True)
class Agents:
    """Holds single agents, and the recognition probe, beside the debates of a backtest.

    Args:
        records: the debates; mirrored ones are passed over.
        bases: the knowledge bases of their cases.
        single: the settings of the format ``single``, with the agent in its seat; None holds no agents.
        probes: the settings of the format ``recognition``, by model; none holds no probe.
        years: the first and the last year that the probe offers.
        store: where the records are.
        opener: the way to models.
        budget: the ceilings of all of this; what the debates took is not part of it.
        lanes: how many are held at a time.
        prompts: a folder of overrides.
        seed: which index the probe asks for.
        on_held: is told of each one that is done.
        on_wave: is told how many there are, whenever that is known anew.
        asks: whether what has no record is held; else only the records are read.
        horizon: within which the subject may rise.
    """

    records: Sequence[DateRecord]
    bases: Bases
    single: Settings | None
    probes: Mapping[str, Settings]
    years: tuple[int, int]
    store: Store
    opener: OpenGateway = open_gateway
    budget: Budget = UNLIMITED
    lanes: int = 4
    prompts: Path | None = None
    seed: int = 0
    on_held: Callable[[Held], None] = lambda _: None
    on_wave: Callable[[int], None] = lambda _: None
    asks: bool = True
    horizon: str = USUAL_HORIZON
    _waves: Waves = field(init=False)
    _lots: dict[Case, list[str]] = field(default_factory=dict)
    _proposals: dict[Case, tuple[Proposal, Proposal]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._waves = Waves(
            self.store,
            opener=self.opener,
            budget=self.budget,
            lanes=self.lanes,
            on_held=self.on_held,
            on_wave=self.on_wave,
            asks=self.asks,
        )

    async def hold(self) -> HeldAgents:
        """Hold what has no record yet, and read everything.

        Raises:
            ProviderError: the model certainly cannot answer; nothing was spent.
            InvalidInputError: a key or a price is missing; nothing was spent.
            asyncio.CancelledError: stopped from outside; what was held has its records.
        """
        rows = [row for row in self.records if row.case.arm in {PLAIN, BLIND}]
        asked = self._probes(rows)
        trials = [self._with_id(probe.trial) for probe in asked]
        if self.single is not None:
            trials += [self._trial(row.case, 1, 1, warm=False) for row in rows]
        await self._waves.hold(trials)
        if self.single is not None:
            await self._waves.hold_further(
                lambda: [lot for row in rows if (lot := self._next_lot(row)) is not None], _MOST_WAVES
            )
        return self._found(rows, asked)

    def _found(self, rows: Sequence[DateRecord], asked: Sequence[Probe]) -> HeldAgents:
        forecasts: dict[str, dict[Case, AgentForecast]] = {}
        if self.single is not None:
            forecasts = {
                SINGLE_AGENT: {row.case: self._single(row.case) for row in rows},
                VOTE: {row.case: self._vote(row) for row in rows},
            }
        guesses = [
            probe.guess_in(held.debate, held.history)
            for probe in asked
            if (held := self._waves.held.get(probe.trial.key)) is not None
        ]
        report = recognition_report(guesses, self.years, self.seed) if guesses else None
        spent = total_spent([row.history for row in self._waves.held.values()])
        return HeldAgents(forecasts, report, spent, self._waves.stopped, self._waves.provider_failed)

    def _probes(self, rows: Sequence[DateRecord]) -> tuple[Probe, ...]:
        return self.probes_on([row.case for row in rows])

    def probes_on(self, cases: Sequence[Case]) -> tuple[Probe, ...]:
        """The questions of the probe on the days of ``cases``; none where no model is probed."""
        if not self.probes:
            return ()
        days: dict[date, Case] = {row.day: Case(row.day, PLAIN) for row in cases}
        named = {day: self.bases.of(case) for day, case in days.items()}
        return probes_of(named, self.probes, self.years, seed=self.seed, prompts=self.prompts)

    def _with_id(self, trial: Trial) -> Trial:
        return replace(trial, debate=_id_of(trial.proposal, trial.key, self.opener))

    def _trial(self, case: Case, first: int, samples: int, *, warm: bool) -> Trial:
        assert self.single is not None  # noqa: S101  (nobody asks for agents without one)
        if case not in self._proposals:
            self._proposals[case] = self.proposals_of(case)
        proposal = self._proposals[case][warm]
        rules = {**proposal.settings.rules, "first": first, "samples": samples}
        own = replace(proposal, settings=replace(proposal.settings, rules=rules))
        return self._with_id(Trial(f"{VOTE if warm else SINGLE_AGENT}/{case.key}/{first}+{samples}", own))

    def proposals_of(self, case: Case) -> tuple[Proposal, Proposal]:
        """The one answer, and the samples of a vote, which are warmer."""
        assert self.single is not None  # noqa: S101
        base, settings = self.bases.of(case), self.single
        rules = {**settings.rules, "options": (UP, DOWN)}
        once = replace(settings, rules=rules)  # type: ignore[arg-type]
        limits = settings.limits
        warm = limits.model_copy(update={"temperature": {"answering": SAMPLED.temperature, **limits.temperature}})
        motion = Motion(question_on(base, self.horizon), settings.language)
        proposal = Proposal(motion, SINGLE, once, (knowledge_as_source(base),), prompts=self.prompts)
        return proposal, replace(proposal, settings=replace(once, limits=warm))

    def _next_lot(self, row: DateRecord) -> Trial | None:
        """The samples that are still wanted for the vote of one date; None where none are, or the last failed."""
        samples = self._samples(row.case)
        drawn = sum(int(key.rpartition("+")[2]) for key in self._lots.get(row.case, ()))
        if not row.spent.calls or drawn > len(samples):
            return None
        target, turns = _cost(row)
        wanted = more_samples(samples, target, turns, self._tokens_of_one(row.case))
        wanted = min(max(wanted, 0 if drawn else 1), MOST_SAMPLES - drawn)
        if wanted <= 0:
            return None
        lot = self._trial(row.case, drawn + 1, wanted, warm=True)
        self._lots.setdefault(row.case, []).append(lot.key)
        return lot

    def _tokens_of_one(self, case: Case) -> int:
        held = self._waves.held.get(f"{SINGLE_AGENT}/{case.key}/1+1")
        return total_spent([held.history]).tokens if held else 0

    def _samples(self, case: Case) -> list[Sample]:
        rows = [self._waves.held[key] for key in self._lots.get(case, ()) if key in self._waves.held]
        return [sample for row in rows if outcome_of(row.history) for sample in samples_in(row.debate, row.history)]

    def _single(self, case: Case) -> AgentForecast:
        held = self._waves.held.get(f"{SINGLE_AGENT}/{case.key}/1+1")
        if held is None:
            return AgentForecast(case, SINGLE_AGENT, None, None, 0, Spent(), failure="not held")
        outcome = outcome_of(held.history)
        answer, sure = ([*(outcome.get(key) or ()), None][0] for key in ("answers", "confidence"))
        up = None if answer is None else answer == UP
        p = None if up is None or sure is None else int(sure) / 100 if up else 1 - int(sure) / 100
        spent, failure = total_spent([held.history]), "" if answer else unreachable(held.history)
        harness = is_harness(held.history)
        return AgentForecast(case, SINGLE_AGENT, up, p, int(up is not None), spent, (held.debate,), failure, harness)

    def _vote(self, row: DateRecord) -> AgentForecast:
        samples = self._samples(row.case)
        if not samples:
            return AgentForecast(row.case, VOTE, None, None, 0, Spent(), failure="not held")
        kept = samples[: nearest(samples, *_cost(row))]
        answers = [sample.answer for sample in kept]
        given = [answer for answer in answers if answer is not None]
        winner = most_given(answers)
        spent = Spent()
        for sample in kept:
            spent = spent.plus(Spent(sample.calls, sample.tokens, sample.usd))
        debates = tuple(dict.fromkeys(sample.debate for sample in kept))
        histories = [held.history for held in self._waves.held.values() if held.debate in debates]
        failure = "" if given else next((text for each in histories if (text := unreachable(each))), "")
        p = given.count(UP) / len(given) if given else None
        up = None if winner is None else winner == UP
        return AgentForecast(row.case, VOTE, up, p, len(kept), spent, debates, failure, any(map(is_harness, histories)))


def _cost(row: DateRecord) -> tuple[int, int]:
    """The tokens and the turns of a debate; each turn is a call at least."""
    return row.spent.tokens, row.spent.calls


def _id_of(proposal: Proposal, key: str, opener: OpenGateway) -> str:
    """An id that follows from the question, what is shown, who answers, and how."""
    table = seat_table(proposal.format, proposal.settings, proposal.participants, SharedGateways(opener))
    event, _ = opened_event(plan_of(proposal, table, book_of(proposal.prompts)), UNLIMITED, software())
    body = {row.name: getattr(event, row.name) for row in fields(event) if row.name not in _NO_IDENTITY}
    return digest(canonical(["backtest agent", key, body]))[:ID_LENGTH]
