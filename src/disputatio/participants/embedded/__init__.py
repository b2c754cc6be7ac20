"""A small language model on this machine: no key, no compiler, no account.

A new user's first debate runs on it. Weights are fetched once (``weights``), one process serves them to all programs of
the user (``server_process``), and ``EmbeddedClient`` sends calls there. Imported only for an embedded seat.
"""

from disputatio.participants.embedded.cache import ModelUnavailableError
from disputatio.participants.embedded.client import EmbeddedClient
from disputatio.participants.embedded.weights import DEFAULT_MODEL, ModelFile, obtain

__all__ = [
    "DEFAULT_MODEL",
    "EmbeddedClient",
    "ModelFile",
    "ModelUnavailableError",
    "obtain",
]
