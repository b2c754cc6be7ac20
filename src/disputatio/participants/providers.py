"""The table of model providers, and how a seat names one of them.

It holds what is true for every user: address, key variables, default model, what to install. Users' choices are in
``disputatio.config``; protocols are in the clients. A default model must be current and priced by ``genai-prices``, so
that a budget in money works without further settings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import urlsplit

from disputatio.errors import InvalidInputError
from disputatio.errors.quoting import did_you_mean, quote
from disputatio.participants.local_models import EMBEDDED_MODEL, LOCAL_MODELS, asked_piecewise


class Kind(StrEnum):
    """The protocol of a provider."""

    OPENAI = "openai"
    OPENAI_COMPATIBLE = "openai_compatible"
    OPENAI_RESPONSES = "openai_responses"
    AZURE = "azure"
    ANTHROPIC = "anthropic"
    GOOGLE = "google"
    MISTRAL = "mistral"
    GROQ = "groq"
    BEDROCK = "bedrock"
    EMBEDDED = "embedded"
    RULES = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider or preset.

    Attributes:
        name: its name in settings and records.
        title: its name for people.
        kind: its protocol.
        base_url: its address; None if users must set one, or if there is none.
        base_url_variable: an environment variable that overrides the address, as the provider's library reads it.
        version_variable: an environment variable with the version of its API.
        key_variables: environment variables that may hold its key; the first one set counts.
        key_addresses: pairs of a key variable and its address, where that is not ``base_url``.
        default_model: the default model; None if users must name one.
        needs_key: whether calls need a key.
        extra: the extra of this package with its library; None if nothing more is needed.
        module: a module of that library, to check the installation.
        price_id: the provider's id in genai-prices; None if there is no price.
        free: whether it is declared free; a rented server is not.
    """

    name: str
    title: str
    kind: Kind
    base_url: str | None = None
    base_url_variable: str | None = None
    version_variable: str | None = None
    key_variables: tuple[str, ...] = ()
    key_addresses: tuple[tuple[str, str], ...] = ()
    default_model: str | None = None
    needs_key: bool = True
    extra: str | None = None
    module: str | None = None
    price_id: str | None = None
    free: bool = False

    @property
    def takes_address(self) -> bool:
        """Whether a server address can be set for it."""
        return self.kind not in {Kind.EMBEDDED, Kind.BEDROCK, Kind.RULES}

    @property
    def needs_address(self) -> bool:
        """Whether it cannot be reached before an address is set."""
        return self.takes_address and self.base_url is None

    @property
    def install(self) -> str | None:
        """The command that installs what it needs, or None."""
        return None if self.extra is None else f"pip install 'disputatio[{self.extra}]'"

    def asks_piecewise(self, model: str) -> bool:
        """Whether ``model`` is asked for one argument at a time where nothing else is set."""
        return self.kind is Kind.EMBEDDED and asked_piecewise(model)

    def price_id_at(self, base_url: str | None) -> str | None:
        """Its id in genai-prices when it is reached at ``base_url``.

        Zhipu sells the same models at two prices, on two platforms (docs.z.ai and open.bigmodel.cn).
        """
        return _PRICE_ID_BY_HOST.get(_host_of(base_url), self.price_id) if base_url else self.price_id


# Asked for twice for every call.
@lru_cache(maxsize=64)
def _host_of(base_url: str) -> str:
    return urlsplit(base_url).hostname or ""


TEXTBOOK = "textbook"
"""The default table of rule-based analysts."""
_PRICE_ID_BY_HOST = {"open.bigmodel.cn": "zhipuai", "api.z.ai": "zai"}

_TABLE = (
    Provider(
        name="openai",
        title="OpenAI",
        kind=Kind.OPENAI,
        base_url="https://api.openai.com/v1",
        base_url_variable="OPENAI_BASE_URL",
        key_variables=("OPENAI_API_KEY",),
        default_model="gpt-6.1-terra",
        price_id="openai",
    ),
    Provider(
        name="openai_responses",
        title="OpenAI's Responses API",
        kind=Kind.OPENAI_RESPONSES,
        base_url="https://api.openai.com/v1",
        base_url_variable="OPENAI_BASE_URL",
        key_variables=("OPENAI_API_KEY",),
        default_model="gpt-6.1-terra",
        price_id="openai",
    ),
    Provider(
        name="azure",
        title="Azure OpenAI",
        kind=Kind.AZURE,
        # Variables as openai's library and pydantic-ai read them (https://ai.pydantic.dev/models/openai/#azure).
        base_url_variable="AZURE_OPENAI_ENDPOINT",
        version_variable="OPENAI_API_VERSION",
        key_variables=("AZURE_OPENAI_API_KEY",),
        price_id="azure",
    ),
    Provider(
        name="anthropic",
        title="Anthropic",
        kind=Kind.ANTHROPIC,
        base_url="https://api.anthropic.com",
        base_url_variable="ANTHROPIC_BASE_URL",
        key_variables=("ANTHROPIC_API_KEY",),
        default_model="claude-sonnet-5-5",
        extra="anthropic",
        module="anthropic",
        price_id="anthropic",
    ),
    Provider(
        name="google",
        title="Google Gemini",
        kind=Kind.GOOGLE,
        base_url="https://generativelanguage.googleapis.com",
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        default_model="gemini-3.8-flash",
        extra="google",
        module="google.genai",
        price_id="google",
    ),
    Provider(
        name="mistral",
        title="Mistral",
        kind=Kind.MISTRAL,
        base_url="https://api.mistral.ai",
        key_variables=("MISTRAL_API_KEY",),
        default_model="mistral-large-4",
        extra="mistral",
        module="mistralai",
        price_id="mistral",
    ),
    Provider(
        name="groq",
        title="Groq",
        kind=Kind.GROQ,
        base_url="https://api.groq.com",
        base_url_variable="GROQ_BASE_URL",
        key_variables=("GROQ_API_KEY",),
        default_model="openai/gpt-oss-120b",
        extra="groq",
        module="groq",
        price_id="groq",
    ),
    Provider(
        name="deepseek",
        title="DeepSeek",
        kind=Kind.OPENAI_COMPATIBLE,
        base_url="https://api.deepseek.com",
        key_variables=("DEEPSEEK_API_KEY",),
        # The one name for the current Flash model; deepseek-chat was withdrawn in July 2026
        # (https://api-docs.deepseek.com/quick_start/pricing).
        default_model="deepseek-flash",
        price_id="deepseek",
    ),
    Provider(
        name="zhipu",
        title="Zhipu GLM",
        kind=Kind.OPENAI_COMPATIBLE,
        base_url="https://api.z.ai/api/paas/v4",
        base_url_variable="ZAI_BASE_URL",
        key_variables=("ZAI_API_KEY", "ZHIPUAI_API_KEY"),
        # Keys of the mainland platform are unknown to the international one.
        key_addresses=(("ZHIPUAI_API_KEY", "https://open.bigmodel.cn/api/paas/v4"),),
        default_model="glm-4.7",
        price_id="zai",
    ),
    Provider(
        name="openrouter",
        title="OpenRouter",
        kind=Kind.OPENAI_COMPATIBLE,
        base_url="https://openrouter.ai/api/v1",
        key_variables=("OPENROUTER_API_KEY",),
        price_id="openrouter",
    ),
    Provider(
        name="bedrock",
        title="Amazon Bedrock",
        kind=Kind.BEDROCK,
        # Without the bearer token, boto3 looks for credentials along the usual AWS chain.
        key_variables=("AWS_BEARER_TOKEN_BEDROCK",),
        needs_key=False,
        extra="bedrock",
        module="boto3",
        price_id="aws",
    ),
    Provider(
        name="vllm",
        title="vLLM",
        kind=Kind.OPENAI_COMPATIBLE,
        base_url="http://localhost:8000/v1",
        base_url_variable="VLLM_BASE_URL",
        key_variables=("VLLM_API_KEY",),
        needs_key=False,
    ),
    Provider(
        name="ollama",
        title="Ollama",
        kind=Kind.OPENAI_COMPATIBLE,
        base_url="http://localhost:11434/v1",
        base_url_variable="OLLAMA_BASE_URL",
        key_variables=("OLLAMA_API_KEY",),
        needs_key=False,
        free=True,
    ),
    Provider(
        name="lmstudio",
        title="LM Studio",
        kind=Kind.OPENAI_COMPATIBLE,
        base_url="http://localhost:1234/v1",
        key_variables=("LM_API_TOKEN",),
        needs_key=False,
        free=True,
    ),
    Provider(
        name="openai_compatible",
        title="any OpenAI-compatible server",
        kind=Kind.OPENAI_COMPATIBLE,
        # No key variable: a key for one server must not be sent to another.
        needs_key=False,
    ),
    Provider(
        name="embedded",
        title="the embedded model",
        kind=Kind.EMBEDDED,
        default_model=EMBEDDED_MODEL,
        needs_key=False,
        extra="embedded",
        module="xllamacpp",
        free=True,
    ),
    Provider(
        name="rules",
        title="rule-based analysts",
        kind=Kind.RULES,
        default_model=TEXTBOOK,
        needs_key=False,
        free=True,
    ),
)

PROVIDERS: Mapping[str, Provider] = MappingProxyType({provider.name: provider for provider in _TABLE})

AUTOMATIC_ORDER: tuple[str, ...] = (
    "openai",
    "anthropic",
    "google",
    "mistral",
    "groq",
    "deepseek",
    "zhipu",
    "openrouter",
    "azure",
)
"""Without a named provider, the first of these with a key in the environment is used."""

OTHER_EXTRAS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "mcp": ("mcp", "tools of MCP servers"),
        "postgres": ("psycopg", "a store in PostgreSQL"),
    }
)
"""Other extras: a module to check for, and the purpose."""

_OTHER_NAMES = {
    "zai": "zhipu",
    "glm": "zhipu",
    "gemini": "google",
    "lm_studio": "lmstudio",
    "openai_compat": "openai_compatible",
    "azure_openai": "azure",
}


def canonical_name(name: str) -> str:
    """``name`` as the table spells it; unknown names in lower case."""
    plain = re.sub(r"[\s.-]+", "_", name.strip().lower())
    return _OTHER_NAMES.get(plain, plain)


def provider_named(name: str, *, source: str) -> Provider:
    """Find the provider ``name``, ignoring case and hyphens; common aliases work too.

    Args:
        name: what the user wrote.
        source: where the name came from, for the message.

    Raises:
        InvalidInputError: no such provider.
    """
    found = PROVIDERS.get(canonical_name(name))
    if found is not None:
        return found
    hint = did_you_mean(canonical_name(name), PROVIDERS)
    owner = _OWNER_OF_FAMILY.get(family(name)) if re.search(r"\d", name) else None
    if owner and name.isprintable() and quote(name) == repr(name):
        hint = f"That looks like a model: write {owner}:{name}. "
    raise InvalidInputError(
        f"The provider {quote(name)} (from {source}) is not known.",
        f"{hint}Allowed are: {', '.join(PROVIDERS)}.",
    )


@dataclass(frozen=True, slots=True)
class SeatValue:
    """A model as users write it: ``openai:gpt-5`` or ``openai_compatible:qwen3 at http://...``.

    ``model`` is None if only the provider was named. ``base_url`` is not checked yet.
    """

    provider: str
    model: str | None = None
    base_url: str | None = None


_ADDRESS = re.compile(r"^(?P<rest>.*?)(?<!\s)\s++at\s+(?P<url>https?://\S*)$", re.DOTALL | re.IGNORECASE)


def parse_seat_value(text: str, *, source: str = "the seat") -> SeatValue:
    """Read ``PROVIDER``, ``PROVIDER:MODEL``, ``embedded:PATH`` or ``hf:REPOSITORY``, with `` at URL`` or not.

    A model name may contain colons (``ollama:qwen3:8b``). What this reads, ``ModelSeating.address`` writes.

    Raises:
        InvalidInputError: the provider is unknown, or the model is missing after its colon or malformed.
    """
    at = _ADDRESS.match(text.strip())
    rest, url = (at["rest"].strip(), at["url"]) if at else (text.strip(), None)
    if rest.lower().startswith("hf:"):
        return SeatValue("embedded", checked_model(PROVIDERS["embedded"], rest, source=source), url)
    name, colon, model = rest.partition(":")
    if not name.strip():
        raise InvalidInputError(f"{source} names no model.", "Write PROVIDER:MODEL, such as openai:gpt-5 or embedded.")
    provider = provider_named(name, source=source)
    if colon and not model.strip():
        raise InvalidInputError(
            f"No model follows {provider.name}: in {source}.",
            f"Write {provider.name}:MODEL, or {provider.name} alone for its default model.",
        )
    return SeatValue(provider.name, checked_model(provider, model, source=source) if colon else None, url)


_MAX_MODEL_CHARS = 300
_DEPLOYMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def checked_model(provider: Provider, model: str, *, source: str) -> str:
    """``model`` without blanks around it.

    Raises:
        InvalidInputError: it is empty or over 300 characters, has blanks or control characters inside, or is
            no embedded model and no deployment of Azure. Only a file path may have blanks.
    """
    model = model.strip()
    embedded = provider.kind is Kind.EMBEDDED
    file = embedded or provider.kind is Kind.RULES
    blank = not model.isprintable() or (not file and re.search(r"\s", model))
    if not model or blank or len(model) > _MAX_MODEL_CHARS:
        raise InvalidInputError(
            f"The model {quote(model)} (from {source}) is not a model name.",
            f"Allowed is one word of 1 to {_MAX_MODEL_CHARS} characters, such as gpt-5 or qwen3:8b.",
        )
    if provider.kind is Kind.AZURE and not _DEPLOYMENT.fullmatch(model):
        # It is a part of the address.
        raise InvalidInputError(
            f"The model {quote(model)} (from {source}) is not the name of a deployment.",
            "Allowed are letters, digits, hyphens, dots and underscores, as Azure lists the deployment: azure:NAME.",
        )
    if provider.kind is Kind.RULES and model != TEXTBOOK and not model.lower().endswith(".toml"):
        raise InvalidInputError(
            f"The rules {quote(model)} (from {source}) are not known.",
            f"Allowed is {TEXTBOOK}, or the path of a .toml file of the same form: rules:PATH.toml.",
        )
    if embedded and not _is_embedded_model(model):
        raise InvalidInputError(
            f"The model {quote(model)} (from {source}) cannot be run embedded.",
            f"{did_you_mean(model.lower(), LOCAL_MODELS)}Allowed are {', '.join(LOCAL_MODELS)}, the path of a .gguf "
            "file, or hf:OWNER/REPOSITORY/FILE.gguf; for a model elsewhere name its provider too, with LLM_PROVIDER or "
            "as PROVIDER:MODEL.",
        )
    return model


def _is_embedded_model(model: str) -> bool:
    if model.lower().startswith("hf:"):
        return "/" in model[3:].strip("/")
    return model in LOCAL_MODELS or model.lower().endswith(".gguf") or "/" in model or "\\" in model


# Tried in order. A distilled model shares the blind spots of its base model, so the base comes first.
_FAMILIES: tuple[tuple[str, str], ...] = tuple(
    (rf"(?<![a-z]){pattern}", name)
    for pattern, name in (
        (r"distill-llama", "llama"),
        (r"distill-qwen|r1-0528-qwen", "qwen"),
        (r"claude", "claude"),
        (r"gemini", "gemini"),
        (r"gemma", "gemma"),
        (r"(?:chat)?gpt-|(?:text-)?davinci|o[134](?:-|$)|codex", "gpt"),
        (r"smollm", "smollm"),
        (r"(?:chat)?glm", "glm"),
        (r"(?:qwen|qwq|qvq)", "qwen"),
        (r"(?:mi[ns]tral|mixtral|ministral|magistral|codestral|devstral|pixtral|voxtral)", "mistral"),
        (r"(?:code|tiny)?llama", "llama"),
        (r"deepseek", "deepseek"),
        (r"kimi|moonshot", "kimi"),
        (r"grok", "grok"),
        (r"command|c4ai|aya-", "command"),
        (r"(?:amazon\.)?(?:nova-|titan-)", "nova"),
        (r"phi-?\d", "phi"),
        (r"nemotron", "nemotron"),
        (r"granite", "granite"),
        (r"jamba", "jamba"),
        (r"olmo", "olmo"),
        (r"minimax", "minimax"),
        (r"ernie", "ernie"),
        (r"hunyuan", "hunyuan"),
    )
)
_FAMILY_OF_OWNER = {
    "anthropic": "claude",
    "openai": "gpt",
    "google": "gemini",
    "meta": "llama",
    "meta-llama": "llama",
    "mistral": "mistral",
    "mistralai": "mistral",
    "deepseek": "deepseek",
    "deepseek-ai": "deepseek",
    "qwen": "qwen",
    "alibaba": "qwen",
    "z-ai": "glm",
    "zai-org": "glm",
    "zhipu": "glm",
    "x-ai": "grok",
    "moonshotai": "kimi",
    "cohere": "command",
    "amazon": "nova",
    "microsoft": "phi",
    "nvidia": "nemotron",
    "huggingfacetb": "smollm",
}
_OWNER_OF_FAMILY = {
    "gpt": "openai",
    "claude": "anthropic",
    "gemini": "google",
    "mistral": "mistral",
    "deepseek": "deepseek",
    "glm": "zhipu",
}


@lru_cache(maxsize=256)
def family(model_name: str, provider: str = "") -> str:
    """The family of a model, such as ``gpt``, ``claude`` or ``qwen``; never empty.

    Models of one family were trained on much the same text in the same way and share their blind spots.
    Owners before the name (``anthropic/``, ``meta-llama/``, ``us.anthropic.``), files and quantisations
    after it do not matter. A name that no rule knows falls to its owner's family, then to the provider's
    own, then to the letters the name begins with.
    """
    path = model_name.strip().lower().removeprefix("hf:").replace("\\", "/")
    parts = [part for part in path.split("/") if part]
    if re.match(r"[/.~]|[a-z]:/", path):
        parts = parts[-1:]  # a file of this machine: its folders say nothing about the model
    for part in reversed(parts):
        for pattern, name in _FAMILIES:
            if re.search(pattern, part):
                return name
    for owner in (parts[0] if len(parts) > 1 else "", canonical_name(provider)):
        if owner in _FAMILY_OF_OWNER:
            return _FAMILY_OF_OWNER[owner]
    letters = re.search(r"[^\W\d_]+", parts[-1] if parts else "")
    return letters[0] if letters else (path or "unknown")
