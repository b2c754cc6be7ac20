"""What a command line comes to: settings, the store, the format that is named."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disputatio._cli.streams import tell
from disputatio.failures import InvalidInputError

if TYPE_CHECKING:
    from disputatio.config import CommandLine, Settings
    from disputatio.formats.format import Format


def command_line(
    *,
    seat: Sequence[str] = (),
    personality: Sequence[str] = (),
    tools: Sequence[str] = (),
    mcp: Sequence[str] = (),
    set: Sequence[str] = (),  # noqa: A002  (the option of the command line)
    **given: Any,
) -> CommandLine:
    """What was given on the command line. This is the one place where ``NAME=VALUE`` is taken apart.

    Raises:
        InvalidInputError: an option has no name or no value; the message holds no key of a provider.
    """
    from disputatio.config import CommandLine
    from disputatio.config.environment import read_environment

    try:
        return CommandLine(
            seat=_pairs("--seat", seat, _NO_SEAT),
            personality=_pairs("--personality", personality, _NO_PERSONALITY),
            tools=_pairs("--tools", tools, _NO_TOOLS),
            mcp=tuple(_server(entry) for entry in mcp),
            set=tuple(_setting(entry) for entry in set),
            **given,
        )
    except InvalidInputError as failure:
        clean = read_environment(os.environ, Path.cwd()).without_secrets(failure)
    raise clean


_NO_SEAT = (
    "does not say who sits where",
    "Allowed is SEAT=PROVIDER:MODEL, such as --seat judge=openai:gpt-5, or all=embedded.",
)
_NO_PERSONALITY = (
    "does not say who argues how",
    "Allowed is SEAT=NAME, such as --personality pro_2=aggressive, or con=diplomatic.",
)
_NO_TOOLS = (
    "does not say which seat has which tools",
    "Allowed is SEAT=TOOL,TOOL, such as --tools pro=search,calculate, or all=calculate.",
)


def _pairs(option: str, entries: Sequence[str], lacking: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    from disputatio.participants.providers import shown

    found = []
    for entry in entries:
        name, _, value = entry.partition("=")
        if not name.strip() or not value.strip():
            raise InvalidInputError(f"{option} {shown(entry)} {lacking[0]}.", lacking[1])
        found.append((name.strip(), value))
    return tuple(found)


def _server(entry: str) -> tuple[str, str]:
    # An address may hold a secret, so the entry is not shown.
    name, _, value = entry.partition("=")
    name = name.strip()
    if not name or not value.strip() or "/" in name or " " in name:
        raise InvalidInputError(
            "--mcp does not say what a server is called and how it is started or reached.",
            "Allowed is NAME=COMMAND or NAME=URL, such as --mcp files='mcp-server-files /data'.",
        )
    return name, value


def _setting(entry: str) -> tuple[tuple[str, ...], str]:
    from disputatio.config.keys import key_path
    from disputatio.participants.providers import shown

    name, sign, value = _split(entry)
    if not sign or not name:
        raise InvalidInputError(
            f"--set {shown(entry)} does not set anything.",
            "Allowed is KEY=VALUE with a key of the configuration file, such as limits.closing_words=150.",
        )
    return key_path(name, "--set"), value


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


def settings_for(form: Format, arguments: CommandLine) -> Settings:
    """The settings of a debate of this format, here and now."""
    from disputatio.config import resolve
    from disputatio.config.format_options import format_options

    return resolve(
        format_name=form.name,
        seats=tuple(form.seats),
        environ=os.environ,
        directory=Path.cwd(),
        arguments=arguments,
        options=format_options(form),
    )


def store_url(arguments: CommandLine) -> str:
    """Where records are kept."""
    from disputatio.config.no_debate import configured_store

    settings = configured_store(arguments)
    check_kept(settings)
    return settings.store


def check_kept(settings: Settings) -> None:
    """Refuse a store that would be gone with this process.

    Raises:
        InvalidInputError: it is one in memory.
    """
    if settings.store in {"sqlite://", "sqlite:///"} or settings.store.endswith(":memory:"):
        raise InvalidInputError(
            "A store in memory is gone when this command ends, and the debate with it.", "Give a file: --store PATH."
        )


def format_called(name: str) -> Format:
    """The format called ``name``, with a hint where it was only misspelled.

    Raises:
        InvalidInputError: there is none.
    """
    from disputatio.engine.own_files import is_own, read_own
    from disputatio.formats.registry import FORMATS, find_format
    from disputatio.participants.providers import did_you_mean, shown

    if name in FORMATS:
        return find_format(name)
    if is_own(name):
        return read_own(name)
    raise InvalidInputError(
        f"There is no format called {shown(name)}.",
        f"{did_you_mean(name.lower(), FORMATS)}The formats are: {', '.join(FORMATS)}.",
    )


def say_notes(settings: Settings) -> None:
    """Say what was found in the environment and not used: a misspelled variable is silent otherwise."""
    tell(*(f"Note: {note}" for note in settings.notes))
