"""Turn the options of a command line into arguments, and the name of a format into a format."""

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


def make_arguments(
    format_name: str = "",
    *,
    set: Sequence[str] | None = None,  # noqa: A002  (the option of the command line)
    base_url: str | None = None,
    config: str | None = None,
    **given: Any,
) -> Arguments:
    """Make arguments of the options of a command line. Only this function splits ``NAME=VALUE``.

    Args:
        format_name: the chosen format, if any.
        set: keys of the configuration file, as ``KEY=VALUE``.
        base_url: the server's address for the seats that need one.
        config: the configuration file.
        **given: values of options by their names, as text. None and False mean that the option was left out.

    Raises:
        InvalidInputError: an option has no name or no value. The message holds no key of a provider.
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
    """Whether an option was given. One that was left out is None, False or empty."""
    return value is not None and value is not False and not (isinstance(value, list | tuple) and not value)


def _rows(row: Option, value: Any) -> Iterator[tuple[tuple[str, ...], Given]]:
    """The configuration keys of one option, with their values."""
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
    """Split ``NAME=VALUE``.

    Raises:
        InvalidInputError: a part is missing. The message does not show addresses of servers: they may hold secrets.
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
    """Split at the first equals sign outside quotes: the name of a model may contain one."""
    quote = ""
    for place, char in enumerate(entry):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == "=":
            return entry[:place].strip(), "=", entry[place + 1 :]
    return entry.strip(), "", ""


def load_format(name: str) -> Format:
    """Load a format by its name, or from a file of rules.

    Raises:
        InvalidInputError: there is no such format; suggests a similar name.
    """
    from disputatio.engine.custom_format_files import is_rules_file, read_rules_file
    from disputatio.request.formats import known_formats, unknown_format

    if name in known_formats():
        return known_formats()[name]
    if is_rules_file(name):
        return read_rules_file(name)
    raise unknown_format(name)


def print_notes(settings: Settings) -> None:
    """Print what was found in the environment and not used, such as a misspelled variable."""
    tell(*(f"Note: {note}" for note in settings.notes))
