"""For tests of programs that use Disputatio: answers without a model, and a provider that fails as real ones do.

It is public and stays stable. Heavy libraries are imported when they are first used.
"""

from disputatio.testing.instances import Maker, instance
from disputatio.testing.malformed import Malformation, malform
from disputatio.testing.provider import (
    AnswerMaker,
    Behaviour,
    FakeProvider,
    Latency,
    Mishap,
    MishapFamily,
    Mishaps,
    Reasoning,
    ReasoningText,
    ReceivedRequest,
    lognormal,
    provider_process,
    reasoning_provider,
    refused_base_url,
    uniform,
)
from disputatio.testing.scripted import (
    InstanceClient,
    ScriptedClient,
    ScriptEndedError,
    UsageRule,
    counted_usage,
    no_usage,
)

__all__ = [
    "AnswerMaker",
    "Behaviour",
    "FakeProvider",
    "InstanceClient",
    "Latency",
    "Maker",
    "Malformation",
    "Mishap",
    "MishapFamily",
    "Mishaps",
    "Reasoning",
    "ReasoningText",
    "ReceivedRequest",
    "ScriptEndedError",
    "ScriptedClient",
    "UsageRule",
    "counted_usage",
    "instance",
    "lognormal",
    "malform",
    "no_usage",
    "provider_process",
    "reasoning_provider",
    "refused_base_url",
    "uniform",
]
