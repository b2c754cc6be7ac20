"""Rules as the record keeps them, and back: so that a debate resumes under the rules it began with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from fractions import Fraction
from typing import Any

from disputatio.formats.registry import Format
from disputatio.judging import Criterion, Rubric
from disputatio.kernel import JsonObject, Limits


def rules_json(rules: Any) -> JsonObject:
    """A format's rules as JSON; weights are exact fractions in text."""
    return {row.name: _value_json(getattr(rules, row.name)) for row in fields(rules)}


def rules_from_json(form: Format, body: Mapping[str, Any]) -> Any:
    """The rules that a record keeps.

    Raises:
        TypeError: the record names a rule that the format does not have.
    """
    values = {name: _value(body[name]) for name in body}
    return form.rules(**values)


def _value_json(value: Any) -> Any:
    if isinstance(value, Limits):
        return asdict(value)
    if isinstance(value, Rubric):
        criteria = [{"key": row.key, "weight": str(row.weight), "question": row.question} for row in value.criteria]
        return {"name": value.name, "criteria": criteria}
    return value


def _value(value: Any) -> Any:
    if isinstance(value, Mapping) and "criteria" in value:
        criteria = (Criterion(row["key"], Fraction(row["weight"]), row["question"]) for row in value["criteria"])
        return Rubric(value["name"], tuple(criteria))
    return Limits(**value) if isinstance(value, Mapping) else value
