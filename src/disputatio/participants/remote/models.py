"""Builds the pydantic-ai model for each kind of endpoint.

The libraries' clients are built here so that none of them retries on its own: the record holds every attempt. Addresses
and keys are always given, so that no environment variable (``OPENAI_BASE_URL``, ``OPENAI_ORG_ID``...) sends a debate or
a key somewhere unrecorded. Importing this module imports pydantic-ai, so import it lazily.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.settings import ModelSettings

from disputatio._version import VERSION
from disputatio.participants.providers import Kind
from disputatio.participants.remote.efforts import compatible_fields, is_reasoning, library_settings, openai_fields
from disputatio.participants.remote.endpoint import Endpoint
from disputatio.participants.remote.prompt import LibraryPrompts, Prompts
from disputatio.participants.remote.transport import (
    CONNECT_TIMEOUT_S,
    AiohttpTransport,
    CountedResponse,
    trusted_certificates,
)

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_NO_KEY: Final = "no-key"
NO_TAGS: Final = ("\x00", "\x00")
"""Tags that occur in no text."""


@dataclass(frozen=True, slots=True)
class ModelConnection:
    """A model, the request builder for its calls, and a function to close it."""

    model: Model[Any]
    prompts: Prompts
    close: Callable[[], Awaitable[None]]


def build_connection(endpoint: Endpoint) -> ModelConnection:
    """Build the model for ``endpoint``. Nothing is sent.

    The imports for the first model of a kind take up to two seconds; safe in a thread.

    Raises:
        ImportError: the library of this kind is not installed.
        EffortRefusedError: the model does not take the effort that was set.
    """
    if endpoint.root.startswith("https"):
        trusted_certificates()
    return _BUILDERS[endpoint.kind](endpoint)


def http_client(endpoint: Endpoint) -> httpx2.AsyncClient:
    """A client over the shared pool. Redirects are not followed: they would turn a call into a GET."""
    return httpx2.AsyncClient(transport=AiohttpTransport(keep_alive=endpoint.keep_alive), timeout=_timeout(endpoint))


def _timeout(endpoint: Endpoint) -> httpx2.Timeout:
    return httpx2.Timeout(endpoint.timeout_s, connect=CONNECT_TIMEOUT_S)


def _openai(endpoint: Endpoint) -> ModelConnection:
    from pydantic_ai.providers.openai import OpenAIProvider

    from disputatio.participants.remote.chat import ChatModel, ChatPrompts

    http = http_client(endpoint)
    provider = OpenAIProvider(openai_client=_openai_client(endpoint, http))
    model = ChatModel(endpoint.model, provider=provider, profile=with_whole_text)
    profile = model.profile
    prompts = ChatPrompts(
        limit_key="max_completion_tokens",
        system_role=profile.get("openai_system_prompt_role") or "system",
        transformer=profile.get("json_schema_transformer"),
        parallel_tools=True,
        takes_temperature=not is_reasoning(profile, endpoint.reasoning_effort),
        headers=_headers(endpoint),
        names_cache=True,
        marks_cache=bool(profile.get("openai_supports_prompt_cache_breakpoints", False)),
        reasoning=openai_fields(endpoint, model),
    )
    return ModelConnection(model, prompts, http.aclose)


def _azure(endpoint: Endpoint) -> ModelConnection:
    """A deployment may have any name, so its model's parameters are known only if Azure's table has the name."""
    from pydantic_ai.providers.azure import AzureProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    from disputatio.participants.remote.chat import ChatModel, ChatPrompts

    http = http_client(endpoint)
    provider = OpenAIProvider(openai_client=_openai_client(endpoint, http))
    known = AzureProvider.model_profile(endpoint.model) or ModelProfile()
    model = ChatModel(endpoint.model, provider=provider, profile=lambda _: with_whole_text(known))
    is_current = not endpoint.api_version
    prompts = ChatPrompts(
        limit_key="max_completion_tokens"
        if known.get("openai_chat_supports_max_completion_tokens", True)
        else "max_tokens",
        transformer=known.get("json_schema_transformer"),
        parallel_tools=True,
        takes_temperature=not is_reasoning(known, endpoint.reasoning_effort),
        headers={**_headers(endpoint), "Authorization": _library("openai").Omit(), "api-key": endpoint.api_key},
        names_cache=is_current,
        marks_cache=is_current and bool(known.get("openai_supports_prompt_cache_breakpoints", False)),
        reasoning=openai_fields(endpoint, model),
    )
    return ModelConnection(model, prompts, http.aclose)


def _openai_responses(endpoint: Endpoint) -> ModelConnection:
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    http = http_client(endpoint)
    provider = OpenAIProvider(openai_client=_openai_client(endpoint, http))
    model = OpenAIResponsesModel(endpoint.model, provider=provider, profile=with_whole_text)
    fields = openai_fields(endpoint, OpenAIChatModel(endpoint.model, provider=provider))
    # Without this, OpenAI keeps responses for 30 days; it does not keep completions.
    fixed: dict[str, Any] = {"openai_store": False, "extra_headers": _headers(endpoint)}
    if effort := fields.get("reasoning_effort"):
        fixed["openai_reasoning_effort"] = effort
    prompts = LibraryPrompts(
        takes_temperature=not is_reasoning(model.profile, endpoint.reasoning_effort),
        takes_seed=False,
        fixed=fixed,  # type: ignore[arg-type]  # settings of one provider
    )
    return ModelConnection(model, prompts, http.aclose)


def _openai_compatible(endpoint: Endpoint) -> ModelConnection:
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    from disputatio.participants.remote.chat import ChatModel, ChatPrompts

    http = http_client(endpoint)
    client = _openai_client(endpoint, http)
    provider = OpenAICompatibleProvider(endpoint.provider, openai_client=client)
    model = ChatModel(endpoint.model, provider=provider, profile=compatible_profile)
    breaks = bool(model.profile.get("may_tokenize_special_tokens_in_content", False))
    reasoning = compatible_fields(endpoint, client)
    prompts = ChatPrompts(breaks_control_tokens=breaks, headers=_headers(endpoint), reasoning=reasoning)
    return ModelConnection(model, prompts, http.aclose)


def compatible_profile(default: ModelProfile) -> ModelProfile:
    """The assumed profile of any server with OpenAI's protocol, whatever its model is called.

    - Native JSON schemas, tools, and a forced tool choice; a refusal becomes the call's fault.
    - ``max_tokens``, which all such servers know; only OpenAI has replaced it.
    - Schemas are sent unchanged: length and number bounds help grammars (llama.cpp, vLLM) and hurt none.
    - Sampling settings are always sent.

    ``default`` knows whether a server may read control tokens in a text as control.
    """
    return OpenAIModelProfile(
        json_schema_transformer=None,
        supports_json_schema_output=True,
        supports_tools=True,
        openai_chat_supports_max_completion_tokens=False,
        openai_supports_strict_tool_definition=True,
        may_tokenize_special_tokens_in_content=default.get("may_tokenize_special_tokens_in_content", False),
        thinking_tags=NO_TAGS,
    )


def with_whole_text(default: ModelProfile) -> ModelProfile:
    """``default`` without the tags in which the library looks for reasoning.

    The library removes tagged text anywhere, even quoted tags, and of reasoning that was cut off only the tag.
    `disputatio.participants.remote.response` has our rule.
    """
    return {**default, "thinking_tags": NO_TAGS}


def _openai_client(endpoint: Endpoint, http: httpx2.AsyncClient) -> AsyncOpenAI:
    from disputatio.participants.remote.completions import LeanOpenAI

    client = LeanOpenAI(
        api_key=endpoint.api_key or _NO_KEY,
        base_url=endpoint.root,
        max_retries=0,
        timeout=_timeout(endpoint),
        http_client=http,
        default_query={"api-version": endpoint.api_version} if endpoint.api_version else None,
    )
    if endpoint.kind not in (Kind.OPENAI, Kind.OPENAI_RESPONSES):
        # The library fills these from OpenAI's variables and would send them to any server.
        client.organization = client.project = client.admin_api_key = None
    return client


def _headers(endpoint: Endpoint) -> dict[str, Any]:
    headers: dict[str, Any] = {"User-Agent": f"disputatio/{VERSION}"}
    if not endpoint.api_key:
        # The client insists on a key, but a server without keys should not see a made-up one.
        headers["Authorization"] = _library("openai").Omit()
    return headers


def _anthropic(endpoint: Endpoint) -> ModelConnection:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    http = http_client(endpoint)
    client = _library("anthropic").AsyncAnthropic(
        api_key=endpoint.api_key,
        base_url=endpoint.root,
        max_retries=0,
        timeout=_timeout(endpoint),
        http_client=http,
    )
    model = AnthropicModel(endpoint.model, provider=AnthropicProvider(anthropic_client=client))
    samples = not model.profile.get("anthropic_disallows_sampling_settings", False)
    prompts = LibraryPrompts(
        # Claude takes no temperature while it thinks.
        takes_temperature=samples and endpoint.reasoning_effort in (None, "none"),
        fixed=_reasoning(endpoint, model),
        caches_system="anthropic_cache_instructions",
    )
    return ModelConnection(model, prompts, http.aclose)


def _google(endpoint: Endpoint) -> ModelConnection:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    http = http_client(endpoint)
    provider = GoogleProvider(api_key=endpoint.api_key, base_url=endpoint.root, http_client=http)
    model = GoogleModel(endpoint.model, provider=provider)
    return ModelConnection(model, LibraryPrompts(fixed={"max_retries": 0, **_reasoning(endpoint, model)}), http.aclose)


def _mistral(endpoint: Endpoint) -> ModelConnection:
    from pydantic_ai.models.mistral import MistralModel
    from pydantic_ai.providers.mistral import MistralProvider

    http = http_client(endpoint)
    provider = MistralProvider(api_key=endpoint.api_key, base_url=endpoint.root, http_client=http)
    model = MistralModel(endpoint.model, provider=provider)
    return ModelConnection(model, LibraryPrompts(fixed={"max_retries": 0, **_reasoning(endpoint, model)}), http.aclose)


def _groq(endpoint: Endpoint) -> ModelConnection:
    from pydantic_ai.models.groq import GroqModel
    from pydantic_ai.providers.groq import GroqProvider

    # Groq's library is built on the older httpx.
    httpx = _library("httpx")
    http = httpx.AsyncClient(
        transport=_older_transport(httpx, keep_alive=endpoint.keep_alive),
        timeout=httpx.Timeout(endpoint.timeout_s, connect=CONNECT_TIMEOUT_S),
    )
    client = _library("groq").AsyncGroq(
        api_key=endpoint.api_key, base_url=endpoint.root, max_retries=0, http_client=http
    )
    model = GroqModel(endpoint.model, provider=GroqProvider(groq_client=client), profile=with_whole_text)
    return ModelConnection(model, LibraryPrompts(fixed=_reasoning(endpoint, model)), http.aclose)


def _older_transport(httpx: Any, *, keep_alive: bool) -> Any:
    """Wrap our transport for the older httpx, so that its pool and bounds apply there too."""
    carrier = AiohttpTransport(keep_alive=keep_alive)

    async def handle(_: object, request: Any) -> Any:
        content = await request.aread()
        asked = httpx2.Request(request.method, str(request.url), headers=request.headers.raw, content=content)
        brought = await carrier.handle_async_request(asked)
        parts: Any = brought.stream
        stream = type("Body", (httpx.AsyncByteStream,), {"__aiter__": lambda _: aiter(parts), "aclose": parts.aclose})
        return httpx.Response(brought.status_code, headers=brought.headers.raw, stream=stream(), request=request)

    async def close(_: object) -> None:
        await carrier.aclose()

    return type("Transport", (httpx.AsyncBaseTransport,), {"handle_async_request": handle, "aclose": close})()


def _bedrock(endpoint: Endpoint) -> ModelConnection:
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    # Amazon's library is synchronous: calls wait in threads, of which pydantic-ai runs 40 at once.
    config = _library("botocore.config").Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=endpoint.timeout_s,
        max_pool_connections=40,
        retries={"total_max_attempts": 1},
        signature_version="bearer" if endpoint.api_key else None,
    )
    bearer = _bearer_session(endpoint.api_key) if endpoint.api_key else None
    session = _library("boto3").Session(botocore_session=bearer)
    client = session.client("bedrock-runtime", config=config, endpoint_url=endpoint.base_url)
    _bound_amazon(client)
    model = BedrockConverseModel(endpoint.model, provider=BedrockProvider(bedrock_client=client))
    samples = not any(
        model.profile.get(name, False)
        for name in ("anthropic_disallows_sampling_settings", "bedrock_disallows_sampling_settings")
    )

    # As with Anthropic: no temperature while Claude thinks.
    samples &= endpoint.reasoning_effort in (None, "none")

    async def close() -> None:
        client.close()

    caches = "bedrock_cache_instructions" if model.profile.get("bedrock_supports_prompt_caching", False) else ""
    prompts = LibraryPrompts(takes_temperature=samples, fixed=_reasoning(endpoint, model), caches_system=caches)
    return ModelConnection(model, prompts, close)


def _reasoning(endpoint: Endpoint, model: Model[Any]) -> ModelSettings:
    """The library's settings for the effort."""
    settings: Any = library_settings(endpoint, model)
    return settings  # type: ignore[no-any-return]


def _bound_amazon(client: Any) -> None:
    """Bound the responses that Amazon's library reads. It decompresses nothing."""
    session: Any = client._endpoint.http_session
    send: Callable[[Any], Any] = session.send

    def bounded_send(request: Any) -> Any:
        # Otherwise the whole response is read before it can be counted.
        request.stream_output = True
        response = send(request)
        response.raw = CountedResponse(response.raw, response.status_code)
        return response

    session.send = bounded_send


def _bearer_session(key: str) -> object:
    """A botocore session that signs with a Bedrock API key instead of an account's credentials."""
    token = _library("botocore.tokens").FrozenAuthToken(key)
    overrides = {"get_auth_token": lambda *_, **__: token, "get_credentials": lambda *_: None}
    session: object = type("BearerSession", (_library("botocore.session").Session,), overrides)()
    return session


def _library(name: str) -> Any:
    """Import an optional library, which the type checker may not have."""
    return import_module(name)


_BUILDERS: Final[dict[Kind, Callable[[Endpoint], ModelConnection]]] = {
    Kind.OPENAI: _openai,
    Kind.OPENAI_COMPATIBLE: _openai_compatible,
    Kind.OPENAI_RESPONSES: _openai_responses,
    Kind.AZURE: _azure,
    Kind.ANTHROPIC: _anthropic,
    Kind.GOOGLE: _google,
    Kind.MISTRAL: _mistral,
    Kind.GROQ: _groq,
    Kind.BEDROCK: _bedrock,
}
