"""Read a configuration file in TOML or YAML into values by key.

Numbers with a fraction become exact decimals. An unknown key or one that appears twice is an error, because a setting
that silently does nothing is worse than none.
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
    """Find the configuration file: ``config`` if given, or the one in ``directory``, or None.

    Raises:
        InvalidInputError: ``config`` does not exist or has another ending, or there are several files.
    """
    if config is not None:
        path = directory / Path(config).expanduser()
        if path.suffix.lower() not in {".toml", ".yaml", ".yml"}:
            raise InvalidInputError(
                f"The configuration file {quote(config)} (from --config) does not have the ending of TOML or YAML.",
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
            "Choose one with --config, or leave only one.",
        )
    return directory / found[0] if found else None


def read_debaters_key(path: Path) -> Given | None:
    """The debaters that a file names, which are read before its other keys; None if it names none."""
    tree = parse_file(path)
    value = tree.get("debaters") if isinstance(tree, dict) else None
    return None if value is None else Given(value, f"{path.name}: debaters", path.parent)


def parse_file(path: Path) -> Any:
    """Parse a TOML or YAML file. The caller checks its content.

    Raises:
        InvalidInputError: the file cannot be read or parsed.
    """
    try:
        content = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as failure:
        reason = "is not UTF-8 text" if isinstance(failure, ValueError) else "cannot be read"
        raise InvalidInputError(f"The file {path.name} {reason}.", "Save it as UTF-8 text.") from None
    return _parse_toml(content, path) if path.suffix.lower() == ".toml" else _parse_yaml(content, path)


def read_document(path: Path, vocabulary: Vocabulary) -> dict[KeyPath, Given]:
    """Read all values in the file at ``path``, by key. Their types are not checked yet.

    Raises:
        InvalidInputError: the file cannot be read or parsed, or has an unknown key.
    """
    tree = parse_file(path)
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise InvalidInputError(
            f"The configuration file {path.name} has {quote(tree)} instead of keys with values.",
            "Write lines such as language: German.",
        )
    return read_table(tree, path, vocabulary)


def read_table(tree: Mapping[str, Any], path: Path, vocabulary: Vocabulary) -> dict[KeyPath, Given]:
    """Read all values in a table, by key, as if it were the content of the file at ``path``.

    Raises:
        InvalidInputError: it has an unknown key.
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
        # The library's message can quote the line, which may hold a secret. Show only its place.
        place = str(failure).rpartition("(")[2].rstrip(")")
        raise InvalidInputError(
            f"The configuration file {path.name} is not valid TOML ({place}).",
            "Correct it there. Text needs quotes, and a table may have each key only once.",
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
            "Correct it there. A table may have each key only once.",
        ) from None


def _decimal(number: str) -> Decimal:
    try:
        return Decimal(number.replace("_", ""))
    except InvalidOperation:
        return Decimal("nan")


def _exact_loader() -> type[yaml.SafeLoader]:
    import yaml

    class ExactLoader(yaml.SafeLoader):
        """Numbers with a fraction become decimals, and no key may appear twice in a table."""

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
