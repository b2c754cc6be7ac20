"""Transcripts of debates that were held elsewhere: read, and taken into a store as records that verify."""

from disputatio.transcripts.importing import Imported, take_in
from disputatio.transcripts.reading import MAX_TRANSCRIPT_BYTES, read_transcript
from disputatio.transcripts.transcript import Claim, Judgment, SpokenTurn, Transcript

__all__ = [
    "MAX_TRANSCRIPT_BYTES",
    "Claim",
    "Imported",
    "Judgment",
    "SpokenTurn",
    "Transcript",
    "read_transcript",
    "take_in",
]
