"""The words of a task as a person in the seat reads them: the same files as a model's prompt, without fences.

A person tells quotation from instruction by its place on the screen, and has a manner of arguing already.
"""

from __future__ import annotations

from disputatio.kernel import Ask
from disputatio.motion import clean
from disputatio.prompts.book import PromptBook
from disputatio.prompts.compose import PromptContext

_LEFT_OUT = frozenset({"personality"})


def task_for_person(book: PromptBook, setting: PromptContext, ask: Ask) -> str:
    """What the turn is for and what each field of it is."""
    names = [ask.task.prompt]
    if setting.evidence and book.has(f"{setting.format_name}/{ask.task.prompt}-evidence"):
        names.append(f"{ask.task.prompt}-evidence")
    return _filled(book, setting, ask, names)


def role_for_person(book: PromptBook, setting: PromptContext, ask: Ask) -> str:
    """Who the seat is and what its place asks of it; empty where the format has no layers."""
    return _filled(book, setting, ask, [name for name in ask.task.layers if name not in _LEFT_OUT])


def rules_for_person(book: PromptBook, setting: PromptContext) -> str:
    """The rules of the format, as every seat is told them."""
    return book.fill(f"{setting.format_name}/rules", {})


def _filled(book: PromptBook, setting: PromptContext, ask: Ask, names: list[str]) -> str:
    values = {**ask.task.values, **{key: clean(text).strip() for key, text in ask.task.quotes.items()}}
    return "\n\n".join(book.fill(f"{setting.format_name}/{name}", values) for name in names)
