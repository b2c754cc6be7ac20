"""Runs a rulebook without I/O.

A driver lists the open asks, takes answers in any order, and says when the debate is over. To resume a
debate, feed the recorded answers to a fresh driver.

The path of an ask is its phase, the names of the enclosing branches and its seat. A repeated path in one strand gets
``#2`` and so on. Each strand counts for itself, so a path never depends on which branch was faster. Two strands that
make the same path are a bug of the rulebook; name the branches to fix it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import GEN_CREATED, getgeneratorstate
from types import GeneratorType
from typing import Any

from disputatio.kernel.ask import Abstention, Ask, Branches, Fact, Rulebook, Turn
from disputatio.kernel.transcript import AskPath


class RulebookError(Exception):
    """The rulebook is wrong: it yielded something that is no request, made a path twice, or had already started."""


class UnaskedAnswerError(Exception):
    """An answer came for a path that is not open. The driver is unchanged."""


@dataclass(slots=True, eq=False)
class _Strand:
    """One running generator: the rulebook or one of its branches."""

    rules: Rulebook[Any]
    names: tuple[str, ...]
    finished: Callable[[Any], None]
    counts: dict[str, int] = field(default_factory=dict)


class Driver:
    """A debate in progress. It only moves when it gets an answer.

    Args:
        rules: a rulebook that has not started.

    Raises:
        RulebookError: the rulebook yielded something that is no request, or made the same path twice.
    """

    def __init__(self, rules: Rulebook[Any]) -> None:
        _check_fresh(rules)
        self._open: dict[AskPath, tuple[Ask, _Strand]] = {}
        self._ready: list[tuple[_Strand, Any]] = []
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
        """The facts declared so far."""
        return tuple(self._facts)

    @property
    def finished(self) -> bool:
        """Whether the rulebook has returned."""
        return self._finished

    @property
    def outcome(self) -> Any:
        """What the rulebook returned; None until ``finished``."""
        return self._outcome

    def answer(self, path: AskPath, answer: Turn | Abstention) -> None:
        """Answer one open ask and run the rules as far as they go.

        Raises:
            UnaskedAnswerError: no ask is open at ``path``; the driver is unchanged.
        """
        if path not in self._open:
            raise UnaskedAnswerError(f"no ask is open at {path!r}; open are {sorted(self._open)}")
        _, strand = self._open.pop(path)
        self._advance(strand, answer)

    def answer_all(self, answer_for: Callable[[AskPath, Ask], Turn | Abstention | None]) -> None:
        """Answer every open ask, and those that open then, with what ``answer_for`` returns.

        It is called once for each ask. None leaves the ask open.
        """
        tried: set[AskPath] = set()
        while untried := {path: ask for path, ask in self.open_asks.items() if path not in tried}:
            tried.update(untried)
            for path, ask in untried.items():
                answer = answer_for(path, ask)
                if answer is not None:
                    self.answer(path, answer)

    def _finish(self, outcome: Any) -> None:
        self._finished = True
        self._outcome = outcome

    def _advance(self, strand: _Strand, answer: Any) -> None:
        """Run a strand, and every strand it unblocks, until each waits or has ended.

        Runnable strands wait on a stack instead of calling each other: a loop of branches that ask nothing would
        otherwise nest as deep as the loop is long.
        """
        self._run(strand, answer)
        while self._ready:
            self._run(*self._ready.pop())

    def _run(self, strand: _Strand, answer: Any) -> None:
        """Run one strand until it waits for an answer or for its branches, or ends."""
        while True:
            try:
                request: object = strand.rules.send(answer)
            except StopIteration as end:
                strand.finished(end.value)
                return
            answer = None
            if isinstance(request, Ask):
                self._open[self._path(strand, request)] = (request, strand)
                return
            if isinstance(request, Fact):
                self._facts.append(request)
            elif isinstance(request, Branches):
                if request.branches:
                    self._split(strand, request)
                    return
                answer = ()
            else:
                kind = type(request).__name__
                raise RulebookError(f"a rulebook yields ask, together or declare, not {kind}")

    def _path(self, strand: _Strand, request: Ask) -> AskPath:
        names = strand.names
        stem = "/".join((request.phase, *names, request.seat)) if names else f"{request.phase}/{request.seat}"
        count = strand.counts[stem] = strand.counts.get(stem, 0) + 1
        path = AskPath(stem if count == 1 else f"{stem}#{count}")
        if path in self._used:
            raise RulebookError(f"two asks have the path {path!r}; name the branches that run together")
        self._used.add(path)
        return path

    def _split(self, parent: _Strand, request: Branches) -> None:
        """Start every branch; when the last one ends, give the results to the parent in order."""
        children: list[_Strand] = []
        results: dict[int, Any] = {}

        def branch_end(place: int) -> Callable[[Any], None]:
            def finished(result: Any) -> None:
                results[place] = result
                if len(results) == len(request.branches):
                    for child in children:
                        for stem, count in child.counts.items():
                            parent.counts[stem] = max(count, parent.counts.get(stem, 0))
                    # Break the reference cycle, which would keep every message alive.
                    children.clear()
                    self._ready.append((parent, tuple(results[place] for place in range(len(results)))))

            return finished

        for place, (name, rules) in enumerate(request.branches):
            _check_fresh(rules)
            names = (*parent.names, name) if name else parent.names
            children.append(_Strand(rules, names, branch_end(place), dict(parent.counts)))
        if len({id(child.rules) for child in children}) < len(children):
            raise RulebookError("each branch needs a fresh rulebook; one was given to two branches")
        # The top of the stack runs first, so push in reverse: branches open their asks in order.
        self._ready.extend((child, None) for child in reversed(children))


def _check_fresh(rules: object) -> None:
    if not isinstance(rules, GeneratorType):
        raise RulebookError(f"a rulebook is a generator, not {type(rules).__name__}")
    if getgeneratorstate(rules) != GEN_CREATED:
        raise RulebookError("a debate needs a fresh rulebook; this one was started already")
