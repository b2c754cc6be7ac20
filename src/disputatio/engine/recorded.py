"""What a recorded debate was run by: its opening and its format."""

from __future__ import annotations

from collections.abc import Sequence

from disputatio.engine.custom_format_files import format_recorded
from disputatio.engine.runtime import refuse_imported
from disputatio.errors import UnknownDebateError
from disputatio.formats.format import Format
from disputatio.record.chain import Sealed
from disputatio.record.events import DebateOpened


def recorded_opening(debate_id: str, record: Sequence[Sealed]) -> DebateOpened:
    """How a debate that was held here began.

    Raises:
        ResumeMismatchError: it was held elsewhere.
        UnknownDebateError: its record has no opening.
    """
    refuse_imported(record)
    opened = record[0].event()
    if not isinstance(opened, DebateOpened):
        raise UnknownDebateError(f"The record of {debate_id} has no opening.", "`disputatio list` shows all.")
    return opened


def recorded_form(debate_id: str, record: Sequence[Sealed], rules_file: str | None = None) -> Format:
    """The format of a recorded debate; ``rules_file`` says where the file of its own rules is now.

    Raises:
        ResumeMismatchError: it was held elsewhere, or the file is not what it was.
    """
    return format_recorded(recorded_opening(debate_id, record), rules_file)
