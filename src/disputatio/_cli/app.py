"""The whole command line, with every command imported; for the reference, and for who wants all of it at once.

The program itself imports only the command that is asked for, see `disputatio._cli.main`.
"""

from __future__ import annotations

from disputatio._cli.assembling import app_with
from disputatio._cli.index import COMMANDS

app = app_with(*COMMANDS)
