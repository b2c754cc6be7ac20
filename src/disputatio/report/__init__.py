"""What people read of a debate: one read model, folded from its record, and the surfaces made from it."""

from typing import TYPE_CHECKING

from disputatio.report._front import __dir__ as __dir__
from disputatio.report._front import __getattr__ as __getattr__

if TYPE_CHECKING:
    from disputatio.report.argdown import render_argdown
    from disputatio.report.headings import Heading, heading
    from disputatio.report.json_export import EXPORT_SCHEMA, export_json, export_schema, render_json
    from disputatio.report.markdown import render_markdown
    from disputatio.report.page import render_page
    from disputatio.report.printing import printable_json
    from disputatio.report.reading import DebateReport
    from disputatio.report.summary import FirstScreen, first_screen
    from disputatio.report.text import Detail, render_briefing, render_result_text, render_text

__all__ = [
    "EXPORT_SCHEMA",
    "DebateReport",
    "Detail",
    "FirstScreen",
    "Heading",
    "export_json",
    "export_schema",
    "first_screen",
    "heading",
    "printable_json",
    "render_argdown",
    "render_briefing",
    "render_json",
    "render_markdown",
    "render_page",
    "render_result_text",
    "render_text",
]
