"""Seats, styles and settings in words that people use: ``Pro 2``, ``data-driven``, ``all four phases``."""

from __future__ import annotations

import re

from disputatio.motion import one_line

_STEMS = {"tech": "technical", "fund": "fundamental", "senti": "sentiment"}
_JOINED = {"data_driven": "data-driven"}


def seat_name(seat: str) -> str:
    """``Pro 2`` of ``pro_2``, ``Technical bull`` of ``tech_bull``, ``Judge`` of ``judge``."""
    words = one_line(seat, 60).split("_")
    words[0] = _STEMS.get(words[0], words[0]) if len(words) > 1 else words[0]
    name = " ".join(words)
    return name[:1].upper() + name[1:]


_DEBATER = re.compile(r"\b(PRO|CON)(?:_([1-9]))?\b")


def with_names(text: str) -> str:
    """A sentence of the record with its debaters and teams as people name them: ``Pro 2`` for ``PRO_2``."""
    return _DEBATER.sub(lambda found: seat_name("_".join(filter(None, found.groups())).lower()), text)


def style_name(style: str) -> str:
    """A style of arguing: ``data-driven`` of ``data_driven``."""
    return _JOINED.get(style, one_line(style, 60).replace("_", " "))
