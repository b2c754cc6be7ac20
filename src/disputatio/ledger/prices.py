"""Prices of calls and context windows of models.

A configured price comes first, then the cost the server reported, then the table of ``genai-prices``. An unknown price
is None, never zero. A model on the user's own machine costs zero because its provider entry says so.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from disputatio.participants.call import Usage
from disputatio.participants.local_models import EMBEDDED_MODEL
from disputatio.participants.model_seat import ModelSeating, Price
from disputatio.participants.providers import PROVIDERS, Kind
from disputatio.record.events import FREE_OF_CHARGE, REPORTED_COST

_MILLION = Decimal(1_000_000)
BATCH_SHARE = Decimal("0.5")
"""The price of a call in a batch as a part of the usual price; the same at OpenAI, Anthropic and Google."""


class Priced(NamedTuple):
    """A cost and its source. ``usd`` is None if no price is known."""

    usd: Decimal | None
    basis: str


class PriceBook:
    """Prices of the models of one debate."""

    def known(self, seating: ModelSeating) -> bool:
        """Whether a call to this seating can be priced before it is made."""
        return self.bound(seating, 1000, 1000) is not None

    def bound(
        self, seating: ModelSeating, input_tokens: int, output_tokens: int, *, batch: bool = False
    ) -> Decimal | None:
        """Return the most a call with these tokens costs; None if no price is known.

        Assumes that nothing is read from a cache and everything is written to it, which some providers charge for.
        """
        usage = Usage(input_tokens, output_tokens, 0, input_tokens)
        priced = self._charge(seating, seating.model, usage)
        return self._in_batch(seating, seating.model, usage, priced).usd if batch else priced.usd

    def charge(self, seating: ModelSeating, served_model: str | None, usage: Usage, *, batch: bool = False) -> Priced:
        """Return the cost of a finished call, at the price of the model that served it.

        If the table lacks the served model, a dated name of the requested model is charged as the requested one. Any
        other model has no price, and the ledger keeps the whole reservation as spent. A reported cost comes before the
        table, and a configured price before both. With ``batch`` the discount of batches applies, except to a reported
        cost.
        """
        if usage.cost_usd is not None and seating.price is None and not (_is_free(seating) and not usage.cost_usd):
            return Priced(usage.cost_usd, REPORTED_COST)
        model = seating.model if served_model is None else served_model
        priced = self._charge(seating, model, usage)
        if priced.usd is None and model != seating.model and model.startswith(seating.model):
            model = seating.model
            priced = self._charge(seating, model, usage)
        return self._in_batch(seating, model, usage, priced) if batch else priced

    def _in_batch(self, seating: ModelSeating, model: str, usage: Usage, priced: Priced) -> Priced:
        """``priced`` at the discount of batches: half of everything.

        At Google, cached input keeps its price (https://ai.google.dev/gemini-api/docs/batch-api).
        """
        if not priced.usd:
            return priced
        usd, cached = priced.usd * BATCH_SHARE, usage.cached_tokens or 0
        if cached and PROVIDERS[seating.provider].kind is Kind.GOOGLE:
            usd += (self._charge(seating, model, Usage(cached, 0, cached)).usd or 0) * (1 - BATCH_SHARE)
        return Priced(usd, f"{priced.basis}, batch")

    def _charge(self, seating: ModelSeating, model: str, usage: Usage) -> Priced:
        if seating.price is None and _is_free(seating):
            return Priced(Decimal(0), FREE_OF_CHARGE)
        if usage.input_tokens is None or usage.output_tokens is None:
            return Priced(None, "the provider reported no tokens")
        if seating.price is not None:
            return Priced(_cost(seating.price, usage), "configured price")
        provider = PROVIDERS.get(seating.provider)
        if provider is not None and provider.free:
            return Priced(Decimal(0), f"{seating.provider} runs here and costs nothing")
        table = provider and provider.price_id_at(seating.base_url)
        if table is None:
            return Priced(None, f"no price is known for {seating.provider}")
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        written = min(usage.written_tokens or 0, usage.input_tokens - cached)
        usd = _from_table(table, model, usage.input_tokens, cached, written, usage.output_tokens)
        if usd is None:
            return Priced(None, f"no price is known for {model} of {seating.provider}")
        return Priced(usd, f"price table: {model}")


def _is_free(seating: ModelSeating) -> bool:
    """Whether OpenRouter gives the model away (https://openrouter.ai/docs/faq: models with the ending ``:free``)."""
    return seating.provider == "openrouter" and seating.model.endswith(":free")


def _cost(price: Price, usage: Usage) -> Decimal:
    tokens_in, tokens_out = usage.input_tokens or 0, usage.output_tokens or 0
    cached = min(usage.cached_tokens or 0, tokens_in)
    cached_price = price.input if price.cached_input is None else price.cached_input
    return ((tokens_in - cached) * price.input + cached * cached_price + tokens_out * price.output) / _MILLION


@lru_cache(maxsize=4096)
def _from_table(table: str, model: str, tokens_in: int, cached: int, written: int, tokens_out: int) -> Decimal | None:
    from genai_prices import Usage as TableUsage
    from genai_prices import calc_price

    usage = TableUsage(
        input_tokens=tokens_in,
        cache_read_tokens=cached,
        cache_write_tokens=written or None,
        output_tokens=tokens_out,
    )
    try:
        return calc_price(usage, model, provider_id=table).total_price
    except LookupError:
        return None


UNKNOWN_WINDOW = 32_768
"""Assumed context window in tokens where none is known."""


def context_window(seating: ModelSeating) -> int:
    """Return the context window in tokens, prompt plus answer; ``UNKNOWN_WINDOW`` where no table has the model."""
    return known_window(seating) or UNKNOWN_WINDOW


def known_window(seating: ModelSeating) -> int | None:
    """Return the context window in tokens, prompt plus answer; None where no table has the model."""
    if seating.provider == "embedded":
        return 4_096 if seating.model == EMBEDDED_MODEL else 16_384  # the size its server starts with
    provider = PROVIDERS.get(seating.provider)
    table = provider and provider.price_id_at(seating.base_url)
    return _window_from_table(table, seating.model) if table else None


@lru_cache(maxsize=256)
def _window_from_table(table: str, model: str) -> int | None:
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider_model(model, None, table, None)[1].context_window
    except LookupError:
        return None
