"""Reads a configuration file, TOML or YAML, into values by key.

Numbers with a fraction come as exact decimals. A key that does not exist, or that is written twice, is an
error: a setting that silently does nothing is worse than none.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disputatio.config.keys import Vocabulary, find_key
from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import quote
from disputatio.options import Given
from disputatio.options.reading import KeyPath, dotted
from disputatio.participants.providers import SeatValue, parse_seat_value

if TYPE_CHECKING:
    import yaml

NAMES = ("disputatio.toml", "disputatio.yaml", "disputatio.yml")
"""The files looked for in the working directory."""


def find_document(directory: Path, config: str | None) -> Path | None:
    """The configuration file: ``config`` where given, else the one in ``directory``, else None.

    Raises:
        InvalidInputError: ``config`` is not there, has another ending, or there are several to choose from.
    """
    if config is not None:
        path = directory / Path(config).expanduser()
        if path.suffix.lower() not in {".toml", ".yaml", ".yml"}:
            raise InvalidInputError(
                f"The configuration file {quote(config)} (from --config) has no ending that says what it is.",
                "Allowed is a file that ends in .toml, .yaml or .yml.",
            )
        if not path.is_file():
            raise InvalidInputError(
                f"There is no configuration file {quote(config)} (from --config).",
                "Give the path of a .toml, .yaml or .yml file, from the working directory.",
            )
        return path
    found = [name for name in NAMES if (directory / name).is_file()]
    if len(found) > 1:
        raise InvalidInputError(
            f"There are several configuration files here: {' and '.join(found)}.",
            "Say which one is meant with --config, or leave only one.",
        )
    return directory / found[0] if found else None


def read_debaters_key(path: Path) -> Given | None:
    """The debaters that a file names, before anything else of it is read; None where it names none or has no form."""
    try:
        content = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    tree = _parse_toml(content, path) if path.suffix.lower() == ".toml" else _parse_yaml(content, path)
    value = tree.get("debaters") if isinstance(tree, dict) else None
    return None if value is None else Given(value, f"{path.name}: debaters", path.parent)


def parse_file(path: Path) -> Any:
    """The content of a TOML or YAML file. The caller checks what it must contain.

    Raises:
        InvalidInputError: the file cannot be read or parsed.
    """
    try:
        content = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as failure:
        reason = "is not UTF-8 text" if isinstance(failure, ValueError) else "cannot be read"
        raise InvalidInputError(f"The file {path.name} {reason}.", "Give a TOML or YAML file as UTF-8 text.") from None
    return _parse_toml(content, path) if path.suffix.lower() == ".toml" else _parse_yaml(content, path)


def read_document(path: Path, vocabulary: Vocabulary) -> dict[KeyPath, Given]:
    """All values in the file at ``path``, by key. They are not yet read as what their keys want.

    Raises:
        InvalidInputError: the file cannot be read or parsed, or has a key that does not exist.
    """
    try:
        content = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as failure:
        reason = "is not UTF-8 text" if isinstance(failure, ValueError) else "cannot be read"
        raise InvalidInputError(f"The configuration file {path.name} {reason}.", "Save it as UTF-8 text.") from None
    tree = _parse_toml(content, path) if path.suffix.lower() == ".toml" else _parse_yaml(content, path)
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise InvalidInputError(
            f"The configuration file {path.name} holds {quote(tree)} instead of keys with values.",
            "Write lines such as language: German.",
        )
    return read_table(tree, path, vocabulary)


def read_table(tree: Mapping[str, Any], path: Path, vocabulary: Vocabulary) -> dict[KeyPath, Given]:
    """All values in a table as a file at ``path`` would hold it, by key.

    Raises:
        InvalidInputError: it has a key that does not exist.
    """
    return dict(_leaves(dict(tree), (), path, vocabulary))


def _leaves(
    node: dict[Any, Any], above: KeyPath, path: Path, vocabulary: Vocabulary
) -> Iterator[tuple[KeyPath, Given]]:
    for name, value in node.items():
        if not isinstance(name, str):
            raise InvalidInputError(
                f"The key {quote(name)} in {path.name} is not text.", "Put it in quotes, or leave it out."
            )
        here = (*above, name)
        source = f"{path.name}: {dotted(here)}"
        key, goes_on = find_key(here, vocabulary, source)
        if isinstance(value, dict) and goes_on:
            yield from _leaves(value, here, path, vocabulary)
        elif key is None:
            raise InvalidInputError(
                f"{dotted(here)} is {quote(value)} (from {source}), which cannot be used.",
                "Allowed is a table with keys of its own.",
            )
        else:
            yield from expand_seat(here, Given(value, source, path.parent))


def expand_seat(path: KeyPath, given: Given) -> Iterator[tuple[KeyPath, Given]]:
    """``given`` by key; ``seats.pro = "openai:gpt-5"`` stands for the provider, the model and the address."""
    if len(path) != 2 or path[0] != "seats":
        yield path, given
        return
    seat = given.value
    if isinstance(seat, str) and seat.strip():
        seat = parse_seat_value(seat, source=given.source)
    if not isinstance(seat, SeatValue):
        raise InvalidInputError(
            f"{dotted(path)} is {quote(given.value)} (from {given.source}), which cannot be used.",
            "Allowed is PROVIDER:MODEL, such as openai:gpt-5, or a table with provider and model.",
        )
    for name in ("provider", "model", "base_url"):
        part = getattr(seat, name)
        if part is not None:
            yield (*path, name), Given(part, given.source, given.directory)


def _parse_toml(content: str, path: Path) -> Any:
    try:
        return tomllib.loads(content, parse_float=_decimal)
    except tomllib.TOMLDecodeError as failure:
        # The library's message can quote the line, which may hold what must not be shown; the place is enough.
        place = str(failure).rpartition("(")[2].rstrip(")")
        raise InvalidInputError(
            f"The configuration file {path.name} is not valid TOML ({place}).",
            "Correct it there; text needs quotes, and a key stands only once in its table.",
        ) from None


def _parse_yaml(content: str, path: Path) -> Any:
    import yaml

    try:
        return yaml.load(content, Loader=_exact_loader())  # noqa: S506 - a subclass of SafeLoader
    except yaml.YAMLError as failure:
        mark = getattr(failure, "problem_mark", None)
        place = f"at line {mark.line + 1}, column {mark.column + 1}" if mark else "as a whole"
        raise InvalidInputError(
            f"The configuration file {path.name} is not valid YAML ({place}).",
            "Correct it there; a key stands only once in its table.",
        ) from None


def _decimal(number: str) -> Decimal:
    try:
        return Decimal(number.replace("_", ""))
    except InvalidOperation:
        return Decimal("nan")


def _exact_loader() -> type[yaml.SafeLoader]:
    import yaml

    class ExactLoader(yaml.SafeLoader):
        """Numbers with a fraction come as decimals, and no key may stand twice in a table."""

    def read_float(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> Decimal:
        return _decimal(str(loader.construct_scalar(node)).replace(".inf", "inf").replace(".nan", "nan"))

    def read_table(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[Any, Any]:
        loader.flatten_mapping(node)
        table: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = loader.construct_object(key_node, deep=True)
            if isinstance(key, dict | list) or key in table:
                raise yaml.constructor.ConstructorError(problem_mark=key_node.start_mark)
            table[key] = loader.construct_object(value_node, deep=True)
        return table

    ExactLoader.add_constructor("tag:yaml.org,2002:float", read_float)
    ExactLoader.add_constructor("tag:yaml.org,2002:map", read_table)
    return ExactLoader
