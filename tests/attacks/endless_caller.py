"""Makes calls of a model and says what came of each and how much memory it took; run as a process of its own.

The arguments are one JSON object: ``urls`` of the servers that attack, ``usual`` of one that answers, ``way`` (direct
or library), ``streamed``, ``max_tokens``, ``timeout_s`` and ``together``: whether the calls are made at once. Then only
their time is measured well, and not their memory.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

from disputatio.participants.call import Call, Fault, OutputMode, Segment
from disputatio.participants.model_seat import ModelSeating
from disputatio.participants.remote import open_client


def memory_mb(name: str) -> float:
    """What Linux says of the memory of this process: ``VmRSS`` now, ``VmHWM`` at most.

    Not ``getrusage``, which goes on counting from what the parent process had.
    """
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"^{name}:\s*(\d+) kB$", status, re.MULTILINE)[1]) / 1024


async def main(given: dict[str, Any]) -> None:
    os.environ["DISPUTATIO_CALLS"] = given["way"]
    call = Call((Segment("user", "Speak."),), None, "", OutputMode.TEXT, None, given["max_tokens"])
    heard: list[int] = []
    listener = (lambda text: heard.append(len(text))) if given["streamed"] else None

    async def made(url: str) -> Any:
        seating = ModelSeating(
            provider="openai_compatible", model="any", base_url=f"{url}/v1", timeout_s=given["timeout_s"]
        )
        model_client = open_client(seating, "sk-test-5f0c1d2e3b4a5968")
        try:
            return await model_client.call(call, listener)
        finally:
            await model_client.aclose()

    # Whatever is imported and kept for the process belongs to no call.
    usual = await made(given["usual"])
    assert not isinstance(usual, Fault), usual

    async def measured(url: str) -> dict[str, Any]:
        heard.clear()
        gc.collect()
        # From now on the most is counted anew.
        Path("/proc/self/clear_refs").write_text("5")
        before, begun, worked = memory_mb("VmRSS"), time.monotonic(), time.process_time()
        outcome = await made(url)
        return {
            "kind": outcome.kind.value if isinstance(outcome, Fault) else "",
            "message": outcome.message if isinstance(outcome, Fault) else "",
            "text": outcome.text[:2_000],
            "usage": outcome.usage,
            "heard": sum(heard),
            "grown_mb": memory_mb("VmHWM") - before,
            "seconds": time.monotonic() - begun,
            "worked": time.process_time() - worked,
        }

    if given.get("together"):
        found = await asyncio.gather(*map(measured, given["urls"]))
    else:
        found = [await measured(url) for url in given["urls"]]
    print("\n".join(map(json.dumps, found)), flush=True)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
