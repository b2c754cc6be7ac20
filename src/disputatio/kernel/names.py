"""Names for the ids and shapes that every layer passes around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NewType, TypeAlias

Seat = NewType("Seat", str)
"""A role at the table: ``pro``, ``con``, ``judge``, ``tech_bull``."""

Phase = NewType("Phase", str)
"""A stage of the debate: ``opening``, ``cross-examination``, ``closing``, ``judging``."""

AskPath = NewType("AskPath", str)
"""Where an ask stands in its rulebook, such as ``cross-examination/tech/bear``; unique in a debate."""

Channel = NewType("Channel", str)
"""Who may read a post: ``public``, ``team_pro``, ``judge_notes``."""

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]
