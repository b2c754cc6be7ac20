"""Checks whether calls can work by the provider's list of models, which costs no tokens."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from disputatio.participants.call import Fault, FaultKind
from disputatio.participants.providers import Kind
from disputatio.participants.remote.endpoint import Endpoint
from disputatio.participants.remote.error_details import message_in, one_line
from disputatio.participants.remote.faults import fault_from, status_fault, timed_out
from disputatio.participants.remote.models import http_client

LIMIT_S: Final = 15.0
"""Seconds for a probe at most; an endpoint's own limit may be shorter."""

_LONGEST_LIST: Final = 8
_TELLING: Final = frozenset(
    {
        FaultKind.KEY_REJECTED,
        FaultKind.QUOTA_EXHAUSTED,
        FaultKind.RATE_LIMITED,
        FaultKind.SERVER_ERROR,
        FaultKind.TIMED_OUT,
    }
)
_SCOPE_WORDS = re.compile(r"scope|permission", re.IGNORECASE)


async def probe(endpoint: Endpoint) -> Fault | None:
    """Send one request to ``endpoint``. None if no problem was found, or if it has no list of models."""
    question = _question(endpoint)
    if question is None:
        return None
    address, headers = question
    try:
        async with asyncio.timeout(min(LIMIT_S, endpoint.timeout_s)), http_client(endpoint) as http:
            response = await http.get(address, headers=headers)
    except TimeoutError:
        return timed_out(endpoint)
    except Exception as error:  # noqa: BLE001  - whatever the library raises becomes a fault
        return fault_from(error, endpoint, None)
    return _verdict(endpoint, response.status_code, response.content)


def _question(endpoint: Endpoint) -> tuple[str, dict[str, str]] | None:
    """The address of the model list, and the headers for it; None if there is none.

    Sources: https://platform.openai.com/docs/api-reference/models,
    https://platform.claude.com/docs/en/api/models, https://ai.google.dev/api/models,
    https://docs.mistral.ai/api and https://console.groq.com/docs/api-reference#models. Bedrock lists
    models at another service than the one that is called, with rights of its own.
    """
    key = endpoint.api_key or ""
    bearer = {"Authorization": f"Bearer {key}"} if key else {}
    model = quote(endpoint.model.removeprefix("models/"), safe="")
    match endpoint.kind:
        case Kind.OPENAI | Kind.OPENAI_COMPATIBLE | Kind.OPENAI_RESPONSES:
            return f"{endpoint.root}/models", bearer
        case Kind.AZURE:
            below = f"models?api-version={endpoint.api_version}" if endpoint.api_version else "v1/models"
            return f"{endpoint.root.partition('/openai/')[0]}/openai/{below}", {"api-key": key}
        case Kind.MISTRAL:
            return f"{endpoint.root}/v1/models", bearer
        case Kind.GROQ:
            return f"{endpoint.root}/openai/v1/models", bearer
        case Kind.ANTHROPIC:
            return f"{endpoint.root}/v1/models/{model}", {"x-api-key": key, "anthropic-version": "2023-06-01"}
        case Kind.GOOGLE:
            return f"{endpoint.root}/v1beta/models/{model}", {"x-goog-api-key": key}
        case _:
            return None


def _verdict(endpoint: Endpoint, status: int, content: bytes) -> Fault | None:
    body = _parsed(content)
    if status == 200 and endpoint.kind is Kind.AZURE:
        # Azure lists the models that could be deployed, not the deployments.
        return None
    if status == 200:
        return _missing_from(endpoint, body)
    if status == 404 and endpoint.kind in (Kind.ANTHROPIC, Kind.GOOGLE) and isinstance(body, Mapping):
        return status_fault(endpoint, status, body)
    if status == 403 and _SCOPE_WORDS.search(message_in(body)):
        # A restricted key may be valid for calls but not for this list.
        return None
    fault = status_fault(endpoint, status, body if body is not None else content)
    return fault if fault.kind in _TELLING else None


def _missing_from(endpoint: Endpoint, body: object) -> Fault | None:
    if not isinstance(body, Mapping) or body.get("has_more") or body.get("nextPageToken"):
        return None
    listed = body.get("data")
    if not isinstance(listed, list) or not listed or not all(isinstance(item, Mapping) for item in listed):
        return None
    names = [name for item in listed for name in _names(item)]
    # llama.cpp's server accepts any name for the one model it has loaded.
    if not names or any("llamacpp" in str(item.get("owned_by")).lower() for item in listed):
        return None
    if _plain(endpoint.model) & {form for name in names for form in _plain(name)}:
        return None
    shown = ", ".join(names[:_LONGEST_LIST]) + (", ..." if len(names) > _LONGEST_LIST else "")
    message = f"{endpoint.place} does not have this model; it lists {one_line(shown, endpoint.api_key)}."
    return Fault(FaultKind.NO_SUCH_MODEL, message)


def _names(item: Mapping[str, Any]) -> list[str]:
    aliases = item.get("aliases")
    names = [item.get("id"), *(aliases if isinstance(aliases, list) else [])]
    return [name for name in names if isinstance(name, str) and name]


def _plain(name: str) -> set[str]:
    """The forms under which ``name`` may be listed: without a tag (Ollama's ``:latest``, OpenRouter's ``:free``)."""
    lower = name.lower()
    return {lower, lower.rpartition(":")[0] or lower}


def _parsed(content: bytes) -> object:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
