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

_START = re.compile(
    r"""
      <(?=  \|[^\s<>|"]{1,64}\|>               # <|im_start|>, <|eot_id|>
        |   [a-z_]{1,32}\|> | \|[a-z_]{1,32}>   # <turn|>, <|turn>
        |   ｜[^\s<>｜"]{1,64}｜>               # <｜User｜>, in full width
        |   (?:start|end)_of_turn> | /?s> | (?:bos|eos|pad|unk)>
        |   <SYS>> | </?SYS>>
      )
    | \[(?= \|[a-z]{1,32}\|\] | /?INST\] | /?SYSTEM_PROMPT\] | /?AVAILABLE_TOOLS\] | /?TOOL_RESULTS\]
        |   TOOL_CALLS\] | e~\[
      )
    | \](?= ~b\] | ~!b\[ )
    """,
    re.VERBOSE,
)


def broken(text: str) -> str:
    """``text`` with a joiner inside each control token. Texts without one come back unchanged."""
    # Looking for a character is a hundred times faster than the expression, and most texts have none of these.
    if "<" not in text and "[" not in text and "]~" not in text:
        return text
    return _START.sub(lambda found: found[0] + JOINER, text)
