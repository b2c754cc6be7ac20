"""What a debate is expected to take is in its record, and debates before it correct what is expected of the next."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from rooms import hold, proposal_of

from disputatio.engine.debates import House, start
from disputatio.engine.preview import preview
from disputatio.metrics.calibration import FEWEST, calibration
from disputatio.motion import read_motion
from disputatio.participants.scripted import Scripted
from disputatio.record import History, MemoryStore
from disputatio.testing import FakeProvider, InstanceGateway
from review_turns import WRITTEN

pytestmark = pytest.mark.slow

MOTIONS = (
    "Adopt a four-day week in the town hall",
    "Close the old harbour to cars",
    "We should rewrite the billing service",
    "Merge both clinics",
    "Lease the delivery vans",
    "Open the archive to everybody",
)


@pytest.mark.parametrize("format_name", ["structured", "freeform", "review"])
async def test_the_record_opens_with_the_estimate_of_the_dry_run(format_name):
    proposal = proposal_of(format_name)
    seen = await preview(proposal)
    _, history, _ = await hold(proposal, lambda *_: InstanceGateway())
    assert history.opened is not None
    assert history.opened.estimate == {
        "calls": seen.calls,
        "input_tokens": seen.input_tokens,
        "output_tokens": seen.output_tokens,
        "usd": str(seen.usd),
    }


async def test_a_longer_motion_is_estimated_by_its_length_as_a_preview_of_its_own_would_find():
    short, longer = (replace(proposal_of("freeform"), motion=read_motion(text)) for text in ("Act.", "Act now " * 60))
    _, first, _ = await hold(short, lambda *_: InstanceGateway())
    _, second, _ = await hold(longer, lambda *_: InstanceGateway())
    assert first.opened is not None
    assert second.opened is not None
    found = int(str(second.opened.estimate["input_tokens"]))
    assert found > int(str(first.opened.estimate["input_tokens"]))
    assert found == pytest.approx((await preview(longer)).input_tokens, rel=0.02)


async def test_a_script_is_not_run_for_an_estimate_and_costs_nothing_in_it():
    asked: list[str] = []

    def script(_ask: Any, path: Any, _reasons: Any) -> dict[str, str]:
        asked.append(str(path))
        return {"speech": "A script says what it was written to say, and says it in one speech of its own."}

    proposal = proposal_of("freeform", set=("rounds=1",), participants={"pro": Scripted(script)})
    _, history, _ = await hold(proposal, lambda *_: InstanceGateway())
    assert len(asked) == len(set(asked)) == 1
    assert history.opened is not None
    assert history.opened.estimate["calls"] == 2


def written(request: Any) -> str:
    """A turn of a review that keeps the rules."""
    asked = request.body["response_format"]["json_schema"]
    form = SimpleNamespace(schema=asked["schema"], name=asked["name"])
    return json.dumps(WRITTEN[form.name](SimpleNamespace(form=form)))


@pytest.mark.slow
@pytest.mark.parametrize(("format_name", "half"), [("structured", 3), ("freeform", 3), ("review", 3)])
async def test_after_a_few_debates_the_estimate_is_within_15_percent_of_what_the_next_ones_take(format_name, half):
    store = MemoryStore()
    # The answers of a fake provider break the rules of a review at random; written ones keep them.
    with FakeProvider(answer=written if format_name == "review" else None) as provider:

        async def held(motion: str) -> tuple[int, int]:
            seat = ("all=openai_compatible:fake",)
            proposal = replace(
                proposal_of(format_name, base_url=provider.base_url, seat=seat), motion=read_motion(motion)
            )
            seen = await preview(proposal)
            debate = await start(proposal, House(store, checks_first=False))
            history = History.of(row.event() for row in store.read(debate))
            usages: list[Any] = [row.usage for row in history.made.values()]
            taken = sum(usage["input_tokens"] + usage["output_tokens"] for usage in usages)
            return seen.input_tokens + seen.output_tokens, taken

        for motion in MOTIONS[: FEWEST - 1]:
            await held(motion)
        assert calibration(store, format_name, {"openai_compatible:fake"}, sourced=False) is None
        for motion in MOTIONS[FEWEST - 1 : half]:
            await held(motion)
        known = calibration(store, format_name, {"openai_compatible:fake"}, sourced=False)
        assert known is not None
        assert calibration(store, format_name, {"openai_compatible:other"}, sourced=False) is None
        rows = [await held(motion) for motion in MOTIONS[half : 2 * half]]
    expected, taken = (sum(column) for column in zip(*rows, strict=True))
    assert known.tokens(expected) == pytest.approx(taken, rel=0.15)
    assert known.least <= known.factor <= known.most
    assert f"{half} debates like this" in known.sentence(expected)
