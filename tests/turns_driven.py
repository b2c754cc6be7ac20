"""Drives the turn of a seat: carries out its orders with given replies and faults."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from disputatio.kernel import Abstention, Ask, AskPath, Part
from disputatio.motion import Motion
from disputatio.participants.answers import SchemaChecks
from disputatio.participants.call import Fault, FaultKind, OutputMode, Reply, Segment, Usage
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.turn_taking import ModelTurn, Reject, Rest, Send, TurnResult, TurnStep
from disputatio.prompts import (
    PromptBook,
    PromptContext,
    choosing_segment,
    compose,
    compose_part,
    looked_up_segment,
    reasons_segment,
    schema_segment,
)

CHECKS = SchemaChecks()
BOOK = PromptBook()
PATH = AskPath("round-1/pro")
Outcome = Reply | Fault
Answering = Callable[[Send], Outcome]


@dataclass(frozen=True)
class BookPrompts:
    """The prompts of a debate, as the engine gives them to a turn."""

    setting: PromptContext

    def whole(self, ask: Ask) -> tuple[Segment, ...]:
        return compose(BOOK, self.setting, ask)

    def part(self, ask: Ask, part: Part) -> tuple[Segment, ...]:
        return compose_part(BOOK, self.setting, ask, part)

    def reasons(self, because: str, reasons: tuple[str, ...]) -> Segment:
        return reasons_segment(BOOK, because, reasons)

    def schema(self, schema: Any) -> Segment:
        return schema_segment(BOOK, schema)

    def choosing(self, task: str, tools: Any, calls: int) -> Segment:
        return choosing_segment(BOOK, task, tools, calls)

    def looked_up(self, request: Any, result: Any) -> Segment:
        return looked_up_segment(BOOK, request, result)


def seating(model: str = "first", **more: Any) -> ModelSeating:
    """A model in a seat."""
    return ModelSeating(provider="openai", model=model, **more)


def turn(
    asked: Ask,
    *seatings: ModelSeating,
    modes: Any = None,
    seed: int | None = None,
    name: str = "freeform",
    **more: Any,
) -> Any:
    """The turn of a seat with a model and its fallbacks."""
    chain = seatings or (seating(),)
    return ModelTurn(
        PATH,
        asked,
        seatings=chain,
        modes=modes or [[OutputMode.NATIVE]] * len(chain),
        checks=CHECKS,
        prompts=BookPrompts(PromptContext(name, Motion("Is it so?"))),
        seed=seed,
        **more,
    ).take()


def drive(
    taking: Any, answering: Answering | None = None, most: int = 1000
) -> tuple[TurnResult | Abstention, list[TurnStep]]:
    """Carry out the orders of a turn until it is over."""
    orders: list[TurnStep] = []
    brought: Outcome | None = None
    while True:
        try:
            order = taking.send(brought)
        except StopIteration as end:
            return end.value, orders
        orders.append(order)
        assert len(orders) <= most, "a turn comes to its end"
        brought = None
        if isinstance(order, Send):
            assert answering is not None, "this seat calls no model"
            brought = answering(order)


def one_after_the_other(*outcomes: Outcome) -> Answering:
    """The outcomes in their order, whatever is sent."""
    waiting = iter(outcomes)
    return lambda _send: next(waiting)


def reply(content: Any, finish: str = "stop", served: str | None = "served-1") -> Reply:
    """A model's reply with ``content``, or with that text."""
    return Reply(content if isinstance(content, str) else json.dumps(content), served, Usage(5, 5), finish)


def fault(kind: FaultKind, retry_after_s: float | None = None) -> Fault:
    """A call that brought no answer."""
    return Fault(kind, f"it is {kind.value}", retry_after_s)


def sends(orders: list[TurnStep]) -> list[Send]:
    return [order for order in orders if isinstance(order, Send)]


def rejections(orders: list[TurnStep]) -> list[Reject]:
    return [order for order in orders if isinstance(order, Reject)]


def rests(orders: list[TurnStep]) -> list[float]:
    return [order.seconds for order in orders if isinstance(order, Rest)]
