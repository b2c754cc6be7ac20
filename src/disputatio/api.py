"""The library's front door: hold a debate, resume one, read what came of it.

What is heavy is imported when it is first needed, so that importing the package stays fast.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

from disputatio.debates import Debate, check_store, open_store, read_debate, usual_store
from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import quote
from disputatio.motion import Evidence

if TYPE_CHECKING:
    from disputatio.config import Arguments
    from disputatio.engine.estimate import Estimate
    from disputatio.engine.opening import Proposal
    from disputatio.engine.ports import Observer
    from disputatio.engine.runtime import Runtime
    from disputatio.evidence.sources import Source
    from disputatio.formats.options import FormatOptions
    from disputatio.participants.human import Participant
    from disputatio.participants.shared_clients import ClientFactory
    from disputatio.record.store import Store
    from disputatio.request.model import Budget, Judging, Limits, SeatOptions, Tools

Value = TypeVar("Value")
Given = ParamSpec("Given")
SourceLike: TypeAlias = "Evidence | Source | str | Path"
"""A source of a debate: a path, or one that was read or written by the program."""
Escalating: TypeAlias = "str | Callable[[Debate], object]"
"""Where an escalated decision goes: a function of the debate (which may be a coroutine function), the name of a format,
or the address of a callback."""


async def debate(
    motion: str = "",
    *,
    format: str | FormatOptions = "structured",  # noqa: A002  (the word users know)
    seats: Mapping[str, str | SeatOptions | Participant] | None = None,
    evidence: Sequence[SourceLike] | Mapping[int, Sequence[SourceLike]] = (),
    language: str | None = None,
    seed: int | None = None,
    judging: Judging | None = None,
    budget: Budget | None = None,
    limits: Limits | None = None,
    tools: Tools | Mapping[str, Sequence[str]] | None = None,
    baseline: str | None = None,
    config: str | Path | Mapping[str, object] | None = None,
    prompts: str | Path | None = None,
    store: Store | str | Path | None = None,
    observer: Observer | None = None,
    client_factory: ClientFactory | None = None,
) -> Debate:
    """Run a debate and return its record.

    Args:
        motion: the question or proposition, at most 4,000 characters. A market debate has one of its own.
        format: ``structured``, ``freeform``, ``panel``, ``review``, ``competition``, ``market``, the name of an
            installed format, or a file of your own rules, such as ``./my_debate.py:rules``, which is run. Options of
            a format come with it: ``Panel(debaters=["ada", "bo"], threshold=2)``.
        seats: who sits where: ``{"pro": "openai:gpt-5", "judge": Scripted(...)}``; ``all`` covers every seat.
            ``SeatOptions(model="openai:gpt-5", temperature=0.2)`` says how a model is called. A person sits there as
            ``Person(surface)``, see `disputatio.participants.human`. Seats that are not named are taken as the
            environment and the configuration file say.
        evidence: sources for all seats: paths of text, Markdown, HTML, PDF and JSON files, ``-`` for standard input,
            or `Evidence` and `Source` objects; or such lists by the round of a review that brings them. Code checks
            what the seats quote from them.
        language: the language of the debate; English where nothing says otherwise.
        seed: sent to providers that take one.
        judging: how many judges there are, and how they judge.
        budget: ceilings; every call is reserved before it is sent, and none is passed.
        limits: limits of turns.
        tools: what seats may look up before they speak: ``{"all": ["search", "calculate"]}``, or `Tools`.
        baseline: run beside the debate and compared with it: ``single``, ``vote``, ``freeform`` or ``all``.
        config: a configuration file (TOML or YAML), or its content as a mapping, in place of the one in the working
            directory.
        prompts: a folder whose files replace packaged prompts; recorded.
        store: where the record is stored: an address, the path of a file, or a store. A ``MemoryStore`` keeps nothing
            on disk.
        observer: sees events and output as they come.
        client_factory: makes clients, for models that this package does not know.

    Raises:
        InvalidInputError: something given cannot be used; nothing was spent.
        ProviderError: a model certainly cannot answer; nothing was spent.
        StoreError: the record cannot be kept.
    """
    from disputatio.engine.escalation import choose_target, configured_recipient, hand_over
    from disputatio.engine.runtime import start
    from disputatio.proposals.baselines import prepare_baselines
    from disputatio.request.formats import parse_format

    _check_ports(store, observer, client_factory)
    options, chosen = _given_options(locals()), parse_format(format)
    proposal, arguments = _make_proposal(motion, chosen, seats, evidence, options, config=config, prompts=prompts)
    settings, escalate = proposal.settings, getattr(chosen, "escalate", None)
    named_to = as_recipient(escalate) if callable(escalate) else configured_recipient(settings)
    target = choose_target(named_to, proposal.format, arguments, proposal.evidence)
    beside = prepare_baselines(baseline, proposal, arguments)
    async with _RuntimeContext(store, observer, client_factory, configured=settings.store) as runtime:
        held = await start(proposal, runtime)
        await hand_over(held, target, runtime)
        if beside is not None:
            await beside(held, runtime)
        return read_debate(runtime.store, held)


async def estimate(
    motion: str = "",
    *,
    format: str | FormatOptions = "structured",  # noqa: A002
    seats: Mapping[str, str | SeatOptions | Participant] | None = None,
    evidence: Sequence[SourceLike] | Mapping[int, Sequence[SourceLike]] = (),
    language: str | None = None,
    seed: int | None = None,
    judging: Judging | None = None,
    budget: Budget | None = None,
    limits: Limits | None = None,
    tools: Tools | Mapping[str, Sequence[str]] | None = None,
    config: str | Path | Mapping[str, object] | None = None,
    prompts: str | Path | None = None,
) -> Estimate:
    """Estimate calls, tokens and cost of a debate. No model is called. The options are those of ``debate``.

    Raises:
        InvalidInputError: something given cannot be used.
    """
    from disputatio.engine.estimate import make_estimate
    from disputatio.request.formats import parse_format

    options, chosen = _given_options(locals()), parse_format(format)
    proposal, _ = _make_proposal(motion, chosen, seats, evidence, options, config=config, prompts=prompts)
    return await make_estimate(proposal)


_TYPED = ("language", "seed", "judging", "budget", "limits", "tools", "baseline")


def _given_options(local: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a request among the parameters of a call; what was left out is not among them."""
    return {name: local[name] for name in _TYPED if local.get(name) is not None}


def _make_proposal(
    motion: str,
    chosen: FormatOptions,
    seats: Mapping[str, str | SeatOptions | Participant] | None,
    evidence: Sequence[SourceLike] | Mapping[int, Sequence[SourceLike]],
    options: Mapping[str, Any],
    *,
    config: str | Path | Mapping[str, object] | None,
    prompts: str | Path | None,
) -> tuple[Proposal, Arguments]:
    """The debate that a program asks for, and what it was asked for with."""
    from disputatio.proposals.program import proposal_of_program

    _check(
        "config", config, config is None or isinstance(config, str | Path | Mapping), "a TOML or YAML file, or a table"
    )
    return proposal_of_program(
        motion,
        chosen,
        seats if seats is not None else {},
        evidence,
        options,
        config=str(config) if isinstance(config, Path) else config,
        prompts=_folder(prompts),
    )


def _folder(prompts: str | Path | None) -> Path | None:
    _check("prompts", prompts, prompts is None or isinstance(prompts, str | Path), "the path of a folder")
    return None if prompts is None else Path(prompts)


def _check(name: str, value: object, fits: object, allowed: str) -> None:
    if not fits:
        raise InvalidInputError(f"{name} is {quote(value)}, which cannot be used.", f"Give {allowed}.")


def _check_ports(store: object, observer: object = None, client_factory: object = None) -> None:
    """Refuse what is no store, no watcher and no function, before anything is spent."""
    check_store(store)
    sees = observer is None or (hasattr(observer, "on_event") and hasattr(observer, "on_text"))
    _check("observer", observer, sees, "an object with the methods on_event and on_text")
    _check(
        "client_factory",
        client_factory,
        client_factory is None or callable(client_factory),
        "a function of a model's seat and its key",
    )


async def resume(
    debate_id: str,
    *,
    seats: Mapping[str, Participant] | None = None,
    budget: Budget | None = None,
    tools: Tools | None = None,
    escalate: Escalating | None = None,
    format: str | None = None,  # noqa: A002
    prompts: str | Path | None = None,
    store: Store | str | Path | None = None,
    observer: Observer | None = None,
    client_factory: ClientFactory | None = None,
) -> Debate:
    """Continue an interrupted, truncated or degraded debate; nothing already paid is asked again.

    Args:
        debate_id: its id, or the beginning of it.
        seats: the scripted participants and persons it was begun with.
        budget: new ceilings, what is spent included; those that are left out stay as they are.
        tools: the MCP servers of its tools, where the configuration does not name them.
        escalate: where a panel's decision to escalate goes, also that of a panel which is over already.
        format: where the file of its own rules is now, if it was moved.
        prompts: the folder of prompt overrides it was begun with.
        store: where its record is.
        observer: sees events and output as they come.
        client_factory: makes clients.

    Raises:
        UnknownDebateError: the store has no such debate.
        VerificationError: its record was altered.
        ResumeMismatchError: it would not go on as the debate it was.
    """
    from disputatio.config import arguments_of
    from disputatio.engine.escalation import choose_target, configured_recipient, hand_over
    from disputatio.engine.recorded import recorded_format, recorded_settings
    from disputatio.engine.runtime import Resumption, is_resumable
    from disputatio.engine.runtime import resume as go_on
    from disputatio.proposals.program import participants_of
    from disputatio.record.history import History
    from disputatio.record.verified import find_debate, read_verified
    from disputatio.request.model import Budget, DebateRequest

    _check_ports(store, observer, client_factory)
    asked = DebateRequest.model_validate(_given_options({"tools": tools, "budget": budget}))
    participants, folder, ceilings = participants_of(seats if seats is not None else {}), _folder(prompts), asked.budget
    # New ceilings are laid on top of the recorded ones; they are no configuration.
    arguments = arguments_of(asked.model_copy(update={"budget": Budget()}))
    if isinstance(escalate, str):
        arguments = arguments.with_values({("escalate",): escalate}, "escalate")
    async with _RuntimeContext(store, observer, client_factory) as runtime:
        found = find_debate(runtime.store, debate_id)
        record = read_verified(runtime.store, found)
        settings, form = recorded_settings(found, record, arguments, format), recorded_format(found, record, format)
        named_to = configured_recipient(settings) if escalate is None else as_recipient(escalate)
        target = choose_target(named_to, form, arguments, ())
        if escalate is None and not is_resumable(History.of(row.event() for row in record)):
            target = None
        resumption = Resumption(
            settings=settings,
            budget_usd=ceilings.usd,
            budget_tokens=ceilings.tokens,
            budget_calls=ceilings.calls,
            participants=participants,
            prompts=folder,
            form=form,
        )
        await go_on(found, resumption, runtime)
        await hand_over(found, target, runtime)
        return read_debate(runtime.store, found)


async def fork(
    debate_id: str,
    strike: Sequence[str],
    *,
    seats: Mapping[str, Participant] | None = None,
    budget: Budget | None = None,
    tools: Tools | None = None,
    prompts: str | Path | None = None,
    store: Store | str | Path | None = None,
    observer: Observer | None = None,
    client_factory: ClientFactory | None = None,
) -> Debate:
    """Ask a finished debate again without what is struck; turns that do not depend on it are kept.

    Args:
        debate_id: its id, or the beginning of it. Its record stays as it is.
        strike: names of what was never said: ``PRO-2``, ``CON on PRO-1``, ``PRO-1 quote 2``.
        seats: the scripted participants and persons it was held with.
        budget: ceilings of the new debate alone; those that are left out are the parent's.
        tools: the MCP servers of its tools, where the configuration does not name them.
        prompts: the folder of prompt overrides it was held with.
        store: where its record is, and the new one will be.
        observer: sees events and output as they come.
        client_factory: makes model clients.

    Raises:
        UnknownDebateError: the store has no such debate.
        VerificationError: its record was altered.
        InvalidInputError: it has not ended, its format cannot be forked, or a name is no part of it.
        ResumeMismatchError: a prompt or a seat is not what it was.
    """
    from disputatio.config import arguments_of
    from disputatio.engine.forking import fork as ask_again
    from disputatio.engine.forking import fork_of
    from disputatio.engine.recorded import settings_of_opening
    from disputatio.engine.runtime import Resumption
    from disputatio.proposals.program import participants_of
    from disputatio.record.verified import find_debate, load_verified
    from disputatio.request.model import Budget, DebateRequest

    _check_ports(store, observer, client_factory)
    _check(
        "strike",
        strike,
        not isinstance(strike, str) and isinstance(strike, Sequence),
        "a list of names, such as ['PRO-2']",
    )
    asked = DebateRequest.model_validate(_given_options({"tools": tools, "budget": budget}))
    participants, folder, ceilings = participants_of(seats if seats is not None else {}), _folder(prompts), asked.budget
    arguments = arguments_of(asked.model_copy(update={"budget": Budget()}))
    async with _RuntimeContext(store, observer, client_factory) as runtime:
        parent = find_debate(runtime.store, debate_id)
        read = load_verified(runtime.store, parent)
        found = fork_of(parent, read, strike)
        resumption = Resumption(
            settings=settings_of_opening(found.opened, arguments),
            budget_usd=ceilings.usd,
            budget_tokens=ceilings.tokens,
            budget_calls=ceilings.calls,
            participants=participants,
            prompts=folder,
        )
        return read_debate(runtime.store, await ask_again(found, read, resumption, runtime))


async def attach_outcome(
    debate_id: str,
    result: str,
    *,
    verdict: str | None = None,
    by: str = "",
    note: str = "",
    store: Store | str | Path | None = None,
) -> Debate:
    """Attach a later outcome to a closed debate, which stays as it was; ``verdict`` is right, wrong or mixed.

    Raises:
        UnknownDebateError: the store has no such debate.
        InvalidInputError: it has not ended, or a text is missing or too long.
        VerificationError: its record was altered.
    """
    from disputatio.engine.attachments import attach_outcome as attach
    from disputatio.record.verified import find_debate

    async with _RuntimeContext(store) as runtime:
        found = find_debate(runtime.store, debate_id)
        await attach(found, result, runtime, verdict=verdict, by=by, note=note)
        return read_debate(runtime.store, found)


async def sign_off(
    debate_id: str, *, by: str, decision: str, comment: str = "", store: Store | str | Path | None = None
) -> Debate:
    """Record what a named reviewer decides on a closed debate: ``approve``, ``reject`` or ``return``.

    The name is what the caller gives: the record proves that it was not altered since, not who gave it.

    Raises:
        UnknownDebateError: the store has no such debate.
        InvalidInputError: it has not ended, or the name or the reason is missing.
        VerificationError: its record was altered.
    """
    from disputatio.engine.attachments import sign_off as sign
    from disputatio.record.verified import find_debate

    async with _RuntimeContext(store) as runtime:
        found = find_debate(runtime.store, debate_id)
        await sign(found, by, decision, runtime, comment=comment)
        return read_debate(runtime.store, found)


async def import_transcripts(
    files: Sequence[str | Path], *, store: Store | str | Path | None = None
) -> tuple[Debate, ...]:
    """Import transcripts of debates that took place elsewhere into a store, as records that verify and are shown.

    All files are read before anything is written. A file that the store has already is found there again. What a
    transcript does not say stays unknown; such a debate cannot be resumed.

    Args:
        files: transcripts in Markdown or JSON, one debate each.
        store: where the records are kept; the configured one where not given.

    Raises:
        InvalidInputError: a file cannot be read or is no transcript; it names the line or key. Nothing was written.
        StoreError: the records cannot be kept.
    """
    from disputatio.importing.imported_record import import_transcript
    from disputatio.importing.transcript_file import read_transcript

    _check_ports(store)
    _check("files", files, not isinstance(files, str | Path), f"a list, such as [{quote(str(files))}]")
    transcripts = [read_transcript(file) for file in files]
    opened = open_store(store) if store is None or isinstance(store, str | Path) else store
    try:
        found = [await import_transcript(transcript, opened) for transcript in transcripts]
        return tuple(read_debate(opened, row.id) for row in found)
    finally:
        if opened is not store:
            await opened.aclose()


class _RuntimeContext:
    """Opens what a debate runs in and closes what it opened.

    Args:
        store: the caller's store or its address.
        observer: sees events.
        client_factory: opens model clients.
        configured: the address where the caller gave none; that of the configuration where it is not known yet.
    """

    def __init__(
        self,
        store: Store | str | Path | None,
        observer: Observer | None = None,
        client_factory: ClientFactory | None = None,
        *,
        configured: str | None = None,
    ) -> None:
        _check_ports(store, observer, client_factory)
        if configured is None:
            configured = usual_store() if store is None else ""
        self._given, self._configured = store, configured
        self._observer, self._client_factory = observer, client_factory
        self._own: Store | None = None

    async def __aenter__(self) -> Runtime:
        from disputatio.engine.ports import NullObserver
        from disputatio.engine.runtime import Runtime
        from disputatio.participants.shared_clients import open_client
        from disputatio.telemetry.tracing import add_tracing

        if self._given is None or isinstance(self._given, str | Path):
            store = self._own = open_store(self._given or self._configured)
        else:
            store = self._given
        return Runtime(
            store,
            observer=add_tracing(self._observer or NullObserver()),
            streams=self._observer is not None,
            client_factory=self._client_factory or open_client,
            checks_first=self._client_factory is None,
        )

    async def __aexit__(self, *_: object) -> None:
        if self._own is not None:
            await self._own.aclose()


def as_recipient(escalate: Escalating) -> str | Callable[[str, Runtime], object]:
    """``escalate`` as the engine takes it: a function that takes a debate gets its id and its runtime instead."""
    if isinstance(escalate, str):
        return escalate
    function = escalate

    def call(debate: str, runtime: Runtime) -> object:
        return function(read_debate(runtime.store, debate))

    call.__name__ = getattr(function, "__name__", "function")
    return call


def _without_loop(work: Callable[Given, Coroutine[Any, Any, Value]]) -> Callable[Given, Value]:
    """``work`` for programs without an event loop, with the same parameters."""

    @functools.wraps(work)
    def call(*args: Given.args, **options: Given.kwargs) -> Value:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(work(*args, **options))
        raise InvalidInputError(
            "This thread already runs an event loop.", f"Await disputatio.{work.__name__}(...) instead."
        )

    call.__doc__ = f"``{work.__name__}`` for programs without an event loop."
    call.__name__ = call.__qualname__ = f"{work.__name__}_sync"
    return call


debate_sync = _without_loop(debate)
estimate_sync = _without_loop(estimate)
resume_sync = _without_loop(resume)
fork_sync = _without_loop(fork)
import_transcripts_sync = _without_loop(import_transcripts)
