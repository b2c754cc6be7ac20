"""Mends faulty JSON, with a bound on the work.

The mender rereads what it could not make sense of, again and again: a text of open braces and digits keeps it busy
for minutes, in which no other debate of the process moves. So its calls are counted, and past a bound the answer is
given up. Calls are counted rather than seconds, so that the same answer has the same fate when it is replayed.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

LONGEST = 50_000
"""Characters; the largest answer that a form allows has about 30,000."""
MOST_CALLS = 1_500_000
"""A second or two of work. A large answer whose every quotation mark is wrong takes a third of this."""


class _TooMuchWorkError(Exception):
    """The bound was passed. Never leaves this module."""


def mended(text: str) -> object:
    """The value that faulty JSON stands for; an empty text where none was found.

    Raises:
        ValueError: mending it would take too long.
    """
    import json_repair

    if len(text) > LONGEST:
        raise ValueError(f"the answer is no valid JSON and too long to mend: {len(text):,} characters")
    calls = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}
        if calls > MOST_CALLS:
            raise _TooMuchWorkError

    # A profiler that is at work elsewhere in the process gets its turn back afterwards.
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        value: object = json_repair.loads(text, skip_json_loads=True)
    except _TooMuchWorkError:
        raise ValueError("the answer is no valid JSON and could not be mended") from None
    except (RecursionError, ValueError):
        return ""
    finally:
        sys.setprofile(before)
    return value
