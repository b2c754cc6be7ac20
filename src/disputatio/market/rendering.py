"""Values and slices as text: what a prompt shows of the market, and nothing besides.

Everything is told with its pointer and unit, and its dates; what is missing or failed says so and why. Texts that came
from files are put on one line and stripped of control characters.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby

from disputatio.market.knowledge import Datum, Failed, Missing
from disputatio.market.slices import Slice
from disputatio.motion import one_line

_LONGEST = 160


def written(datum: Datum) -> str:
    """A datum for people: ``4850 points``, ``-3.2 %``, ``1.3 x``, ``7/10``, ``above``, ``missing: ...``."""
    held = datum.held
    if isinstance(held, Missing):
        return f"missing: {one_line(held.reason, _LONGEST)}"
    if isinstance(held, Failed):
        return f"failed: {one_line(held.reason, _LONGEST)}"
    if datum.number is not None:
        return f"{datum.number:f} {datum.unit.value}"
    return one_line(str(held.value), _LONGEST)


def dated(datum: Datum) -> str:
    """When a value was observed and in which vintage it stands; empty where there is none."""
    if not datum.is_known:
        return ""
    return _dated(datum.observed_at, datum.vintage)


# A knowledge base has hundreds of values and a dozen dates.
@lru_cache(maxsize=256)
def _dated(observed_at: str, vintage: str) -> str:
    told = f", vintage {one_line(vintage, 20)}" if vintage else ""
    return f"{one_line(observed_at, 20)}{told}"


def render_slice(part: Slice) -> str:
    """The slice for a prompt: one line a pointer, grouped by what they are about, with units and dates."""
    invented = " The values are invented." if part.synthetic else ""
    when = "at one moment, which is not told" if part.blinded else f"on {part.day}"
    lines = [f"{one_line(part.subject_name, _LONGEST)} ({part.subject}) as known {when}.{invented}"]
    for owner, rows in groupby(part.data.items(), key=lambda row: _owner(row[0], part)):
        data = dict(rows)
        dates = {dated(datum) for datum in data.values()} - {""}
        one_date = dates.pop() if len(dates) == 1 else ""
        name = part.names.get(owner, "")
        head = " ".join(row for row in (f"{owner}", f"({one_line(name, _LONGEST)})" if name else "") if row)
        lines += ["", f"{head}{f', {one_date}' if one_date else ''}:"]
        for pointer, datum in data.items():
            own_date = "" if one_date or not dated(datum) else f" ({dated(datum)})"
            lines.append(f"{pointer} {'=' if datum.is_known else 'is'} {written(datum)}{own_date}")
    return "\n".join(lines)


def _owner(pointer: str, part: Slice) -> str:
    """What a pointer is about: ``indices.EXI``, or its section where that has no keys."""
    parts = pointer.split(".")
    owner = ".".join(parts[:2])
    return owner if owner in part.names else parts[0]
