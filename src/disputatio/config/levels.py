"""Decide which of the values given for a seat applies, level by level.

The levels, lowest first: the default, the file, the global variables (``LLM_...``), the seat's own variables
(``PRO_LLM_...``), the command line. Within each level, values for all seats come before those for a side, and these
before those for the seat. Within the variables, ``.env`` comes before the real environment.

An independent setting (a temperature, a persona) is taken from the highest level that has it. A model, an address, a
key and a price belong to the provider they were given with. So, going up the levels:

1. a level that names another provider drops the model, the address, the key and the price from below it;
2. a level that gives another address drops the key and the price from below it;
3. a level that gives another model drops the price from below it;
4. a level that names no provider refers to the current one;
5. a key given before any provider or address waits: it is kept for an ``openai_compatible`` server where that is the
   first provider named, and dropped otherwise;
6. a level that gives a new fallback drops the fallback's key from below it.

A key therefore never reaches a server it was not meant for, and no model a provider that does not have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from disputatio.config.environment import Environment
from disputatio.config.keys import SEAT_FIELDS, scopes
from disputatio.options import Given
from disputatio.options.reading import KeyPath
from disputatio.participants.providers import AUTOMATIC_ORDER, PROVIDERS, canonical_name

Level = Mapping[str, Given]
OWNED = ("model", "base_url", "api_key", "price")
UNOWNED = ("model", "base_url", "price")
"""What is dropped if a key waited for its server."""


@dataclass(frozen=True, slots=True)
class KeyVariable:
    """A key in a variable that the user chose."""

    variable: str


def seat_levels(
    seat: str,
    file: Mapping[KeyPath, Given],
    environment: Environment,
    command_line: Mapping[KeyPath, Given],
) -> list[Level]:
    """The values of each level for ``seat``, lowest first, by field. Keys are under ``api_key``."""
    names = scopes(seat)
    return [
        *(_level(file, name) for name in names),
        *(level for name in names for level in environment.seat_levels(name)),
        *(_level(command_line, name) for name in names),
    ]


def _level(values: Mapping[KeyPath, Given], scope: str) -> Level:
    level = {name: values[path] for name in SEAT_FIELDS if (path := ("seats", scope, name)) in values}
    for name in ("api_key", "fallback_api_key"):
        given = level.pop(f"{name}_env", None)
        if given is not None:
            level[name] = Given(KeyVariable(str(given.value).strip()), given.source, given.directory)
    return level


@dataclass(frozen=True, slots=True)
class AutomaticProvider:
    """The provider if no setting names one, and why.

    ``rivals`` are the variables among which a named model could not decide. ``unused`` is a variable whose provider has
    a key but no default model.
    """

    provider: str
    source: str
    rivals: tuple[str, ...] = ()
    unused: str = ""


def choose_provider(levels: Sequence[Level], environment: Environment, usual: str = "") -> AutomaticProvider:
    """The provider for the levels below the first that names one.

    An address without a provider means an OpenAI-compatible server. Otherwise the keys that are set decide, in
    ``AUTOMATIC_ORDER``; without any key it is the embedded model. A format's ``usual`` provider wins over keys unless a
    model is named.
    """
    first = next((place for place, level in enumerate(levels) if "provider" in level), len(levels))
    unbound = levels[:first]
    for level in unbound:
        if "base_url" in level:
            return AutomaticProvider("openai_compatible", f"{level['base_url'].source} is set")
    keyed = _keyed(environment)
    if usual and not any("model" in level for level in unbound):
        return AutomaticProvider(usual, "default")
    if any("model" in level for level in unbound):
        candidates = keyed
        rivals = tuple(source for _, source in keyed) if len(keyed) > 1 else ()
    else:
        candidates = [(name, source) for name, source in keyed if PROVIDERS[name].default_model]
        rivals = ()
    if not candidates:
        return AutomaticProvider("embedded", "default", unused=keyed[0][1] if keyed else "")
    name, source = candidates[0]
    others = [each for _, each in candidates]
    why = f", the first of {', '.join(others)}" if len(others) > 1 else ""
    return AutomaticProvider(name, f"{source} is set{why}", rivals)


def _keyed(environment: Environment) -> list[tuple[str, str]]:
    """The providers that have a key in the environment, in order, each with the variable's source."""
    found = []
    for name in AUTOMATIC_ORDER:
        givens = (environment.get(variable) for variable in PROVIDERS[name].key_variables)
        given = next((each for each in givens if each is not None), None)
        if given is not None:
            found.append((name, given.source))
    return found


@dataclass(slots=True)
class EffectiveValues:
    """The values of one seat up to one level.

    Attributes:
        provider: its name. An unknown name stays as it was written.
        source: why this provider.
        named: whether a level named it.
        values: the current values by field.
        dropped: for each dropped field the last value, and the provider it belongs to.
    """

    provider: str
    source: str
    named: bool = False
    values: dict[str, Given] = field(default_factory=dict)
    dropped: dict[str, tuple[Given, str]] = field(default_factory=dict)

    def drop(self, names: Iterable[str]) -> None:
        """Drop values that belong to what a higher level replaces."""
        for name in names:
            given = self.values.pop(name, None)
            if given is not None:
                self.dropped[name] = (given, self.provider)

    def differs(self, name: str, given: Given) -> bool:
        """Whether ``name`` already has a different value."""
        current = self.values.get(name)
        return current is not None and _normalized(current) != _normalized(given)


def merge_levels(levels: Sequence[Level], environment: Environment, automatic: AutomaticProvider) -> EffectiveValues:
    """Merge all ``levels`` by the rules at the top of this module."""
    effective = EffectiveValues(automatic.provider, automatic.source)
    for level in levels:
        chosen = level.get("provider")
        if chosen is not None:
            name = canonical_name(str(chosen.value))
            if name != effective.provider:
                effective.drop(UNOWNED if name == "openai_compatible" and not effective.named else OWNED)
            effective.provider, effective.source, effective.named = name, chosen.source, True
        if "base_url" in level and _changes_address(effective, level["base_url"], environment):
            effective.drop(("api_key", "price"))
        if "model" in level and effective.differs("model", level["model"]):
            effective.drop(("price",))
        if "fallback" in level and (
            "fallback" not in effective.values or effective.differs("fallback", level["fallback"])
        ):
            effective.drop(("fallback_api_key",))
        effective.values.update((name, given) for name, given in level.items() if name != "provider")
    return effective


def _changes_address(effective: EffectiveValues, given: Given, environment: Environment) -> bool:
    """Whether ``given`` replaces an address by a different one. The first address replaces nothing."""
    current = effective.values.get("base_url") or default_address(effective.provider, environment)
    return current is not None and _normalized(current) != _normalized(given)


def default_address(provider: str, environment: Environment) -> Given | None:
    """The address of a provider unless a setting gives another."""
    entry = PROVIDERS.get(provider)
    if entry is None:
        return None
    moved = environment.get(entry.base_url_variable) if entry.base_url_variable else None
    if moved is not None:
        return moved
    return Given(entry.base_url, "default", environment.directory) if entry.base_url else None


def _normalized(given: Given) -> str:
    return str(given.value).strip().rstrip("/")
