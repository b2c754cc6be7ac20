"""No text can end its own fence, whatever it holds."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from disputatio.motion import clean
from disputatio.prompts import fence
from disputatio.prompts.fence import quoted
from strategies import any_texts, examples

# Texts that try: pieces of fences, of codes and of line ends, and whole fences of other texts.
pieces = st.sampled_from(
    ("<<<", ">>>", "\n", "\r\n", "\u2028", "\x85", "motion", " ", '"', "'", "e3b0c44298fc1c14", "e3b0c44298fc1c14>>>")
)
hostile = st.lists(
    st.one_of(pieces, st.text(max_size=5), st.text("0123456789abcdef", min_size=16, max_size=16)), max_size=12
).map("".join)
nested = st.builds(
    lambda name, text, after: f"{fence(name, text)}{after}", st.sampled_from(("motion", "pro")), hostile, hostile
)
texts = hostile | nested | any_texts


@examples(50)
@given(texts)
def test_a_fence_is_closed_by_its_last_line_alone(text: str) -> None:
    lines = fence("pro opening", text).split("\n")
    opening = re.fullmatch(r"<<<pro opening ([0-9a-f]{16})", lines[0])
    assert opening is not None
    closing = f"{opening[1]}>>>"
    assert lines[-1] == closing
    assert not any(closing in line for line in lines[1:-1])
    assert "\n".join(lines[1:-1]) == clean(text).strip()


@given(texts, texts)
def test_one_text_cannot_carry_closing_line_of_another_fence(inner: str, outer: str) -> None:
    """A participant who has seen a fence can copy it; the fence around the copy has another code."""
    copied = fence("motion", inner)
    around = fence("motion", f"{outer}\n{copied}\n{copied}")
    closing = around.split("\n")[-1]
    assert around.count(closing) == 1


@given(texts)
def test_same_text_has_same_fence_so_that_prefixes_are_cached(text: str) -> None:
    """The same text has the same fence so that prefixes are cached."""
    assert fence("pro", text) == fence("pro", text)


@examples(50)
@given(texts)
@example('say "no" and\n"go on"')
def test_a_quotation_cannot_be_ended_from_inside(text: str) -> None:
    shown = quoted(text)
    for line in shown.split("\n") if shown else ():
        assert line.startswith('"')
        assert line.endswith('"')
        assert len(line) > 2
        assert '"' not in line[1:-1]
    assert len(shown.splitlines()) == len(shown.split("\n") if shown else ())
    words = [line.replace('"', "'").split() for line in clean(text).split("\n")]
    assert [line[1:-1].split() for line in shown.split("\n") if line] == [row for row in words if row]
