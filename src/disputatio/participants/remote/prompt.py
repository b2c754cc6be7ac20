"""Turns a ``Call`` into a request of pydantic-ai, and marks prompts for caches.

- All system segments become one system message, which comes first.
- Other neighbouring segments of one role become one message, joined by blank lines.
- In prompted mode ``SCHEMA_REQUEST`` follows the last user segment, unless the prompt contains the schema.
- In tool mode the answer is the argument of one tool, described as ``TOOL_DESCRIPTION``.

Some caches end only at marks: those of Anthropic, Amazon, and OpenAI from GPT-5.6 on. They serve a prefix that ends at
a mark, if an earlier prompt had a mark at the same place. Writing costs up to a quarter more than usual input, reading
a tenth or less. So prompts are marked:

- where the task begins: the part before it will be sent again, the task will not;
- at the end of the longest prefix that was marked before, so that it is read;
- once at the end of the system message, which all seats share;
- never below 1,024 tokens, counted as four bytes each, which these providers do not cache.

A schema outside the prompt (native and tool modes) comes first for these caches, so only calls with the same schema
share a prefix. Such a prefix is written when its schema comes a second time.

Importing this module imports pydantic-ai, so import it lazily.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

import orjson
from pydantic_ai.messages import (
    CachePoint,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from disputatio.kernel import JsonObject
from disputatio.participants.call import Call, OutputMode

SCHEMA_REQUEST: Final = (
    "Answer with one JSON object and nothing else: no words before or after it and no code fence. "
    "It must be valid under this JSON Schema:\n{schema}"
)
"""Added in prompted mode after the last user segment; ``{schema}`` is the schema as compact JSON."""

TOOL_DESCRIPTION: Final = "Gives the answer. Call it exactly once."
"""The description of the one tool in tool mode."""

UNSTRUCTURED: Final = ModelRequestParameters(output_mode="text")
"""Parameters of a request for text."""


@dataclass(frozen=True, slots=True)
class Request:
    """What ``pydantic_ai.direct`` takes."""

    messages: list[ModelMessage]
    settings: ModelSettings
    parameters: ModelRequestParameters


class Prompts(Protocol):
    """Puts calls to one model."""

    def request(self, call: Call, refused: frozenset[str] = frozenset()) -> Request:
        """``call`` as a request, without the parameters that the server refused."""

    def names(self, call: Call, refused: frozenset[str]) -> frozenset[str]:
        """The parameters that ``call`` is sent with, as far as they may be refused."""


class LibraryPrompts:
    """Requests in pydantic-ai's own terms, for providers whose protocol its adapters know.

    Args:
        takes_temperature: whether the model takes a temperature; if not, none is sent.
        takes_seed: the same for a seed.
        fixed: settings that every request carries.
        caches_system: the setting that marks the end of the system message for the provider's cache, where that
            cache begins and ends at marks; then prompts are marked.
    """

    def __init__(
        self,
        *,
        takes_temperature: bool = True,
        takes_seed: bool = True,
        fixed: ModelSettings | None = None,
        caches_system: str = "",
    ) -> None:
        self._takes_temperature, self._takes_seed = takes_temperature, takes_seed
        self._fixed: ModelSettings = fixed or {}
        self._caches_system, self._breakpoints = caches_system, Breakpoints()
        self._structures = Structures(_parameters)

    def request(self, call: Call, refused: frozenset[str] = frozenset()) -> Request:
        """``call`` as messages, settings and parameters."""
        settings: ModelSettings = {**self._fixed, "max_tokens": call.max_tokens}
        if "temperature" in (optional := self.names(call, refused)):
            settings["temperature"] = call.temperature  # type: ignore[typeddict-item]  # None has no such name
        if "seed" in optional:
            settings["seed"] = call.seed  # type: ignore[typeddict-item]  # as above
        marks = self._breakpoints.of(call) if self._caches_system else ()
        if sum(segment.role == "system" for segment in call.segments) in marks:
            settings = {**settings, self._caches_system: True}  # type: ignore[misc]
        return Request(_messages(call, marks), settings, self._structures.of(call) or UNSTRUCTURED)

    def names(self, call: Call, refused: frozenset[str]) -> frozenset[str]:
        """The optional parameters that ``call`` is sent with."""
        given = {"temperature"} if call.temperature is not None and self._takes_temperature else set()
        given |= {"seed"} if call.seed is not None and self._takes_seed else set()
        return frozenset(given) - refused


_Structure = TypeVar("_Structure")


class Structures(Generic[_Structure]):
    """A cache of the structured-output part of requests, by schema and mode.

    Rewriting a schema for a provider costs more than the rest of preparing a call.

    Args:
        make: builds that part from a schema in plain dicts and lists, its name and the mode.
    """

    _KEPT: Final = 64

    def __init__(self, make: Callable[[dict[str, Any], str, OutputMode], _Structure]) -> None:
        self._make = make
        self._known: OrderedDict[tuple[bytes, str, OutputMode], _Structure] = OrderedDict()

    def of(self, call: Call) -> _Structure | None:
        """The structured-output part of ``call`` outside its prompt, or None."""
        if call.schema is None or call.mode in (OutputMode.TEXT, OutputMode.PROMPTED):
            return None
        # Keyed by content and key order: each debate makes its own equal schemas.
        written = orjson.dumps(call.schema, default=dict)
        key = (written, call.schema_name, call.mode)
        # Popped and put back as the latest; several event loops may share this.
        known = self._known.pop(key, None)
        if known is None:
            # In plain dicts and lists, keys in their order.
            schema: dict[str, Any] = orjson.loads(written)
            known = self._make(schema, call.schema_name, call.mode)
        self._known[key] = known
        if len(self._known) > self._KEPT:
            self._known.popitem(last=False)
        return known


def messages_of(call: Call, sent_as: Callable[[str], str] | None = None) -> list[tuple[str, str]]:
    """The messages of ``call`` as roles and texts, in order. ``sent_as`` rewrites the text of each segment."""
    system: list[str] = []
    runs: list[tuple[str, list[str]]] = []
    before = ""
    for segment in call.segments:
        role, text = segment.role, segment.text
        if sent_as is not None:
            text = sent_as(text)
        if role == "system":
            system.append(text)
        elif role == before:
            runs[-1][1].append(text)
        else:
            runs.append((role, [text]))
            before = role
    said = [(role, "\n\n".join(run)) for role, run in runs]
    if first := "\n\n".join(system):
        said.insert(0, ("system", first))
    if call.mode is OutputMode.PROMPTED and call.schema is not None and not call.tells_schema:
        _ask_for(call.schema, said)
    return said


def marked_messages(call: Call, marks: Collection[int]) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Like ``messages_of``, with each text split into segments, each with whether a mark of ``marks`` follows it.

    The joined segments of a message are exactly its text.
    """
    said: list[tuple[str, list[tuple[str, bool]]]] = []
    for place, segment in enumerate(call.segments, start=1):
        if said and said[-1][0] == segment.role:
            rows = said[-1][1]
            rows[-1] = (f"{rows[-1][0]}\n\n", rows[-1][1])
            rows.append((segment.text, place in marks))
        else:
            said.append((segment.role, [(segment.text, place in marks)]))
    whole = dict(enumerate(messages_of(call)))
    for number, (_, rows) in enumerate(said):
        # In prompted mode the schema follows the last of them.
        rest = whole[number][1].removeprefix("".join(text for text, _ in rows))
        rows[-1] = (rows[-1][0] + rest, rows[-1][1])
    return said


def _ask_for(schema: JsonObject, said: list[tuple[str, str]]) -> None:
    request = SCHEMA_REQUEST.format(schema=_compact(schema))
    for place in range(len(said) - 1, -1, -1):
        role, text = said[place]
        if role == "user":
            said[place] = (role, f"{text}\n\n{request}")
            return
    said.append(("user", request))


def _messages(call: Call, marks: Collection[int] = ()) -> list[ModelMessage]:
    messages: list[ModelMessage] = []
    parts: list[ModelRequestPart] = []
    marked = iter(marked_messages(call, marks)) if marks else None
    for role, text in messages_of(call):
        rows = next(marked)[1] if marked else []
        match role:
            case "system":
                parts.append(SystemPromptPart(text))
            case "user" if any(mark for _, mark in rows):
                content: list[UserContent] = []
                for piece, mark in rows:
                    content += [piece, CachePoint()] if mark else [piece]
                parts.append(UserPromptPart(content))
            case "user":
                parts.append(UserPromptPart(text))
            case _:
                messages.extend([ModelRequest(parts)] if parts else [])
                messages.append(ModelResponse([TextPart(text)]))
                parts = []
    return [*messages, ModelRequest(parts)] if parts else messages


def _parameters(schema: dict[str, Any], name: str, mode: OutputMode) -> ModelRequestParameters:
    if mode is OutputMode.NATIVE:
        output = OutputObjectDefinition(json_schema=schema, name=name, strict=True)
        return ModelRequestParameters(output_mode="native", output_object=output)
    tool = ToolDefinition(
        name=name, description=TOOL_DESCRIPTION, parameters_json_schema=schema, strict=True, kind="output"
    )
    return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)


def _compact(schema: JsonObject) -> str:
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"), default=dict)


LEAST_BYTES: Final = 4096
_BOUNDARIES_KEPT: Final = 4096
_CALLS_KEPT: Final = 64
_BEHIND: Final = frozenset({OutputMode.PROMPTED, OutputMode.TEXT})
"""The modes with the schema at the end of the prompt."""


class Breakpoints:
    """Remembers which prefixes were marked in the calls to one model."""

    def __init__(self) -> None:
        self._marked: OrderedDict[int, None] = OrderedDict()
        self._schemas: OrderedDict[int, None] = OrderedDict()
        # Each attempt at a call must be the same request.
        self._known: OrderedDict[int, tuple[Call, tuple[int, ...]]] = OrderedDict()

    def of(self, call: Call) -> tuple[int, ...]:
        """The number of segments of ``call`` before each mark, ascending; at most three marks."""
        known = self._known.get(id(call))
        if known is None:
            known = self._known[id(call)] = (call, self._marks(call))
            _forget(self._known, _CALLS_KEPT)
        return known[1]

    def _marks(self, call: Call) -> tuple[int, ...]:
        schema = 0 if call.mode in _BEHIND else hash((call.schema_name, call.schema_text or str(call.schema)))
        writes = call.mode in _BEHIND or schema in self._schemas
        self._schemas[schema] = None
        _forget(self._schemas, _BOUNDARIES_KEPT)
        boundaries = _boundaries(call, schema)
        read = max((place for place, name in boundaries.items() if name in self._marked), default=0)
        marks = {read} if read else set()
        if writes and boundaries:
            marks.add(max(boundaries))
        shared = sum(row.role == "system" for row in call.segments)
        if writes and shared in boundaries and boundaries[shared] not in self._marked:
            # The prompts of all seats agree up to here.
            marks.add(shared)
        for place in marks:
            self._marked[boundaries[place]] = None
            self._marked.move_to_end(boundaries[place])
        _forget(self._marked, _BOUNDARIES_KEPT)
        return tuple(sorted(marks))


def _boundaries(call: Call, schema: int) -> dict[int, int]:
    """The possible places of marks before the task, each with a hash of everything before it."""
    roles = [row.role for row in call.segments]
    if "system" in roles[roles.count("system") :]:
        # It will be moved to the front, which changes the prefixes.
        return {}
    answered = next((place for place, row in enumerate(call.segments) if row.role == "assistant"), len(call.segments))
    found: dict[int, int] = {}
    name, size = schema, 0
    for place, row in enumerate(call.segments[: max(answered - 1, 0)], start=1):
        name, size = hash((name, row.role, row.text)), size + len(row.text.encode("utf-8", "replace"))
        if size >= LEAST_BYTES:
            found[place] = name
    return found


def _forget(kept: OrderedDict[int, Any], most: int) -> None:
    while len(kept) > most:
        kept.popitem(last=False)
