"""Money, tokens and time in words. An unknown amount is called unknown; it is never shown as zero."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal

from disputatio.motion import one_line


def dollars(amount: Decimal) -> str:
    """``0.00 USD``, ``0.0312 USD``, ``1.25 USD``: two decimals, four below ten cents, more below that."""
    if amount == 0:
        return "0.00 USD"
    for places in (2, 4, 6):
        if amount >= Decimal(10) ** (1 - places) or places == 6:
            return f"{amount.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)} USD"
    raise AssertionError


def counted(number: int, word: str, plural: str = "") -> str:
    """``1 call``, ``2 calls``, ``31,400 tokens``."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


def capital(text: str) -> str:
    """``text`` with a capital letter at its beginning; the rest stays as it is."""
    return text[:1].upper() + text[1:]


def duration(seconds: float) -> str:
    """``0.4 s``, ``12 s``, ``1 min 12 s``, ``2 h 05 min``."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def whole_seconds(seconds: int) -> str:
    """``0 s``, ``12 s``, ``1 min 12 s``."""
    return duration(float(seconds)) if seconds > 9 else f"{seconds} s"


def listed(words: list[str], last: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def spoken(word: str) -> str:
    """A word of the record as people read it: ``round-1`` is ``round 1``, ``straw_man`` is ``straw man``."""
    words = word.replace("_", " ").replace("-round-", " of round ")
    stem, dash, number = words.rpartition("-")
    return f"{stem} {number}" if dash and number.isdecimal() else words


_STEMS = {"tech": "technical", "fund": "fundamental", "senti": "sentiment"}
_JOINED = {"data_driven": "data-driven"}


def seat_name(seat: str) -> str:
    """``Pro 2`` of ``pro_2``, ``Technical bull`` of ``tech_bull``, ``Judge`` of ``judge``."""
    words = one_line(seat, 60).split("_")
    words[0] = _STEMS.get(words[0], words[0]) if len(words) > 1 else words[0]
    return capital(" ".join(words))


_DEBATER = re.compile(r"\b(PRO|CON)(?:_([1-9]))?\b")


def with_names(text: str) -> str:
    """A sentence of the record with its debaters and teams as people name them: ``Pro 2`` for ``PRO_2``."""
    return _DEBATER.sub(lambda found: seat_name("_".join(filter(None, found.groups())).lower()), text)


def style_name(style: str) -> str:
    """A style of arguing: ``data-driven`` of ``data_driven``."""
    return _JOINED.get(style, one_line(style, 60).replace("_", " "))
