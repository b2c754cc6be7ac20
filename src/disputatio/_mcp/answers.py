"""What the tools return: one form each, from which clients read their schemas."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class Started(BaseModel):
    """A debate that was ordered."""

    debate_id: str
    state: str = Field(description="WAITING, RUNNING, or how it is over where it was started before.")
    next: str = Field(description="What to do now.")


class Spending(BaseModel):
    """What a debate takes."""

    calls: int
    input_tokens: int
    output_tokens: int
    usd: str | None = Field(description="US dollars; null where the price of a seat is not known.")


class Estimated(Spending):
    """What a debate is expected to take, at the least and at the most."""

    least: Spending
    most: Spending
    assumed: str = Field(description="What was assumed of answers.")


class Followed(BaseModel):
    """What is new in a debate."""

    debate_id: str
    status: str = Field(
        description="WAITING, RUNNING, COMPLETE, DEGRADED (seats missing), DEBATE_TRUNCATED (at a ceiling), FAILED, "
        "INTERRUPTED, CANCELLED."
    )
    state: str | None = Field(None, description="Of its order: WAITING, RUNNING, ENDED, FAILED, CANCELLED.")
    reason: str | None = Field(None, description="Why it failed, and what to do.")
    over: bool = Field(description="Whether nothing more will come.")
    after: int = Field(description="Give this to the next call.")
    happened: list[dict[str, Any]] = Field(description="Turns, scores, votes, abstentions, in order.")


class Piece(BaseModel):
    """A view of a debate, or a piece of it."""

    debate_id: str
    status: str
    text: str
    next_offset: int | None = Field(description="Give this as offset for the next piece; null where this was the last.")


class Listed(BaseModel):
    """The debates of a store."""

    debates: list[dict[str, str]] = Field(description="debate_id, motion, format, status, at; newest first.")
    more: bool = Field(description="Whether there are more than were asked for.")
    waiting: list[str] = Field(description="Ids of debates that have not begun.")


class Verified(BaseModel):
    """Whether a record is whole."""

    debate_id: str
    verified: bool
    events: int | None = None
    head: str | None = Field(None, description="The last hash of the chain; keep it to detect a cut-off end.")
    fault: str | None = Field(None, description="What is wrong, in one sentence.")


class Cancelled(BaseModel):
    """A debate that was to be stopped."""

    debate_id: str
    was_going: bool = Field(description="False where it was over already.")


class Gated(BaseModel):
    """Whether a question is worth a debate."""

    debate: bool
    reason: str
