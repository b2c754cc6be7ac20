"""Says in sentences what pydantic finds wrong with a body."""

from __future__ import annotations

import re
from typing import Any

from disputatio.motion import one_line

_MOST_ERRORS = 3
_A_KIND = re.compile(r"^(constrained-)?(str|int|float|bool|decimal)$|\[")
"""How pydantic names a kind among several, in the place of an error."""


def describe_errors(errors: list[Any]) -> tuple[str, str]:
    """What is wrong with a body, and what would do, in words for people."""
    if any(row["type"] in {"json_invalid", "model_attributes_type"} for row in errors):
        return "The body is no JSON object.", "Send a JSON object, with Content-Type: application/json."
    found: dict[str, list[str]] = {}
    for row in errors:
        # A value that may be of several kinds is named once, with what each of them wants.
        parts = [str(part) for part in row["loc"] if part != "body"]
        place = ".".join(part for part in parts if not _A_KIND.search(part))
        what = str(row["msg"]).removeprefix("Value error, ")
        found.setdefault(one_line(place, 80), []).append(f"{what[:1].lower()}{what[1:]}")
    rows = [f"{place}: {', or '.join(said)}" if place else ", or ".join(said) for place, said in found.items()]
    more = f"; and {len(rows) - _MOST_ERRORS} more" if len(rows) > _MOST_ERRORS else ""
    return (
        f"The request does not have the form that is asked for: {'; '.join(rows[:_MOST_ERRORS])}{more}.",
        "See /openapi.json.",
    )
