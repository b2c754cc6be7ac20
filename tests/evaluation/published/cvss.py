"""Base scores of CVSS 3.0 and 3.1, from the equations of the FIRST specifications (section 8.1 and 7.1).

Only as much as comparing recorded answers needs; in decimals that are exact wherever the specification is.
"""

from __future__ import annotations

import math
from fractions import Fraction

WEIGHTS = {
    "AV": {"N": "0.85", "A": "0.62", "L": "0.55", "P": "0.2"},
    "AC": {"L": "0.77", "H": "0.44"},
    "UI": {"N": "0.85", "R": "0.62"},
    "C": {"H": "0.56", "L": "0.22", "N": "0"},
    "I": {"H": "0.56", "L": "0.22", "N": "0"},
    "A": {"H": "0.56", "L": "0.22", "N": "0"},
}
PRIVILEGES = {"U": {"N": "0.85", "L": "0.62", "H": "0.27"}, "C": {"N": "0.85", "L": "0.68", "H": "0.5"}}


def base_score(vector: str) -> Fraction:
    """The base score, 0 to 10 in tenths, of a vector such as CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H."""
    _, *parts = vector.strip("/").split("/")
    given = dict(part.split(":") for part in parts)
    weight = {key: Fraction(values[given[key]]) for key, values in WEIGHTS.items()}
    changed = given["S"] == "C"
    privileges = Fraction(PRIVILEGES[given["S"]][given["PR"]])
    base = 1 - (1 - weight["C"]) * (1 - weight["I"]) * (1 - weight["A"])
    if changed:
        impact = Fraction("7.52") * (base - Fraction("0.029")) - Fraction("3.25") * (base - Fraction("0.02")) ** 15
    else:
        impact = Fraction("6.42") * base
    if impact <= 0:
        return Fraction(0)
    ease = Fraction("8.22") * weight["AV"] * weight["AC"] * privileges * weight["UI"]
    total = (impact + ease) * (Fraction("1.08") if changed else 1)
    return Fraction(math.ceil(min(total, Fraction(10)) * 10), 10)
