"""``disputatio debate`` and ``disputatio resume``."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.arguments import is_given, load_format, make_arguments, print_notes
from disputatio._cli.escalation import escalate, find_target
from disputatio._cli.options import (
    CEILINGS,
    EVERY_DEBATE,
    DryRunOption,
    JsonOption,
    PlainOption,
    takes,
)
from disputatio._cli.screen import Screen
from disputatio._cli.standard_input import read_given_motion, read_given_sources
from disputatio._cli.stores import configured_address, find_debate_id, open_store, refuse_memory_store
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

    Without keys and options it uses a small embedded model. `disputatio doctor` shows what a debate would use.
    """
    from disputatio.config.process import settings_for
    from disputatio.engine.market_setup import motion_and_knowledge, pick_knowledge
    from disputatio.engine.opening import Proposal
    from disputatio.motion import read_motion
    from disputatio.proposals.baselines import prepare_baselines
    from disputatio.proposals.remote import resolve_people, without_personalities

    form = load_format(given.pop("format") or "structured")
    _check_options(form, given)
    topic, evidence, by_round, human, knowledge, as_of, baseline, prompts = (given.pop(name) for name in _NO_KEYS)
    if motion is None and topic is None and not form.knows:
        raise InvalidInputError(
            "Missing argument 'MOTION'.",
            "Give a question or proposition, or --topic NAME. `disputatio debate --help` shows all options.",
        )
    picked = pick_knowledge(knowledge, as_of)
    motion, base = motion_and_knowledge(form, motion, topic, picked, evidence or ())
    arguments = make_arguments(form.name, **given)
    settings = settings_for(form, arguments)
    print_notes(settings)
    people = resolve_people(human or (), form, settings)
    settings = without_personalities(settings, people)
    sources, introduced = read_given_sources(motion, [Path(row) for row in evidence or ()], by_round or (), people)
    screen = Screen(as_json=json_, plain=plain)
    proposal = Proposal(
        read_motion(read_given_motion(motion), settings.language),
        form,
        settings,
        sources,
        seat_people(people, form.name, settings.store, screen),
        prompts=None if prompts is None else Path(prompts),
        introduced=introduced,
        knowledge=base,
    )
    if dry_run:
        _dry_run(proposal, as_json=json_)
        return
    refuse_memory_store(settings.store)
    run_baselines = prepare_baselines(baseline, proposal, arguments, tell)
    target = find_target(settings, arguments, proposal.evidence)
    run_and_exit(_debate(proposal, target, run_baselines, screen), screen)


_NO_KEYS = ("topic", "evidence", "evidence_round", "human", "knowledge", "as_of", "baseline", "prompts")
"""Options of a debate that are not keys of the configuration."""


def _check_options(form: Format, given: Mapping[str, Any]) -> None:
    """Refuse options of other formats.

    Raises:
        InvalidInputError: names the option and the formats that have it.
    """
    from disputatio._cli.fields import all_options
    from disputatio.formats.options import FormatOptions
    from disputatio.request.formats import formats_with, options_of, wrong_format

    allowed, known = {row.flat_name for row in options_of(form.name)}, all_options()
    if given["evidence_round"] and form.name != "review":
        raise wrong_format("--evidence-round", form.name, ("review",))
    for name, value in given.items():
        row = known.get(name)
        if row is not None and is_given(value) and issubclass(row.owner, FormatOptions) and name not in allowed:
            raise wrong_format(row.flag, form.name, formats_with(row.name))


@takes("prompts", *CEILINGS, "seat", "base_url", "config", "mcp", "escalate", "store")
def resume(
    debate_id: Annotated[str, typer.Argument(metavar="ID", help="The debate's id, or its beginning.")],
    format_name: Annotated[
        str | None, typer.Option("--format", metavar="FILE", help="The file with the debate's rules, if it was moved.")
    ] = None,
    prompts: Path | None = None,
    json_: JsonOption = False,
    plain: PlainOption = False,
    **given: Any,
) -> None:
    """Continue an interrupted, truncated or degraded debate. Nothing already paid is asked again.

    Ceilings given here replace the old ones. They include what is already spent.
    """
    screen = Screen(as_json=json_, plain=plain)
    run_and_exit(_resume(debate_id, make_arguments(**given), screen, prompts=prompts, format_name=format_name), screen)


async def _debate(
    proposal: Proposal, target: Target | None, run_baselines: RunBaselines | None, screen: Screen
) -> ExitCode:
    from disputatio.engine.runtime import start
    from disputatio.record.sql import SqlStore

    async with aclosing(SqlStore(proposal.settings.store)) as store:
        runtime = screen.runtime(store)
        async with screen.showing():
            debate_id = await start(proposal, runtime, on_opened=screen.opened)
        await escalate(debate_id, target, runtime, screen)
        if run_baselines is not None and not await run_baselines(debate_id, runtime):
            tell("No baseline was run: the debate has no result to compare with.")
        return screen.result(store, debate_id)


async def _resume(
    prefix: str, arguments: Arguments, screen: Screen, *, prompts: Path | None, format_name: str | None
) -> ExitCode:
    from disputatio.engine.recorded import recorded_settings
    from disputatio.engine.runtime import Resumption, is_resumable, recorded_opening
    from disputatio.engine.runtime import resume as continue_debate
    from disputatio.record.sql import SqlStore
    from disputatio.record.verified import load_verified

    async with aclosing(SqlStore(configured_address(arguments), create=False)) as store:
        debate_id = find_debate_id(store, prefix)
        read, runtime = load_verified(store, debate_id), screen.runtime(store)
        opened, goes_on = recorded_opening(debate_id, read.history), is_resumable(read.history)
        if not goes_on and arguments.value("escalate") is None:
            tell(f"The debate {debate_id} is over ({read.history.status.value}): no turn is left to ask.")
            return screen.result(store, debate_id)
        settings = recorded_settings(opened, arguments, format_name)
        target = find_target(settings, arguments)
        if goes_on:
            print_notes(settings)
            resumption = Resumption(
                settings,
                settings.asked_budget,
                seat_people(_seats_of_people(opened), settings.format_name, settings.store, screen),
                prompts,
                asked_seats=_asked_seats(arguments, settings),
                asked_format=format_name,
            )
            screen.opened(debate_id, store.read(debate_id))
            async with screen.showing():
                await continue_debate(debate_id, resumption, runtime, read=read)
        await escalate(debate_id, target, runtime, screen)
        return screen.result(store, debate_id)


def _asked_seats(arguments: Arguments, settings: Settings) -> tuple[str, ...]:
    """The seats for which the command line names a model."""
    named = {seat.strip().lower() for seat, _ in arguments.seated()}
    return tuple(settings.seats) if "all" in named else tuple(named)


def _dry_run(proposal: Proposal, *, as_json: bool) -> None:
    import asyncio

    from disputatio._cli.screen import print_preview, print_wrapped
    from disputatio.engine.estimate import make_estimate

    calibration = _calibrate(proposal)
    estimate = asyncio.run(make_estimate(proposal))
    expected = estimate.expected.tokens, estimate.expected.reasoning_tokens
    if as_json:
        print_json({**estimate.as_json(), "calibrated": calibration and calibration.as_json(*expected)})
        return
    print_preview(proposal, estimate)
    if calibration is not None:
        print_wrapped(["", calibration.sentence(*expected)], 2)


def _calibrate(proposal: Proposal) -> Calibration | None:
    """How far earlier estimates of such debates were off; None where the store has too few of them.

    Also learns from the store how much the models reason, so call it before making an estimate. Makes no store.
    """
    import asyncio

    from disputatio.engine.seat_assignments import PROCESS_ALLOWANCES, fallback_chain, learn_from_store
    from disputatio.metrics.calibration import calibrate

    address = proposal.settings.store
    if address.startswith("sqlite") and not Path(address.removeprefix("sqlite:///")).exists():
        return None
    models = {f"{row.provider}:{row.model}" for row in proposal.settings.seats.values()}
    with open_store(address) as store:
        seatings = [link for row in proposal.settings.seats.values() for link in fallback_chain(row)]
        asyncio.run(learn_from_store(PROCESS_ALLOWANCES, seatings, store))
        return calibrate(store, proposal.format.name, models, sourced=bool(proposal.evidence))


def run_and_exit(work: Coroutine[Any, Any, ExitCode], screen: Screen) -> None:
    """Run ``work`` and exit with its code. Ctrl-C and the signals that end a process stop it."""
    import asyncio

    from disputatio._cli.stopping import StopSignals

    with StopSignals() as signals:
        screen.on_lost_output = signals.stop
        try:
            code = signals.run(work)
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


def seat_people(people: Sequence[str], format_name: str, store: str, screen: Screen) -> dict[str, Participant]:
    """Put a person in each of these seats, who is asked at the terminal of ``screen``."""
    from disputatio.participants.human import Person

    if not people:
        return {}
    surface = screen.surface(format_name, frozenset(people), _draft_folder(store))
    return {seat: Person(surface) for seat in people}


def _draft_folder(store: str) -> Path:
    """The folder of drafts: next to a store that is a file, so that a copy has them; else in the user's data folder."""
    from platformdirs import user_data_path

    path = store.removeprefix("sqlite:///")
    if path != store and path:
        return Path(path).parent / "drafts"
    return user_data_path("disputatio", appauthor=False) / "drafts"
