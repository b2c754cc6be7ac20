"""One request to a language model, and what can come back.

This is the narrow waist between the pure side (which decides what is asked) and the provider side (which
carries it). Everything in a ``Call`` is settled before it leaves and is written to the record; a ``Reply``
or a ``Fault`` is the only thing that can come back. Providers never raise through this boundary.

What every call needs is a named tuple: a frozen dataclass takes three times as long to make.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple, Protocol, TypeAlias

from disputatio.kernel import JsonObject


class OutputMode(StrEnum):
    """How a structured answer is requested, best first."""

    NATIVE = "native"
    """The provider constrains decoding to the schema."""
    TOOL = "tool"
    """The schema is the parameters of a tool the model must call."""
    PROMPTED = "prompted"
    """The schema is in the prompt and the answer is read from the text."""
    TEXT = "text"
    """No schema: the answer is prose."""


class Segment(NamedTuple):
    """A stretch of the prompt. Neighbours of one role are sent as one message, joined by a blank line."""

    role: Literal["system", "user", "assistant"]
    text: str


class Call(NamedTuple):
    """One request, complete.

    Attributes:
        segments: the prompt, first to last; the longest shared part comes first.
        schema: JSON Schema of the answer (an object that requires all its keys), or None in text mode.
        schema_text: the schema as canonical JSON where whoever made the call has it already, else "".
        schema_name: a short identifier for the schema, ``[a-zA-Z0-9_]{1,64}``.
        mode: how the structured answer is requested.
        temperature: sampling temperature, or None to leave it to the provider.
        max_tokens: most tokens the answer may have.
        seed: passed on to providers that take one.
    """

    segments: tuple[Segment, ...]
    schema: JsonObject | None
    schema_name: str
    mode: OutputMode
    temperature: float | None
    max_tokens: int
    seed: int | None = None
    schema_text: str = ""


class Usage(NamedTuple):
    """Tokens of one call as the provider reported them; None where it did not say (which is not zero).

    ``cached_tokens`` is the part of ``input_tokens`` that the provider served from its prefix cache, ``written_tokens``
    the part that it put there, which some providers charge above their usual price.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    written_tokens: int | None = None


class Reply(NamedTuple):
    """The model answered. ``text`` is the raw output: JSON text in structured modes.

    ``finish`` is ``stop``, ``length`` (cut off at the token limit) or another word of the provider;
    ``served_model`` is the model the provider says it used, which is what is paid for.
    """

    text: str
    served_model: str | None
    usage: Usage
    finish: str = "stop"


class FaultKind(StrEnum):
    """Why there is no answer. Each kind says what can be done about it."""

    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    TIMED_OUT = "timed_out"
    UNREACHABLE = "unreachable"
    CUT_OFF = "cut_off"
    GARBLED = "garbled"
    """The response is not what the protocol allows: no JSON, an error body with status 200, no choices."""
    REFUSED = "refused"
    """The model or the provider's filter declined to answer."""
    KEY_REJECTED = "key_rejected"
    KEY_MISSING = "key_missing"
    NO_SUCH_MODEL = "no_such_model"
    QUOTA_EXHAUSTED = "quota_exhausted"
    CONTEXT_TOO_LONG = "context_too_long"
    SCHEMA_UNSUPPORTED = "schema_unsupported"
    """The server does not take this mode of structured output; a lesser mode may work."""
    BAD_REQUEST = "bad_request"
    NOT_INSTALLED = "not_installed"
    """The library or weights this provider needs are not there."""

    @property
    def worth_retrying(self) -> bool:
        """Whether the same request may succeed a little later."""
        return self in _PASSING

    @property
    def is_setup(self) -> bool:
        """Whether only the user can cure it: no retry, no other prompt helps."""
        return self in _SETUP


_PASSING = frozenset(
    {
        FaultKind.RATE_LIMITED,
        FaultKind.SERVER_ERROR,
        FaultKind.TIMED_OUT,
        FaultKind.UNREACHABLE,
        FaultKind.CUT_OFF,
        FaultKind.GARBLED,
    }
)
_SETUP = frozenset(
    {
        FaultKind.KEY_REJECTED,
        FaultKind.KEY_MISSING,
        FaultKind.NO_SUCH_MODEL,
        FaultKind.QUOTA_EXHAUSTED,
        FaultKind.NOT_INSTALLED,
    }
)


@dataclass(frozen=True, slots=True)
class Fault:
    """The call brought no answer.

    ``message`` is one sentence that names the cause, fit for people, without keys or stack traces.
    ``retry_after_s`` is the wait the provider asked for, in seconds. ``usage`` is what was counted before
    the failure, where the provider told; ``text`` is what had arrived of the answer.
    """

    kind: FaultKind
    message: str
    retry_after_s: float | None = None
    usage: Usage | None = None
    served_model: str | None = None
    text: str = ""


OnText: TypeAlias = Callable[[str], None]


class Gateway(Protocol):
    """Carries calls to one model. One gateway serves all seats that share model, address and key."""

    @property
    def modes(self) -> tuple[OutputMode, ...]:
        """The structured-output modes worth trying with this model, best first; never empty."""

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:
        """Make one request, once: no retries inside. ``on_text`` gets raw output as it is written.

        Cancellation is passed on. Everything else that can go wrong comes back as a ``Fault``.
        """

    async def probe(self) -> Fault | None:
        """Ask, without spending a token where the provider allows it, whether calls can work."""

    async def aclose(self) -> None:
        """Release connections and processes. Safe to repeat."""
