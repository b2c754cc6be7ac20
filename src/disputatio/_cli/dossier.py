"""``disputatio dossier``: one document on a debate for whoever answers for the use of its result."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disputatio._cli.dossier_evidence import with_evidence
from disputatio._cli.given import kept_store
from disputatio._cli.kept import found_in, reading
from disputatio._cli.options import StoreOption, takes
from disputatio._cli.reading import write_or_print
from disputatio.errors import VerificationError

if TYPE_CHECKING:
    from disputatio.record.sql import SqlStore


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
