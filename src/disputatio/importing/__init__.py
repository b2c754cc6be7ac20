"""Transcripts of debates that were held elsewhere: read, and taken into a store as records that verify."""

from disputatio.importing.model import Claim, ImportedTranscript, Judgment, SpokenTurn
from disputatio.importing.reading import MAX_TRANSCRIPT_BYTES, read_transcript
from disputatio.importing.record import Imported, take_in

__all__ = [
    "MAX_TRANSCRIPT_BYTES",
    "Claim",
    "Imported",
    "ImportedTranscript",
    "Judgment",
    "SpokenTurn",
    "read_transcript",
    "take_in",
]
