"""The modules of this package and the names in each; see ``disputatio._rooms``."""

from __future__ import annotations

from typing import Final

from disputatio._rooms import front

_ROOMS: Final = {
    "argdown": ("render_argdown",),
    "summary": ("FirstScreen", "first_screen"),
    "headings": ("Heading", "heading"),
    "json_export": ("EXPORT_SCHEMA", "export_json", "export_schema", "render_json"),
    "markdown": ("render_markdown",),
    "page": ("render_page",),
    "printing": ("printable_json",),
    "reading": ("DebateReport",),
    "text": ("Detail", "render_briefing", "render_result_text", "render_text"),
}

__getattr__, __dir__ = front("disputatio.report", _ROOMS)
