"""The prompts of a debate as its record lists them: each from where it differs from that of an earlier call.

A debate sends its history with every call. Listed whole, its record would grow with the square of its length, and so
would the memory of whoever reads it: a prompt is put together when it is asked for, and only the latest are kept so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TypeAlias

from disputatio.record.events import CallSent

PromptRows: TypeAlias = tuple[tuple[str, str], ...]
"""A prompt as the record has it: the role and the hash of the text of each segment."""
_LOOKED_AT = 12
"""Calls whose prompts a new one may begin like: more than there are seats and channels in any format."""
_KEPT_WHOLE = 2 * _LOOKED_AT


class _Listed:
    """One prompt: what it begins with, and the rows that are its own."""

    __slots__ = ("begins", "rows", "shared", "whole")

    def __init__(self, begins: _Listed | None, shared: int, rows: PromptRows) -> None:
        self.begins, self.shared, self.rows = begins, shared, rows
        self.whole: PromptRows | None = None if begins else rows


class Prompts(Mapping[str, PromptRows]):
    """Whole prompts, by call, in the order the calls left."""

    def __init__(self) -> None:
        self._listed: dict[str, _Listed] = {}
        self._put_together: deque[_Listed] = deque()

    def add(self, sent: CallSent) -> None:
        """Take in the prompt of a call that left."""
        if sent.begins:
            call, shared = sent.begins
            # Of an altered record, which the chain tells of, what is left is shown.
            self._listed[sent.call] = _Listed(self._listed.get(call), shared, sent.prompt)
        else:
            self._listed[sent.call] = _Listed(None, 0, sent.prompt)

    def __getitem__(self, call: str) -> PromptRows:
        return self._whole(self._listed[call])

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)

    def __repr__(self) -> str:
        return f"Prompts({len(self)})"

    def shortened(self, prompt: PromptRows) -> tuple[tuple[str, int] | tuple[()], PromptRows]:
        """``prompt`` as a record keeps it: which of the latest calls begins like it, how far, and what is left."""
        found, most, further = "", 0, prompt[:1]
        for call, listed in islice(reversed(self._listed.items()), _LOOKED_AT):
            whole = self._whole(listed)
            # Most of them share no more than the best so far.
            if whole[: most + 1] != further:
                continue
            shared = _in_common(whole, prompt, most)
            if shared > most:
                found, most, further = call, shared, prompt[: shared + 1]
                if most >= len(prompt) - 2:
                    break
        return ((found, most), prompt[most:]) if most > 1 else ((), prompt)

    def _whole(self, listed: _Listed) -> PromptRows:
        if listed.whole is not None:
            return listed.whole
        # Back to one that is whole, and forth again: a long debate has a long way.
        way = [listed]
        while way[-1].whole is None and way[-1].begins is not None:
            way.append(way[-1].begins)
        first = way.pop()
        rows = [*(first.whole or first.rows)]
        while way:
            each = way.pop()
            del rows[each.shared :]
            rows += each.rows
        listed.whole = tuple(rows)
        self._put_together.append(listed)
        if len(self._put_together) > _KEPT_WHOLE:
            self._put_together.popleft().whole = None
        return listed.whole


def _in_common(first: PromptRows, second: PromptRows, known: int) -> int:
    """With how many of the same rows two prompts begin, which are ``known`` to share so many."""
    low, high = known, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
