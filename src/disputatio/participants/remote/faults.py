"""Translates exceptions of the libraries into a ``Fault`` with one sentence that names the place and the cause.

For a lost connection there are two kinds:

- UNREACHABLE: no connection was made. Nothing was sent, so nothing was spent.
- CUT_OFF: the connection ended before the answer was complete. The provider may charge for the call.

The libraries nest their exceptions, so the cause is searched along the chain, innermost last. Classes of libraries that
may not be installed are recognised by name.
"""

from __future__ import annotations

import errno
import math
import re
import socket
import ssl
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Final

import aiohttp

from disputatio._intake import OverlongError
from disputatio.participants.call import LONGEST_BEGINNING, Fault, FaultKind, OutputMode, Usage
from disputatio.participants.remote.endpoint import Endpoint
from disputatio.participants.remote.error_details import codes_in, message_in, one_line, requested_wait
from disputatio.participants.remote.rejection import Rejection, not_served_from_here
from disputatio.participants.remote.response import usage_of
from disputatio.participants.remote.transport import CONNECT_TIMEOUT_S

if TYPE_CHECKING:
    from pydantic_ai.exceptions import ModelAPIError
    from pydantic_ai.usage import RequestUsage

_SUMMARIES: Final = {
    FaultKind.RATE_LIMITED: "asks for fewer requests",
    FaultKind.SERVER_ERROR: "failed",
    FaultKind.TIMED_OUT: "took too long",
    FaultKind.CUT_OFF: "broke off its answer",
    FaultKind.GARBLED: "sent something that is not an answer",
    FaultKind.REFUSED: "declined to answer",
    FaultKind.KEY_REJECTED: "does not accept the key",
    FaultKind.NO_SUCH_MODEL: "does not have this model, or the address is wrong",
    FaultKind.QUOTA_EXHAUSTED: "says that the account's quota or balance is used up",
    FaultKind.CONTEXT_TOO_LONG: "cannot take a prompt of this length",
    FaultKind.SETTING_REFUSED: "does not take the reasoning_effort that was set",
    FaultKind.BAD_REQUEST: "rejects the request",
}
_ABOUT_REASONING = re.compile(r"reasoning|thinking", re.IGNORECASE)
_LOST_NAMES: Final = {"ReadError", "WriteError", "CloseError", "RemoteProtocolError", "IncompleteRead", "ProtocolError"}
_TIMEOUT_NAMES: Final = {"ReadTimeout", "WriteTimeout", "ReadTimeoutError"}
_UNCONNECTED_NAMES: Final = {"ConnectError", "EndpointConnectionError", "ProxyError", "ProxyConnectionError"}
_CONNECT_TIMEOUT_NAMES: Final = {"ConnectTimeout", "ConnectTimeoutError", "PoolTimeout"}


class NoAnswerError(Exception):
    """A response with status 200 that holds no answer.

    Args:
        why: what is wrong with it, completing "sent something that is not an answer: ...".
        body: the error object it holds instead, or None.
        usage: what was counted for it nevertheless.
        served: the model that the server named.
    """

    def __init__(
        self, why: str, body: object = None, *, usage: RequestUsage | None = None, served: str | None = None
    ) -> None:
        super().__init__(why)
        self.why = why
        self.body = body
        self.usage = usage
        self.served = served


def fault_from(error: BaseException, endpoint: Endpoint, mode: OutputMode | None, text: str = "") -> Fault:
    """Translate ``error``, raised while calling ``endpoint`` for structure by ``mode``.

    Args:
        error: anything but cancellation.
        endpoint: the place called.
        mode: the output mode of the call, or None where no structure was asked for.
        text: what had arrived of the answer.
    """
    from pydantic_ai.exceptions import ContentFilterError, ModelAPIError, ModelConnectionError, UserError

    if overlong := next((link for link in _chain(error) if isinstance(link, OverlongError)), None):
        return _overlong(overlong, endpoint, text)
    match error:
        case NoAnswerError():
            return _no_answer(error, endpoint, mode, text)
        case ContentFilterError():
            return _fault(FaultKind.REFUSED, endpoint, message_in(error.body) or error.message, text=text)
        case UserError():
            kind = Rejection(400, words=error.message).kind(mode)
            return _fault(kind, endpoint, error.message, mode=mode, text=text)
        case ModelAPIError() if not isinstance(error, ModelConnectionError) and _is_rejection(error):
            return _rejected(error, endpoint, mode, text)
    return _amazon(error, endpoint) or _lost(error, endpoint, text) or _unreadable(error, endpoint, text)


def connection_fault(error: Exception, endpoint: Endpoint) -> Fault:
    """Translate ``error``, raised while the line to ``endpoint`` was built and before anything was sent."""
    if isinstance(error, ImportError):
        cure = endpoint.install or f"pip install 'disputatio[{endpoint.kind}]'"
        message = f"{endpoint.place} needs a library that is not installed: {cure}."
        return Fault(FaultKind.NOT_INSTALLED, message)
    return _amazon(error, endpoint) or _lost(error, endpoint, "") or _fault(FaultKind.BAD_REQUEST, endpoint, str(error))


def timed_out(endpoint: Endpoint, text: str = "") -> Fault:
    """No finished answer within the endpoint's time limit."""
    message = f"{endpoint.place} gave no finished answer within {endpoint.timeout_s:g} s."
    return Fault(FaultKind.TIMED_OUT, message, text=text)


def key_missing(endpoint: Endpoint) -> Fault:
    """The endpoint needs a key and none was given."""
    variables = " or ".join(endpoint.key_variables)
    cure = f"set {variables}" if variables else "give one"
    return Fault(FaultKind.KEY_MISSING, f"{endpoint.place} needs a key and none was found: {cure}.")


def key_malformed(endpoint: Endpoint) -> Fault:
    """The key is malformed. It never reaches the HTTP libraries, which would quote it in their errors."""
    cause = "the key holds a space, a line break or a character outside ASCII, so it was not sent"
    return Fault(FaultKind.KEY_REJECTED, f"{endpoint.place} cannot be called: {cause}.")


def garbled(endpoint: Endpoint, why: str, usage: Usage | None = None, served_model: str | None = None) -> Fault:
    """A response that the protocol does not allow."""
    summary = _SUMMARIES[FaultKind.GARBLED]
    return Fault(FaultKind.GARBLED, f"{endpoint.place} {summary}: {why}.", usage=usage, served_model=served_model)


def refused(endpoint: Endpoint, words: str, usage: Usage, served_model: str | None, text: str) -> Fault:
    """The model or a filter declined to answer, with ``words`` of its own."""
    words = one_line(words, endpoint.api_key) or "no reason was given"
    message = _sentence(endpoint, _SUMMARIES[FaultKind.REFUSED], words)
    return Fault(FaultKind.REFUSED, message, usage=usage, served_model=served_model, text=text)


def cut_off(endpoint: Endpoint, usage: Usage, served_model: str | None, text: str) -> Fault:
    """A stream that ended without saying that it was finished."""
    message = f"{endpoint.place} ended its answer without finishing it."
    return Fault(FaultKind.CUT_OFF, message, usage=usage, served_model=served_model, text=text)


def parameter_refused(endpoint: Endpoint, error: BaseException, names: Collection[str]) -> Fault:
    """The server does not take the parameters ``names``, and the next call is made as it wants."""
    status, words = getattr(error, "status_code", None), message_in(getattr(error, "body", None))
    summary = f"does not take {' and '.join(sorted(names))}" + ("" if status is None else f" (status {status})")
    message = _sentence(endpoint, summary, one_line(words, endpoint.api_key))
    return Fault(FaultKind.PARAMETER_REFUSED, message)


def mode_refused(endpoint: Endpoint, mode: OutputMode) -> Fault:
    """The model refused this mode of structured output before, so nothing was sent."""
    return _fault(FaultKind.SCHEMA_UNSUPPORTED, endpoint, "it said so before", mode=mode)


def status_fault(endpoint: Endpoint, status: int, body: object, retry_after_s: float | None = None) -> Fault:
    """The fault for a response with an error status, outside a call."""
    rejection = Rejection(status, codes_in(body), message_in(body), zhipu=_is_zhipu(endpoint))
    return _fault(rejection.kind(None), endpoint, rejection.words, status=status, retry_after_s=retry_after_s)


def _rejected(error: ModelAPIError, endpoint: Endpoint, mode: OutputMode | None, text: str) -> Fault:
    from pydantic_ai.exceptions import ModelAuthenticationError, ModelQuotaExceededError

    status = getattr(error, "status_code", None)
    words = message_in(error.body) or ("" if status is not None else error.message)
    told = {w.lower() for w in (error.provider_error_code, error.provider_error_type) if w}
    rejection = Rejection(
        status,
        codes_in(error.body) | told,
        words,
        quota=isinstance(error, ModelQuotaExceededError),
        zhipu=_is_zhipu(endpoint),
    )
    kind = rejection.kind(mode)
    if isinstance(error, ModelAuthenticationError) and kind is FaultKind.BAD_REQUEST:
        # Gemini sends a bad key as a 400; the library knows its reason codes.
        kind = FaultKind.KEY_REJECTED
    if kind is FaultKind.BAD_REQUEST and status is None:
        kind = FaultKind.GARBLED
    if kind is FaultKind.BAD_REQUEST and endpoint.reasoning_effort is not None and _ABOUT_REASONING.search(words):
        kind = FaultKind.SETTING_REFUSED
    wait = requested_wait(getattr(error, "headers", None), words)
    wait = error.retry_after if wait is None else wait
    return _fault(kind, endpoint, words, mode=mode, status=status, retry_after_s=wait, text=text)


def _overlong(error: OverlongError, endpoint: Endpoint, text: str) -> Fault:
    """The fault for an answer that was stopped at its bound, with the beginning of its text."""
    head = one_line(text or error.head.decode(errors="replace"), endpoint.api_key, LONGEST_BEGINNING)
    return Fault(FaultKind.ANSWER_TOO_LONG, f"{endpoint.place} {error.sentence}.", text=head)


def _is_rejection(error: ModelAPIError) -> bool:
    """Whether the provider refused, as opposed to an unreadable response."""
    return getattr(error, "status_code", None) is not None or error.body is not None


def _no_answer(error: NoAnswerError, endpoint: Endpoint, mode: OutputMode | None, text: str) -> Fault:
    if error.body is None:
        usage = usage_of(error.usage) if error.usage else None
        return garbled(endpoint, error.why, usage, error.served)
    codes = codes_in(error.body)
    status = next((int(code) for code in codes if code.isdigit() and 400 <= int(code) < 600), None)
    rejection = Rejection(status, codes, message_in(error.body), zhipu=_is_zhipu(endpoint))
    kind = rejection.kind(mode)
    if kind in (FaultKind.SERVER_ERROR, FaultKind.BAD_REQUEST):
        # The status was 200: other kinds are only for causes that waiting or repeating cannot cure.
        kind = FaultKind.GARBLED
    why = f"an error with status 200: {rejection.words}" if rejection.words else "an error with status 200"
    return _fault(kind, endpoint, why, mode=mode, text=text)


def _lost(error: BaseException, endpoint: Endpoint, text: str) -> Fault | None:
    """The fault if a connection was lost or never made, else None."""
    chain = list(_chain(error))
    if redirect := next((words for link in chain if (words := _redirect(link))), None):
        return Fault(FaultKind.BAD_REQUEST, _sentence(endpoint, "is somewhere else", redirect))
    names = {cls.__name__ for link in chain for cls in type(link).__mro__}
    if cause := next((words for link in chain if (words := _unconnected(link))), None):
        return Fault(FaultKind.UNREACHABLE, _sentence(endpoint, "cannot be reached", cause))
    if names & _CONNECT_TIMEOUT_NAMES:
        cause = f"no connection within {CONNECT_TIMEOUT_S:g} s"
        return Fault(FaultKind.UNREACHABLE, _sentence(endpoint, "cannot be reached", cause))
    if names & _UNCONNECTED_NAMES:
        cause = one_line(str(chain[-1]), endpoint.api_key) or "no connection could be made"
        return Fault(FaultKind.UNREACHABLE, _sentence(endpoint, "cannot be reached", cause))
    if names & _TIMEOUT_NAMES:
        return timed_out(endpoint, text)
    if any(isinstance(link, aiohttp.ClientResponseError) for link in chain):
        return garbled(endpoint, "it is not HTTP")
    if names & _LOST_NAMES:
        begun = text or any(isinstance(link, aiohttp.ClientPayloadError) for link in chain)
        when = "before its answer was complete" if begun else "before it answered"
        return Fault(FaultKind.CUT_OFF, f"{endpoint.place} closed the connection {when}.", text=text)
    return None


def _amazon(error: BaseException, endpoint: Endpoint) -> Fault | None:
    """The fault if Amazon's library lacks credentials or a region, which it looks up at the first call."""
    match type(error).__name__:
        case "NoRegionError":
            return Fault(FaultKind.KEY_MISSING, f"{endpoint.place} needs a region: set AWS_DEFAULT_REGION.")
        case "NoCredentialsError" | "PartialCredentialsError" | "TokenRetrievalError" | "SSOTokenLoadError":
            return key_missing(endpoint)
        case "InvalidEndpointConfigurationError":
            return _fault(FaultKind.BAD_REQUEST, endpoint, str(error))
        case _:
            return None


def _unconnected(link: BaseException) -> str:
    """Why ``link`` prevented a connection, or ""."""
    match link:
        case socket.gaierror() | aiohttp.ClientConnectorDNSError():
            return "the host is unknown, or there is no network"
        case ssl.SSLCertVerificationError() | aiohttp.ClientConnectorCertificateError():
            return f"its certificate is not trusted ({getattr(link, 'verify_message', '') or 'verification failed'})"
        case ssl.SSLError() | aiohttp.ClientConnectorSSLError():
            return "no encrypted connection could be agreed on; is the address http rather than https?"
        case OSError(errno=errno.ECONNREFUSED):
            return "the connection was refused; is the server running?"
        case OSError(errno=errno.EMFILE | errno.ENFILE):
            return "too many files and connections are open in this process"
        case OSError(errno=errno.ENETUNREACH | errno.EHOSTUNREACH | errno.ENETDOWN):
            return "there is no network route to the host"
    if type(link).__name__ in ("UnsupportedProtocol", "InvalidURL"):
        return "the address is not a URL that starts with http:// or https://"
    return ""


def _redirect(link: BaseException) -> str:
    """The redirect in ``link``, or ""."""
    response = getattr(link, "response", None)
    status = getattr(response, "status_code", None)
    if not isinstance(status, int) or not 300 <= status < 400:
        return ""
    target = one_line(str(getattr(response, "headers", {}).get("location", "")))
    return f"it redirects to {target or 'nowhere'} (status {status})"


def _unreadable(error: BaseException, endpoint: Endpoint, text: str) -> Fault:
    """The fault for a response that a library could not read."""
    from pydantic_ai.exceptions import AgentRunError

    if isinstance(error, IndexError) or "empty response choice" in str(error):
        why = "it holds no choices"
    elif not isinstance(error, AgentRunError):
        why = f"it cannot be read ({type(error).__name__}: {error})"
    elif "json" in error.message.lower():
        why = "the body is not JSON"
    elif "without content" in error.message:
        why = "the stream holds nothing"
    else:
        # The first line of a long validation message says what was expected.
        why = error.message.partition("\n")[0]
    return _fault(FaultKind.GARBLED, endpoint, why, text=text)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield ``error`` and its causes, outermost first, including the members of exception groups."""
    todo, seen = [error], set[int]()
    while todo:
        link = todo.pop(0)
        if id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        todo.extend(cause for cause in (link.__cause__, link.__context__) if cause is not None)
        if isinstance(link, BaseExceptionGroup):
            todo.extend(link.exceptions)
        if isinstance(link, aiohttp.ClientConnectorError):
            todo.append(link.os_error)


def _fault(
    kind: FaultKind,
    endpoint: Endpoint,
    words: str,
    *,
    mode: OutputMode | None = None,
    status: int | None = None,
    retry_after_s: float | None = None,
    text: str = "",
) -> Fault:
    if kind is FaultKind.BAD_REQUEST and not_served_from_here(words):
        summary = "does not answer calls from this network or country"
    elif kind is FaultKind.SCHEMA_UNSUPPORTED:
        summary = f"does not take structured output in {mode} mode"
    else:
        summary = _SUMMARIES[kind]
    if status is not None:
        summary = f"{summary} (status {status})"
    if retry_after_s is not None and not (math.isfinite(retry_after_s) and retry_after_s >= 0):
        retry_after_s = None
    if retry_after_s is not None:
        summary = f"{summary} and to wait {retry_after_s:g} s" if kind is FaultKind.RATE_LIMITED else summary
    message = _sentence(endpoint, summary, one_line(words, endpoint.api_key))
    return Fault(kind, message, retry_after_s=retry_after_s, text=text)


def _sentence(endpoint: Endpoint, summary: str, words: str) -> str:
    ending = words.rstrip(" .")
    if not ending:
        return f"{endpoint.place} {summary}."
    return f"{endpoint.place} {summary}: {ending}{'' if ending.endswith('?') else '.'}"


def _is_zhipu(endpoint: Endpoint) -> bool:
    return any(host in endpoint.root for host in ("bigmodel.cn", "api.z.ai"))
