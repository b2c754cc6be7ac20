"""How much memory a model takes while it is served, and how much this machine has."""

from __future__ import annotations

import os
from pathlib import Path

from disputatio.participants.embedded.server_spec import serving_room
from disputatio.participants.local_models import EMBEDDED_MODEL, LocalModel

_BUFFERS = 400_000_000
"""For what a model computes with: a batch of 512 tokens x 151,936 words x 4 bytes is 311 MB for Qwen3."""
_DEFAULT_MODEL_BYTES = 850_000_000
"""Four lanes, measured: ``docs/design/embedded-model.md``."""
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def needed(model: LocalModel) -> int:
    """Bytes of memory that ``model`` takes: its weights, the context of every slot, and buffers."""
    if model.name == EMBEDDED_MODEL:
        return _DEFAULT_MODEL_BYTES
    context, slots = serving_room(is_default=False)
    return model.size_bytes + context * slots * model.cache_bytes + _BUFFERS


def machine_memory() -> int | None:
    """Bytes of memory of this machine, or of the container this runs in; None where the system does not tell."""
    try:
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None
    for limit in _LIMITS:
        try:
            found = min(found, int(limit.read_text("ascii")))
        except (OSError, ValueError):  # "max" is no limit
            continue
    return found
