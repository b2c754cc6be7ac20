"""What a remote caller may send, as JSON Schema: OpenAPI and MCP describe requests with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from disputatio.request.model import DebateRequest

_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
"""How pydantic writes the bounds of a value that it converts first, and the words of JSON Schema."""


def request_schema() -> dict[str, Any]:
    """The schema of a request by itself, with its groups under ``$defs``."""
    schema: dict[str, Any] = remote_schema(DebateRequest.model_json_schema())
    return schema


def remote_schema(schema: Any) -> Any:
    """``schema`` without the options that only the user of the machine may set, within groups and formats too.

    Bounds are written in the words of JSON Schema. Examples that are written as on a command line are left out where
    the value is no text.

    Args:
        schema: a JSON Schema, or a document with schemas in it.
    """
    if isinstance(schema, list):
        return [remote_schema(row) for row in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {_BOUNDS.get(name, name) if not isinstance(row, Mapping) else name: row for name, row in schema.items()}
    if isinstance(found.get("properties"), Mapping):
        found["properties"] = {name: row for name, row in found["properties"].items() if "local" not in row}
    if "$ref" in found or found.get("default", "") is None:
        # The default of a group has its local options in it, too; and nothing is said by none.
        found.pop("default", None)
    kinds = {row.get("type") for row in (found, *found.get("anyOf", ())) if isinstance(row, Mapping)}
    if "string" not in kinds and kinds & {"array", "object"}:
        found["examples"] = [row for row in found.get("examples", ()) if not isinstance(row, str)]
        found = {name: row for name, row in found.items() if name != "examples" or row}
    return {name: row if name in {"default", "examples", "enum"} else remote_schema(row) for name, row in found.items()}
