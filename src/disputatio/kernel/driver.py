"""Runs a rulebook without performing anything.

A driver shows the open asks, takes one answer at a time in any order, and says when the debate is over.
Feeding recorded answers to a fresh driver puts it where it stood: that is all resuming is.

Paths: an ask's path is its phase, the names of the branches around it and its seat, with ``#2`` and so
on where the same strand asks the same thing again. Strands count for themselves, so a path never depends
on which branch was faster. Two strands that would make the same path are a bug of the rulebook; naming
the branches cures it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from disputatio.kernel.ask import Abstention, Ask, Branches, Fact, Rulebook, Turn
from disputatio.kernel.names import AskPath


class RulebookError(Exception):
    """The rulebook itself is wrong: it yielded something else than a request, or made a path twice."""


class UnaskedAnswerError(Exception):
    """An answer came to a path that is not open. Nothing was changed."""


@dataclass(slots=True, eq=False)
class _Strand:
    """One running generator: the rulebook itself, or one branch of it."""

    rules: Rulebook[Any]
    names: tuple[str, ...]
    finished: Callable[[Any], None]
    counts: dict[str, int] = field(default_factory=dict)


class Driver:
    """A debate in progress, as a value that only moves when it is given an answer.

    Args:
        rules: a fresh rulebook, not yet started.

    Raises:
        RulebookError: the rulebook yielded something that is no request, or made the same path twice.
    """

    def __init__(self, rules: Rulebook[Any]) -> None:
        self._open: dict[AskPath, tuple[Ask, _Strand]] = {}
        self._used: set[AskPath] = set()
        self._facts: list[Fact] = []
        self._finished = False
        self._outcome: Any = None
        self._advance(_Strand(rules, (), self._finish), None)

    @property
    def open_asks(self) -> dict[AskPath, Ask]:
        """The asks that wait for an answer, in the order the rules opened them."""
        return {path: ask for path, (ask, _) in self._open.items()}

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What the rules have established so far."""
        return tuple(self._facts)

    @property
    def finished(self) -> bool:
        """Whether the rules have come to their end."""
        return self._finished

    @property
    def outcome(self) -> Any:
        """What the rulebook returned; None until ``finished``."""
        return self._outcome

    def answer(self, path: AskPath, answer: Turn | Abstention) -> None:
        """Give the answer to one open ask and move the rules on as far as they go.

        Raises:
            UnaskedAnswerError: no ask is open at ``path``; the driver is unchanged.
        """
        if path not in self._open:
            raise UnaskedAnswerError(f"no ask is open at {path!r}; open are {sorted(self._open)}")
        _, strand = self._open.pop(path)
        self._advance(strand, answer)

    def _finish(self, outcome: Any) -> None:
        self._finished = True
        self._outcome = outcome

    def _advance(self, strand: _Strand, answer: Any) -> None:
        """Run one strand until it waits for an answer or for its branches, or ends."""
        while True:
            try:
                request: object = strand.rules.send(answer)
            except StopIteration as end:
                strand.finished(end.value)
                return
            answer = None
            if isinstance(request, Fact):
                self._facts.append(request)
            elif isinstance(request, Ask):
                path = self._path(strand, request)
                self._open[path] = (request, strand)
                return
            elif isinstance(request, Branches):
                if request.branches:
                    self._split(strand, request)
                    return
                answer = ()
            else:
                kind = type(request).__name__
                raise RulebookError(f"a rulebook yields ask, together or declare, not {kind}")

    def _path(self, strand: _Strand, request: Ask) -> AskPath:
        stem = "/".join((request.phase, *strand.names, request.seat))
        count = strand.counts[stem] = strand.counts.get(stem, 0) + 1
        path = AskPath(stem if count == 1 else f"{stem}#{count}")
        if path in self._used:
            raise RulebookError(f"two asks have the path {path!r}; name the branches that run together")
        self._used.add(path)
        return path

    def _split(self, parent: _Strand, request: Branches) -> None:
        """Start every branch; when the last one ends, hand the results to the parent in their order."""
        children: list[_Strand] = []
        results: dict[int, Any] = {}

        def branch_end(place: int) -> Callable[[Any], None]:
            def finished(result: Any) -> None:
                results[place] = result
                if len(results) == len(request.branches):
                    for child in children:
                        for stem, count in child.counts.items():
                            parent.counts[stem] = max(count, parent.counts.get(stem, 0))
                    self._advance(parent, tuple(results[place] for place in range(len(results))))

            return finished

        for place, (name, rules) in enumerate(request.branches):
            if not isinstance(rules, Generator):
                raise RulebookError(f"together takes rulebooks, not {type(rules).__name__}")
            names = (*parent.names, name) if name else parent.names
            child = _Strand(rules, names, branch_end(place), dict(parent.counts))
            children.append(child)
            self._advance(child, None)
