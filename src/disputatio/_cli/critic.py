"""``disputatio check-critic``: whether the configured critic challenges, and whether it finds what is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.checking import leave_check, one_seat_settings, run_check
from disputatio._cli.experiments import ChecksStoreOption, JsonReportOption, LimitOption, show_report, whole_number
from disputatio._cli.given import command_line, format_called
from disputatio._cli.options import CEILINGS, MODELS, takes
from disputatio.errors import ExitCode

if TYPE_CHECKING:
    from disputatio.config import Arguments, Settings


@takes("prompts", *MODELS, *CEILINGS)
def check_critic(
    cases: Annotated[
        Path | None, typer.Option("--cases", metavar="FILE", help="Your own cases in place of the packaged ones.")
    ] = None,
    limit: LimitOption = None,
    prompts: Path | None = None,
    json_: JsonReportOption = False,
    store: ChecksStoreOption = None,
    **given: Any,
) -> None:
    """Give the critic propositions with known flaws: mean strength, flaws named, softening words.

    The exit code is 9 where the mean strength is not above 7, or not one flaw was named. Each case has a record: the
    same command again goes on where it was stopped, and asks nothing twice.
    """
    from disputatio.evaluation.critic_check import (
        load_packaged_critic_cases,
        make_critic_report,
        make_critic_trials,
        read_critic_cases,
        report_lines,
    )

    chosen = (load_packaged_critic_cases() if cases is None else read_critic_cases(cases))[
        : whole_number("--limit", limit, 1)
    ]
    settings = _critic_settings(command_line(**given, store=store))
    result = run_check(make_critic_trials(chosen, settings, prompts), settings, "propositions")
    report = make_critic_report(chosen, settings, result, prompts)
    show_report(report.as_json(), report_lines(report), as_json=json_)
    leave_check(result)
    if not report.good_enough:
        raise typer.Exit(int(ExitCode.ALERT))


def _critic_settings(arguments: Arguments) -> Settings:
    """The settings of the critic, its ceilings, and a store of its own for checks."""
    from disputatio.config.process import format_scope

    form = format_called("review")
    others = frozenset(str(seat) for seat in form.seats if seat != "critic")
    options = format_scope(form)
    options = replace(options, other_seats=options.other_seats | others)
    return one_seat_settings(arguments, form, "critic", options)
