"""Answers as a participant of certain habits would give them, valid under the schema of the form; for previews."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count
from random import Random
from typing import Any

from disputatio.formats.turns.schema import beginnings_in
from disputatio.participants.length_profiles import LengthProfile

_OPEN = "It stays open because"
_CONTESTED = {"no": "yes", "strong": "good", "unresolved": "unresolved", _OPEN: _OPEN}
"""By the last of the words that there are to choose from."""
_SETTLED = {"no": "no", "yes": "no", "unresolved": "resolved_for_proposition"}
_NUMBER = re.compile("(?<![0-9])[0-9]++(?= )")
_FEWEST_CHARACTERS = 8
_UNSAID = 400
"""Characters that are allowed where a form sets no bound."""
_SYLLABLES = ("ba", "do", "fe", "gi", "ka", "lu", "mo", "ne", "pi", "ra", "so", "tu", "va", "wen", "zor")


class Said:
    """The made-up texts of one course, each with a number of its own in it, by which it is found again."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, int]] = []

    @property
    def next_number(self) -> int:
        """The number of the text that is made next."""
        return len(self._texts) + 1

    def add(self, text: str, place: int) -> None:
        """Take in the text with ``next_number``, which stands at ``place`` in it."""
        self._texts.append((text, place))

    def bytes_in(self, whole: str) -> int:
        """How many bytes of ``whole`` are those of texts that were made before; they are plain ASCII.

        It takes one pass over ``whole``, however many texts there are.
        """
        size = 0
        for found in _NUMBER.finditer(whole):
            number = int(found[0])
            if 0 < number <= len(self._texts):
                text, place = self._texts[number - 1]
                if place <= found.start() and whole.startswith(text, found.start() - place):
                    size += len(text)
        return size


class Typical:
    """Writes the answers of one seat after another; no text comes twice.

    Args:
        habits: how they answer.
        course: tells one course of a debate from another where choices are drawn.
        said: the texts of the course, where others write in it too.
    """

    def __init__(self, length_profile: LengthProfile, course: int = 0, said: Said | None = None) -> None:
        self._habits = length_profile
        self._said = said or Said()
        self._choices: dict[str, Iterator[int]] = {}
        # Nothing secret hangs on it: it only has to be the same tomorrow.
        self._drawn = Random(f"course {course}")  # noqa: S311

    def answer(self, schema: Mapping[str, Any], field: str = "") -> Any:
        """An answer under ``schema``, as the forms of this package write schemas.

        Raises:
            LookupError, TypeError, ValueError: a schema of another kind.
        """
        if "enum" in schema:
            return self._choice(schema["enum"])
        match schema["type"]:
            case "object":
                return {name: self.answer(row, name) for name, row in schema["properties"].items()}
            case "array":
                return [self.answer(schema["items"], field) for _ in range(self._items(schema))]
            case "integer":
                return self._whole(schema["minimum"], schema["maximum"])
            case "number":
                return (schema["minimum"] + schema["maximum"]) / 2
        return self._text(schema, field)

    def _choice(self, words: Sequence[Any]) -> Any:
        """By habit: at random; what ends the debate; or in turn, so that something always stays open."""
        if self._habits.draws:
            return self._drawn.choice(words)
        if self._habits.settles:
            settled = _SETTLED.get(words[-1])
            return settled if settled in words else words[0]
        if _CONTESTED.get(words[-1]) in words:
            return _CONTESTED[words[-1]]
        return words[next(self._choices.setdefault(repr(words), count())) % len(words)]

    def _items(self, schema: Mapping[str, Any]) -> int:
        fewest: int = schema.get("minItems", 0)
        more = self._habits.more_items
        most: int = schema.get("maxItems", fewest + 2 * more)
        if not more:
            return fewest
        # As many more as fewer than the habit says, so that the habit is what comes out on the whole.
        more = self._drawn.randint(0, 2 * more) if self._habits.draws else more
        return min(max(fewest, 1) + more, most)

    def _whole(self, least: int, most: int) -> int:
        return self._drawn.randint(least, most) if self._habits.draws else (least + most + 1) // 2

    def _text(self, schema: Mapping[str, Any], field: str) -> str:
        least, most = schema.get("minLength", 0), schema.get("maxLength", _UNSAID)
        length = min(max(least, self._habits.length(field, most), _FEWEST_CHARACTERS), most)
        begun = beginnings_in(schema.get("pattern", ""))
        # A sentence of a small model: one of its beginnings, then at least so many signs, and a full stop.
        first, needed = (f"{self._choice(begun.words)} ", begun.minimum) if begun else ("", 0)
        length = max(length, len(first) + needed + 1) - bool(begun)
        text = (first + self._words(length))[:length].strip().ljust(least, ".")
        text = f"{text.ljust(len(first) + needed, 'x')}{begun.end}" if begun else text
        self._said.add(text, len(first))
        return text

    def _words(self, length: int) -> str:
        """Made-up words that stand in no other text, ``length`` characters or somewhat more.

        A number and a denial make a criticism of it that counts; without the denial it is asked for again.
        """
        number = self._said.next_number
        head = f"{number} not " if self._habits.objects else f"{number} "
        line = _line(number)
        return head + line * (length // len(line) + 1)


# The courses of a preview, and all previews of a process, count their texts from one.
@lru_cache(maxsize=16_384)
def _line(number: int) -> str:
    """Forty made-up words of one to four syllables, others for every number."""
    drawn = Random(number)  # noqa: S311
    bits, share, syllables = drawn.getrandbits, drawn.random, len(_SYLLABLES)
    line = []
    for _ in range(40):
        # As ``randint(1, 4)`` and ``choices`` draw them, in a third of the time.
        more = bits(3)
        while more >= 4:
            more = bits(3)
        line += [_SYLLABLES[int(share() * syllables)] for _ in range(more + 1)]
        line.append(" ")
    return "".join(line)
