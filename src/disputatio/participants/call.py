"""One request to a language model, its possible results, and the bound on its answer.

This is the boundary between the pure side, which decides what to ask, and the clients, which send it. A ``Call`` is
complete before it is sent and is written to the record. The result is a ``Reply`` or a ``Fault``; clients never raise.

The bound of an answer follows from the token limit of its call. A faulty or hostile server could otherwise fill the
memory of this process. It applies after decompression:

- A whole answer: ``BYTES_PER_TOKEN`` for each token. Usual text has 4 to 5 bytes a token, escaped Chinese up to 50.
  The longest tokens of common vocabularies are runs of 128 spaces or dashes, and some servers send reasoning twice.
- A streamed answer: ``STREAMED_BYTES_PER_TOKEN``. A server may send an event of 200 to 700 bytes a token, even
  for each character. Lines are counted too, because each takes processor time.
- Both: plus ``OVERHEAD`` and twice the request, because some servers repeat it.
- No body may exceed ``LARGEST_BODY``: 40 times the longest accepted answer
  (`disputatio.participants.answers.MAX_ANSWER_CHARS`), with its reasoning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from typing import Final, Literal, Protocol, TypeAlias

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


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the prompt. Neighbours of one role are sent as one message, joined by a blank line."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """One request, complete.

    Attributes:
        segments: the prompt, first to last; the longest shared part comes first.
        schema: JSON Schema of the answer (an object that requires all its keys), or None in text mode.
        schema_text: the schema as canonical JSON if the caller has it, else "".
        schema_name: a short identifier for the schema, ``[a-zA-Z0-9_]{1,64}``.
        mode: how the structured answer is requested.
        temperature: sampling temperature, or None to leave it to the provider.
        max_tokens: most tokens of output, reasoning and answer together: the limit that is sent.
        reasoning_allowance: how many of these are for reasoning, 0 or more and fewer than ``max_tokens``.
        usual_tokens: the tokens that such answers usually need. A budget or a server may reduce the limit to them; None
            if it may not shrink.
        seed: sent to providers that accept one.
        tells_schema: whether the prompt contains the schema, so that prompted mode adds nothing.
        identity: the debate and the id of the call in its record, where the call is to travel in a batch and may be
            asked for again by another process; None for a call that is made at once.
        following: returns the next calls of the same turn that do not depend on this answer. A client may compute them
            early; they are sent, recorded and charged only when their turn comes.
    """

    segments: tuple[Segment, ...]
    schema: JsonObject | None
    schema_name: str
    mode: OutputMode
    temperature: float | None
    max_tokens: int
    seed: int | None = None
    schema_text: str = ""
    reasoning_allowance: int = 0
    usual_tokens: int | None = None
    tells_schema: bool = False
    identity: tuple[str, str] | None = None
    following: Callable[[], tuple[Call, ...]] = field(default=tuple, compare=False, repr=False)

    @property
    def answer_tokens(self) -> int:
        """The part of the limit that is for the answer."""
        return self.max_tokens - self.reasoning_allowance

    @property
    def least_tokens(self) -> int:
        """The smallest possible limit of the call."""
        return self.answer_tokens if self.usual_tokens is None else self.usual_tokens

    def with_room(self, answer: int, allowance: int) -> Call:
        """The same call with so many tokens for its answer and for reasoning."""
        return replace(self, max_tokens=answer + allowance, reasoning_allowance=allowance)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as the provider reported them; None where it did not say (which is not zero).

    ``cached_tokens`` is the part of ``input_tokens`` that the provider served from its prefix cache, ``written_tokens``
    the part that it put there, which some providers charge above their usual price. ``reasoning_tokens`` is the part of
    ``output_tokens`` that the model spent on reasoning. ``cost_usd`` is what the server says that the call cost.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    written_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Reply:
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
    ANSWER_TOO_LONG = "answer_too_long"
    """More came than the bound for the call's token limit allows, and it was cut off."""
    REFUSED = "refused"
    """The model or the provider's filter declined to answer."""
    KEY_REJECTED = "key_rejected"
    KEY_MISSING = "key_missing"
    NO_SUCH_MODEL = "no_such_model"
    QUOTA_EXHAUSTED = "quota_exhausted"
    CONTEXT_TOO_LONG = "context_too_long"
    CUT_WHILE_REASONING = "cut_while_reasoning"
    """The limit went into reasoning, so that there is no whole answer. More room helps, and being brief does not."""
    LIMIT_TOO_LARGE = "limit_too_large"
    """The server does not take a limit that leaves so much room for reasoning; with less it may."""
    SCHEMA_UNSUPPORTED = "schema_unsupported"
    """The server does not take this mode of structured output; a lesser mode may work."""
    PARAMETER_REFUSED = "parameter_refused"
    """The server does not take a parameter; the same call, made again, goes without it or under its newer name."""
    SETTING_REFUSED = "setting_refused"
    """The model does not take what a user set for it."""
    BAD_REQUEST = "bad_request"
    BATCH_FAILED = "batch_failed"
    """The batch that the call was in brought no answer for it, and charges nothing; the same call may go singly."""
    NOT_INSTALLED = "not_installed"
    """The library or weights this provider needs are not there."""

    @property
    def worth_retrying(self) -> bool:
        """Whether the same request may succeed a little later, or with another limit."""
        return self in _PASSING

    @property
    def worth_one_retry(self) -> bool:
        """Whether one retry is worth its cost: a refusal or an endless answer may be chance once, but hardly twice."""
        return self in _ONCE

    @property
    def is_setup(self) -> bool:
        """Whether only the user can fix it."""
        return self in _SETUP


_PASSING = frozenset(
    {
        FaultKind.RATE_LIMITED,
        FaultKind.SERVER_ERROR,
        FaultKind.TIMED_OUT,
        FaultKind.UNREACHABLE,
        FaultKind.CUT_OFF,
        FaultKind.GARBLED,
        FaultKind.CUT_WHILE_REASONING,
        FaultKind.LIMIT_TOO_LARGE,
    }
)
_ONCE = frozenset({FaultKind.REFUSED, FaultKind.ANSWER_TOO_LONG})
_SETUP = frozenset(
    {
        FaultKind.KEY_REJECTED,
        FaultKind.KEY_MISSING,
        FaultKind.NO_SUCH_MODEL,
        FaultKind.QUOTA_EXHAUSTED,
        FaultKind.NOT_INSTALLED,
        FaultKind.SETTING_REFUSED,
    }
)


@dataclass(frozen=True, slots=True)
class Fault:
    """The call brought no answer.

    ``message`` is one sentence that names the cause, fit for people, without keys or stack traces.
    ``retry_after_s`` is the wait the provider asked for, in seconds. ``usage`` is what was counted before
    the failure, if the provider reported it; ``text`` is the part of the answer that had arrived.
    """

    kind: FaultKind
    message: str
    retry_after_s: float | None = None
    usage: Usage | None = None
    served_model: str | None = None
    text: str = ""


OnText: TypeAlias = Callable[[str], None]


class ModelClient(Protocol):
    """Carries calls to one model. One client serves all seats that share model, address and key."""

    @property
    def modes(self) -> tuple[OutputMode, ...]:
        """The structured-output modes worth trying with this model, best first; never empty."""

    async def call(self, call: Call, on_text: OnText | None = None) -> Reply | Fault:
        """Make one request, once: no retries inside. ``on_text`` gets raw output as it is written.

        Cancellation is raised. Every other failure is returned as a ``Fault``.
        """

    async def probe(self) -> Fault | None:
        """Ask, without spending a token where the provider allows it, whether calls can work."""

    async def aclose(self) -> None:
        """Release connections and processes. Safe to repeat."""


BYTES_PER_TOKEN: Final = 512
STREAMED_BYTES_PER_TOKEN: Final = 2_048
LINES_PER_TOKEN: Final = 16
OVERHEAD: Final = 1 << 20
OVERHEAD_LINES: Final = 2_000
LARGEST_BODY: Final = 64 << 20
LARGEST_STREAM: Final = 512 << 20
LARGEST_ERROR: Final = 1 << 20
"""Bytes of a response with an error status that are read. What follows is left out: the status says what went wrong."""

LONGEST_BEGINNING: Final = 500
"""Characters that are kept of an answer which was stopped."""


@dataclass(frozen=True, slots=True)
class AnswerBound:
    """The most that a model may send for one call.

    Attributes:
        tokens: the limit of the call; 0 where nothing was asked of a model.
        size: bytes of the body, the repeated request not counted.
        event: bytes of one event of a stream, and of a body that is none.
        lines: lines of a stream.
    """

    tokens: int
    size: int
    event: int
    lines: int

    @classmethod
    def of(cls, max_tokens: int, *, streamed: bool) -> AnswerBound:
        """The bound of a call that may have ``max_tokens`` tokens of output."""
        whole = min(OVERHEAD + BYTES_PER_TOKEN * max_tokens, LARGEST_BODY)
        lines = OVERHEAD_LINES + LINES_PER_TOKEN * max_tokens
        if not streamed:
            return cls(max_tokens, whole, whole, lines)
        size = min(OVERHEAD + STREAMED_BYTES_PER_TOKEN * max_tokens, LARGEST_STREAM)
        return cls(max_tokens, size, min(size, whole), lines)

    @property
    def purpose(self) -> str:
        """The purpose of the bound, in words."""
        return f"{self.tokens:,} tokens" if self.tokens else "what is no answer"


UNASKED: Final = AnswerBound(0, 16 << 20, 16 << 20, 1_000_000)
"""For what is read outside a call of a model, such as a list of models."""
