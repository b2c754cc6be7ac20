"""The prompt files, checked against their locked hashes before they are used."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template

from disputatio.errors import InvalidInputError

LOCK_FILE = "lock.json"
_FORMATS = ("structured", "freeform", "single", "panel", "review", "competition", "market", "own", "recognition")
_FOLDERS = (*_FORMATS, "shared", "small", "tools")


@cache
def _packaged() -> dict[str, str]:
    root = files("disputatio.prompts")
    return {
        f"{folder}/{entry.name}": entry.read_text("utf-8")
        for folder in _FOLDERS
        for entry in sorted(root.joinpath(folder).iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".md")
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def current_hashes() -> Mapping[str, str]:
    """The SHA-256 of every packaged prompt file as it is on disk; what the lock file must hold."""
    return {name: _hash(text) for name, text in _packaged().items()}


@cache
def _altered() -> tuple[str, ...]:
    """The packaged files that differ from the release: changed, added or removed."""
    locked, found = json.loads(files("disputatio.prompts").joinpath(LOCK_FILE).read_text("utf-8")), current_hashes()
    return tuple(name for name in sorted({*locked, *found}) if locked.get(name) != found.get(name))


class PromptBook:
    """The prompts of one run.

    Args:
        overrides: a folder of files that replace packaged ones with the same relative name.

    Raises:
        InvalidInputError: a packaged file does not match its locked hash and no override takes its place, or an
            override matches no file, is no text, or has a place that nothing fills.
    """

    def __init__(self, overrides: Path | None = None) -> None:
        self._texts = dict(_packaged())
        self._hashes = dict(current_hashes())
        self.overridden: tuple[str, ...] = ()
        if overrides is not None:
            self._override(overrides)
        self._check_lock()
        self._pieces: dict[str, tuple[str, ...]] = {}

    def _check_lock(self) -> None:
        changed = [name for name in _altered() if name not in self.overridden]
        if changed:
            raise InvalidInputError(
                f"The prompt file {changed[0]} is not the one this version was released with.",
                "Reinstall disputatio, or keep your own prompts in a folder and give it with --prompts FOLDER.",
            )

    def _override(self, folder: Path) -> None:
        found = sorted(path for path in folder.rglob("*.md") if path.is_file())
        if not found:
            raise InvalidInputError(
                f"The prompt folder {folder} holds no .md file.", "Give the folder of your prompts."
            )
        names = []
        for path in found:
            name = path.relative_to(folder).as_posix()
            if name not in self._texts:
                known = ", ".join(row for row in self._texts if not row.startswith("shared/"))
                raise InvalidInputError(
                    f"{path} matches no packaged prompt, so it would override nothing.", f"Prompts are: {known}."
                )
            text = _read_override(path)
            _check_places(path, text, self._texts[name])
            self._texts[name], self._hashes[name] = text, _hash(text)
            names.append(name)
        self.overridden = tuple(names)

    def hashes(self, format_name: str, *, small: bool, tools: bool = False) -> Mapping[str, str]:
        """The hashes of the files a debate of this format uses.

        ``small`` adds those for small models, ``tools`` those for seats that have tools.
        """
        folders = {format_name, "shared", *(("small",) if small else ()), *(("tools",) if tools else ())}
        return {name: value for name, value in self._hashes.items() if name.split("/")[0] in folders}

    def kept(self) -> Mapping[str, tuple[str, str]]:
        """Every file of this book by name: its SHA-256 and its text."""
        return {name: (self._hashes[name], text) for name, text in self._texts.items()}

    def has(self, name: str) -> bool:
        """Whether there is a prompt ``name``, such as ``structured/opening``."""
        return f"{name}.md" in self._texts

    def fill(self, name: str, values: Mapping[str, str]) -> str:
        """The prompt ``name``, such as ``structured/opening``, filled with ``values``.

        Raises:
            KeyError: there is no such prompt, or it has a place that ``values`` does not fill.
        """
        pieces = self._pieces.get(name)
        if pieces is None:
            pieces = self._pieces[name] = _split_template(self._texts[f"{name}.md"].strip())
        filled = list(pieces)
        filled[1::2] = [values[place] for place in pieces[1::2]]
        return "".join(filled)


def _split_template(text: str) -> tuple[str, ...]:
    """Split a template into text, place, text and so on, with text at both ends, so that filling it is fast.

    Raises:
        ValueError: a dollar sign names no place.
    """
    if not Template(text).is_valid():
        raise ValueError("the prompt has a dollar sign that names no place")
    pieces = [""]
    end = 0
    for found in Template.pattern.finditer(text):
        pieces[-1] += text[end : found.start()]
        end = found.end()
        if found["escaped"] is not None:
            pieces[-1] += Template.delimiter
        else:
            pieces += [found["named"] or found["braced"], ""]
    pieces[-1] += text[end:]
    return tuple(pieces)


def _read_override(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidInputError(
            f"The prompt override {path} cannot be read: {cause}.", "Give it as a plain UTF-8 text file."
        ) from None


def _check_places(path: Path, text: str, original: str) -> None:
    """Refuse an override that would fail to be filled during a debate."""
    allowed = set(Template(original).get_identifiers())
    template = Template(text)
    if not template.is_valid():
        raise InvalidInputError(
            f"The prompt override {path} has a dollar sign that names no place.", "Write $$ for a dollar sign."
        )
    for place in template.get_identifiers():
        if place not in allowed:
            places = ", ".join(f"${name}" for name in sorted(allowed)) or "none"
            raise InvalidInputError(
                f"The prompt override {path} has the place ${place}, which nothing fills.",
                f"The places of that prompt are: {places}. Write $$ for a dollar sign.",
            )


@cache
def packaged_book() -> PromptBook:
    """The prompts as they were released, read and checked once for a process."""
    return PromptBook()
