"""Turns what stood on the command line into values by key, like those of a file."""

from __future__ import annotations

import tomllib
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
    """All values on the command line, by key. ``--base-url`` and ``--config`` are not among them.

    Raises:
        InvalidInputError: an option is malformed, names what does not exist, or says two things of one key.
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


def _given(arguments: CommandLine, directory: Path, vocabulary: Vocabulary) -> Iterator[tuple[KeyPath, Given]]:
    for name, option, path in _OPTIONS:
        value = getattr(arguments, name)
        if value is not None:
            yield path, Given(value, option, directory)
    if arguments.position:
        yield ("positions",), Given(list(arguments.position), "--position", directory)
    for entry in arguments.personality:
        yield _read_personality(entry, directory, vocabulary)
    for entry in arguments.seat:
        yield from _read_seat(entry, directory, vocabulary)
    for entry in arguments.tools:
        yield _read_tools(entry, directory, vocabulary)
    for entry in arguments.mcp:
        yield _read_server(entry, directory, vocabulary)
    for entry in arguments.set:
        yield from _read_set(entry, directory, vocabulary)


def _read_seat(entry: str, directory: Path, vocabulary: Vocabulary) -> Iterator[tuple[KeyPath, Given]]:
    seat, sign, value = entry.partition("=")
    seat = seat.strip().lower()
    known = vocabulary.scope_names()
    if not sign or not seat or not value.strip():
        raise InvalidInputError(
            f"--seat {shown(entry)} does not say who sits where.",
            "Allowed is SEAT=PROVIDER:MODEL, such as --seat judge=openai:gpt-5, or all=embedded.",
        )
    if seat not in known:
        raise InvalidInputError(
            f"There is no seat {shown(seat)} (from --seat) in this format.",
            f"{did_you_mean(seat, known)}Allowed are: {', '.join(known)}.",
        )
    yield from spread(("seats", seat), Given(value, f"--seat {seat}=...", directory))


def _read_personality(entry: str, directory: Path, vocabulary: Vocabulary) -> tuple[KeyPath, Given]:
    seat, sign, value = entry.partition("=")
    seat, known = seat.strip().lower(), vocabulary.scope_names()
    if not sign or not seat or not value.strip():
        raise InvalidInputError(
            f"--personality {shown(entry)} does not say who argues how.",
            "Allowed is SEAT=NAME, such as --personality pro_2=aggressive, or con=diplomatic.",
        )
    if seat not in known:
        raise InvalidInputError(
            f"There is no seat {shown(seat)} (from --personality) in this format.",
            f"{did_you_mean(seat, known)}Allowed are: {', '.join(known)}.",
        )
    return ("personality", seat), Given(value, "--personality", directory)


def _read_tools(entry: str, directory: Path, vocabulary: Vocabulary) -> tuple[KeyPath, Given]:
    seat, sign, value = entry.partition("=")
    seat, known = seat.strip().lower(), vocabulary.scope_names()
    if not sign or not seat or not value.strip():
        raise InvalidInputError(
            f"--tools {shown(entry)} does not say which seat has which tools.",
            "Allowed is SEAT=TOOL,TOOL, such as --tools pro=search,calculate, or all=calculate.",
        )
    if seat not in known:
        raise InvalidInputError(
            f"There is no seat {shown(seat)} (from --tools) in this format.",
            f"{did_you_mean(seat, known)}Allowed are: {', '.join(known)}.",
        )
    return ("seats", seat, "tools"), Given(value, "--tools", directory)


def _read_server(entry: str, directory: Path, vocabulary: Vocabulary) -> tuple[KeyPath, Given]:
    name, sign, value = entry.partition("=")
    name = name.strip()
    if not sign or not name or not value.strip() or "/" in name or " " in name:
        raise InvalidInputError(
            "--mcp does not say what a server is called and how it is started or reached.",
            "Allowed is NAME=COMMAND or NAME=URL, such as --mcp files='mcp-server-files /data'.",
        )
    path = ("mcp_servers", name)
    find_key(path, vocabulary, "--mcp")
    return path, Given(value, "--mcp", directory)


def _read_set(entry: str, directory: Path, vocabulary: Vocabulary) -> Iterator[tuple[KeyPath, Given]]:
    name, sign, value = _split(entry)
    if not sign or not name:
        raise InvalidInputError(
            f"--set {shown(entry)} does not set anything.",
            "Allowed is KEY=VALUE with a key of the configuration file, such as limits.closing_words=150.",
        )
    path = _read_path(name)
    source = f"--set {dotted(path)}=..."
    key, goes_on = find_key(path, vocabulary, source)
    if key is None:
        more = " It has keys of its own." if goes_on else ""
        raise InvalidInputError(
            f"{dotted(path)} (from --set) is not a key with a value.{more}",
            "Give the whole key, such as budget.usd=0.50.",
        )
    yield from spread(path, Given(value, source, directory))


def _split(entry: str) -> tuple[str, str, str]:
    """At the first equals sign that is not inside quotes: a model's name may hold one."""
    quote = ""
    for place, char in enumerate(entry):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == "=":
            return entry[:place].strip(), "=", entry[place + 1 :]
    return entry.strip(), "", ""


def _read_path(name: str) -> KeyPath:
    node: object = {}
    try:
        if "\n" not in name and "#" not in name:
            node = tomllib.loads(f"{name} = 0")
    except tomllib.TOMLDecodeError:
        pass
    path: list[str] = []
    while isinstance(node, dict) and len(node) == 1:
        ((part, node),) = node.items()
        path.append(part)
    if not path:
        raise InvalidInputError(
            f"--set has the key {shown(name)}, which cannot be read.",
            "Write it as in a TOML file, with quotes around a name that has colons, such as "
            'price."openai:gpt-5".input=1.25.',
        )
    return tuple(path)
