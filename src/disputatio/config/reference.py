"""Write the tables of keys in the reference from the options: ``python -m disputatio.config.reference``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from disputatio.config.keys import Key, keys_of, keys_of_options
from disputatio.formats.options import FormatOptions
from disputatio.formats.registry import FORMATS
from disputatio.options import Option
from disputatio.request.configuration import Configuration
from disputatio.request.formats import options_of
from disputatio.request.model import DebateRequest

_TABLES = re.compile(r"(?<=<!-- keys -->\n).*(?=<!-- end of keys -->)", re.DOTALL)
_UNGROUPED: Mapping[type, str] = {DebateRequest: "Every debate", Configuration: "The machine"}
_HEAD = "| key | variable | option | value |\n| --- | --- | --- | --- |\n"


def groups() -> Iterator[tuple[str, str, tuple[Key, ...]]]:
    """The heading, a sentence and the keys of each group of options. Each format is a group."""
    found: dict[type, list[Key]] = {}
    owner: type = DebateRequest
    for key in keys_of(""):
        if key.row is not None:
            owner = key.row.owner
        if not issubclass(owner, FormatOptions):
            found.setdefault(owner, []).append(key)
    for owner, keys in found.items():
        name = _UNGROUPED.get(owner) or str(getattr(owner, "GROUP", "")).partition(".")[0].capitalize()
        yield name, _first_sentence(owner), tuple(keys)
    shared = FormatOptions.model_fields
    rows = [row for row in options_of("structured") if row.name in shared]
    yield "Every format", _first_sentence(FormatOptions), keys_of_options(rows)
    for name in FORMATS:
        rows = [row for row in options_of(name) if row.name not in shared and row.key]
        if rows:
            yield f"Format {name}", _first_sentence(rows[0].owner), keys_of_options(rows)


def tables() -> str:
    """A table for each group."""
    return "\n".join(
        f"### {name}\n\n{about}\n\n{_HEAD}{''.join(_line(key) for key in keys)}" for name, about, keys in groups()
    )


def _first_sentence(owner: type) -> str:
    return (owner.__doc__ or "").strip().partition("\n")[0].replace("``", "`")


def _line(key: Key) -> str:
    return f"| `{key.pattern}` | {_code(key.variable)} | {_code(key.option)} | {_value(key)} |\n"


def _code(word: str) -> str:
    return f"`{word}`" if word else ""


def _value(key: Key) -> str:
    """The meaning of the key, its allowed values and its default."""
    row = key.row
    if row is None:
        return "The question that the judge answers, in one line" if key.pattern.endswith("question") else "The same"
    choices = "" if all(word in row.help for word in row.choices) else f"; {', '.join(row.choices)}"
    usual = row.default
    default = f"; default {str(usual).lower()}" if usual not in (None, "", (), {}) and not row.is_mapping else ""
    shape = "; true or false" if row.is_flag else ""
    return f"{row.help.rstrip('.')}{choices}{_span(row)}{shape}{default}".replace("|", "\\|")


def _span(row: Option) -> str:
    """The bounds of its number."""
    if row.is_many:
        return ""
    low, high, above = (row.bounds.get(name) for name in ("ge", "le", "gt"))
    if high is None:
        return ""
    if above is not None:
        return f"; above {above}"
    return f"; {low:,} to {high:,}" if low is not None else ""


def main() -> None:
    """Write the tables into the page."""
    page = Path(sys.argv[1])
    page.write_text(_TABLES.sub(lambda _: tables(), page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
