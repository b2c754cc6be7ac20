"""What a command line comes to: settings, the store, the format that is named."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disputatio._cli.streams import tell
from disputatio.failures import InvalidInputError

if TYPE_CHECKING:
    from disputatio.config import CommandLine, Settings
    from disputatio.formats.format import Format


def command_line(**given: Any) -> CommandLine:
    """What was given on the command line."""
    from disputatio.config import CommandLine

    return CommandLine(**given)


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
