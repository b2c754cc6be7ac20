"""Names who takes a decision that a panel escalates: a function, a person, a callback, or another debate."""

from __future__ import annotations

from collections.abc import Sequence

from disputatio.config import Arguments, Settings
from disputatio.config.process import settings_for
from disputatio.engine.escalating import CallbackTarget, DebateTarget, FunctionTarget, Recipient, Target, Told
from disputatio.engine.opening import Proposal
from disputatio.errors import InvalidInputError
from disputatio.evidence.sources import Source
from disputatio.formats.format import Format
from disputatio.formats.options import Panel
from disputatio.formats.registry import find_format
from disputatio.motion import Evidence, read_motion
from disputatio.report.reading import DebateReport
from disputatio.report.text import render_result_text


def recipient_configured(settings: Settings) -> str | None:
    """Who takes an escalated decision, as the settings of a panel say; None for other formats."""
    return settings.format.escalate if isinstance(settings.format, Panel) else None


def escalation_target(
    chosen: str | Told | None,
    form: Format,
    arguments: Arguments,
    evidence: Sequence[Evidence | Source],
    person: Told | None = None,
) -> Target | None:
    """Who takes an escalated decision; None for nobody.

    Args:
        chosen: a function, ``person``, the name of a format, or the address of a callback; None for nobody.
        form: the format of the first debate. Where nobody votes in it, what a file says of escalations is passed over.
        arguments: what the debate was asked for with; a debate that takes the decision is seated by the same.
        evidence: what lies before the seats of the first debate, and then of that one.
        person: asks a person, where there is somebody to ask.

    Raises:
        InvalidInputError: no format is called that, it has nobody who could judge, or there is nobody to ask; or a
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
    return CallbackTarget(chosen) if "://" in chosen else _debate_target(chosen, arguments, evidence)


_OF_THE_PANEL = ("seats", "limits", "rules", "debaters", "options", "rounds", "decision", "escalate")
"""What is said of the panel and its seats, and not of whoever takes its decision."""


def _debate_target(format_name: str, arguments: Arguments, evidence: Sequence[Evidence | Source]) -> DebateTarget:
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
