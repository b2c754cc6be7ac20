"""Puts a prompt together: what is shared first and never changed, the task of the seat last.

Every provider's prefix cache then serves the rules, the motion, the evidence and the transcript from the second
call on. The system message is the same for every seat of a debate; the transcript only grows at its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from disputatio.kernel import Ask, JsonObject, Part, Seat
from disputatio.motion import Evidence, Motion, one_line
from disputatio.participants.call import Segment
from disputatio.prompts.book import PromptBook
from disputatio.prompts.fence import fence, quoted
from disputatio.record.text import canonical

SMALL_EVIDENCE_CHARS = 3_000
"""How much of the evidence a small model is given, all sources together."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What every prompt of one debate rests on. ``personas`` are by seat."""

    format_name: str
    motion: Motion
    evidence: tuple[Evidence, ...] = ()
    personas: Mapping[str, str] = field(default_factory=dict)


def compose(book: PromptBook, setting: Setting, ask: Ask) -> tuple[Segment, ...]:
    """The whole prompt of ``ask``."""
    heard = [_heard(book, post.seat, post.phase, post.text) for post in ask.sees]
    task = _filled(book, f"{setting.format_name}/{ask.task.prompt}", ask.task.values, ask.task.quotes)
    persona = _persona(book, setting, ask.seat)
    common = _common(book, setting.format_name, setting.motion, setting.evidence)
    return (common, *heard, Segment("user", persona + task))


def compose_part(book: PromptBook, setting: Setting, ask: Ask, part: Part) -> tuple[Segment, ...]:
    """The prompt of one part of ``ask``, for a small model: short, with only what the part is about."""
    system = book.fill("small/rules", {})
    if setting.motion.language != "English":
        system += "\n" + book.fill("shared/language", {"language": setting.motion.language})
    values = {"motion": quoted(setting.motion.text), **ask.task.values, **part.task.values}
    quotes = {name: quoted(text) for name, text in part.task.quotes.items()}
    text = book.fill(f"small/{part.task.prompt}", {**_EMPTY_QUOTES, **values, **quotes})
    evidence = _small_evidence(setting)
    return (Segment("system", system), Segment("user", _persona(book, setting, ask.seat) + evidence + text))


_EMPTY_QUOTES = dict.fromkeys(("earlier", "questions", "responses", "defence"), "")


# A debate sends its history again with every call; what was rendered for one call serves the next ones.
@lru_cache(maxsize=1024)
def _heard(book: PromptBook, seat: str, phase: str, text: str) -> Segment:
    fenced = fence(f"{seat} {phase}", text)
    return Segment("user", book.fill("shared/heard", {"speaker": seat.upper(), "phase": phase, "text": fenced}))


@lru_cache(maxsize=64)
def _common(book: PromptBook, format_name: str, motion: Motion, evidence: tuple[Evidence, ...]) -> Segment:
    parts = [
        book.fill(f"{format_name}/rules", {}),
        book.fill("shared/data", {}),
        "The motion:\n" + fence("motion", motion.text),
    ]
    parts += [
        f"Evidence {source.source_id}:\n" + fence(f"evidence {source.source_id}", f"{source.title}\n{source.text}")
        for source in evidence
    ]
    if motion.language != "English":
        parts.append(book.fill("shared/language", {"language": motion.language}))
    return Segment("system", "\n\n".join(parts))


def _persona(book: PromptBook, setting: Setting, seat: Seat) -> str:
    persona = setting.personas.get(seat)
    return book.fill("shared/persona", {"persona": persona}) + "\n\n" if persona else ""


def _filled(book: PromptBook, name: str, values: Mapping[str, str], quotes: Mapping[str, str]) -> str:
    fenced = {key: fence(key, text) for key, text in quotes.items()}
    return book.fill(name, {**values, **fenced})


def _small_evidence(setting: Setting) -> str:
    if not setting.evidence:
        return ""
    text = "\n".join(source.text for source in setting.evidence)[:SMALL_EVIDENCE_CHARS]
    return fence("evidence", text) + "\n\n"


def reasons_segment(book: PromptBook, because: str, reasons: tuple[str, ...]) -> Segment:
    """What a seat is told when its answer was not accepted; ``because`` is ``shape`` or ``rule``."""
    listed = "\n".join(f"- {one_line(reason, 300)}" for reason in reasons)
    return Segment("user", book.fill(f"shared/rejected-{because}", {"reasons": listed}))


def schema_segment(book: PromptBook, schema: JsonObject) -> Segment:
    """The required form in words, for models that are held to it by nothing else."""
    return Segment("user", book.fill("shared/form", {"schema": canonical(schema)}))
