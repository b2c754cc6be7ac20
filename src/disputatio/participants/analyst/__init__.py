"""Rule-based analysts: participants that argue a market from a table of published signals."""
