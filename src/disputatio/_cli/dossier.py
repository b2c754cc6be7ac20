"""``disputatio dossier``: one document on a debate for those who are responsible for its result.

Its measured evidence comes from ``eval --golden``, which stores a report next to the store of debates.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disputatio._cli.options import DebateArgument, OutFileOption, StoreOption, takes
from disputatio._cli.records import write_or_print
from disputatio._cli.stores import find_debate_id, open_store, store_address
from disputatio._cli.streams import tell
from disputatio.errors import InvalidInputError, VerificationError

if TYPE_CHECKING:
    from disputatio.kernel import JsonObject
    from disputatio.record.sql import SqlStore
    from disputatio.report.dossier import Performance, Surroundings

_SQLITE = "sqlite:///"


def golden_report_path(store: str, task_type: str) -> Path | None:
    """The path of the report on the golden set of ``task_type``; None if the store is not a file."""
    return Path(store.removeprefix(_SQLITE)).parent / f"golden-{task_type}.json" if store.startswith(_SQLITE) else None


def store_golden_report(store: str, task_type: str, body: JsonObject) -> None:
    """Store the report of a finished evaluation on a golden set. A harness test never replaces real evidence."""
    from disputatio.report.printing import printable_json

    place = golden_report_path(store, task_type)
    if place is None or body["stopped"]:
        return
    if body["harness_test"] and (stored := _read_if_there(place)) is not None and not stored.harness:
        return
    try:
        place.write_text(printable_json(body) + "\n", "utf-8")
    except OSError as error:
        tell(f"The report could not be stored for dossiers: {(error.strerror or 'unknown cause').lower()}.")
        return
    tell(f"Stored for dossiers of the task type {task_type}: {place}.")


def add_evidence(around: Surroundings, given: Path | None, store: str) -> Surroundings:
    """Add the given evaluation, or the one that is stored next to the store.

    Raises:
        InvalidInputError: the given evaluation cannot be read, or is about questions of another kind.
    """
    from disputatio.evaluation.questions.golden import GOLDEN

    kind = around.task_type
    golden = GOLDEN.get(kind)
    if given is not None:
        found: Performance | None = _read(given)
        if found is not None and found.kind != kind:
            raise InvalidInputError(
                f"{given} is about questions of the kind {found.kind[:40]}, and this debate is of the kind {kind}.",
                "Give an evaluation on questions of that kind.",
            )
    else:
        place = golden_report_path(store, kind) if golden is not None else None
        found = _read_if_there(place) if place is not None else None
    folder = "" if golden is None or golden.packaged else " --data FOLDER"
    command = "" if golden is None else f"disputatio eval --golden {kind}{folder} --compare review,single,vote"
    return replace(around, measured=found, measure=command)


def _read_if_there(place: Path) -> Performance | None:
    return _read(place) if place.is_file() else None


def _read(path: Path) -> Performance:
    from disputatio.report.dossier import read_performance

    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        raise InvalidInputError(f"{path} is not UTF-8 text.", "Give the report.json of an evaluation.") from None
    except OSError as error:
        reason = (error.strerror or "unknown cause").lower()
        raise InvalidInputError(f"{path} cannot be read: {reason}.", "Give the report.json of an evaluation.") from None
    return read_performance(text, str(path))


class DossierForm(StrEnum):
    """The format of the document."""

    MD = "md"
    HTML = "html"


@takes("prompts")
def dossier(
    debate_id: DebateArgument,
    as_: Annotated[DossierForm, typer.Option("--as", help="Markdown, or HTML for printing.")] = DossierForm.MD,
    out: OutFileOption = None,
    evidence: Annotated[
        Path | None,
        typer.Option(
            "--evidence",
            metavar="FILE",
            help="The report.json of an evaluation, for section 11. The default is the last `eval --golden`.",
        ),
    ] = None,
    prompts: Path | None = None,
    store: StoreOption = None,
) -> None:
    """Write the model risk dossier of a debate: question, data, outputs, models, prompts, costs, oversight, limits.

    If the record was altered, the first page says so and the command ends with exit code 6.
    """
    with open_store(store_address(store)) as opened:
        found = find_debate_id(opened, debate_id)
        text, altered = _write(opened, found, as_, prompts, evidence)
    write_or_print(text, out)
    if altered is not None:
        raise VerificationError(f"Do not rely on this dossier. {altered.cause}", altered.next_step)


def _write(
    store: SqlStore, found: str, form: DossierForm, prompts: Path | None, evidence: Path | None
) -> tuple[str, VerificationError | None]:
    from disputatio.debates import read_debate
    from disputatio.metrics.dossier_context import gather_surroundings
    from disputatio.record.verified import read_verified
    from disputatio.report.dossier import dossier_html, dossier_markdown, dossier_of

    altered: VerificationError | None = None
    try:
        read_verified(store, found)
    except VerificationError as error:
        altered = error
    report = read_debate(store, found).for_audience().report()
    around = gather_surroundings(store, report, store.place, None if altered is None else altered.cause, prompts)
    dossier = dossier_of(report, add_evidence(around, evidence, store.place))
    return (dossier_html if form is DossierForm.HTML else dossier_markdown)(dossier), altered
