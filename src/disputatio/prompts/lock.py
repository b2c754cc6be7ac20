"""Writes the lock file of the prompts: ``python -m disputatio.prompts.lock``. A developer's act, never a user's."""

from __future__ import annotations

import json
from pathlib import Path

from disputatio.prompts.book import LOCK_FILE, current_hashes


def main() -> None:
    """Lock the prompt files as they are now."""
    path = Path(__file__).parent / LOCK_FILE
    path.write_text(json.dumps(current_hashes(), indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
