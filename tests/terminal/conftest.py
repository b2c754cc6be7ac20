"""The stage on which debates are held is shared with the tests of the report."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "report"))
