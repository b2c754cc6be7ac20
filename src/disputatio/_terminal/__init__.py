"""Show a debate in a terminal: live or in plain lines while it runs, and its result."""

from disputatio._terminal.paint import print_interrupted, print_report, print_result
from disputatio._terminal.views import LiveView, PlainView, open_view

__all__ = ["LiveView", "PlainView", "open_view", "print_interrupted", "print_report", "print_result"]
