"""A model's response as a ``Reply``, or as the ``Fault`` it amounts to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from disputatio.participants.call import Fault, OutputMode, Reply
from disputatio.participants.remote.endpoint import Endpoint
from disputatio.participants.remote.faults import cut_off, garbled, refused
from disputatio.participants.remote.response import CLOSED, strip_reasoning, usage_of

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

_FINISHED: Final = {"stop": "stop", "tool_call": "stop", "length": "length"}


def reply_from(
    response: ModelResponse, endpoint: Endpoint, mode: OutputMode, *, streamed: bool, limit: int | None = None
) -> Reply | Fault:
    """What ``response`` says.

    An answer cut at the token limit is a reply, also an empty one: a model may spend all its tokens on
    thinking. An empty answer that claims to be complete is none. Where the server gives no finish reason, an answer of
    ``limit`` tokens was cut.
    """
    text = _text_of(response, mode, cut=response.finish_reason == "length")
    usage = usage_of(response.usage)
    served = response.model_name or None
    details = response.provider_details or {}
    raw = str(details.get("finish_reason") or "")
    if response.finish_reason == "content_filter":
        words = details.get("refusal") or details.get("block_reason") or raw
        return refused(endpoint, str(words), usage, served, text)
    if streamed and not (raw or details.get(CLOSED)) and response.finish_reason != "error":
        return cut_off(endpoint, usage, served, text)
    finish = _FINISHED.get(response.finish_reason or "") or raw or "stop"
    if not raw and finish == "stop" and limit is not None and (usage.output_tokens or 0) >= limit:
        finish = "length"
    if not text.strip() and finish != "length":
        return garbled(endpoint, "the answer is empty", usage, served)
    return Reply(text=text, served_model=served, usage=usage, finish=finish)


def _text_of(response: ModelResponse, mode: OutputMode, *, cut: bool) -> str:
    from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

    if mode is OutputMode.TOOL:
        # One without an argument holds no answer; that may stand in the text.
        calls = (part for part in response.parts if isinstance(part, ToolCallPart) and part.args)
        if call := next(calls, None):
            return call.args if isinstance(call.args, str) else call.args_as_json_str()
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    if any(isinstance(part, ThinkingPart) for part in response.parts):
        text = text.lstrip()
    # pydantic-ai knows one pair of tags, and misses it where a stream brings the tag and its content in one piece.
    return strip_reasoning(text, cut=cut)
