"""The blind arm: the same debate on a knowledge base that tells neither names nor dates.

The knowledge base is made by `disputatio.market.blinding`, which knows nothing of labels; here is how the arm is read.
"""

from __future__ import annotations

from disputatio.market.blinding import blind as blinded

__all__ = ["blinded"]
