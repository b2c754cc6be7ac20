"""Settings under the environment and in the working directory of this process: where every surface begins."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from disputatio.config.arguments import Arguments
from disputatio.config.format_scope import any_format, format_scope
from disputatio.config.resolve import resolve
from disputatio.config.settings import FormatScope, Settings
from disputatio.formats.format import Format


def settings_for(
    form: Format,
    arguments: Arguments | None = None,
    *,
    scope: FormatScope | None = None,
    seats: Sequence[str] | None = None,
) -> Settings:
    """The settings of a debate of this format, here and now.

    Args:
        form: its format.
        arguments: what it is asked for with.
        scope: what may be set about the format, where that is not what the format says.
        seats: the seats that models take, where they are not all of the format.

    Raises:
        InvalidInputError: a value cannot be used or does not exist.
    """
    return resolve(
        format_name=form.name,
        seats=tuple(form.seats if seats is None else seats),
        environ=os.environ,
        directory=Path.cwd(),
        arguments=arguments or Arguments(),
        options=scope or format_scope(form),
    )


def configured_store(arguments: Arguments) -> Settings:
    """Settings to take the store's address from; nothing that is said of seats or that a format decides is in the way.

    Raises:
        InvalidInputError: the configuration cannot be read.
    """
    return resolve(
        format_name="structured",
        seats=(),
        environ=os.environ,
        directory=Path.cwd(),
        arguments=replace(arguments.only(lambda path: path[0] != "seats"), base_url=None),
        options=any_format(),
    )
