"""The schema by which a seat chooses tools to call, and the reading of its choice.

The schema holds most rules: the tools are an enum, arguments have the tool's names, and lists are bounded. A server's
schema may contain anything, so it is never passed on. Plain parts are written again in terms that all providers accept;
otherwise the arguments are requested as the text of a JSON object, which the tool itself checks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from disputatio.kernel import Json, JsonObject
from disputatio.motion import clean, one_line
from disputatio.record.text import canonical
from disputatio.tools.protocol import OfferedTool, ToolRequest

CHOICE_SPEC = "consultation"
_CHOICE_PART = "tools-"
MAX_ARGUMENT_CHARS = 2_000
"""Of one text argument."""
MAX_SHOWN_SCHEMA_CHARS = 4_000
"""Longest schema that is shown to a seat, in characters."""
_MAX_PARAMETERS = 16
_MAX_ENUM_WORDS = 40
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_NOTES = {"title", "description", "default", "examples", "$schema", "deprecated", "readOnly"}
_BOUNDS = {"minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "format", "pattern"}
_LIST_BOUNDS = {"minItems", "maxItems", "uniqueItems"}


def build_choice_schema(tools: Sequence[OfferedTool], most: int) -> JsonObject:
    """Build the JSON Schema of a choice of at most ``most`` calls of ``tools``; an empty list chooses none."""
    calls = [_build_call_schema(tool) for tool in tools]
    items: JsonObject = calls[0] if len(calls) == 1 else {"anyOf": calls}
    return _build_object({"calls": {"type": "array", "items": items, "maxItems": most}})


def name_choice_part(number: int) -> str:
    """Return the recorded part name of the choice in round ``number``, counted from 1."""
    return f"{_CHOICE_PART}{number}"


def is_choice(part: str) -> bool:
    """Whether a part of a turn is a choice of tools."""
    return part.startswith(_CHOICE_PART)


def _build_call_schema(tool: OfferedTool) -> JsonObject:
    arguments = simplify_arguments(tool.parameters)
    if arguments is None:
        arguments = {"type": "string", "maxLength": MAX_ARGUMENT_CHARS}
    return _build_object({"tool": {"type": "string", "enum": [tool.name]}, "arguments": arguments})


def _build_object(properties: dict[str, Json]) -> JsonObject:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def simplify_arguments(parameters: JsonObject) -> JsonObject | None:
    """Rewrite ``parameters`` in plain terms, all required and optional ones nullable; None if that is not possible."""
    if parameters.get("type", "object") != "object":
        return None
    properties, required = parameters.get("properties", {}), parameters.get("required", [])
    known = {*_NOTES, "type", "properties", "required", "additionalProperties"}
    if not isinstance(properties, Mapping) or not isinstance(required, list | tuple) or set(parameters) - known:
        return None
    if len(properties) > _MAX_PARAMETERS or not all(_NAME.fullmatch(name) for name in properties):
        return None
    plain: dict[str, Json] = {}
    for name, row in properties.items():
        value = _simplify_value(row)
        if value is None:
            return None
        plain[name] = value if name in required else _make_nullable(value)
    return _build_object(plain)


def _simplify_value(row: object) -> JsonObject | None:
    if not isinstance(row, Mapping):
        return None
    branches = row.get("anyOf", row.get("oneOf"))
    if branches is not None:
        return _simplify_branches(row, branches)
    kind, words = row.get("type"), set(row) - _NOTES - _BOUNDS - {"type"}
    if isinstance(kind, list | tuple) and "null" in kind and len(kind) == 2:
        inner = _simplify_value({**row, "type": next(name for name in kind if name != "null")})
        return inner and _make_nullable(inner)
    if "enum" in row:
        return _simplify_enum(row["enum"]) if words == {"enum"} else None
    if kind == "string" and not words:
        return {"type": "string", "maxLength": MAX_ARGUMENT_CHARS}
    if kind in {"integer", "number", "boolean"} and not words:
        bounds = {name: row[name] for name in ("minimum", "maximum") if kind == "integer" and _is_bound(row.get(name))}
        return {"type": str(kind), **bounds}
    if kind == "array" and words - _LIST_BOUNDS == {"items"}:
        items = _simplify_value(row["items"])
        return items and {"type": "array", "items": items, "maxItems": 20}
    return None


def _is_bound(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9


def _simplify_branches(row: Mapping[str, Any], branches: object) -> JsonObject | None:
    """Accept one plain branch and null, a common form of optional parameters."""
    if set(row) - _NOTES - {"anyOf", "oneOf"} or not isinstance(branches, list | tuple):
        return None
    real = [branch for branch in branches if not (isinstance(branch, Mapping) and branch.get("type") == "null")]
    inner = _simplify_value(real[0]) if len(real) == 1 else None
    return inner and _make_nullable(inner)


def _simplify_enum(words: object) -> JsonObject | None:
    if not isinstance(words, list | tuple) or not 0 < len(words) <= _MAX_ENUM_WORDS:
        return None
    fitting = all(isinstance(word, str) and 0 < len(word) <= 100 and one_line(word) == word for word in words)
    return {"type": "string", "enum": list(words)} if fitting else None


def _make_nullable(value: JsonObject) -> JsonObject:
    return value if "anyOf" in value else {"anyOf": [value, {"type": "null"}]}


def read_choice(content: JsonObject, tools: Sequence[OfferedTool], most: int) -> tuple[ToolRequest, ...]:
    """Read the calls in ``content``, which is valid under ``build_choice_schema``, without duplicates."""
    by_name = {tool.name: tool for tool in tools}
    rows: Any = content["calls"]
    requests: dict[str, ToolRequest] = {}
    for row in rows[:most]:
        request = _read_request(by_name[row["tool"]], row["arguments"])
        requests.setdefault(request.key, request)
    return tuple(requests.values())


def _read_request(tool: OfferedTool, given: Any) -> ToolRequest:
    if isinstance(given, Mapping):
        required = tool.parameters.get("required", ())
        wanted = required if isinstance(required, list | tuple) else ()
        # Null means a parameter left out, because a strict schema requires all names.
        return ToolRequest(tool.name, {name: row for name, row in given.items() if row is not None or name in wanted})
    try:
        value = json.loads(given, parse_constant=_refuse_constant) if given.strip() else {}
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        return ToolRequest(tool.name, {"text": given}, "The arguments are not the text of one JSON object.")
    return ToolRequest(tool.name, value)


def _refuse_constant(word: str) -> object:
    raise ValueError(f"{word} is not allowed in JSON")


def describe_tools(tools: Sequence[OfferedTool]) -> str:
    """Describe name, purpose and arguments of each tool for the seat. The text is untrusted: makers wrote it."""
    return "\n\n".join(_describe_tool(tool) for tool in tools)


def _describe_tool(tool: OfferedTool) -> str:
    lines = [f"{tool.name}: {tool.description}"]
    plain = simplify_arguments(tool.parameters)
    if plain is None:
        lines.append(f"  arguments: the text of one JSON object, valid under {canonical(tool.parameters)}")
        return "\n".join(lines)
    properties: Any = tool.parameters.get("properties", {})
    required: Any = tool.parameters.get("required", ())
    for name, row in properties.items():
        note = one_line(clean(str(row.get("description") or row.get("title") or "")), 200)
        need = "" if name in required else ", may be null"
        lines.append(f"  {name} ({_name_type(row)}{need}): {note}".rstrip(": "))
    return "\n".join(lines)


def _name_type(row: Mapping[str, Any]) -> str:
    if "enum" in row:
        return "one of " + ", ".join(map(str, row["enum"]))
    kind = row.get("type")
    if isinstance(kind, str):
        return {"array": "list", "integer": "whole number", "string": "text", "boolean": "true or false"}.get(
            kind, kind
        )
    return "text"
