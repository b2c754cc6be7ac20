"""Opens model clients and shares them between seats that use the same model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from disputatio.participants.call import ModelClient
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.providers import PROVIDERS, Kind

ClientFactory: TypeAlias = Callable[[ModelSeating, "str | None"], ModelClient]
"""Makes the client for a seating and its key."""


def open_client(
    seating: ModelSeating, api_key: str | None, *, on_progress: Callable[[str], None] | None = None
) -> ModelClient:
    """Make the client for ``seating``. It connects and loads nothing before its first call.

    Args:
        seating: the model to call.
        api_key: the key, if the provider needs one.
        on_progress: gets a line about slow steps before the first call, such as fetching weights.
    """
    provider = PROVIDERS[seating.provider]
    if provider.kind is Kind.EMBEDDED:
        from disputatio.participants.embedded import EmbeddedClient

        return EmbeddedClient(seating.model, timeout_s=seating.timeout_s, on_progress=on_progress)
    from disputatio.participants.remote import open_client as open_remote

    return open_remote(seating, api_key)


class SharedClients:
    """One client for each model, address, key, effort and time limit, however many seats use it."""

    def __init__(self, client_factory: ClientFactory) -> None:
        self._client_factory = client_factory
        self._open: dict[tuple[object, ...], ModelClient] = {}

    def get(self, seating: ModelSeating, api_key: str | None) -> ModelClient:
        """The client for ``seating``."""
        place = (seating.provider, seating.model, seating.base_url, api_key)
        identity = (*place, seating.timeout_s, seating.mode, seating.reasoning_effort)
        if identity not in self._open:
            self._open[identity] = self._client_factory(seating, api_key)
        return self._open[identity]

    async def aclose(self) -> None:
        """Close all clients. Safe to repeat."""
        while self._open:
            _, model_client = self._open.popitem()
            await model_client.aclose()
