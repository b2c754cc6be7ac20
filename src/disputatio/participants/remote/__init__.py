"""Models behind a provider's API: one client for every provider that pydantic-ai reaches."""

from disputatio.participants.remote.client import RemoteClient, open_client
from disputatio.participants.remote.endpoint import Endpoint

__all__ = ["Endpoint", "RemoteClient", "open_client"]
