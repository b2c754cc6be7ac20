"""Forks a debate: a reader strikes parts of it, turns that do not depend on them are kept, and the others asked again.

The rule of dependence: a turn depends on a struck part if its seat would now be asked differently. Code compares what
the seat sees of the debate so far, its task, and the schema of its answer. The rules, the motion and the evidence stay.
A turn is kept if the debate reaches its place again and asks the seat for exactly the same. A turn that is itself
struck in part is kept with the rest: its author would have said the same.

The rules cannot go past a turn that is asked again, so everything after it is asked again too. So are missing turns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from disputatio.engine.custom_format_files import load_recorded_format
from disputatio.engine.debate_run import recorded_answer
from disputatio.engine.opening import check_prices, check_reachable, check_searchable, probe_models
from disputatio.engine.runtime import (
    Resumption,
    Runtime,
    new_id,
    open_and_run,
    raise_budget,
    recorded_inputs,
    recorded_opening,
    recorded_plan,
    software,
)
from disputatio.engine.scheduling import wait_for_turn
from disputatio.engine.seat_assignments import learn_from_store, list_seatings
from disputatio.engine.tool_use import reopen_tools
from disputatio.errors import InvalidInputError
from disputatio.evidence.sources import SourceSet
from disputatio.formats.debate_context import DebateContext
from disputatio.formats.format import Format
from disputatio.formats.omission import names_of
from disputatio.formats.registry import FORMATS
from disputatio.formats.ruleset import rules_from_json
from disputatio.kernel import Abstention, Ask, Driver, JsonObject, Seat, Turn
from disputatio.ledger.budget import Budget
from disputatio.ledger.ledger import Ledger
from disputatio.ledger.prices import PriceBook
from disputatio.motion import one_line
from disputatio.participants.human import KIND as PERSON
from disputatio.participants.shared_clients import SharedClients
from disputatio.record.events import DebateForked, DebateOpened, Event, TurnTaken, encode
from disputatio.record.history import History, Status
from disputatio.record.verified import VerifiedRecord

_MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class Fork:
    """A possible fork.

    Attributes:
        parent: the id of the debate that it comes from.
        head: the last hash of the parent's chain.
        opened: how the parent was set up.
        struck: the names of the struck parts, those of the parent's own fork first.
        kept: the paths of the turns that it keeps, in the order of the rules.
        again: the paths of the parent's turns that it asks again.
        calls: how many calls those took in the parent.
        input_tokens, output_tokens: what those calls took, as far as providers reported it.
        usd: the cost of those calls; None if the cost of one is unknown.
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
    """The fork of ``debate`` without the ``struck`` parts. Calls no model and writes nothing.

    Args:
        debate: its id.
        read: its record.
        struck: names as in `disputatio.formats.omission`.

    Raises:
        InvalidInputError: the debate cannot be forked, or has no part with such a name.
    """
    history = read.history
    opened, form = _check_forkable(debate, history)
    context = _context(opened, read)
    rules = rules_from_json(form, opened.rules)
    earlier = history.forked.struck if history.forked else ()
    asks: dict[str, Ask] = {}

    def collect(path: str, ask: Ask) -> Turn | Abstention | None:
        asks[path] = ask
        return recorded_answer(path, ask, history.answered[path]) if path in history.answered else None

    Driver(form.rulebook(rules, replace(context, struck=frozenset(earlier)))).answer_all(collect)
    _check_names(debate, history, asks, struck, earlier)
    all_struck = tuple(dict.fromkeys([*earlier, *struck]))
    kept: list[str] = []

    def keep(path: str, ask: Ask) -> Turn | Abstention | None:
        row = history.answered.get(path)
        if path not in asks or not isinstance(row, TurnTaken) or not _is_same_ask(asks[path], ask):
            return None
        kept.append(path)
        return recorded_answer(path, ask, row)

    Driver(form.rulebook(rules, replace(context, struck=frozenset(all_struck)))).answer_all(keep)
    again = tuple(path for path in history.asked if path not in kept)
    return _add_costs(Fork(debate, read.last.hash, opened, all_struck, tuple(kept), again, 0, 0, 0, None), history)


def _check_forkable(debate: str, history: History) -> tuple[DebateOpened, Format]:
    if history.imported is not None:
        raise InvalidInputError(
            f"The debate {debate} was imported from {history.imported.file}, so its seats cannot be asked again.",
            f"`disputatio show {debate}` shows it.",
        )
    opened = recorded_opening(debate, history)
    known = FORMATS.get(opened.format)
    if known is None or not known.forkable:
        raise InvalidInputError(
            f"A debate of the format {one_line(opened.format, 60)} cannot be forked: only structured debates "
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
            f"Resume it first: disputatio resume {debate}"
            + (", with a higher ceiling." if history.status is Status.TRUNCATED else "."),
        )
    return opened, load_recorded_format(opened)


def _context(opened: DebateOpened, read: VerifiedRecord) -> DebateContext:
    """The inputs of the rules. Formats that can be forked do not weigh voices."""
    motion, sources, introduced = recorded_inputs(opened, read.texts)
    return DebateContext(tuple(map(Seat, opened.seats)), motion, SourceSet(sources), introduced=introduced)


def _is_same_ask(one: Ask, other: Ask) -> bool:
    """Whether two asks show the seat the same and ask it for the same."""
    return (
        (one.seat, one.phase, one.task, one.limits, one.spec.name)
        == (other.seat, other.phase, other.task, other.limits, other.spec.name)
        and tuple(one.messages) == tuple(other.messages)
        and one.spec.schema == other.spec.schema
    )


def _check_names(
    debate: str, history: History, asks: Mapping[str, Ask], struck: Sequence[str], earlier: Sequence[str]
) -> None:
    if not struck:
        raise InvalidInputError("No part to strike is named.", "Name one, such as PRO-2 or 'CON on PRO-1'.")
    turns = {path: row for path, row in history.answered.items() if isinstance(row, TurnTaken) and path in asks}
    spoken = (names_of(row.seat, asks[path].spec.read(row.content)) for path, row in turns.items())
    known = [name for names in spoken for name in names if name not in earlier]
    for name in struck:
        if name not in known:
            parts = [row for row in known if " quote " not in row]
            more = f" and {len(parts) - _MOST_NAMED} more" if len(parts) > _MOST_NAMED else ""
            raise InvalidInputError(
                f"{one_line(repr(name), 60)} is not a part of the debate {debate} that can be struck.",
                f"Its parts are: {', '.join(parts[:_MOST_NAMED])}{more}.",
            )


def _add_costs(fork: Fork, history: History) -> Fork:
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
    proposed: Fork,
    read: VerifiedRecord,
    resumption: Resumption,
    runtime: Runtime,
    *,
    on_opened: Callable[[str], None] | None = None,
    debate: str = "",
) -> str:
    """Run the debate of a fork, and return its id. The parent does not change.

    Args:
        proposed: the fork, as ``fork_of`` returned it.
        read: the record of the parent.
        resumption: its options. Ceilings are for the new debate alone; a missing one is the parent's.
        runtime: what it runs in.
        on_opened: called with the new id as soon as there is a record.
        debate: the id of the new debate; a random one if empty.

    Raises:
        InvalidInputError: a person had a seat that is now empty; nothing was written or spent.
        ResumeMismatchError: prompts or seats are not those of the parent.
        ProviderError: a model certainly cannot answer.
        StoreError: the record could not be written.
    """
    await wait_for_turn()
    opened = proposed.opened
    check_people(opened, resumption.participants or {})
    async with AsyncExitStack() as stack:
        model_clients = SharedClients(runtime.client_factory)
        stack.push_async_callback(model_clients.aclose)
        plan = recorded_plan(opened, read.texts, resumption, model_clients)
        plan = replace(plan, struck=frozenset(proposed.struck))
        if plan.prompt_context.evidence:
            await asyncio.to_thread(check_searchable, plan.prompt_context, plan.assignments)
        budget = raise_budget(Budget.from_json(read.history.last_budget), resumption.budget)
        ledger = Ledger(budget, PriceBook(), runtime.ceiling)
        check_prices(plan.assignments, ledger.budget, ledger.prices)
        if runtime.checks_first:
            check_reachable(plan.assignments, await probe_models(plan.assignments))
        await learn_from_store(runtime.allowances, list_seatings(plan.assignments), runtime.store)
        tools = await reopen_tools(opened, resumption.settings, plan.prompt_context.evidence)
        stack.push_async_callback(tools.aclose)
        debate = debate or new_id()
        events = _first_events(opened, proposed, read.history, ledger.budget)
        texts = _opening_texts(opened, read.texts)
        await open_and_run(debate, replace(plan, tools=tools), ledger, runtime, events, texts, on_opened)
        return debate


def check_people(opened: DebateOpened, participants: Container[str]) -> None:
    """Refuse a fork if a person had a seat that none of ``participants`` takes.

    Raises:
        InvalidInputError: names the seat.
    """
    for seat, row in opened.seats.items():
        if isinstance(row, Mapping) and row.get("kind") == PERSON and seat not in participants:
            raise InvalidInputError(
                f"The seat {seat} was taken by a person, and a fork asks only models.",
                "Start a new debate instead.",
            )


def _first_events(opened: DebateOpened, proposed: Fork, history: History, budget: Budget) -> list[Event]:
    """The first events of a fork: how it was set up, where it comes from, and the turns that it keeps."""
    events: list[Event] = [
        replace(opened, budget=budget.as_json(), software=software(), estimate=proposed.estimate),
        DebateForked(parent=proposed.parent, head=proposed.head, struck=proposed.struck, kept=proposed.kept),
    ]
    for path in proposed.kept:
        events += [history.asked[path], history.answered[path]]
    return events


def _opening_texts(opened: DebateOpened, texts: Mapping[str, str]) -> dict[str, str]:
    """The texts that the opening names."""

    def find_names(value: Any) -> list[str]:
        if isinstance(value, Mapping):
            value = tuple(value.values())
        if isinstance(value, list | tuple):
            return [name for row in value for name in find_names(row)]
        return [value] if isinstance(value, str) and value in texts else []

    return {name: texts[name] for name in find_names(encode(opened))}
