"""Stretches in which nothing becomes garbage in circles, such as the reading of a long record.

Thousands of small objects are made there at once and all of them are kept. Python would look through them again and
again for circles, which takes a quarter of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """No search for circles while this lasts; also usable as a decorator."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
