"""Keeping control tokens of chat templates from being read as control in a text.

Servers of open models render a prompt by the model's chat template and often let the tokenizer read its
control tokens anywhere in it. A source or an opponent that writes ``<|im_end|>`` then ends its own message
and can begin another in any role. A zero-width joiner after the first character keeps the text legible and
the token unrecognised.

This is the one place where what is sent differs from what the prompt says, and only where such a token
stands in it. pydantic-ai takes joiners out of the answer again, so that quotations match their sources.
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
"""What every token of a kind begins with, and how it goes on. Only what follows is looked at, and no token ends where
a joiner is put, so the kinds are broken one after the other; an expression whose first character is fixed is searched
for many times as fast as one that may begin with any of three."""


def break_control_tokens(text: str) -> str:
    """``text`` with a joiner inside each control token. Texts without one come back unchanged."""
    for beginning, token in _TOKENS:
        if beginning in text:
            text = token.sub(_with_joiner, text)
    return text


def _with_joiner(found: re.Match[str]) -> str:
    return found[0] + JOINER
