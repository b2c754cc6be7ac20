"""Check an installation without calling a model: the findings that the ``doctor`` command prints."""

from __future__ import annotations

import importlib.util
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from pathlib import Path

from disputatio.config.environment import read_environment
from disputatio.config.settings import Settings, fallback_seat, missing_keys
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.providers import OTHER_EXTRAS, PROVIDERS


class State(StrEnum):
    """How to take a finding."""

    FINE = "fine"
    ABSENT = "absent"
    """Missing, but not needed for these settings."""
    PROBLEM = "problem"
    """A debate with these settings would fail, or would differ from what the user meant."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. ``area`` is ``seats``, ``settings``, ``keys``, ``extras``, ``store`` or ``notes``.

    ``detail`` says what was found; ``next_step`` what to do about a problem.
    """

    area: str
    subject: str
    state: State
    detail: str
    next_step: str = ""


def is_installed(module: str) -> bool:
    """Whether ``module`` can be imported. Only the packages above it are imported."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def is_writable(path: Path) -> bool:
    """Whether a file can be written at ``path``."""
    if path.exists():
        return path.is_file() and os.access(path, os.W_OK)
    nearest = next((folder for folder in path.parents if folder.exists()), None)
    return nearest is not None and nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


def diagnose(
    settings: Settings,
    *,
    environ: Mapping[str, str],
    directory: Path,
    installed: Callable[[str], bool] = is_installed,
    writable: Callable[[Path], bool] = is_writable,
) -> tuple[Finding, ...]:
    """All findings about ``settings``, in the order of printing. No finding holds a key.

    Args:
        settings: the resolved settings.
        environ: the environment they were resolved from.
        directory: the working directory they were resolved in.
        installed: says whether a module can be imported.
        writable: says whether a file can be written.

    Raises:
        InvalidInputError: ``.env`` cannot be read.
    """
    return (
        *_seats(settings),
        *_settings(settings),
        *_keys(settings, environ, directory),
        *_extras(settings, installed),
        _store(settings, writable),
        *(Finding("notes", "note", State.PROBLEM, note) for note in settings.notes),
    )


def _seats(settings: Settings) -> Iterator[Finding]:
    for seat, seating in settings.seats.items():
        source = settings.sources.get(f"seats.{seat}.provider", "default")
        yield Finding("seats", seat, State.FINE, f"{seating.address} (provider from {source})")
        if seating.fallback is not None:
            source = settings.sources.get(f"seats.{seat}.fallback", "default")
            yield Finding("seats", fallback_seat(seat), State.FINE, f"{seating.fallback.address} (from {source})")


def _settings(settings: Settings) -> Iterator[Finding]:
    """Each setting that was given, with its source. Defaults are in the reference."""
    for key, source in settings.sources.items():
        if source == "default" or source.startswith("not ") or key == "store":
            continue
        value = _shown_value(settings, key)
        yield Finding("settings", key, State.FINE, f"{value} (from {source})" if value else f"from {source}")


def _shown_value(settings: Settings, key: str) -> str:
    """The value of ``key`` in a few words; empty for a secret, a table or a long text."""
    parts = key.split(".")
    if parts[0] == "seats" and parts[2] == "tools":
        return ", ".join(settings.tools.get(parts[1], ())) or "none"
    if parts[0] == "seats":
        name = {"timeout": "timeout_s"}.get(parts[2], parts[2])
        setting = getattr(settings.seats[parts[1]], name, None)
        return str(setting) if isinstance(setting, str | int | float) and len(str(setting)) <= 60 else ""
    if parts[0] == "rules":
        return str(settings.rules[key.removeprefix("rules.")])
    if parts[0] == "criteria":
        criterion = settings.judging.criteria[parts[1]]
        return str(criterion.question) if parts[2:] else str(criterion.weight)
    if parts[0] == "rubric":
        return settings.judging.rubric or ""
    value: object = settings
    for part in parts:
        value = value.get(part) if isinstance(value, dict) else getattr(value, part, None)
    return str(value) if isinstance(value, str | int | float | Decimal) else ""


def _keys(settings: Settings, environ: Mapping[str, str], directory: Path) -> Iterator[Finding]:
    environment = read_environment(environ, directory)
    owners: dict[str, str] = {}
    for provider in PROVIDERS.values():
        for variable in provider.key_variables:
            # Both OpenAI providers use the same key.
            if owners.setdefault(variable, provider.name) != provider.name:
                continue
            given = environment.get(variable)
            if given is not None:
                yield Finding("keys", variable, State.FINE, f"set for {provider.name} (from {given.source})")
    for missing in missing_keys(settings):
        yield Finding(
            "keys",
            missing.seat,
            State.PROBLEM,
            f"{missing.seat} uses {missing.provider} and has no key.",
            f"Set {' or '.join(missing.variables)} in the environment or in .env.",
        )


def _models(settings: Settings) -> Iterator[ModelSeating]:
    for seating in settings.seats.values():
        yield seating
        if seating.fallback is not None:
            yield seating.fallback


def _extras(settings: Settings, installed: Callable[[str], bool]) -> Iterator[Finding]:
    needed = {PROVIDERS[model.provider].extra for model in _models(settings)}
    if settings.store.startswith("postgresql"):
        needed.add("postgres")
    if settings.mcp_servers:
        needed.add("mcp")
    known = {
        provider.extra: (provider.module, provider.title)
        for provider in PROVIDERS.values()
        if provider.extra is not None and provider.module is not None
    }
    for extra, (module, purpose) in {**known, **OTHER_EXTRAS}.items():
        install = f"pip install 'disputatio[{extra}]'"
        if installed(str(module)):
            yield Finding("extras", str(extra), State.FINE, f"installed, for {purpose}")
        elif extra in needed:
            detail = f"not installed, and these settings need it for {purpose}"
            yield Finding("extras", str(extra), State.PROBLEM, detail, f"Run: {install}")
        else:
            yield Finding("extras", str(extra), State.ABSENT, f"not installed, for {purpose}: {install}")


def _store(settings: Settings, writable: Callable[[Path], bool]) -> Finding:
    source = settings.sources.get("store", "default")
    place = f"{settings.shown_store} (from {source})"
    scheme, _, rest = settings.store.partition(":///")
    if not scheme.startswith("sqlite"):
        return Finding("store", "store", State.FINE, f"{place}; not tried yet")
    path = rest.partition("?")[0]
    if path in {"", ":memory:"}:
        return Finding("store", "store", State.PROBLEM, f"{place}; in memory only", "Use a file.")
    if writable(Path(path)):
        return Finding("store", "store", State.FINE, f"{place}; writable{_open_to_others(Path(path))}")
    return Finding(
        "store",
        "store",
        State.PROBLEM,
        f"{place}; cannot be written",
        "Choose another place with --store or DISPUTATIO_STORE, or make that folder writable.",
    )


def _open_to_others(path: Path) -> str:
    """A remark if other users of the machine can read or write the store."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return ""
    others = mode & (stat.S_IRWXG | stat.S_IRWXO)
    return (
        f"; other users of this machine may open it, chmod 600 {path} prevents that"
        if os.name == "posix" and others
        else ""
    )
