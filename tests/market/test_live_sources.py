"""Live sources against servers of our own that speak as FRED and Yahoo Finance do; the real ones are never asked here.

What FRED's fake answers follows its documentation of series/observations with a real-time period; Yahoo's, the shape of
its v8 chart that the installed yfinance reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from disputatio.market.knowledge import Failed, Known, Missing
from disputatio.market.sources.builder import build
from disputatio.market.sources.csv_folder import open_csv_folder
from disputatio.market.sources.errors import SourceError
from disputatio.market.sources.live import BusyError, Fetcher, LiveSources, download_with_yfinance, open_live_sources
from disputatio.market.sources.port import Catalogue, Fallback

pytestmark = pytest.mark.slow  # whole knowledge bases, over sockets

AS_OF = date(2024, 3, 28)


class Answers:
    """What a fake server says, and what it was asked."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[dict[str, str]] = []


@contextmanager
def served(answers: Answers) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            split = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(split.query).items()}
            answers.asked.append({"path": split.path, **query})
            status, headers, body = answers.answer(split.path, query, len(answers.asked))
            raw = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"content-type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def observations(_path: str, query: dict[str, str], _count: int) -> tuple[int, dict[str, str], Any]:
    """Three years of months, one per cent more each; the last was first told too high and then revised."""
    last = date(2024, 2, 1)
    rows = []
    for back in range(36):
        month = last.year * 12 + last.month - 1 - back
        day = f"{month // 12}-{month % 12 + 1:02d}-01"
        start = max(query["realtime_start"], f"{day[:8]}20")
        rows.append(
            {"realtime_start": start, "realtime_end": query["realtime_end"], "date": day, "value": str(200 - back)}
        )
    revised = "2024-03-29"
    rows[0] = {**rows[0], "realtime_start": "2024-03-12", "realtime_end": query["realtime_end"]}
    if query["realtime_end"] >= revised:
        rows[0]["realtime_end"] = "2024-03-28"
        rows.append({**rows[0], "realtime_start": revised, "realtime_end": query["realtime_end"], "value": "150"})
    rows.append({"realtime_start": "2024-01-10", "realtime_end": "9999-12-31", "date": "2023-12-15", "value": "."})
    return 200, {}, {"observations": rows}


def sessions(_ticker: str, start: str, end: str) -> tuple[list[str], dict[str, list[float]]]:
    first, days = date.fromisoformat(start), []
    while first.isoformat() < end:
        if first.weekday() < 5:
            days.append(first.isoformat())
        first += timedelta(days=1)
    closes = [100 + place % 7 + place / 10 for place in range(len(days))]
    bars = {"Open": closes, "High": [row + 1 for row in closes], "Low": [row - 1 for row in closes], "Close": closes}
    return days, {**bars, "Adj Close": [row / 2 for row in closes], "Volume": [1e6] * len(days)}


SMALL = Catalogue("GSPC", {"GSPC": "S&P 500", "N225": "Nikkei 225"}, {}, ("N225",))


def small(*given: Any, **more: Any) -> LiveSources:
    """Live sources that are asked for two indices and no sectors, which is quicker."""
    return replace(open_live_sources(*given, **more), catalogue=SMALL)


def patient(folder: Path, pauses: list[float] | None = None, clock: list[float] | None = None) -> Fetcher:
    waited: list[float] = [] if pauses is None else pauses
    time = [1_711_700_000.0] if clock is None else clock
    return Fetcher(folder, now=lambda: time[0], pause=waited.append)


def test_what_is_asked_names_the_real_time_period(tmp_path):
    """What is asked names the real time period and what is held its release."""
    answers = Answers(observations)
    with served(answers) as url:
        sources = open_live_sources(
            {"FRED_API_KEY": "k" * 32}, fetcher=patient(tmp_path), download=sessions, fred_url=url
        )
        base = build(AS_OF, sources)
        again = build(AS_OF, sources)
        known_later = build(date(2024, 3, 29), sources)
    payrolls = base.macro["PAYEMS"].latest_value
    assert payrolls.number is not None
    assert float(payrolls.number) == pytest.approx((200 / 188 - 1) * 100, abs=0.005)
    assert (payrolls.observed_at, payrolls.vintage, payrolls.source) == ("2024-02-01", "2024-03-28", "FRED")
    # The end of the day of its release in New York, which had summer time by then.
    assert payrolls.available_at == "2024-03-13T03:59:59Z"
    assert float(known_later.macro["PAYEMS"].latest_value.number) == pytest.approx((150 / 188 - 1) * 100, abs=0.005)
    asked = next(row for row in answers.asked if row["series_id"] == "PAYEMS")
    assert (asked["realtime_end"], asked["realtime_start"]) == ("2024-03-28", "2023-11-29")
    assert base == again
    assert len(answers.asked) == 2 * 10, "the second time everything comes from the cache"
    kept = "".join(path.read_text() for path in tmp_path.glob("*.json"))
    assert "k" * 32 not in kept
    # Closes are not the dividend-adjusted ones.
    assert base.indices["GSPC"].price.number is not None
    assert base.indices["GSPC"].price.number > 100
    assert isinstance(base.fundamentals.sp500_pe_approx.current_pe_approx.content, Missing)
    assert len(base.sectors) == 11


def test_a_session_that_is_not_over_is_not_known(tmp_path):
    sources = small({}, fetcher=patient(tmp_path), download=sessions)
    noon = build(datetime(2024, 3, 28, 16, 0, tzinfo=UTC), sources)
    assert noon.indices["GSPC"].price.observed_at == "2024-03-27"
    assert noon.indices["N225"].price.observed_at == "2024-03-28", "Tokyo closed hours before"
    assert noon.meta.market_status == "open"


def test_a_busy_server_is_asked_again_when_it_says(tmp_path):
    pauses: list[float] = []

    def busy(path: str, query: dict[str, str], count: int) -> tuple[int, dict[str, str], Any]:
        return (429, {"retry-after": "7"}, {}) if count <= 2 else observations(path, query, count)

    with served(Answers(busy)) as url:
        sources = small({"FRED_API_KEY": "x"}, fetcher=patient(tmp_path, pauses), download=sessions, fred_url=url)
        base = build(AS_OF, sources)
    assert pauses == [7.0, 7.0]
    assert base.macro["GDP"].latest_value.is_known


def test_who_stays_busy_has_failed_and_is_not_asked(tmp_path):
    """Who stays busy has failed and is not asked for every series."""
    pauses: list[float] = []
    answers = Answers(lambda *_: (503, {}, {}))
    with served(answers) as url:
        sources = small({"FRED_API_KEY": "x"}, fetcher=patient(tmp_path, pauses), download=sessions, fred_url=url)
        base = build(AS_OF, sources)
    assert pauses == [1.0, 2.0, 4.0]
    assert len(answers.asked) == 4
    for row in base.macro.values():
        assert isinstance(row.latest_value.content, Failed)
        assert row.latest_value.number is None
    assert any("FRED answered 503 (asked 4 times)" in warning for warning in base.meta.warnings)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            (400, {}, {"error_message": "Bad Request. The value for variable api_key is not registered."}),
            "not registered",
        ),
        ((200, {}, {"rows": []}), "another form"),
        ((200, {}, b"<html>sign in</html>"), "another form"),
        ((200, {}, {"observations": []}), "no observations"),
    ],
)
def test_an_answer_that_cannot_be_used_is_a_failure(tmp_path, answer, said):
    """An answer that cannot be used is a failure with its reason."""
    with served(Answers(lambda *_: answer)) as url:
        sources = small({"FRED_API_KEY": "hidden-key"}, fetcher=patient(tmp_path), download=sessions, fred_url=url)
        base = build(AS_OF, sources)
    held = base.macro["UNRATE"].latest_value.content
    assert isinstance(held, Failed)
    assert said in held.reason
    assert "hidden-key" not in json.dumps(base.meta.warnings)


def test_without_a_key_the_base_says_so(tmp_path):
    base = build(AS_OF, small({}, fetcher=patient(tmp_path), download=sessions))
    held = base.macro["CPI"].trend.content
    assert isinstance(held, Failed)
    assert "FRED_API_KEY" in held.reason


@pytest.mark.parametrize(
    ("download", "said"),
    [
        (lambda *_: ([], {}), "gave no rows"),
        (lambda *given: (sessions(*given)[0], {"Preis": sessions(*given)[1]["Close"]}), "gave no Close"),
    ],
)
def test_an_empty_or_a_changed_frame_is_a_failure(tmp_path, download, said):
    def only_vix_is_bad(ticker: str, start: str, end: str) -> tuple[list[str], dict[str, list[float]]]:
        return download(ticker, start, end) if ticker == "^VIX" else sessions(ticker, start, end)

    base = build(AS_OF, small({}, fetcher=patient(tmp_path), download=only_vix_is_bad))
    held = base.sentiment.vix_level.content
    assert isinstance(held, Failed)
    assert said in held.reason
    assert isinstance(base.sentiment.vix_regime.content, Failed)


def test_what_was_fetched_before_stands_in_and_the_base_says_so(tmp_path):
    clock = [1_711_700_000.0]
    build(AS_OF, small({}, fetcher=patient(tmp_path, clock=clock), download=sessions))
    clock[0] += 7_200

    def down(*_: str) -> tuple[list[str], dict[str, list[float]]]:
        raise BusyError("Yahoo Finance limits requests for now")

    base = build(AS_OF, small({}, fetcher=patient(tmp_path, clock=clock), download=down))
    assert isinstance(base.indices["GSPC"].price.content, Known)
    assert any("limits requests" in row and "stands in" in row for row in base.meta.warnings)


def test_a_second_source_stands_in_where_the_first_fails(tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    days, columns = sessions("", "2021-01-01", "2024-03-29")
    rows = [f"{day},{close + 1000}" for day, close in zip(days, columns["Close"], strict=True)]
    (folder / "index_GSPC.csv").write_text("\n".join(["Date,Close", *rows]))

    def down(*_: str) -> tuple[list[str], dict[str, list[float]]]:
        raise SourceError("Yahoo Finance is gone")

    base = build(AS_OF, Fallback(small({}, fetcher=patient(tmp_path), download=down), open_csv_folder(folder)))
    assert base.indices["GSPC"].price.source == "csv:index_GSPC"
    assert base.meta.data_sources == ("live+csv:own",)
    assert any(
        "index:GSPC: live failed (Yahoo Finance is gone); csv:own stands in." in row for row in base.meta.warnings
    )
    assert isinstance(base.indices["N225"].price.content, Failed)


def chart(_path: str, _query: dict[str, str], _count: int) -> tuple[int, dict[str, str], Any]:
    """Two sessions of Tokyo, whose midnight is the evening before in UTC."""
    stamps = [int(datetime(2024, 3, day, tzinfo=UTC).timestamp()) for day in (27, 28)]
    meta = {
        "currency": "JPY",
        "symbol": "^N225",
        "exchangeName": "OSA",
        "instrumentType": "INDEX",
        "timezone": "JST",
        "exchangeTimezoneName": "Asia/Tokyo",
        "gmtoffset": 32_400,
        "priceHint": 2,
        "dataGranularity": "1d",
        "range": "",
        "validRanges": ["1d", "max"],
        "regularMarketTime": stamps[-1],
        "firstTradeDate": -157_420_800,
        "regularMarketPrice": 40_168.07,
        "chartPreviousClose": 40_398.03,
    }
    quote = {"open": [40_000.0, 40_100.0], "high": [41_000.0, 41_100.0], "low": [39_000.0, 39_100.0]}
    quote |= {"close": [40_762.73, 40_168.07], "volume": [0, 120_000_000]}
    result = {
        "meta": meta,
        "timestamp": stamps,
        "indicators": {"quote": [quote], "adjclose": [{"adjclose": [1.0, 2.0]}]},
    }
    return 200, {}, {"chart": {"result": [result], "error": None}}


@pytest.mark.parametrize("limited", [False, True])
def test_yfinance_itself_is_asked_without_adjustment(limited):
    """The installed yfinance over a real socket; only where it connects to is turned to this machine."""
    curl = pytest.importorskip("curl_cffi.requests", reason="yfinance is not installed")
    answers = Answers(lambda *given: (429, {}, b"Too Many Requests") if limited else chart(*given))
    with served(answers) as here:

        class Turned(curl.Session):
            def request(self, method: str, url: str, *rest: Any, **more: Any) -> Any:
                return super().request(method, f"{here}{urlsplit(url).path}", *rest, **more)

        def ask() -> tuple[list[str], dict[str, list[float]]]:
            return download_with_yfinance("^HSI" if limited else "^N225", "2024-03-01", "2024-03-29", session=Turned())

        if limited:
            with pytest.raises(BusyError, match="limits requests"):
                ask()
            return
        days, columns = ask()
    assert days == ["2024-03-27", "2024-03-28"]
    assert columns["Close"] == pytest.approx([40_762.73, 40_168.07])
    assert any(row["path"] == "/v8/finance/chart/^N225" or "N225" in row["path"] for row in answers.asked)
