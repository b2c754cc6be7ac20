"""An OpenAI-compatible server on this machine that answers or fails as configured."""

from disputatio.testing.provider.behaviour import THOUGHT, AnswerMaker, Behaviour, Reasoning, ReasoningText
from disputatio.testing.provider.mishaps import Mishap, MishapFamily, Mishaps
from disputatio.testing.provider.received import Latency, ReceivedRequest, lognormal, uniform
from disputatio.testing.provider.server import FakeProvider, provider_process, reasoning_provider, refused_base_url

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
