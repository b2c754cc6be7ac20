"""Where a client's calls go, and how messages name that place."""

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
        kind: the protocol.
        provider: the provider's or preset's name, for messages.
        model: the model's name as the provider knows it.
        base_url: the seat's address, or None for the provider's own.
        own_url: the provider's own address, or "".
        api_key: the key, or None. It appears in no representation and no message.
        needs_key: whether calls need a key.
        key_variables: environment variables that may hold the key, for messages.
        install: the command that installs the library of this kind, for messages.
        timeout_s: seconds for a whole call.
        mode: the only structured-output mode to use, or None for the kind's modes.
        keep_alive: whether connections are used for more than one call.
        reasoning_effort: the seat's setting.
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
        """Make the endpoint of ``seating``, completed from the table of providers."""
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
        """The base address of calls, without a trailing slash; "" for Bedrock's regional ones."""
        root = (self.base_url or self.own_url).rstrip("/")
        return self._azure(root) if self.kind is Kind.AZURE else root

    @property
    def api_version(self) -> str:
        """The version of Azure's API in the address; "" for its current API, which needs none."""
        if self.kind is not Kind.AZURE:
            return ""
        return parse_qs(urlsplit(self.base_url or "").query).get("api-version", [""])[0]

    def _azure(self, root: str) -> str:
        """Azure's base address: below the deployment if the API has a version. Drops any path that a user has copied.

        Source: https://learn.microsoft.com/en-us/azure/ai-foundry/openai/api-version-lifecycle
        """
        parts = urlsplit(root)
        before = parts.path.partition("/openai")[0].rstrip("/")
        below = f"deployments/{quote(self.model, safe='')}" if self.api_version else "v1"
        return urlunsplit((parts.scheme, parts.netloc, f"{before}/openai/{below}", "", ""))

    @property
    def place(self) -> str:
        """Its name in messages: ``openai:gpt-5`` or ``openai_compatible:qwen3 at http://...``.

        Without names and passwords in the address, and without its query.
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
