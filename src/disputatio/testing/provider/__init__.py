"""An OpenAI-compatible server on this machine that answers as asked, or fails as told."""

from disputatio.testing.provider.behaviour import AnswerMaker, Behaviour
from disputatio.testing.provider.latency import Latency, lognormal, uniform
from disputatio.testing.provider.mishaps import Mishap, MishapFamily, Mishaps
from disputatio.testing.provider.process import provider_process
from disputatio.testing.provider.received import ReceivedRequest
from disputatio.testing.provider.server import FakeProvider, refused_base_url

__all__ = [
    "AnswerMaker",
    "Behaviour",
    "FakeProvider",
    "Latency",
    "Mishap",
    "MishapFamily",
    "Mishaps",
    "ReceivedRequest",
    "lognormal",
    "provider_process",
    "refused_base_url",
    "uniform",
]
