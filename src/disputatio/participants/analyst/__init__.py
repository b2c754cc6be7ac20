"""Rule-based analysts: participants that argue a market from a table of published signals."""

from disputatio.participants.analyst.holding import market_by_rules
from disputatio.participants.analyst.seated import ANALYST, Analyst
from disputatio.participants.analyst.textbook import TEXTBOOK, Rule, Strength, Textbook, packaged_text, read_textbook

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
