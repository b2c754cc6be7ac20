"""Learns from refusals which parameters a server accepts, and remembers it for the process.

Servers of one protocol differ in their parameters. If a refusal names a parameter, the call is repeated without it, or
with the other name of the limit:

1. A refusal has status 400, 422 or 501, or such a code in a body with status 200.
2. It names a sent parameter: as ``param`` (OpenAI, Azure), in ``loc`` (vLLM, Mistral, FastAPI), or in its message, near
   a word for "not supported" (LiteLLM, Groq, Gemini, Bedrock).
3. Only ``OPTIONAL`` parameters are dropped. A limit is never dropped, because the reservation of the call depends on
   it; its other name is tried. A value out of range is not an unsupported parameter.
4. An effort that a user chose is never dropped, except ``none``, which such a server does anyway.
5. A mode of structured output is remembered too, if the parameter itself is refused and not this schema.

Each is learned once for a model at its address with its effort, so a server that refuses everything is not called for
long.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, TypeAlias

from disputatio.participants.call import OutputMode
from disputatio.participants.remote.endpoint import Endpoint
from disputatio.participants.remote.error_details import codes_in, message_in

LIMITS: Final = ("max_tokens", "max_completion_tokens")
"""The names of the limit in the Chat Completions protocol. If a server refuses one, the other is sent."""
OPTIONAL: Final = frozenset(
    {
        *("temperature", "seed", "stream", "stream_options", "parallel_tool_calls", "prompt_cache_key"),
        "prompt_cache_options",
    }
)
"""Parameters that are dropped if refused. Without ``stream`` the answer comes as a whole."""
_STRUCTURE: Final[Mapping[OutputMode, frozenset[str]]] = {
    OutputMode.NATIVE: frozenset({"response_format"}),
    OutputMode.TOOL: frozenset({"tools", "tool_choice"}),
}

_STATUSES: Final = frozenset({400, 422, 501})
_CODES: Final = frozenset(
    {"unsupported_parameter", "unsupported_value", "unknown_parameter", "extra_forbidden", "unsupported_params"}
)
_UNSUPPORTED: Final = (
    r"(?:unsupported|unrecogni[sz]ed|unknown|unexpected|extraneous|deprecated|no longer"
    r"|invalid (?:parameter|argument|field)"
    r"|(?:not|n['o’]t)\s+(?:\w+\s+){0,2}?(?:support|permit|allow|recogni[sz]|accept|implement|available|valid\b|known\b|take)"
    r"|extra (?:inputs?|fields?)|cannot find field|must be verified|only the default)"
)
_RANGE: Final = re.compile(
    r"too (?:large|high|small|low)|at most|at least|less than|greater than|maximum|minimum|between|expected a value",
    re.IGNORECASE,
)
_ONE_SCHEMA: Final = re.compile(r"(?<!json[_ -])\bschema\b", re.IGNORECASE)
_IS_VALUE: Final = re.compile(r"\bvalues?\b", re.IGNORECASE)
_READ: Final = 2_000
"""Searched characters of a refusal's message: some servers append the whole request."""
_DEEPEST: Final = 6
_MOST_KEPT: Final = 256

_Place: TypeAlias = tuple[str, str, str, str]
_REFUSED: Final[dict[_Place, frozenset[str]]] = {}


def refused_by(endpoint: Endpoint) -> frozenset[str]:
    """The refused parameters of the model at ``endpoint``."""
    return _REFUSED.get(_place(endpoint), frozenset())


def forget() -> None:
    """Forget everything, as in a new process."""
    _REFUSED.clear()


def adapt(body: dict[str, Any], refused: Collection[str]) -> None:
    """Remove refused parameters from ``body``, a Chat Completions request, and rename a refused limit."""
    for name in refused:
        if name in LIMITS:
            continue
        body.pop(name, None)
    for name, other in (LIMITS, LIMITS[::-1]):
        if name in body and name in refused and other not in refused:
            body[other] = body.pop(name)
            return


def mode_name(mode: OutputMode) -> str:
    """The name under which a refused mode is remembered."""
    return f"mode:{mode.value}"


def learn(
    endpoint: Endpoint, error: BaseException, mode: OutputMode | None, sent: Collection[str], refused: frozenset[str]
) -> frozenset[str]:
    """Learn from ``error`` what the model at ``endpoint`` refuses.

    Args:
        endpoint: the endpoint of the call.
        error: what the library raised.
        mode: the output mode of the call.
        sent: the parameters that were sent.
        refused: the parameters that were already dropped.

    Returns:
        The parameters to drop or rename in the next call; empty if another call does not help.
    """
    status, body = getattr(error, "status_code", None), getattr(error, "body", None)
    if status is None:
        status = next((int(code) for code in codes_in(body) if code in {"400", "422", "501"}), None)
    if status not in _STATUSES:
        return frozenset()
    named = _named(_parsed(body), sent)
    place = _place(endpoint)
    if mode is not None and named & _STRUCTURE.get(mode, frozenset()):
        if not _ONE_SCHEMA.search(message_in(body)):
            _keep(place, frozenset({mode_name(mode)}))
        return frozenset()
    curable = {name for name in named if name in OPTIONAL}
    curable |= {name for name, other in (LIMITS, LIMITS[::-1]) if name in named and other not in refused}
    if endpoint.reasoning_effort == "none" and not _IS_VALUE.search(message_in(body)):
        curable |= named & {"reasoning_effort"}
    if "stream_options" in curable:
        # Without stream_options a stream has no token counts, and its cost would be unknown.
        curable.add("stream")
    new = frozenset(curable) - refused
    _keep(place, new)
    return new


def _keep(place: _Place, names: frozenset[str]) -> None:
    if names:
        _REFUSED[place] = _REFUSED.get(place, frozenset()) | names
        while len(_REFUSED) > _MOST_KEPT:
            _REFUSED.pop(next(iter(_REFUSED)), None)


def _place(endpoint: Endpoint) -> _Place:
    return endpoint.provider, endpoint.root, endpoint.model, str(endpoint.reasoning_effort)


def _named(body: object, sent: Collection[str]) -> frozenset[str]:
    """The sent parameters that an error body calls unsupported."""
    words = message_in(body)[:_READ]
    codes = codes_in(body)
    told = bool(codes & _CODES) or re.search(_UNSUPPORTED, words, re.IGNORECASE) is not None
    fields = frozenset(_fields(body, told=told and not _RANGE.search(words), depth=_DEEPEST)) & frozenset(sent)
    if fields:
        return fields
    return frozenset(name for name in sent if name not in ("model", "messages") and _is_named_in(words, name))


def _is_named_in(words: str, name: str) -> bool:
    spelled = r"(?<![\w-])(?:stream(?:ing)?)(?!\w)" if name == "stream" else rf"(?<![\w-]){re.escape(name)}(?!\w)"
    near = rf"{spelled}.{{0,100}}?{_UNSUPPORTED}|{_UNSUPPORTED}.{{0,100}}?{spelled}"
    found = re.search(near, words, re.IGNORECASE | re.DOTALL)
    return found is not None and not (name in LIMITS and _RANGE.search(words))


def _fields(body: object, *, told: bool, depth: int) -> Iterator[str]:
    """Yield the fields that an error body blames: each ``param``, and each ``loc`` of a forbidden input."""
    if depth == 0:
        return
    if isinstance(body, Mapping):
        if told and isinstance(param := body.get("param"), str):
            yield param
        if body.get("type") == "extra_forbidden" and isinstance(place := body.get("loc"), list | tuple):
            yield from (step for step in place if isinstance(step, str))
        for value in body.values():
            yield from _fields(value, told=told, depth=depth - 1)
    elif isinstance(body, list | tuple):
        for value in body:
            yield from _fields(value, told=told, depth=depth - 1)


def _parsed(body: object) -> object:
    if not isinstance(body, str | bytes):
        return body
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body
