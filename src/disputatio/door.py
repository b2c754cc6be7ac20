"""The library's front door: hold a debate, resume one, read what came of it.

What is heavy is imported when it is first needed, so that importing the package stays fast.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from disputatio.failures import ExitCode, InvalidInputError, ResumeMismatchError, UnknownDebateError
from disputatio.kernel import JsonObject
from disputatio.motion import MAX_EVIDENCE_CHARS, Evidence, one_line, read_evidence, read_motion
from disputatio.participants.scripted import Scripted

if TYPE_CHECKING:
    from disputatio.config import CommandLine, Settings
    from disputatio.engine.debates import House
    from disputatio.engine.ports import Watcher
    from disputatio.formats.registry import Format
    from disputatio.participants.gateways import OpenGateway
    from disputatio.record.chain import Sealed
    from disputatio.record.events import Event
    from disputatio.record.store import Store
    from disputatio.report import DebateReport

Value = TypeVar("Value")


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
        """``COMPLETE``, ``DEGRADED`` (seats missing), ``DEBATE_TRUNCATED``, ``FAILED`` or ``INTERRUPTED``."""
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
        """What the command line returns for it."""
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

    def report(self) -> DebateReport:
        """What every surface is made from."""
        from disputatio.report import DebateReport

        return DebateReport.of(self.id, self.record, self.texts)


_EXIT_CODES = {
    "COMPLETE": ExitCode.COMPLETE,
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

    return SqlStore(configured_store(_arguments({})).store if url is None else url, create=create)


def configured_store(arguments: CommandLine) -> Settings:
    """Settings to take the store's address from; seats are not looked at, so that nothing said of them is in the way.

    Raises:
        InvalidInputError: the configuration cannot be read.
    """
    from disputatio.config import resolve
    from disputatio.engine.opening import format_options
    from disputatio.formats.registry import FORMATS, find_format

    form = find_format("structured")
    seats = frozenset(str(seat) for row in FORMATS.values() for seat in row.seats)
    return resolve(
        format_name=form.name,
        seats=(),
        environ=os.environ,
        directory=Path.cwd(),
        arguments=replace(arguments, seat=(), base_url=None),
        options=replace(format_options(form), other_seats=seats),
    )


async def debate(
    motion: str,
    *,
    format: str = "structured",  # noqa: A002  (the word users know)
    seats: Mapping[str, str | Scripted] | None = None,
    evidence: Sequence[Evidence | str | Path] = (),
    language: str | None = None,
    budget_usd: Decimal | str | None = None,
    budget_tokens: int | None = None,
    max_calls: int | None = None,
    seed: int | None = None,
    base_url: str | None = None,
    config: str | Path | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002  (the option of the command line)
    prompts: Path | None = None,
    store: Store | str | None = None,
    watcher: Watcher | None = None,
    opener: OpenGateway | None = None,
) -> Debate:
    """Hold a debate and return its record.

    Args:
        motion: the question or proposition, at most 4,000 characters.
        format: ``structured`` or ``freeform``.
        seats: who sits where: ``{"pro": "openai:gpt-5", "judge": Scripted(...)}``; ``all`` covers every seat.
            Seats that are not named are taken as the environment and the configuration file say.
        evidence: texts laid before all seats; a path is read as UTF-8 text.
        language: the language of the debate; English where nothing says otherwise.
        budget_usd: ceiling in US dollars; reserved before every call, never passed.
        budget_tokens: ceiling in tokens, input and output together.
        max_calls: ceiling in calls, repeated ones included.
        seed: sent to providers that take one.
        base_url: the server's address for the seats that need one.
        config: a configuration file (TOML or YAML).
        set: further settings by the keys of the configuration file, such as ``{"limits.closing_words": 150}``.
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
    from disputatio.engine.opening import Proposal
    from disputatio.formats.registry import find_format

    chosen = find_format(format)
    named, participants = _split_seats(seats or {}, chosen)
    arguments = _arguments(
        {
            "seat": named,
            "base_url": base_url,
            "budget_usd": budget_usd,
            "budget_tokens": budget_tokens,
            "max_calls": max_calls,
            "language": language,
            "seed": seed,
            "config": None if config is None else str(config),
            "set": tuple(f"{key}={value}" for key, value in (set or {}).items()),
        }
    )
    settings = _settings(format, arguments, os.environ, Path.cwd(), chosen)
    proposal = Proposal(
        read_motion(motion, settings.language),
        chosen,
        settings,
        tuple(gather_evidence(evidence)),
        participants,
        prompts,
    )
    async with _Housed(store, settings.store, watcher, opener) as house:
        return read_debate(house.store, await start(proposal, house))


async def resume(
    debate_id: str,
    *,
    seats: Mapping[str, Scripted] | None = None,
    budget_usd: Decimal | str | None = None,
    budget_tokens: int | None = None,
    max_calls: int | None = None,
    prompts: Path | None = None,
    store: Store | str | None = None,
    watcher: Watcher | None = None,
    opener: OpenGateway | None = None,
) -> Debate:
    """Go on with an interrupted, truncated or degraded debate; nothing already paid is asked again.

    Args:
        debate_id: its id, or the beginning of it.
        seats: the scripted participants it was begun with.
        budget_usd: a new ceiling in US dollars, what is spent included.
        budget_tokens: a new ceiling in tokens.
        max_calls: a new ceiling in calls.
        prompts: the folder of prompt overrides it was begun with.
        store: where its record is.
        watcher: sees events and output as they come.
        opener: makes gateways.

    Raises:
        UnknownDebateError: the store has no such debate.
        VerificationError: its record was altered.
        ResumeMismatchError: it would not go on as the debate it was.
    """
    from disputatio.engine.debates import Resumption, find_debate
    from disputatio.engine.debates import resume as go_on

    configured = configured_store(_arguments({})).store if store is None else ""
    async with _Housed(store, configured, watcher, opener) as house:
        found = find_debate(house.store, debate_id)
        resumption = Resumption(
            settings=recorded_settings(house.store, found, _arguments({})),
            budget_usd=None if budget_usd is None else Decimal(budget_usd),
            budget_tokens=budget_tokens,
            budget_calls=max_calls,
            participants=seats or {},
            prompts=prompts,
        )
        await go_on(found, resumption, house)
        return read_debate(house.store, found)


def debate_sync(motion: str, **options: Any) -> Debate:
    """``debate`` for programs without an event loop; takes the same options."""
    return _run(debate(motion, **options))


def resume_sync(debate_id: str, **options: Any) -> Debate:
    """``resume`` for programs without an event loop; takes the same options."""
    return _run(resume(debate_id, **options))


def read_debate(store: Store, debate_id: str) -> Debate:
    """The debate as the store has it now; its chain is not checked (``verify`` does that)."""
    return Debate(debate_id, tuple(store.read(debate_id)), store.texts(debate_id))


def recorded_settings(store: Store, debate_id: str, arguments: CommandLine) -> Settings:
    """Today's settings for a recorded debate, with its own models in the seats that ``arguments`` do not name.

    They bring the keys. What seats the environment would give to a new debate does not matter here.

    Raises:
        VerificationError: the record was altered.
        ResumeMismatchError: an address is given that is not the recorded one.
    """
    from disputatio.engine.debates import read_verified
    from disputatio.engine.table import seating_from_json
    from disputatio.formats.registry import find_format
    from disputatio.record.events import DebateOpened

    opened = read_verified(store, debate_id)[0].event()
    if not isinstance(opened, DebateOpened):
        raise UnknownDebateError(f"The record of {debate_id} has no opening.", "`disputatio list` shows all.")
    seats: Mapping[str, Any] = opened.seats
    if not arguments.seat:
        _check_address(seats, arguments.base_url)
        arguments = replace(arguments, base_url=None)
    named = {entry.partition("=")[0].strip().lower() for entry in arguments.seat}
    recorded = tuple(
        f"{seat}={seating_from_json(row).address}"
        for seat, row in seats.items()
        if row["kind"] == "model" and not named & {"all", seat, seat.rpartition("_")[0]}
    )
    arguments = replace(arguments, seat=(*recorded, *arguments.seat))
    return _settings(opened.format, arguments, os.environ, Path.cwd(), find_format(opened.format))


def _check_address(seats: Mapping[str, Any], base_url: str | None) -> None:
    from disputatio.engine.table import seating_from_json

    for seat, row in seats.items():
        if base_url is not None and row["kind"] == "model" and row["base_url"] != base_url.rstrip("/"):
            raise ResumeMismatchError(
                f"The seat {seat} was taken by {seating_from_json(row).address}; "
                "its address cannot become another one on resume.",
                "Leave --base-url out, or start a new debate.",
            )


_LARGEST_EVIDENCE = 8 * MAX_EVIDENCE_CHARS
"""In bytes; no text within the limit is larger, however much is cleaned away."""


def gather_evidence(sources: Sequence[Evidence | str | Path]) -> list[Evidence]:
    """The evidence in ``sources``, read and cleaned; ids are the file names without their ending.

    Raises:
        InvalidInputError: a file cannot be read, or is no text.
    """
    gathered: list[Evidence] = []
    taken: dict[str, int] = {}
    for source in sources:
        if isinstance(source, Evidence):
            gathered.append(source)
            continue
        path = Path(source)
        try:
            # No more than could be used: some files, such as devices, never end.
            with path.open("rb") as file:
                raw = file.read(_LARGEST_EVIDENCE + 1)
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            raise InvalidInputError(
                f"The evidence {one_line(str(path), 200)} cannot be read: {reason}.", "Give the path of a text file."
            ) from None
        if len(raw) > _LARGEST_EVIDENCE:
            raise InvalidInputError(
                f"The evidence {one_line(path.name, 80)} is too long: {MAX_EVIDENCE_CHARS:,} characters are the most.",
                "Give the part that bears on the motion.",
            )
        stem = "".join(char if char.isalnum() or char in "-_" else "-" for char in path.stem)[:40] or "source"
        taken[stem] = taken.get(stem, 0) + 1
        source_id = stem if taken[stem] == 1 else f"{stem}-{taken[stem]}"
        gathered.append(read_evidence(source_id, path.name, raw))
    return gathered


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
        from disputatio.participants.gateways import open_gateway

        if self._given is None or isinstance(self._given, str):
            store = self._own = open_store(self._given or self._configured)
        else:
            store = self._given
        return House(
            store,
            watcher=self._watcher or Nobody(),
            watched=self._watcher is not None,
            opener=self._opener or open_gateway,
            checks_first=self._opener is None,
        )

    async def __aexit__(self, *_: object) -> None:
        if self._own is not None:
            await self._own.aclose()


def _split_seats(seats: Mapping[str, str | Scripted], form: Format) -> tuple[tuple[str, ...], dict[str, Scripted]]:
    named = tuple(f"{seat}={who}" for seat, who in seats.items() if isinstance(who, str))
    scripted = {seat: who for seat, who in seats.items() if not isinstance(who, str)}
    for_all = scripted.pop("all", None)
    if for_all is not None:
        scripted = {str(seat): scripted.get(seat, for_all) for seat in form.seats}
    return named, scripted


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
    from disputatio.engine.opening import format_options
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
