"""Keys of a configuration file as they are written in one line."""

from __future__ import annotations

import re
import tomllib
from typing import TypeAlias

from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import shown

KeyPath: TypeAlias = tuple[str, ...]
"""A key by its levels."""


def dotted(path: KeyPath) -> str:
    """``path`` as it is written in one line, with quotes where a name needs them, and no key shown."""
    bare = (re.fullmatch(r"[\w-]+", part) for part in path)
    quoted = (shown(part) for part in path)
    return ".".join(q.strip("'") if plain else q.replace("'", '"') for plain, q in zip(bare, quoted, strict=True))


def key_path(name: str, source: str) -> KeyPath:
    """The levels of a key that is written in one line as in a TOML file: the inverse of ``dotted``.

    Raises:
        InvalidInputError: it is not such a key.
    """
    node: object = {}
    try:
        if "\n" not in name and "#" not in name:
            node = tomllib.loads(f"{name} = 0")
    except tomllib.TOMLDecodeError:
        pass
    path: list[str] = []
    while isinstance(node, dict) and len(node) == 1:
        ((part, node),) = node.items()
        path.append(part)
    if not path or node != 0:
        raise InvalidInputError(
            f"{source} has the key {shown(name)}, which cannot be read.",
            "Write it as in a TOML file, with quotes around a name that has colons, such as "
            'price."openai:gpt-5".input=1.25.',
        )
    return tuple(path)
