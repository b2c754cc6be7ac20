"""Asks, calls and turns as the engine writes them down."""

from __future__ import annotations

from typing import Any

from disputatio.formats.turns.citing import cited_json, unstated_json
from disputatio.kernel import Ask, AskPath
from disputatio.participants.call import Call
from disputatio.participants.turn_taking import Send, Taken
from disputatio.record.events import CallSent, TurnAsked, TurnTaken
from disputatio.record.history import History
from disputatio.record.prompts import PromptRows
from disputatio.record.text import canonical, digest


class TextNames(dict[str, str]):
    """The hashes that name the texts of one debate in its record, by text.

    Every call sends the whole history again, so a debate keeps the hashes of all its texts as long as it runs.
    """

    def __missing__(self, text: str) -> str:
        name = self[text] = digest(text)
        return name


def turn_asked(path: AskPath, ask: Ask, first: Send | None, names: TextNames) -> TurnAsked:
    """That a seat is asked, with the prompt of its ``first`` call where it makes any."""
    return TurnAsked(
        path=path,
        seat=ask.seat,
        phase=ask.phase,
        form=ask.spec.name,
        mode=first.call.mode.value if first else "",
        prompt=digest("\n".join([f"{row.role} {names[row.text]}" for row in first.call.segments])) if first else "",
    )


def turn_taken(path: AskPath, ask: Ask, taken: Taken) -> TurnTaken:
    """That a seat took its turn."""
    return TurnTaken(
        path=path,
        seat=ask.seat,
        phase=ask.phase,
        form=ask.spec.name,
        content=taken.content,
        violations=tuple({"rule": row.rule, "detail": row.detail} for row in taken.violations),
        citations=cited_json(taken.turn),
        unstated=unstated_json(taken.turn),
        repaired=taken.repaired,
        asked=taken.asked,
        served_models=taken.served_models,
    )


def call_sent(
    call_id: str, path: AskPath, order: Send, ask: Ask, reserved: Any, history: History, names: TextNames
) -> tuple[CallSent, dict[str, str]]:
    """That a call is about to leave, with the texts it names that the record does not hold yet."""
    call = order.call
    begins, prompt = history.shortened(prompt_rows(call, names))
    # What an earlier call began with is in the record since then.
    new = call.segments[len(call.segments) - len(prompt) :]
    texts = {name: row.text for row, (_, name) in zip(new, prompt, strict=True)}
    schema = ""
    if call.schema is not None:
        body = call.schema_text or canonical(call.schema)
        schema = names[body]
        texts[schema] = body
    sent = CallSent(
        call=call_id,
        path=path,
        part=order.part,
        seat=ask.seat,
        model=order.seating.address,
        mode=call.mode.value,
        temperature=call.temperature,
        max_tokens=call.max_tokens,
        prompt=prompt,
        schema=schema,
        reserved=reserved,
        begins=begins,
        reasoning_allowance=call.reasoning_allowance,
    )
    return sent, texts


def prompt_rows(call: Call, names: TextNames) -> PromptRows:
    """The prompt of ``call`` as a record names it."""
    return tuple([(row.role, names[row.text]) for row in call.segments])
