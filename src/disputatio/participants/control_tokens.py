"""Breaks control tokens of chat templates in texts.

Many servers of open models let the tokenizer read control tokens anywhere in a prompt. A source that contains
``<|im_end|>`` could end its message and begin another in any role. A zero-width joiner after the first character keeps
the text legible and the token unrecognised. pydantic-ai removes joiners from the answer, so quotations still match.
"""

from __future__ import annotations

import re
from typing import Final

JOINER: Final = "\u200d"

_TOKENS: Final = (
    (
        "<",
        re.compile(
            r"""
            <(?=  \|[^\s<>|"]{1,64}\|>               # <|im_start|>, <|eot_id|>
              |   [a-z_]{1,32}\|> | \|[a-z_]{1,32}>   # <turn|>, <|turn>
              |   ｜[^\s<>｜"]{1,64}｜>               # <｜User｜>, in full width
              |   (?:start|end)_of_turn> | /?s> | (?:bos|eos|pad|unk)>
              |   <SYS>> | </?SYS>>
            )
            """,
            re.VERBOSE,
        ),
    ),
    (
        "[",
        re.compile(
            r"""
            \[(?= \|[a-z]{1,32}\|\] | /?INST\] | /?SYSTEM_PROMPT\] | /?AVAILABLE_TOOLS\] | /?TOOL_RESULTS\]
              |   TOOL_CALLS\] | e~\[
            )
            """,
            re.VERBOSE,
        ),
    ),
    ("]~", re.compile(r"\](?=~b\]|~!b\[)")),
)
"""The first characters of each kind of token, and its pattern. Kinds are searched one after the other: a pattern with
a fixed first character is many times faster than one that may begin with any of three."""


def break_control_tokens(text: str) -> str:
    """Put a joiner into each control token of ``text``."""
    for beginning, token in _TOKENS:
        if beginning in text:
            text = token.sub(_with_joiner, text)
    return text


def _with_joiner(found: re.Match[str]) -> str:
    return found[0] + JOINER
