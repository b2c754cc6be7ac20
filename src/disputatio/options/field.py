"""Declare an option once: its type, bounds, default, help, and its name on each surface.

``options_in`` derives the command line, configuration files, environment variables, the Python API, HTTP, MCP, the web
form and the reference from the fields of ``Options`` classes.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo

from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import did_you_mean, quote
from disputatio.motion import one_line
from disputatio.options import reading
from disputatio.options.reading import Given, Reader


def _no_flag(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("input should be a number, not true or false")
    return value


def _no_text(value: object) -> object:
    if isinstance(value, str):
        raise ValueError("input should be a number, not text")
    return _no_flag(value)


def _exact(value: object) -> object:
    return Decimal(repr(value)) if isinstance(value, float) else _no_flag(value)


Whole = Annotated[int, BeforeValidator(_no_text)]
"""A whole number. ``true`` and ``"5"`` are not numbers."""
Number = Annotated[float, BeforeValidator(_no_text)]
"""A number. ``true`` and ``"5"`` are not numbers."""
Amount = Annotated[Decimal, BeforeValidator(_exact)]
"""An exact amount: 0.5, or as text ``"0.50"``."""
Share = Annotated[Fraction, BeforeValidator(_exact)]
"""An exact share: ``"2/3"`` or 0.75."""
Flag = Annotated[bool, Strict()]
"""True or false, but not 1 or 0."""
Value = TypeVar("Value")
Many = Annotated[Sequence[Value], AfterValidator(tuple)]
"""Several values: a list or a tuple, which becomes a tuple."""


@dataclass(frozen=True, slots=True)
class About:
    """What surfaces need to know about a field, besides what pydantic knows.

    Attributes:
        key: its key in a configuration file. None: its group and name.
        flag: its command-line option. Empty: only ``--set`` sets it. None: its name.
        variable: its environment variable, or empty. None: ``DISPUTATIO_`` and its name.
        metavar: the placeholder for its value in command-line help.
        read: turns text, or a file's own types, into its value. None derives that from the field's type and bounds.
        repeat: whether its option is repeated for each value.
        local: why only the user of the machine may set it; empty if remote callers may.
        missing: what an entry without a value does not say: ``who sits where``.
        unit: what its number counts, with an article: ``a share``.
    """

    key: str | None = None
    flag: str | None = None
    variable: str | None = None
    metavar: str = ""
    read: Reader | None = None
    repeat: bool = False
    local: str = ""
    missing: str = ""
    unit: str = ""

    def __call__(self, schema: dict[str, Any]) -> None:
        """Add ``local`` to a JSON Schema."""
        if self.local:
            schema["local"] = self.local


def option(
    default: Any = None,
    help: str = "",  # noqa: A002  (the word of command lines)
    *,
    examples: Sequence[Any] | None = None,
    ge: float | Decimal | None = None,
    gt: float | Decimal | None = None,
    le: float | Decimal | None = None,
    min_length: int | None = None,
    max_length: int | None = None,
    default_factory: Callable[[], Any] | None = None,
    repr: bool = True,  # noqa: A002  (as pydantic calls it)
    **about: Any,
) -> Any:
    """A field of an ``Options`` class.

    Args:
        default: its value if nothing sets it.
        help: one sentence for people.
        examples: example values. Help texts show the first one.
        ge: the least number.
        gt: a number below it.
        le: the greatest number.
        min_length: the fewest characters or values.
        max_length: the most characters or values.
        default_factory: makes the default, in its place.
        repr: whether its value may be shown. False if it may hold a secret.
        **about: see ``About``.
    """
    bounds = {"ge": ge, "gt": gt, "le": le, "min_length": min_length, "max_length": max_length}
    start: dict[str, Any] = {"default_factory": default_factory} if default_factory else {"default": default}
    make: Any = Field
    return make(
        **start,
        description=help,
        examples=None if examples is None else list(examples),
        json_schema_extra=About(**about),
        repr=repr,
        **{name: value for name, value in bounds.items() if value is not None},
    )


class Options(BaseModel):
    """A group of options. Unknown names are refused; values are checked once and never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    GROUP: ClassVar[str] = ""
    """The prefix of its fields in a configuration file."""
    LOCAL: ClassVar[str] = ""
    """Why only the user of the machine may set any of them; empty if remote callers may."""

    @model_validator(mode="wrap")
    @classmethod
    def _in_sentences(cls, data: Any, handler: Any) -> Any:
        """Report errors in words, with what is allowed.

        Raises:
            InvalidInputError: a value cannot be used, or an option does not exist.
        """
        try:
            return handler(data)
        except ValidationError as failure:
            refused = refusal(cls, data, failure)
        raise refused


@dataclass(frozen=True, slots=True)
class Option:
    """A field of an ``Options`` class with its names on every surface."""

    name: str
    field: FieldInfo
    owner: type[Options]

    @property
    def about(self) -> About:
        """The metadata of the field besides its type."""
        extra = self.field.json_schema_extra
        return extra if isinstance(extra, About) else About()

    @property
    def help(self) -> str:
        """One sentence for people."""
        return self.field.description or ""

    @property
    def place(self) -> str:
        """Its place in a request: ``judging.judges``."""
        return f"{self.owner.GROUP}.{self.name}" if self.owner.GROUP else self.name

    @property
    def key(self) -> str:
        """Its key in a configuration file. Names in angle brackets are placeholders."""
        return self.place if self.about.key is None else self.about.key

    @property
    def flag(self) -> str:
        """Its option on the command line; empty if only ``--set`` sets it."""
        found = self.about.flag
        return "--" + self.name.replace("_", "-") if found is None else found

    @property
    def flat_name(self) -> str:
        """Its name without groups: the parameter of a command, and the name in requests of earlier versions."""
        return self.flag.removeprefix("--").replace("-", "_")

    @property
    def variable(self) -> str:
        """Its environment variable, or empty."""
        found = self.about.variable
        return f"DISPUTATIO_{self.name.upper()}" if found is None else found

    @property
    def local(self) -> str:
        """Why only the user of the machine may set it; empty if remote callers may."""
        return self.about.local or self.owner.LOCAL

    @property
    def default(self) -> Any:
        """Its value if nothing sets it."""
        return self.field.get_default(call_default_factory=True)

    @property
    def kind(self) -> Any:
        """Its type, without None and without bounds."""
        return bare_type(self.field.annotation)

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it may be; empty for other types."""
        return tuple(map(str, get_args(self.kind))) if get_origin(self.kind) is Literal else ()

    @property
    def is_flag(self) -> bool:
        """Whether it is true or false."""
        return self.kind is bool

    @property
    def is_many(self) -> bool:
        """Whether it has several values."""
        return get_origin(self.kind) in _MANY

    @property
    def is_mapping(self) -> bool:
        """Whether it has values by name."""
        return get_origin(self.kind) is dict

    @property
    def bounds(self) -> dict[str, Any]:
        """The bounds of its number, its length or each of its values, by pydantic's names."""
        return bounds_of(self.field.metadata) or _bounds_within(self.field.annotation)

    @property
    def example(self) -> str:
        """An example of its value; empty without one."""
        first = (self.field.examples or [""])[0]
        return str(first)

    def read(self, key: str, given: Given) -> Any:
        """Read a value given as text or in a file's own types.

        Raises:
            InvalidInputError: it cannot be used; says what is allowed.
        """
        reader = self.about.read or reader_of(self.kind, self.bounds, self.about.unit, self.example)
        return reader(key, given)


def options_in(model: type[BaseModel]) -> Iterator[Option]:
    """Every option of ``model`` and of its groups, in order of declaration."""
    for name, field in model.model_fields.items():
        kind = bare_type(field.annotation)
        if isinstance(kind, type) and issubclass(kind, Options) and kind.GROUP:
            yield from options_in(kind)
        elif isinstance(field.json_schema_extra, About):
            yield Option(name, field, model)  # type: ignore[arg-type]


def bare_type(annotation: Any) -> Any:
    """A type without ``Annotated`` and without None."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in {Union, types.UnionType}:
        kinds = [row for row in get_args(annotation) if row is not type(None)]
        return bare_type(kinds[0]) if len(kinds) == 1 else annotation
    return annotation


def bounds_of(metadata: Sequence[Any]) -> dict[str, Any]:
    """The bounds among the metadata of a field."""
    found: dict[str, Any] = {}
    for row in metadata:
        if isinstance(row, FieldInfo):
            found |= bounds_of(row.metadata)
        found |= {
            name: value
            for name in ("ge", "gt", "le", "min_length", "max_length")
            if (value := getattr(row, name, None)) is not None
        }
    return found


def _bounds_within(annotation: Any) -> dict[str, Any]:
    """The bounds inside a type, such as those of the values of a mapping."""
    while get_origin(annotation) in {Union, types.UnionType}:
        annotation = next(row for row in get_args(annotation) if row is not type(None))
    if get_origin(annotation) is Annotated:
        return bounds_of(get_args(annotation)[1:])
    if get_origin(annotation) is dict:
        return _bounds_within(get_args(annotation)[1])
    return {}


_MANY = (tuple, Sequence)
_MOST = 10**12


def reader_of(kind: Any, bounds: Mapping[str, Any], unit: str, example: str) -> Reader:
    """Make a reader for values of a type within its bounds."""
    if get_origin(kind) is dict:
        return reader_of(bare_type(get_args(kind)[1]), bounds, unit, example)
    if get_origin(kind) is Literal:
        return reading.choice(*map(str, get_args(kind)))
    low, high = bounds.get("ge", bounds.get("gt", 0)), bounds.get("le", _MOST)
    such_as = f", such as {example}" if example else ""
    if kind is bool:
        return reading.flag
    if kind is int:
        return reading.count(low, high, unit or "a whole number")
    if kind is float:
        return reading.measure(low, high, unit or "a number")
    if kind is Fraction:
        return reading.share
    if kind is Decimal:
        span = f"above {low}" if "gt" in bounds else f"from {low}"
        words = f"{unit or 'a number'} {span} to {high}{such_as}"
        return reading.exact(words, Decimal(low), Decimal(high), above="gt" in bounds)
    if get_origin(kind) in _MANY:
        fewest, most = bounds.get("min_length", 1), bounds.get("max_length", 100)
        words = f"{fewest} to {most} different words between commas{such_as}"
        return reading.names(words, r".{1,400}", fewest, most)
    longest = bounds.get("max_length", 400)
    return reading.text(f"text of up to {longest} characters{such_as}", rf"(?s:.){{1,{longest}}}")


def refusal(model: type[Options], data: Any, failure: ValidationError) -> InvalidInputError:
    """The error for ``data`` that is not a valid ``model``, with what is allowed.

    The readers of the command line and of configuration files word it.
    """
    errors = failure.errors(include_url=False)
    # A value of several possible types has an error for each type. Our own error says most.
    row = next((each for each in errors if each["type"] == "value_error"), errors[0])
    place = [str(part) for part in row["loc"]]
    name = place[0] if place else ""
    known = {each.name: each for each in options_in(model) if each.owner is model}
    group = f"{model.GROUP}." if model.GROUP else ""
    if not place and row["type"] in _SHAPES:
        return InvalidInputError(
            f"{model.GROUP or 'What was given'} is {quote(data)}, and {_SHAPES[row['type']]}.",
            f"Its options are: {', '.join(model.model_fields)}. In Python it is {model.__name__}(...).",
        )
    if row["type"] == "extra_forbidden":
        allowed = [*known, *(each for each in model.model_fields if each not in known)]
        return InvalidInputError(
            f"The request has no option {quote(f'{group}{name}')}.",
            f"{did_you_mean(name, allowed)}Allowed are: {', '.join(allowed)}.",
        )
    found = known.get(name)
    value = data.get(name, row.get("input")) if isinstance(data, Mapping) else row.get("input")
    if found is None:
        return _wrong_body((group + ".".join(place)).rstrip("."), row)
    if found.field.repr and len(place) == 1 and row["type"] in _SHAPES:
        return _wrong_shape(found, value, row)
    if found.is_many and issubclass(bare_type(get_args(found.kind)[0]), BaseModel):
        return _wrong_body(".".join(place), row)
    given = Given(value, f"{found.place} of the request")
    try:
        many = found.is_mapping and isinstance(value, Mapping)
        for each in value.values() if many else [value] if not isinstance(value, Mapping) else []:
            found.read(found.key or found.place, Given(each, given.source))
    except InvalidInputError as refused:
        return refused
    return (
        _wrong_shape(found, value, row)
        if found.field.repr and len(place) == 1
        else _wrong_body(".".join([group.rstrip("."), *place] if group else place), row)
    )


def _wrong_shape(found: Option, value: Any, row: Any) -> InvalidInputError:
    said = str(row["msg"]).removeprefix("Value error, ")
    what = _SHAPES.get(row["type"]) or (f"it {said[6:]}" if said[:6].lower() == "input " else said)
    return InvalidInputError(f"{found.place} is {quote(value)}, and {what}.", "Change it, or leave it out.")


def _wrong_body(place: str, row: Any) -> InvalidInputError:
    what = _SHAPES.get(row["type"]) or str(row["msg"]).removeprefix("Value error, ")
    at = f"{place}: " if place else ""
    return InvalidInputError(
        f"The request does not have the required form: {at}{what[:1].lower()}{what[1:]}.",
        "See the documentation of requests.",
    )


_SHAPES = {
    "model_type": "it should be a table of options by name",
    "model_attributes_type": "it should be a table of options by name",
    "dict_type": "it should be a table of values by name",
    "tuple_type": "it should be a list",
    "list_type": "it should be a list",
    "sequence_str": "it should be a list",
    "is_instance_of": "it should be a list",
}
"""What a value should be, for errors that pydantic describes in the terms of its types."""


DEEPEST = 40
"""The most levels of a JSON value. A knowledge base has five. Code that writes and checks JSON is recursive."""


def not_too_deep(value: dict[str, Any]) -> dict[str, Any]:
    """Return ``value``.

    Raises:
        ValueError: it has more than ``DEEPEST`` levels.
    """
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        level = [each for row in level for each in _inside(row)]
        if not level:
            return value
    raise ValueError(f"it is nested deeper than {DEEPEST} levels")


def _inside(row: Any) -> Sequence[Any]:
    if isinstance(row, Mapping):
        return list(row.values())
    return row if isinstance(row, list) else ()


ShallowObject = Annotated[dict[str, Any], AfterValidator(not_too_deep)]


_MOST_ERRORS = 3
_A_KIND = re.compile(r"^(constrained-)?(str|int|float|bool|decimal)$|\[")
"""What pydantic calls one of several types in the location of an error."""


def describe_errors(errors: list[Any]) -> tuple[str, str]:
    """Describe the errors of a request body, and the next step."""
    if any(row["type"] in {"json_invalid", "model_attributes_type"} for row in errors):
        return "The body is not a JSON object.", "Send a JSON object, with Content-Type: application/json."
    found: dict[str, list[str]] = {}
    for row in errors:
        # Name a value of several possible types once, with the error of each.
        parts = [str(part) for part in row["loc"] if part != "body"]
        place = ".".join(part for part in parts if not _A_KIND.search(part))
        what = str(row["msg"]).removeprefix("Value error, ")
        found.setdefault(one_line(place, 80), []).append(f"{what[:1].lower()}{what[1:]}")
    rows = [f"{place}: {', or '.join(said)}" if place else ", or ".join(said) for place, said in found.items()]
    more = f"; and {len(rows) - _MOST_ERRORS} more" if len(rows) > _MOST_ERRORS else ""
    return (
        f"The request does not have the required form: {'; '.join(rows[:_MOST_ERRORS])}{more}.",
        "See /openapi.json.",
    )
