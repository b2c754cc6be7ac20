"""A dossier as one HTML file, made to be printed: A4, numbered pages, nothing cut that can be kept whole.

It needs no other file, no network and no script; the policy in its head allows none.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from markupsafe import Markup

from disputatio.report.dossier.blocks import Dossier
from disputatio.report.templates import escaping_environment

if TYPE_CHECKING:
    from jinja2 import Environment


def dossier_html(dossier: Dossier) -> str:
    """The whole document; the same dossier gives the same text."""
    style = _asset("dossier.css")
    # What a text of the record could hold must not end the string of a style sheet.
    running = "".join(char for char in dossier.id if char.isalnum())
    style += f'\n@page {{ @bottom-left {{ content: "Debate {running}"; }} }}\n'
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        _environment()
        .get_template("dossier.html")
        .render(
            dossier=dossier,
            style=Markup(style),  # noqa: S704  (a file of this package, with letters and digits)
            policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        )
    )


@cache
def _environment() -> Environment:
    return escaping_environment(_asset)


@cache
def _asset(name: str) -> str:
    return files("disputatio.report.dossier").joinpath("templates", name).read_text("utf-8")
