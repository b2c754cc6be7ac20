"""Where a gateway's calls go, and how people are told which place that is."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import parse_qs, quote, urlsplit, urlunsplit

from disputatio.participants.call import OutputMode
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.providers import PROVIDERS, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One model at one address, with the key for it.

    Attributes:
        kind: the way the provider is spoken to.
        provider: the provider's or preset's name, for messages.
        model: the model's name as the provider knows it.
        base_url: an address given for the seat, or None for the provider's own.
        own_url: the provider's own address, "" where it has none.
        api_key: the key, or None. It appears in no representation and no message.
        needs_key: whether calls without a key are pointless.
        key_variables: environment variables that may hold the key, for messages.
        install: the command that installs the library of this kind, for messages.
        timeout_s: seconds for a whole call.
        mode: the only structured-output mode to use, or None for the kind's modes.
        keep_alive: whether connections are used for more than one call.
        reasoning_effort: how much the model is to reason, as its seat has it.
        straight: whether whole answers of OpenAI's protocol may take the thin path (``direct``).
    """

    kind: Kind
    provider: str
    model: str
    base_url: str | None = None
    own_url: str = ""
    api_key: str | None = field(default=None, repr=False)
    needs_key: bool = False
    key_variables: tuple[str, ...] = ()
    install: str = ""
    timeout_s: float = 300.0
    mode: OutputMode | None = None
    keep_alive: bool = True
    direct: bool = True
    reasoning_effort: str | int | None = None

    @classmethod
    def of(cls, seating: ModelSeating, api_key: str | None) -> Endpoint:
        """The endpoint that ``seating`` names, with what the table of providers knows about it."""
        provider = PROVIDERS[seating.provider]
        return cls(
            kind=provider.kind,
            provider=provider.name,
            model=seating.model,
            base_url=seating.base_url,
            own_url=provider.base_url or "",
            api_key=api_key or None,
            needs_key=provider.needs_key,
            key_variables=provider.key_variables,
            install=provider.install or "",
            timeout_s=seating.timeout_s,
            mode=seating.mode,
            reasoning_effort=seating.reasoning_effort,
        )

    @property
    def root(self) -> str:
        """The address calls are sent below, without a trailing slash; "" for Bedrock's regional ones."""
        root = (self.base_url or self.own_url).rstrip("/")
        return self._azure(root) if self.kind is Kind.AZURE else root

    @property
    def api_version(self) -> str:
        """The version of Azure's API that the address names; "" for its current API, which needs none."""
        if self.kind is not Kind.AZURE:
            return ""
        return parse_qs(urlsplit(self.base_url or "").query).get("api-version", [""])[0]

    def _azure(self, root: str) -> str:
        """Below the deployment where the API has a version; whatever of the path a user has copied is left out.

        Source: https://learn.microsoft.com/en-us/azure/ai-foundry/openai/api-version-lifecycle
        """
        parts = urlsplit(root)
        before = parts.path.partition("/openai")[0].rstrip("/")
        below = f"deployments/{quote(self.model, safe='')}" if self.api_version else "v1"
        return urlunsplit((parts.scheme, parts.netloc, f"{before}/openai/{below}", "", ""))

    @property
    def place(self) -> str:
        """What messages call it: ``openai:gpt-5`` or ``openai_compatible:qwen3 at http://...``.

        Names and passwords in the address, and its query, are left out.
        """
        name = f"{self.provider}:{self.model}"
        if not self.base_url:
            return name
        try:
            parts = urlsplit(self.base_url)
        except ValueError:
            return name
        address = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
        return f"{name} at {address.rstrip('/')}"
