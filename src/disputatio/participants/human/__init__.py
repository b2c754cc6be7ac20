"""People in seats: the form of a turn as fields, the request a surface puts to a person, and drafts of what is written.

A new surface implements `Surface`: see `disputatio._terminal.seat` for the terminal's.
"""

from disputatio.participants.human.drafts import DraftBook
from disputatio.participants.human.fields import (
    ChoiceField,
    Field,
    GroupField,
    ListField,
    NumberField,
    TextField,
    TurnSheet,
    UnknownShapeError,
    sheet_of,
)
from disputatio.participants.human.person import KIND, Participant, Person, PersonTurn
from disputatio.participants.human.request import (
    Filled,
    Invite,
    Passed,
    ScriptedSurface,
    Situation,
    Surface,
    TurnRequest,
    words_in,
)

__all__ = [
    "KIND",
    "ChoiceField",
    "DraftBook",
    "Field",
    "Filled",
    "GroupField",
    "Invite",
    "ListField",
    "NumberField",
    "Participant",
    "Passed",
    "Person",
    "PersonTurn",
    "ScriptedSurface",
    "Situation",
    "Surface",
    "TextField",
    "TurnRequest",
    "TurnSheet",
    "UnknownShapeError",
    "sheet_of",
    "words_in",
]
