"""Reads the file of a transcript: Markdown or JSON, told apart by what is in it."""

from __future__ import annotations

from pathlib import Path

from disputatio.errors import InvalidInputError
from disputatio.importing.json_form import read_json_transcript
from disputatio.importing.markdown_form import read_markdown_transcript
from disputatio.importing.model import ImportedTranscript, fail, file_name
from disputatio.motion import MAX_MOTION_CHARS, one_line

MAX_TRANSCRIPT_BYTES = 8 * 1024 * 1024
"""The largest file that is read."""


def read_transcript(path: str | Path) -> ImportedTranscript:
    """The transcript in the file at ``path``.

    Raises:
        InvalidInputError: it cannot be read or is no transcript; one sentence names the file and the line or key.
    """
    file = file_name(str(path))
    try:
        # No more than could be used: some files, such as devices, never end.
        with Path(path).open("rb") as opened:
            raw = opened.read(MAX_TRANSCRIPT_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InvalidInputError(
            f"The transcript {one_line(str(path), 200)} cannot be read: {reason}.",
            "Give the path of a transcript in Markdown or JSON.",
        ) from None
    if len(raw) > MAX_TRANSCRIPT_BYTES:
        fail(file, "", f"it is larger than {MAX_TRANSCRIPT_BYTES:,} bytes", "Give one debate a file.")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        fail(file, "", "it is not UTF-8 text", "Save it as UTF-8.")
    if "\x00" in text:
        fail(file, "", "it looks like binary data, not text", "Give a transcript in Markdown or JSON.")
    is_json = file.lower().endswith(".json") or text.lstrip("\ufeff \t\r\n").startswith("{")
    transcript = read_json_transcript(file, text) if is_json else read_markdown_transcript(file, text)
    if len(transcript.motion) > MAX_MOTION_CHARS:
        fail(file, "", f"its motion is longer than {MAX_MOTION_CHARS:,} characters", "State it in a sentence or two.")
    return transcript
