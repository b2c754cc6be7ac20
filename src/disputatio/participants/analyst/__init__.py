"""Rule-based analysts: participants that argue a market from a table of published signals."""

from typing import TYPE_CHECKING

from disputatio.participants.analyst._front import __dir__ as __dir__
from disputatio.participants.analyst._front import __getattr__ as __getattr__

if TYPE_CHECKING:
    from disputatio.participants.analyst.holding import market_by_rules
    from disputatio.participants.analyst.seated import ANALYST, Analyst
    from disputatio.participants.analyst.textbook import (
        TEXTBOOK,
        Rule,
        Strength,
        Textbook,
        packaged_text,
        read_textbook,
    )

__all__ = [
    "ANALYST",
    "TEXTBOOK",
    "Analyst",
    "Rule",
    "Strength",
    "Textbook",
    "market_by_rules",
    "packaged_text",
    "read_textbook",
]
