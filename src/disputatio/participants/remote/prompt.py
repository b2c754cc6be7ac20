"""A ``Call`` as the messages, parameters and settings that pydantic-ai takes.

What a prompt looks like on the wire is a rule of this module:

- all system segments become one system message, which comes first;
- other neighbours of one role become one message each;
- segments in a message are joined by a blank line and are otherwise sent as they are;
- in prompted mode the schema follows the last user segment, worded as ``SCHEMA_REQUEST``;
- in tool mode the answer is the argument of one tool, described as ``TOOL_DESCRIPTION``.

This module imports pydantic-ai when it is imported, so import it only where a gateway is opened.
"""

from __future__ import annotations

import itertools
import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from disputatio.kernel import Json, JsonObject
from disputatio.participants.call import Call, OutputMode

SCHEMA_REQUEST: Final = (
    "Answer with one JSON object and nothing else: no words before or after it and no code fence. "
    "It must be valid under this JSON Schema:\n{schema}"
)
"""What prompted mode adds after the last user segment; ``{schema}`` is the schema as compact JSON."""

TOOL_DESCRIPTION: Final = "Gives the answer. Call it exactly once."
"""The description of the one tool in tool mode."""


@dataclass(frozen=True, slots=True)
class Structure:
    """How a request asks for structure: by pydantic-ai's parameters, or by keys of the body beside them."""

    parameters: ModelRequestParameters
    body: dict[str, Any] | None = None


class Prompts:
    """Turns calls into requests for one model.

    What becomes of a schema is worked out once per schema and mode: rewriting one for a provider costs more
    than everything else here.

    Args:
        takes_temperature: whether the model takes a temperature; if not, none is sent.
        fixed: settings that every request carries.
    """

    _KEPT: Final = 64

    def __init__(self, *, takes_temperature: bool = True, fixed: ModelSettings | None = None) -> None:
        self._takes_temperature = takes_temperature
        self._fixed: ModelSettings = fixed or {}
        # The schema is kept beside its structure so that its identity stays taken.
        self._known: OrderedDict[tuple[int, str, OutputMode], tuple[JsonObject, Structure]] = OrderedDict()

    def messages(self, call: Call) -> list[ModelMessage]:
        """The prompt of ``call``."""
        system = "\n\n".join(segment.text for segment in call.segments if segment.role == "system")
        spoken = [
            (role, "\n\n".join(segment.text for segment in run))
            for role, run in itertools.groupby(
                (segment for segment in call.segments if segment.role != "system"), lambda segment: segment.role
            )
        ]
        if call.mode is OutputMode.PROMPTED and call.schema is not None:
            spoken = _with_schema(spoken, call.schema)
        messages: list[ModelMessage] = []
        parts: list[ModelRequestPart] = [SystemPromptPart(system)] if system else []
        for role, text in spoken:
            if role == "assistant":
                if parts:
                    messages.append(ModelRequest(parts))
                    parts = []
                messages.append(ModelResponse([TextPart(text)]))
            else:
                # A cache breakpoint for Anthropic would go here: the text as a list with a CachePoint after
                # the segments that the debate's next prompt will begin with.
                parts.append(UserPromptPart(text))
        if parts:
            messages.append(ModelRequest(parts))
        return messages

    def structure(self, call: Call) -> Structure:
        """How ``call`` asks for structure."""
        if call.schema is None or call.mode in (OutputMode.TEXT, OutputMode.PROMPTED):
            return UNSTRUCTURED
        key = (id(call.schema), call.schema_name, call.mode)
        known = self._known.get(key)
        if known is not None:
            self._known.move_to_end(key)
            return known[1]
        structure = self.structured(plain(call.schema), call.schema_name, call.mode)
        self._known[key] = (call.schema, structure)
        if len(self._known) > self._KEPT:
            self._known.popitem(last=False)
        return structure

    def structured(self, schema: dict[str, Any], name: str, mode: OutputMode) -> Structure:
        """How a request for ``schema`` is put in native or tool mode."""
        if mode is OutputMode.NATIVE:
            output = OutputObjectDefinition(json_schema=schema, name=name, strict=True)
            return Structure(ModelRequestParameters(output_mode="native", output_object=output))
        tool = ToolDefinition(
            name=name,
            description=TOOL_DESCRIPTION,
            parameters_json_schema=schema,
            strict=True,
            kind="output",
        )
        return Structure(ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False))

    def settings(self, call: Call, structure: Structure) -> ModelSettings:
        """The settings of ``call``, whose structure is ``structure``."""
        settings: ModelSettings = {**self._fixed, "max_tokens": call.max_tokens}
        if call.temperature is not None and self._takes_temperature:
            settings["temperature"] = call.temperature
        if call.seed is not None:
            settings["seed"] = call.seed
        if structure.body is not None:
            settings["extra_body"] = structure.body
        return settings


UNSTRUCTURED: Final = Structure(ModelRequestParameters(output_mode="text"))
"""A request for text."""


def plain(value: JsonObject) -> dict[str, Any]:
    """``value`` with plain dicts and lists, which is all that JSON encoders take."""
    return {key: _plain(item) for key, item in value.items()}


def _plain(value: Json) -> Any:
    if isinstance(value, Mapping):
        return plain(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _with_schema(spoken: list[tuple[str, str]], schema: JsonObject) -> list[tuple[str, str]]:
    text = json.dumps(plain(schema), ensure_ascii=False, separators=(",", ":"))
    request = SCHEMA_REQUEST.format(schema=text)
    last = max((i for i, (role, _) in enumerate(spoken) if role == "user"), default=None)
    if last is None:
        return [*spoken, ("user", request)]
    return [*spoken[:last], ("user", f"{spoken[last][1]}\n\n{request}"), *spoken[last + 1 :]]
