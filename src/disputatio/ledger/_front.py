"""The modules of this package and the names in each; see ``disputatio._rooms``."""

from __future__ import annotations

from typing import Final

from disputatio._rooms import front

_ROOMS: Final = {
    "budget": ("UNLIMITED", "Budget"),
    "ledger": ("Ledger", "Refusal", "Reservation", "Settled"),
    "prices": ("PriceBook", "Priced"),
    "tokens": ("TokenGauge",),
}

__getattr__, __dir__ = front("disputatio.ledger", _ROOMS)
