"""The options of every format, including formats of other packages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import did_you_mean, quote
from disputatio.formats.format import Format
from disputatio.formats.options import FormatOptions
from disputatio.formats.registry import FORMATS, UNLISTED, look_for_formats, register
from disputatio.options import Option, options_in

ENTRY_POINTS = "disputatio.formats"
"""The group of entry points where other packages name their formats. Each entry is a ``Format``."""


@cache
def _load_plugins() -> None:
    """Register the formats of installed packages.

    Raises:
        InvalidInputError: one cannot be imported or is not a format; names its package.
    """
    from importlib.metadata import entry_points

    for point in entry_points(group=ENTRY_POINTS):
        package = point.dist.name if point.dist else "an installed package"
        step = f"Update {package} or uninstall it; an entry point of {ENTRY_POINTS} must name a Format."
        try:
            found = point.load()
        except Exception as error:
            cause = f"The format {point.name} of {package} cannot be loaded: {type(error).__name__}: {error}."
            raise InvalidInputError(cause, step) from error
        if not isinstance(found, Format):
            kind = type(found).__name__
            raise InvalidInputError(f"The format {point.name} of {package} is a {kind}, not a Format.", step)
        register(found)


look_for_formats(_load_plugins)


def known_formats() -> Mapping[str, Format]:
    """Every format by its name, including those of installed packages."""
    return FORMATS


def options_of_formats() -> dict[str, type[FormatOptions]]:
    """The class of options of each format, by the format's name."""
    return {name: options_class(name) for name in known_formats()}


def options_class(name: str) -> type[FormatOptions]:
    """The options of the format called ``name``. A file of rules has only the options of every format."""
    from disputatio.formats import options

    packaged = {"structured", "freeform", "panel", "review", "competition", "market"}
    if name in packaged:
        # This does not import the module of the format.
        found: type[FormatOptions] = getattr(options, name.capitalize())
        return found
    if name in known_formats():
        return known_formats()[name].options
    return UNLISTED[name].options if name in UNLISTED else FormatOptions


def options_of(name: str) -> tuple[Option, ...]:
    """The options of the format called ``name``, without those of all debates."""
    return tuple(options_in(options_class(name)))


def formats_with(option: str) -> tuple[str, ...]:
    """The formats that have an option of this name."""
    return tuple(name for name, model in options_of_formats().items() if option in model.model_fields)


def wrong_format(source: str, format_name: str, formats: Iterable[str]) -> InvalidInputError:
    """The error for an option of other formats, the same on every surface."""
    names = list(formats)
    several = ", ".join(names[:-1])
    these = f"{several} and {names[-1]}" if several else names[-1]
    one = f"{several} or {names[-1]}" if several else names[-1]
    return InvalidInputError(
        f"{source} is for {these} debates, and the format is {format_name}.",
        f"Leave it out, or choose the format {one}.",
    )


def parse_format(value: Any) -> Any:
    """Read the options of a format: from its name, from a table with its ``name``, or from the options themselves.

    Raises:
        InvalidInputError: there is no such format, or it has no such option.
    """
    if isinstance(value, FormatOptions):
        return value
    table = {"name": value} if isinstance(value, str) else value
    if not isinstance(table, Mapping) or not isinstance(table.get("name"), str):
        options = f"its options, such as {value.__name__}(), " if isinstance(value, type) else ""
        raise InvalidInputError(
            f"format is {quote(value)}, which cannot be used.",
            f'Allowed is the name of a format, {options}or a table such as {{"name": "panel", "threshold": 2}}.',
        )
    name = str(table["name"])
    if name not in known_formats() and name not in UNLISTED and ".py" not in name:
        raise unknown_format(name)
    model = options_class(name)
    strange = next((row for row in table if row not in model.model_fields), None)
    if strange is not None and formats_with(str(strange)):
        raise wrong_format(str(strange), name, formats_with(str(strange)))
    return model.model_validate(dict(table))


def unknown_format(name: str) -> InvalidInputError:
    """The error for an unknown format."""
    known = known_formats()
    return InvalidInputError(
        f"There is no format called {quote(name)}.",
        f"{did_you_mean(name.lower(), known)}The formats are: {', '.join(known)}.",
    )


def format_schema() -> dict[str, Any]:
    """JSON Schema of a request's format: a name, or a table for one of the formats."""
    tables = []
    for name, model in options_of_formats().items():
        schema = model.model_json_schema()
        schema["properties"]["name"] = {"const": name, "type": "string"}
        schema["required"] = ["name"]
        tables.append(schema)
    return {
        "anyOf": [
            {"type": "string", "maxLength": 40, "enum": list(options_of_formats())},
            {"oneOf": tables, "discriminator": {"propertyName": "name"}},
        ]
    }
