"""The pure heart: who must speak now, what a legal turn is, and when it is over."""

from disputatio.kernel.ask import (
    Abstention,
    Ask,
    Branches,
    Fact,
    LenientTurnSpec,
    Limits,
    Part,
    Rulebook,
    Task,
    Turn,
    TurnSpec,
    Violation,
    ask,
    declare,
    together,
)
from disputatio.kernel.driver import Driver, RulebookError, UnaskedAnswerError
from disputatio.kernel.names import AskPath, Channel, Json, JsonObject, Phase, Seat
from disputatio.kernel.transcript import PUBLIC, ForbiddenMessageError, Message, Messages, Transcript

__all__ = [
    "PUBLIC",
    "Abstention",
    "Ask",
    "AskPath",
    "Branches",
    "Channel",
    "Driver",
    "Fact",
    "ForbiddenMessageError",
    "Json",
    "JsonObject",
    "LenientTurnSpec",
    "Limits",
    "Message",
    "Messages",
    "Part",
    "Phase",
    "Rulebook",
    "RulebookError",
    "Seat",
    "Task",
    "Transcript",
    "Turn",
    "TurnSpec",
    "UnaskedAnswerError",
    "Violation",
    "ask",
    "declare",
    "together",
]
