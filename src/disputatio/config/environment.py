"""Read the environment and the ``.env`` file, separately, so that messages can name the source of every value.

The real environment wins over ``.env``. A variable set to nothing there hides the line in ``.env`` and counts as not
set. The process's environment is never changed.
"""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path

from disputatio.config.keys import KEY_VARIABLES, SEAT_FIELDS, scopes
from disputatio.config.settings import variable_prefix
from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import did_you_mean
from disputatio.options import Given
from disputatio.participants.providers import PROVIDERS

DOTENV = ".env"

SEAT_VARIABLES: Mapping[str, str] = {
    **{name: key.variable for name, key in SEAT_FIELDS.items() if key.variable},
    **KEY_VARIABLES,
}
"""The environment variable of each field of a seat, from ``LLM_`` on."""


@dataclass(frozen=True, slots=True)
class Environment:
    """Variables that have a value, by source.

    Attributes:
        real: from the process's environment.
        dotenv: from ``.env``, except those that the real environment has too.
        directory: where paths in the values start from.
        unreadable: the lines of ``.env`` that are not assignments, counted from 1.
    """

    real: Mapping[str, str] = field(repr=False)
    dotenv: Mapping[str, str] = field(repr=False)
    directory: Path
    unreadable: tuple[int, ...] = ()

    def get(self, variable: str) -> Given | None:
        """The value of ``variable``, or None where it is not set."""
        for values, mark in ((self.real, ""), (self.dotenv, f"{DOTENV}:")):
            if variable in values:
                return Given(values[variable], f"{mark}{variable}", self.directory)
        return None

    def seat_levels(self, scope: str) -> Iterator[dict[str, Given]]:
        """The values for ``scope`` by field: first from ``.env``, then from the real environment.

        These are two levels, so that a provider set in one takes no model from the other.
        """
        prefix = variable_prefix(scope)
        for values, mark in ((self.dotenv, f"{DOTENV}:"), (self.real, "")):
            yield {
                name: Given(values[f"{prefix}{variable}"], f"{mark}{prefix}{variable}", self.directory)
                for name, variable in SEAT_VARIABLES.items()
                if f"{prefix}{variable}" in values
            }

    def names(self) -> frozenset[str]:
        """All variables that are set."""
        return frozenset(self.real) | frozenset(self.dotenv)

    def secrets(self, named: Iterable[str] = ()) -> frozenset[str]:
        """Every value that is a key, to keep it out of messages."""
        holders = {name for name in self.names() if _HOLDS_KEY.search(name)} | _KEY_HOLDERS | set(named)
        found = (self.get(name) for name in holders)
        return frozenset(str(given.value).strip() for given in found if given is not None)

    def without_secrets(self, failure: InvalidInputError, named: Iterable[str] = ()) -> InvalidInputError:
        """``failure`` with every key of the environment masked."""
        cause, next_step = failure.cause, failure.next_step
        for secret in sorted(self.secrets(named), key=len, reverse=True):
            if len(secret) >= _SHORTEST_SECRET:
                cause, next_step = cause.replace(secret, "***"), next_step.replace(secret, "***")
        return InvalidInputError(cause, next_step)


_SHORTEST_SECRET = 4
_HOLDS_KEY = re.compile(r"API_?KEY|TOKEN$|SECRET|PASSWORD", re.IGNORECASE)
_KEY_HOLDERS = {variable for provider in PROVIDERS.values() for variable in provider.key_variables}


def read_environment(environ: Mapping[str, str], directory: Path) -> Environment:
    """Read the environment, and ``directory / ".env"`` if it exists.

    Raises:
        InvalidInputError: ``.env`` exists but cannot be read, or is not UTF-8.
    """
    lines, unreadable = _read_dotenv(directory / DOTENV, environ)
    dotenv = {name: value for name, value in lines.items() if name not in environ and value.strip()}
    real = {name: value for name, value in environ.items() if value.strip()}
    return Environment(real, dotenv, directory, unreadable)


def _read_dotenv(path: Path, environ: Mapping[str, str]) -> tuple[dict[str, str], tuple[int, ...]]:
    # dotenv_values would log unreadable lines and expand ${NAME} from os.environ instead of ``environ``. The parser of
    # the same library leaves both to the caller.
    from dotenv.parser import parse_stream
    from dotenv.variables import parse_variables

    if not (path.is_file() or path.is_fifo()):
        return {}, ()
    try:
        content = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as failure:
        reason = "is not UTF-8 text" if isinstance(failure, ValueError) else "cannot be read"
        raise InvalidInputError(
            f"The file {path.name} in the working directory {reason}.",
            "Save it as plain UTF-8 text that you may read, or move it away.",
        ) from None
    found: dict[str, str] = {}
    unreadable = []
    for binding in parse_stream(io.StringIO(content)):
        if binding.error:
            # A broken statement includes the blank lines before it.
            blank = len(binding.original.string) - len(binding.original.string.lstrip())
            unreadable.append(binding.original.line + binding.original.string[:blank].count("\n"))
        elif binding.key is not None and binding.value is not None:
            known = {**found, **environ}
            found[binding.key] = "".join(atom.resolve(known) for atom in parse_variables(binding.value))
    return found, tuple(unreadable)


def environment_notes(environment: Environment, seat_scopes: Collection[str], other_seats: Set[str]) -> list[str]:
    """Notes on variables that look like ours but are not, and on unreadable lines of ``.env``.

    They are not errors, because other tools use such names too. Variables of ``other_seats`` are ignored.
    """
    notes = [f"Line {line} of {DOTENV} is not an assignment and was not read." for line in environment.unreadable]
    prefixes = [variable_prefix(scope) for scope in seat_scopes]
    known = [f"{prefix}{variable}" for prefix in prefixes for variable in SEAT_VARIABLES.values()]
    for name in sorted(environment.names()):
        match = re.fullmatch(r"((?:[A-Z0-9_]+_)?)LLM_[A-Z_]+", name)
        if match is None or name in known:
            continue
        near = did_you_mean(name, known, likeness=0.85)
        given = environment.get(name)
        if near and given is not None and match[1] not in _prefixes(other_seats, seat_scopes):
            notes.append(f"{given.source} is not a setting and was not used. {near.strip()}")
    return notes


def _prefixes(seats: Set[str], besides: Collection[str]) -> set[str]:
    """The prefixes of the variables of ``seats`` and their sides."""
    return {variable_prefix(scope) for seat in seats for scope in scopes(seat)[1:] if scope not in besides}
