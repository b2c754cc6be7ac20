"""A person in a seat at the terminal: the floor as the seat hears it, the form field by field, drafts that are kept."""

from disputatio._terminal.seat.surface import TerminalSurface, open_surface

__all__ = ["TerminalSurface", "open_surface"]
