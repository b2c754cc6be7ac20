"""What may stand in an order for a debate.

An order comes from another process, maybe from a stranger. It names nothing of this machine: no file, no address, no
command, no key. What is not said in it comes from the settings of the process that holds the debate.
"""

from __future__ import annotations

import base64
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    WithJsonSchema,
    model_validator,
)

from disputatio.evidence.source_files import is_source_id
from disputatio.evidence.sources import SourceKind
from disputatio.formats.registry import FORMATS
from disputatio.orders.nesting import ShallowObject

MOST_SETTINGS = 100
"""More than one debate has use for."""

LONGEST_KNOWLEDGE = 2_000_000
"""Characters of a knowledge base; one has some ten thousand."""

MOST_EVIDENCE_CHARS = 4_000_000
"""Of all sources of an order together. They are searched and cut into words where other debates are held too."""

ORDERED = tuple(FORMATS)
"""The formats of orders: those of the package. A format of one's own is a file, and none is read for a caller."""

Name = Annotated[str, Field(min_length=1, max_length=60)]
Line = Annotated[str, Field(min_length=1, max_length=400)]


def _no_flag(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("input should be a number, not true or false")
    return value


def _no_text(value: object) -> object:
    if isinstance(value, str):
        raise ValueError("input should be a number, not text")
    return _no_flag(value)


Whole = Annotated[int, BeforeValidator(_no_text)]
"""A whole number of JSON; ``true`` is no 1 and ``"5"`` no 5."""
Number = Annotated[float, BeforeValidator(_no_text)]
"""A number of JSON, in the same way."""
Amount = Annotated[Decimal, BeforeValidator(_no_flag)]
"""An exact amount, which may stand in quotes so that it stays exact: 0.5 or ``"0.50"``."""
Flag = Annotated[bool, Strict()]
"""True or false; 1 is neither."""


def _source_id(value: str) -> str:
    if not is_source_id(value):
        raise ValueError("an id is of up to 60 letters, digits, hyphens, underscores and full stops")
    return value


SourceId = Annotated[
    str,
    AfterValidator(_source_id),
    # Letters of any alphabet are taken, as in the ids that are made from names of files.
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]{0,59}$"}),
]


def _is_base64(content: str) -> str:
    try:
        base64.b64decode(content.encode("ascii"), validate=True)
    except ValueError:
        raise ValueError("it is no base64 (RFC 4648, with + and / and padding)") from None
    return content


class EvidenceGiven(BaseModel):
    """A source: its name, which says by its ending what it is, and either its text or the bytes of its file."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"oneOf": [{"required": ["text"]}, {"required": ["content"]}]},
    )

    title: Annotated[
        str,
        Field(
            min_length=1,
            max_length=120,
            description="The name of the file. Its ending says what it is, and its id is made from it.",
            examples=["benchmark.md"],
        ),
    ]
    text: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=2_000_000,
            description="What stands in a file of text, Markdown, HTML or JSON.",
            examples=["Release took 3.8 hours, then 0.7."],
        ),
    ] = None
    content: Annotated[
        Annotated[str, Field(min_length=4, max_length=14_000_000), AfterValidator(_is_base64)] | None,
        Field(
            description="The bytes of a file in base64, such as a PDF, in place of `text`.",
            json_schema_extra={"contentEncoding": "base64"},
        ),
    ] = None
    source_id: Annotated[SourceId | None, Field(description="Under which it is cited.")] = None
    kind: Annotated[SourceKind | None, Field(description="What the file is, where its name does not say so.")] = None

    @model_validator(mode="after")
    def _has_one(self) -> EvidenceGiven:
        if (self.text is None) == (self.content is None):
            raise ValueError("give either text or content")
        return self

    @property
    def raw(self) -> str | bytes:
        """The text, or the bytes of the file."""
        return base64.b64decode(self.content) if self.content is not None else self.text or ""


class Order(BaseModel):
    """A debate to be held."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"motion": "A startup with fewer than ten people should build microservices from day one"},
                {
                    "motion": "We should sign this contract",
                    "format": "review",
                    "seats": {"all": "openai:gpt-5", "moderator": "anthropic:claude-sonnet-5-5"},
                    "evidence": [{"title": "contract.md", "text": "The fee is due within 14 days."}],
                    "budget_usd": "0.50",
                },
                {"format": "market", "as_of": "2008-10-31"},
            ]
        },
    )

    motion: Annotated[
        str,
        Field(
            max_length=4_000,
            description="The question or proposition. A market debate without one asks whether its subject will rise.",
        ),
    ] = ""
    topic: Annotated[Name | None, Field(description="A built-in motion by its name, in place of one of your own.")] = (
        None
    )
    format: Annotated[str, Field(max_length=40, json_schema_extra={"enum": list(ORDERED)})] = "structured"
    seats: Annotated[
        dict[Name, Line],
        Field(max_length=40, description="Who sits where, as PROVIDER:MODEL; `all` covers every seat."),
    ] = {}
    people: Annotated[
        list[Name], Field(max_length=40, description="The seats that people take, over the page or this API.")
    ] = []
    evidence: Annotated[list[EvidenceGiven], Field(max_length=200, description="Sources that seats may cite.")] = []
    knowledge: Annotated[
        Annotated[str, Field(min_length=1, max_length=LONGEST_KNOWLEDGE)] | ShallowObject | None,
        Field(
            description="Of a market debate: the content of a file that `disputatio market build` wrote, or `example`, "
            "which is the synthetic one and taken where nothing is given.",
            examples=["example"],
        ),
    ] = None
    as_of: Annotated[
        Annotated[str, Field(min_length=10, max_length=40)] | None,
        Field(
            description="Of a market debate, in place of `knowledge`: hold it on the market as it was known on this "
            "day, from the history that is installed at the server.",
            examples=["2008-10-31"],
        ),
    ] = None
    language: Annotated[Name | None, Field(description="Of the debate, such as German.")] = None
    judges: Annotated[Whole | None, Field(ge=1, le=9, description="How many there are, 1 to 9.")] = None
    both_orders: Annotated[Flag, Field(description="Every judge judges with either side first.")] = False
    anonymous: Annotated[Flag, Field(description="The judges see neutral names for the sides.")] = False
    retest: Annotated[Flag, Field(description="Every judge judges once more.")] = False
    panel_method: Annotated[Name | None, Field(description="How several judges become one: mean, median...")] = None
    debaters: Annotated[list[Name], Field(max_length=40, description="Of a panel, in their order.")] = []
    options: Annotated[list[Name], Field(max_length=40, description="What a panel votes on.")] = []
    rounds: Annotated[Whole | None, Field(ge=1, le=100, description="The most, where a format has several.")] = None
    decision: Annotated[Name | None, Field(description="The rule by which a panel decides.")] = None
    threshold: Annotated[Whole | None, Field(ge=1, le=10_000, description="Votes that threshold_vote needs.")] = None
    preset: Annotated[Name | None, Field(description="What a review looks for, such as contract-risk.")] = None
    task_type: Annotated[Name | None, Field(description="What kind of decision a review is about.")] = None
    positions: Annotated[list[Line], Field(max_length=5, description="2 to 5 that a review weighs.")] = []
    personality: Annotated[dict[Name, Name], Field(max_length=40, description="How debaters argue, by seat.")] = {}
    tools: Annotated[
        dict[Name, list[Literal["search", "calculate", "none"]]],
        Field(max_length=40, description="What a seat may look up before it speaks."),
    ] = {}
    settings: Annotated[
        dict[Name, bool | int | float | Line],
        Field(
            max_length=MOST_SETTINGS,
            description="Keys of the configuration under limits, judging, rubric, criteria, rules and decision.",
            examples=[{"limits.closing_words": 150}],
        ),
    ] = {}
    seed: Annotated[Whole | None, Field(ge=0, le=2**31 - 1, description="Sent to models that take one.")] = None
    budget_usd: Annotated[
        Amount | None, Field(gt=0, le=1_000_000, max_digits=16, description="Ceiling in US dollars; never passed.")
    ] = None
    budget_tokens: Annotated[
        Whole | None, Field(ge=1, le=10**12, description="Ceiling, input and output together.")
    ] = None
    max_calls: Annotated[Whole | None, Field(ge=1, le=10**9, description="Ceiling, repeated ones included.")] = None

    def normal(self) -> dict[str, Any]:
        """As JSON, without what is left to the holder."""
        return self.model_dump(mode="json", exclude_defaults=True)
