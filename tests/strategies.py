"""What the tests draw from: rulebooks, debates, texts. One file, so that every area means the same by them.

A debate here is decided by a seed: every turn is made from its form's own schema and its path, and whether a seat
abstains is drawn from the same two. So an ask gets the same answer in whatever order the asks are answered, which
is what the properties about order and replay rest on.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from disputatio.formats.debate_context import DebateContext
from disputatio.formats.registry import FORMATS
from disputatio.kernel import (
    Abstention,
    Ask,
    AskPath,
    Driver,
    Fact,
    JsonObject,
    Part,
    Phase,
    Rulebook,
    Seat,
    Task,
    Turn,
    Violation,
    ask,
    declare,
    together,
)
from disputatio.market.knowledge import KnowledgeBase
from disputatio.market.sources.files import load_example
from disputatio.motion import Motion
from disputatio.testing.instances import instance

FULL = os.environ.get("DISPUTATIO_TESTS") == "full"


CHECK = os.environ.get("DISPUTATIO_TESTS") == "check"


def examples(usual: int) -> settings:
    """How many examples a property tries: ``usual``, ten times as many in a full run, a third in a mere check."""
    return settings(max_examples=usual * 10 if FULL else max(2, usual // 3) if CHECK else usual)


def share(*parts: object) -> float:
    """A number in [0, 1) that stands for ``parts``."""
    text = "\n".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64


# --- turns of formats -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answers:
    """The answers of a whole debate. ``abstaining`` is the share of asks that end in an abstention."""

    seed: str
    abstaining: float = 0.0
    silent: tuple[str, ...] = ()
    """Paths that abstain for certain."""

    def content(self, path: AskPath, asked: Ask) -> JsonObject | None:
        """The content of the turn at ``path``; None where the seat abstains."""
        if path in self.silent or share(self.seed, "abstains", path) < self.abstaining:
            return None
        content = instance(asked.spec.schema, f"{self.seed} {path}")
        assert isinstance(content, dict)
        return content

    def __call__(self, path: AskPath, asked: Ask) -> Turn | Abstention:
        """The turn or abstention at ``path``."""
        content = self.content(path, asked)
        if content is None:
            return Abstention(asked.seat, "drawn", f"{path} was drawn to abstain")
        turn: Turn = asked.spec.read(content)
        return turn


@dataclass
class Held:
    """A debate that was held to its end, with every ask it opened."""

    driver: Driver
    asks: dict[AskPath, Ask]
    answers: dict[AskPath, Turn | Abstention]

    @property
    def outcome(self) -> Any:
        return self.driver.outcome

    @property
    def facts(self) -> list[Fact]:
        return sorted(self.driver.facts, key=lambda fact: (fact.kind, fact.about, repr(fact.body)))


Answering = Callable[[AskPath, Ask], "Turn | Abstention"]


def hold(
    rules: Rulebook[Any],
    answering: Answering,
    order: Random | None = None,
    given: Mapping[AskPath, Turn | Abstention] | None = None,
) -> Held:
    """Hold a debate to its end, its open asks answered in a drawn order, or as they were opened.

    Args:
        rules: a fresh rulebook.
        answering: gives the answer to an ask.
        order: draws which open ask is answered next.
        given: answers that are fed first, as when a record is replayed.
    """
    driver = Driver(rules)
    held = Held(driver, {}, {})
    waiting = dict(given or {})
    while not driver.finished:
        held.asks.update(driver.open_asks)
        paths = list(driver.open_asks)
        assert paths, "a debate that is not over waits for somebody"
        recorded = [path for path in paths if path in waiting]
        path = recorded[0] if recorded else order.choice(paths) if order else paths[0]
        answer = waiting.pop(path) if recorded else answering(path, driver.open_asks[path])
        held.answers[path] = answer
        driver.answer(path, answer)
    assert not waiting, "every recorded answer was asked for"
    return held


def docket_of(name: str) -> DebateContext:
    """The docket of a debate of the format ``name``: every seat taken, no sources, the example where it knows."""
    return DebateContext(
        FORMATS[name].seats, Motion("Be it so"), knowledge=example_base() if FORMATS[name].knows else None
    )


@cache
def example_base() -> KnowledgeBase:
    """The synthetic knowledge base of the package, read once."""
    return load_example()


@dataclass(frozen=True)
class Debate:
    """A debate of a format, decided by a seed."""

    format: str
    rules: Any
    answers: Answers

    def rulebook(self) -> Rulebook[Any]:
        return FORMATS[self.format].rulebook(self.rules, docket_of(self.format))

    def held(self, order: Random | None = None) -> Held:
        return hold(self.rulebook(), self.answers, order)


def structured_rules() -> st.SearchStrategy[Any]:
    from disputatio.judging.scoring import RUBRICS

    return st.builds(
        lambda low, more, words, rubric: FORMATS["structured"].rules(
            minimum_arguments=low, maximum_arguments=low + more, closing_words=words, rubric=rubric
        ),
        st.integers(1, 3),
        st.integers(0, 2),
        st.integers(20, 400),
        st.sampled_from(list(RUBRICS.values())),
    )


def freeform_rules() -> st.SearchStrategy[Any]:
    return st.builds(
        lambda rounds, words: FORMATS["freeform"].rules(rounds=rounds, speech_words=words),
        st.integers(1, 4),
        st.integers(10, 300),
    )


def panel_rules() -> st.SearchStrategy[Any]:
    from disputatio.formats.rule_values import DecisionRule, RuleName

    panel = FORMATS["panel"]
    debaters = tuple(map(str, panel.seats))
    return st.builds(
        lambda rounds, words, options, rule, threshold: panel.rules(
            debaters=debaters,
            options=options,
            rounds=rounds,
            turn_words=words,
            decision=DecisionRule(rule, threshold if rule is RuleName.THRESHOLD_VOTE else None),
        ),
        st.integers(1, 3),
        st.integers(10, 300),
        st.sampled_from((("release", "revise", "escalate"), ("adopt", "reject"), ("plan a", "plan b", "revise"))),
        st.sampled_from(list(RuleName)),
        st.none() | st.integers(1, len(debaters)),
    )


def review_rules() -> st.SearchStrategy[Any]:
    return st.builds(
        lambda rounds, low, more: FORMATS["review"].rules(
            rounds=rounds, minimum_arguments=low, maximum_arguments=low + more
        ),
        st.integers(1, 3),
        st.integers(1, 3),
        st.integers(0, 2),
    )


def competition_rules() -> st.SearchStrategy[Any]:
    return st.builds(
        lambda free, speeches, mode, limit, captain: FORMATS["competition"].rules(
            free_words=free, free_speeches=speeches, free_mode=mode, answer_words=limit, captain=captain
        ),
        st.integers(1, 60),
        st.sampled_from((1, 1, 2, 5)),
        st.sampled_from(("sequential", "concurrent")),
        st.integers(1, 40),
        st.integers(1, 4),
    )


def market_rules() -> st.SearchStrategy[Any]:
    return st.builds(
        lambda low, more, fewest: FORMATS["market"].rules(
            minimum_arguments=low, maximum_arguments=low + more, stance_fewest_words=fewest
        ),
        st.integers(1, 2),
        st.integers(0, 2),
        st.integers(1, 60),
    )


RULES = {
    "structured": structured_rules,
    "freeform": freeform_rules,
    "panel": panel_rules,
    "review": review_rules,
    "competition": competition_rules,
    "market": market_rules,
}


def answers(abstaining: st.SearchStrategy[float] | None = None) -> st.SearchStrategy[Answers]:
    """Answers for a whole debate, with any mixture of turns and abstentions."""
    shares = st.sampled_from((0.0, 0.0, 0.2, 0.5, 1.0)) if abstaining is None else abstaining
    return st.builds(Answers, st.integers(0, 10**9).map(str), shares)


def debates(name: str | None = None, abstaining: st.SearchStrategy[float] | None = None) -> st.SearchStrategy[Debate]:
    """Debates of ``name``, or of any format."""
    names = st.sampled_from(sorted(FORMATS)) if name is None else st.just(name)
    return names.flatmap(lambda name: st.builds(Debate, st.just(name), RULES[name](), answers(abstaining)))


orders = st.integers(0, 2**32).map(Random)


# --- rulebooks of any shape --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """A turn of a drawn rulebook."""

    words: str

    def text(self) -> str:
        return self.words


@dataclass(frozen=True)
class AnyWords:
    """The form of ``Said``: anything goes."""

    name: str = "said"

    @property
    def schema(self) -> JsonObject:
        return {"type": "object", "properties": {}, "required": [], "additionalProperties": False}

    def read(self, content: JsonObject) -> Said:
        return Said(str(content))

    def violations(self, turn: Said) -> tuple[Violation, ...]:
        return ()

    def next_part(self, done: tuple[JsonObject, ...]) -> Part | None:
        return None

    def join(self, done: tuple[JsonObject, ...]) -> JsonObject:
        return {}


@dataclass(frozen=True)
class Asking:
    """Ask a seat; where it speaks and ``follow_up`` is set, ask it the same again."""

    seat: str
    phase: str
    follow_up: bool = False


@dataclass(frozen=True)
class Stating:
    """Declare a fact that tells what was heard so far in this strand."""

    about: str


@dataclass(frozen=True)
class Serial:
    """Steps one after the other."""

    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Parallel:
    """Branches side by side, each with a name of its own."""

    branches: tuple[tuple[str, Step], ...]


Step = Asking | Stating | Serial | Parallel


def plain_ask(seat: str, phase: str = "talk") -> Rulebook[Any]:
    """Ask ``seat`` for anything."""
    return ask(Seat(seat), Phase(phase), spec=AnyWords(), task=Task("task"))


def rulebook_of(step: Step, place: str = "0") -> Rulebook[Any]:
    """The rulebook that a drawn step describes. It returns what was said, nested as the step is."""
    match step:
        case Asking():
            heard = [(yield from plain_ask(step.seat, step.phase))]
            if step.follow_up and isinstance(heard[0], Said):
                heard.append((yield from plain_ask(step.seat, step.phase)))
            return tuple(heard)
        case Stating():
            yield from declare("note", f"{place} {step.about}", {"place": place})
            return step.about
        case Serial():
            said = []
            for number, inner in enumerate(step.steps):
                said.append((yield from rulebook_of(inner, f"{place}.{number}")))
                yield from declare("count", f"{place}.{number}", {"turns": turns_in(said)})
            return tuple(said)
        case Parallel():
            named = {name: rulebook_of(inner, f"{place}.{name}") for name, inner in step.branches}
            return (yield from together(**named))


def turns_in(said: object) -> int:
    """How many turns there are in what a drawn rulebook returned."""
    if isinstance(said, (tuple, list)):
        return sum(map(turns_in, said))
    return int(isinstance(said, Said))


def said_at(seed: str, abstaining: float) -> Answering:
    """Answers for drawn rulebooks, decided by the seed and the path."""

    def answering(path: AskPath, asked: Ask) -> Turn | Abstention:
        if share(seed, path) < abstaining:
            return Abstention(asked.seat, "drawn")
        return Said(f"{seed} {path}")

    return answering


_SEATS = st.sampled_from(("pro", "con", "judge"))
_PHASES = st.sampled_from(("opening", "closing"))


def steps() -> st.SearchStrategy[Step]:
    """Trees of asks, facts, series and named branches, nested into each other, also empty ones."""
    leaves = st.one_of(
        st.builds(Asking, _SEATS, _PHASES, st.booleans()),
        st.builds(Stating, st.sampled_from(("a", "b"))),
    )
    names = st.lists(st.sampled_from(("tech", "macro", "team", "x")), max_size=4, unique=True)

    def wider(inner: st.SearchStrategy[Step]) -> st.SearchStrategy[Step]:
        serial = st.builds(Serial, st.lists(inner, max_size=4).map(tuple))
        parallel = names.flatmap(
            lambda chosen: st.tuples(*(st.tuples(st.just(name), inner) for name in chosen)).map(Parallel)
        )
        return st.one_of(serial, parallel)

    return st.recursive(leaves, wider, max_leaves=12)


# --- texts and JSON ----------------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=("Cs",)))
any_texts = st.text()
"""Lone surrogates too."""

_short = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _short,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_short, inner, max_size=3),
    max_leaves=5,
)
json_objects = st.dictionaries(_short, json_values, max_size=3)


def asks_of(held: Held, form: str) -> Iterator[tuple[AskPath, Ask]]:
    """The asks of ``held`` for turns of ``form``."""
    return ((path, row) for path, row in held.asks.items() if row.form.name == form)


def objects_in(schema: object) -> Iterator[Mapping[str, Any]]:
    """Every object schema anywhere in ``schema``."""
    if isinstance(schema, Mapping):
        if schema.get("type") == "object":
            yield schema
        for inner in schema.values():
            yield from objects_in(inner)
    elif isinstance(schema, Sequence) and not isinstance(schema, str):
        for inner in schema:
            yield from objects_in(inner)
