"""Where a gateway's calls go, and how people are told which place that is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from urllib.parse import urlsplit, urlunsplit

from disputatio.participants.call import OutputMode

Kind: TypeAlias = Literal["openai", "openai_compatible", "anthropic", "google", "mistral", "groq", "bedrock"]
"""The protocol a server speaks; several providers may share one."""

_BASE_URLS: dict[str, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
    "mistral": "https://api.mistral.ai",
    "groq": "https://api.groq.com",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One model at one address, with the key for it.

    Attributes:
        kind: the protocol.
        provider: the provider's or preset's name, for messages.
        model: the model's name as the provider knows it.
        base_url: the address without the operation's path; None takes the kind's own.
        api_key: the key, or None. It appears in no representation and no message.
        needs_key: whether calls without a key are pointless.
        key_variables: environment variables that may hold the key, for messages.
        extra: the extra of this package that installs the kind's library, "" where it is always there.
        timeout_s: seconds for a whole call.
        mode: the only structured-output mode to use, or None for the kind's modes.
        keep_alive: whether connections are used for more than one call.
    """

    kind: Kind
    provider: str
    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    needs_key: bool = True
    key_variables: tuple[str, ...] = ()
    extra: str = ""
    timeout_s: float = 300.0
    mode: OutputMode | None = None
    keep_alive: bool = True

    @property
    def root(self) -> str:
        """The address calls are sent below, without a trailing slash; "" for Bedrock's regional ones."""
        return (self.base_url or _BASE_URLS.get(self.kind, "")).rstrip("/")

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
