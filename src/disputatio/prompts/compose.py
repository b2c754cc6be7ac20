"""Composes prompts: the shared, unchanging part first, the task of the seat last.

A prefix cache then serves the rules, the motion, the evidence and the transcript from the second call on. All seats of
a debate share the system message; the transcript only grows at its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from disputatio.evidence.sources import Source
from disputatio.formats.turns.schema import describe_lengths, fit_limits
from disputatio.kernel import Ask, JsonObject, Message, Messages, Part, Seat
from disputatio.motion import Evidence, Motion, clean, one_line
from disputatio.participants.call import Segment
from disputatio.prompts.book import PromptBook
from disputatio.prompts.definitions import with_definitions
from disputatio.prompts.fence import fence, plain_name, quoted
from disputatio.prompts.layout import NO_LIMIT, LaidOutSources, lay_out
from disputatio.record.text import canonical
from disputatio.tools.protocol import OfferedTool, ToolRequest, ToolResult
from disputatio.tools.tool_choice import describe_tools


@dataclass(frozen=True, slots=True)
class PromptContext:
    """The inputs of every prompt of one debate.

    ``personas`` and ``shares`` are by seat; a share is how many characters of the evidence the seat is shown, all of it
    where none is given. ``introduced`` are the sources that a later round brings; the rules lay them before the seats.
    ``says_lengths`` is whether prompts say how long each text may be; those of debates from before that did not.
    """

    format_name: str
    motion: Motion
    evidence: tuple[Evidence | Source, ...] = ()
    personas: Mapping[str, str] = field(default_factory=dict)
    shares: Mapping[str, int] = field(default_factory=dict)
    introduced: Mapping[str, int] = field(default_factory=dict)
    says_lengths: bool = True

    def laid_out(self, seat: str) -> LaidOutSources:
        """The sources as ``seat`` sees them from the beginning."""
        known = tuple(row for row in self.evidence if row.source_id not in self.introduced)
        return lay_out(known, self.motion.text, self.shares.get(seat, NO_LIMIT))


def compose(book: PromptBook, context: PromptContext, ask: Ask) -> tuple[Segment, ...]:
    """The whole prompt of ``ask``."""
    render = RenderMessage(book)
    # Each message is rendered once, not once for every prompt that contains it.
    heard = ask.messages.each(render) if isinstance(ask.messages, Messages) else map(render, ask.messages)
    return (compose_shared(book, context, ask.seat), *heard, compose_task(book, context, ask))


def compose_shared(book: PromptBook, context: PromptContext, seat: Seat) -> Segment:
    """The first segment of every prompt of ``seat``: the rules, the motion and the evidence."""
    cites = bool(context.evidence)
    return _common(book, context.format_name, context.motion, context.laid_out(seat), cites=cites)


@dataclass(frozen=True, slots=True)
class RenderMessage:
    """Renders a post as the segment in which later prompts repeat it. Two with the same book are equal."""

    book: PromptBook

    def __call__(self, post: Message) -> Segment:
        """The segment of ``post``."""
        return _heard(self.book, post.seat, post.phase, post.text)


def compose_task(book: PromptBook, context: PromptContext, ask: Ask) -> Segment:
    """The last segment of the prompt of ``ask``: the task."""
    values = {**ask.task.values, **{key: fence(key, text) for key, text in ask.task.quotes.items()}}
    layers = (*ask.task.layers, ask.task.prompt)
    task = "\n\n".join([book.fill(f"{context.format_name}/{name}", values) for name in layers])
    persona = _persona(book, context, ask.seat, small=False)
    addendum = f"{context.format_name}/{ask.task.prompt}-evidence"
    if context.evidence and book.has(addendum):
        task += "\n\n" + book.fill(addendum, ask.task.values)
    if context.says_lengths and (words := describe_lengths(fit_limits(ask.spec.schema, ask.limits).schema)):
        task += "\n\n" + book.fill("shared/lengths", {"lengths": words})
    return Segment("user", persona + task)


def compose_part(book: PromptBook, context: PromptContext, ask: Ask, part: Part) -> tuple[Segment, ...]:
    """The short prompt for one part of ``ask``, for a small model."""
    system = book.fill("small/rules", {})
    if context.motion.language != "English":
        system += "\n" + book.fill("shared/language", {"language": context.motion.language})
    values = {"motion": quoted(context.motion.text), **ask.task.values, **part.task.values}
    quotes = {name: quoted(text) for name, text in part.task.quotes.items()}
    text = book.fill(f"small/{part.task.prompt}", {**_EMPTY_QUOTES, **values, **quotes})
    evidence = _small_evidence(context, ask.seat)
    return (Segment("system", system), Segment("user", _persona(book, context, ask.seat, small=True) + evidence + text))


_EMPTY_QUOTES = dict.fromkeys(("earlier", "questions", "responses", "defence", "answer"), "")


def spell_seat(seat: str) -> str:
    """Spell a seat as the schemas do: upper case, except names with a number (``pro_1``)."""
    return seat.upper() if seat.isalpha() else seat


# What was rendered for one call serves the next ones, also where a judge hears posts that were made for it alone.
@lru_cache(maxsize=1024)
def _heard(book: PromptBook, seat: str, phase: str, text: str) -> Segment:
    fenced = fence(f"{seat} {phase}", text)
    return Segment("user", book.fill("shared/heard", {"speaker": spell_seat(seat), "phase": phase, "text": fenced}))


@lru_cache(maxsize=64)
def _common(book: PromptBook, format_name: str, motion: Motion, laid_out: LaidOutSources, *, cites: bool) -> Segment:
    parts = [
        book.fill(f"{format_name}/rules", {}),
        book.fill("shared/data", {}),
        "The motion:\n" + fence("motion", motion.text),
    ]
    if motion.is_question and book.has(f"{format_name}/yes-or-no"):
        parts.append(book.fill(f"{format_name}/yes-or-no", {}))
    for source_id, title, text in laid_out.texts:
        titled = text if text.startswith(title) else f"{title}\n{text}"
        parts.append(f"Evidence {plain_name(source_id)}:\n" + fence(f"evidence {source_id}", titled))
    parts += [laid_out.left_out] if laid_out.left_out else []
    if cites and book.has(f"{format_name}/evidence"):
        parts.append(book.fill(f"{format_name}/evidence", {}))
    if motion.language != "English":
        parts.append(book.fill("shared/language", {"language": motion.language}))
    return Segment("system", "\n\n".join(parts))


def _persona(book: PromptBook, context: PromptContext, seat: Seat, *, small: bool) -> str:
    persona = context.personas.get(seat)
    if not persona:
        return ""
    shown = quoted(persona) if small else fence("persona", persona)
    return book.fill("shared/persona", {"persona": shown}) + "\n\n"


def _small_evidence(context: PromptContext, seat: Seat) -> str:
    words = context.laid_out(seat).words
    return fence("evidence", words) + "\n\n" if words else ""


def reasons_segment(book: PromptBook, because: str, reasons: tuple[str, ...]) -> Segment:
    """The reasons why an answer was not accepted; ``because`` is ``shape`` or ``rule``."""
    # A reason may repeat words of the answer, and the answer may repeat anyone's words.
    listed = "\n".join([f"- {quoted(one_line(reason, 300))}" for reason in reasons])
    return Segment("user", book.fill(f"shared/rejected-{because}", {"reasons": listed}))


def choosing_segment(book: PromptBook, task: str, tools: Sequence[OfferedTool], calls: int) -> Segment:
    """The question which of ``tools`` to call before the turn whose prompt ends with ``task``."""
    values = {"tools": fence("tools", describe_tools(tools)), "task": task, "calls": str(calls)}
    return Segment("user", book.fill("tools/choosing", values))


def looked_up_segment(book: PromptBook, request: ToolRequest, result: ToolResult) -> Segment:
    """A call of a tool and its result. Both are data: a model wrote the call, and anyone the result."""
    fault = result.fault.value.replace("_", " ") if result.fault else ""
    outcome = f"It brought no result ({fault})" if fault else "It brought this"
    if result.left_out:
        outcome += f", without the last {result.left_out:,} characters, which were cut off"
    call = fence("tool call", f"{request.tool} {canonical(request.arguments)}")
    values = {"call": call, "outcome": f"{outcome}:", "result": fence("tool result", result.text)}
    return Segment("user", book.fill("tools/looked-up", values))


def schema_segment(book: PromptBook, schema: JsonObject) -> Segment:
    """The required schema in words, for models without structured output."""
    return Segment("user", book.fill("shared/form", {"schema": canonical(with_definitions(schema))}))


@dataclass(frozen=True, slots=True)
class DebatePrompts:
    """The prompt layer as the turns of one debate need it."""

    book: PromptBook
    context: PromptContext

    def whole(self, ask: Ask) -> tuple[Segment, ...]:
        """The prompt for the whole turn."""
        return compose(self.book, self.context, ask)

    def part(self, ask: Ask, part: Part) -> tuple[Segment, ...]:
        """The prompt for one part of it."""
        return compose_part(self.book, self.context, ask, part)

    def reasons(self, because: str, reasons: tuple[str, ...]) -> Segment:
        """The message to a seat about an answer that was not accepted."""
        return reasons_segment(self.book, because, reasons)

    def schema(self, schema: JsonObject) -> Segment:
        """The required form in words."""
        return schema_segment(self.book, schema)

    def choosing(self, task: str, tools: Sequence[OfferedTool], calls: int) -> Segment:
        """The question which tools to call before the turn."""
        return choosing_segment(self.book, task, tools, calls)

    def looked_up(self, request: ToolRequest, result: ToolResult) -> Segment:
        """A call of a tool and what it brought."""
        return looked_up_segment(self.book, request, result)


_LEFT_OUT = frozenset({"personality"})


def task_for_person(book: PromptBook, context: PromptContext, ask: Ask) -> str:
    """What the turn is for and what each field of it is."""
    names = [ask.task.prompt]
    if context.evidence and book.has(f"{context.format_name}/{ask.task.prompt}-evidence"):
        names.append(f"{ask.task.prompt}-evidence")
    return _fill_for_person(book, context, ask, names)


def role_for_person(book: PromptBook, context: PromptContext, ask: Ask) -> str:
    """Who the seat is and what its place asks of it; empty where the format has no layers."""
    return _fill_for_person(book, context, ask, [name for name in ask.task.layers if name not in _LEFT_OUT])


def rules_for_person(book: PromptBook, context: PromptContext) -> str:
    """The rules of the format, as every seat reads them."""
    return book.fill(f"{context.format_name}/rules", {})


def _fill_for_person(book: PromptBook, context: PromptContext, ask: Ask, names: list[str]) -> str:
    values = {**ask.task.values, **{key: clean(text).strip() for key, text in ask.task.quotes.items()}}
    return "\n\n".join(book.fill(f"{context.format_name}/{name}", values) for name in names)
