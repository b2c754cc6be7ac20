"""Options: each is declared once, and every surface derives it from the declaration."""

from disputatio.options.field import (
    About,
    Amount,
    Flag,
    Many,
    Number,
    Option,
    Options,
    Share,
    Whole,
    option,
    options_in,
)
from disputatio.options.reading import Given, Reader, bad_value

__all__ = [
    "About",
    "Amount",
    "Flag",
    "Given",
    "Many",
    "Number",
    "Option",
    "Options",
    "Reader",
    "Share",
    "Whole",
    "bad_value",
    "option",
    "options_in",
]
