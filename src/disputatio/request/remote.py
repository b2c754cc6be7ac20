"""Requests of remote callers: their JSON Schema, and the names of earlier versions.

Earlier versions had no groups: ``budget_usd`` was ``budget.usd``. HTTP callers and stored jobs may still use such
names. Each of them is a command-line option, so nothing is listed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import did_you_mean, quote
from disputatio.options import Given, Option, options_in
from disputatio.options.reading import dotted, key_path
from disputatio.request.formats import options_of, options_of_formats
from disputatio.request.model import DebateRequest

_SETTINGS = "settings"
"""Earlier requests gave configuration keys under this name."""


def group_options(body: Mapping[str, Any]) -> dict[str, Any]:
    """``body`` with every option in its group.

    Raises:
        InvalidInputError: it has a configuration key that no request may have.
    """
    found = {name: value for name, value in body.items() if name in DebateRequest.model_fields}
    common, special = _by_name(body)
    others = [(name, value) for name, value in body.items() if name not in found]
    for name, value in others:
        row = common.get(name) or special.get(name)
        if name == _SETTINGS and isinstance(value, Mapping):
            for key, each in value.items():
                _set_key(found, str(key), each, [*common.values(), *special.values()])
        elif row is not None:
            _put(found, row, value)
        else:
            found[name] = value
    return found


def _by_name(body: Mapping[str, Any]) -> tuple[dict[str, Option], dict[str, Option]]:
    """The options of all debates and those of formats by their earlier names, the chosen format's first."""
    rows = [row for row in options_in(DebateRequest) if row.owner is not DebateRequest]
    common = {row.flat_name: row for row in rows if row.flag}
    chosen = body.get("format", "structured")
    name = chosen.get("name") if isinstance(chosen, Mapping) else chosen
    names = sorted(options_of_formats(), key=lambda each: each != name)
    special: dict[str, Option] = {}
    for row in (row for each in names for row in options_of(each) if row.name not in {"rules", "weights", "share"}):
        special.setdefault(row.name, row)
        special.setdefault(row.flat_name, row)
    return common, special


def _put(found: dict[str, Any], row: Option, value: Any) -> None:
    if row.owner.GROUP:
        group = found.get(row.owner.GROUP) or {}
        found[row.owner.GROUP] = {**group, row.name: value} if isinstance(group, Mapping) else group
        return
    chosen = found.get("format", "structured")
    table = {"name": chosen} if isinstance(chosen, str) else chosen
    empty = value in ([], {}, "")
    found["format"] = {**table, row.name: value} if isinstance(table, Mapping) and not empty else chosen


def _set_key(found: dict[str, Any], key: str, value: Any, rows: list[Option]) -> None:
    """Set the value of a configuration key where the request has it."""
    from disputatio.formats.options import Panel

    path = key_path(key, "settings of the request")
    key = ".".join(path)
    every = [*options_in(DebateRequest), *options_in(Panel)]
    row = next((each for each in every if each.key == key and not each.local), None)
    if row is not None and key:
        # Earlier versions took text for numbers here.
        read = isinstance(value, str) and not row.choices
        _put(found, row, row.read(key, Given(value, f"settings.{key} of the request")) if read else value)
        return
    for each in every:
        head, _, tail = each.key.partition("<")
        name = key[len(head) :]
        if tail and head and key.startswith(head) and name and not head.startswith("seats") and not each.local:
            name, _, part = name.partition(".") if each.name == "criteria" else (name, "", "")
            group = found.get(each.owner.GROUP, {}) if each.owner.GROUP else _table(found)
            values = dict(group.get(each.name) or {})
            values[name] = {**_criterion(values.get(name)), part: value} if part else value
            _put(found, each, values)
            return
    known = sorted({each.key.split(".")[0] for each in rows if each.key and not each.local})
    near = [each.key.rpartition(".")[2] for each in every if each.key.startswith(f"{path[0]}.") and not each.local]
    hint = did_you_mean(path[-1], near) if near else did_you_mean(path[0], known)
    raise InvalidInputError(
        f"A request may not have the setting {quote(key)} (from settings.{dotted(path)} of the request).",
        f"{hint}Allowed are keys under limits, judging, rubric, criteria, rules and decision.",
    )


def _table(found: Mapping[str, Any]) -> Mapping[str, Any]:
    chosen = found.get("format")
    return chosen if isinstance(chosen, Mapping) else {}


def _criterion(given: Any) -> dict[str, Any]:
    return dict(given) if isinstance(given, Mapping) else {} if given is None else {"weight": given}


_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
"""Pydantic's names for bounds of converted values, and those of JSON Schema."""


def request_schema() -> dict[str, Any]:
    """The schema of a request, with its groups under ``$defs``."""
    schema: dict[str, Any] = remote_schema(DebateRequest.model_json_schema())
    return schema


def remote_schema(schema: Any) -> Any:
    """``schema`` without the options that only the user of the machine may set, at every depth.

    Bounds get the names of JSON Schema. Command-line examples are dropped where the value is no text.

    Args:
        schema: a JSON Schema, or a document that contains schemas.
    """
    if isinstance(schema, list):
        return [remote_schema(row) for row in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {_BOUNDS.get(name, name) if not isinstance(row, Mapping) else name: row for name, row in schema.items()}
    if isinstance(found.get("properties"), Mapping):
        found["properties"] = {name: row for name, row in found["properties"].items() if "local" not in row}
    if "$ref" in found or found.get("default", "") is None:
        # The default of a group contains its local options, and a null default says nothing.
        found.pop("default", None)
    kinds = {row.get("type") for row in (found, *found.get("anyOf", ())) if isinstance(row, Mapping)}
    if "string" not in kinds and kinds & {"array", "object"}:
        found["examples"] = [row for row in found.get("examples", ()) if not isinstance(row, str)]
        found = {name: row for name, row in found.items() if name != "examples" or row}
    return {name: row if name in {"default", "examples", "enum"} else remote_schema(row) for name, row in found.items()}
