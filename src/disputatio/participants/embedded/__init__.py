"""A small language model on this machine: no key, no compiler, no account.

The first debate of a stranger runs on it. Weights are fetched once (``weights``), one process serves them
to everything this user runs (``server_process``), and a client carries calls there (``model_client``).
Nothing here is imported before an embedded seat is asked for.
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
