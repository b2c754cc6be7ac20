"""The dossier of a debate: one document for the person who answers for the use of its result."""

from disputatio.report.dossier.blocks import dossier_markdown
from disputatio.report.dossier.contents import Surroundings, dossier_of
from disputatio.report.dossier.html import dossier_html
from disputatio.report.dossier.performance import Performance, read_performance

__all__ = [
    "Performance",
    "Surroundings",
    "dossier_html",
    "dossier_markdown",
    "dossier_of",
    "read_performance",
]
