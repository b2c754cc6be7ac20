"""The library's front door: hold a debate, resume one, read what came of it.

What is heavy is imported when it is first needed, so that importing the package stays fast.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from disputatio.failures import ExitCode, InvalidInputError
from disputatio.kernel import JsonObject
from disputatio.motion import Evidence, read_motion

if TYPE_CHECKING:
    from disputatio.config import CommandLine, Settings
    from disputatio.engine.debates import House
    from disputatio.engine.ports import Watcher
    from disputatio.evidence import Source
    from disputatio.formats.format import Format
    from disputatio.market.knowledge import KnowledgeBase
    from disputatio.participants.gateways import OpenGateway
    from disputatio.participants.human import Participant
    from disputatio.record.chain import Sealed
    from disputatio.record.events import Event
    from disputatio.record.store import Store
    from disputatio.report import DebateReport

Value = TypeVar("Value")
Escalating: TypeAlias = "str | Callable[[Debate], object]"
"""Where an escalated decision goes: a function of the debate (which may be a coroutine function), the name of a format,
or the address of a callback."""


@dataclass(frozen=True, slots=True)
class Debate:
    """A debate as its record tells it.

    Attributes:
        id: what the store calls it.
        record: everything that happened, in order, as it is stored: events in their envelopes.
        texts: prompts, schemas and evidence that events name, by SHA-256.
    """

    id: str
    record: tuple[Sealed, ...]
    texts: Mapping[str, str]

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that happened, in order."""
        return tuple(sealed.event() for sealed in self.record)

    @property
    def status(self) -> str:
        """``COMPLETE``, ``DEGRADED``, ``DEBATE_TRUNCATED``, ``FAILED``, ``INTERRUPTED`` or ``IMPORTED``."""
        from disputatio.record.history import History

        return History.of(self.events).status.value

    @property
    def outcome(self) -> JsonObject:
        """What the rules returned; empty while the debate is not closed."""
        from disputatio.record.history import History

        closed = History.of(self.events).closed
        return closed.outcome if closed else {}

    @property
    def exit_code(self) -> ExitCode:
        """What the command line returns for it: invalid input where its own rules could not go on."""
        if self.outcome.get("fault"):
            return ExitCode.INVALID_INPUT
        return _EXIT_CODES.get(self.status, ExitCode.INTERRUPTED)

    def text(self, width: int = 100) -> str:
        """The debate as plain text, ``width`` columns wide."""
        from disputatio.report import render_text

        return render_text(self.report(), width)

    def markdown(self) -> str:
        """The debate as Markdown."""
        from disputatio.report import render_markdown

        return render_markdown(self.report())

    def html(self) -> str:
        """The debate as one HTML page with its argument map, which needs no network."""
        from disputatio.report import render_page

        return render_page(self.report())

    def argdown(self) -> str:
        """The argument map in Argdown, for tools that draw and edit such maps."""
        from disputatio.report import render_argdown

        return render_argdown(self.report())

    def as_json(self) -> JsonObject:
        """The debate under the published, versioned export schema."""
        from disputatio.report import export_json

        return export_json(self.report())

    def for_audience(self) -> Debate:
        """What may be shown of it to everybody: all of it, unless people sit in it and it is not over.

        See `disputatio.report.audience`. Whoever reads the store itself can read the whole of it.
        """
        from disputatio.report.audience import for_audience

        shown = for_audience(self.record)
        if shown is None:
            return self
        # Prompts repeat what their seat was told. Sources lie before everybody; of a knowledge base each sees a part.
        given = [row for sealed in self.record[:1] for row in getattr(sealed.event(), "evidence", ())]
        sources = {str(row.get("text")) for row in given if row.get("kind") != "knowledge"}
        return replace(self, record=shown, texts={key: text for key, text in self.texts.items() if key in sources})

    def report(self) -> DebateReport:
        """What every surface is made from."""
        from disputatio.report import DebateReport

        return DebateReport.of(self.id, self.record, self.texts)


_EXIT_CODES = {
    "COMPLETE": ExitCode.COMPLETE,
    "IMPORTED": ExitCode.COMPLETE,
    "DEGRADED": ExitCode.DEGRADED,
    "DEBATE_TRUNCATED": ExitCode.TRUNCATED,
    "FAILED": ExitCode.PROVIDER,
}


def open_store(url: str | None = None, *, create: bool = True) -> Store:
    """The store at ``url``, or the configured one: SQLite in the user's data folder unless set otherwise.

    Raises:
        StoreError: it cannot be opened, or was written by a newer version.
    """
    from disputatio.record.sql import SqlStore

    return SqlStore(_usual_store() if url is None else url, create=create)


def _usual_store() -> str:
    """The address that is configured."""
    from disputatio.config.no_debate import configured_store

    return configured_store(_arguments({})).store


async def debate(
    motion: str = "",
    *,
    topic: str | None = None,
    format: str = "structured",  # noqa: A002  (the word users know)
    seats: Mapping[str, str | Participant] | None = None,
    evidence: Sequence[Evidence | Source | str | Path] = (),
    evidence_by_round: Mapping[int, Sequence[Evidence | Source | str | Path]] | None = None,
    knowledge: KnowledgeBase | str | Path | None = None,
    preset: str | None = None,
    positions: Sequence[str] = (),
    personality: Mapping[str, str] | None = None,
    personalities: str | Path | Mapping[str, str] | None = None,
    language: str | None = None,
    judges: int | None = None,
    debaters: Sequence[str] | None = None,
    options: Sequence[str] | None = None,
    rounds: int | None = None,
    decision: str | None = None,
    threshold: int | None = None,
    escalate: Escalating | None = None,
    budget_usd: Decimal | str | None = None,
    budget_tokens: int | None = None,
    max_calls: int | None = None,
    seed: int | None = None,
    base_url: str | None = None,
    config: str | Path | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002  (the option of the command line)
    tools: Mapping[str, Sequence[str]] | None = None,
    mcp: Mapping[str, str] | None = None,
    prompts: Path | None = None,
    store: Store | str | None = None,
    watcher: Watcher | None = None,
    opener: OpenGateway | None = None,
) -> Debate:
    """Hold a debate and return its record.

    Args:
        motion: the question or proposition, at most 4,000 characters.
        topic: a built-in motion in its place, by name (``disputatio topics`` lists them).
        format: ``structured``, ``freeform``, ``panel``, ``review``, ``competition``, ``market``, or a file of your own
            rules, such as ``./my_debate.py:rules``, which is run.
        seats: who sits where: ``{"pro": "openai:gpt-5", "judge": Scripted(...)}``; ``all`` covers
            every seat. A person sits there as ``Person(surface)``, see `disputatio.participants.human`.
            Seats that are not named are taken as the environment and the configuration file say.
        evidence: sources laid before all seats: paths of text, Markdown, HTML, PDF and JSON files, ``-`` for standard
            input, or texts. What the seats quote from them is checked by code.
        evidence_by_round: sources that a later round of a review brings, by the number of the round.
        knowledge: the knowledge base of a market debate: one that was built, the path of one, or ``example``, which is
            taken where none is given. Its motion may be left out.
        preset: what a review looks for, such as ``contract-risk``.
        positions: 2 to 5 positions that a review weighs, each with a proposer of its own.
        personality: how the debaters of a competition argue: ``{"pro": "logical", "con_2": "none"}``.
        personalities: own ones: a file of TOML or YAML, or what each debater is told, by name.
        language: the language of the debate; English where nothing says otherwise.
        judges: how many judges there are, 1 to 9; ``judge_2`` and so on are their seats. How they judge is set by
            the keys under ``judging``, such as ``{"judging.both_orders": True}``.
        debaters: of a panel, in the order in which they speak; where not given, the seats that are named.
        options: what a panel may vote for.
        rounds: the most rounds, for formats that have several.
        decision: the rule of a panel: ``threshold_vote``, ``majority``, ``super-majority``, ``unanimity`` or
            ``weighted``.
        threshold: the votes that ``threshold_vote`` needs; more than half of all debaters where not given.
        escalate: where a panel's decision to escalate goes: a function of the debate, the name of a format for a review
            debate, or the address of a callback.
        budget_usd: ceiling in US dollars; reserved before every call, never passed.
        budget_tokens: ceiling in tokens, input and output together.
        max_calls: ceiling in calls, repeated ones included.
        seed: sent to providers that take one.
        base_url: the server's address for the seats that need one.
        config: a configuration file (TOML or YAML).
        set: further settings by the keys of the configuration file, such as ``{"limits.closing_words": 150}``.
        tools: what seats may look up before they speak: ``{"all": ["search", "calculate"], "pro": ["files"]}``.
        mcp: the MCP servers that ``tools`` names, by name: a command or an address.
        prompts: a folder whose files take the place of packaged prompts; recorded.
        store: where the record is kept; a ``MemoryStore`` keeps nothing on disk.
        watcher: sees events and output as they come.
        opener: makes gateways, for models that this package does not know.

    Raises:
        InvalidInputError: something given cannot be used; nothing was spent.
        ProviderError: a model certainly cannot answer; nothing was spent.
        StoreError: the record cannot be kept.
    """
    from disputatio.engine.debates import start
    from disputatio.engine.escalating import escalation_target, hand_over
    from disputatio.engine.market_matter import matter_given
    from disputatio.engine.opening import Proposal
    from disputatio.engine.table import for_every_seat, split_seats
    from disputatio.engine.terms import sources_by_round

    chosen, base, motion = matter_given(format, knowledge, evidence, motion, topic)
    if chosen.free_seats and debaters is None:
        debaters = [seat for seat in seats or {} if seat != "all"] or None
    named, participants, for_all = split_seats(seats or {})
    judges = _judges_among(seats or {}, chosen) if judges is None else judges
    arguments = _arguments(
        {
            "seat": named,
            "judges": judges,
            "debaters": None if debaters is None else tuple(debaters),
            "options": None if options is None else tuple(options),
            "rounds": rounds,
            "decision": decision,
            "threshold": threshold,
            "escalate": escalate if isinstance(escalate, str) else None,
            "base_url": base_url,
            "budget_usd": budget_usd,
            "budget_tokens": budget_tokens,
            "max_calls": max_calls,
            "language": language,
            "seed": seed,
            "config": None if config is None else str(config),
            "set": tuple(_setting(key, value) for key, value in (set or {}).items()),
            "tools": tuple((tools or {}).items()),
            "mcp": tuple((mcp or {}).items()),
        }
        | {"preset": preset, "position": tuple(positions), **_styles(personality or {}, personalities)}
    )
    settings = _settings(chosen.name, arguments, os.environ, Path.cwd(), chosen)
    settings = _with_own_styles(settings, chosen, personality or {}, personalities)
    participants = for_every_seat(for_all, chosen, settings, dict(named), participants)
    sources, introduced = sources_by_round(evidence, _by_round(evidence_by_round))
    said = read_motion(motion, settings.language)
    proposal = Proposal(said, chosen, settings, sources, participants, prompts, introduced, base)
    named_to = settings.panel.escalate if escalate is None else told(escalate)
    target = escalation_target(named_to, chosen, arguments, sources)
    async with _Housed(store, settings.store, watcher, opener) as house:
        held = await start(proposal, house)
        await hand_over(held, target, house)
        return read_debate(house.store, held)


def _setting(key: str, value: object) -> tuple[tuple[str, ...], object]:
    """A setting by the levels of its key. What no file could hold, such as a path, is taken as its text."""
    from disputatio.config.keys import key_path

    own = isinstance(value, str | bool | int | float | Decimal | list)
    return key_path(key, "set"), list(value) if isinstance(value, tuple) else value if own else str(value)


def _styles(personality: Mapping[str, str], own: str | Path | Mapping[str, str] | None) -> dict[str, Any]:
    """How debaters argue, as a command line would say it; a program's own personalities are no file."""
    if isinstance(own, Mapping):
        return {}
    return {"personality": tuple(personality.items()), "personalities": None if own is None else str(own)}


def _judges_among(seats: Mapping[str, object], form: Format) -> int | None:
    """How many judges there are where more than one is seated."""
    from disputatio.formats.docket import place_of

    taken = form.seats_named(seats)
    if form.free_seats or len(taken) <= len(form.seats):
        return None
    return sum(place_of(seat, "judge") is not None for seat in taken)


def _with_own_styles(
    settings: Settings, form: Format, personality: Mapping[str, str], own: str | Path | Mapping[str, str] | None
) -> Settings:
    """``settings`` with the personalities that a program gives in words."""
    from disputatio.config.matter import cast_given

    if not isinstance(own, Mapping):
        return settings
    return replace(settings, cast=cast_given(form, tuple(settings.seats), personality, own))


def _by_round(evidence: Mapping[int, Sequence[Any]] | None) -> list[tuple[int, Any]]:
    """Each source with its round, earlier rounds first."""
    return [(number, row) for number, rows in sorted((evidence or {}).items()) for row in rows]


async def resume(
    debate_id: str,
    *,
    seats: Mapping[str, Participant] | None = None,
    budget_usd: Decimal | str | None = None,
    budget_tokens: int | None = None,
    max_calls: int | None = None,
    mcp: Mapping[str, str] | None = None,
    escalate: Escalating | None = None,
    format: str | None = None,  # noqa: A002
    prompts: Path | None = None,
    store: Store | str | None = None,
    watcher: Watcher | None = None,
    opener: OpenGateway | None = None,
) -> Debate:
    """Go on with an interrupted, truncated or degraded debate; nothing already paid is asked again.

    Args:
        debate_id: its id, or the beginning of it.
        seats: the scripted participants and persons it was begun with.
        budget_usd: a new ceiling in US dollars, what is spent included.
        budget_tokens: a new ceiling in tokens.
        max_calls: a new ceiling in calls.
        mcp: the MCP servers of its tools, where the configuration does not name them.
        escalate: where a panel's decision to escalate goes, also that of a panel which is over already.
        format: where the file of its own rules is now, if it was moved.
        prompts: the folder of prompt overrides it was begun with.
        store: where its record is.
        watcher: sees events and output as they come.
        opener: makes gateways.

    Raises:
        UnknownDebateError: the store has no such debate.
        VerificationError: its record was altered.
        ResumeMismatchError: it would not go on as the debate it was.
    """
    from disputatio.engine.debates import Resumption, can_go_on
    from disputatio.engine.debates import resume as go_on
    from disputatio.engine.escalating import escalation_target, hand_over
    from disputatio.engine.recorded import recorded_form
    from disputatio.engine.verified import find_debate, read_verified
    from disputatio.record.history import History

    arguments = _arguments(
        {"mcp": tuple((mcp or {}).items()), "escalate": escalate if isinstance(escalate, str) else None}
    )
    configured = _usual_store() if store is None else ""
    async with _Housed(store, configured, watcher, opener) as house:
        found = find_debate(house.store, debate_id)
        record = read_verified(house.store, found)
        settings, form = recorded_settings(found, record, arguments, format), recorded_form(found, record, format)
        named_to = settings.panel.escalate if escalate is None else told(escalate)
        target = escalation_target(named_to, form, arguments, ())
        if escalate is None and not can_go_on(History.of(row.event() for row in record)):
            target = None
        resumption = Resumption(
            settings=settings,
            budget_usd=None if budget_usd is None else Decimal(budget_usd),
            budget_tokens=budget_tokens,
            budget_calls=max_calls,
            participants=seats or {},
            prompts=prompts,
            form=form,
        )
        await go_on(found, resumption, house)
        await hand_over(found, target, house)
        return read_debate(house.store, found)


async def attach_outcome(
    debate_id: str,
    result: str,
    *,
    verdict: str | None = None,
    by: str = "",
    note: str = "",
    store: Store | str | None = None,
) -> Debate:
    """Attach a later outcome to a closed debate, which stays as it was; ``verdict`` is right, wrong or mixed.

    Raises:
        UnknownDebateError: the store has no such debate.
        InvalidInputError: it has not ended, or a text is missing or too long.
        VerificationError: its record was altered.
    """
    from disputatio.engine.attaching import attach_outcome as attach
    from disputatio.engine.verified import find_debate

    configured = _usual_store() if store is None else ""
    async with _Housed(store, configured, None, None) as house:
        found = find_debate(house.store, debate_id)
        await attach(found, result, house, verdict=verdict, by=by, note=note)
        return read_debate(house.store, found)


async def sign_off(
    debate_id: str, *, by: str, decision: str, comment: str = "", store: Store | str | None = None
) -> Debate:
    """Record what a named reviewer decides on a closed debate: ``approve``, ``reject`` or ``return``.

    The name is what the caller gives: the record proves that it was not altered since, not who gave it.

    Raises:
        UnknownDebateError: the store has no such debate.
        InvalidInputError: it has not ended, or the name or the reason is missing.
        VerificationError: its record was altered.
    """
    from disputatio.engine.attaching import sign_off as sign
    from disputatio.engine.verified import find_debate

    configured = _usual_store() if store is None else ""
    async with _Housed(store, configured, None, None) as house:
        found = find_debate(house.store, debate_id)
        await sign(found, by, decision, house, comment=comment)
        return read_debate(house.store, found)


async def import_transcripts(files: Sequence[str | Path], *, store: Store | str | None = None) -> tuple[Debate, ...]:
    """Take transcripts of debates that were held elsewhere into a store, as records that verify and are shown.

    All files are read before anything is written. A file that the store has already is found there again. What a
    transcript does not say stays unknown; such a debate cannot be resumed.

    Args:
        files: transcripts in Markdown or JSON, one debate each.
        store: where the records are kept; the configured one where not given.

    Raises:
        InvalidInputError: a file cannot be read or is no transcript; it names the line or key. Nothing was written.
        StoreError: the records cannot be kept.
    """
    from disputatio.transcripts import read_transcript, take_in

    transcripts = [read_transcript(file) for file in files]
    opened = open_store(store) if store is None or isinstance(store, str) else store
    try:
        found = [await take_in(transcript, opened) for transcript in transcripts]
        return tuple(read_debate(opened, row.id) for row in found)
    finally:
        if opened is not store:
            await opened.aclose()


def import_transcripts_sync(files: Sequence[str | Path], *, store: Store | str | None = None) -> tuple[Debate, ...]:
    """``import_transcripts`` for programs without an event loop."""
    return _run(import_transcripts(files, store=store))


def debate_sync(motion: str = "", **options: Any) -> Debate:
    """``debate`` for programs without an event loop; takes the same options."""
    return _run(debate(motion, **options))


def resume_sync(debate_id: str, **options: Any) -> Debate:
    """``resume`` for programs without an event loop; takes the same options."""
    return _run(resume(debate_id, **options))


def read_debate(store: Store, debate_id: str) -> Debate:
    """The debate as the store has it now; its chain is not checked (``verify`` does that)."""
    return Debate(debate_id, tuple(store.read(debate_id)), store.texts(debate_id))


def recorded_settings(
    debate_id: str, record: Sequence[Sealed], arguments: CommandLine, rules_file: str | None = None
) -> Settings:
    """Today's settings for a recorded debate; see ``disputatio.engine.recorded``."""
    from disputatio.engine.recorded import recorded_settings as settings_of

    return settings_of(debate_id, record, arguments, rules_file)


class _Housed:
    """Opens what a debate runs in and closes what it opened."""

    def __init__(
        self, store: Store | str | None, configured: str, watcher: Watcher | None, opener: OpenGateway | None
    ) -> None:
        self._given, self._configured = store, configured
        self._watcher, self._opener = watcher, opener
        self._own: Store | None = None

    async def __aenter__(self) -> House:
        from disputatio.engine.debates import House
        from disputatio.engine.ports import Nobody
        from disputatio.observing.setting import observed
        from disputatio.participants.gateways import open_gateway

        if self._given is None or isinstance(self._given, str):
            store = self._own = open_store(self._given or self._configured)
        else:
            store = self._given
        return House(
            store,
            watcher=observed(self._watcher or Nobody()),
            watched=self._watcher is not None,
            opener=self._opener or open_gateway,
            checks_first=self._opener is None,
        )

    async def __aexit__(self, *_: object) -> None:
        if self._own is not None:
            await self._own.aclose()


def told(escalate: Escalating) -> str | Callable[[str, House], object]:
    """``escalate`` as the engine takes it: a function that is given a debate is given its id and its house instead."""
    if isinstance(escalate, str):
        return escalate
    function = escalate

    def call(debate: str, house: House) -> object:
        return function(read_debate(house.store, debate))

    call.__name__ = getattr(function, "__name__", "function")
    return call


def _arguments(values: Mapping[str, Any]) -> CommandLine:
    from disputatio.config import CommandLine

    return CommandLine(**values)


def _settings(
    format_name: str,
    arguments: CommandLine,
    environ: Mapping[str, str],
    directory: Path,
    form: Format | None = None,
) -> Settings:
    from disputatio.config import resolve
    from disputatio.config.format_options import format_options
    from disputatio.formats.registry import find_format

    form = form or find_format(format_name)
    return resolve(
        format_name=format_name,
        seats=tuple(form.seats),
        environ=environ,
        directory=directory,
        arguments=arguments,
        options=format_options(form),
    )


def _run(work: Coroutine[Any, Any, Value]) -> Value:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    work.close()
    raise InvalidInputError(
        "This thread already runs an event loop.", "Await disputatio.debate or disputatio.resume instead."
    )
