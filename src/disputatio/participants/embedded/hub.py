"""GGUF files of the Hugging Face Hub, through its own library and in its own cache.

The library works in threads that cannot be stopped, so it is run in a process that can:
``python -m disputatio.participants.embedded.hub owner/repo file.gguf`` prints the path of the file.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from disputatio.failures import InvalidInputError
from disputatio.participants.call import FaultKind
from disputatio.participants.embedded.unavailable import ModelUnavailableError

PREFIX = "hf:"
_NOT_FOUND = 3
_OFFLINE = 4
_GATED = 5


@dataclass(frozen=True, slots=True)
class Reference:
    """A file on the Hub: ``repository`` is ``owner/name``, ``file`` its path inside."""

    repository: str
    file: str

    @classmethod
    def read(cls, text: str) -> Reference:
        """Read ``hf:owner/repo/file.gguf``.

        Raises:
            InvalidInputError: it has another form.
        """
        pieces = text.removeprefix(PREFIX).split("/", 2)
        if len(pieces) < 3 or not all(pieces) or not pieces[2].lower().endswith(".gguf"):
            raise InvalidInputError(
                f"{text!r} is not a reference to a GGUF file on the Hub.", "Write hf:owner/repo/file.gguf."
            )
        return cls(f"{pieces[0]}/{pieces[1]}", pieces[2])


def require_library() -> None:
    """Check that ``huggingface_hub`` is there.

    Raises:
        ModelUnavailableError: it is not.
    """
    if importlib.util.find_spec("huggingface_hub") is None:
        raise ModelUnavailableError(
            FaultKind.NOT_INSTALLED,
            "A model from the Hub needs the library huggingface-hub, which is not installed.",
            "Install disputatio[hub], or download the file and name its path.",
        )


async def fetch(reference: Reference, report: Callable[[str], None]) -> Path:
    """The file on this disk, downloaded by the Hub's library if it is not in its cache.

    Raises:
        ModelUnavailableError: no such file, no access, or no network.
    """
    require_library()
    report(f"Fetching {reference.file} from {reference.repository}")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        __name__,
        reference.repository,
        reference.file,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        output, said = await process.communicate()
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode == 0:
        return Path(output.decode().splitlines()[-1])
    raise _refusal(reference, process.returncode or 0, said.decode("utf-8", "replace"))


def _refusal(reference: Reference, code: int, said: str) -> ModelUnavailableError:
    what = f"{reference.file} of {reference.repository}"
    if code == _NOT_FOUND:
        return ModelUnavailableError(
            FaultKind.NO_SUCH_MODEL, f"The Hub has no file {what}.", "Check the owner, repository and file name."
        )
    if code == _GATED:
        return ModelUnavailableError(
            FaultKind.KEY_MISSING,
            f"The Hub gives {what} only to accounts that were granted access.",
            "Accept its terms on its page and set HF_TOKEN.",
        )
    if code == _OFFLINE:
        return ModelUnavailableError(
            FaultKind.NOT_INSTALLED,
            f"{what} is not in the local cache, and the Hub was not reached.",
            "Go online once, or name a GGUF file: embedded:/path/to/model.gguf.",
        )
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    reason = lines[-1][:300] if lines else "the library gave no reason"
    return ModelUnavailableError(FaultKind.NOT_INSTALLED, f"{what} could not be fetched from the Hub: {reason}.")


def main(arguments: list[str]) -> int:
    """Download one file with the Hub's library and print its path; the exit code names the failure."""
    library = importlib.import_module("huggingface_hub")  # an extra: type checking must do without it
    errors = importlib.import_module("huggingface_hub.errors")
    repository, file = arguments
    try:
        sys.stdout.write(f"{library.hf_hub_download(repository, file)}\n")
    except errors.GatedRepoError:
        return _GATED
    except errors.LocalEntryNotFoundError:  # a kind of EntryNotFoundError: it must be asked for first
        return _OFFLINE
    except (errors.EntryNotFoundError, errors.RepositoryNotFoundError):
        return _NOT_FOUND
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
