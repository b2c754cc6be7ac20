"""An OpenAI-compatible server on this machine that answers as asked, or fails as told."""

from disputatio.testing.provider.behaviour import AnswerMaker, Behaviour
from disputatio.testing.provider.latency import Latency, lognormal, uniform
from disputatio.testing.provider.mishaps import Mishap, MishapFamily, Mishaps
from disputatio.testing.provider.process import provider_process
from disputatio.testing.provider.reasoning import THOUGHT, Reasoning, ReasoningText
from disputatio.testing.provider.received import ReceivedRequest
from disputatio.testing.provider.server import FakeProvider, reasoning_provider, refused_base_url

__all__ = [
    "THOUGHT",
    "AnswerMaker",
    "Behaviour",
    "FakeProvider",
    "Latency",
    "Mishap",
    "MishapFamily",
    "Mishaps",
    "Reasoning",
    "ReasoningText",
    "ReceivedRequest",
    "lognormal",
    "provider_process",
    "reasoning_provider",
    "refused_base_url",
    "uniform",
]
