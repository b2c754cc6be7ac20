"""``disputatio import``: make records of transcripts of debates that took place elsewhere."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from disputatio._cli.options import StoreOption
from disputatio._cli.stores import store_address
from disputatio._cli.streams import print_json, print_lines

if TYPE_CHECKING:
    from disputatio.importing.imported_record import Imported
    from disputatio.importing.transcript import ImportedTranscript


def import_files(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Transcripts in Markdown or JSON.")],
    json_: Annotated[bool, typer.Option("--json", metavar="", help="Print what was imported as JSON.")] = False,
    store: StoreOption = None,
) -> None:
    """Import transcripts of debates that took place elsewhere. Each file has one debate.

    Each debate gets a record that can be verified and shown like any other, but not resumed. What the transcript does
    not say stays unknown. A file that was imported before is not imported again.
    """
    from disputatio.importing.transcript_file import read_transcript

    # Read all files first: if one is not a transcript, nothing is written.
    transcripts = [read_transcript(file) for file in files]
    imported = asyncio.run(_import(transcripts, store_address(store)))
    pairs = list(zip(transcripts, imported, strict=True))
    if json_:
        print_json([_row(*pair) for pair in pairs])
        return
    print_lines("\n".join(_line(*pair) for pair in pairs))


async def _import(transcripts: list[ImportedTranscript], url: str) -> list[Imported]:
    from disputatio.importing.imported_record import import_transcript
    from disputatio.record.sql import SqlStore

    async with aclosing(SqlStore(url)) as store:
        return [await import_transcript(transcript, store) for transcript in transcripts]


def _line(transcript: ImportedTranscript, imported: Imported) -> str:
    from disputatio.report.amounts import counted

    if imported.known:
        return f"{imported.id}  {transcript.file} was imported before"
    references = sum(len(claim.references) for claim in transcript.claims)
    numbered = sum(bool(claim.id) for claim in transcript.claims)
    parts = [counted(len(transcript.turns), "turn")]
    parts += [counted(numbered, "numbered claim"), counted(references, "reference")] if numbered else []
    parts += [counted(len(transcript.judgments), "judgment")] if transcript.judgments else []
    lost = f", {len(transcript.dangling)} to claims it does not have" if transcript.dangling else ""
    return f"{imported.id}  {transcript.file}: {', '.join(parts)}{lost}"


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
