"""What the API answers with."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from disputatio._service.keys import Period, Scope
from disputatio.options import Amount, Flag, Number, Whole
from disputatio.options.field import ShallowObject

MOST_STRUCK = 200
"""The most names that one fork may strike."""
DebateId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_.-]{1,32}$", description="The debate's whole id.")]
Words = Annotated[str, Field(min_length=1, max_length=4_000)]


class JobView(BaseModel):
    """What the holder of debates knows of one."""

    state: str = Field(examples=["RUNNING"])
    reason: str = ""
    next_step: str = ""


class DebateView(BaseModel):
    """A debate as the list has it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "7f3a91c2",
                    "status": "RUNNING",
                    "format": "structured",
                    "motion": "We should adopt microservices",
                    "opened_at": "2026-01-31T12:00:00.000000Z",
                    "events": 1,
                    "head": "9f2b...",
                    "goes_on": True,
                    "job": {"state": "RUNNING", "reason": "", "next_step": ""},
                    "links": {"self": "/v1/debates/7f3a91c2", "events": "/v1/debates/7f3a91c2/events"},
                }
            ]
        }
    )

    id: str
    status: str = Field(
        description="WAITING, RUNNING, COMPLETE, DEGRADED, DEBATE_TRUNCATED, FAILED, INTERRUPTED or IMPORTED."
    )
    format: str
    motion: str
    opened_at: str
    events: int = Field(description="How many events its record had when its status last changed.")
    head: str = Field(description="The hash of the last of these.")
    goes_on: bool = Field(description="Whether more of it is to come.")
    job: JobView | None = None
    links: dict[str, str] = {}


class DebatePage(BaseModel):
    """Debates, newest first."""

    items: list[DebateView]
    next: str | None = Field(None, description="The cursor of the next page; null where this is the last.")


class Cancelled(BaseModel):
    """Whether there was anything to stop."""

    cancelled: bool


class SpendingView(BaseModel):
    """What a debate takes."""

    calls: int
    input_tokens: int
    output_tokens: int
    usd: str | None = Field(description="US dollars; null where the price of a seat is not known.")


class SeatEstimate(SpendingView):
    """What one seat takes."""

    seat: str
    model: str
    said_tokens: int = Field(description="The part of the input that seats are assumed to have said before.")
    reasoning_tokens: int = Field(description="The part of the output that the model is assumed to reason.")


class EndView(BaseModel):
    """A phase at which a debate may end early, with what it takes until then."""

    phase: str
    calls: int
    tokens: int


class EstimateView(SpendingView):
    """What a debate takes if it goes as debates usually go, at the least and at the most."""

    seats: list[SeatEstimate]
    said_tokens: int
    reasoning_tokens: int
    estimate: Literal[True]
    assumed: str = Field(description="What was assumed of answers.")
    modes: list[str] = Field(
        default_factory=list, description="How models are asked because it costs less, a sentence each."
    )
    least: SpendingView
    most: SpendingView
    ends: list[EndView]


class CeilingsGiven(BaseModel):
    """New ceilings of a debate, spending so far included. Omitted ones do not change."""

    model_config = ConfigDict(extra="forbid")

    budget_usd: Annotated[Amount | None, Field(gt=0, le=1_000_000, max_digits=16)] = None
    budget_tokens: Annotated[Whole | None, Field(ge=1, le=10**12, examples=[80_000])] = None
    max_calls: Annotated[Whole | None, Field(ge=1, le=10**9)] = None


class ForkGiven(CeilingsGiven):
    """A fork to run. Its ceilings are those of the new debate alone; those left out are the parent's."""

    strike: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=80)]],
        Field(min_length=1, max_length=MOST_STRUCK, examples=[["PRO-2", "CON on PRO-1"]]),
    ]


class ForkView(BaseModel):
    """What a fork would keep and ask again. No model was called."""

    parent: str
    head: str = Field(description="The last hash of the parent's chain.")
    struck: list[str] = Field(description="What is struck, with what the parent had struck before.")
    kept: list[str] = Field(description="The turns that are taken over.")
    asked_again: list[str] = Field(description="The parent's turns that are asked again.")
    calls: int = Field(description="How many calls these took in the parent.")
    input_tokens: int
    output_tokens: int
    usd: str | None = Field(description="What these cost there; null where a price was not known.")


class PostView(BaseModel):
    """Something a seat has heard."""

    seat: str
    phase: str
    text: str
    channel: str


class SourceView(BaseModel):
    """A source that lies before a seat."""

    source_id: str
    title: str
    text: str


class TurnAskedView(BaseModel):
    """A turn that a person is asked for."""

    path: str = Field(examples=["opening/pro"])
    seat: str
    phase: str
    motion: str
    language: str
    rules: str
    role: str
    task: str
    heard: list[PostView]
    sources: list[SourceView]
    form: dict[str, Any] = Field(description="The JSON Schema of the turn.")
    word_limit: int | None
    reasons: list[str] = Field(description="Why the last answer was not taken; empty at first.")
    because: Literal["", "shape", "rule"]


class SeatView(BaseModel):
    """A seat that people take."""

    seat: str = Field(examples=["con_2"])
    taken_by: str | None = Field(None, description="The name of the key that sits there; null while it is free.")
    yours: bool = Field(description="Whether this key sits there.")


class TurnGiven(BaseModel):
    """A person's turn, or that they pass."""

    model_config = ConfigDict(extra="forbid")

    path: Annotated[str, Field(min_length=1, max_length=200, examples=["opening/pro"])]
    content: ShallowObject | None = Field(None, examples=[{"arguments": []}])
    passes: Flag = False


class TurnReceived(BaseModel):
    """A turn was handed in."""

    breaches: list[str] | None = Field(
        description="Rules that it breaks: the debate may ask once more. Null while a worker has not looked at it yet."
    )


class Verified(BaseModel):
    """A record that verifies."""

    debate: str
    events: int
    texts: int
    head: str
    verifies: Literal[True] = True


class EvidenceKept(BaseModel):
    """An uploaded source. Name its id in ``evidence_ids`` of a request."""

    id: str = Field(examples=["ev_0f3c2a91d4b5e677"])
    source_id: str
    title: str
    kind: str
    characters: int


class KnowledgeKept(BaseModel):
    """A knowledge base that was taken in; its id can be the ``knowledge_id`` of an order."""

    id: str = Field(examples=["kb_0f3c2a91d4b5e677"])
    subject: str = Field(examples=["S&P 500"])
    day: str = Field(description="The day as of which it was built.", examples=["2008-10-31"])
    synthetic: bool = Field(description="Whether its values are invented.")
    warnings: list[str] = Field(description="What its sources lack.")


class FetchAsked(BaseModel):
    """An address to take evidence from; its host must be on the server's list."""

    model_config = ConfigDict(extra="forbid")

    url: Annotated[str, Field(min_length=8, max_length=2_000, examples=["https://example.com/report.html"])]


class GateAsked(BaseModel):
    """A question that may be worth a debate."""

    model_config = ConfigDict(extra="forbid")

    task_type: Annotated[str, Field(min_length=1, max_length=60, examples=["contract"])]
    confidence: Annotated[Number | None, Field(ge=0, le=1)] = None
    downside_usd: Annotated[Number | None, Field(ge=0, le=1e15)] = None
    cost_usd: Annotated[Number, Field(gt=0, le=1e9)] = 0.5
    answer: Annotated[str, Field(max_length=100_000)] = ""


class GateAnswered(BaseModel):
    """Whether to debate, by which rule and why."""

    debate: bool
    rule: str
    reason: str
    threshold_usd: str


class SignOffGiven(BaseModel):
    """What a reviewer decides on a closed debate."""

    model_config = ConfigDict(extra="forbid")

    by: Annotated[str, Field(min_length=1, max_length=200)]
    decision: Literal["approve", "reject", "return"]
    comment: Annotated[str, Field(max_length=4_000)] = ""


class OutcomeGiven(BaseModel):
    """What happened later."""

    model_config = ConfigDict(extra="forbid")

    result: Words
    verdict: Literal["right", "wrong", "mixed"] | None = None
    by: Annotated[str, Field(max_length=200)] = ""
    note: Annotated[str, Field(max_length=4_000)] = ""


class Attached(BaseModel):
    """Something was attached to a record; ``head`` is the hash of the event before it."""

    debate: str
    head: str


class KeyView(BaseModel):
    """A key without its secret."""

    id: str
    name: str
    tenant: str
    scope: Scope
    created_at: str
    revoked_at: str
    budget_usd: str | None
    budget_tokens: int | None
    period: Period
    per_minute: int
    left_usd: str | None = None
    left_tokens: int | None = None


class Health(BaseModel):
    """Whether the server lives."""

    status: str = Field(examples=["ok"])
    version: str


class Ready(BaseModel):
    """Whether it can take work."""

    status: Literal["ready", "draining"]
    running: int
    waiting: int
