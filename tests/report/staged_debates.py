"""Debates on a stage: whole debates in memory, with readable content and models that write as slowly as asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from disputatio._cli.arguments import make_arguments
from disputatio.config import resolve
from disputatio.config.process import format_scope
from disputatio.engine.opening import Proposal
from disputatio.engine.ports import NullObserver, Observer
from disputatio.engine.runtime import Resumption, Runtime, resume, start
from disputatio.formats.registry import find_format
from disputatio.motion import read_motion
from disputatio.participants.call import Call, Fault, FaultKind, OnText, OutputMode, Reply, Usage
from disputatio.record.chain import Sealed
from disputatio.record.memory import MemoryStore
from disputatio.report.reading import DebateReport
from disputatio.testing.instances import instance
from judge_turns import named_words

MOTION = "A startup with fewer than ten people should build microservices from day one"

_CLAIMS = {
    "pro": [
        (
            "Independent deployment shortens release cycles",
            "Because each service is built, tested and released alone, a change waits for nobody else's tests.",
            "The team's own log: 3.8 hours from commit to release against 0.7 hours after the split.",
        ),
        (
            "Teams can own services end to end",
            "Ownership follows from boundaries that are drawn in code: whoever breaks a service mends it.",
            "A survey of 61 small teams names unclear ownership as the first cause of long incidents.",
        ),
        (
            "Boundaries drawn early are cheap",
            "Splitting a grown monolith means untangling its data; drawing the line first costs an afternoon.",
            "Three public accounts of such splits report between 9 and 20 months of work.",
        ),
    ],
    "con": [
        (
            "Operations cost more than they save",
            "Each service needs its own pipeline, alarms and credentials, and somebody who is awake for them.",
            "At eight services the team of five spends one working day a week on upkeep.",
        ),
        (
            "The domain is not yet known",
            "A young product changes its concepts monthly, and every change then crosses a network boundary.",
            "In the first year 40 % of the tables were renamed or merged.",
        ),
        (
            "Debugging across services needs tools a startup lacks",
            "A fault that was a stack trace becomes a search through several logs with clocks that disagree.",
            "Two of the last five incidents took more than four hours to locate.",
        ),
    ],
}
_RESPONSES = {
    "pro": {"CON-1": "concede", "CON-2": "challenge", "CON-3": "partial"},
    "con": {"PRO-1": "challenge", "PRO-2": "refute", "PRO-3": "partial"},
}
_STANDINGS = ("UPHELD", "PARTIALLY_UPHELD", "REFUTED", "UPHELD", "UNCERTAIN", "UPHELD")


def staged_answer(seat: str, form: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A readable answer of ``seat`` to a form of the structured debate."""
    properties = schema["properties"]
    if form == "opening":
        rows = [dict(zip(("claim", "reasoning", "evidence"), row, strict=True)) for row in _CLAIMS[seat]]
        uncited = _uncited(properties["arguments"]["items"])
        return {"arguments": [{**row, **uncited} for row in rows]}
    if form == "cross_examination":
        return {
            target: {
                "reasoning": f"What is said for {target} rests on one team; a team of five may see the opposite.",
                "response": _RESPONSES[seat].get(target, "challenge"),
                "questions": [f"Was the effect in {target} measured in a team of five?"],
                **_uncited(properties[target]),
            }
            for target in properties
        }
    if form == "closing":
        answers = properties.get("answers", {"properties": {}})["properties"]
        conceded = properties.get("concessions", {"properties": {}})["properties"]
        own = properties["own_arguments"]["properties"]
        held = {key: {"status": "stands", "because": "the objection names no cause"} for key in own}
        content: dict[str, Any] = {"own_arguments": held, "final_position": "The balance has moved, not turned."}
        content["shift"] = "partly_adjusted"
        if answers:
            content["answers"] = dict.fromkeys(answers, "It was measured in two teams, one of them with six people.")
        if conceded:
            content["concessions"] = dict.fromkeys(conceded, "the cost of upkeep is real")
        return content
    if form == "adjudication":
        # Asked for some parts again, this judge gives the whole.
        if "key_insight" in properties:
            _LAST_JUDGING.update(properties)
        return _adjudication(_LAST_JUDGING)
    return dict(instance(schema, form))


_LAST_JUDGING: dict[str, Any] = {}


def _uncited(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The places for citations that a statement has, all of them left empty."""
    return {key: [] for key in ("quotations", "readings") if key in schema["properties"]}


def _adjudication(properties: Mapping[str, Any]) -> dict[str, Any]:
    arguments = {}
    for number, (key, finding) in enumerate(properties["arguments"]["properties"].items()):
        criteria = [name for name, row in finding["properties"].items() if row.get("type") == "integer"]
        arguments[key] = {
            "rests_on": finding["properties"]["rests_on"]["items"]["enum"][:2],
            "reason": f"The exchange on {key} left its core untouched.",
            **{name: 4 + (number + place) % 6 for place, name in enumerate(criteria)},
            "standing": _STANDINGS[number % len(_STANDINGS)],
            "fallacies": [],
            **named_words(finding["properties"], "two teams, one of them with six people"),
        }
    first = arguments[min(arguments, key=lambda key: key != "PRO-3")]
    first["fallacies"] = [
        {"fallacy": "anecdotal_evidence", "said_by": "owner", "words": "Three public accounts of such splits"}
    ]
    return {
        "arguments": arguments,
        "key_insight": "Both sides describe the same cost at two points in time.",
        "unresolved_questions": ["Release time for a team of five was never measured."],
        "recommendation": "Start with one deployable and draw the boundaries inside it.",
    }


Answering = Callable[[str, Call], "dict[str, Any] | str | Fault"]


def staged(seat: str, call: Call) -> dict[str, Any]:
    """The readable answer to ``call``."""
    assert call.schema is not None
    schema: Any = call.schema
    return staged_answer(seat, call.schema_name, schema)


@dataclass
class StagedGateway:
    """A model that answers by a function and writes ``step`` characters every ``pause`` seconds."""

    seat: str
    answering: Answering = staged
    pause: float = 0.0
    step: int = 8
    usage: Usage = field(default_factory=lambda: Usage(900, 140, 600))
    modes: tuple[OutputMode, ...] = (OutputMode.NATIVE,)

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:
        given = self.answering(self.seat, call)
        if isinstance(given, Fault):
            return given
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        for place in range(0, len(text), self.step):
            if on_text is not None:
                on_text(text[place : place + self.step])
            await asyncio.sleep(self.pause)
        return Reply(text, f"{self.seat}-model", self.usage)

    async def probe(self) -> Fault | None:
        return None

    async def aclose(self) -> None:
        return None


@dataclass
class Staged:
    """A debate that was held on the stage."""

    id: str
    store: MemoryStore

    @property
    def events(self) -> Sequence[Sealed]:
        return self.store.read(self.id)

    @property
    def report(self) -> DebateReport:
        return DebateReport.of(self.id, self.events, self.store.texts(self.id))


def settings_of(format_name: str, seats: Sequence[str] = (), **arguments: Any) -> Any:
    form = find_format(format_name)
    given = tuple(seats) or tuple(f"{seat}=ollama:{seat}-model" for seat in form.seats)
    return resolve(
        format_name=format_name,
        seats=tuple(form.seats),
        environ={},
        directory=Path("/nonexistent"),
        arguments=make_arguments(seat=given, **arguments),
        options=format_scope(form),
    )


def house_of(store: MemoryStore, answering: Answering, *, observer: Observer | None = None, **pace: Any) -> Runtime:
    def client_factory(seating: Any, _key: str | None) -> StagedGateway:
        seat = seating.model.removesuffix("-model")
        return StagedGateway(seat if seat in {"pro", "con", "judge"} else "pro", answering, **pace)

    return Runtime(
        store, observer=observer or NullObserver(), streams=observer is not None, client_factory=client_factory
    )


async def hold(
    format_name: str = "structured",
    answering: Answering = staged,
    *,
    motion: str = MOTION,
    observer: Observer | None = None,
    seats: Sequence[str] = (),
    pace: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> Staged:
    """Hold a debate in memory."""
    store = MemoryStore()
    settings = settings_of(format_name, seats, **arguments)
    proposal = Proposal(read_motion(motion, settings.language), find_format(format_name), settings)
    runtime = house_of(store, answering, observer=observer, **(pace or {}))
    return Staged(await start(proposal, runtime), store)


async def go_on(
    debate: Staged, answering: Answering = staged, *, observer: Observer | None = None, **more: Any
) -> None:
    """Resume a debate of this stage."""
    await resume(
        debate.id, Resumption(settings_of("structured"), **more), house_of(debate.store, answering, observer=observer)
    )


def silent(seat: str, form: str) -> Answering:
    """Answers in which ``seat`` never fills ``form``."""

    def answering(speaker: str, call: Call) -> dict[str, Any] | str:
        return "{}" if (speaker, call.schema_name) == (seat, form) else staged(speaker, call)

    return answering


def hostile(words: str) -> Answering:
    """Answers in which every free text carries ``words``."""

    def marked(value: Any, schema: Any) -> Any:
        if isinstance(value, dict):
            inner = schema.get("properties", {})
            return {key: marked(row, inner.get(key, {})) for key, row in value.items()}
        if isinstance(value, list):
            return [marked(row, schema.get("items", {})) for row in value]
        if isinstance(value, str) and "enum" not in schema:
            return f"{words} {value} {words[:60]}"[: schema.get("maxLength", 100_000)]
        return value

    def answering(seat: str, call: Call) -> dict[str, Any]:
        answer: dict[str, Any] = marked(staged(seat, call), call.schema)
        return answer

    return answering


def troubled(speaker: str, call: Call) -> dict[str, Any] | Fault:
    """Answers of a judge that cannot be reached."""
    if speaker == "judge":
        return Fault(FaultKind.KEY_REJECTED, "OpenAI answered 401, the key in OPENAI_API_KEY is not accepted.")
    return staged(speaker, call)


def mute(_speaker: str, _call: Call) -> str:
    """Answers that fit no form."""
    return "{}"


@cache
def held(name: str) -> Staged:
    """A debate that ended as ``name`` says; held once for all tests."""
    plays: dict[str, Callable[[], Any]] = {
        "complete": hold,
        "freeform": lambda: hold("freeform"),
        "degraded": lambda: hold(answering=silent("con", "closing")),
        "unjudged": lambda: hold(answering=troubled),
        "failed": lambda: hold(answering=mute),
        "truncated": lambda: hold(max_calls="5"),
        "embedded": lambda: hold(
            seats=("all=embedded",), answering=lambda _, call: dict(instance(call.schema, call.schema_name))
        ),
        "hostile": lambda: hold(answering=hostile(HOSTILE), motion=f"Should we {HOSTILE} act?"),
        "hostile freeform": lambda: hold("freeform", hostile(HOSTILE), motion=f"Should we {HOSTILE} act?"),
        "wide": lambda: hold(answering=hostile(WIDE), motion=WIDE),
        "long": lambda: hold(answering=hostile(LONG), motion=LONG),
    }
    debate: Staged = asyncio.run(plays[name]())
    return debate


ENDINGS = ("degraded", "unjudged", "failed", "truncated")
_ESCAPES = "\x1b[31mred\x1b]8;;http://evil.example\x07link\x1b]8;;\x07\x9b2J\u202egnp.exe"
_MARKUP = "[bold]x[/bold] [link=http://e]y[/link] <script>alert(1)</script> <img src=x onerror=y> &lt;"
_MARKDOWN = "![i](http://e/i.png) [a](javascript:1) | `c` ***b*** https://evil.example www.evil.example a@evil.example"
_BLOCKS = "\n# heading\n- item\n1. one\n> quote\n```\ncode\n---\n===\n\t|a|b|"
HOSTILE = f"{_ESCAPES} {_MARKUP} {_MARKDOWN} {_BLOCKS}"
WIDE = (
    "我们是否应该在第一天就采用微服务架构？👩\u200d👩\u200d👧 "
    "这是一个“长期”问题（成本、人员）。日本語のテキスト、そして한국어"
)
LONG = "Donaudampfschifffahrtsgesellschaft" * 9 + " https://example.org/" + "x" * 150
