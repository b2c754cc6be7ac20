"""A person in a seat at the terminal: what the seat may see, the fields of its turn, and stored drafts."""

from disputatio._terminal.seat.surface import TerminalSurface, open_surface

__all__ = ["TerminalSurface", "open_surface"]
