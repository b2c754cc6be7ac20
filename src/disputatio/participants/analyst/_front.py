"""The modules of this package and the names in each; see ``disputatio._rooms``."""

from __future__ import annotations

from typing import Final

from disputatio._rooms import front

_ROOMS: Final = {
    "holding": ("market_by_rules",),
    "seated": ("ANALYST", "Analyst"),
    "textbook": ("TEXTBOOK", "Rule", "Strength", "Textbook", "packaged_text", "read_textbook"),
}

__getattr__, __dir__ = front("disputatio.participants.analyst", _ROOMS)
