"""The version, in the one place from which the package's metadata are built; reading those back takes longer."""

from __future__ import annotations

VERSION = "0.1.0"
