"""Why the embedded model cannot be used, in words for people."""

from __future__ import annotations

from disputatio.errors import ProviderError
from disputatio.participants.call import Fault, FaultKind


class ModelUnavailableError(ProviderError):
    """The embedded model cannot be fetched, loaded or reached.

    Args:
        kind: what can be done about it.
        cause: one sentence that names what is wrong.
        next_step: what to do about it.
    """

    def __init__(self, kind: FaultKind, cause: str, next_step: str = "") -> None:
        super().__init__(cause, next_step)
        self.kind = kind

    def fault(self) -> Fault:
        """The same failure as the value a gateway hands back."""
        return Fault(self.kind, str(self))
