"""How the tables of a store are numbered; what each number stands for is in ``migrations``."""

from __future__ import annotations

REVISION = "0004"
"""The newest migration. A store at an unknown revision was written by another version."""

KNOWN_REVISIONS = ("0001", "0002", "0003", "0004")
