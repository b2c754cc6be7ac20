"""The settings of one model server, and the directory where its clients find it.

Clients with the same spec share a server. The directory name is a hash of everything that distinguishes servers, so a
changed file, library or setting never meets an old server.

Files in the directory::

    starting.lock   held by the client that starts the server
    serving.lock    held by the server while it runs
    lease.lock      shared by every client; the server may have it alone only when no client is left
    place-N.lock    held by the client whose call uses slot N (see ``SlotPool``)
    address.json    addresses and secret, mode 0600; there from "ready" until the server decides to end
    server.log      what the server had to say
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from disputatio.participants.call import FaultKind
from disputatio.participants.embedded import cache
from disputatio.participants.embedded.cache import ModelUnavailableError
from disputatio.participants.embedded.weights import ModelFile
from disputatio.participants.local_models import EMBEDDED_MODEL, LocalModel

LINGER_VARIABLE = "DISPUTATIO_EMBEDDED_LINGER_S"
THREADS_VARIABLE = "DISPUTATIO_EMBEDDED_THREADS"
_LINGER_S = 20.0
_PROTOCOL = 2
"""Raised when clients and servers of different versions of this package no longer understand each other."""


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One server.

    Attributes:
        model: absolute path of the GGUF file.
        name: how the server calls the model.
        context: tokens that prompt and answer of one call may have together.
        replicas: how often the model is loaded (its weights are in memory once); replicas compute independently.
        slots: parallel calls of each replica.
        threads: compute threads of each replica.
        linger_s: seconds to stay after the last client is gone.
        directory: where clients and server meet.
    """

    model: str
    name: str
    context: int
    replicas: int
    slots: int
    threads: int
    linger_s: float
    directory: str

    @classmethod
    def of(cls, model: ModelFile) -> ServerSpec:
        """The server for ``model`` on this machine.

        Raises:
            ModelUnavailableError: the cache directory cannot be used, or one of the environment variables holds
                no usable number.
        """
        context, slots = serving_room(is_default=model.is_default)
        threads = int(_number(THREADS_VARIABLE, _threads(is_default=model.is_default), least=1))
        replicas = 1
        if model.is_default:
            replicas, slots, threads = min(threads, slots), 1, 1
        file = model.path.resolve()
        stat = file.stat()
        identity = (str(file), stat.st_size, stat.st_mtime_ns, model.name, context, replicas, slots, threads)
        key = json.dumps([*identity, _library_version(), _PROTOCOL])
        name = hashlib.sha256(key.encode()).hexdigest()[:16]
        return cls(
            model=str(file),
            name=model.name,
            context=context,
            replicas=replicas,
            slots=slots,
            threads=threads,
            linger_s=_number(LINGER_VARIABLE, _LINGER_S, least=0),
            directory=str(cache.directory("servers", name)),
        )

    def to_json(self) -> str:
        """The spec as one command-line argument."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ServerSpec:
        """Read what ``to_json`` wrote."""
        return cls(**json.loads(text))

    def file(self, name: str) -> Path:
        """A file of the directory."""
        return Path(self.directory, name)


def serving_room(*, is_default: bool) -> tuple[int, int]:
    """The context tokens of each call, and the number of parallel calls."""
    # Four calls of 4,096 tokens serve two debates of two seats; in a shared (unified) cache one greedy call
    # would fail all others. Other models are assumed to be larger and get whole transcripts.
    return (4096, 4) if is_default else (16384, 2)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a running server listens, and the secret that it asks for.

    ``urls`` has one address for each replica. ``compact_grammar``: its library was built with llguidance.
    ``process`` is its process id.
    """

    urls: tuple[str, ...]
    secret: str
    process: int
    compact_grammar: bool

    def __repr__(self) -> str:
        return f"Address(urls={self.urls!r}, process={self.process})"

    def write(self, path: Path) -> None:
        """Publish the address in one step: readers see all of it or nothing."""
        part = path.with_suffix(".part")
        with contextlib.suppress(FileNotFoundError):
            part.unlink()
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "w") as sink:
            json.dump(asdict(self), sink)
        part.replace(path)

    @classmethod
    def read(cls, path: Path) -> Address | None:
        """The published address, or None where there is none that can be read."""
        try:
            content = json.loads(path.read_text())
            return cls(**{**content, "urls": tuple(content["urls"])})
        except (OSError, ValueError, TypeError, KeyError):
            return None


def _threads(*, is_default: bool) -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if is_default:
        return cores  # one in each replica: a replica whose core is taken delays no other
    # One core stays free: a compute thread that waits for a sibling whose core is taken slows every token;
    # measured on two cores beside other work, two threads gave 5 tokens/s and one gave 26.
    return max(1, min(cores - 1, 8))


def _number(variable: str, default: float, *, least: float) -> float:
    text = os.environ.get(variable, "").strip()
    if not text:
        return default
    with contextlib.suppress(ValueError):
        if (number := float(text)) >= least:
            return number
    raise ModelUnavailableError(
        FaultKind.NOT_INSTALLED, f"{variable} is {text!r}.", f"Set it to a number of at least {least:g}."
    )


def _library_version() -> str:
    try:
        return importlib.metadata.version("xllamacpp")
    except importlib.metadata.PackageNotFoundError:
        return ""


_BUFFERS = 400_000_000
"""Compute buffers: a batch of 512 tokens x 151,936 words x 4 bytes is 311 MB for Qwen3."""
_DEFAULT_MODEL_BYTES = 850_000_000
"""Four replicas, measured: ``docs/design/embedded-model.md``."""
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def memory_needed(model: LocalModel) -> int:
    """Bytes of memory for ``model``: its weights, the context of every slot, and buffers."""
    if model.name == EMBEDDED_MODEL:
        return _DEFAULT_MODEL_BYTES
    context, slots = serving_room(is_default=False)
    return model.size_bytes + context * slots * model.cache_bytes + _BUFFERS


def machine_memory() -> int | None:
    """Bytes of memory of this machine or container; None if unknown."""
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
