"""Models that run on this machine by one word: ``embedded:qwen3-4b``.

All are instruct models whose makers publish GGUF files on the Hugging Face Hub under the Apache License 2.0, so no
account is needed. Each name always means the same file. Sizes are those the Hub stated when the row was written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

EMBEDDED_MODEL = "smollm2-135m"
"""The default embedded model. It comes from the package index and not from the Hub."""


@dataclass(frozen=True, slots=True)
class LocalModel:
    """One row.

    Attributes:
        name: its name in a seat.
        repository: ``owner/name`` on the Hub; empty for the default model.
        file: the file's path in the repository; empty for the default model.
        size_bytes: the size of the file.
        licence: an SPDX identifier.
        context_tokens: the context length it was trained for.
        cache_bytes: memory for each token of context: layers x key-value heads x head size x 2 (keys, values) x 2
            (bytes of a 16-bit number), from the model's configuration.
        piecewise: whether it is asked for one argument at a time.
    """

    name: str
    repository: str
    file: str
    size_bytes: int
    licence: str
    context_tokens: int
    cache_bytes: int
    piecewise: bool


_APACHE = "Apache-2.0"


def _row(
    name: str, file: tuple[str, str, int], context: int, shape: tuple[int, int, int], *, piecewise: bool
) -> LocalModel:
    layers, heads, head_size = shape
    return LocalModel(name, *file, _APACHE, context, layers * heads * head_size * 4, piecewise)


_TABLE = (
    _row(EMBEDDED_MODEL, ("", "", 98_362_432), 8_192, (30, 3, 64), piecewise=True),
    _row(
        "qwen3-0.6b",
        ("Qwen/Qwen3-0.6B-GGUF", "Qwen3-0.6B-Q8_0.gguf", 639_446_688),
        32_768,
        (28, 8, 128),
        piecewise=True,
    ),
    _row(
        "qwen3-1.7b",
        ("Qwen/Qwen3-1.7B-GGUF", "Qwen3-1.7B-Q8_0.gguf", 1_834_426_016),
        32_768,
        (28, 8, 128),
        piecewise=True,
    ),
    _row(
        "granite-4.1-3b",
        ("ibm-granite/granite-4.1-3b-GGUF", "granite-4.1-3b-Q4_K_M.gguf", 2_099_501_664),
        131_072,
        (40, 8, 64),
        piecewise=False,
    ),
    _row(
        "ministral-3-3b",
        (
            "mistralai/Ministral-3-3B-Instruct-2512-GGUF",
            "Ministral-3-3B-Instruct-2512-Q4_K_M.gguf",
            2_147_023_008,
        ),
        262_144,
        (26, 8, 128),
        piecewise=False,
    ),
    _row(
        "qwen3-4b",
        ("Qwen/Qwen3-4B-GGUF", "Qwen3-4B-Q4_K_M.gguf", 2_497_280_256),
        32_768,
        (36, 8, 128),
        piecewise=False,
    ),
    _row(
        "qwen3-8b",
        ("Qwen/Qwen3-8B-GGUF", "Qwen3-8B-Q4_K_M.gguf", 5_027_783_488),
        32_768,
        (36, 8, 128),
        piecewise=False,
    ),
)

LOCAL_MODELS: Mapping[str, LocalModel] = MappingProxyType({row.name: row for row in _TABLE})

RECOMMENDED_MODEL = "qwen3-4b"
"""Recommended at the end of a debate on the default model."""


def asked_piecewise(model: str) -> bool:
    """Whether the embedded ``model`` is asked for one argument at a time. True for files of unknown size."""
    row = LOCAL_MODELS.get(model)
    return row is None or row.piecewise
