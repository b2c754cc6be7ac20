"""The fields of the form that starts a debate, made from the options of a request, and the request read back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, get_args

from disputatio.config import Settings
from disputatio.config.catalogue import topics
from disputatio.config.presets import presets
from disputatio.config.process import settings_for
from disputatio.errors import DisputatioError, InvalidInputError
from disputatio.formats.format import Format
from disputatio.motion import one_line
from disputatio.options import Given, Option, options_in
from disputatio.options.field import bounds_of
from disputatio.request.formats import known_formats, options_of
from disputatio.request.model import DebateRequest

_BY_HAND = frozenset({"motion", "format", "evidence"})
"""Options with a field of their own on the page: the text, the cards, the files."""
_FIRST = ("topic", "seats", "people")
"""Options of the main form. Other options without a group are under More."""
_LONG = 100
_NUMBERS = frozenset({int, float, Decimal})
_WORDS = {"usd": "US dollars", "seats": "Who sits where", "people": "Seats that people take", "topic": "or a topic"}


@dataclass(frozen=True, slots=True)
class Control:
    """One field of the form. ``kind`` is check, select, number, date, file, lines or text."""

    name: str
    label: str
    help: str
    kind: str
    choices: tuple[tuple[str, str], ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    usual: str = ""
    example: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Fields that belong together, under a heading."""

    name: str
    heading: str
    help: str
    controls: tuple[Control, ...]


@dataclass(frozen=True, slots=True)
class FormatCard:
    """A format that can be chosen, with its own fields; ``knows`` says that it argues from a knowledge base alone."""

    name: str
    help: str
    about: str
    seats: str
    knows: bool
    models: str
    controls: tuple[Control, ...]


def cards() -> list[FormatCard]:
    """Every format there is."""
    return [_card(form) for form in known_formats().values()]


def _card(form: Format) -> FormatCard:
    settings = _configured(form)
    models = dict.fromkeys(f"{row.provider}:{row.model}" for row in settings.seats.values()) if settings else {}
    rows = sorted(_open(options_of(form.name)), key=lambda row: row.name == "rules")
    return FormatCard(
        form.name,
        " ".join((form.options.__doc__ or form.about).split()),
        form.about,
        ", ".join(map(str, form.seats)),
        form.knows,
        ", ".join(models).replace("rules:textbook", "published rules, at no cost") or "as the server is set",
        tuple(_control(row, f"{form.name}.{row.name}", settings, form) for row in rows),
    )


def sections() -> list[Section]:
    """The options of all debates: those of the form itself, those under More, and each group."""
    settings = _configured(known_formats()["structured"])
    rows = list(_open(options_in(DebateRequest)))
    own = [row for row in rows if row.owner is DebateRequest and row.name not in _BY_HAND]
    found = [
        Section("first", "", "", tuple(_control(row, row.place, settings) for row in own if row.name in _FIRST)),
        Section("more", "", "", tuple(_control(row, row.place, settings) for row in own if row.name not in _FIRST)),
    ]
    for name, field in DebateRequest.model_fields.items():
        controls = tuple(_control(row, row.place, settings) for row in rows if name == row.owner.GROUP)
        if controls:
            found.append(Section(name, name.capitalize(), field.description or "", controls))
    return found


def _configured(form: Format) -> Settings | None:
    """What the server's configuration makes of a format; None where it cannot run one as it is."""
    try:
        return settings_for(form)
    except DisputatioError:
        return None


def _open(rows: Iterator[Option] | Sequence[Option]) -> Iterator[Option]:
    return (row for row in rows if not row.local)


def _control(row: Option, name: str, settings: Settings | None, form: Format | None = None) -> Control:
    kind, chosen = _kind(row), _choices(row)
    attributes = {"number": _numeric, "text": _textual, "lines": _textual}.get(kind, lambda _: {})(row)
    placeholder = _line(row) if row.is_mapping or row.name == "seats" else row.example
    return Control(
        name,
        _WORDS.get(row.name, row.name.replace("_", " ").capitalize()),
        f"{row.help}{_written(row)}".replace("`", ""),
        kind,
        chosen,
        tuple(attributes.items()),
        _usual(row, settings, form),
        placeholder if kind in {"text", "lines"} else "",
    )


def _kind(row: Option) -> str:
    if row.is_flag:
        return "check"
    if row.choices or _choices(row):
        return "select"
    if row.about.metavar == "FILE":
        return "file"
    if row.is_mapping or _is_long(row):
        return "lines"
    if row.kind in _NUMBERS:
        return "number"
    return "date" if re.fullmatch(r"\d{4}-\d\d-\d\d", row.example) else "text"


def _is_long(row: Option) -> bool:
    """Whether each of its values takes a line, since it is a sentence."""
    if not row.is_many:
        return False
    bounds = bounds_of(getattr(get_args(row.kind)[0], "__metadata__", ()))
    return int(bounds.get("max_length", 0)) > _LONG


def _choices(row: Option) -> tuple[tuple[str, str], ...]:
    if row.name == "topic":
        return tuple((name, one_line(motion, 110)) for name, motion in topics().items())
    if row.name == "preset":
        return tuple((name, name.replace("-", " ")) for name in presets())
    return tuple((word, word.replace("_", " ")) for word in row.choices)


def _numeric(row: Option) -> dict[str, str]:
    found = {"step": "1" if row.kind is int else "any"}
    least, most = row.bounds.get("ge", row.bounds.get("gt")), row.bounds.get("le")
    return found | {name: str(value) for name, value in (("min", least), ("max", most)) if value is not None}


def _textual(row: Option) -> dict[str, str]:
    most = row.bounds.get("max_length") if row.kind is str else None
    return {} if most is None else {"maxlength": str(most)}


def _written(row: Option) -> str:
    """How several values are written."""
    if row.is_mapping:
        return f" One a line, as {_line(row)}."
    if _is_long(row):
        return " One a line."
    return " Between commas." if row.is_many else ""


def _line(row: Option) -> str:
    """One value with its name, as it is written in a line."""
    example = (row.field.examples or [""])[0]
    if isinstance(example, Mapping):
        return "=".join(map(str, next(iter(example.items()))))
    return row.about.metavar or str(example) or f"{row.key.rpartition('<')[2].rstrip('>').upper() or 'NAME'}=VALUE"


def _usual(row: Option, settings: Settings | None, form: Format | None) -> str:
    """What holds where the field is empty, as far as that is one value: as configured, or by the format's rules."""
    if "unless set" in row.help or row.is_mapping:
        return ""
    rules = {} if form is None else {each.name: each.default for each in fields(form.rules)}
    group = "format" if form is not None else row.owner.GROUP
    places = [getattr(settings, group, None) if group else settings, SimpleNamespace(**rules), row]
    names = [row.name, row.name, "default"]
    given = (getattr(place, name, None) for place, name in zip(places, names, strict=True))
    value: Any = next((each for each in given if each is not None), None)
    shown = (str, int, float, Decimal, Fraction)
    if row.is_flag:
        return "on" if value is True else ""
    if isinstance(value, tuple) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return str(value) if isinstance(value, shown) and not isinstance(value, bool) else ""


def read_request_form(values: Mapping[str, str]) -> dict[str, Any]:
    """The request of a filled form, as JSON. Fields of formats that are not chosen are ignored.

    Raises:
        InvalidInputError: a field cannot be used; says what is allowed.
    """
    name = values.get("format", "structured")
    own = {"name": name}
    for row in _open(options_of(name) if name in known_formats() else ()):
        own |= _read(row, values.get(f"{name}.{row.name}", ""))
    body: dict[str, Any] = {"format": own if len(own) > 1 else name}
    if values.get("motion", "").strip():
        body["motion"] = values["motion"].strip()
    for row in _open(options_in(DebateRequest)):
        found = _read(row, values.get(row.place, "")) if row.name not in _BY_HAND or row.owner.GROUP else {}
        if found and row.owner.GROUP:
            body.setdefault(row.owner.GROUP, {}).update(found)
        else:
            body.update(found)
    return DebateRequest.model_validate(body).as_json()


def _read(row: Option, text: str) -> dict[str, Any]:
    """The option with its value; nothing where the field is empty."""
    text = text.strip()
    if not text:
        return {}
    source = f"the field {row.name.replace('_', ' ')} of the form"
    if row.is_mapping:
        pairs = _pairs(row, text)
        return {row.name: {name: row.read(row.key, Given(value, source)) for name, value in pairs.items()}}
    value: object = [line.strip() for line in text.splitlines() if line.strip()] if _is_long(row) else text
    return {row.name: row.read(row.key or row.place, Given(value, source))}


def _pairs(row: Option, text: str) -> dict[str, str]:
    found = {}
    for line in text.splitlines():
        name, sign, value = (part.strip() for part in line.partition("="))
        if not line.strip():
            continue
        if not sign or not name or not value:
            raise InvalidInputError(
                f"The line {one_line(line, 60)!r} of the field {row.name.replace('_', ' ')} cannot be read.",
                f"Write {_line(row)}.",
            )
        found[name] = value
    return found
