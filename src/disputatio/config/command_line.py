"""Turns what a command line, a program or an order asks for into values by key, like those of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from disputatio.config.document import spread
from disputatio.config.keys import Path as KeyPath
from disputatio.config.keys import Vocabulary, dotted, find_key
from disputatio.config.settings import CommandLine
from disputatio.config.values import Given
from disputatio.failures import InvalidInputError
from disputatio.participants.providers import did_you_mean, shown

_OPTIONS: tuple[tuple[str, str, KeyPath], ...] = (
    ("budget_usd", "--budget-usd", ("budget", "usd")),
    ("budget_tokens", "--budget-tokens", ("budget", "tokens")),
    ("max_calls", "--max-calls", ("budget", "calls")),
    ("language", "--language", ("language",)),
    ("seed", "--seed", ("seed",)),
    ("store", "--store", ("store",)),
    ("judges", "--judges", ("judges",)),
    ("both_orders", "--both-orders", ("judging", "both_orders")),
    ("anonymous", "--anonymous", ("judging", "anonymous")),
    ("retest", "--retest", ("judging", "retest")),
    ("stagger", "--stagger", ("stagger",)),
    ("panel_method", "--panel-method", ("judging", "method")),
    ("debaters", "--debaters", ("debaters",)),
    ("options", "--options", ("options",)),
    ("rounds", "--rounds", ("rounds",)),
    ("decision", "--decision", ("decision", "rule")),
    ("threshold", "--threshold", ("decision", "threshold")),
    ("escalate", "--escalate", ("escalate",)),
    ("preset", "--preset", ("preset",)),
    ("task_type", "--task-type", ("task_type",)),
    ("personalities", "--personalities", ("personalities",)),
)


def read_command_line(arguments: CommandLine, directory: Path, vocabulary: Vocabulary) -> dict[KeyPath, Given]:
    """All values of ``arguments``, by key. ``base_url`` and ``config`` are not among them.

    Raises:
        InvalidInputError: a name does not exist, or two things are said of one key.
    """
    found: dict[KeyPath, Given] = {}
    for path, given in _given(arguments, directory, vocabulary):
        before = found.get(path)
        if before is not None and before.value != given.value:
            sources = " and ".join(dict.fromkeys((before.source, given.source)))
            raise InvalidInputError(
                f"{dotted(path)} is given twice with different values (from {sources}).", "Give it once."
            )
        found[path] = given
    return found


def source_of(arguments: CommandLine, option: str, place: str) -> str:
    """How messages call the place of a value: the option of the command line, or the field of an order."""
    return f"{place} of the order" if arguments.remote else option


def _given(arguments: CommandLine, directory: Path, vocabulary: Vocabulary) -> Iterator[tuple[KeyPath, Given]]:
    for name, option, path in _OPTIONS:
        value = getattr(arguments, name)
        if value is not None:
            source = source_of(arguments, option, ".".join(path))
            yield path, Given(list(value) if isinstance(value, tuple) else value, source, directory)
    if arguments.position:
        source = source_of(arguments, "--position", "positions")
        yield ("positions",), Given(list(arguments.position), source, directory)
    for seat, personality in arguments.personality:
        source = source_of(arguments, "--personality", "personality")
        yield ("personality", _seat(seat, source, vocabulary)), Given(personality, source, directory)
    for seat, who in arguments.seat:
        name = _seat(seat, source_of(arguments, "--seat", "seats"), vocabulary)
        source = source_of(arguments, f"--seat {name}=...", f"seats.{name}")
        yield from spread(("seats", name), Given(who, source, directory))
    for seat, words in arguments.tools:
        source = source_of(arguments, "--tools", "tools")
        value = words if isinstance(words, str) else list(words) or ["none"]
        yield ("seats", _seat(seat, source, vocabulary), "tools"), Given(value, source, directory)
    for server, address in arguments.mcp:
        source = source_of(arguments, "--mcp", "mcp")
        find_key(("mcp_servers", server), vocabulary, source)
        yield ("mcp_servers", server), Given(address, source, directory)
    for key, value in arguments.set:
        yield from _set(key, value, arguments, directory, vocabulary)


def _seat(name: str, source: str, vocabulary: Vocabulary) -> str:
    seat, known = name.strip().lower(), vocabulary.scope_names()
    if seat not in known:
        raise InvalidInputError(
            f"There is no seat {shown(seat)} (from {source}) in this format.",
            f"{did_you_mean(seat, known)}Allowed are: {', '.join(known)}.",
        )
    return seat


def _set(
    path: KeyPath, value: object, arguments: CommandLine, directory: Path, vocabulary: Vocabulary
) -> Iterator[tuple[KeyPath, Given]]:
    source = source_of(arguments, f"--set {dotted(path)}=...", f"settings.{dotted(path)}")
    key, goes_on = find_key(path, vocabulary, source)
    if key is None:
        more = " It has keys of its own." if goes_on else ""
        raise InvalidInputError(
            f"{dotted(path)} (from {source_of(arguments, '--set', 'settings')}) is not a key with a value.{more}",
            "Give the whole key, such as budget.usd=0.50.",
        )
    yield from spread(path, Given(value, source, directory))
