"""Writes the table of keys in the reference from the options themselves: ``python -m disputatio.config.reference``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from disputatio.config.keys import Key, keys_of

_TABLE = re.compile(r"(?<=\n\| key \| variable \| option \| value \|\n\| --- \| --- \| --- \| --- \|\n)(?:\|[^\n]*\n)*")


def table() -> str:
    """The rows of the table, one for each key."""
    return "".join(
        f"| `{key.pattern}` | {_code(key.variable)} | {_code(key.option)} | {_value(key)} |\n" for key in keys_of("")
    )


def _code(word: str) -> str:
    return f"`{word}`" if word else ""


def _value(key: Key) -> str:
    """What the key sets, what it may be, and its default."""
    row = key.row
    if row is None:
        return "what the judge is asked about it, in one line" if key.pattern.endswith("question") else "the same"
    low, high = row.bounds.get("ge"), row.bounds.get("le")
    span = f"; {low} to {high}" if low is not None and high is not None and not row.is_many else ""
    default = row.default
    usual = f"; default {str(default).lower()}" if default not in (None, (), {}) and not row.is_mapping else ""
    return f"{row.help.rstrip('.')}{span}{usual}".replace("|", "\\|")


def main() -> None:
    """Print the page with the table as it should be."""
    page = Path(sys.argv[1])
    page.write_text(_TABLE.sub(table().replace("\\", "\\\\"), page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
