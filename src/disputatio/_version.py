"""The version. The package's metadata are built from it. Reading those would take longer."""

from __future__ import annotations

VERSION = "0.1.0"
