"""Opens the gateway that fits a seating, and shares it between seats that use the same model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from disputatio.participants.call import Gateway
from disputatio.participants.providers import PROVIDERS, Kind
from disputatio.participants.seating import ModelSeating

OpenGateway: TypeAlias = Callable[[ModelSeating, "str | None"], Gateway]
"""Makes the gateway for a seating and its key."""


def open_gateway(
    seating: ModelSeating, api_key: str | None, *, on_progress: Callable[[str], None] | None = None
) -> Gateway:
    """The gateway for ``seating``. Nothing is connected or loaded before its first call.

    Args:
        seating: who is to be called.
        api_key: the key, where the provider needs one.
        on_progress: is told of what takes long before a first call, such as fetching weights.
    """
    provider = PROVIDERS[seating.provider]
    if provider.kind is Kind.EMBEDDED:
        from disputatio.participants.embedded import EmbeddedGateway

        return EmbeddedGateway(seating.model, timeout_s=seating.timeout_s, on_progress=on_progress)
    from disputatio.participants.remote import open_gateway as open_remote

    return open_remote(seating, api_key)


class SharedGateways:
    """One gateway for each model, address, key, effort and time limit, however many seats use it."""

    def __init__(self, opener: OpenGateway) -> None:
        self._opener = opener
        self._open: dict[tuple[object, ...], Gateway] = {}

    def get(self, seating: ModelSeating, api_key: str | None) -> Gateway:
        """The gateway for ``seating``."""
        place = (seating.provider, seating.model, seating.base_url, api_key)
        identity = (*place, seating.timeout_s, seating.mode, seating.reasoning_effort)
        if identity not in self._open:
            self._open[identity] = self._opener(seating, api_key)
        return self._open[identity]

    async def aclose(self) -> None:
        """Release all of them. Safe to repeat."""
        while self._open:
            _, gateway = self._open.popitem()
            await gateway.aclose()
