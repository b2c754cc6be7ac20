"""Settings for what is done where no debate is held: reading a store, metrics, serving."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from disputatio.config.format_options import any_format
from disputatio.config.resolve import resolve
from disputatio.config.settings import CommandLine, Settings


def configured_store(arguments: CommandLine) -> Settings:
    """Settings to take the store's address from; nothing that is said of seats or that a format decides is in the way.

    Raises:
        InvalidInputError: the configuration cannot be read.
    """
    return resolve(
        format_name="structured",
        seats=(),
        environ=os.environ,
        directory=Path.cwd(),
        arguments=replace(arguments, seat=(), base_url=None, tools=()),
        options=any_format(),
    )
