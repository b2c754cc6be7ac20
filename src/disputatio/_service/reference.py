"""Writes the reference of the HTTP API: ``python -m disputatio._service.reference > docs/reference/http-api.md``.

It is made from the application itself, so it cannot say anything else than the server does.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fastapi.routing import iter_route_contexts

from disputatio._service.access import Needs
from disputatio._service.app import create_app
from disputatio._service.problems import TITLES, Problem
from disputatio._service.service import Choices, Service

_HEAD = """# HTTP API

Written by `python -m disputatio._service.reference` from the application; do not edit. The server gives the whole
document, with schemas and examples, at `/openapi.json`. How to run it: [Serve debates](../how-to/serve.md).

Send a key as `Authorization: Bearer dsp_...`. Without any key the server answers its own machine only, and needs none.
Each scope allows what stands before it: `read`, `run`, `admin`. What belongs to another tenant answers 404, as what is
not there.
"""
_STREAM = """## Streams of events

`GET /v1/debates/{debate_id}/events` sends a frame for each event of the record, in order, once it is durable: `id` is
its number, `event` its kind, `data` the event as JSON (see [the record](record.md)). A client that lost the line sends
the last id as `Last-Event-ID`, or `?after=N`, and goes on there; this also holds when the server died meanwhile. The
frame `end` closes the stream of a debate that is over, and whoever comes back after it gets 204. While people sit in a
debate, events whose words are [held back](../how-to/serve.md#people-in-seats) have `"withheld": true`, no hash, and a
body without the words. Once it has ended, `?after=0` gives all of it.

With `?text=true` frames of the kind `text`, without an id, bring what models are writing at this moment. Whoever comes
late gets each answer from its beginning. Where [workers](../how-to/workers.md) hold the debates there are none.

| in a frame of the kind `text` | is |
|---|---|
| `path`, `part`, `seat`, `phase` | the turn, and the piece of it where it is asked for in pieces |
| `json` | whether the answer will be JSON once it is whole |
| `from`, `text` | new raw output and the place in the answer at which it begins, in characters; 0 begins it anew |
| `said` | what can be read of the whole turn so far, in plain words: its last 1,000 characters |
"""
_PROBLEMS = """## Problems

Every refusal is a document of the type `application/problem+json` (RFC 9457) whose `detail` is the cause in a sentence
and whose `next_step` says what to do.
"""
_REQUEST = """## The request of a debate

The body of `POST /v1/debates` and `POST /v1/estimates`. Only `motion`, `topic` or a market format is needed; what is
left out comes from the server's configuration. Nothing in it names a file, an address, a command or a key: those are
set by whoever runs the server. The same `Idempotency-Key` with the same request gives the same debate; with another
request it is refused.

Requests in the words of earlier versions, which had no groups, are still read: every option under the name that it has
on the command line (`budget_usd`, `judges`, `preset`), and keys of a configuration file under
`settings`.
"""
_EVIDENCE = """## A source of a request

An entry of `evidence`: a title and either `text` or `content`. Larger files go by `POST /v1/evidence`, whose ids go
into `evidence_ids`. A file is read once, into the text that everybody in the debate sees: see
[Evidence](evidence.md#sources).
"""
_FORMATS = """## The options of formats

`format` is the name of a format, or a table with its `name` and options: `{"name": "panel", "threshold": 2}`. An option
of another format is refused. Formats of installed packages are in `/openapi.json` too.
"""


def reference() -> str:
    """The whole reference as Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_written(Path(folder)))


async def _written(folder: Path) -> str:
    service = Service(Choices(f"sqlite:///{folder}/reference.sqlite", keyless=True))
    app = create_app(service)
    document, scopes = app.openapi(), _scopes(app.routes)
    await service.store.aclose()
    service.database.close()
    known = document["components"]["schemas"]
    request = known["PostedRequest"]["properties"]
    groups = [line for name in request for line in _group(name, request[name], known)]
    tables = [line for table in request["format"]["anyOf"][1]["oneOf"] for line in _table(table, known)]
    return "\n".join(
        [
            *(_HEAD, *_operations(document, scopes), "", _STREAM),
            *(_REQUEST, *_fields(known["PostedRequest"], known), "", *groups, _FORMATS, *tables),
            *(_EVIDENCE, *_fields(known["EvidenceSource"], known), "", _PROBLEMS, *_problems(), ""),
        ]
    )


def _scopes(routes: Any) -> dict[tuple[str, str], str]:
    found = {}
    for context in iter_route_contexts(routes):
        dependant = getattr(context.original_route, "dependant", None)
        needs = (
            [row.call.scope.value for row in dependant.dependencies if isinstance(row.call, Needs)] if dependant else []
        )
        for method in context.methods or ():
            found[method, str(context.path)] = needs[0] if needs else "none"
    return found


def _operations(document: Mapping[str, Any], scopes: Mapping[tuple[str, str], str]) -> Iterator[str]:
    yield "## Operations\n"
    yield "| operation | scope | what it does |\n|---|---|---|"
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            about = " ".join(str(operation.get("description", "")).split())
            yield f"| `{method.upper()} {path}` | {scopes[method.upper(), path]} | {about} |"


def _group(name: str, row: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[str]:
    """The options of a group of a request; nothing where ``row`` is no group."""
    if "$ref" in row:
        group = _resolved(row, known)
        yield from (f"### `{name}`\n", f"{group['description']}\n", *_fields(group, known, name), "")


def _table(table: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[str]:
    """The options of a format."""
    rows = {name: row for name, row in table["properties"].items() if name != "name"}
    name = table["properties"]["name"]["const"]
    yield from (f"### `{name}`\n", f"{table['description']}\n", *_fields({"properties": rows}, known), "")


def _fields(schema: Mapping[str, Any], known: Mapping[str, Any], group: str = "") -> Iterator[str]:
    yield "| field | what it is |\n|---|---|"
    for name, row in schema["properties"].items():
        about = f" {row['description']}" if row.get("description") else ""
        yield f"| `{group}{'.' if group else ''}{name}` | {_shape(row, known)}.{about} |".replace("..", ".")


def _resolved(row: Mapping[str, Any], known: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = known[row["$ref"].rpartition("/")[2]] if "$ref" in row else row
    return found


def _shape(row: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    row = _resolved(row, known)
    if "anyOf" in row:
        each = [_shape(each, known) for each in row["anyOf"] if each.get("type") != "null"]
        return (" or ".join(dict.fromkeys(each)) or "anything") + _span(row)
    if "enum" in row:
        return " or ".join(", ".join(map(str, row["enum"])).rsplit(", ", 1))
    kinds = {
        "string": "text",
        "integer": "a whole number",
        "boolean": "true or false",
        "number": "a number",
        "array": "a list",
    }
    most = f", up to {row['maxLength']:,} characters" if "maxLength" in row else ""
    return f"{kinds.get(str(row.get('type')), 'an object')}{most}{_span(row)}"


def _span(row: Mapping[str, Any]) -> str:
    """The bounds of a number, in words."""
    low = f" above {row['exclusiveMinimum']:,}" if "exclusiveMinimum" in row else ""
    low = f" from {row['minimum']:,g}" if "minimum" in row else low
    return low + (f" to {row['maximum']:,.15g}" if "maximum" in row else "")


def _problems() -> Iterator[str]:
    yield "| type | title |\n|---|---|"
    for name, title in TITLES.items():
        yield f"| `urn:disputatio:problem:{name}` | {title} |"
    yield ""
    yield f"Fields: {', '.join(f'`{name}`' for name in Problem.model_fields)}."


if __name__ == "__main__":
    sys.stdout.write(reference())
