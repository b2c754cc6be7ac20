"""A market debate by rules alone, in memory: no store, no model, no clock. A backtest calls it once for every date."""

from __future__ import annotations

from disputatio.formats.debate_context import DebateContext
from disputatio.formats.market import ANALYSTS, JUDGE, MarketRules, market
from disputatio.formats.market_verdict import MarketVerdict
from disputatio.kernel import Abstention, Driver
from disputatio.market.knowledge import KnowledgeBase
from disputatio.motion import Motion
from disputatio.participants.analyst.playing import answer
from disputatio.participants.analyst.textbook import Textbook, packaged_text, read_textbook

_USUAL = MarketRules()


def market_by_rules(
    base: KnowledgeBase, *, book: Textbook | None = None, rules: MarketRules = _USUAL, motion: str = ""
) -> MarketVerdict:
    """What the rule-based analysts and the rule-based judge make of ``base``; the same for the same base and table.

    Args:
        base: the knowledge base of one moment.
        book: the table they argue from; the packaged one where none is given.
        rules: the rules of the debate.
        motion: what is debated; the rules do not read it.

    Returns:
        The verdict: ``trace`` has every argument with its score, confidence and standing, ``of(seat)`` those of one
        analyst or side, ``analysts`` who abstained. It equals that of a debate in a store with ``--seat all=rules``.
    """
    table = book or read_textbook(packaged_text())
    subject = motion or f"Will {base.meta.subject_name} rise within a month?"
    driver = Driver(market(rules, DebateContext((*ANALYSTS, JUDGE), Motion(subject), knowledge=base)))
    while not driver.finished:
        for path, asked in driver.open_asks.items():
            given = answer(table, asked)
            driver.answer(path, given if isinstance(given, Abstention) else asked.spec.read(given))
    verdict: MarketVerdict = driver.outcome
    return verdict
