"""Choices drawn from a text by hashing: the same text leads to the same choices, everywhere and always.

Nothing here keeps state. A seed is a 64-bit number; ``mixed`` turns it into another one that looks
unrelated, so every place of an answer can draw for itself and one place never shifts its neighbours.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

SEED_BITS: Final = 64
_MASK: Final = (1 << SEED_BITS) - 1


def seed_of(text: str) -> int:
    """The seed that stands for ``text``: 0 to 2**64 - 1."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def mixed(seed: int) -> int:
    """Another seed, far from ``seed``: the finaliser of SplitMix64 (Steele, Lea and Flood, 2014)."""
    seed = (seed + 0x9E3779B97F4A7C15) & _MASK
    seed = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    seed = ((seed ^ (seed >> 27)) * 0x94D049BB133111EB) & _MASK
    return seed ^ (seed >> 31)


def fraction(seed: int) -> float:
    """A number in [0, 1) that stands for ``seed``."""
    return (seed >> 11) / (1 << 53)
