"""What may stand in an order for a debate.

An order comes from another process, maybe from a stranger. It names nothing of this machine: no file, no address, no
command, no key. What is not said in it comes from the settings of the process that holds the debate.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from disputatio.evidence.sources import SourceKind
from disputatio.formats.registry import FORMATS
from disputatio.orders.nesting import ShallowObject

MOST_SETTINGS = 100
"""More than one debate has use for."""

LONGEST_KNOWLEDGE = 2_000_000
"""Characters of a knowledge base; one has some ten thousand."""

ORDERED = tuple(FORMATS)
"""The formats of orders: those of the package. A format of one's own is a file, and none is read for a caller."""

Name = Annotated[str, Field(min_length=1, max_length=60)]
Line = Annotated[str, Field(min_length=1, max_length=400)]


class EvidenceGiven(BaseModel):
    """A source: its name, which says by its ending what it is, and its text."""

    model_config = ConfigDict(extra="forbid")

    title: Annotated[str, Field(min_length=1, max_length=120, examples=["benchmark.md"])]
    text: Annotated[str, Field(min_length=1, max_length=2_000_000, examples=["Release took 3.8 hours, then 0.7."])]
    source_id: Annotated[str | None, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,59}$")] = None
    kind: SourceKind | None = None


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
    judges: Annotated[int | None, Field(ge=1, le=9, description="How many there are, 1 to 9.")] = None
    both_orders: Annotated[bool, Field(description="Every judge judges with either side first.")] = False
    anonymous: Annotated[bool, Field(description="The judges see neutral names for the sides.")] = False
    retest: Annotated[bool, Field(description="Every judge judges once more.")] = False
    panel_method: Annotated[Name | None, Field(description="How several judges become one: mean, median...")] = None
    debaters: Annotated[list[Name], Field(max_length=40, description="Of a panel, in their order.")] = []
    options: Annotated[list[Name], Field(max_length=40, description="What a panel votes on.")] = []
    rounds: Annotated[int | None, Field(ge=1, le=100, description="The most, where a format has several.")] = None
    decision: Annotated[Name | None, Field(description="The rule by which a panel decides.")] = None
    threshold: Annotated[int | None, Field(ge=1, le=10_000, description="Votes that threshold_vote needs.")] = None
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
    seed: Annotated[int | None, Field(ge=0, le=2**31 - 1, description="Sent to models that take one.")] = None
    budget_usd: Annotated[
        Decimal | None, Field(gt=0, le=1_000_000, max_digits=16, description="Ceiling in US dollars; never passed.")
    ] = None
    budget_tokens: Annotated[int | None, Field(ge=1, le=10**12, description="Ceiling, input and output together.")] = (
        None
    )
    max_calls: Annotated[int | None, Field(ge=1, le=10**9, description="Ceiling, repeated ones included.")] = None

    def normal(self) -> dict[str, Any]:
        """As JSON, without what is left to the holder."""
        return self.model_dump(mode="json", exclude_defaults=True)
