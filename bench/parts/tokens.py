"""What a debate sends: its input, what a prefix cache serves of it, and the bill, beside a naive layout of the same."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from measured import Figure

import disputatio
from disputatio.ledger.prices import PriceBook
from disputatio.participants.caching import RULES, CachedCall, Prices, bill
from disputatio.participants.call import OutputMode, Usage
from disputatio.participants.length_profiles import USUAL
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.providers import PROVIDERS
from disputatio.testing.prefixes import PrefixMeter, PrefixTotals

TITLE = "Tokens, prefix caches and the bill"
ABOUT = (
    "Debates held by the engine with texts a fifth as long as their forms allow; a token is four bytes. Cached is what "
    "begins like a call that was answered before this one left; the naive layout sends the same texts with the seat's "
    "role and task first. Prices are those of the price table for each provider's default model. A debate is billed "
    "with its schema behind the prompt, as constrained decoding or the mode `prompted` has it. What a provider bills "
    "for the input is by the rules of its cache, schemas included, in hundredths of the bill of native mode with the "
    "task in front."
)
MOTION: Final = "A startup with fewer than ten people should build microservices from day one"
SOURCE: Final = "The on-call rota has {n} people, and release {n} took {n}0 minutes longer than the one before it.\n"
PRICED: Final = ("openai", "anthropic", "google", "deepseek")
GOAL: Final = 45
"""Most that a provider may bill for the input, in hundredths of the naive layout's bill."""
GROWTH: Final = (1, 2, 4, 8)


@dataclass(frozen=True)
class Kind:
    """A kind of debate, and what it must keep: the least share of its input, the most of the naive layout's bill.

    ``characters`` is the length of its texts, where they are not a fifth of what the forms allow.
    """

    name: str
    format: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    sources: bool = False
    share: float | None = None
    billed: float | None = None
    note: str = ""
    characters: int | None = None


REVIEW: Final = "all that was ever sent before is cached: no order of the texts could have more"
KINDS: Final = (
    Kind("freeform, 3 rounds", "freeform"),
    Kind("structured", "structured", share=45, billed=60),
    Kind("panel, 3 rounds", "panel"),
    Kind("market", "market", share=40, billed=60),
    Kind("review, 1 round", "review", note=REVIEW),
    Kind("review, 1 round, 6 KB of sources", "review", sources=True, share=60, billed=45),
    Kind("review, 2 rounds", "review", {"rounds": 2}, share=60, billed=45),
    Kind("review, 3 rounds", "review", {"rounds": 3}, share=60, billed=45),
    Kind("competition", "competition", share=85, billed=25),
)


def figures() -> list[Figure]:
    """The rows of this part."""
    rows: list[Figure] = []
    for kind in KINDS:
        rows += _rows(kind, asyncio.run(held(kind)))
        rows += [row for provider in PRICED for row in _billed(kind, provider)]
    return [*rows, *_growth()]


async def held(kind: Kind) -> PrefixTotals:
    """What one debate of ``kind`` comes to."""
    return (await metered(kind, "ollama:metered")).sums()


async def metered(kind: Kind, model: str) -> PrefixMeter:
    """One debate of ``kind`` with ``model`` in every seat, metered."""
    meter = PrefixMeter(replace(USUAL, characters=kind.characters), modes=tuple(OutputMode)[:3])
    with tempfile.TemporaryDirectory() as folder:
        sources = []
        if kind.sources:
            path = Path(folder) / "operations.md"
            path.write_text("".join(SOURCE.format(n=number) for number in range(3, 63)), "utf-8")
            sources = [path]
        os.environ.pop("DISPUTATIO_STAGGER", None)
        await disputatio.debate(
            "" if kind.format == "market" else MOTION,
            format=disputatio.Panel(debaters=("ada", "ben", "cleo")) if kind.format == "panel" else kind.format,
            seats={"all": model},
            evidence=sources,
            config=dict(kind.settings),
            store=disputatio.MemoryStore(),
            client_factory=lambda *_: meter,
        )
    return meter


def _rows(kind: Kind, sums: PrefixTotals) -> Iterator[Figure]:
    name = kind.name
    told = f"{sums.calls} calls, {sums.schemas:,} tokens of schemas, {sums.output:,} of answers"
    yield Figure(name=f"{name}: input", value=sums.input, unit="tokens", note=told)
    least = kind.share
    yield Figure(name=f"{name}: cached", value=100 * sums.share, unit="%", at_least=least, note=kind.note)
    naive = 100 * sums.served_naive / sums.input
    yield Figure(name=f"{name}: cached, naive layout", value=naive, unit="%")
    if sums.served_beside > 1.01 * sums.served:
        yield Figure(name=f"{name}: cached, staggered", value=100 * sums.share_staggered, unit="%")
    front = 100 * sums.served_in_front / (sums.input + sums.schemas)
    yield Figure(
        name=f"{name}: cached, schema in front", value=front, unit="%", note="native mode at OpenAI, Anthropic"
    )
    yield Figure(
        name=f"{name}: input billed, of the naive layout's",
        value=100 * sums.billed(0.1),
        unit="%",
        at_most=kind.billed,
        note="cached tokens at a tenth",
    )
    if sums.served_beside > 1.01 * sums.served:
        billed = 100 * sums.billed(0.1, staggered=True)
        yield Figure(name=f"{name}: input billed, of the naive layout's, staggered", value=billed, unit="%")
    for provider in PRICED:
        yield _bill(name, sums, provider)


def _billed(kind: Kind, provider: str) -> Iterator[Figure]:
    """What a provider bills for the input, by the rules of its cache, as parts of the naive layout's bill.

    The naive one is native mode with the task in front: no cache serves anything of it.
    """
    model = str(PROVIDERS[provider].default_model)
    fresh, read, written = (_price(provider, model, usage) for usage in _PRICES)
    prices, rules = Prices(float(read / fresh), float(written / fresh)), RULES[provider]
    found: dict[str, PrefixMeter] = {}
    for mode in ("native", ""):
        with _environment({"LLM_MODE": mode, **dict.fromkeys(PROVIDERS[provider].key_variables, "unused")}):
            found[mode] = asyncio.run(metered(kind, f"{provider}:{model}"))
    naive = sum(row.sent.tokens for row in found["native"].rows)

    def share(mode: str, *, staggered: bool = False) -> float:
        return 100 * bill((row.sent for row in found[mode].rows), rules, prices, staggered=staggered).cost / naive

    chosen = "native" if found[""].rows[0].sent.schema else "prompted"
    told = f"{chosen} mode, chosen by the engine; native {share('native'):.1f} %"
    # Where prompts are long enough for the cache.
    most = GOAL if rules.least <= 1024 and (kind.share or 0) >= 60 else None
    yield Figure(name=f"{kind.name}: input billed by {model}", value=share(""), unit="%", at_most=most, note=told)
    if share("", staggered=True) < 0.99 * share(""):
        name = f"{kind.name}: input billed by {model}, staggered"
        told = f"native {share('native', staggered=True):.1f} %"
        yield Figure(name=name, value=share("", staggered=True), unit="%", note=told)
    if kind.format == "competition":
        last = bill(_private_last([row.sent for row in found[""].rows]), rules, prices)
        name = f"{kind.name}: input billed by {model}, private posts last"
        yield Figure(name=name, value=100 * last.cost / naive, unit="%", note="another layout, not in use")


def _private_last(calls: Sequence[CachedCall]) -> list[CachedCall]:
    """The calls with what not everybody hears behind what everybody hears, both in their order."""
    public: list[frozenset[tuple[int, int]]] = [frozenset(calls[-1].shared)]
    for call in reversed(calls[:-1]):
        # What all later calls hear, and what nobody had said yet.
        public.append(frozenset(call.shared) & public[-1])
    laid_out = []
    for call, everybody in zip(calls, reversed(public), strict=True):
        rows = [row for row in call.shared if row in everybody], [row for row in call.shared if row not in everybody]
        laid_out.append(replace(call, shared=[*rows[0], *rows[1]]))
    return laid_out


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ |= values
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            os.environ |= {} if value is None else {name: value}


def _bill(name: str, sums: PrefixTotals, provider: str) -> Figure:
    model = str(PROVIDERS[provider].default_model)
    fresh, read, written = (_price(provider, model, usage) for usage in _PRICES)
    ratio, premium = float(read / fresh), float(written / fresh)
    output = float(_price(provider, model, Usage(0, 1_000_000, 0))) * sums.output / 1e6
    plain = float(fresh) * sums.input / 1e6 + output
    bill = float(fresh) * (sums.served * ratio + (sums.input - sums.served - sums.tails) * premium + sums.tails) / 1e6
    return Figure(
        name=f"{name}: bill, {model}",
        value=100 * (bill + output),
        unit="US cents",
        note=f"{100 * plain:.3g} without caching; reads {ratio:.3g}, writes {premium:.3g} of the usual price",
    )


_PRICES: Final = (Usage(10**6, 0, 0), Usage(10**6, 0, 10**6), Usage(10**6, 0, 0, 10**6))


def _price(provider: str, model: str, usage: Usage) -> Decimal:
    # A thousandth of the tokens: prices rise for prompts of hundreds of thousands.
    few = Usage(*(None if count is None else count // 1000 for count in _counts(usage)))
    usd = PriceBook().charge(ModelSeating(provider=provider, model=model), None, few).usd
    if usd is None:
        raise RuntimeError(f"the price table has no price for {model} of {provider}")
    return usd * 1000


def _counts(usage: Usage) -> tuple[int | None, ...]:
    return usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.written_tokens


def _growth() -> Iterator[Figure]:
    """Competitions with more and more free debate: the input grows with its square, what is not cached does not."""
    held_at: dict[int, PrefixTotals] = {}
    for times in GROWTH:
        rules = {"rules": {"free_words": 1000 * times, "free_speeches": 8 * times}}
        held_at[times] = asyncio.run(held(Kind("", "competition", rules, characters=600)))
        sums = held_at[times]
        told = f"{sums.input:,} sent, {sums.calls} calls"
        yield Figure(name=f"free debate x{times}: uncached input", value=sums.uncached, unit="tokens", note=told)
    slopes = [
        (held_at[2 * times].uncached - held_at[times].uncached) / (held_at[2 * times].calls - held_at[times].calls)
        for times in GROWTH[:-1]
    ]
    yield Figure(
        name="uncached input of a further call, from x4 to x8 against from x1 to x2",
        value=slopes[-1] / slopes[0],
        unit="x",
        at_most=1.25,
        note="1 is linear growth; quadratic growth would be 4",
    )
