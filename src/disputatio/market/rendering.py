"""Values and slices as text: what a prompt shows of the market, and nothing besides.

Everything is told with its pointer and unit, and its dates; what is missing or failed says so and why. Texts that came
from files are put on one line and stripped of control characters.
"""

from __future__ import annotations

from decimal import Decimal
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
    if isinstance(held.value, Decimal):
        return f"{held.value:f} {datum.unit}"
    return one_line(str(held.value), _LONGEST)


def dated(datum: Datum) -> str:
    """When a value was observed and in which vintage it stands; empty where there is none."""
    if not datum.is_known:
        return ""
    return _dated(datum.observed_at, datum.vintage)


# A knowledge base has hundreds of values and a dozen dates.
@lru_cache(maxsize=256)
def _dated(observed_at: str, vintage: str) -> str:
    told = f", {'vintage ' if vintage[0].isdigit() else ''}{one_line(vintage, 30)}" if vintage else ""
    return f"{one_line(observed_at, 20)}{told}"


def render_slice(part: Slice) -> str:
    """The slice for a prompt: one line a pointer, grouped by what they are about, with units and dates."""
    invented = " The values are invented." if part.synthetic else ""
    when = "at one moment, which is not told" if part.blinded else f"on {part.day}"
    lines = [f"{one_line(part.subject_name, _LONGEST)} ({part.subject}) as known {when}.{invented}"]
    for owner, rows in groupby(part.data.items(), key=lambda row: _owner(row[0], part)):
        data = [(pointer, datum, dated(datum)) for pointer, datum in rows]
        dates = {date for _, _, date in data if date}
        one_date = dates.pop() if len(dates) == 1 else ""
        name = part.names.get(owner, "")
        head = f"{owner} ({one_line(name, _LONGEST)})" if name else owner
        lines += ["", f"{head}, {one_date}:" if one_date else f"{head}:"]
        for pointer, datum, date in data:
            own_date = f" ({date})" if date and not one_date else ""
            lines.append(f"{pointer} {'=' if datum.is_known else 'is'} {written(datum)}{own_date}")
    return "\n".join(lines)


def _owner(pointer: str, part: Slice) -> str:
    """What a pointer is about: ``indices.EXI``, or its section where that has no keys."""
    section, _, rest = pointer.partition(".")
    owner = f"{section}.{rest.partition('.')[0]}"
    return owner if owner in part.names else section
