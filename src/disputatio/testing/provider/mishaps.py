"""What may go wrong with the answers and the batches of a fake provider."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Final, TypeAlias

from disputatio.testing.instances.phrases import mix, seed_from
from disputatio.testing.provider.received import ReceivedRequest, share


class MishapFamily(StrEnum):
    """Where a mishap shows."""

    STATUS = "status"
    """An error status with a body of the kind providers send."""
    TRANSPORT = "transport"
    """The connection: nothing comes, or not all of it, or too slowly."""
    ENVELOPE = "envelope"
    """Status 200, but the response is not a completion, or one without an answer."""
    CONTENT = "content"
    """A proper completion whose answer is not what was asked for."""


class Mishap(StrEnum):
    """One thing that goes wrong with one request."""

    HTTP_400 = "http_400"
    HTTP_401 = "http_401"
    """The key is not accepted."""
    HTTP_402 = "http_402"
    """The account has no credit; some providers say so with this status."""
    HTTP_403 = "http_403"
    HTTP_404 = "http_404"
    """The model does not exist."""
    HTTP_408 = "http_408"
    HTTP_429 = "http_429"
    """Too many requests, with a ``Retry-After`` header."""
    HTTP_429_WITHOUT_WAIT = "http_429_without_wait"
    HTTP_500 = "http_500"
    HTTP_502 = "http_502"
    """The page in HTML that a proxy sends when the server behind it does not answer."""
    HTTP_503 = "http_503"
    HTTP_529 = "http_529"
    """Overloaded, the way one provider words it."""
    QUOTA_EXHAUSTED = "quota_exhausted"
    """Status 429 with the code ``insufficient_quota``: waiting does not help."""
    CONTEXT_TOO_LONG = "context_too_long"
    SCHEMA_REJECTED = "schema_rejected"
    MODE_UNSUPPORTED = "mode_unsupported"
    """Status 400: this server takes no ``response_format`` and no tools."""

    HANG = "hang"
    """No answer until one side closes the connection."""
    STALLED_STREAM = "stalled_stream"
    """Half of the answer, then nothing until one side closes the connection."""
    SLOW_DRIP = "slow_drip"
    """The answer in many small pieces with a wait before each."""
    CONNECTION_RESET = "connection_reset"
    CONNECTION_CLOSED = "connection_closed"
    """Closed in good order without a byte of an answer, as a kept-alive connection that went stale."""
    TRUNCATED_BODY = "truncated_body"
    """Fewer bytes than announced, then closed; a stream ends within an event."""
    CUT_STREAM = "cut_stream"
    """Closed after some events of a stream; without a stream the same as a truncated body."""

    GARBAGE_BODY = "garbage_body"
    EMPTY_BODY = "empty_body"
    HTML_PAGE = "html_page"
    """Status 200 and a log-in page."""
    WRONG_CONTENT_TYPE = "wrong_content_type"
    """The right body, said to be HTML."""
    ERROR_BODY_200 = "error_body_200"
    ERROR_IN_STREAM = "error_in_stream"
    """An error event after the first half of a stream; without a stream the same as an error body."""
    EMPTY_CHOICES = "empty_choices"
    NULL_CONTENT = "null_content"
    EMPTY_CONTENT = "empty_content"
    BLANK_CONTENT = "blank_content"
    REFUSAL = "refusal"
    """The model declines, in the field that is there for it."""
    CONTENT_FILTER = "content_filter"
    """The provider's filter stopped the answer after its first words."""
    NON_UTF8 = "non_utf8"
    """Bytes inside the answer that are no UTF-8."""

    CUT_AT_LENGTH = "cut_at_length"
    """Half of the answer, and the finish reason ``length``."""
    HALF_JSON = "half_json"
    """Half of the answer, and the finish reason ``stop``."""
    MISSING_KEY = "missing_key"
    EXTRA_KEY = "extra_key"
    WRONG_ENUM = "wrong_enum"
    """A value that is not on the list; of the wrong type where the schema has no list."""
    WRONG_TYPE = "wrong_type"
    FENCED_JSON = "fenced_json"
    TRAILING_COMMA = "trailing_comma"
    SINGLE_QUOTES = "single_quotes"
    PROSE_AROUND_JSON = "prose_around_json"
    PROSE_INSTEAD = "prose_instead"
    MALFORMED_JSON = "malformed_json"
    """Any of the ways of ``malform``, drawn by the request."""
    DUPLICATED_ANSWER = "duplicated_answer"
    VERY_LONG_ANSWER = "very_long_answer"
    """Three hundred thousand characters in one string."""
    DEPTH_BOMB = "depth_bomb"
    """JSON nested so deep that a careless reader runs out of stack."""
    ESCAPE_SEQUENCES = "escape_sequences"
    """Terminal control sequences and HTML inside the strings of a valid answer."""

    @property
    def family(self) -> MishapFamily:
        """Where it shows."""
        return _FAMILIES[self]


def _families() -> dict[Mishap, MishapFamily]:
    """The members are written down family by family; these are the first of each."""
    firsts = {
        Mishap.HTTP_400: MishapFamily.STATUS,
        Mishap.HANG: MishapFamily.TRANSPORT,
        Mishap.GARBAGE_BODY: MishapFamily.ENVELOPE,
        Mishap.CUT_AT_LENGTH: MishapFamily.CONTENT,
    }
    found: dict[Mishap, MishapFamily] = {}
    family = MishapFamily.STATUS
    for mishap in Mishap:
        family = firsts.get(mishap, family)
        found[mishap] = family
    return found


_FAMILIES: Final = _families()

Script: TypeAlias = Callable[[ReceivedRequest], "Mishap | None"]


class Mishaps:
    """Rules for which request meets which mishap; the first rule that fits decides.

    A value: each method gives new rules and leaves the old ones alone, and asking twice about one request
    gives the same answer. Example: ``Mishaps().at(0, Mishap.HTTP_429).at_random(0.1, Mishap.HTTP_500)``.
    """

    def __init__(self, rules: tuple[Script, ...] = ()) -> None:
        self._rules = rules

    def __call__(self, request: ReceivedRequest) -> Mishap | None:
        """What happens to ``request``."""
        for rule in self._rules:
            if (mishap := rule(request)) is not None:
                return mishap
        return None

    def at(self, indexes: int | Iterable[int], mishap: Mishap) -> Mishaps:
        """To the requests with these places in the order of arrival, from 0."""
        chosen = frozenset((indexes,) if isinstance(indexes, int) else indexes)
        return self.when(lambda request: request.index in chosen, mishap)

    def when(self, fits: Callable[[ReceivedRequest], bool], mishap: Mishap) -> Mishaps:
        """To every request that ``fits``."""
        return Mishaps((*self._rules, lambda request: mishap if fits(request) else None))

    def first_attempts(self, count: int, mishap: Mishap) -> Mishaps:
        """To the first ``count`` attempts at each distinct request: what is retried more often succeeds."""
        return self.when(lambda request: request.attempt < count, mishap)

    def always(self, mishap: Mishap) -> Mishaps:
        """To every request."""
        return self.when(lambda _: True, mishap)

    def at_random(self, probability: float, *mishaps: Mishap, seed: int = 0) -> Mishaps:
        """To a share of the attempts, with one of ``mishaps`` each.

        Which ones depends on ``seed``, the request and how often it was made before, not on the order of
        arrival.

        Args:
            probability: 0 (never) to 1 (always).
            mishaps: at least one.
            seed: another seed chooses other attempts.
        """

        def rule(request: ReceivedRequest) -> Mishap | None:
            if share(request, seed) >= probability:
                return None
            pick = mix(seed_from(f"{seed}/{request.fingerprint}/{request.attempt}"))
            return mishaps[pick % len(mishaps)]

        return Mishaps((*self._rules, rule))


class ItemMishap(StrEnum):
    """What may happen to an item of a batch."""

    EXPIRED = "expired"
    """The day was over before it was processed; it is not charged."""
    CANCELED = "canceled"
    ERRORED = "errored"
    """The server failed on it; it is not charged."""
    MALFORMED = "malformed"
    """It is charged, and its entry in the results is not a response."""
    MISSING = "missing"
    """It is charged, and the results do not mention it."""


class CreationMishap(StrEnum):
    """What may happen to the request that creates a batch."""

    LOST_AFTER = "lost_after"
    """The batch is created, and the connection is dropped before the answer."""
    ERROR_AFTER = "error_after"
    """The batch is created, and the answer is a status 500."""
    ERROR_BEFORE = "error_before"
    """Nothing is created, and the answer is a status 500."""
    REFUSED = "refused"
    """Nothing is created, and the answer is a status 400."""
    FAILED = "failed"
    """The batch is created, and fails as a whole when it is processed."""


ItemScript = Callable[[int, int], "ItemMishap | None"]
"""What happens to an item, by the number of its batch and its place there, both from 0."""
