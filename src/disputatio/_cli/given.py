"""What a command line comes to: settings, the store, the format that is named."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disputatio._cli.streams import tell
from disputatio.errors import InvalidInputError

if TYPE_CHECKING:
    from disputatio.config import Arguments, Settings
    from disputatio.formats.format import Format
    from disputatio.options import Given, Option


def command_line(
    format_name: str = "",
    *,
    set: Sequence[str] | None = None,  # noqa: A002  (the option of the command line)
    base_url: str | None = None,
    config: str | None = None,
    **given: Any,
) -> Arguments:
    """What was given on the command line. This is the one place where ``NAME=VALUE`` is taken apart.

    Args:
        format_name: the format, where one was chosen.
        set: keys of the configuration file, as ``KEY=VALUE``.
        base_url: the server's address for the seats that need one.
        config: the configuration file.
        **given: values of options by their names, as text; None and False mean not given.

    Raises:
        InvalidInputError: an option has no name or no value; the message holds no key of a provider.
    """
    from disputatio._cli.fields import all_options
    from disputatio.config.arguments import Arguments
    from disputatio.config.environment import read_environment

    known = all_options(format_name)
    try:
        rows = [row for name, value in given.items() if is_given(value) for row in _rows(known[name], value)]
        rows += [_setting(entry) for entry in set or ()]
        return Arguments(given=tuple(rows), base_url=base_url, config=config)
    except InvalidInputError as failure:
        clean = read_environment(os.environ, Path.cwd()).without_secrets(failure)
    raise clean


def is_given(value: Any) -> bool:
    """Whether an option was given: one that was left out is None, false, or nothing."""
    return value is not None and value is not False and not (isinstance(value, list | tuple) and not value)


def _rows(row: Option, value: Any) -> Iterator[tuple[tuple[str, ...], Given]]:
    """One option as keys and values."""
    from disputatio.config.arguments import option_rows
    from disputatio.options import Given

    if not row.is_mapping:
        yield tuple(row.key.split(".")), Given(list(value) if isinstance(value, tuple) else value, row.flag)
        return
    for entry in value:
        name, each = _pair(row, entry)
        quote = f"{row.flag} {name.lower()}=..." if row.name == "seats" else row.flag
        yield from option_rows(row, {name: each}, quote, Path())


def _pair(row: Option, entry: str) -> tuple[str, str]:
    """``NAME=VALUE`` in its two parts.

    Raises:
        InvalidInputError: one of them is missing. The address of a server may hold a secret, so it is not shown.
    """
    from disputatio.errors.quoting import quote

    name, _, value = entry.partition("=")
    name, secret = name.strip(), bool(row.local)
    if not name or not value.strip() or (secret and ("/" in name or " " in name)):
        raise InvalidInputError(
            f"{row.flag}{'' if secret else f' {quote(entry)}'} does not say {row.about.missing or row.about.metavar}.",
            f"Allowed is {row.about.metavar}, such as {row.flag} {row.example}.",
        )
    return name, value


def _setting(entry: str) -> tuple[tuple[str, ...], Given]:
    from disputatio.errors.quoting import quote
    from disputatio.options import Given
    from disputatio.options.reading import dotted, key_path

    name, sign, value = _split(entry)
    if not sign or not name:
        raise InvalidInputError(
            f"--set {quote(entry)} does not set anything.",
            "Allowed is KEY=VALUE with a key of the configuration file, such as limits.closing_words=150.",
        )
    path = key_path(name, "--set")
    return path, Given(value, f"--set {dotted(path)}=...")


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


def store_url(arguments: Arguments) -> str:
    """Where records are kept."""
    from disputatio.config.process import configured_store

    settings = configured_store(arguments)
    check_kept(settings)
    return settings.store


def kept_store(store: str | None) -> str:
    """Where a command that holds no debate finds its records."""
    return located_store(store)[0]


def located_store(store: str | None) -> tuple[str, bool]:
    """Where records are kept, and whether that is the place where nothing else is said.

    Settings are read only where a configuration file may name the store: that takes as long as the rest of a list.
    """
    from disputatio.record.database import find_plain_store

    found = find_plain_store(store, os.environ, Path.cwd())
    if found is None:
        from disputatio.config.process import configured_store

        settings = configured_store(command_line(store=store))
        found = settings.store, settings.sources.get("store") == "default"
    _check_address(found[0])
    return found


def check_kept(settings: Settings) -> None:
    """Refuse a store that would be gone with this process.

    Raises:
        InvalidInputError: it is one in memory.
    """
    _check_address(settings.store)


def _check_address(store: str) -> None:
    if store in {"sqlite://", "sqlite:///"} or store.endswith(":memory:"):
        raise InvalidInputError(
            "A store in memory is gone when this command ends, and the debate with it.", "Give a file: --store PATH."
        )


def format_called(name: str) -> Format:
    """The format called ``name``, with a hint where it was only misspelled.

    Raises:
        InvalidInputError: there is none.
    """
    from disputatio.engine.custom_format_files import is_rules_file, read_rules_file
    from disputatio.request.formats import known_formats, unknown_format

    if name in known_formats():
        return known_formats()[name]
    if is_rules_file(name):
        return read_rules_file(name)
    raise unknown_format(name)


def say_notes(settings: Settings) -> None:
    """Say what was found in the environment and not used: a misspelled variable is silent otherwise."""
    tell(*(f"Note: {note}" for note in settings.notes))
