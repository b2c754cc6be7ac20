"""What people see of a debate in a terminal: live while it happens, its result, and plain lines where nothing moves."""

from disputatio._terminal.paint import print_interrupted, print_report, print_result
from disputatio._terminal.views import LiveView, PlainView, open_view

__all__ = ["LiveView", "PlainView", "open_view", "print_interrupted", "print_report", "print_result"]
