"""One chat request to the server's listener, over HTTP on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from disputatio.participants.call import Fault, FaultKind, OnText, Reply
from disputatio.participants.embedded import wire
from disputatio.participants.embedded.server_spec import Address


async def post(address: Address, body: Mapping[str, Any], *, timeout_s: float, on_text: OnText | None) -> Reply | Fault:
    """Send ``body`` and read the answer, piece by piece where ``on_text`` wants it.

    Whatever the connection does comes back as a ``Fault``; only cancellation, and what ``on_text`` itself
    raises, goes through.
    """
    import aiohttp

    streamed = wire.Streamed(on_text) if on_text is not None else None
    # A connection each: the listener drops about one reused connection in forty.
    connector = aiohttp.TCPConnector(force_close=True)
    headers = {"Authorization": f"Bearer {address.secret}"}
    timeout = aiohttp.ClientTimeout(total=timeout_s)
    try:
        async with (
            aiohttp.ClientSession(connector=connector, timeout=timeout, headers=headers) as session,
            session.post(f"{address.url}/v1/chat/completions", json=body) as response,
        ):
            if response.status != 200:
                return wire.refusal(response.status, await response.text(errors="replace"))
            if streamed is None:
                return wire.answer(await response.text(errors="replace"))
            async for data in response.content.iter_any():
                streamed.feed(data)
            return streamed.result()
    except TimeoutError:
        said = streamed.said if streamed is not None else ""
        return Fault(FaultKind.TIMED_OUT, f"The embedded model did not answer within {timeout_s:g} seconds.", text=said)
    except aiohttp.ClientPayloadError:
        return wire.cut_off(streamed.said if streamed is not None else "")
    except (aiohttp.ClientError, OSError) as error:
        if streamed is not None and streamed.said:
            return wire.cut_off(streamed.said)
        return Fault(FaultKind.UNREACHABLE, f"The embedded model's server did not answer ({type(error).__name__}).")
