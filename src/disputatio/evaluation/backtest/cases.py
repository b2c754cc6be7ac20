"""The debates of a backtest: one market debate for each decision date, and its controls.

plain       the debate as it would have run on that day mirrored    the same on prices reflected in their log returns,
so up and down are exchanged blind       the same on a knowledge base without names and dates, every series rebased to
100

The knowledge base is built as of the day, as ``market build`` does. Format, seats, judge and record are those of
``debate --format market``. The id of a debate is a hash of everything that decides it, so the same run finds its
records again and another run does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import date
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from disputatio.config import Settings
from disputatio.engine.market_setup import default_question
from disputatio.engine.opening import Proposal, assign_seats, make_opening, make_plan, open_prompts
from disputatio.engine.runtime import software
from disputatio.evaluation.backtest.archive import Archive, mirror_prices
from disputatio.formats.format import Format
from disputatio.formats.registry import find_format
from disputatio.ledger.budget import UNLIMITED
from disputatio.market.knowledge import KnowledgeBase
from disputatio.motion import Motion
from disputatio.participants.shared_clients import ClientFactory, SharedClients, open_client
from disputatio.record.text import canonical, digest

ID_LENGTH = 16
DEFAULT_HORIZON = "month"
_NO_IDENTITY = frozenset({"motion", "evidence", "budget", "warnings", "estimate"})


def _as_it_is(archive: Archive) -> Archive:
    return archive


def _named(base: KnowledgeBase) -> KnowledgeBase:
    return base


def _blinded(base: KnowledgeBase) -> KnowledgeBase:
    from disputatio.market.blinding import blind

    return blind(base)


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to run a date: a change of the data, or of the knowledge base built from them."""

    name: str
    about: str
    archive: Callable[[Archive], Archive] = _as_it_is
    base: Callable[[KnowledgeBase], KnowledgeBase] = _named


PLAIN, MIRRORED, BLIND = "plain", "mirrored", "blind"
ARMS: Mapping[str, Arm] = MappingProxyType(
    {
        PLAIN: Arm(PLAIN, "the debate as it would have run"),
        MIRRORED: Arm(
            MIRRORED, "prices reflected in their log returns, so that up becomes down", archive=mirror_prices
        ),
        BLIND: Arm(BLIND, "names and dates removed, every series rebased to 100", base=_blinded),
    }
)


@dataclass(frozen=True, order=True, slots=True)
class Case:
    """One debate of a backtest."""

    day: date
    arm: str = PLAIN

    @property
    def key(self) -> str:
        """Its name within the backtest."""
        return f"{self.arm} {self.day}"


class KnowledgeBases:
    """Builds knowledge bases from an archive for each arm; each arm changes the archive once."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._made: dict[str, Archive] = {}

    def archive(self, arm: str) -> Archive:
        """The archive as changed by ``arm``."""
        if arm not in self._made:
            self._made[arm] = ARMS[arm].archive(self._archive)
        return self._made[arm]

    def of(self, case: Case) -> KnowledgeBase:
        """Build the market as known at the end of the day of ``case``, as its arm shows it.

        Raises:
            InvalidInputError: nothing of the debated index was known then.
            LookAheadError: the archive returns data that were not known then.
        """
        from disputatio.market.sources.builder import build

        return ARMS[case.arm].base(build(case.day, self.archive(case.arm)))


def market_format() -> Format:
    """The format of every debate of a backtest."""
    return find_format("market")


def make_proposal(
    base: KnowledgeBase, settings: Settings, prompts: Path | None = None, horizon: str = DEFAULT_HORIZON
) -> Proposal:
    """The debate on ``base``: whether its subject will rise within ``horizon``."""
    return Proposal(Motion(default_question(base, horizon)), market_format(), settings, prompts=prompts, knowledge=base)


def hash_identity(
    settings: Settings,
    prompts: Path | None = None,
    client_factory: ClientFactory = open_client,
    horizon: str = DEFAULT_HORIZON,
) -> str:
    """Hash everything that decides how a base is debated: rules, seats, prompts, seed, version, horizon.

    Raises:
        InvalidInputError: a key is missing, or a table of rules cannot be read.
    """
    from disputatio.market.sources.files import load_example

    proposal = make_proposal(load_example(), settings, prompts)
    table = assign_seats(proposal.format, settings, proposal.participants, SharedClients(client_factory))
    event, _ = make_opening(make_plan(proposal, table, open_prompts(prompts)), UNLIMITED, software())
    body = {row.name: getattr(event, row.name) for row in fields(event) if row.name not in _NO_IDENTITY}
    # The default horizon adds nothing to the hash, so records of earlier versions are found.
    return digest(canonical(body if horizon == DEFAULT_HORIZON else {**body, "horizon": horizon}))


@lru_cache(maxsize=8192)
def make_debate_id(case: Case, data: str, identity: str) -> str:
    """The id of the debate of ``case``, from the digest of the data and the result of `hash_identity`."""
    return digest(canonical(["backtest", case.arm, case.day.isoformat(), data, identity]))[:ID_LENGTH]
