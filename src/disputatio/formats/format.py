"""A format: its seats, its rules and its options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from disputatio.formats.options import FormatOptions
from disputatio.kernel import JsonObject, Rulebook, Seat

if TYPE_CHECKING:
    from disputatio.formats.debate_context import DebateContext


class Outcome(Protocol):
    """What a rulebook returns."""

    def as_json(self) -> JsonObject:
        """Return the outcome as the record keeps it."""


def nothing_is_public(form: str) -> bool:  # noqa: ARG001  (see `Format.public`)
    """Return False: no turn is public."""
    return False


def all_is_public(form: str) -> bool:  # noqa: ARG001  (see `Format.public`)
    """Return True: every turn is public."""
    return True


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of debate.

    Attributes:
        name: what people type.
        about: one line for a list of formats.
        seats: every seat, debaters first.
        rules: the class of its rules; its fields and their defaults can be set.
        rulebook: makes a fresh rulebook from rules and a context.
        judges: a debate without one of these seats is unjudged.
        repeatable: seats that can occur several times (``judge_2``, ``judge_3``), with the highest number of each.
        free_seats: whether users name the seats; ``seats`` are then the default.
        file_text: the text of the rules file of a custom format.
        usual_provider: the provider of a seat without a model; empty where the keys that are set decide.
        knows: whether it debates a knowledge base and nothing else.
        prompts: its folder of prompts; empty for the folder of its own name.
        options: the class of its own options.
        forkable: whether what was said can be struck, so that the debate can be forked without it.
        public: whether every seat may read turns of a kind (a spec's name) during the debate. Surfaces use it; the
            rules use channels.
    """

    name: str
    about: str
    seats: tuple[Seat, ...]
    rules: type[Any]
    rulebook: Callable[[Any, DebateContext], Rulebook[Outcome]]
    judges: frozenset[Seat]
    repeatable: Mapping[Seat, int] = field(default_factory=dict)
    free_seats: bool = False
    file_text: str = ""
    usual_provider: str = ""
    knows: bool = False
    forkable: bool = False
    public: Callable[[str], bool] = nothing_is_public
    options: type[FormatOptions] = FormatOptions
    prompts: str = ""

    @property
    def prompt_folder(self) -> str:
        """The folder of its prompts."""
        return self.prompts or self.name

    @property
    def further_seats(self) -> tuple[Seat, ...]:
        """The seats that can be added to ``seats``."""
        return tuple(
            Seat(f"{first}_{number}") for first, most in self.repeatable.items() for number in range(2, most + 1)
        )

    def seats_named(self, names: Iterable[str]) -> tuple[Seat, ...]:
        """Return the seats of a debate with models for ``names``. Naming the third judge implies a second one."""
        if self.free_seats:
            return tuple(Seat(name) for name in dict.fromkeys(names)) or self.seats
        # Imported late: its modules are slow to load, and most callers only need a format's name.
        from disputatio.formats.debate_context import place_of

        given = list(names)
        taken: list[Seat] = []
        for first in self.seats:
            places = [place for name in given if (place := place_of(name, first)) is not None]
            most = min(max(places, default=1), self.repeatable.get(first, 1))
            taken += [first, *(Seat(f"{first}_{number}") for number in range(2, most + 1))]
        return tuple(taken)
