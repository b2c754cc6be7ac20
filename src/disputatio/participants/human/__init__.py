"""People in seats: the form of a turn, the request to a person, and drafts.

A new surface implements `Surface`; see `disputatio._terminal.seat` for an example.
"""

from disputatio.participants.human.person import KIND, DraftBook, Participant, Person, PersonTurn
from disputatio.participants.human.surface import (
    Filled,
    Invite,
    Passed,
    ScriptedSurface,
    Situation,
    Surface,
    TurnRequest,
    words_in,
)
from disputatio.participants.human.turn_form import (
    ChoiceField,
    Field,
    GroupField,
    ListField,
    NumberField,
    TextField,
    TurnForm,
    UnknownShapeError,
    form_from_schema,
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
    "TurnForm",
    "TurnRequest",
    "UnknownShapeError",
    "form_from_schema",
    "words_in",
]
