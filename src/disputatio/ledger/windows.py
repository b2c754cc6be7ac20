"""How much a model can be given at once, as far as anybody knows."""

from __future__ import annotations

from functools import lru_cache

from disputatio.participants.local_models import EMBEDDED_MODEL
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.providers import PROVIDERS

UNKNOWN_WINDOW = 32_768
"""The context window that is counted with, in tokens, where nobody knows one."""


def context_window(seating: ModelSeating) -> int:
    """The context window in tokens, prompt and answer together; ``UNKNOWN_WINDOW`` where no table has the model."""
    return known_window(seating) or UNKNOWN_WINDOW


def known_window(seating: ModelSeating) -> int | None:
    """The context window in tokens, prompt and answer together; None where no table has the model."""
    if seating.provider == "embedded":
        return 4_096 if seating.model == EMBEDDED_MODEL else 16_384  # what its server is started with
    provider = PROVIDERS.get(seating.provider)
    table = provider and provider.price_id_at(seating.base_url)
    return _from_table(table, seating.model) if table else None


@lru_cache(maxsize=256)
def _from_table(table: str, model: str) -> int | None:
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider_model(model, None, table, None)[1].context_window
    except LookupError:
        return None
