"""The functions of the library: run a debate, resume it, fork it, attach what became known later.

Each function imports what it needs when it is called, so that importing the package stays fast.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

from disputatio.debates import Debate, check_store, open_store, read_debate
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
"""A source of a debate: the path of a file, or a text that the program has already."""
Escalating: TypeAlias = "str | Callable[[Debate], object]"
"""Who takes an escalated decision: a function of the debate, the name of a format, or the address of a callback. The
function may be a coroutine function."""


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
        motion: the question or proposition, at most 4,000 characters. A market debate has a motion of its own.
        format: ``structured``, ``freeform``, ``panel``, ``review``, ``competition``, ``market``, the name of an
            installed format, or a file of your own rules, such as ``./my_debate.py:rules``. That file is run. Options
            of a format come with it: ``Panel(debaters=["ada", "bo"], threshold=2)``.
        seats: who sits where: ``{"pro": "openai:gpt-5", "judge": Scripted(...)}``; ``all`` covers every seat.
            ``SeatOptions(model="openai:gpt-5", temperature=0.2)`` says how a model is called. A person sits there as
            ``Person(surface)``, see `disputatio.participants.human`. The environment and the configuration file fill
            the other seats.
        evidence: sources for all seats: paths of text, Markdown, HTML, PDF and JSON files, ``-`` for standard input,
            or `Evidence` and `Source` objects. A mapping gives such lists by the round of a review that brings them.
            Code checks what the seats quote from them.
        language: the language of the debate, by its name or tag; English by default.
        seed: sent to providers that take one.
        judging: how many judges there are, and how they judge.
        budget: ceilings. Every call is reserved before it is sent, so no ceiling is passed.
        limits: limits of turns.
        tools: what seats may look up before they speak: ``{"all": ["search", "calculate"]}``, or `Tools`.
        baseline: what to run next to the debate and compare it with: ``single``, ``vote``, ``freeform`` or ``all``.
        config: a configuration file (TOML or YAML) or its content as a mapping, instead of the file in the working
            directory.
        prompts: a folder whose files replace packaged prompts. They are recorded.
        store: where the record is stored: an address, the path of a file, or a store. A ``MemoryStore`` writes nothing
            to disk.
        observer: receives events and output as they come.
        client_factory: makes clients for models that this package does not know.

    Raises:
        InvalidInputError: an argument cannot be used. Nothing was spent.
        ProviderError: a model certainly cannot answer. Nothing was spent.
        StoreError: the record cannot be written.
    """
    from disputatio.engine.escalation import choose_target, configured_recipient, hand_over
    from disputatio.engine.runtime import start
    from disputatio.proposals.baselines import prepare_baselines
    from disputatio.request.formats import parse_format

    _check_ports(store, observer, client_factory)
    options, chosen = _given_options(locals()), parse_format(format)
    proposal, arguments = _make_proposal(motion, chosen, seats, evidence, options, config=config, prompts=prompts)
    settings, escalate = proposal.settings, getattr(chosen, "escalate", None)
    recipient = as_recipient(escalate) if callable(escalate) else configured_recipient(settings)
    target = choose_target(recipient, proposal.format, arguments, proposal.evidence)
    run_baselines = prepare_baselines(baseline, proposal, arguments)
    async with _open_runtime(settings.store if store is None else store, observer, client_factory) as runtime:
        debate_id = await start(proposal, runtime)
        await hand_over(debate_id, target, runtime)
        if run_baselines is not None:
            await run_baselines(debate_id, runtime)
        return read_debate(runtime.store, debate_id)


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
        InvalidInputError: an argument cannot be used.
    """
    from disputatio.engine.estimate import make_estimate
    from disputatio.request.formats import parse_format

    options, chosen = _given_options(locals()), parse_format(format)
    proposal, _ = _make_proposal(motion, chosen, seats, evidence, options, config=config, prompts=prompts)
    return await make_estimate(proposal)


_TYPED = ("language", "seed", "judging", "budget", "limits", "tools", "baseline")


def _given_options(local: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a request among the parameters of a call, without those that were left out."""
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
    """The proposal that the arguments of a program describe, with the arguments of its configuration."""
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
    """Refuse a store, an observer or a factory of the wrong type, before anything is spent."""
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
    """Continue an interrupted, truncated or degraded debate. Nothing already paid is asked again.

    Args:
        debate_id: its id, or the beginning of it.
        seats: the scripted participants and persons that it began with.
        budget: new ceilings, which include what is already spent. Those that are left out stay as they are.
        tools: the MCP servers of its tools, where the configuration does not name them.
        escalate: who takes a panel's decision to escalate, even if the panel is over already.
        format: where the file of its rules is now, if it was moved.
        prompts: the folder of prompt overrides that it began with.
        store: where its record is.
        observer: receives events and output as they come.
        client_factory: makes clients of models.

    Raises:
        UnknownDebateError: the store has no such debate.
        VerificationError: its record was altered.
        ResumeMismatchError: its rules, prompts or seats are not the recorded ones.
    """
    from disputatio.engine.custom_format_files import load_recorded_format
    from disputatio.engine.escalation import choose_target, configured_recipient, hand_over
    from disputatio.engine.recorded import recorded_settings
    from disputatio.engine.runtime import Resumption, is_resumable, recorded_opening
    from disputatio.engine.runtime import resume as continue_debate
    from disputatio.proposals.program import participants_of
    from disputatio.record.verified import find_debate, load_verified

    arguments, folder = _arguments_for(tools, budget), _folder(prompts)
    participants = participants_of(seats if seats is not None else {})
    if isinstance(escalate, str):
        arguments = arguments.with_values({("escalate",): escalate}, "escalate")
    async with _open_runtime(store, observer, client_factory) as runtime:
        found = find_debate(runtime.store, debate_id)
        read = load_verified(runtime.store, found)
        opened = recorded_opening(found, read.history)
        settings, form = recorded_settings(opened, arguments, format), load_recorded_format(opened, format)
        target = None
        if escalate is not None or is_resumable(read.history):
            recipient = configured_recipient(settings) if escalate is None else as_recipient(escalate)
            target = choose_target(recipient, form, arguments, ())
        resumption = Resumption(settings, settings.asked_budget, participants, folder, form=form)
        await continue_debate(found, resumption, runtime, read=read)
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
    """Run a finished debate again without what is struck. Turns that do not depend on it are kept.

    Args:
        debate_id: its id, or the beginning of it. Its record stays as it is.
        strike: the names of what to leave out: ``PRO-2``, ``CON on PRO-1``, ``PRO-1 quote 2``.
        seats: the scripted participants and persons that it ran with.
        budget: ceilings of the new debate alone. Those that are left out are the parent's.
        tools: the MCP servers of its tools, where the configuration does not name them.
        prompts: the folder of prompt overrides that it ran with.
        store: where its record is, and where the new record goes.
        observer: receives events and output as they come.
        client_factory: makes clients of models.

    Raises:
        UnknownDebateError: the store has no such debate.
        VerificationError: its record was altered.
        InvalidInputError: it has not ended, its format cannot be forked, or it has nothing of a given name.
        ResumeMismatchError: a prompt or a seat is not the recorded one.
    """
    from disputatio.engine.forking import fork as run_fork
    from disputatio.engine.forking import fork_of
    from disputatio.engine.recorded import recorded_settings
    from disputatio.engine.runtime import Resumption
    from disputatio.proposals.program import participants_of
    from disputatio.record.verified import find_debate, load_verified

    _check(
        "strike",
        strike,
        not isinstance(strike, str) and isinstance(strike, Sequence),
        "a list of names, such as ['PRO-2']",
    )
    arguments, folder = _arguments_for(tools, budget), _folder(prompts)
    participants = participants_of(seats if seats is not None else {})
    async with _open_runtime(store, observer, client_factory) as runtime:
        parent = find_debate(runtime.store, debate_id)
        read = load_verified(runtime.store, parent)
        planned = fork_of(parent, read, strike)
        settings = recorded_settings(planned.opened, arguments)
        resumption = Resumption(settings, settings.asked_budget, participants, folder)
        return read_debate(runtime.store, await run_fork(planned, read, resumption, runtime))


def _arguments_for(tools: Tools | None, budget: Budget | None) -> Arguments:
    """The arguments with which a recorded debate goes on."""
    from disputatio.config import arguments_of
    from disputatio.request.model import DebateRequest

    return arguments_of(DebateRequest.model_validate(_given_options({"tools": tools, "budget": budget})))


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

    return await _attach(
        debate_id, store, lambda found, runtime: attach(found, result, runtime, verdict=verdict, by=by, note=note)
    )


async def sign_off(
    debate_id: str, *, by: str, decision: str, comment: str = "", store: Store | str | Path | None = None
) -> Debate:
    """Record what a named reviewer decides on a closed debate: ``approve``, ``reject`` or ``return``.

    The caller gives the name. The record proves that it was not altered since, not who gave it.

    Raises:
        UnknownDebateError: the store has no such debate.
        InvalidInputError: it has not ended, or the name or the reason is missing.
        VerificationError: its record was altered.
    """
    from disputatio.engine.attachments import sign_off as sign

    return await _attach(debate_id, store, lambda found, runtime: sign(found, by, decision, runtime, comment=comment))


async def _attach(
    debate_id: str, store: Store | str | Path | None, attach: Callable[[str, Runtime], Coroutine[Any, Any, object]]
) -> Debate:
    from disputatio.record.verified import find_debate

    async with _open_runtime(store) as runtime:
        found = find_debate(runtime.store, debate_id)
        await attach(found, runtime)
        return read_debate(runtime.store, found)


async def import_transcripts(
    files: Sequence[str | Path], *, store: Store | str | Path | None = None
) -> tuple[Debate, ...]:
    """Import transcripts of debates that took place elsewhere, as records that can be verified and shown.

    All files are read before anything is written. A file that the store has already is not imported again. What a
    transcript does not say stays unknown. Such a debate cannot be resumed.

    Args:
        files: transcripts in Markdown or JSON, one debate each.
        store: where the records are stored; the configured store by default.

    Raises:
        InvalidInputError: a file cannot be read or is no transcript; names the line or key. Nothing was written.
        StoreError: the records cannot be written.
    """
    from disputatio.importing.imported_record import import_transcript
    from disputatio.importing.transcript_file import read_transcript

    check_store(store)
    _check("files", files, not isinstance(files, str | Path), f"a list, such as [{quote(str(files))}]")
    transcripts = [read_transcript(file) for file in files]
    async with _open_runtime(store) as runtime:
        imported = [await import_transcript(transcript, runtime.store) for transcript in transcripts]
        return tuple(read_debate(runtime.store, row.id) for row in imported)


@asynccontextmanager
async def _open_runtime(
    store: Store | str | Path | None, observer: Observer | None = None, client_factory: ClientFactory | None = None
) -> AsyncIterator[Runtime]:
    """A runtime over ``store``; a store that is given by its address is closed at the end."""
    _check_ports(store, observer, client_factory)
    from disputatio.engine.ports import NullObserver
    from disputatio.engine.runtime import Runtime
    from disputatio.participants.shared_clients import open_client
    from disputatio.telemetry.tracing import add_tracing

    opened = open_store(store) if store is None or isinstance(store, str | Path) else store
    try:
        yield Runtime(
            opened,
            observer=add_tracing(observer or NullObserver()),
            streams=observer is not None,
            client_factory=client_factory or open_client,
            checks_first=client_factory is None,
        )
    finally:
        if opened is not store:
            await opened.aclose()


def as_recipient(escalate: Escalating) -> str | Callable[[str, Runtime], object]:
    """``escalate`` as the engine takes it: a function of the debate becomes one of its id and its runtime."""
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
