"""Models behind a provider's API: one gateway for every provider that pydantic-ai reaches."""

from disputatio.participants.remote.endpoint import Endpoint
from disputatio.participants.remote.gateway import RemoteGateway, open_gateway

__all__ = ["Endpoint", "RemoteGateway", "open_gateway"]
