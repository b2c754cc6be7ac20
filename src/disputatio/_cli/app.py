"""The command line with every command, for the reference and for tests.

The program itself imports only the command that it runs, see `disputatio._cli.main`.
"""

from __future__ import annotations

from disputatio._cli.assembling import make_app
from disputatio._cli.index import COMMANDS

app = make_app(*COMMANDS)
