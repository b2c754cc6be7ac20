"""Settings of what is held on a knowledge base."""

from __future__ import annotations

from pathlib import Path

from disputatio._cli.arguments import make_arguments
from disputatio.config import Settings, resolve
from disputatio.config.process import format_scope
from disputatio.formats.registry import find_format


def settings_of(name: str, *seats: str) -> Settings:
    """The settings of a format whose models are never reached."""
    form = find_format(name)
    named = tuple(row for row in seats if form.name == "market" or row.startswith("all="))
    return resolve(
        format_name=form.name,
        seats=tuple(form.seats),
        environ={},
        directory=Path("/nonexistent"),
        arguments=make_arguments(seat=named, base_url="http://127.0.0.1:9/v1", seed=1),
        options=format_scope(form),
    )
