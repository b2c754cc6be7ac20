"""Fonts for pages in a browser: each alone, so that a page does not depend on what else a machine has installed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.sax.saxutils import escape


@dataclass(frozen=True)
class Family:
    """A family of fonts: the names of its faces, the file of the sans serif one, Debian's package."""

    name: str
    file: str
    package: str

    @property
    def sans(self) -> str:
        return f"{self.name} Sans"

    def where(self) -> Path | None:
        """The folder that has the family; None where it is not installed."""
        return next((file.parent for file in _font_files() if file.name == self.file), None)


# The widest first.
FAMILIES = (
    Family("DejaVu", "DejaVuSans.ttf", "fonts-dejavu-core"),
    Family("Liberation", "LiberationSans-Regular.ttf", "fonts-liberation"),
    Family("Noto", "NotoSans-Regular.ttf", "fonts-noto-core"),
)

_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")
_CONFIGURATION = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
<dir>{folder}</dir>
<cachedir>{cache}</cachedir>
<selectfont><rejectfont><glob>/*</glob></rejectfont>
<acceptfont><glob>{folder}/{name}Sans*</glob><glob>{folder}/{name}Serif*</glob><glob>{folder}/{name}Mono*</glob></acceptfont>
</selectfont>
{preferred}
<match><edit name="family" mode="append_last"><string>{name} Sans</string></edit></match>
</fontconfig>
"""


@cache
def _font_files() -> tuple[Path, ...]:
    folders = (Path(name).expanduser() for name in _FOLDERS)
    return tuple(file for folder in folders if folder.is_dir() for file in sorted(folder.rglob("*.ttf")))


def only(family: Family, folder: Path) -> Mapping[str, str]:
    """The environment of a browser that sees this family and no other font. Its configuration is put into ``folder``.

    Raises:
        LookupError: the family is not installed.
    """
    found = family.where()
    if found is None:
        raise LookupError(f"{family.sans} is not here; on Debian: apt-get install {family.package}")
    preferred = "\n".join(
        f'<alias binding="strong"><family>{kind}</family><prefer><family>{family.name} {face}</family></prefer></alias>'
        for kind, face in (
            ("sans-serif", "Sans"),
            ("system-ui", "Sans"),
            ("serif", "Serif"),
            ("monospace", "Sans Mono"),
        )
    )
    text = _CONFIGURATION.format(
        folder=escape(str(found)), cache=escape(str(folder / "cache")), name=family.name, preferred=preferred
    )
    file = folder / "fonts.conf"
    file.write_text(text, "utf-8")
    return {**os.environ, "FONTCONFIG_FILE": str(file)}


def widest(folder: Path) -> Mapping[str, str]:
    """The environment of a browser that sees the widest installed family alone; unchanged where there is none."""
    family = next((family for family in FAMILIES if family.where()), None)
    return only(family, folder) if family else os.environ
