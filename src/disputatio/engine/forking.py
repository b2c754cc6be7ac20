"""Forks a debate: what a reader struck was never said, turns that do not depend on it are kept, the others asked again.

The rule of dependence: a turn depends on what was struck if its seat would be asked for it otherwise. Compared are what
the seat sees of the debate so far, its task, and the schema of its answer; the rules, the motion and the evidence stay.
A turn is kept if the debate comes to its place again and the seat would be asked for exactly the same. A turn that is
itself struck in part is kept with the rest: its author would have spoken the same.

Nothing follows a turn that is asked again before it is answered, so everything after it is asked again as well. Missing
turns are asked again too: there is nothing to keep.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from disputatio.engine.custom_format_files import load_recorded_format
from disputatio.engine.debate_run import recorded_answer
from disputatio.engine.journal import Journal
from disputatio.engine.market_setup import KNOWLEDGE
from disputatio.engine.opening import check_prices, check_reachable, check_searchable, probe_models
from disputatio.engine.runtime import (
    Resumption,
    Runtime,
    make_run,
    new_id,
    raise_budget,
    recorded_plan,
    recorded_source,
    software,
)
from disputatio.engine.scheduling import wait_for_turn
from disputatio.engine.seat_assignments import learn_from_store, list_seatings
from disputatio.engine.tool_use import reopen_tools
from disputatio.errors import InvalidInputError, UnknownDebateError
from disputatio.evidence.sources import SourceSet
from disputatio.formats.debate_context import DebateContext
from disputatio.formats.format import Format
from disputatio.formats.omission import names_of
from disputatio.formats.registry import FORMATS
from disputatio.formats.ruleset import rules_from_json
from disputatio.kernel import Ask, Driver, JsonObject, Seat
from disputatio.ledger.budget import Budget
from disputatio.ledger.ledger import Ledger
from disputatio.ledger.prices import PriceBook
from disputatio.motion import Motion, one_line
from disputatio.participants.human import KIND as PERSON
from disputatio.participants.shared_clients import SharedClients
from disputatio.record.events import DebateForked, DebateOpened, Event, TurnTaken, encode
from disputatio.record.history import History, Status
from disputatio.record.verified import VerifiedRecord
from disputatio.tools.toolset import Toolset

_MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class Fork:
    """A fork that could be made.

    Attributes:
        parent: the id of the debate that it comes from.
        head: the last hash of the parent's chain.
        opened: how the parent was set up.
        struck: the names of what is struck, those of the parent's own fork first.
        kept: the paths of the turns that are taken over, in the order of the rules.
        again: the paths of the parent's turns that are asked again.
        calls: how many calls those took in the parent.
        input_tokens, output_tokens: what those calls took, as far as it was reported.
        usd: what they cost; None where that of one is unknown.
    """

    parent: str
    head: str
    opened: DebateOpened
    struck: tuple[str, ...]
    kept: tuple[str, ...]
    again: tuple[str, ...]
    calls: int
    input_tokens: int
    output_tokens: int
    usd: Decimal | None

    @property
    def estimate(self) -> JsonObject:
        """The estimate of a fork: what its turns took in the parent."""
        return {
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "usd": None if self.usd is None else str(self.usd),
        }


def fork_of(debate: str, read: VerifiedRecord, struck: Sequence[str]) -> Fork:
    """The fork of ``debate`` without what is ``struck``. No model is called, and nothing is written.

    Args:
        debate: its id.
        read: its record.
        struck: names as `disputatio.formats.omission` has them.

    Raises:
        InvalidInputError: the debate cannot be forked, or a name is none of it.
    """
    history = read.history
    opened, form = _forkable(debate, history)
    context = _context(opened, read)
    rules = rules_from_json(form, opened.rules)

    def taken_up(path: str, ask: Ask) -> bool:
        asks[path] = ask
        return path in history.answered

    asks: dict[str, Ask] = {}
    before = frozenset(history.forked.struck if history.forked else ())
    _follow(Driver(form.rulebook(rules, replace(context, struck=before))), history, taken_up)
    _check_names(debate, history, asks, struck, before)
    everything = tuple(dict.fromkeys([*(history.forked.struck if history.forked else ()), *struck]))
    kept: list[str] = []

    def keep(path: str, ask: Ask) -> bool:
        same = path in asks and isinstance(history.answered.get(path), TurnTaken) and _asks_alike(asks[path], ask)
        kept.extend([path] if same else [])
        return same

    _follow(Driver(form.rulebook(rules, replace(context, struck=frozenset(everything)))), history, keep)
    again = tuple(path for path in history.asked if path not in kept)
    return _costed(Fork(debate, read.last.hash, opened, everything, tuple(kept), again, 0, 0, 0, None), history)


def _forkable(debate: str, history: History) -> tuple[DebateOpened, Format]:
    if history.imported is not None:
        raise InvalidInputError(
            f"The debate {debate} was held elsewhere and imported from {history.imported.file}: nobody can be asked "
            "again.",
            f"`disputatio show {debate}` shows it.",
        )
    if history.opened is None:
        raise UnknownDebateError(f"The record of {debate} has no opening.", "`disputatio list` shows all.")
    known = FORMATS.get(history.opened.format)
    if known is None or not known.forkable:
        raise InvalidInputError(
            f"A debate of the format {one_line(history.opened.format, 60)} cannot be forked: only structured debates "
            "and reviews can.",
            "Start a new debate instead.",
        )
    if history.status not in {Status.COMPLETE, Status.DEGRADED}:
        why = {
            Status.TRUNCATED: "stopped at its ceiling, so turns are missing",
            Status.FAILED: "failed, so it has nothing to keep",
        }.get(history.status, "has not ended")
        raise InvalidInputError(
            f"The debate {debate} {why}: it cannot be forked.",
            f"Go on with it first: disputatio resume {debate}"
            + (", with a higher ceiling." if history.status is Status.TRUNCATED else "."),
        )
    return history.opened, load_recorded_format(history.opened)


def _context(opened: DebateOpened, read: VerifiedRecord) -> DebateContext:
    """The inputs of the rules. Formats that can be forked do not weigh voices."""
    body: Any = opened.motion
    sources = [recorded_source(row, read.texts) for row in opened.evidence if row.get("kind") != KNOWLEDGE]
    introduced = {str(row["source_id"]): int(str(row["round"])) for row in opened.evidence if "round" in row}
    seats = tuple(map(Seat, opened.seats))
    return DebateContext(seats, Motion(body["text"], body["language"]), SourceSet(sources), introduced=introduced)


def _follow(driver: Driver, history: History, takes: Callable[[str, Ask], bool]) -> None:
    """Give the recorded answers to those asks that ``takes`` says yes to, as far as the rules come."""
    asked: set[str] = set()
    moving = True
    while moving:
        moving = False
        for path, ask in driver.open_asks.items():
            if path in asked:
                continue
            asked.add(path)
            if takes(path, ask):
                driver.answer(path, recorded_answer(path, ask, history.answered[path]))
                moving = True


def _asks_alike(one: Ask, other: Ask) -> bool:
    """Whether two asks lay the same before the seat."""
    return (
        (one.seat, one.phase, one.task, one.limits, one.spec.name)
        == (other.seat, other.phase, other.task, other.limits, other.spec.name)
        and tuple(one.messages) == tuple(other.messages)
        and one.spec.schema == other.spec.schema
    )


def _check_names(
    debate: str, history: History, asks: Mapping[str, Ask], struck: Sequence[str], before: frozenset[str]
) -> None:
    if not struck:
        raise InvalidInputError("Nothing is named to be struck.", "Name it, such as PRO-2 or 'CON on PRO-1'.")
    turns = {path: row for path, row in history.answered.items() if isinstance(row, TurnTaken) and path in asks}
    spoken = (names_of(row.seat, asks[path].spec.read(row.content)) for path, row in turns.items())
    known = [name for names in spoken for name in names if name not in before]
    for name in struck:
        if name not in known:
            parts = [row for row in known if " quote " not in row]
            more = f" and {len(parts) - _MOST_NAMED} more" if len(parts) > _MOST_NAMED else ""
            raise InvalidInputError(
                f"{one_line(repr(name), 60)} is no part of the debate {debate} that can be struck.",
                f"Its parts are: {', '.join(parts[:_MOST_NAMED])}{more}.",
            )


def _costed(fork: Fork, history: History) -> Fork:
    again = frozenset(fork.again)
    made = [history.made[row.call] for row in history.calls if row.path in again and row.call in history.made]
    costs = [None if row.cost_usd is None else Decimal(row.cost_usd) for row in made]
    usd = None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0))

    def tokens(name: str) -> int:
        return sum(int(str(row.usage.get(name) or 0)) for row in made)

    return replace(
        fork, calls=len(made), input_tokens=tokens("input_tokens"), output_tokens=tokens("output_tokens"), usd=usd
    )


async def fork(
    found: Fork,
    read: VerifiedRecord,
    resumption: Resumption,
    runtime: Runtime,
    *,
    on_opened: Callable[[str], None] | None = None,
    debate: str = "",
) -> str:
    """Run the debate of a fork, and return its id. The parent stays as it is.

    Args:
        found: the fork, as ``fork_of`` found it.
        read: the record of the parent from which it was found.
        resumption: what it runs with; ceilings are those of the new debate alone, and the parent's where not given.
        runtime: what it runs in.
        on_opened: called with the new id as soon as there is a record.
        debate: the id that the new debate is to have.

    Raises:
        InvalidInputError: a person had a seat that is now empty; nothing was written or spent.
        ResumeMismatchError: prompts or seats are not those of the parent.
        ProviderError: a model certainly cannot answer.
        StoreError: the record could not be written.
    """
    await wait_for_turn()
    opened = found.opened
    check_people(opened, resumption.participants or {})
    model_clients, claimed = SharedClients(runtime.client_factory), ""
    tools: Toolset | None = None
    try:
        plan = replace(recorded_plan(opened, read.texts, resumption, model_clients), struck=frozenset(found.struck))
        if plan.setting.evidence:
            await asyncio.to_thread(check_searchable, plan.setting, plan.table)
        budget = raise_budget(Budget.from_json(read.history.last_budget), resumption.budget)
        ledger = Ledger(budget, PriceBook(), runtime.ceiling)
        check_prices(plan.table, ledger.budget, ledger.prices)
        if runtime.checks_first:
            check_reachable(plan.table, await probe_models(plan.table))
        await learn_from_store(runtime.allowances, list_seatings(plan.table), runtime.store)
        tools = await reopen_tools(opened, resumption.settings, plan.setting.evidence)
        debate = debate or new_id()
        runtime.store.claim(debate)
        claimed = debate
        journal = Journal(debate, store=runtime.store, clock=runtime.clock, observer=runtime.observer)
        journal.write(*_beginning(opened, found, read.history, ledger.budget), texts=_texts_of(opened, read.texts))
        if on_opened:
            await journal.wait_until_durable()
            on_opened(debate)
        await make_run(replace(plan, tools=tools), journal, ledger, runtime, read.texts).run()
        return debate
    finally:
        if tools is not None:
            await tools.aclose()
        if claimed:
            runtime.store.release(claimed)
        await model_clients.aclose()


def check_people(opened: DebateOpened, given: Container[str]) -> None:
    """Refuse to ask again where a person sat who is not among those ``given``.

    Raises:
        InvalidInputError: names the seat.
    """
    for seat, row in opened.seats.items():
        if isinstance(row, Mapping) and row.get("kind") == PERSON and seat not in given:
            raise InvalidInputError(
                f"The seat {seat} was taken by a person, and a fork asks nobody but models.",
                "Start a new debate instead.",
            )


def _beginning(opened: DebateOpened, found: Fork, history: History, budget: Budget) -> list[Event]:
    """The first events of a fork: how it was set up, where it comes from, and the turns that it keeps."""
    first = replace(opened, budget=budget.as_json(), software=software(), estimate=found.estimate)
    events: list[Event] = [
        first,
        DebateForked(parent=found.parent, head=found.head, struck=found.struck, kept=found.kept),
    ]
    for path in found.kept:
        events += [history.asked[path], history.answered[path]]
    return events


def _texts_of(opened: DebateOpened, texts: Mapping[str, str]) -> dict[str, str]:
    """The texts that the opening names."""

    def named(value: Any) -> list[str]:
        if isinstance(value, Mapping):
            return [name for row in value.values() for name in named(row)]
        if isinstance(value, list | tuple):
            return [name for row in value for name in named(row)]
        return [value] if isinstance(value, str) and value in texts else []

    return {name: texts[name] for name in named(encode(opened))}
