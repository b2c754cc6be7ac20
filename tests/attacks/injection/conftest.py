"""The stages on which debates are held and pages are made are shared with the tests of the report and the page."""

import sys
from pathlib import Path

for folder in ("report", "page"):
    sys.path.append(str(Path(__file__).parents[2] / folder))
