"""What came out of each debate, in a sentence, for lists. A record is read for it once and again when it has grown."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from disputatio.errors import DisputatioError
from disputatio.record.history import Status
from disputatio.record.store import Store

if TYPE_CHECKING:
    from disputatio._service.debate_book import Listed

_MOST = 5_000
_WITH_RESULT = frozenset({Status.COMPLETE.value, Status.DEGRADED.value, Status.TRUNCATED.value})


class Results:
    """The results of the debates of ``store``."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[tuple[str, str], str] = OrderedDict()

    def of(self, rows: Sequence[Listed]) -> Mapping[str, str]:
        """The result of each debate among ``rows`` that has one, by its id. Call it in a thread."""
        return {row.id: self._one(row) for row in rows if row.status in _WITH_RESULT}

    def _one(self, row: Listed) -> str:
        place = row.id, row.head
        found = self._kept.pop(place, None)
        self._kept[place] = found = self._read(row.id) if found is None else found
        if len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return found

    def _read(self, debate: str) -> str:
        from disputatio.debates import read_debate
        from disputatio.report.summary import result_sentence

        try:
            return result_sentence(read_debate(self._store, debate).report())
        except DisputatioError:
            # Its own page says what is wrong with it.
            return ""
