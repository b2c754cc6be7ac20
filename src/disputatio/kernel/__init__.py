"""The pure heart: who must speak now, what a legal turn is, and when it is over."""

from disputatio.kernel.ask import (
    Abstention,
    Ask,
    Branches,
    Fact,
    Form,
    LenientForm,
    Limits,
    Part,
    Rulebook,
    Task,
    Turn,
    Violation,
    ask,
    declare,
    together,
)
from disputatio.kernel.driver import Driver, RulebookError, UnaskedAnswerError
from disputatio.kernel.floor import PUBLIC, Floor, ForbiddenPostError, Post, Posts
from disputatio.kernel.names import AskPath, Channel, Json, JsonObject, Phase, Seat

__all__ = [
    "PUBLIC",
    "Abstention",
    "Ask",
    "AskPath",
    "Branches",
    "Channel",
    "Driver",
    "Fact",
    "Floor",
    "ForbiddenPostError",
    "Form",
    "Json",
    "JsonObject",
    "LenientForm",
    "Limits",
    "Part",
    "Phase",
    "Post",
    "Posts",
    "Rulebook",
    "RulebookError",
    "Seat",
    "Task",
    "Turn",
    "UnaskedAnswerError",
    "Violation",
    "ask",
    "declare",
    "together",
]
