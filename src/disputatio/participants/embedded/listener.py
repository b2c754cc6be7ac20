"""One chat request to the server's listener, over HTTP on this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from disputatio._intake import Intake, OverlongError
from disputatio.motion import one_line
from disputatio.participants.bounds import LONGEST_BEGINNING, AnswerBound
from disputatio.participants.call import Fault, FaultKind, OnText, Reply
from disputatio.participants.embedded import wire
from disputatio.participants.embedded.places import Place


async def post(place: Place, body: Mapping[str, Any], *, timeout_s: float, on_text: OnText | None) -> Reply | Fault:
    """Send ``body`` to the place's lane and read the answer, piece by piece where ``on_text`` wants it.

    Whatever the connection does comes back as a ``Fault``; only cancellation, and what ``on_text`` itself
    raises, goes through.
    """
    import aiohttp

    streamed = wire.Streamed(on_text) if on_text is not None else None
    content = json.dumps(body).encode()
    intake = Intake(AnswerBound.of(body["max_tokens"], streamed=streamed is not None), len(content))
    # A connection each: the listener drops about one reused connection in forty.
    connector = aiohttp.TCPConnector(force_close=True)
    headers = {"Authorization": f"Bearer {place.secret}", "Content-Type": "application/json"}
    timeout = aiohttp.ClientTimeout(total=timeout_s)
    try:
        async with (
            aiohttp.ClientSession(connector=connector, timeout=timeout, headers=headers) as session,
            session.post(f"{place.url}/v1/chat/completions", data=content) as response,
        ):
            parts: list[bytes] = []
            async for part in response.content.iter_any():
                intake.take(part, events=streamed is not None)
                if streamed is None or response.status != 200:
                    parts.append(part)
                else:
                    streamed.feed(part)
            whole = b"".join(parts).decode("utf-8", "replace")
            if response.status != 200:
                return wire.refusal(response.status, whole)
            return wire.answer(whole) if streamed is None else streamed.result()
    except OverlongError as error:
        said = streamed.said if streamed is not None else error.head.decode("utf-8", "replace")
        message = f"The embedded model {error.sentence}."
        return Fault(FaultKind.ANSWER_TOO_LONG, message, text=one_line(said, LONGEST_BEGINNING))
    except TimeoutError:
        said = streamed.said if streamed is not None else ""
        return Fault(FaultKind.TIMED_OUT, f"The embedded model did not answer within {timeout_s:g} seconds.", text=said)
    except aiohttp.ClientPayloadError:
        return wire.cut_off(streamed.said if streamed is not None else "")
    except (aiohttp.ClientError, OSError) as error:
        if streamed is not None and streamed.said:
            return wire.cut_off(streamed.said)
        return Fault(FaultKind.UNREACHABLE, f"The embedded model's server did not answer ({type(error).__name__}).")
