"""``disputatio import``: transcripts of debates that took place elsewhere become records like any other."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.given import kept_store
from disputatio._cli.options import StoreOption
from disputatio._cli.streams import print_json, print_lines

if TYPE_CHECKING:
    from disputatio.importing.imported_record import Imported
    from disputatio.importing.transcript import ImportedTranscript


def import_files(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Transcripts in Markdown or JSON.")],
    json_: Annotated[bool, typer.Option("--json", metavar="", help="Print what was imported as JSON.")] = False,
    store: StoreOption = None,
) -> None:
    """Import transcripts of debates that took place elsewhere, one debate a file.

    Each becomes a record that verifies and is shown like any other. What a transcript does not say stays unknown, and
    such a debate cannot be resumed. A file that was imported before is found again.
    """
    from disputatio.importing.transcript_file import read_transcript

    # All of them are read first: where one is no transcript, nothing is written.
    transcripts = [read_transcript(file) for file in files]
    found = asyncio.run(_import(transcripts, kept_store(store)))
    if json_:
        print_json([_row(*pair) for pair in zip(transcripts, found, strict=True)])
        return
    print_lines("\n".join(_line(*pair) for pair in zip(transcripts, found, strict=True)))


async def _import(transcripts: list[ImportedTranscript], url: str) -> list[Imported]:
    from disputatio.importing.imported_record import import_transcript
    from disputatio.record.sql import SqlStore

    opened = SqlStore(url)
    try:
        return [await import_transcript(transcript, opened) for transcript in transcripts]
    finally:
        await opened.aclose()


def _line(transcript: ImportedTranscript, imported: Imported) -> str:
    from disputatio.report.amounts import counted

    if imported.known:
        return f"{imported.id}  {transcript.file} was imported before"
    references = sum(len(claim.references) for claim in transcript.claims)
    numbered = sum(bool(claim.id) for claim in transcript.claims)
    told = [counted(len(transcript.turns), "turn")]
    told += [counted(numbered, "numbered claim"), counted(references, "reference")] if numbered else []
    told += [counted(len(transcript.judgments), "judgment")] if transcript.judgments else []
    lost = f", {len(transcript.dangling)} to claims it does not have" if transcript.dangling else ""
    return f"{imported.id}  {transcript.file}: {', '.join(told)}{lost}"


def _row(transcript: ImportedTranscript, imported: Imported) -> dict[str, Any]:
    return {
        "id": imported.id,
        "file": transcript.file,
        "imported_before": imported.known,
        "motion": transcript.motion,
        "turns": len(transcript.turns),
        "claims": sum(bool(claim.id) for claim in transcript.claims),
        "references": sum(len(claim.references) for claim in transcript.claims),
        "dangling_references": [{"in": claim or None, "to": name} for claim, name in transcript.dangling],
        "judgments": len(transcript.judgments),
    }
