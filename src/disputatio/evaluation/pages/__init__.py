"""One self-contained HTML page for each kind of evaluation: tables, and plots as inline SVG."""

from disputatio.evaluation.pages.evaluating import evaluation_page
from disputatio.evaluation.pages.replaying import replay_page
from disputatio.evaluation.pages.sheet import Figure, Section, Sheet, Table, render_sheet

__all__ = ["Figure", "Section", "Sheet", "Table", "evaluation_page", "render_sheet", "replay_page"]
