"""Start and resume debates over a store. The library and every surface call this."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Container, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from disputatio._version import VERSION
from disputatio.config import Settings, fallback_seat, variable_prefix
from disputatio.engine.batched import in_batches
from disputatio.engine.custom_format_files import is_rules_file, load_recorded_format
from disputatio.engine.debate_run import DebateRun, Plan
from disputatio.engine.estimate import estimate_for_record
from disputatio.engine.journal import Journal
from disputatio.engine.market_setup import KNOWLEDGE, is_rule_based, recorded_analyst, recorded_knowledge
from disputatio.engine.opening import (
    Proposal,
    assign_seats,
    check_prices,
    check_reachable,
    check_searchable,
    check_token_limits,
    make_opening,
    open_prompts,
    prepare_plan,
    probe_models,
)
from disputatio.engine.output_modes import with_cheaper_modes
from disputatio.engine.ports import Batches, CallLimiter, Clock, NullObserver, Observer, SystemClock
from disputatio.engine.reopening import list_failed, list_reopened
from disputatio.engine.review_setup import default_budget
from disputatio.engine.scheduling import wait_for_turn
from disputatio.engine.seat_assignments import (
    PROCESS_ALLOWANCES,
    ModelSeat,
    Occupant,
    decode_seating,
    fallback_chain,
    learn_from_store,
    list_personas,
    list_seatings,
)
from disputatio.engine.tool_use import open_debate_tools, reopen_tools
from disputatio.errors import InvalidInputError, ResumeMismatchError, UnknownDebateError
from disputatio.evidence.sources import Source
from disputatio.formats.custom_debate import OWN
from disputatio.formats.format import Format
from disputatio.formats.ruleset import rules_from_json
from disputatio.ledger.budget import UNLIMITED, Budget, SharedCeiling
from disputatio.ledger.ledger import Ledger, Reservation
from disputatio.ledger.prices import PriceBook
from disputatio.motion import Evidence, Motion
from disputatio.motion.motion import SourceKind
from disputatio.participants.analyst.participant import ANALYST
from disputatio.participants.human import KIND as PERSON
from disputatio.participants.human import Participant
from disputatio.participants.providers import PROVIDERS
from disputatio.participants.reasoning import Allowances
from disputatio.participants.shared_clients import ClientFactory, SharedClients, open_client
from disputatio.prompts import PromptBook, PromptContext
from disputatio.record.events import BATCH, CallLost, DebateInterrupted, DebateOpened, DebateResumed, Event
from disputatio.record.history import History, Status
from disputatio.record.store import Store
from disputatio.record.verified import VerifiedRecord, load_verified, read_verified

_ID_BYTES = 4
LENGTHS = "shared/lengths.md"
"""The prompt that states length limits."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """The environment of debates: a store, a clock, an observer and the clients of models.

    Attributes:
        store: stores records.
        observer: receives events and output.
        streams: ask models to stream.
        clock: the time.
        client_factory: makes the clients of models.
        checks_first: probe every provider before a debate starts, at no cost.
        call_limiter: limits the concurrent calls of all debates.
        allowances: how many tokens models need to reason.
        batches: sends calls in batches; then ``client_factory`` belongs to it.
        ceiling: a ceiling that this debate shares with others.
    """

    store: Store
    observer: Observer = field(default_factory=NullObserver)
    streams: bool = False
    clock: Clock = field(default_factory=SystemClock)
    client_factory: ClientFactory = open_client
    checks_first: bool = True
    call_limiter: CallLimiter | None = None
    allowances: Allowances = PROCESS_ALLOWANCES
    batches: Batches | None = None
    ceiling: SharedCeiling | None = None

    def running(self, debate: str) -> AbstractContextManager[None]:
        """In this context the debate runs."""
        return nullcontext() if self.batches is None else self.batches.running(debate)


def new_id() -> str:
    """A random id for a debate: eight hexadecimal digits."""
    return secrets.token_hex(_ID_BYTES)


async def start(
    proposal: Proposal, runtime: Runtime, *, on_opened: Callable[[str], None] | None = None, debate: str = ""
) -> str:
    """Run a debate from its beginning and return its id. The record says how it ended.

    Args:
        proposal: what is debated, how, and by whom.
        runtime: its environment.
        on_opened: called with the debate's id as soon as it has a record.
        debate: its id; a random one if empty.

    Raises:
        InvalidInputError: the debate cannot be run; nothing was written or spent.
        ProviderError: a model certainly cannot answer; nothing was written or spent.
        StoreError: the record could not be written.
    """
    debate = debate or new_id()
    with runtime.running(debate):
        return await _start(proposal, runtime, on_opened, debate)


async def _start(proposal: Proposal, runtime: Runtime, on_opened: Callable[[str], None] | None, debate: str) -> str:
    await wait_for_turn()
    async with AsyncExitStack() as stack:
        model_clients = SharedClients(runtime.client_factory)
        stack.push_async_callback(model_clients.aclose)
        proposal, _ = await with_cheaper_modes(proposal)
        assignments = assign_seats(proposal.format, proposal.settings, proposal.participants, model_clients)
        plan = await prepare_plan(proposal, assignments, open_prompts(proposal.prompts))
        prices = PriceBook()
        seatings = [row.seatings[0] for row in assignments.values() if isinstance(row, ModelSeat)]
        budget = default_budget(proposal.format, seatings, proposal.settings.budget, prices)
        check_prices(assignments, budget, prices)
        check_token_limits(assignments)
        if runtime.checks_first:
            check_reachable(assignments, await probe_models(assignments))
        await learn_from_store(runtime.allowances, list_seatings(assignments), runtime.store)
        tools = await open_debate_tools(proposal.settings, assignments, proposal.evidence)
        stack.push_async_callback(tools.aclose)
        plan = replace(plan, tools=tools)
        event, texts = make_opening(plan, budget, software())
        event = replace(event, estimate=await estimate_for_record(proposal, event))
        ledger = Ledger(budget, prices, runtime.ceiling)
        await open_and_run(debate, plan, ledger, runtime, [event], texts, on_opened)
        return debate


async def open_and_run(
    debate: str,
    plan: Plan,
    ledger: Ledger,
    runtime: Runtime,
    events: Sequence[Event],
    texts: Mapping[str, str],
    on_opened: Callable[[str], None] | None,
) -> None:
    """Begin the record of a new debate with ``events`` and their ``texts``, and run the debate."""
    runtime.store.claim(debate)
    try:
        journal = Journal(debate, store=runtime.store, clock=runtime.clock, observer=runtime.observer)
        journal.write(*events, texts=texts)
        if on_opened:
            await journal.wait_until_durable()
            on_opened(debate)
        # No need to wait: everything before a call is durable before the call is sent.
        await _run(plan, journal, ledger, runtime, texts)
    finally:
        runtime.store.release(debate)


async def _run(plan: Plan, journal: Journal, ledger: Ledger, runtime: Runtime, texts: Mapping[str, str]) -> History:
    """Run a debate in ``runtime``. ``texts`` are those of its record so far, by hash."""
    return await DebateRun(
        plan,
        journal=journal,
        ledger=ledger,
        clock=runtime.clock,
        observer=runtime.observer,
        streams=runtime.streams,
        texts=texts,
        call_limiter=runtime.call_limiter,
        allowances=runtime.allowances,
        batches=runtime.batches,
    ).run()


def software() -> str:
    """The name and version that a record keeps."""
    return f"disputatio {VERSION}"


@dataclass(frozen=True, slots=True)
class Resumption:
    """The options of a resumption.

    ``settings`` supply the keys. ``budget`` replaces the recorded ceilings; those that are None do not change.
    ``asked_seats`` and ``asked_format`` are the user's explicit options, so that a change can be refused by name.
    ``form`` is the format itself, if it has no name. ``retry_reasons`` are reasons of abstentions: such seats are asked
    again in any phase, along with every turn that depends on theirs.
    """

    settings: Settings
    budget: Budget = UNLIMITED
    participants: Mapping[str, Participant] | None = None
    prompts: Path | None = None
    asked_seats: tuple[str, ...] = ()
    asked_format: str | None = None
    form: Format | None = None
    retry_reasons: frozenset[str] = frozenset()


async def resume(
    debate: str, resumption: Resumption, runtime: Runtime, *, read: VerifiedRecord | None = None
) -> History:
    """Continue a debate where its record ends. A finished one is returned unchanged.

    Recorded turns and calls are replayed, so nothing already paid is asked again. Calls that were in flight are
    recorded as lost, and their reservations stay spent.

    Args:
        debate: its id.
        resumption: the options of the resumption.
        runtime: its environment.
        read: its record, if the caller has read it already.

    Raises:
        VerificationError: the record was altered.
        ResumeMismatchError: the format, a prompt or a seat differs from the recorded one, or the debate was imported.
        InvalidInputError: a key or participant is missing, the new ceiling is below what is spent, or a debate that
            stopped at its ceiling gets no higher one.
        StoreError: another process runs the debate.
    """
    read = read or load_verified(runtime.store, debate)
    recorded_opening(debate, read.history)
    if not is_resumable(read.history, resumption.retry_reasons):
        return read.history
    runtime.store.claim(debate)
    try:
        # The previous owner of the claim may have written more.
        if runtime.store.read(debate, after=read.last.seq):
            read = load_verified(runtime.store, debate)
        with runtime.running(debate):
            return await _resume_claimed(debate, read, resumption, runtime)
    finally:
        runtime.store.release(debate)


async def _resume_claimed(debate: str, read: VerifiedRecord, resumption: Resumption, runtime: Runtime) -> History:
    history, texts = read.history, read.texts
    journal = Journal(
        debate,
        store=runtime.store,
        clock=runtime.clock,
        observer=runtime.observer,
        written=(read.last,),
        history=history,
    )
    opened = history.opened
    assert opened is not None  # noqa: S101  (checked by the caller)
    if not is_resumable(history, resumption.retry_reasons):
        return history
    async with AsyncExitStack() as stack:
        model_clients = SharedClients(runtime.client_factory)
        stack.push_async_callback(model_clients.aclose)
        plan = recorded_plan(opened, texts, resumption, model_clients)
        plan = replace(plan, struck=frozenset(history.forked.struck if history.forked else ()))
        if plan.prompt_context.evidence:
            await asyncio.to_thread(check_searchable, plan.prompt_context, plan.assignments)
        budget = raise_budget(Budget.from_json(history.last_budget), resumption.budget)
        ledger = Ledger(budget, PriceBook(), runtime.ceiling)
        if runtime.batches is not None:
            await runtime.batches.recall(debate)
        open_calls = {row.call for row in in_batches(history)} if runtime.batches is not None else set()
        _restore(ledger, history, open_calls)
        _check_ceilings(debate, history, ledger, resumption.budget)
        check_prices(plan.assignments, budget, ledger.prices)
        if runtime.checks_first:
            check_reachable(plan.assignments, await probe_models(plan.assignments))
        tools = await reopen_tools(opened, resumption.settings, plan.prompt_context.evidence)
        stack.push_async_callback(tools.aclose)
        plan = replace(plan, tools=tools)
        lost = [CallLost(call=row.call, path=row.path) for row in history.in_flight if row.call not in open_calls]
        reopened = list_reopened(history, plan, resumption.retry_reasons)
        # These are durable before the first call is sent. Until then nothing can be lost.
        journal.write(*lost, DebateResumed(budget=budget.as_json(), software=software(), reopened=reopened))
        return await _run(plan, journal, ledger, runtime, texts)


@asynccontextmanager
async def reopen_journal(debate: str, runtime: Runtime) -> AsyncIterator[Journal]:
    """The journal of a debate that no process runs. Its new events are durable when the context ends.

    Raises:
        VerificationError: the record was altered.
        StoreError: another process is writing the debate, or it could not be written.
    """
    runtime.store.claim(debate)
    try:
        written = read_verified(runtime.store, debate)
        journal = Journal(debate, store=runtime.store, clock=runtime.clock, observer=runtime.observer, written=written)
        yield journal
        await journal.wait_until_durable()
    finally:
        runtime.store.release(debate)


_BASELINE = "b."


def baseline_id(debate: str, key: str) -> str:
    """The id of a baseline that belongs to the debate of a remote caller."""
    return f"{_BASELINE}{debate}.{key.replace('/', '.')}"


def debate_of_baseline(baseline: str) -> str | None:
    """The debate that a baseline id belongs to; None for other ids."""
    return baseline.removeprefix(_BASELINE).partition(".")[0] if baseline.startswith(_BASELINE) else None


async def interrupt(debate: str, reason: str, runtime: Runtime) -> None:
    """Record that a debate stops here, and why, if no process runs it. A closed debate does not change.

    Raises:
        StoreError: another process runs it, or the record cannot be written.
    """
    runtime.store.claim(debate)
    try:
        written = tuple(runtime.store.read(debate))
        journal = Journal(debate, store=runtime.store, clock=runtime.clock, observer=runtime.observer, written=written)
        if written and journal.history.status is Status.RUNNING:
            # Calls in a batch return, and the resumed debate waits for them.
            in_flight = [row for row in journal.history.in_flight if row.tier != BATCH]
            lost = [CallLost(call=row.call, path=row.path) for row in in_flight]
            journal.write(*lost, DebateInterrupted(reason=reason))
            await journal.wait_until_durable()
    finally:
        runtime.store.release(debate)


def recorded_opening(debate: str, history: History) -> DebateOpened:
    """The first event of a debate that was run here.

    Raises:
        ResumeMismatchError: it was imported from a transcript.
        UnknownDebateError: its record has no opening.
    """
    if history.imported is not None:
        raise ResumeMismatchError(
            f"The debate {debate} was held elsewhere and imported from {history.imported.file}: it cannot be resumed.",
            f"`disputatio show {debate}` shows it.",
        )
    if history.opened is None:
        raise UnknownDebateError(f"The record of {debate} has no opening.", "`disputatio list` shows all.")
    return history.opened


def is_resumable(history: History, retry_reasons: frozenset[str] = frozenset()) -> bool:
    """Whether any ask is open: the debate is not closed, or turns of its last phase are missing.

    Turns of any phase also count where the seat abstained for one of the reasons in ``retry_reasons``.
    """
    if list_failed(history, retry_reasons):
        return True
    if history.status in {Status.RUNNING, Status.INTERRUPTED, Status.TRUNCATED}:
        return True
    return history.status in {Status.DEGRADED, Status.FAILED} and bool(history.reopenable)


def recorded_plan(
    opened: DebateOpened, texts: Mapping[str, str], resumption: Resumption, model_clients: SharedClients
) -> Plan:
    """The recorded plan with the current keys and participants."""
    asked = resumption.asked_format
    if asked not in {None, opened.format} and not (opened.format == OWN and is_rules_file(str(asked))):
        raise ResumeMismatchError(
            f"The format was {opened.format}; it cannot become {asked} on resume.",
            "Leave --format out, or start a new debate.",
        )
    form = resumption.form or load_recorded_format(opened, asked)
    book = open_prompts(resumption.prompts)
    _check_prompts(opened, form, book)
    assignments = {
        seat: _recorded_occupant(seat, row, resumption, model_clients, texts) for seat, row in opened.seats.items()
    }
    try:
        rules = rules_from_json(form, opened.rules)
    except TypeError:
        raise ResumeMismatchError(
            f"The rules of {opened.format} are not those of the version that began this debate ({opened.software}).",
            "Resume it with that version.",
        ) from None
    motion, evidence, introduced = recorded_inputs(opened, texts)
    prompt_context = PromptContext(
        form.prompt_folder,
        motion,
        evidence,
        list_personas(assignments),
        {seat: int(str(share)) for seat, share in opened.shares.items()},
        introduced,
        says_lengths=LENGTHS in opened.prompts,
    )
    base, staggers = recorded_knowledge(opened.evidence, texts), resumption.settings.stagger
    return Plan(form, rules, prompt_context, assignments, book, opened.seed, knowledge=base, staggers=staggers)


def recorded_inputs(
    opened: DebateOpened, texts: Mapping[str, str]
) -> tuple[Motion, tuple[Source, ...], dict[str, int]]:
    """The motion, the sources, and the round that introduces each later source, as the record has them."""
    body: Any = opened.motion
    sources = tuple(recorded_source(row, texts) for row in opened.evidence if row.get("kind") != KNOWLEDGE)
    introduced = {str(row["source_id"]): int(str(row["round"])) for row in opened.evidence if "round" in row}
    return Motion(body["text"], body["language"]), sources, introduced


def recorded_source(row: Mapping[str, Any], texts: Mapping[str, str]) -> Source:
    """A recorded source, equal to the one read from its file."""
    evidence = Evidence(str(row["source_id"]), str(row["title"]), texts[str(row["text"])])
    return Source.of(evidence, SourceKind(str(row.get("kind") or SourceKind.TEXT.value)))


def _check_prompts(opened: DebateOpened, form: Format, book: PromptBook) -> None:
    small = any(name.startswith("small/") for name in opened.prompts)
    current = book.hashes(form.prompt_folder, small=small, tools=bool(opened.tools))
    changed = sorted(
        name
        for name in {*current, *opened.prompts}
        # Debates of versions whose prompts gave no lengths continue without.
        if current.get(name) != opened.prompts.get(name) and (name != LENGTHS or name in opened.prompts)
    )
    if changed:
        raise ResumeMismatchError(
            f"The prompt {changed[0]} is not the one this debate began with ({opened.software}).",
            "Resume it with that version, or with the same --prompts folder.",
        )


def _recorded_occupant(
    seat: str, row: Any, resumption: Resumption, model_clients: SharedClients, texts: Mapping[str, str]
) -> Occupant:
    participant = (resumption.participants or {}).get(seat)
    if row["kind"] == ANALYST and participant is None:
        current = resumption.settings.seats[seat]
        if seat in resumption.asked_seats and not is_rule_based(current):
            raise ResumeMismatchError(
                f"The seat {seat} was taken by {row['name']}; it cannot become {current.address} on resume.",
                f"Leave --seat {seat}=... out, or start a new debate.",
            )
        return recorded_analyst(row, texts)
    if row["kind"] != "model":
        if participant is None or participant.as_json() != row:
            name = f" {row['name']!r}" if row["name"] else ""
            who = f"a person{name}" if row["kind"] == PERSON else f"the {row['kind']} participant{name}"
            raise ResumeMismatchError(
                f"The seat {seat} was taken by {who}.",
                "Give the same participant on resume.",
            )
        return participant
    if participant is not None:
        raise ResumeMismatchError(f"The seat {seat} was taken by a model.", "Leave the participant out on resume.")
    seating = decode_seating(row)
    current = resumption.settings.seats[seat]
    recorded = (seating.provider, seating.model, seating.base_url)
    if seat in resumption.asked_seats and (current.provider, current.model, current.base_url) != recorded:
        raise ResumeMismatchError(
            f"The seat {seat} was taken by {seating.address}; it cannot become {current.address} on resume.",
            f"Leave --seat {seat}=... out, or start a new debate.",
        )
    seatings = fallback_chain(seating)
    clients = tuple(
        model_clients.get(each, _find_key(name, each, resumption.settings))
        for name, each in zip((seat, fallback_seat(seat)), seatings, strict=False)
    )
    return ModelSeat(seatings[: len(clients)], clients)


def _find_key(name: str, seating: Any, settings: Settings) -> str | None:
    """The key for a recorded seating: that of the seat if its provider is the same now, else that of another seat."""
    seat_name = name.split("/", maxsplit=1)[0]
    chain = fallback_chain(settings.seats[seat_name])
    current = chain[1:2] if name.endswith("/fallback") else chain[:1]
    for key_name, row in [*((name, row) for row in current), *settings.seats.items()]:
        key = settings.credentials.key(key_name)
        if key and (row.provider, row.base_url) == (seating.provider, seating.base_url):
            return key
    provider = PROVIDERS[seating.provider]
    if provider.needs_key:
        variable = f"{variable_prefix(seat_name)}LLM_API_KEY"
        names = " or ".join((*provider.key_variables, variable))
        raise InvalidInputError(
            f"The seat {name} was taken by {seating.address}, and there is no key for it.",
            f"Set {names}, with LLM_PROVIDER={seating.provider} where other seats use another provider.",
        )
    return None


def raise_budget(budget: Budget, new: Budget) -> Budget:
    """``budget`` with the ceilings of ``new`` that are not None."""
    return Budget(
        usd=budget.usd if new.usd is None else new.usd,
        tokens=budget.tokens if new.tokens is None else new.tokens,
        calls=budget.calls if new.calls is None else new.calls,
    )


def _check_ceilings(debate: str, history: History, ledger: Ledger, new: Budget) -> None:
    """Refuse a new ceiling below what is spent, and a resumption under the ceiling that stopped the debate."""
    if history.status is Status.TRUNCATED and new == UNLIMITED:
        stopped = (history.closed.reason if history.closed else "") or "the next call did not fit"
        raise InvalidInputError(
            f"The debate {debate} stopped at its ceiling: {stopped}.",
            "Give a higher one to resume it: --budget-usd X, --budget-tokens N or --max-calls N.",
        )
    ceilings = (
        ("--budget-usd", "USD", new.usd, ledger.spent_usd),
        ("--budget-tokens", "tokens", new.tokens, ledger.spent_tokens),
        ("--max-calls", "calls", new.calls, ledger.calls),
    )
    for option, unit, ceiling, spent in ceilings:
        if ceiling is not None and ceiling < spent:
            raise InvalidInputError(
                f"A ceiling of {ceiling:,} {unit} is below what this debate has spent: {spent:,} {unit}.",
                f"Earlier spending counts too: give more than that with {option}.",
            )


def _restore(ledger: Ledger, history: History, open_calls: Container[str]) -> None:
    """Restore what the record says was spent. The ``open_calls`` are still in flight."""
    for sent in history.calls:
        made = history.made.get(sent.call)
        if sent.call in open_calls:
            ledger.restore_open(sent.call, Reservation.from_json(sent.reserved))
            continue
        if made is None:
            ledger.restore_lost(Reservation.from_json(sent.reserved))
            continue
        size: Any = sent.reserved["bytes"]
        measured: Any = made.usage["input_tokens"]
        usd = None if made.cost_usd is None else Decimal(made.cost_usd)
        ledger.restore(sent.model, size, measured, usd, made.charged_tokens)
