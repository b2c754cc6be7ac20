"""Whether a file can be a GGUF model at all.

llama.cpp gives the same vague error for a missing, an empty and a foreign file, so they are told apart
here. Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import struct
from pathlib import Path

from disputatio.errors import InvalidInputError

MAGIC = b"GGUF"
_HEADER = struct.Struct("<4sIQQ")
"""Magic, version, number of tensors, number of metadata entries."""
_KNOWN_VERSIONS = (2, 3)
_NEXT_STEP = "Name a GGUF file, such as embedded:/models/qwen3-4b-q4_k_m.gguf."


def check(path: Path) -> None:
    """Refuse ``path`` unless it begins as a GGUF file with tensors.

    Raises:
        InvalidInputError: it is missing, a folder, unreadable, empty, or something else.
    """
    if not path.exists():
        raise InvalidInputError(f"There is no model file {path}.", _NEXT_STEP)
    if not path.is_file():
        raise InvalidInputError(f"{path} is not a file.", _NEXT_STEP)
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER.size)
    except OSError as error:
        raise InvalidInputError(f"The model file {path} cannot be read ({error.strerror}).") from error
    if not head:
        raise InvalidInputError(f"The model file {path} is empty.", "Download it again.")
    if head[:4] != MAGIC:
        raise InvalidInputError(f"{path} is not a GGUF file: it does not begin with GGUF.", _NEXT_STEP)
    if len(head) < _HEADER.size:
        raise InvalidInputError(f"The model file {path} ends inside its header.", "Download it again.")
    _, version, tensors, _ = _HEADER.unpack(head)
    if version not in _KNOWN_VERSIONS:
        raise InvalidInputError(f"{path} has GGUF version {version}; versions 2 and 3 can be read.")
    if not tensors:
        raise InvalidInputError(f"{path} holds no weights, only a vocabulary or settings.", _NEXT_STEP)
