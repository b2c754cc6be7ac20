"""Hands an escalated decision to the named target, after the debate is closed and outside its rules.

The rules of a panel end with the word escalate. The next step needs a clock, a network or a person, so it is done here.
Its result becomes one event at the end of the record, and so does a failure. The result of the debate is durable before
anything is handed over, and nothing here can change it.
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
from disputatio.engine.opening import Proposal
from disputatio.engine.runtime import Runtime, reopen_journal, start
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
# One part of a compressed answer may have a megabyte.
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
    """The result of handing a decision over.

    Attributes:
        to: who took the decision, or should have taken it.
        name: the format of a debate, the server of a callback, the name of a function; never a whole address.
        answer: the recipient's decision or answer in its own words; empty if there was none.
        debate: the id of the debate that takes the decision.
        failure: why it could not be handed over; empty if it was.
    """

    to: Recipient
    name: str = ""
    answer: str = ""
    debate: str = ""
    failure: str = ""


class Target(Protocol):
    """A recipient of decisions. It returns failures and does not raise them."""

    async def take(self, report: DebateReport, runtime: Runtime) -> Handover:
        """Take the decision of ``report``."""


async def hand_over(debate: str, target: Target | None, runtime: Runtime) -> Handover | None:
    """Hand over the decision of a closed debate that escalates; record and return the result.

    Returns:
        None if nothing was handed over: the debate did not decide to escalate, or no target was named.

    Raises:
        VerificationError: the record was altered.
        StoreError: the result could not be recorded.
    """
    if target is None:
        return None
    record = read_verified(runtime.store, debate)
    if not is_escalated(History.of(row.event() for row in record)):
        return None
    report = DebateReport.of(debate, record, runtime.store.texts(debate))
    handover = await target.take(report, runtime)
    event = DecisionEscalated(
        to=handover.to.value,
        name=one_line(handover.name, 200),
        answer=one_line(handover.answer, _MOST_ANSWER),
        debate=handover.debate,
        failure=one_line(handover.failure, 400),
    )
    async with reopen_journal(debate, runtime) as journal:
        journal.write(event)
    return handover


def is_escalated(history: History) -> bool:
    """Whether a debate ended with the decision to escalate."""
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
        """Post the export. A status other than 200 to 299 is a failure."""
        import httpx2

        from disputatio._http_client import LimitedClient, StoppedError

        parts = urlsplit(self.url)
        handover = Handover(
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
                    return replace(handover, failure=f"the server answered {response.status_code}")
                async for part in response.aiter_bytes():
                    answer += part
                    if len(answer) >= _ANSWER_BYTES:
                        # Only the beginning is recorded.
                        break
        except StoppedError as error:
            return replace(handover, failure=f"the server answered {response.status_code}, but {error}")
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            return replace(handover, failure=f"the server was not reached ({type(error).__name__})")
        return replace(handover, answer=answer.decode(response.encoding or "utf-8", "replace")[:_MOST_ANSWER])


@dataclass(frozen=True, slots=True)
class FunctionTarget:
    """A function of the program that runs the debate. Its result is the answer; an awaitable result is awaited."""

    function: EscalationFunction
    name: str
    to: Recipient = Recipient.FUNCTION

    async def take(self, report: DebateReport, runtime: Runtime) -> Handover:
        """Call the function. If it raises, the handover fails and not the debate."""
        try:
            answer: Any = self.function(report.id, runtime)
            if inspect.isawaitable(answer):
                answer = await answer
        except Exception as error:  # noqa: BLE001  (it may raise anything, and the result must not be lost)
            cause = error.cause if isinstance(error, DisputatioError) else str(error)
            return Handover(self.to, self.name, failure=f"{type(error).__name__}: {cause}")
        if isinstance(answer, Handover):
            return answer
        return Handover(self.to, self.name, "" if answer is None else str(answer))


@dataclass(frozen=True, slots=True)
class DebateTarget:
    """Another debate on the same motion, with the report of the first one as evidence. ``make`` proposes it."""

    make: Callable[[DebateReport], Proposal]
    format_name: str

    async def take(self, report: DebateReport, runtime: Runtime) -> Handover:
        """Run the debate, which has a record of its own."""
        handover = Handover(Recipient.DEBATE, self.format_name)
        opened: list[str] = []
        try:
            debate = await start(self.make(report), runtime, on_opened=opened.append)
        except DisputatioError as error:
            return replace(handover, debate="".join(opened), failure=f"{error.cause} {error.next_step}")
        history = History.of(row.event() for row in runtime.store.read(debate))
        outcome: Any = history.closed.outcome if history.closed else {}
        answer = outcome.get("reading") or outcome.get("recommendation") or history.status.value
        return replace(handover, debate=debate, answer=str(answer))


def configured_recipient(settings: Settings) -> str | None:
    """The recipient of escalated decisions in the settings of a panel; None for other formats."""
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
        arguments: the arguments of the first debate; they also seat a debate that takes the decision.
        evidence: the evidence of the first debate, which such a debate gets too.
        person: asks a person, if one can be asked.

    Raises:
        InvalidInputError: no format has that name, it has no judge, or no person can be asked; or a
            function is given to a format that never escalates.
    """
    if chosen is None or (isinstance(chosen, str) and not form.free_seats):
        return None
    if not form.free_seats:
        raise InvalidInputError(
            f"Only panels escalate decisions to a function, and the format is {form.name}.",
            "Leave escalate out, or use format='panel'.",
        )
    if chosen == "person":
        if person is None:
            raise InvalidInputError(
                "No person can be asked here: a person decides only where the command runs in a terminal.",
                "Name a debate or a callback: --escalate structured, or --escalate http://...",
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
            "A panel cannot hand its decision to another panel.",
            "Name a format with a judge: --escalate structured.",
        )
    for_all = [(seat, model) for seat, model in arguments.seated() if seat.strip().lower() == "all"]
    settings = settings_for(form, arguments.only(lambda path: path[0] not in _OF_THE_PANEL).with_seats(for_all))

    def propose(report: DebateReport) -> Proposal:
        source = Evidence("panel-report", f"Report of the panel {report.id}", render_result_text(report, 100))
        return Proposal(read_motion(report.motion, report.language), form, settings, (*evidence, source))

    return DebateTarget(propose, form.name)
