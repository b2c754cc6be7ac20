"""_terminal."""
