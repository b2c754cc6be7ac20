"""``disputatio keys``: manage the keys of the service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from disputatio._cli.arguments import make_arguments
from disputatio._cli.options import StoreOption
from disputatio._cli.streams import print_json, print_lines, tell
from disputatio.errors import InvalidInputError

if TYPE_CHECKING:
    from disputatio._service.key_book import KeyBook

keys = typer.Typer(help="Manage the keys of the service: who may use it, and for how much money.", no_args_is_help=True)


_LEAST_USD, _MOST_USD = Decimal("0.000000001"), Decimal(1_000_000)
"""The bounds of the ceilings that requests may set."""


class ScopeName(StrEnum):
    """What a key allows."""

    READ = "read"
    RUN = "run"
    ADMIN = "admin"


class PeriodName(StrEnum):
    """The period of a budget."""

    DAY = "day"
    MONTH = "month"
    TOTAL = "total"


@keys.command("add")
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the person or program that uses the key.")],
    scope: Annotated[
        ScopeName, typer.Option("--scope", help="read: read debates. run: also start and stop them. admin: everything.")
    ] = ScopeName.RUN,
    tenant: Annotated[
        str,
        typer.Option(
            "--tenant", metavar="T", help="Whose debates the key sees. 'local' has those of the command line."
        ),
    ] = "local",
    budget_usd: Annotated[
        str | None,
        typer.Option("--budget-usd", metavar="X", help="Most US dollars that its debates may spend in a period."),
    ] = None,
    budget_tokens: Annotated[
        int | None,
        typer.Option(
            "--budget-tokens",
            metavar="N",
            min=1,
            max=10**12,
            help="Most tokens that its debates may spend in a period.",
        ),
    ] = None,
    period: Annotated[PeriodName, typer.Option("--period", help="The period of the budget.")] = PeriodName.MONTH,
    per_minute: Annotated[
        int, typer.Option("--per-minute", metavar="N", min=1, max=1_000_000, help="Most requests a minute.")
    ] = 300,
    json_: Annotated[bool, typer.Option("--json", metavar="", help="Print the key as JSON.")] = False,
    store: StoreOption = None,
) -> None:
    """Make a key and print it. It cannot be shown again: only its hash is stored."""
    with _open_book(store) as book:
        from disputatio._service.keys import KEYLESS, Period, Scope, checked_name, checked_tenant

        settings = replace(
            KEYLESS,
            name=checked_name(name),
            tenant=checked_tenant(tenant),
            scope=Scope(scope.value),
            budget_usd=None if budget_usd is None else _read_amount(budget_usd),
            budget_tokens=budget_tokens,
            period=Period(period.value),
            per_minute=per_minute,
        )
        key, token = book.add(settings)
    if json_:
        print_json({"id": key.id, "key": token, "tenant": key.tenant, "scope": key.scope.value})
        return
    print_lines(token)
    tell(f"This is key {key.id} ({key.scope.value}, tenant {key.tenant}). It is not shown again.")


@keys.command("list")
def list_keys(
    json_: Annotated[bool, typer.Option("--json", metavar="", help="Print the list as JSON.")] = False,
    store: StoreOption = None,
) -> None:
    """List all keys, without their secrets."""
    with _open_book(store) as book:
        rows = book.all()
    if json_:
        print_json(
            [
                {
                    "id": row.id,
                    "name": row.name,
                    "tenant": row.tenant,
                    "scope": row.scope.value,
                    "created_at": row.created_at,
                    "revoked_at": row.revoked_at or None,
                    "budget_usd": None if row.budget_usd is None else str(row.budget_usd),
                    "budget_tokens": row.budget_tokens,
                    "period": row.period.value,
                    "per_minute": row.per_minute,
                }
                for row in rows
            ]
        )
        return
    if not rows:
        print_lines("There are no keys. `disputatio keys add NAME` makes one.")
        return
    lines = [f"{'id':8}  {'scope':5}  {'tenant':12}  {'made':10}  {'budget':20}  name"]
    for row in rows:
        parts = [f"{row.budget_usd} USD"] if row.budget_usd is not None else []
        parts += [f"{row.budget_tokens:,} tokens"] if row.budget_tokens is not None else []
        budget = f"{', '.join(parts)} a {row.period.value}" if parts else "-"
        revoked = "  (revoked)" if row.revoked_at else ""
        lines.append(
            f"{row.id:8}  {row.scope.value:5}  {row.tenant:12}  {row.created_at[:10]}  {budget:20}  {row.name}{revoked}"
        )
    print_lines("\n".join(lines))


@keys.command("revoke")
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, as in `disputatio keys list`.")],
    store: StoreOption = None,
) -> None:
    """Revoke a key at once. Browser sessions that began with it end."""
    with _open_book(store) as book:
        key = book.revoke(key_id.strip())
    print_lines(f"Key {key.id} ({key.name}) is revoked.")


@contextmanager
def _open_book(store: str | None) -> Iterator[KeyBook]:
    from disputatio._service.database import Database
    from disputatio._service.key_book import KeyBook
    from disputatio.config.process import configured_store

    database = Database(configured_store(make_arguments(store=store)).store)
    try:
        yield KeyBook(database)
    finally:
        database.close()


def _read_amount(text: str) -> Decimal:
    try:
        amount = Decimal(text.strip())
    except InvalidOperation:
        amount = Decimal("nan")
    if not amount.is_finite() or not _LEAST_USD <= amount <= _MOST_USD or amount % _LEAST_USD:
        raise InvalidInputError(
            f"--budget-usd {text[:40]!r} is not an amount of money.",
            f"Give US dollars, such as 5 or 0.50: at most {_MOST_USD:,}, with up to 9 decimals.",
        )
    return amount
