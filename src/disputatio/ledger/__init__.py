"""Money, tokens and calls: reserved before a call leaves, settled when it comes back, never past a ceiling."""

from typing import TYPE_CHECKING

from disputatio.ledger._front import __dir__ as __dir__
from disputatio.ledger._front import __getattr__ as __getattr__

if TYPE_CHECKING:
    from disputatio.ledger.budget import UNLIMITED, Budget
    from disputatio.ledger.ledger import Ledger, Refusal, Reservation, Settled
    from disputatio.ledger.prices import PriceBook, Priced
    from disputatio.ledger.tokens import TokenGauge

__all__ = ["UNLIMITED", "Budget", "Ledger", "PriceBook", "Priced", "Refusal", "Reservation", "Settled", "TokenGauge"]
