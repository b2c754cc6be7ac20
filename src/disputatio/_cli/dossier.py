"""``disputatio dossier``: one document on a debate for those who answer for its result.

The measured evidence in it was stored next to the store by ``eval --golden``.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disputatio._cli.given import kept_store
from disputatio._cli.kept import found_in, reading
from disputatio._cli.options import StoreOption, takes
from disputatio._cli.reading import write_or_print
from disputatio._cli.streams import tell
from disputatio.errors import InvalidInputError, VerificationError

if TYPE_CHECKING:
    from disputatio.kernel import JsonObject
    from disputatio.record.sql import SqlStore
    from disputatio.report.dossier import Performance, Surroundings

_SQLITE = "sqlite:///"


def beside(store: str, task_type: str) -> Path | None:
    """Where the report on the golden set of ``task_type`` is kept; None for a store that is no file."""
    return Path(store.removeprefix(_SQLITE)).parent / f"golden-{task_type}.json" if store.startswith(_SQLITE) else None


def keep_for_dossiers(store: str, task_type: str, body: JsonObject) -> None:
    """Keep the report of a finished evaluation on a golden set; a harness test never takes the place of evidence."""
    from disputatio.report.printing import printable_json

    place = beside(store, task_type)
    if place is None or body["stopped"]:
        return
    if body["harness_test"] and (kept := _kept(place)) is not None and not kept.harness:
        return
    try:
        place.write_text(printable_json(body) + "\n", "utf-8")
    except OSError as error:
        tell(f"The report could not be kept for dossiers: {(error.strerror or 'unknown cause').lower()}.")
        return
    tell(f"Kept for dossiers of the task type {task_type}: {place}.")


def with_evidence(around: Surroundings, given: Path | None, store: str) -> Surroundings:
    """What a dossier needs, with the evaluation that was given, or that lies beside the store.

    Raises:
        InvalidInputError: the given one cannot be read, or is on questions of another kind.
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
        place = beside(store, kind) if golden is not None else None
        found = _kept(place) if place is not None else None
    folder = "" if golden is None or golden.packaged else " --data FOLDER"
    command = "" if golden is None else f"disputatio eval --golden {kind}{folder} --compare review,single,vote"
    return replace(around, measured=found, measure=command)


def _kept(place: Path) -> Performance | None:
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
    """How a dossier can be written."""

    MD = "md"
    HTML = "html"


@takes("prompts")
def dossier(
    debate_id: Annotated[str, typer.Argument(metavar="ID", help="The debate's id, or its beginning.")],
    as_: Annotated[DossierForm, typer.Option("--as", help="Markdown, or HTML to print.")] = DossierForm.MD,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write it to a file.")] = None,
    evidence: Annotated[
        Path | None,
        typer.Option(
            "--evidence",
            metavar="FILE",
            help="An evaluation for section 11: the report.json of `eval`. Else the last one of `eval --golden`.",
        ),
    ] = None,
    prompts: Path | None = None,
    store: StoreOption = None,
) -> None:
    """Write the model risk dossier of a debate: question, data, outputs, models, prompts, costs, oversight, limits.

    A record that was altered gets a dossier that says so on its first page, and exit code 6.
    """

    with reading(kept_store(store)) as opened:
        found = found_in(opened, debate_id)
        text, altered = _written(opened, found, as_, prompts, evidence)
    write_or_print(text, out)
    if altered is not None:
        raise VerificationError(f"The dossier cannot be relied on. {altered.cause}", altered.next_step)


def _written(
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
    written = dossier_of(report, with_evidence(around, evidence, store.place))
    return (dossier_html if form is DossierForm.HTML else dossier_markdown)(written), altered
