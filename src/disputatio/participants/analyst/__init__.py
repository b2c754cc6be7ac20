"""Rule-based analysts: participants that argue a market from a table of published signals."""

from disputatio.participants.analyst.holding import market_by_rules

__all__ = ["market_by_rules"]
