"""What seats are writing right now: raw output gathered as it comes, read only when somebody looks.

Adding text costs an append. Reading parses the unfinished JSON, so it is done once for each picture that is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from disputatio.motion import clean, count_words
from disputatio.record.text import replace_surrogates
from disputatio.report.turns.registry import turn_kind
from disputatio.report.turns.statement import Questions, Statement
from disputatio.tools.tool_choice import is_choice

_LONGEST = 200_000
"""Characters of an answer that are looked at; a longer one is not read by the rules either."""


@dataclass(slots=True)
class Draft:
    """The answer to one call while it is written."""

    form: str
    seat: str
    part: str = ""
    _pieces: list[str] = field(default_factory=list)
    _size: int = 0
    _read: tuple[Statement, ...] = ()
    _fresh: bool = True

    def add(self, text: str) -> None:
        """Take in new output."""
        if self._size < _LONGEST:
            self._pieces.append(text)
            self._size += len(text)
            self._fresh = False

    @property
    def begun(self) -> bool:
        """Whether any output came."""
        return self._size > 0

    @property
    def raw(self) -> str:
        """The output so far, as the model wrote it."""
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    def statements(self, questions: Questions) -> tuple[Statement, ...]:
        """What can be read of it so far; the last statement may be unfinished."""
        if is_choice(self.part):
            return ()
        if not self._fresh:
            self._fresh = True
            content = partial_object("".join(self._pieces))
            if content is not None:
                kind = turn_kind(self.form)
                whole = kind.whole_of_part(self.part, content) if self.part else content
                self._read = tuple(row for row in kind.statements(self.seat, whole, questions) if row.texts)
        return self._read

    def words(self, questions: Questions) -> int:
        """The words that can be read so far."""
        return sum(count_words(text) for row in self.statements(questions) for text in row.texts)


def partial_object(text: str) -> Mapping[str, Any] | None:
    """The unfinished JSON object in ``text``, whatever stands before it; None where there is none to read."""
    from pydantic_core import from_json

    # A lone surrogate is no text to the parser.
    text = replace_surrogates(text)
    start = text.find("{")
    if start < 0:
        return None
    # What follows a finished object (a closing fence, a remark) is no JSON: read up to the last brace then.
    for body in (text[start:], text[start : text.rfind("}") + 1]):
        try:
            value = from_json(body, allow_partial="trailing-strings")
        except ValueError:
            continue
        return _cleaned(value) if isinstance(value, dict) else None
    return None


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): _cleaned(row) for key, row in value.items()}
    return [_cleaned(row) for row in value] if isinstance(value, list) else value
