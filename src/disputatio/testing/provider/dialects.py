"""Anthropic's and Google's requests as chat completions, and completions as their responses.

One fake answers all three, so the same question gets the same answer in each protocol. Written after
https://platform.claude.com/docs/en/api/messages and https://ai.google.dev/api/generate-content.
"""

from __future__ import annotations

import json
from typing import Any, Final

from disputatio.testing.provider.answers import Answer, Rejection
from disputatio.testing.provider.received import Body

_FINISHES: Final = {"length": ("max_tokens", "MAX_TOKENS")}
_ERROR_TYPES: Final = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error"}
_STATUS_WORDS: Final = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 404: "NOT_FOUND"}


def chat_of_anthropic(body: Body) -> Body:
    """A request of the Messages API as a chat completion's."""
    messages = [{"role": "system", "content": body["system"]}] if body.get("system") else []
    messages += [row for row in body.get("messages") or () if isinstance(row, dict)]
    found: Body = {"model": body.get("model"), "messages": messages, "max_tokens": body.get("max_tokens")}
    wanted = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
    if wanted.get("type") == "json_schema":
        found["response_format"] = _format(wanted.get("schema"))
    tools = [row for row in body.get("tools") or () if isinstance(row, dict)]
    if tools:
        functions = [{"name": row.get("name"), "parameters": row.get("input_schema")} for row in tools]
        found |= _tools(functions, forced=(body.get("tool_choice") or {}).get("type") in ("any", "tool"))
    return found


def chat_of_google(body: Body, model: str) -> Body:
    """A request of ``generateContent`` as a chat completion's."""
    system = body.get("systemInstruction")
    messages = [{"role": "system", "content": _parts(system)}] if system else []
    messages += [
        {"role": "assistant" if row.get("role") == "model" else "user", "content": _parts(row)}
        for row in body.get("contents") or ()
    ]
    settings = body.get("generationConfig") or {}
    found: Body = {"model": model, "messages": messages, "max_tokens": settings.get("maxOutputTokens")}
    if "seed" in settings:
        found["seed"] = settings["seed"]
    schema = settings.get("responseJsonSchema") or settings.get("responseSchema")
    if schema:
        found["response_format"] = _format(schema)
    declared = [row for tool in body.get("tools") or () for row in tool.get("functionDeclarations") or ()]
    if declared:
        functions = [
            {"name": row.get("name"), "parameters": row.get("parametersJsonSchema") or row.get("parameters")}
            for row in declared
        ]
        found |= _tools(functions, forced=True)
    return found


def anthropic_message(answer: Answer, name: str) -> Body:
    """An answer as a response of the Messages API."""
    content: list[Body] = [{"type": "text", "text": answer.text}]
    if answer.tool:
        content = [{"type": "tool_use", "id": f"toolu_{name}", "name": answer.tool, "input": json.loads(answer.text)}]
    finish = _FINISHES.get(answer.finish, ("tool_use" if answer.tool else "end_turn", ""))[0]
    cached = answer.cached_tokens or 0
    return {
        "id": f"msg_{name}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
        "stop_reason": finish,
        "stop_sequence": None,
        # What the cache served is counted apart there.
        "usage": {
            "input_tokens": answer.prompt_tokens - cached,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": answer.completion_tokens,
        },
    }


def google_response(answer: Answer, name: str) -> Body:
    """An answer as a response of ``generateContent``."""
    part: Body = {"text": answer.text}
    if answer.tool:
        part = {"functionCall": {"name": answer.tool, "args": json.loads(answer.text)}}
    finish = _FINISHES.get(answer.finish, ("", "STOP"))[1]
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": finish, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": answer.prompt_tokens,
            "candidatesTokenCount": answer.completion_tokens,
            "totalTokenCount": answer.prompt_tokens + answer.completion_tokens,
            **({} if not answer.cached_tokens else {"cachedContentTokenCount": answer.cached_tokens}),
        },
        "modelVersion": answer.model,
        "responseId": name,
    }


def anthropic_error(rejection: Rejection) -> Body:
    """A rejection as Anthropic's API words it."""
    kind = _ERROR_TYPES.get(rejection.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": rejection.message}, "request_id": None}


def google_error(rejection: Rejection) -> Body:
    """A rejection as Google's API words it."""
    word = _STATUS_WORDS.get(rejection.status, "INTERNAL")
    return {"error": {"code": rejection.status, "message": rejection.message, "status": word}}


def _format(schema: Any) -> Body:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}


def _tools(functions: list[Body], *, forced: bool) -> Body:
    tools = [{"type": "function", "function": row} for row in functions]
    return {"tools": tools, "tool_choice": "required" if forced else "auto"}


def _parts(row: Any) -> str:
    return "".join(str(part.get("text", "")) for part in row.get("parts") or () if isinstance(part, dict))
