"""Translates a seat's ``reasoning_effort`` into its provider's parameter, by pydantic-ai's knowledge of models.

- A word goes through pydantic-ai's own ``thinking`` setting, which has a mapping for every provider:
  ``reasoning_effort`` (OpenAI, DeepSeek, Groq, Mistral, Ollama, vLLM), ``output_config`` and ``thinking`` (Claude),
  ``thinking_config`` (Gemini), ``reasoning`` (OpenRouter), ``thinking`` (Zhipu). Unknown servers get OpenAI's
  ``reasoning_effort``, which most have adopted.
- A number of tokens is sent to Claude up to 4.6, Gemini 2.5 and OpenRouter. For any other model it is only the
  allowance of `disputatio.participants.reasoning`.
- A word that the model is known not to accept is refused before anything is sent. pydantic-ai would send the nearest
  word or none, and the user would pay for a setting they did not choose.

Importing this module imports pydantic-ai, so import it lazily.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from openai import Omit
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.profiles import ModelProfile

from disputatio.participants.call import Fault, FaultKind
from disputatio.participants.providers import Kind
from disputatio.participants.reasoning import EFFORTS
from disputatio.participants.remote.endpoint import Endpoint

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_OWN_MODELS: Final = {
    "deepseek": ("deepseek.DeepSeekProvider", "openai.OpenAIChatModel"),
    "zhipu": ("zai.ZaiProvider", "zai.ZaiModel"),
    "openrouter": ("openrouter.OpenRouterProvider", "openrouter.OpenRouterModel"),
    "ollama": ("ollama.OllamaProvider", "ollama.OllamaModel"),
    "vllm": ("vllm.VLLMProvider", "openai.OpenAIChatModel"),
}
"""pydantic-ai's provider and model for those with OpenAI's protocol and their own parameters."""
_KNOWN_IN_FULL: Final = frozenset({"deepseek", "zhipu"})
"""Providers whose few models pydantic-ai knows by name; models of others may have any name."""
_NO_REASONER: Final = re.compile(r"(?:^|[/:])(?:chatgpt-)?gpt-(?:3|4)|gpt-5-chat")
"""OpenAI's models that do not reason. One that pydantic-ai does not know yet may."""
_LEAST_BUDGET: Final = 1_024
"""Of Claude's thinking, in tokens (https://platform.claude.com/docs/en/build-with-claude/extended-thinking)."""


class EffortRefusedError(Exception):
    """A model does not take the effort; the message completes ``openai:gpt-5 ...``."""


def effort_refused(endpoint: Endpoint, why: EffortRefusedError) -> Fault:
    """The fault for an effort that the model at ``endpoint`` does not take."""
    return Fault(FaultKind.SETTING_REFUSED, f"{endpoint.place} {why}")


def level_of(effort: str | int | None) -> bool | str | None:
    """``effort`` as pydantic-ai's ``thinking`` setting; None to leave it unset."""
    if effort is None or isinstance(effort, int):
        return None
    return False if effort == "none" else effort


def is_reasoning(profile: ModelProfile, effort: str | int | None) -> bool:
    """Whether a model of OpenAI reasons with ``effort``, in which case it takes no temperature."""
    if isinstance(effort, str):
        return effort != "none"
    return bool(profile.get("openai_supports_reasoning", False)) and not (
        profile.get("openai_supports_reasoning_effort_none", False)
        and not profile.get("thinking_enabled_by_default", False)
    )


def openai_fields(endpoint: Endpoint, model: Model[Any]) -> dict[str, Any]:
    """The fields for the effort in a request to OpenAI.

    Raises:
        EffortRefusedError: the model does not take it.
    """
    effort = endpoint.reasoning_effort
    if not isinstance(effort, str):
        return {}
    if _can_reason(model.profile):
        _check(effort, _openai_efforts(model.profile))
        return _chat_fields(model, effort)
    if not _NO_REASONER.search(endpoint.model):
        return {"reasoning_effort": effort}
    _refuse_unless_none(effort)
    return {}


def compatible_fields(endpoint: Endpoint, client: AsyncOpenAI) -> dict[str, Any]:
    """The fields for the effort in a request to a server with OpenAI's protocol.

    Raises:
        EffortRefusedError: the model does not take it.
    """
    effort = endpoint.reasoning_effort
    if effort is None:
        return {}
    if isinstance(effort, int):
        return {"reasoning": {"max_tokens": effort}} if endpoint.provider == "openrouter" else {}
    if endpoint.provider not in _OWN_MODELS:
        return {"reasoning_effort": effort}
    provider, model = (_named(path, name) for path, name in zip(_FOLDERS, _OWN_MODELS[endpoint.provider], strict=True))
    known: Model[Any] = model(endpoint.model, provider=provider(openai_client=client))
    if endpoint.provider in _KNOWN_IN_FULL and not _can_reason(known.profile):
        _refuse_unless_none(effort)
        return {}
    _check(effort, _usual_efforts(known.profile))
    return _chat_fields(known, effort) or {"reasoning_effort": effort}


_FOLDERS: Final = ("pydantic_ai.providers", "pydantic_ai.models")


def _named(folder: str, name: str) -> Any:
    module, _, attribute = name.partition(".")
    return getattr(import_module(f"{folder}.{module}"), attribute)


def _chat_fields(model: Any, effort: str) -> dict[str, Any]:
    """The fields that pydantic-ai adds to a chat body for ``effort``."""
    bare, chosen = (_body(model, given) for given in ({}, {"thinking": level_of(effort)}))
    return {name: value for name, value in chosen.items() if bare.get(name) != value}


def _body(model: Any, given: dict[str, Any]) -> dict[str, Any]:
    settings, parameters = model.prepare_request(given, ModelRequestParameters())
    body = dict(model._thinking_false_extra_body(settings or {}, parameters) or {})
    effort = model._translate_thinking(settings or {}, parameters)
    return body if effort is None or isinstance(effort, Omit) else {**body, "reasoning_effort": effort}


def library_settings(endpoint: Endpoint, model: Model[Any]) -> dict[str, Any]:
    """pydantic-ai's settings for the effort, for providers with their own protocol.

    Raises:
        EffortRefusedError: the model does not take it.
    """
    effort, profile = endpoint.reasoning_effort, model.profile
    if effort is None:
        return {}
    if isinstance(effort, int):
        return _budget(endpoint.kind, profile, effort)
    if not _can_reason(profile):
        _refuse_unless_none(effort)
        return {}
    _check(effort, _usual_efforts(profile))
    return {"thinking": level_of(effort)}


def _budget(kind: Kind, profile: ModelProfile, tokens: int) -> dict[str, Any]:
    claude = kind is Kind.ANTHROPIC or profile.get("bedrock_thinking_variant") == "anthropic"
    if claude and not profile.get("anthropic_disallows_budget_thinking", False):
        if tokens < _LEAST_BUDGET:
            raise EffortRefusedError(
                f"takes a reasoning_effort of {_LEAST_BUDGET:,} tokens or more, and {tokens:,} was set. "
                "Set a larger number, or none."
            )
        thinking = {"type": "enabled", "budget_tokens": tokens}
        if kind is Kind.ANTHROPIC:
            return {"anthropic_thinking": thinking}
        return {"bedrock_additional_model_requests_fields": {"thinking": thinking}}
    if kind is Kind.GOOGLE and _can_reason(profile) and not profile.get("google_supports_thinking_level", True):
        return {"google_thinking_config": {"thinking_budget": tokens}}
    return {}


def _can_reason(profile: ModelProfile) -> bool:
    return bool(profile.get("supports_thinking", False) or profile.get("thinking_always_enabled", False))


def _openai_efforts(profile: ModelProfile) -> set[str]:
    pinned: Any = profile.get("openai_reasoning_efforts")
    if pinned is not None:
        return set(pinned)
    known = {"low", "medium", "high"}
    if profile.get("openai_supports_reasoning_effort_none", False):
        known.add("none")
    return known | {"minimal"} if profile.get("openai_supports_minimal_reasoning_effort", True) else known


def _usual_efforts(profile: ModelProfile) -> set[str]:
    """The words that pydantic-ai maps to a provider's own scale; some models cannot turn reasoning off."""
    return set(EFFORTS) - ({"none"} if profile.get("thinking_always_enabled", False) else set())


def _check(effort: str, known: set[str]) -> None:
    if effort not in known:
        listed = ", ".join(row for row in EFFORTS if row in known)
        raise EffortRefusedError(
            f"does not know the reasoning_effort {effort}. It takes {listed}, or a number of tokens."
        )


def _refuse_unless_none(effort: str) -> None:
    """Refuse any effort but ``none`` for a model that does not reason."""
    if effort != "none":
        raise EffortRefusedError(
            f"does not reason, so it takes no reasoning_effort, and {effort} was set. Leave it out, or set none."
        )
