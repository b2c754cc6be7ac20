"""One debate as one HTML file that needs nothing else: no network, no other file, no JavaScript to be read."""

from disputatio.report.page.rendering import render_page

__all__ = ["render_page"]
