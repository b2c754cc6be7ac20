"""What a fake provider answers: a completion that does as it was asked, or the refusal of a request.

Nothing here knows of sockets. The same request gets the same answer, decided by its model, messages and
seed, so a debate that was interrupted and resumed hears what it would have heard.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

import orjson

from disputatio.errors import InvalidInputError
from disputatio.kernel import JsonObject
from disputatio.participants.call import OutputMode
from disputatio.prompts.definitions import without_definitions
from disputatio.testing.instances import instance, lengthen, mix, prose, seed_from
from disputatio.testing.provider.behaviour import Behaviour, Reasoning
from disputatio.testing.provider.received import Body, ReceivedRequest
from disputatio.testing.provider.token_counts import BYTES_PER_TOKEN, PrefixIndex, prompt_text, tokens_in

_CACHED_SCHEMAS: Final = 256
_KEPT_ANSWERS: Final = 256


@dataclass(frozen=True, slots=True)
class Answer:
    """A completion.

    Attributes:
        text: the content, or the arguments of the tool call.
        model: the model that served it.
        schema: what ``text`` is an instance of, or None for prose.
        tool: the tool that is called, or None.
        finish: the finish reason.
        refusal: the content of the refusal field.
        prompt_tokens: by the rule of ``counting``.
        cached_tokens: None where they are not reported.
        seed: seeds every random choice about the request.
        reasoning_tokens: what it took to reason; None where the provider does not.
        thought: the reasoning text, where it is shown.
    """

    text: str
    model: str
    schema: JsonObject | None = None
    tool: str | None = None
    finish: str = "stop"
    refusal: str | None = None
    prompt_tokens: int = 0
    cached_tokens: int | None = None
    seed: int = 0
    reasoning_tokens: int | None = None
    thought: str = ""

    @property
    def completion_tokens(self) -> int:
        """By the rule of ``counting``, with what was reasoned."""
        return tokens_in(self.text) + tokens_in(self.refusal or "") + (self.reasoning_tokens or 0)

    def cut(self, characters: int, finish: str) -> Answer:
        """Only the beginning of the answer."""
        return replace(self, text=self.text[:characters], finish=finish)


@dataclass(frozen=True, slots=True)
class Rejection:
    """A request that is not served: an HTTP status, and the error as OpenAI's API words it."""

    status: int
    message: str
    kind: str = "invalid_request_error"
    code: str | None = None
    param: str | None = None

    @property
    def body(self) -> JsonObject:
        """The body of the response."""
        error = {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}
        return {"error": error}


def key_rejection(behaviour: Behaviour, authorization: str) -> Rejection | None:
    """Whether the key is missing or wrong. The key itself is never repeated."""
    if behaviour.api_key is None or authorization == f"Bearer {behaviour.api_key}":
        return None
    if not authorization:
        return Rejection(401, "You didn't provide an API key.", code="invalid_api_key")
    return Rejection(401, "Incorrect API key provided.", code="invalid_api_key")


def no_such_model(name: str) -> Rejection:
    """The rejection of a model that does not exist."""
    message = f"The model `{name}` does not exist or you do not have access to it."
    return Rejection(404, message, code="model_not_found")


def context_too_long(limit: int, prompt: int, answer: int) -> Rejection:
    """The rejection of more tokens than the context holds."""
    message = (
        f"This model's maximum context length is {limit} tokens. However, you requested {prompt + answer} "
        f"tokens ({prompt} in the messages, {answer} in the completion). Please reduce the length of the "
        "messages or completion."
    )
    return Rejection(400, message, code="context_length_exceeded", param="messages")


def answer_to(request: ReceivedRequest, behaviour: Behaviour, prefixes: PrefixIndex) -> Answer | Rejection:
    """The answer to one request, before anything goes wrong with it."""
    rejection = _rejection(request, behaviour)
    if rejection is not None:
        return rejection
    model = behaviour.served_model(request.model)
    prompt, prompt_tokens = _counted(_Prompted(request.fingerprint, request))
    allowed = request.max_tokens or 0
    if behaviour.max_context is not None and prompt_tokens + allowed > behaviour.max_context:
        return context_too_long(behaviour.max_context, prompt_tokens, allowed)
    cached = prefixes.cached_tokens(model, prompt)
    try:
        if behaviour.answer is None:
            known = _Asked(request.fingerprint, frozenset(behaviour.honours), behaviour.realistic_lengths, request)
            answer = _made_up(known)
        else:
            answer = _written(request, behaviour)
    except InvalidInputError as error:
        return _bad_schema(request, error.cause)
    answer = replace(
        answer,
        model=model,
        prompt_tokens=prompt_tokens,
        cached_tokens=cached if behaviour.prefix_cache else None,
    )
    limit = allowed if behaviour.obeys_max_tokens else 0
    if behaviour.reasoning is not None:
        answer = _reasoned(answer, behaviour.reasoning, request, limit)
    return _at_limit(answer, limit) if limit and answer.completion_tokens > limit else answer


def _reasoned(answer: Answer, reasoning: Reasoning, request: ReceivedRequest, limit: int) -> Answer:
    """``answer`` after what it took to come to it; ``limit`` is 0 where there is none."""
    needed = reasoning.tokens(request)
    tokens = min(needed, limit) if limit else needed
    return replace(answer, reasoning_tokens=tokens, thought=reasoning.written(tokens, request))


def _at_limit(answer: Answer, tokens: int) -> Answer:
    room = tokens - (answer.reasoning_tokens or 0)
    data = answer.text.encode("utf-8", "surrogatepass")[: room * BYTES_PER_TOKEN]
    # Who is cut while reasoning has not come to a tool call.
    return replace(answer, text=data.decode("utf-8", "ignore"), tool=answer.tool if room else None, finish="length")


def _rejection(request: ReceivedRequest, behaviour: Behaviour) -> Rejection | None:
    body = request.body
    if not request.model:
        return Rejection(400, "you must provide a model parameter")
    if not request.messages:
        return Rejection(400, "Missing required parameter: 'messages'.", param="messages")
    if behaviour.models and request.model not in {*behaviour.models, *behaviour.aliases}:
        return no_such_model(request.model)
    if (wanted := body.get("response_format")) and (
        not isinstance(wanted, dict) or not _passes(OutputMode.NATIVE, behaviour)
    ):
        kind = request.part("response_format").get("type", wanted)
        return Rejection(400, f"response_format {kind!r} is not supported", param="response_format")
    if body.get("tools") and not _passes(OutputMode.TOOL, behaviour):
        return Rejection(400, "tools are not supported by this model", param="tools")
    return _parameter_rejection(body, behaviour) or _format_rejection(request, behaviour)


_RENAMED: Final = {"max_tokens": "max_completion_tokens"}
_ONLY_ONE: Final = ("temperature", "top_p")


def _parameter_rejection(body: Body, behaviour: Behaviour) -> Rejection | None:
    """The rejection of a parameter, or of its value, in the words of OpenAI's API for its reasoning models."""
    for name in behaviour.refuses:
        value = body.get(name)
        if value is None or value is False or (name in _ONLY_ONE and value == 1):
            continue
        if name in _ONLY_ONE:
            message = (
                f"Unsupported value: '{name}' does not support {value} with this model. "
                "Only the default (1) value is supported."
            )
            return Rejection(400, message, code="unsupported_value", param=name)
        cure = f" Use '{_RENAMED[name]}' instead." if name in _RENAMED else ""
        message = f"Unsupported parameter: '{name}' is not supported with this model.{cure}"
        return Rejection(400, message, code="unsupported_parameter", param=name)
    effort = body.get("reasoning_effort")
    if behaviour.reasoning is None or effort is None or effort in behaviour.reasoning.efforts:
        return None
    *most, last = [f"'{row}'" for row in behaviour.reasoning.efforts]
    message = (
        f"Unsupported value: 'reasoning_effort' does not support '{effort}' with this model. "
        f"Supported values are: {', '.join(most)}, and {last}."
    )
    return Rejection(400, message, code="unsupported_value", param="reasoning_effort")


def _passes(mode: OutputMode, behaviour: Behaviour) -> bool:
    return mode in behaviour.honours or mode in behaviour.ignores


def _format_rejection(request: ReceivedRequest, behaviour: Behaviour) -> Rejection | None:
    if request.part("response_format").get("type") == "json_schema":
        inner = request.part("response_format", "json_schema")
        if not inner.get("name"):
            param = "response_format.json_schema.name"
            return Rejection(400, f"Missing required parameter: '{param}'.", param=param)
        if request.response_schema is None:
            param = "response_format.json_schema.schema"
            return Rejection(400, f"Missing required parameter: '{param}'.", param=param)
        if behaviour.checks_strict_schemas and inner.get("strict") is True:
            flaw = _strict_flaw(orjson.dumps(request.response_schema))
            return _bad_schema(request, flaw) if flaw else None
    choice = _chosen_name(request)
    if choice is not None and choice not in request.functions:
        return Rejection(400, f"Tool choice '{choice}' not found in 'tools' parameter.", param="tool_choice")
    return None


def _bad_schema(request: ReceivedRequest, why: str) -> Rejection:
    if name := request.part("response_format", "json_schema").get("name"):
        return Rejection(400, f"Invalid schema for response_format '{name}': {why}", param="response_format")
    return Rejection(400, f"Invalid schema for function: {why}", param="tools")


@lru_cache(maxsize=_CACHED_SCHEMAS)
def _strict_flaw(written: bytes) -> str | None:
    """That of a schema as JSON: a debate sends a few schemas many times."""
    return strict_flaw(orjson.loads(written))


def strict_flaw(schema: object, place: str = "()") -> str | None:
    """Why a schema may not be marked strict, or None where it may.

    Every object must forbid other properties and require all its own (OpenAI, guide to structured outputs).
    """
    if isinstance(schema, list):
        return next((flaw for inner in schema if (flaw := strict_flaw(inner, place))), None)
    if not isinstance(schema, dict):
        return None
    if schema.get("type") == "object" or "properties" in schema:
        if schema.get("additionalProperties") is not False:
            return f"In context={place}, 'additionalProperties' is required to be supplied and to be false."
        required = schema.get("required")
        listed = required if isinstance(required, list) else []
        missing = [name for name in _named(schema, "properties") if name not in listed]
        if missing:
            return (
                f"In context={place}, 'required' is required to be supplied and to be an array including "
                f"every key in properties. Missing '{missing[0]}'."
            )
    for word in ("properties", "$defs", "definitions"):
        for name, inner in _named(schema, word).items():
            if flaw := strict_flaw(inner, f"({word!r}, {name!r})"):
                return flaw
    nested = ("items", "anyOf", "oneOf", "allOf", "prefixItems")
    return next((flaw for word in nested if (flaw := strict_flaw(schema.get(word), f"({word!r})"))), None)


def _named(schema: dict[str, Any], word: str) -> dict[str, Any]:
    found = schema.get(word)
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class _Prompted:
    """What the count of a prompt follows from."""

    fingerprint: str
    request: ReceivedRequest = field(compare=False)


@lru_cache(maxsize=_KEPT_ANSWERS)
def _counted(prompted: _Prompted) -> tuple[bytes, int]:
    """What is counted of a request, in bytes, and its tokens."""
    prompt = prompt_text(prompted.request)
    return prompt.encode("utf-8", "surrogatepass"), tokens_in(prompt)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What an answer that is made up follows from."""

    fingerprint: str
    honours: frozenset[OutputMode]
    realistic_lengths: bool
    request: ReceivedRequest = field(compare=False)


@lru_cache(maxsize=_KEPT_ANSWERS)
def _made_up(asked: _Asked) -> Answer:
    """A hundred equal debates at once send the same request a hundred times."""
    return _written(asked.request, Behaviour(honours=asked.honours, realistic_lengths=asked.realistic_lengths))


def _written(request: ReceivedRequest, behaviour: Behaviour) -> Answer:
    """The text of the answer: from the given function where it says something, else made up."""
    seed_text = json.dumps([request.model, request.messages, request.body.get("seed")])
    tool = _called_tool(request) if OutputMode.TOOL in behaviour.honours else None
    schema = request.functions[tool] if tool else None
    if schema is None and OutputMode.NATIVE in behaviour.honours:
        schema = request.response_schema
    if schema is None:
        schema = schema_in_prompt(request)
    given = behaviour.answer(request) if behaviour.answer is not None else None
    if isinstance(given, str):
        text = given
    elif given is not None:
        text = json.dumps(given, ensure_ascii=False)
    elif schema is not None:
        wanted = lengthen(schema, seed_from(seed_text)) if behaviour.realistic_lengths else schema
        text = json.dumps(instance(wanted, seed_text), ensure_ascii=False)
    elif _wants_any_json(request, behaviour):
        text = json.dumps({"answer": prose(seed_from(seed_text), 1)})
    else:
        text = prose(seed_from(seed_text))
    finish = "tool_calls" if tool else "stop"
    return Answer(text, request.model, schema, tool, finish, seed=mix(seed_from(seed_text)))


def _wants_any_json(request: ReceivedRequest, behaviour: Behaviour) -> bool:
    kind = request.part("response_format").get("type")
    return OutputMode.NATIVE in behaviour.honours and kind == "json_object"


def _chosen_name(request: ReceivedRequest) -> str | None:
    """The one function that the request demands, where it demands one."""
    name = request.part("tool_choice", "function").get("name")
    return name if isinstance(name, str) else None


def _called_tool(request: ReceivedRequest) -> str | None:
    """The tool to call, or None to answer in words.

    A demanded one is called; one that is offered freely is called too, unless the last message is the result
    of a call already: a model that calls for ever would never come to its answer.
    """
    names = list(request.functions)
    choice = request.body.get("tool_choice", "auto")
    if not names or choice == "none":
        return None
    if (demanded := _chosen_name(request)) is not None:
        return demanded
    allowed = _allowed(request)
    names = [name for name in names if not allowed or name in allowed]
    if not names or (choice != "required" and request.messages[-1][0] == "tool"):
        return None
    return names[seed_from(request.prompt) % len(names)]


def _allowed(request: ReceivedRequest) -> set[str]:
    """The tools that the request restricts the choice to; empty where it does not."""
    listed = request.part("tool_choice", "allowed_tools").get("tools")
    functions = [tool.get("function") for tool in listed if isinstance(tool, dict)] if isinstance(listed, list) else []
    return {str(function.get("name")) for function in functions if isinstance(function, dict)}


_SCHEMA_SIGNS: Final = ('"properties"', '"$ref"', '"type"')


def schema_in_prompt(request: ReceivedRequest) -> JsonObject | None:
    """The last JSON object in the messages that reads like the schema of an object, or None."""
    for _, text in reversed(request.messages):
        if any(sign in text for sign in _SCHEMA_SIGNS):
            found = _last_schema(text)
            if found is not None:
                return without_definitions(found)
    return None


def _last_schema(text: str) -> JsonObject | None:
    decoder = json.JSONDecoder()
    found: JsonObject | None = None
    place = text.find("{")
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if _is_object_schema(value):
                found = value
        place = text.find("{", end)
    return found


def _is_object_schema(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("properties"), dict) or ("$ref" in value and "$defs" in value)
