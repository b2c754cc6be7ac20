"""``disputatio debate`` and ``disputatio resume``."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.escalation import escalate as hand_on
from disputatio._cli.escalation import named_target, target_of
from disputatio._cli.given import check_kept, command_line, format_called, is_given, say_notes, store_url
from disputatio._cli.options import (
    CEILINGS,
    EVERY_DEBATE,
    DryRunOption,
    JsonOption,
    PlainOption,
    takes,
)
from disputatio._cli.screen import Screen
from disputatio._cli.standard_input import motion_given, sources_given
from disputatio._cli.streams import print_json, tell
from disputatio.errors import ExitCode, InvalidInputError, PersonLeftError

if TYPE_CHECKING:
    from disputatio.config import Arguments, Settings
    from disputatio.engine.escalation import Target
    from disputatio.engine.opening import Proposal
    from disputatio.formats.format import Format
    from disputatio.metrics.calibration import Calibration
    from disputatio.participants.human import Participant
    from disputatio.proposals.baselines import RunBaselines
    from disputatio.record.events import DebateOpened


@takes(EVERY_DEBATE)
def debate(
    motion: Annotated[
        str | None,
        typer.Argument(
            metavar="MOTION",
            help="The question or proposition; '-' reads it from standard input.",
            show_default=False,
        ),
    ] = None,
    dry_run: DryRunOption = False,
    json_: JsonOption = False,
    plain: PlainOption = False,
    **given: Any,
) -> None:
    """Run a debate on MOTION and print its result.

    With no key and no option it runs on a small embedded model. `disputatio doctor` shows what would be used.
    """
    from disputatio.config.process import settings_for
    from disputatio.engine.market_setup import motion_and_knowledge, pick_knowledge
    from disputatio.engine.opening import Proposal
    from disputatio.motion import read_motion
    from disputatio.proposals.baselines import prepare_baselines
    from disputatio.proposals.remote import resolve_people, without_personalities

    form = format_called(given.pop("format") or "structured")
    _check_options(form, given)
    topic, evidence, by_round, human, knowledge, as_of, baseline, prompts = (given.pop(name) for name in _READ_HERE)
    if motion is None and topic is None and not form.knows:
        raise InvalidInputError(
            "Missing argument 'MOTION'.",
            "Give a question or proposition, or --topic NAME. `disputatio debate --help` shows what it takes.",
        )
    known = pick_knowledge(knowledge, as_of)
    motion, base = motion_and_knowledge(form, motion, topic, known, evidence or ())
    arguments = command_line(form.name, **given)
    settings = settings_for(form, arguments)
    say_notes(settings)
    people = resolve_people(human or (), form, settings)
    settings = without_personalities(settings, people)
    sources, introduced = sources_given(motion, [Path(row) for row in evidence or ()], by_round or (), people)
    screen = Screen(as_json=json_, plain=plain)
    proposal = Proposal(
        read_motion(motion_given(motion), settings.language),
        form,
        settings,
        sources,
        seated(people, form.name, settings.store, screen),
        prompts=None if prompts is None else Path(prompts),
        introduced=introduced,
        knowledge=base,
    )
    if dry_run:
        _dry_run(proposal, as_json=json_)
        return
    check_kept(settings)
    beside = prepare_baselines(baseline, proposal, arguments, tell)
    run(_debate(proposal, target_of(proposal, arguments), beside, screen), screen)


_READ_HERE = ("topic", "evidence", "evidence_round", "human", "knowledge", "as_of", "baseline", "prompts")
"""Options of a debate that are no keys of the configuration."""


def _check_options(form: Format, given: Mapping[str, Any]) -> None:
    """Refuse the options of other formats.

    Raises:
        InvalidInputError: names the option and the formats that have it.
    """
    from disputatio._cli.fields import all_options
    from disputatio.formats.options import FormatOptions
    from disputatio.request.formats import formats_with, options_of, wrong_format

    own, known = {row.flat_name for row in options_of(form.name)}, all_options()
    if given["evidence_round"] and form.name != "review":
        raise wrong_format("--evidence-round", form.name, ("review",))
    for name, value in given.items():
        row = known.get(name)
        if row is not None and is_given(value) and issubclass(row.owner, FormatOptions) and name not in own:
            raise wrong_format(row.flag, form.name, formats_with(row.name))


@takes("prompts", *CEILINGS, "seat", "base_url", "config", "mcp", "escalate", "store")
def resume(
    debate_id: Annotated[str, typer.Argument(metavar="ID", help="The debate's id, or its beginning.")],
    format_name: Annotated[
        str | None, typer.Option("--format", metavar="FILE", help="Where the file of its own rules is now.")
    ] = None,
    prompts: Path | None = None,
    json_: JsonOption = False,
    plain: PlainOption = False,
    **given: Any,
) -> None:
    """Continue an interrupted, truncated or degraded debate. Nothing already paid is asked again.

    Ceilings given here replace the old ones and include what is already spent.
    """
    screen = Screen(as_json=json_, plain=plain)
    run(_resume(debate_id, command_line(**given), screen, prompts=prompts, format_name=format_name), screen)


async def _debate(
    proposal: Proposal, target: Target | None, run_baselines: RunBaselines | None, screen: Screen
) -> ExitCode:
    from disputatio.engine.runtime import start
    from disputatio.record.sql import SqlStore

    async with aclosing(SqlStore(proposal.settings.store)) as store:
        runtime = screen.runtime(store)
        async with screen.showing():
            debate_id = await start(proposal, runtime, on_opened=screen.opened)
        await hand_on(debate_id, target, runtime, screen)
        if run_baselines is not None and not await run_baselines(debate_id, runtime):
            tell("No baseline was run: the debate has no result to compare with.")
        return screen.result(store, debate_id)


async def _resume(
    prefix: str, arguments: Arguments, screen: Screen, *, prompts: Path | None, format_name: str | None
) -> ExitCode:
    from disputatio._cli.kept import found_in
    from disputatio.engine.recorded import recorded_settings
    from disputatio.engine.runtime import Resumption, is_resumable, recorded_opening
    from disputatio.engine.runtime import resume as continue_debate
    from disputatio.record.sql import SqlStore
    from disputatio.record.verified import load_verified

    async with aclosing(SqlStore(store_url(arguments), create=False)) as store:
        debate_id = found_in(store, prefix)
        read, runtime = load_verified(store, debate_id), screen.runtime(store)
        opened, goes_on = recorded_opening(debate_id, read.history), is_resumable(read.history)
        if not goes_on and arguments.value("escalate") is None:
            tell(f"The debate {debate_id} is over ({read.history.status.value}): no turn is left to ask.")
            return screen.result(store, debate_id)
        settings = recorded_settings(opened, arguments, format_name)
        target = named_target(settings, arguments)
        if goes_on:
            say_notes(settings)
            resumption = Resumption(
                settings,
                settings.asked_budget,
                seated(_seats_of_people(opened), settings.format_name, settings.store, screen),
                prompts,
                asked_seats=_asked_seats(arguments, settings),
                asked_format=format_name,
            )
            screen.opened(debate_id, store.read(debate_id))
            async with screen.showing():
                await continue_debate(debate_id, resumption, runtime, read=read)
        await hand_on(debate_id, target, runtime, screen)
        return screen.result(store, debate_id)


def _asked_seats(arguments: Arguments, settings: Settings) -> tuple[str, ...]:
    named = {seat.strip().lower() for seat, _ in arguments.seated()}
    return tuple(settings.seats) if "all" in named else tuple(named)


def _dry_run(proposal: Proposal, *, as_json: bool) -> None:
    import asyncio

    from disputatio._cli.screen import print_preview, print_wrapped
    from disputatio.engine.estimate import make_estimate

    known = _calibrated(proposal)
    found = asyncio.run(make_estimate(proposal))
    seen = found.expected
    if as_json:
        print_json({**found.as_json(), "calibrated": known and known.as_json(seen.tokens, seen.reasoning_tokens)})
        return
    print_preview(proposal, found)
    if known is not None:
        print_wrapped(["", known.sentence(seen.tokens, seen.reasoning_tokens)], 2)


def _calibrated(proposal: Proposal) -> Calibration | None:
    """How far estimates of such debates were off, where the store has enough of them; a preview makes no store.

    How much the models reason is learned from it too, before anything is estimated.
    """
    import asyncio

    from disputatio._cli.kept import reading
    from disputatio.engine.seat_assignments import PROCESS_ALLOWANCES, fallback_chain, learn_from_store
    from disputatio.metrics.calibration import calibrate

    address = proposal.settings.store
    if address.startswith("sqlite") and not Path(address.removeprefix("sqlite:///")).exists():
        return None
    models = {f"{row.provider}:{row.model}" for row in proposal.settings.seats.values()}
    with reading(address) as store:
        seatings = [link for row in proposal.settings.seats.values() for link in fallback_chain(row)]
        asyncio.run(learn_from_store(PROCESS_ALLOWANCES, seatings, store))
        return calibrate(store, proposal.format.name, models, sourced=bool(proposal.evidence))


def run(work: Coroutine[Any, Any, ExitCode], screen: Screen) -> None:
    """Run ``work`` and leave with its exit code. Ctrl-C stops it, and so do the signals that end a process."""
    import asyncio

    from disputatio._cli.stopping import Stopping

    with Stopping() as stopping:
        screen.on_lost_output = stopping.stop
        try:
            code = stopping.run(work)
        except (asyncio.CancelledError, KeyboardInterrupt):
            screen.say_stopped()
            code = ExitCode.INTERRUPTED
        except PersonLeftError as left:
            tell("", left.cause)
            screen.say_stopped()
            code = ExitCode.INTERRUPTED
    if code is not ExitCode.COMPLETE:
        raise typer.Exit(int(code))


def _seats_of_people(opened: DebateOpened) -> tuple[str, ...]:
    """The seats that people took when the debate began."""
    from disputatio.participants.human import KIND

    rows = opened.seats.items()
    return tuple(str(seat) for seat, row in rows if isinstance(row, dict) and row.get("kind") == KIND)


def seated(people: Sequence[str], format_name: str, store: str, screen: Screen) -> dict[str, Participant]:
    """A person in each of these seats, asked at the terminal of ``screen``."""
    from disputatio.participants.human import Person

    if not people:
        return {}
    surface = screen.surface(format_name, frozenset(people), _drafts(store))
    return {seat: Person(surface) for seat in people}


def _drafts(store: str) -> Path:
    """Beside the store where that is a file, so that a copied store keeps them; else among the user's data."""
    from platformdirs import user_data_path

    path = store.removeprefix("sqlite:///")
    if path != store and path:
        return Path(path).parent / "drafts"
    return user_data_path("disputatio", appauthor=False) / "drafts"
