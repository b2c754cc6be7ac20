"""No text of the corpus leaves its fence: with any of them a prompt has the same skeleton as with peaceful words."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from injection_corpus import Words, attacks, bundles, template_tokens

from disputatio.errors import InvalidInputError
from disputatio.evidence.source_files import read_sources
from disputatio.evidence.sources import SourceSet
from disputatio.formats.debate_context import DebateContext
from disputatio.formats.registry import FORMATS
from disputatio.kernel import Ask, AskPath, JsonObject, Turn
from disputatio.motion import Evidence, Motion, clean, one_line
from disputatio.participants.answers import SchemaChecks, SchemaMismatch, read_answer
from disputatio.participants.call import Call, OutputMode, Segment
from disputatio.participants.control_tokens import break_control_tokens
from disputatio.participants.embedded import wire
from disputatio.participants.remote.prompt import messages_of
from disputatio.prompts import (
    PromptBook,
    PromptContext,
    choosing_segment,
    compose,
    compose_part,
    fence,
    looked_up_segment,
    reasons_segment,
    schema_segment,
)
from disputatio.prompts.fence import plain_name, quoted
from disputatio.testing.instances import instance
from disputatio.tools.protocol import OfferedTool, ToolRequest, ToolResult
from strategies import Held, example_base, hold

pytestmark = pytest.mark.slow

PEACE = "Plain words about the matter."
QUIET = "A lake lies in the north."
"""What no seat quotes, so that no quotation is verified: rules may go by that."""
BOOK = PromptBook()
_OPENING = re.compile(r"<<<([\w .-]+) ([0-9a-f]{16})$")
_QUOTATION = re.compile(r'"[^"\n]*"(?:\n"[^"\n]*")*')


def outside(text: str) -> tuple[list[str], list[str]]:
    """The lines of a prompt that stand in no fence, each fence as its name alone, and what stood inside.

    This is the reader's side of the rule in ``shared/data.md``, written a second time: a fence is ended by the line
    that holds its own code, and by no other.
    """
    rows, inside = [], []
    lines = iter(text.split("\n"))
    for line in lines:
        opening = _OPENING.search(line)
        if opening is None:
            rows.append(line)
            continue
        held = list(_until(lines, f"{opening[2]}>>>"))
        inner = "\n".join(held)
        assert hashlib.sha256(inner.encode()).hexdigest().startswith(opening[2])
        inside.append(inner)
        rows.append(line.replace(opening.group(), f"[{opening[1]}]"))
    return rows, inside


def _until(lines: Iterator[str], closing: str) -> Iterator[str]:
    for line in lines:
        if line == closing:
            return
        yield line
    raise AssertionError("a fence is never closed")


def skeleton(segments: tuple[Segment, ...], name: str = "") -> list[Any]:
    """A prompt without anybody's words: roles, the program's own lines, the names of fences, empty quotations.

    ``name`` is a name in the fences, such as a source's id, that is somebody's word too.
    """
    shown: list[Any] = []
    for segment in segments:
        rows, _ = outside(segment.text)
        text = _QUOTATION.sub('""', "\n".join(rows))
        shown.append((segment.role, text.replace(name, "ID") if name else text))
    return shown


def marked(value: Any, schema: Any, words: Words) -> Any:
    """An answer with ``words`` in every text that the schema leaves free, cleaned as answers are."""
    if isinstance(value, dict):
        inner = schema.get("properties", {})
        return {key: marked(row, inner.get(key, {}), words) for key, row in value.items()}
    if isinstance(value, list):
        return [marked(row, schema.get("items", {}), words) for row in value]
    if not isinstance(value, str) or "enum" in schema:
        return value
    room = schema.get("maxLength", 2_000)
    return clean(f"{value}\n{words()}" if "pattern" in schema else words(room))[:room].strip() or PEACE


def staged(format_name: str, words: Words, evidence: tuple[Evidence, ...] = (), motion: str = "") -> Held:
    """A debate in which everybody says ``words`` wherever anything may be said; so is the motion if none is given."""

    def answering(path: AskPath, asked: Ask) -> Turn:
        content = marked(instance(asked.spec.schema, str(path)), asked.spec.schema, words)
        turn: Turn = asked.spec.read(content)
        return turn

    form = FORMATS[format_name]
    base = example_base() if form.knows else None
    context = DebateContext(form.seats, Motion(motion or one_line(words())), SourceSet(evidence), knowledge=base)
    return hold(form.rulebook(form.rules(), context), answering)


def evidence_of(words: Words) -> tuple[Evidence, ...]:
    """Sources that say ``words`` too, but nothing that a seat could quote from them whole."""
    texts = [clean(words(400)).strip() for _ in range(2)]
    return tuple(
        Evidence(name, one_line(words()), QUIET if text in {"", PEACE} else text)
        for name, text in zip(("S1", "S2"), texts, strict=True)
    )


def prompts(format_name: str, words: Words, *, citing: bool = True) -> Iterator[tuple[str, tuple[Segment, ...]]]:
    """Every prompt of a debate, whole and in parts, with ``words`` in every place where somebody's words can go.

    With ``citing`` the seats may quote the sources, and code checks each quotation, which takes its time.
    """
    evidence = evidence_of(words)
    held = staged(format_name, words, evidence if citing else ())
    personas = {seat: words() for seat in FORMATS[format_name].seats}
    setting = PromptContext(format_name, Motion(one_line(words())), evidence, personas)
    for path, asked in held.asks.items():
        yield str(path), compose(BOOK, setting, asked)
        done: list[JsonObject] = []
        while part := asked.spec.next_part(tuple(done)):
            yield f"{path} {part.label}", compose_part(BOOK, setting, asked, part)
            done.append(marked(instance(part.schema, f"{path} {part.label}"), part.schema, words))


COUNTS_WORDS = frozenset({"competition", "review"})
"""Formats whose prompts count words and tell of them (how long a speech was, how strong a critique): other words are
counted otherwise."""
_IDS = re.compile(r"\b[A-Z]+-\d+(?:\.[A-Z]\d+)?(?:(?:, | and )[A-Z]+-\d+(?:\.[A-Z]\d+)?)*")


def own_lines(skeletons: dict[str, list[Any]]) -> set[str]:
    """Every line of the program in some prompts, whatever arguments it names."""
    rows = (line for rows in skeletons.values() for _, text in rows for line in text.split("\n"))
    return {_IDS.sub("ID", line) for line in rows}


@cache
def peaceful(format_name: str, *, citing: bool) -> dict[str, list[Any]]:
    """The skeletons of a debate in which everybody keeps the peace."""
    return {place: skeleton(prompt) for place, prompt in prompts(format_name, Words(PEACE), citing=citing)}


def test_the_corpus_has_over_two_hundred_unique_attacks() -> None:
    texts = [attack.text for attack in attacks()]
    assert len(set(texts)) == len(texts) >= 200
    assert len({attack.name for attack in attacks()}) == len(texts)


@pytest.mark.parametrize("format_name", sorted(FORMATS))
def test_every_prompt_keeps_its_skeleton_under_every_attack(format_name: str) -> None:
    for number, words in enumerate(bundles()):
        citing = number % 8 == 0
        expected = peaceful(format_name, citing=citing)
        heard = [text for rows in expected.values() for _, text in rows]
        assert any(f"[{seat} " in text for seat in FORMATS[format_name].seats for text in heard)
        found = {place: skeleton(prompt) for place, prompt in prompts(format_name, words, citing=citing)}
        if format_name in COUNTS_WORDS:
            # Whatever such lines say, no line of an attack stands among them.
            strange = own_lines(found) - own_lines(expected)
            said = {row.strip() for row in words().split("\n") if len(row.strip()) > 8}
            assert not [(line, row) for line in strange for row in said if row in line]
        else:
            assert found == expected


@pytest.mark.parametrize("format_name", sorted(FORMATS))
def test_no_seat_can_write_the_mark_of_a_checked_citation(format_name: str) -> None:
    """What code found of a citation stands in these brackets; a turn has as many of them as code put there."""
    forged = Words(*(attack.text for attack in attacks() if attack.name.startswith("forged marks")))

    def marks(words: Words) -> dict[tuple[str, int], int]:
        sources = tuple(Evidence(name, PEACE, QUIET) for name in ("S1", "S2"))
        setting, found = PromptContext(format_name, Motion(PEACE)), {}
        for path, asked in staged(format_name, words, sources, motion=PEACE).asks.items():
            for number, segment in enumerate(compose(BOOK, setting, asked)[1:]):
                # Code also marks figures that stand in no source, and the attacks bring some.
                text = segment.text.replace("\n\u27e6in no source\u27e7 ", "\n")
                found[str(path), number] = len(re.findall("[\u27e6\u27e7]", text))
        return found

    assert marks(forged) == marks(Words(PEACE))


def test_a_fence_removes_hidden_characters() -> None:
    for attack in attacks():
        rows, inside = outside(f"before\n{fence('pro opening', attack.text)}\nafter")
        assert rows == ["before", "[pro opening]", "after"], attack.name
        assert inside == [clean(attack.text).strip()], attack.name
        assert clean(inside[0]) == inside[0], attack.name
        line = f'Proposal: {quoted(attack.text) or chr(34) * 2}\nQuestion: ""'
        assert _QUOTATION.sub('""', line) == 'Proposal: ""\nQuestion: ""', attack.name


def test_a_name_cannot_open_or_close_a_fence() -> None:
    """The ids of sources come from file names and from callers of the library."""
    asked = next(iter(staged("structured", Words(PEACE)).asks.values()))

    def told(source_id: str) -> tuple[list[str], list[str]]:
        named = PromptContext("structured", Motion(PEACE), (Evidence(source_id, PEACE, PEACE),))
        return outside(compose(BOOK, named, asked)[0].text)

    lines, expected = told("S1")
    for attack in attacks():
        rows, inside = outside(fence(attack.text, PEACE))
        assert (len(rows), inside) == (1, [PEACE]), attack.name
        rows, inside = told(attack.text)
        assert (len(rows), inside) == (len(lines), expected), attack.name


def test_a_callers_source_id_is_plain_or_refused() -> None:
    for attack in attacks():
        given = Evidence(attack.text, PEACE, f"{PEACE}\u200b\u202e\x1b[31m")
        if re.fullmatch(r"\w[\w.-]{0,59}", attack.text):
            (source,) = read_sources([given])
            assert plain_name(source.source_id) == source.source_id == attack.text
            continue
        with pytest.raises(InvalidInputError) as refused:
            read_sources([given])
        assert one_line(refused.value.cause) == refused.value.cause, attack.name
        (source,) = read_sources([replace(given, source_id="S1")])
        assert clean(source.text) == source.text


def test_omissions_are_reported_without_hostile_words() -> None:
    long = "\n\n".join(f"Passage {number} tells of one more bridge over the river." for number in range(40))
    asked = next(iter(staged("structured", Words(PEACE)).asks.values()))

    def told(source_id: str) -> list[str]:
        sources = (Evidence(source_id, PEACE, long),)
        setting = PromptContext(
            "structured", Motion(PEACE), sources, shares=dict.fromkeys(("pro", "con", "judge"), 600)
        )
        return outside(compose(BOOK, setting, asked)[0].text)[0]

    expected = len(told("S1"))
    assert any("Left out of S1" in line for line in told("S1"))
    for attack in attacks()[::25]:
        assert len(told(attack.text)) == expected, attack.name


def test_tools_and_what_they_bring_are_data() -> None:
    """A server writes names, descriptions and results of its tools; a model writes what it asks of them."""
    calm = OfferedTool("maps.find", "maps", PEACE, {"type": "object", "properties": {"q": {"type": "string"}}})
    asked = skeleton((choosing_segment(BOOK, PEACE, [calm], 2),))
    found = ToolResult(PEACE)
    brought = skeleton((looked_up_segment(BOOK, ToolRequest("maps.find", {"q": PEACE}), found),))
    for attack in attacks():
        described = {"type": "object", "properties": {attack.text: {"type": "string", "description": attack.text}}}
        tool = OfferedTool(attack.text, attack.text, attack.text, described)
        assert skeleton((choosing_segment(BOOK, PEACE, [tool], 2),)) == asked, attack.name
        request = ToolRequest(attack.text, {"q": attack.text, attack.text: [attack.text]})
        assert skeleton((looked_up_segment(BOOK, request, ToolResult(attack.text)),)) == brought, attack.name


def test_a_rejected_answer_is_told_about_in_quotation_marks() -> None:
    """Reasons repeat keys and values of the answer, which may be anybody's words."""
    checks = SchemaChecks()
    asked = next(iter(staged("structured", Words(PEACE)).asks.values()))
    schema = asked.spec.schema
    kinds = ("shape", "rule", "shape-part", "rule-part")
    told = [skeleton((reasons_segment(BOOK, because, ("one",)),)) for because in kinds]
    for attack in attacks():
        for content in ({attack.text: 1}, {"arguments": attack.text}, {"arguments": [{"claim": attack.text}]}):
            misfit = read_answer(json.dumps(content), schema, checks)
            assert isinstance(misfit, SchemaMismatch)
            reasons = misfit.reasons[:1]
            assert reasons
            for because, expected in zip(kinds, told, strict=True):
                assert skeleton((reasons_segment(BOOK, because, reasons),)) == expected, attack.name
        read = read_answer(attack.text, schema, checks)
        assert isinstance(read, SchemaMismatch), attack.name
        assert all(clean(row) == row for row in getattr(read, "reasons", ())), attack.name


def test_a_schema_in_words_stays_on_one_line() -> None:
    lines = len(schema_segment(BOOK, {}).text.split("\n"))
    for attack in attacks():
        shown = schema_segment(BOOK, {"enum": [attack.text]}).text
        assert len(shown.split("\n")) == lines, attack.name


def test_no_control_token_reaches_a_server() -> None:
    tokens = [token for token in template_tokens() if break_control_tokens(token) == token]
    assert set(tokens) <= {"[gMASK]", "<sop>"}, "these stand in texts too often to be broken"
    for attack in attacks():
        call = Call((Segment("system", PEACE), Segment("user", attack.text)), None, "x", OutputMode.TEXT, None, 10)
        sent = wire.request(call, small=True, compact_grammar=True, stream=False)["messages"]
        assert [row["role"] for row in sent] == ["system", "user"]
        for role, text in ((row["role"], row["content"]) for row in sent):
            assert not any(token in text for token in template_tokens() if token not in tokens), (role, attack.name)
        assert [role for role, _ in messages_of(call)] == ["system", "user"]
