"""Hands an escalated decision to the named target, after the debate is closed and outside its rules.

The rules of a panel end with the word escalate; what happens then needs a clock, a network or a person, so it happens
here. What came of it becomes one event at the end of the record. Whatever goes wrong is such an event too: the result
of the debate is closed and durable before anything is handed over, and nothing here can take it away.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol, TypeAlias
from urllib.parse import urlsplit

from disputatio._intake import SizeBound
from disputatio.config import Arguments, Settings
from disputatio.config.process import settings_for
from disputatio.engine.journal import Journal
from disputatio.engine.opening import Proposal
from disputatio.engine.runtime import Runtime, start
from disputatio.errors import DisputatioError, InvalidInputError
from disputatio.evidence.sources import Source
from disputatio.formats.format import Format
from disputatio.formats.options import Panel
from disputatio.formats.registry import find_format
from disputatio.motion import Evidence, one_line, read_motion
from disputatio.record.events import DecisionEscalated
from disputatio.record.history import History, Status
from disputatio.record.verified import read_verified
from disputatio.report.json_export import export_json
from disputatio.report.reading import DebateReport
from disputatio.report.text import render_result_text

CALLBACK_TIMEOUT_S = 30.0
_MOST_ANSWER = 2_000
_ANSWER_BYTES = 4 * _MOST_ANSWER
# One part of a compressed answer has up to a megabyte.
_ANSWER_BOUND = SizeBound(4 << 20, "the answer of a callback")


EscalationFunction: TypeAlias = Callable[[str, Runtime], object]
"""A function of a debate's id and its runtime; it may be a coroutine function."""


class Recipient(StrEnum):
    """Who takes an escalated decision."""

    PERSON = "person"
    DEBATE = "debate"
    CALLBACK = "callback"
    FUNCTION = "function"


@dataclass(frozen=True, slots=True)
class Handover:
    """What came of handing a decision over.

    Attributes:
        to: who took it, or should have.
        name: the format of a debate, the server of a callback, the name of a function; never a whole address.
        answer: what was decided or answered, in the recipient's words; empty where nothing came back.
        debate: the id of the debate that takes it over.
        failure: why it could not be handed over; empty where it was.
    """

    to: Recipient
    name: str = ""
    answer: str = ""
    debate: str = ""
    failure: str = ""


class Target(Protocol):
    """Somebody a decision can be handed to. Failures are returned, not raised."""

    async def take(self, report: DebateReport, runtime: Runtime) -> Handover:
        """Take the decision of ``report``."""


async def hand_over(debate: str, target: Target | None, runtime: Runtime) -> Handover | None:
    """Hand the decision of a closed debate over, if it is to escalate; record and return what came of it.

    Returns:
        None if nothing was handed over: the debate did not decide to escalate, or no target was named.

    Raises:
        VerificationError: the record was altered.
        StoreError: what came of it could not be recorded.
    """
    if target is None:
        return None
    record = read_verified(runtime.store, debate)
    if not is_escalated(History.of(row.event() for row in record)):
        return None
    report = DebateReport.of(debate, record, runtime.store.texts(debate))
    handed = await target.take(report, runtime)
    runtime.store.claim(debate)
    try:
        journal = Journal(
            debate,
            store=runtime.store,
            clock=runtime.clock,
            observer=runtime.observer,
            written=read_verified(runtime.store, debate),
        )
        journal.write(
            DecisionEscalated(
                to=handed.to.value,
                name=one_line(handed.name, 200),
                answer=one_line(handed.answer, _MOST_ANSWER),
                debate=handed.debate,
                failure=one_line(handed.failure, 400),
            )
        )
        await journal.wait_until_durable()
    finally:
        runtime.store.release(debate)
    return handed


def is_escalated(history: History) -> bool:
    """Whether a debate came to its end with the decision to escalate."""
    closed = history.closed
    return closed is not None and closed.status != Status.TRUNCATED.value and closed.outcome.get("escalate") is True


@dataclass(frozen=True, slots=True)
class CallbackTarget:
    """Sends the debate's JSON export to a server, with POST.

    The address may contain a secret and is kept out of the record. Redirects are not followed, so only the named
    server learns of the decision.
    """

    url: str
    timeout_s: float = CALLBACK_TIMEOUT_S

    async def take(self, report: DebateReport, runtime: Runtime) -> Handover:  # noqa: ARG002
        """Post the export; anything but a status of 200 to 299 is a failure."""
        import httpx2

        from disputatio._http_client import LimitedClient, StoppedError

        parts = urlsplit(self.url)
        handed = Handover(
            Recipient.CALLBACK, f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}"
        )
        body = json.dumps(export_json(report), ensure_ascii=False, allow_nan=False).encode()
        headers = {"content-type": "application/json", "idempotency-key": f"{report.id}-{report.head}"}
        answer = b""
        try:
            async with (
                LimitedClient(_ANSWER_BOUND, self.timeout_s) as client,
                client.stream("POST", self.url, content=body, headers=headers) as response,
            ):
                if not response.is_success:
                    return replace(handed, failure=f"the server answered {response.status_code}")
                async for part in response.aiter_bytes():
                    answer += part
                    if len(answer) >= _ANSWER_BYTES:
                        # Only the beginning is recorded, so the rest is not waited for.
                        break
        except StoppedError as error:
            return replace(handed, failure=f"the server answered {response.status_code}, but {error}")
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            return replace(handed, failure=f"the server was not reached ({type(error).__name__})")
        return replace(handed, answer=answer.decode(response.encoding or "utf-8", "replace")[:_MOST_ANSWER])


@dataclass(frozen=True, slots=True)
class FunctionTarget:
    """A function of the program that holds the debate. What it returns, awaited where it can be, is the answer."""

    function: EscalationFunction
    name: str
    to: Recipient = Recipient.FUNCTION

    async def take(self, report: DebateReport, runtime: Runtime) -> Handover:
        """Call the function. If it raises, the handover fails and not the debate."""
        try:
            answer: Any = self.function(report.id, runtime)
            if inspect.isawaitable(answer):
                answer = await answer
        except Exception as error:  # noqa: BLE001  (whatever it raises, the result must not be lost)
            cause = error.cause if isinstance(error, DisputatioError) else str(error)
            return Handover(self.to, self.name, failure=f"{type(error).__name__}: {cause}")
        return (
            answer
            if isinstance(answer, Handover)
            else Handover(self.to, self.name, "" if answer is None else str(answer))
        )


@dataclass(frozen=True, slots=True)
class DebateTarget:
    """Another debate on the same motion, which has the report of the first one before it. ``make`` proposes it."""

    make: Callable[[DebateReport], Proposal]
    format_name: str

    async def take(self, report: DebateReport, runtime: Runtime) -> Handover:
        """Run the debate, which has a record of its own."""
        handed = Handover(Recipient.DEBATE, self.format_name)
        opened: list[str] = []
        try:
            debate = await start(self.make(report), runtime, on_opened=opened.append)
        except DisputatioError as error:
            return replace(handed, debate="".join(opened), failure=f"{error.cause} {error.next_step}")
        history = History.of(row.event() for row in runtime.store.read(debate))
        outcome: Any = history.closed.outcome if history.closed else {}
        said = outcome.get("reading") or outcome.get("recommendation") or history.status.value
        return replace(handed, debate=debate, answer=str(said))


def configured_recipient(settings: Settings) -> str | None:
    """Who takes an escalated decision, as the settings of a panel say; None for other formats."""
    return settings.format.escalate if isinstance(settings.format, Panel) else None


def choose_target(
    chosen: str | EscalationFunction | None,
    form: Format,
    arguments: Arguments,
    evidence: Sequence[Evidence | Source],
    person: EscalationFunction | None = None,
) -> Target | None:
    """The target of an escalated decision; None if there is none.

    Args:
        chosen: a function, ``person``, the name of a format, or the address of a callback; None for no target.
        form: the format of the first debate. In formats without votes, the escalation settings of a file are ignored.
        arguments: what the debate was asked for with; a debate that takes the decision is seated by the same.
        evidence: what lies before the seats of the first debate, and then of that one.
        person: asks a person, if one can be asked.

    Raises:
        InvalidInputError: no format has that name, it has no judge, or no person can be asked; or a
            function is given to a format that never escalates.
    """
    if chosen is None or (isinstance(chosen, str) and not form.free_seats):
        return None
    if not form.free_seats:
        raise InvalidInputError(
            f"A function takes the decisions of panels, and the format {form.name} never escalates one.",
            "Leave escalate out, or take format='panel'.",
        )
    if chosen == "person":
        if person is None:
            raise InvalidInputError(
                "There is no person to ask: a decision is handed to one where the command runs in a terminal.",
                "Hand it to a debate or to a callback: --escalate structured, or --escalate http://...",
            )
        return FunctionTarget(person, "", Recipient.PERSON)
    if not isinstance(chosen, str):
        return FunctionTarget(chosen, getattr(chosen, "__name__", "function"))
    return CallbackTarget(chosen) if "://" in chosen else _make_debate_target(chosen, arguments, evidence)


_OF_THE_PANEL = ("seats", "limits", "rules", "debaters", "options", "rounds", "decision", "escalate")
"""Options of the panel and its seats, as opposed to those of the target."""


def _make_debate_target(format_name: str, arguments: Arguments, evidence: Sequence[Evidence | Source]) -> DebateTarget:
    """A debate in another format, with the report of the panel among its sources."""
    form = find_format(format_name)
    if form.free_seats:
        raise InvalidInputError(
            "A decision that a panel could not make is not handed to another panel.",
            "Name a format with a judge: --escalate structured.",
        )
    everyone = [(seat, who) for seat, who in arguments.seated() if seat.strip().lower() == "all"]
    own = arguments.only(lambda path: path[0] not in _OF_THE_PANEL).with_seats(everyone)
    settings = settings_for(form, own)

    def proposed(report: DebateReport) -> Proposal:
        told = Evidence("panel-report", f"Report of the panel {report.id}", render_result_text(report, 100))
        return Proposal(read_motion(report.motion, report.language), form, settings, (*evidence, told))

    return DebateTarget(proposed, form.name)
