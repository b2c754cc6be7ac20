"""``disputatio debate`` and ``disputatio resume``."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.baseline_options import BaselineOption
from disputatio._cli.escalation import escalate as hand_on
from disputatio._cli.escalation import named_target, target_of
from disputatio._cli.given import check_kept, command_line, format_called, say_notes, store_url
from disputatio._cli.human_options import HumanOption, people_named, people_recorded, seated
from disputatio._cli.market_options import AsOfOption, KnowledgeOption, knowledge_given, motion_of
from disputatio._cli.match_options import PersonalitiesOption, PersonalityOption, TopicOption, motion_or_topic
from disputatio._cli.options import (
    BaseUrlOption,
    BudgetTokensOption,
    BudgetUsdOption,
    ConfigOption,
    DebatersOption,
    DecisionOption,
    EscalateOption,
    JsonOption,
    MaxCallsOption,
    McpOption,
    OptionsOption,
    PlainOption,
    PromptsOption,
    RoundsOption,
    SeatOption,
    SetOption,
    StoreOption,
    ThresholdOption,
    ToolsOption,
)
from disputatio._cli.review_options import (
    EvidenceRoundOption,
    PositionOption,
    PresetOption,
    TaskTypeOption,
)
from disputatio._cli.screen import Screen
from disputatio._cli.standard_input import motion_given, sources_given
from disputatio._cli.stopping import Stopping
from disputatio._cli.streams import print_json, tell
from disputatio.failures import ExitCode, PersonLeftError

if TYPE_CHECKING:
    from disputatio.config import Arguments, Settings
    from disputatio.engine.escalating import Target
    from disputatio.engine.opening import Proposal
    from disputatio.metrics.calibration import Calibration
    from disputatio.proposals.baselines import RunBaselines

_WHO = "Who debates"
_WHAT = "What is debated"
_JUDGING = "How it is judged"
_LIMITS = "Ceilings"


def debate(
    motion: Annotated[
        str | None,
        typer.Argument(
            metavar="MOTION",
            help="The question or proposition; '-' reads it from standard input.",
            show_default=False,
        ),
    ] = None,
    format_name: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="NAME",
            help="structured, freeform, panel, review, competition, market, "
            "or a file of your own rules: ./my_debate.py:rules",
            rich_help_panel=_WHAT,
        ),
    ] = "structured",
    evidence: Annotated[
        list[Path] | None,
        typer.Option(
            "--evidence",
            "-e",
            metavar="PATH",
            help="A text, Markdown, HTML, PDF or JSON file that seats may cite; '-' is standard input; repeatable.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option("--language", metavar="L", help="The debate's language, such as German.", rich_help_panel=_WHAT),
    ] = None,
    prompts: PromptsOption = None,
    seat: SeatOption = None,
    human: HumanOption = None,
    base_url: BaseUrlOption = None,
    config: ConfigOption = None,
    set_: SetOption = None,
    seed: Annotated[
        str | None,
        typer.Option("--seed", metavar="N", help="Sent to models that take one.", rich_help_panel=_WHO),
    ] = None,
    budget_usd: BudgetUsdOption = None,
    budget_tokens: BudgetTokensOption = None,
    max_calls: MaxCallsOption = None,
    judges: Annotated[
        str | None,
        typer.Option("--judges", metavar="N", help="How many judges, up to 9.", rich_help_panel=_JUDGING),
    ] = None,
    both_orders: Annotated[
        bool,
        typer.Option(
            "--both-orders",
            metavar="",
            help="Every judge judges with either side first; a win must survive that.",
            rich_help_panel=_JUDGING,
        ),
    ] = False,
    anonymous: Annotated[
        bool,
        typer.Option("--anonymous", metavar="", help="The judges see Side A and Side B.", rich_help_panel=_JUDGING),
    ] = False,
    panel_method: Annotated[
        str | None,
        typer.Option(
            "--panel-method",
            metavar="M",
            help="How several judges become one: mean, median, majority, weighted or weighted-vote.",
            rich_help_panel=_JUDGING,
        ),
    ] = None,
    tools: ToolsOption = None,
    mcp: McpOption = None,
    retest: Annotated[
        bool,
        typer.Option(
            "--retest",
            metavar="",
            help="Every judge judges once more; the difference is told.",
            rich_help_panel=_JUDGING,
        ),
    ] = False,
    debaters: DebatersOption = None,
    options: OptionsOption = None,
    rounds: RoundsOption = None,
    decision: DecisionOption = None,
    threshold: ThresholdOption = None,
    escalate: EscalateOption = None,
    preset: PresetOption = None,
    task_type: TaskTypeOption = None,
    position: PositionOption = None,
    evidence_round: EvidenceRoundOption = None,
    topic: TopicOption = None,
    personality: PersonalityOption = None,
    personalities: PersonalitiesOption = None,
    knowledge: KnowledgeOption = None,
    as_of: AsOfOption = None,
    baseline: BaselineOption = None,
    stagger: Annotated[
        bool,
        typer.Option(
            "--stagger",
            metavar="",
            help="The first call of a phase leaves alone; what begins like it follows and costs less.",
            rich_help_panel=_LIMITS,
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", metavar="", help="Say what it would take, and call nobody.", rich_help_panel=_LIMITS),
    ] = False,
    json_: JsonOption = False,
    plain: PlainOption = False,
    store: StoreOption = None,
) -> None:
    """Hold a debate on MOTION and print what came of it.

    With no key and no option it runs on a small embedded model. `disputatio doctor` shows what would be used.
    """
    given = locals()
    from disputatio.config.process import settings_for
    from disputatio.engine.opening import Proposal
    from disputatio.motion import read_motion
    from disputatio.proposals.baselines import baselines_of

    form = format_called(format_name)
    base = knowledge_given(form, knowledge, as_of)
    motion = motion_or_topic(motion_of(motion, topic, base), topic)
    arguments = command_line(**{name.rstrip("_"): value for name, value in given.items() if name not in _READ_HERE})
    settings = settings_for(form, arguments)
    say_notes(settings)
    people, settings = people_named(human or (), form, settings)
    sources, introduced = sources_given(motion, evidence or (), evidence_round or (), people)
    screen = Screen(as_json=json_, plain=plain)
    proposal = Proposal(
        read_motion(motion_given(motion), settings.language),
        form,
        settings,
        sources,
        seated(people, form.name, settings.store, screen),
        prompts=prompts,
        introduced=introduced,
        knowledge=base,
    )
    if dry_run:
        _dry_run(proposal, as_json=json_)
        return
    check_kept(settings)
    beside = baselines_of(baseline, proposal, arguments, tell)
    run(_debate(proposal, target_of(proposal, arguments), beside, screen), screen)


_READ_HERE = {
    *("motion", "format_name", "evidence", "prompts", "human", "evidence_round", "topic", "knowledge", "as_of"),
    *("baseline", "dry_run", "json_", "plain"),
}
"""Parameters of ``debate`` that are no options of the configuration."""


def resume(
    debate_id: Annotated[str, typer.Argument(metavar="ID", help="The debate's id, or its beginning.")],
    budget_usd: BudgetUsdOption = None,
    budget_tokens: BudgetTokensOption = None,
    max_calls: MaxCallsOption = None,
    format_name: Annotated[str | None, typer.Option("--format", help="Where the file of its own rules is now.")] = None,
    prompts: PromptsOption = None,
    seat: SeatOption = None,
    base_url: BaseUrlOption = None,
    config: ConfigOption = None,
    mcp: McpOption = None,
    escalate: EscalateOption = None,
    json_: JsonOption = False,
    plain: PlainOption = False,
    store: StoreOption = None,
) -> None:
    """Go on with an interrupted, truncated or degraded debate. Nothing already paid is asked again.

    Ceilings given here replace the old ones and include what is already spent.
    """
    arguments = command_line(
        seat=tuple(seat or ()),
        base_url=base_url,
        config=config,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        max_calls=max_calls,
        store=store,
        mcp=tuple(mcp or ()),
        escalate=escalate,
    )
    screen = Screen(as_json=json_, plain=plain)
    run(_resume(debate_id, arguments, screen, prompts=prompts, format_name=format_name), screen)


async def _debate(proposal: Proposal, target: Target | None, beside: RunBaselines | None, screen: Screen) -> ExitCode:
    from disputatio.engine.debates import House, start
    from disputatio.observing.setting import observed
    from disputatio.record.sql import SqlStore

    store = SqlStore(proposal.settings.store)
    try:
        house = House(store, watcher=observed(screen.watcher), watched=screen.watches, opener=screen.opener)
        async with screen.showing():
            debate_id = await start(proposal, house, on_opened=screen.opened)
        await hand_on(debate_id, target, house, screen)
        if beside is not None and not await beside(debate_id, house):
            tell("No baseline was run: the debate has no result to compare with.")
        return screen.result(store, debate_id)
    finally:
        await store.aclose()


async def _resume(
    prefix: str, arguments: Arguments, screen: Screen, *, prompts: Path | None, format_name: str | None
) -> ExitCode:
    from disputatio._cli.kept import found_in
    from disputatio.engine.debates import House, Resumption, can_go_on, refuse_imported
    from disputatio.engine.debates import resume as go_on
    from disputatio.engine.verified import read_verified
    from disputatio.observing.setting import observed
    from disputatio.proposals.recorded import recorded_settings
    from disputatio.record.history import History
    from disputatio.record.sql import SqlStore

    store = SqlStore(store_url(arguments), create=False)
    try:
        debate_id = found_in(store, prefix)
        record = read_verified(store, debate_id)
        refuse_imported(record)
        history = History.of(sealed.event() for sealed in record)
        house = House(store, watcher=observed(screen.watcher), watched=screen.watches, opener=screen.opener)
        if not can_go_on(history) and arguments.value("escalate") is not None:
            target = named_target(recorded_settings(debate_id, record, arguments, format_name), arguments)
            await hand_on(debate_id, target, house, screen)
            return screen.result(store, debate_id)
        if not can_go_on(history):
            tell(f"The debate {debate_id} is over ({history.status.value}): nothing of it is left to ask.")
            return screen.result(store, debate_id)
        settings = recorded_settings(debate_id, record, arguments, format_name)
        say_notes(settings)
        resumption = Resumption(
            settings=settings,
            budget_usd=settings.budget.usd if arguments.value("budget", "usd") is not None else None,
            budget_tokens=settings.budget.tokens if arguments.value("budget", "tokens") is not None else None,
            budget_calls=settings.budget.calls if arguments.value("budget", "calls") is not None else None,
            participants=seated(people_recorded(record), settings.format_name, settings.store, screen),
            prompts=prompts,
            asked_seats=_asked_seats(arguments, settings),
            asked_format=format_name,
        )
        target = named_target(settings, arguments)
        screen.opened(debate_id, record)
        async with screen.showing():
            await go_on(debate_id, resumption, house)
        await hand_on(debate_id, target, house, screen)
        return screen.result(store, debate_id)
    finally:
        await store.aclose()


def _asked_seats(arguments: Arguments, settings: Settings) -> tuple[str, ...]:
    named = {seat.strip().lower() for seat, _ in arguments.seated()}
    return tuple(settings.seats) if "all" in named else tuple(named)


def _dry_run(proposal: Proposal, *, as_json: bool) -> None:
    from disputatio._cli.screen import print_preview, print_wrapped
    from disputatio.engine.estimate import estimate_of

    known = _calibrated(proposal)
    found = asyncio.run(estimate_of(proposal))
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
    from disputatio._cli.kept import reading
    from disputatio.engine.recalling import OF_THIS_PROCESS, look_up
    from disputatio.engine.table import chain_of
    from disputatio.metrics.calibration import calibration

    address = proposal.settings.store
    if address.startswith("sqlite") and not Path(address.removeprefix("sqlite:///")).exists():
        return None
    models = {f"{row.provider}:{row.model}" for row in proposal.settings.seats.values()}
    with reading(address) as store:
        seatings = [link for row in proposal.settings.seats.values() for link in chain_of(row)]
        asyncio.run(look_up(OF_THIS_PROCESS, seatings, store))
        return calibration(store, proposal.format.name, models, sourced=bool(proposal.evidence))


def run(work: Coroutine[Any, Any, ExitCode], screen: Screen) -> None:
    """Run ``work`` and leave with its exit code. Ctrl-C stops it, and so do the signals that end a process."""
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
