"""Resolve each seat: its model, its keys and where every value came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from disputatio.config.environment import Environment
from disputatio.config.keys import SEAT_FIELDS
from disputatio.config.levels import AutomaticProvider, EffectiveValues, KeyVariable, default_address
from disputatio.config.settings import variable_prefix
from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import quote
from disputatio.options import Given, bad_value
from disputatio.participants.model_seat import ModelSeating, Price
from disputatio.participants.providers import Provider, SeatValue, checked_model, parse_seat_value, provider_named
from disputatio.participants.reasoning import reasons_by_default
from disputatio.request import reading


@dataclass(frozen=True, slots=True)
class ResolvedSeat:
    """One resolved seat: its model, keys, the source of each value, notes and tools."""

    seating: ModelSeating
    key: str | None = field(repr=False)
    fallback_key: str | None = field(repr=False)
    sources: Mapping[str, str]
    notes: tuple[str, ...]
    tools: tuple[str, ...] = ()


@dataclass(slots=True)
class _FoundKey:
    """A key with its source and its variable."""

    key: str | None = field(default=None, repr=False)
    source: str = "not needed"
    variable: str = ""


_DEFAULTS: Mapping[str, Any] = {
    "temperature": None,
    "max_tokens": None,
    "reasoning_effort": None,
    "timeout": 300.0,
    "attempts": 4,
    "persona": "",
    "mode": None,
}


def resolve_seat(
    seat: str,
    effective: EffectiveValues,
    automatic: AutomaticProvider,
    environment: Environment,
    prices: Mapping[str, Price],
) -> ResolvedSeat:
    """Resolve the seating of ``seat`` and its keys.

    Args:
        seat: the seat's name.
        effective: its effective values.
        automatic: the provider that it would have without a named one.
        environment: has the keys.
        prices: prices by ``provider:model``.

    Raises:
        InvalidInputError: a value cannot be used, or the provider, the model or the address is missing.
    """
    provider = provider_named(effective.provider, source=effective.source)
    _check_owner(seat, effective, automatic, provider)
    found = _find_key(effective, provider, environment)
    base_url, address_source = _address(seat, effective, provider, found, environment)
    model, model_source = _model(seat, effective, provider)
    price, price_source = _price(seat, effective, f"{provider.name}:{model}", prices)
    own, sources = _independent_values(seat, effective, provider, model)
    sources.update(
        provider=effective.source,
        api_key=found.source,
        base_url=address_source,
        model=model_source,
        price=price_source,
    )
    seating = ModelSeating(provider=provider.name, model=model, base_url=base_url, price=price, **own)
    fallback, second = None, _FoundKey()
    given = effective.values.get("fallback")
    sources["fallback"] = given.source if given else "default"
    named = effective.values.get("tools")
    sources["tools"] = named.source if named else "default"
    if given is not None:
        second = _fallback_key(effective, given, seating, found, environment)
        fallback = _fallback(seat, effective, given, seating, second, environment, prices)
        sources["fallback_api_key"] = second.source
    return ResolvedSeat(
        replace(seating, fallback=fallback),
        found.key,
        second.key,
        {_key(seat, name): source for name, source in sources.items()},
        _notes(seat, effective, found, automatic),
        reading.tool_words(_key(seat, "tools"), named) if named else (),
    )


def _independent_values(
    seat: str, effective: EffectiveValues, provider: Provider, model: str
) -> tuple[dict[str, Any], dict[str, str]]:
    """The settings that do not depend on others, and their sources."""
    own: dict[str, Any] = {}
    sources = {}
    for name, default in {**_DEFAULTS, "piecewise": provider.asks_piecewise(model)}.items():
        given = effective.values.get(name)
        own[name] = SEAT_FIELDS[name].read(_key(seat, name), given) if given else default
        sources[name] = given.source if given else "default"
    own["timeout_s"] = own.pop("timeout")
    return own, sources


def _key(seat: str, name: str) -> str:
    return f"seats.{seat}.{name}"


def _check_owner(seat: str, effective: EffectiveValues, automatic: AutomaticProvider, provider: Provider) -> None:
    """Refuse a key or a model that could belong to several providers, if no provider is named."""
    if effective.named or provider.name == "openai_compatible":
        return
    key, model = effective.values.get("api_key"), effective.values.get("model")
    if key is not None:
        raise InvalidInputError(
            f"{key.source} gives {seat} a key, but the provider of the key is not named.",
            f"Name its provider too, such as {variable_prefix(seat)}LLM_PROVIDER=openai.",
        )
    if model is not None and automatic.rivals:
        raise InvalidInputError(
            f"{model.source} gives {seat} the model {quote(model.value)}, but {' and '.join(automatic.rivals)} "
            "are set, and its provider is not named.",
            f"Name its provider too, with {variable_prefix(seat)}LLM_PROVIDER or as PROVIDER:MODEL.",
        )


def _find_key(effective: EffectiveValues, provider: Provider, environment: Environment) -> _FoundKey:
    found = _key_given(effective.values.get("api_key"), environment)
    if found is None:
        found = _key_of(provider, environment)
    if found is not None:
        return found
    if "api_key" not in effective.dropped:
        return _FoundKey(source="not set" if provider.needs_key else "not needed")
    if not (provider.needs_key or provider.needs_address):
        return _FoundKey()
    given, owner = effective.dropped["api_key"]
    whose = f"belongs to {owner}" if owner != provider.name else "belongs to another address"
    return _FoundKey(source=f"not set ({given.source} {whose})")


def _key_given(given: Given | None, environment: Environment) -> _FoundKey | None:
    if given is None:
        return None
    if not isinstance(given.value, KeyVariable):
        return _FoundKey(reading.key_text(given), given.source)
    named = environment.get(given.value.variable)
    if named is None:
        raise InvalidInputError(
            f"{given.source} says that the key is in {given.value.variable}, which is not set.",
            f"Set {given.value.variable} in the environment or in .env, or name another variable.",
        )
    return _FoundKey(reading.key_text(named), f"{named.source} (named by {given.source})")


def _key_of(provider: Provider, environment: Environment) -> _FoundKey | None:
    for variable in provider.key_variables:
        given = environment.get(variable)
        if given is not None:
            return _FoundKey(reading.key_text(given), given.source, variable)
    return None


def _address(
    seat: str, effective: EffectiveValues, provider: Provider, found: _FoundKey, environment: Environment
) -> tuple[str | None, str]:
    """The address to record; None if it is the provider's default."""
    given = effective.values.get("base_url")
    if given is not None:
        if not provider.takes_address:
            raise InvalidInputError(
                f"{given.source} gives {seat} an address, but {provider.name} (from {effective.source}) takes none.",
                f"Leave the address out, or name the server's provider, such as "
                f"{variable_prefix(seat)}LLM_PROVIDER=openai_compatible.",
            )
        return _versioned(reading.url(_key(seat, "base_url"), given), provider, environment), given.source
    moved = default_address(provider.name, environment)
    if moved is not None and moved.source != "default":
        return _versioned(reading.url(_key(seat, "base_url"), moved), provider, environment), moved.source
    for variable, address in provider.key_addresses:
        if variable == found.variable:
            return address, f"{found.source} is set"
    if provider.needs_address:
        raise InvalidInputError(
            f"{seat} uses {provider.name} (from {effective.source}), which has no address of its own.",
            f"Set {_or(provider.base_url_variable)}{variable_prefix(seat)}LLM_BASE_URL, --base-url, "
            f"or {_key(seat, 'base_url')} in a file.",
        )
    return None, "default"


def _or(variable: str | None) -> str:
    return f"{variable}, " if variable else ""


def _versioned(address: str, provider: Provider, environment: Environment) -> str:
    """``address`` with the API version of the environment, unless it has one or needs none."""
    given = environment.get(provider.version_variable) if provider.version_variable else None
    if given is None or "?" in address or address.endswith("/v1"):
        return address
    return f"{address}?api-version={reading.api_version(str(provider.version_variable), given)}"


def _model(seat: str, effective: EffectiveValues, provider: Provider) -> tuple[str, str]:
    given = effective.values.get("model")
    if given is not None:
        name = reading.model(_key(seat, "model"), given)
        return checked_model(provider, name, source=given.source), given.source
    if provider.default_model is not None:
        return provider.default_model, "default"
    why = ""
    if "model" in effective.dropped:
        dropped, owner = effective.dropped["model"]
        why = f" {dropped.source} names a model of {owner}."
    raise InvalidInputError(
        f"{seat} uses {provider.name} (from {effective.source}), which has no default model.{why}",
        f"Set {variable_prefix(seat)}LLM_MODEL, --seat {seat}={provider.name}:MODEL, "
        f"or {_key(seat, 'model')} in a file.",
    )


def _price(seat: str, effective: EffectiveValues, model: str, prices: Mapping[str, Price]) -> tuple[Price | None, str]:
    given = effective.values.get("price")
    if given is not None:
        return reading.price(_key(seat, "price"), given), given.source
    return (prices[model], f'price."{model}"') if model in prices else (None, "default")


def _named(seat: str, given: Given) -> tuple[SeatValue, Provider]:
    value = parse_seat_value(reading.seat_value(_key(seat, "fallback"), given), source=given.source)
    return value, provider_named(value.provider, source=given.source)


def _fallback_key(
    effective: EffectiveValues, given: Given, seating: ModelSeating, seat_key: _FoundKey, environment: Environment
) -> _FoundKey:
    """The key of the fallback: its own, the seat's if the server is the same, or its provider's."""
    value, provider = _named("", given)
    found = _key_given(effective.values.get("fallback_api_key"), environment)
    if found is None and provider.name == seating.provider:
        address = (value.base_url or seating.base_url or "").rstrip("/")
        found = seat_key if seat_key.key and address == (seating.base_url or "") else None
    if found is None:
        found = _key_of(provider, environment)
    return found or _FoundKey(source="not set" if provider.needs_key else "not needed")


def _fallback(
    seat: str,
    effective: EffectiveValues,
    given: Given,
    seating: ModelSeating,
    found: _FoundKey,
    environment: Environment,
    prices: Mapping[str, Price],
) -> ModelSeating:
    """The fallback model. It has the seat's address only if it has the seat's provider."""
    value, provider = _named(seat, given)
    key = _key(seat, "fallback")
    same_provider = provider.name == seating.provider
    base_url = seating.base_url if same_provider else None
    if value.base_url is not None:
        own = reading.url(key, Given(value.base_url, given.source, given.directory))
        base_url = _versioned(own, provider, environment)
    if base_url is None:
        moved = default_address(provider.name, environment)
        if moved is not None and moved.source != "default":
            base_url = _versioned(reading.url(key, moved), provider, environment)
    base_url = base_url or dict(provider.key_addresses).get(found.variable)
    model = value.model or provider.default_model
    if base_url is not None and not provider.takes_address:
        raise bad_value(key, given, f"{provider.name}:MODEL alone, since it has no address")
    if model is None or (provider.needs_address and base_url is None):
        raise bad_value(key, given, "PROVIDER:MODEL, with ` at URL` where the provider has no address")
    if (provider.name, model, base_url) == (seating.provider, seating.model, seating.base_url):
        raise bad_value(key, given, "a model other than the seat's own")
    second = replace(
        seating,
        provider=provider.name,
        model=model,
        base_url=base_url,
        price=prices.get(f"{provider.name}:{model}"),
        piecewise=seating.piecewise if "piecewise" in effective.values else provider.asks_piecewise(model),
        mode=seating.mode if same_provider else None,
    )
    # An effort is for one model. A model that does not reason would refuse every call.
    return second if same_provider and reasons_by_default(second) else replace(second, reasoning_effort=None)


def _key_advice(seat: str, effective: EffectiveValues) -> str:
    """How to give ``seat`` its missing key."""
    provider, prefix = provider_named(effective.provider, source=effective.source), variable_prefix(seat)
    beside = f"{prefix}LLM_PROVIDER={provider.name}"
    if "base_url" in effective.values:
        beside += f" and {prefix}LLM_BASE_URL"
    own = f"Set {provider.key_variables[0]}, or" if provider.key_variables else "Set"
    return f"{own} {prefix}LLM_API_KEY beside {beside}."


def _notes(seat: str, effective: EffectiveValues, found: _FoundKey, automatic: AutomaticProvider) -> tuple[str, ...]:
    notes = []
    if found.source.startswith("not set ("):
        why = found.source.removeprefix("not set (").removesuffix(")")
        notes.append(f"{seat} has no key: {why}. {_key_advice(seat, effective)}")
    if automatic.unused and not effective.named:
        notes.append(
            f"{automatic.unused} is set but not used: its provider has no default model; "
            "name one with LLM_PROVIDER and LLM_MODEL or as PROVIDER:MODEL."
        )
    return tuple(notes)
