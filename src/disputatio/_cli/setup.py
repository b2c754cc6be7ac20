"""``disputatio doctor``, ``models`` and ``topics``: show what a debate would use, and what there is to choose."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Coroutine
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from disputatio._cli.arguments import load_format, make_arguments
from disputatio._cli.options import MODELS, takes
from disputatio._cli.screen import print_doctor, print_models
from disputatio._cli.stopping import StopSignals
from disputatio._cli.stores import open_store
from disputatio._cli.streams import print_json
from disputatio.errors import DisputatioError, ExitCode

if TYPE_CHECKING:
    from disputatio.config import Finding, Settings
    from disputatio.tools.protocol import McpServer

Value = TypeVar("Value")


@takes("format", *MODELS, "tools", "mcp", "store")
def doctor(
    no_calls: Annotated[
        bool, typer.Option("--no-calls", metavar="", help="Call no model and start no MCP server.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", metavar="", help="Print the findings as JSON.")] = False,
    **given: Any,
) -> None:
    """Report what a debate would use, where each setting comes from, and whether each model answers.

    Each model is asked for one word. Keys are never printed.
    """
    from disputatio.config import State, diagnose
    from disputatio.config.process import settings_for

    form = load_format(given.pop("format") or "structured")
    settings = settings_for(form, make_arguments(form.name, **given))
    findings = [_try_store(row, settings) for row in diagnose(settings, environ=os.environ, directory=Path.cwd())]
    findings += _find_tools(settings, no_calls=no_calls)
    answers = {} if no_calls else _run_until_stopped(_ask_models(settings))
    if json_:
        print_json({"findings": [asdict(row) for row in findings], "answers": answers})
    else:
        print_doctor(findings, answers)
    if any(row["state"] == "problem" for row in answers.values()):
        raise typer.Exit(int(ExitCode.PROVIDER))
    problems = {row.area for row in findings if row.state is State.PROBLEM}
    if problems:
        raise typer.Exit(int(ExitCode.STORE if problems == {"store"} else ExitCode.INVALID_INPUT))


def _find_tools(settings: Settings, *, no_calls: bool) -> list[Finding]:
    """Findings on the named tools and MCP servers. Servers are started or reached unless ``no_calls``."""
    from disputatio.config import Finding, State

    named = sorted({word for words in settings.tools.values() for word in words})
    rows = [Finding("tools", word, State.FINE, "of this package") for word in named if word.split(".")[0] in _BUILTIN]
    for name, server in settings.mcp_servers.items():
        if no_calls:
            rows.append(Finding("tools", name, State.FINE, "an MCP server; not started or reached"))
        else:
            rows += _run_until_stopped(_try_server(server, settings))
    unknown = [word for word in named if word.split(".")[0] not in {*_BUILTIN, *settings.mcp_servers}]
    rows += [
        Finding(
            "tools", word, State.PROBLEM, "no tool or MCP server has this name", "Name a server: --mcp NAME=COMMAND"
        )
        for word in unknown
    ]
    return rows


_BUILTIN = frozenset({"search", "calculate", "search_sources", "read_passage"})


async def _try_server(server: McpServer, settings: Settings) -> list[Finding]:
    from disputatio.config import Finding, State
    from disputatio.tools.mcp_connection import McpConnection

    connection = McpConnection(server, settings.tool_limits)
    try:
        tools = await connection.open()
    except DisputatioError as failure:
        return [Finding("tools", server.name, State.PROBLEM, failure.cause, failure.next_step)]
    finally:
        await connection.aclose()
    offered = ", ".join(sorted(tools.read_only)) or "none"
    rows = [Finding("tools", server.name, State.FINE, f"answers; read-only tools: {offered}")]
    if tools.others:
        others = ", ".join(f"{server.name}.{name}" for name in sorted(tools.others))
        detail = f"not declared read-only, so offered only where you name them: {others}"
        rows.append(Finding("tools", server.name, State.ABSENT, detail))
    rows += [Finding("tools", server.name, State.ABSENT, f"cannot be offered: {row}") for row in tools.unfit[:5]]
    return rows


def _run_until_stopped(work: Coroutine[Any, Any, Value]) -> Value:
    """Run ``work``; Ctrl-C ends it as usual.

    Raises:
        KeyboardInterrupt: a signal stopped it.
    """
    with StopSignals() as signals:
        try:
            return signals.run(work)
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None


def _try_store(row: Finding, settings: Settings) -> Finding:
    """Open the store if it exists, and correct the finding on it."""
    from disputatio.config import Finding, State

    path = settings.store.removeprefix("sqlite:///")
    if row.area != "store" or row.state is State.PROBLEM or (path != settings.store and not Path(path).exists()):
        return row
    try:
        with open_store(settings.store) as store:
            rows = store.debates()
    except DisputatioError as failure:
        return Finding("store", "store", State.PROBLEM, failure.cause, failure.next_step)
    detail = row.detail.replace("not tried yet", "opened")
    return Finding("store", "store", State.FINE, f"{detail}; {len(rows)} {'debate' if len(rows) == 1 else 'debates'}")


async def _ask_models(settings: Settings) -> dict[str, dict[str, str]]:
    """Ask the model in each seat for one word. A model that several seats share is asked once."""
    from disputatio.config import missing_keys
    from disputatio.participants.call import Call, Fault, FaultKind, OutputMode, Segment
    from disputatio.participants.shared_clients import SharedClients, open_client
    from disputatio.participants.turn_taking import MOST_REFUSED

    lacking = {row.seat: row.sentence for row in missing_keys(settings)}
    model_clients = SharedClients(open_client)
    call = Call((Segment("user", "Answer with the word: ready"),), None, "probe", OutputMode.TEXT, None, 64)
    found: dict[int, dict[str, str]] = {}
    answers: dict[str, dict[str, str]] = {}
    try:
        for seat in settings.seats:
            seating = settings.seats[seat]
            if seat in lacking:
                answers[seat] = {"model": seating.address, "state": "problem", "detail": lacking[seat]}
                continue
            model_client = model_clients.get(seating, settings.credentials.key(seat))
            if id(model_client) not in found:
                outcome = await model_client.call(call)
                for _ in range(MOST_REFUSED):
                    if not (isinstance(outcome, Fault) and outcome.kind is FaultKind.PARAMETER_REFUSED):
                        break
                    outcome = await model_client.call(call)
                if isinstance(outcome, Fault):
                    found[id(model_client)] = {"state": "problem", "detail": outcome.message}
                else:
                    served = outcome.served_model or "a model that does not give its name"
                    found[id(model_client)] = {"state": "fine", "detail": f"answers; served by {served}"}
            answers[seat] = {"model": seating.address, **found[id(model_client)]}
    finally:
        await model_clients.aclose()
    return answers


def models(
    provider: Annotated[
        str | None, typer.Argument(metavar="[PROVIDER]", help="A provider whose models are listed.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", metavar="", help="Print as JSON.")] = False,
) -> None:
    """List the providers, or the text models of one provider with their prices.

    Prices are US dollars per million tokens, from the table of genai-prices. A server may offer other models. For
    embedded, the list says which models are on this disk and which fit into this machine's memory.
    """
    from disputatio.config.environment import read_environment
    from disputatio.participants.providers import PROVIDERS, Kind, provider_named

    environment = read_environment(os.environ, Path.cwd())
    if provider is None:
        rows = [
            {
                "provider": row.name,
                "title": row.title,
                "default_model": row.default_model or "",
                "key": _key_state(row, environment),
                "install": row.install or "",
            }
            for row in PROVIDERS.values()
        ]
        print_json(rows) if json_ else print_models(rows)
        return
    name, _, beginning = provider.partition(":")
    named = provider_named(name, source="the command line")
    if named.kind is Kind.EMBEDDED:
        _print_local_models(beginning, as_json=json_)
        return
    known = [row for row in _priced_models(named.price_id) if row["model"].startswith(beginning)]
    if json_:
        print_json(known)
    else:
        from disputatio._cli.screen import print_priced_models

        print_priced_models(named.name, known)


def _print_local_models(beginning: str, *, as_json: bool) -> None:
    """Print the embedded models whose names begin with ``beginning``, and whether they fit this machine."""
    from disputatio._cli.screen import print_local_models
    from disputatio.participants.embedded.server_spec import machine_memory, memory_needed
    from disputatio.participants.embedded.weights import find_local
    from disputatio.participants.local_models import LOCAL_MODELS

    memory = machine_memory()
    rows: list[dict[str, Any]] = []
    for row in LOCAL_MODELS.values():
        file = find_local(row.name) if row.name.startswith(beginning) else None
        entry = asdict(row) | {
            "path": None if file is None else str(file.path),
            "memory_bytes": memory_needed(row),
            "fits": None if memory is None else memory_needed(row) <= memory,
        }
        rows += [entry] if row.name.startswith(beginning) else []
    print_json({"memory_bytes": memory, "models": rows}) if as_json else print_local_models(rows, memory)


def _key_state(row: Any, environment: Any) -> str:
    if not row.needs_key:
        return "not needed"
    found = next((name for name in row.key_variables if environment.get(name)), None)
    return f"found in {found}" if found else f"set {' or '.join(row.key_variables)}" if row.key_variables else "own"


# The price table does not say what a model is for.
_NO_TEXT_MODEL = re.compile(
    r"embed|tts|whisper|dall-e|image|moderation|audio|realtime|transcribe|sora|veo|imagen|rerank|speech|ocr"
    r"|^(?:ada|babbage|curie|davinci|text-davinci|computer-use)",
    re.IGNORECASE,
)


def _priced_models(price_id: str | None) -> list[dict[str, str]]:
    """The models of a provider in the price table, with prices if they are plain numbers."""
    if price_id is None:
        return []
    from genai_prices.data import providers

    table = next((row for row in providers if row.id == price_id), None)
    if table is None:
        return []
    return [
        {"model": row.id, "input": _price(row, "input_mtok"), "output": _price(row, "output_mtok")}
        for row in sorted(table.models, key=lambda row: row.id)
        if not row.deprecated and not _NO_TEXT_MODEL.search(row.id)
    ]


def _price(row: Any, name: str) -> str:
    prices = row.prices if not isinstance(row.prices, list) else row.prices[-1].prices
    value = getattr(prices, name, None)
    return "" if value is None else str(getattr(value, "base", value))


def topics(
    json_: Annotated[bool, typer.Option("--json", metavar="", help="Print the lists as JSON.")] = False,
) -> None:
    """List the built-in topics and personalities, for `disputatio debate --topic NAME --format competition`."""
    from disputatio._cli.streams import print_lines
    from disputatio.config.catalogue import personalities
    from disputatio.config.catalogue import topics as known

    if json_:
        print_json(
            {
                "topics": [{"name": name, "motion": motion} for name, motion in known().items()],
                "personalities": [{"name": name, "about": row.about} for name, row in personalities().items()],
            }
        )
        return
    wide = max(map(len, known()))
    print_lines("Topics\n" + "\n".join(f"  {name:<{wide}}  {motion}" for name, motion in known().items()))
    print_lines("Personalities\n" + "\n".join(f"  {name}" for name in personalities()))
