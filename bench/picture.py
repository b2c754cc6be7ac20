"""Takes the README's picture of an argument map from a page that `disputatio show ID --as html` wrote.

Run: .venv/bin/python bench/picture.py PAGE.html [docs/images/argument-map.png]

Needs the test environment (playwright) and Debian's chromium.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright


def take(page_file: Path, picture: Path) -> None:
    """Save the map of ``page_file`` as a PNG, in light colours and at twice the pixels."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("There is no Chromium here. On Debian: apt-get install chromium")
    picture.parent.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 1000}, device_scale_factor=2, color_scheme="light")
        page.goto(page_file.resolve().as_uri())
        page.locator(".map").screenshot(path=str(picture))
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    take(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "docs/images/argument-map.png"))
