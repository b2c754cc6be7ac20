"""A knowledge base as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.table import Table

from disputatio.errors.quoting import name_some
from disputatio.market.knowledge import Datum, Failed, KnowledgeBase
from disputatio.market.slices import format_dates, format_datum
from disputatio.motion import one_line


def make_tables(base: KnowledgeBase, width: int) -> Iterator[Table]:
    """The tables of the sections of ``base``, and at the end one of missing values; ``width`` is in columns."""
    indices = base.indices.values()
    day, days = _one_day(row.price for row in indices)
    yield _table(
        f"Indices{day}, changes in %",
        ("", "price", "day", "5d", "20d", "50d", "200d", "high", "low", "volume", *(("as of",) if days else ())),
        (
            (
                row.name,
                *(row.price, row.change_pct, *(row.returns.get(horizon) for horizon in ("5d", "20d", "50d", "200d"))),
                *(row.vs_52w_high_pct, row.vs_52w_low_pct, row.volume_ratio),
                *((row.price.observed_at,) if days else ()),
            )
            for row in indices
        ),
    )
    yield from _technicals(base)
    if base.sectors:
        yield _sectors(base)
    yield _table("Fundamentals", ("", "value", "as of"), _fundamentals(base))
    yield _macro(base, wide=width >= _WIDE)
    yield _table("Sentiment", ("", "value", "as of"), _sentiment(base))
    yield from _missing(base)


_WIDE = 120


def _one_day(data: Iterable[Datum]) -> tuple[str, bool]:
    """The common day of ``data`` for the title, and whether the rows have several days."""
    days = {datum.observed_at for datum in data if datum.is_known}
    return ("", True) if len(days) > 1 else (f", {one_line(days.pop(), 20)}" if days else "", False)


def _technicals(base: KnowledgeBase) -> Iterator[Table]:
    rows = base.technicals.values()
    yield _table(
        "The close and its averages over 20, 50 and 200 sessions",
        ("", *("MA20", "MA50", "MA200")),
        ((row.name, *(_average(row.ma_status.get(key), row.ma_levels.get(key)) for key in _AVERAGES)) for row in rows),
    )
    yield _table(
        "Oscillators and volume",
        ("", "RSI-14", "MACD", "line", "signal", "ATR-14", "volume"),
        (
            (
                *(row.name, row.rsi_14, row.macd_signal, row.macd.get("line"), row.macd.get("signal"), row.atr_14),
                row.volume_trend,
            )
            for row in rows
        ),
    )


def _sectors(base: KnowledgeBase) -> Table:
    day, days = _one_day(row.price for row in base.sectors.values())
    return _table(
        f"Sectors{day}",
        ("", "name", "price USD", "5d %", "20d %", "against index, pp", *(("as of",) if days else ())),
        (
            (
                *(key, row.name, row.price, row.change_5d_pct, row.change_20d_pct, row.relative_strength_vs_spx),
                *((row.price.observed_at,) if days else ()),
            )
            for key, row in base.sectors.items()
        ),
    )


def _macro(base: KnowledgeBase, *, wide: bool) -> Table:
    heads = (
        "",
        *(("name",) if wide else ()),
        "latest",
        "before",
        "trend",
        "on a year",
        "observed",
        "vintage",
        "known from",
    )
    return _table(
        "Macroeconomy: output, prices and payrolls as growth on a year earlier",
        heads,
        (
            (
                *(key, *((row.name,) if wide else ()), _full(row.latest_value), row.previous_value, row.trend),
                *(_full(row.yoy_change_pct), row.latest_value.observed_at, row.latest_value.vintage),
                row.latest_value.available_at[:10],
            )
            for key, row in base.macro.items()
        ),
    )


_AVERAGES = ("ma20", "ma50", "ma200")


def _fundamentals(base: KnowledgeBase) -> Iterator[tuple[str, ...]]:
    values = base.fundamentals
    for name, datum in (
        ("Price over earnings", values.sp500_pe_approx.current_pe_approx),
        ("Its long-term average", values.sp500_pe_approx.long_term_avg_pe),
        ("Earnings yield", values.sp500_earnings_yield_approx),
        ("Sector rotation", values.sector_rotation_signal),
    ):
        yield name, _full(datum), format_dates(datum)


def _sentiment(base: KnowledgeBase) -> Iterator[tuple[str, ...]]:
    values = base.sentiment
    for name, datum in (
        ("VIX", values.vix_level),
        ("Its regime", values.vix_regime),
        ("Volume", values.volume_signal),
        ("Sectors up over 5 sessions", values.sector_breadth.positive_5d),
        ("Sectors up over 20 sessions", values.sector_breadth.positive_20d),
        ("Breadth", values.sector_breadth.breadth_regime),
    ):
        yield name, _full(datum), format_dates(datum)


def _average(status: Datum | None, level: Datum | None) -> str:
    """On which side of an average the close is, and the level of the average."""
    side = _short(status)
    return f"{side} {_short(level)}" if level is not None and level.is_known else side


def _full(datum: Datum) -> str:
    """A value with its unit."""
    if not datum.is_known:
        return _short(datum)
    return format_datum(datum).replace("_", " ")


def _short(cell: Datum | str | None) -> str:
    """A value without its unit; a dash if it is missing, ``failed`` if its source failed."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return one_line(cell, 60)
    if not cell.is_known:
        return "failed" if isinstance(cell.content, Failed) else "-"
    if cell.number is None:
        return format_datum(cell).replace("_", " ")
    return f"{cell.number:,f}"


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[Datum | str | None]]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 1, 0, 0))
    cells = [[_short(cell) for cell in row] for row in rows]
    for place, head in enumerate(heads):
        numeric = place > 0 and all(_is_number(row[place]) for row in cells)
        table.add_column(head, justify="right" if numeric else "left", header_style="dim", no_wrap=True)
    for row in cells:
        table.add_row(*row)
    return table


def _is_number(cell: str) -> bool:
    return not cell or cell in {"-", "failed"} or cell.replace(",", "").replace(".", "").lstrip("-").isdigit()


def _missing(base: KnowledgeBase) -> Iterator[Table]:
    """Tables of the missing values by reason, and of the warnings."""
    from disputatio.market.knowledge import collect_data

    reasons: dict[str, list[str]] = {}
    for pointer, datum in collect_data(base).items():
        if not datum.is_known:
            reasons.setdefault(format_datum(datum), []).append(pointer)
    if reasons:
        yield _list_table(
            "Not known",
            [f"{reason}: {name_some(list(dict.fromkeys(pointers)), 4)}" for reason, pointers in reasons.items()],
        )
    if base.meta.warnings:
        yield _list_table("Warnings", [one_line(warning, 300) for warning in base.meta.warnings])


def _list_table(title: str, lines: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, show_header=False, padding=(0, 1))
    for line in lines:
        table.add_row("-", line)
    return table
