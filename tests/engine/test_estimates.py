"""What a debate is expected to take is in its record, and debates before it correct what is expected of the next."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rooms import history_of, hold, proposal_of

from disputatio._cli.arguments import make_arguments
from disputatio.config import resolve
from disputatio.config.process import format_scope
from disputatio.engine import estimate
from disputatio.engine.opening import Proposal
from disputatio.engine.preview import preview, preview_range, preview_stages
from disputatio.engine.runtime import Runtime, start
from disputatio.evidence.sources import Source
from disputatio.formats.debate_context import DebateContext
from disputatio.formats.registry import FORMATS
from disputatio.kernel import Ask, AskPath, Turn
from disputatio.metrics.calibration import FEWEST, calibrate
from disputatio.motion import Motion, read_motion
from disputatio.participants.scripted import Scripted
from disputatio.record.history import History
from disputatio.record.memory import MemoryStore
from disputatio.testing import FakeProvider, InstanceClient
from disputatio.testing.instances import instance
from review_turns import WRITTEN
from strategies import hold as hold_match

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
    _, history, _ = await hold(proposal, lambda *_: InstanceClient())
    assert history.opened is not None
    assert history.opened.estimate == {
        "calls": seen.calls,
        "input_tokens": seen.input_tokens,
        "output_tokens": seen.output_tokens,
        "usd": str(seen.usd),
    }


async def test_a_longer_motion_is_estimated_by_its_length():
    """A longer motion is estimated by its length as a preview of its own would find."""
    short, longer = (replace(proposal_of("freeform"), motion=read_motion(text)) for text in ("Act.", "Act now " * 60))
    _, first, _ = await hold(short, lambda *_: InstanceClient())
    _, second, _ = await hold(longer, lambda *_: InstanceClient())
    assert first.opened is not None
    assert second.opened is not None
    found = int(str(second.opened.estimate["input_tokens"]))
    assert found > int(str(first.opened.estimate["input_tokens"]))
    assert found == pytest.approx((await preview(longer)).input_tokens, rel=0.02)


async def test_debates_that_begin_together_are_previewed_once(monkeypatch):
    previewed: list[str] = []
    begun = asyncio.Event()

    async def counted(proposal):
        previewed.append(proposal.motion.text)
        begun.set()
        return await preview(proposal)

    monkeypatch.setattr(estimate, "preview", counted)
    # Other debates of this process may have been previewed already.
    monkeypatch.setattr(estimate, "_CACHE", OrderedDict())
    motions = [f"We should act{' at once' * number}" for number in range(5)]
    proposals = [
        replace(proposal_of("freeform", set=("rounds=1", "limits.evidence_chars=1777")), motion=read_motion(text))
        for text in motions
    ]
    stopped = asyncio.create_task(hold(proposals[0], lambda *_: InstanceClient()))
    await asyncio.wait_for(begun.wait(), 60)
    held = asyncio.gather(*(hold(row, lambda *_: InstanceClient()) for row in proposals[1:]))
    # Whoever made the preview leaves; the others have it still.
    stopped.cancel()
    opened = [history.opened for _, history, _ in await held]
    assert previewed == motions[:1]
    found = [row.estimate["input_tokens"] for row in opened if row is not None]
    assert found == sorted(set(found))
    await asyncio.gather(stopped, return_exceptions=True)


async def test_a_script_is_not_run_for_an_estimate():
    """A script is not run for an estimate and costs nothing in it."""
    asked: list[str] = []

    def script(_ask: Any, path: Any, _reasons: Any) -> dict[str, str]:
        asked.append(str(path))
        return {"speech": "A script says what it was written to say, and says it in one speech of its own."}

    proposal = proposal_of("freeform", set=("rounds=1",), participants={"pro": Scripted(script)})
    _, history, _ = await hold(proposal, lambda *_: InstanceClient())
    assert len(asked) == len(set(asked)) == 1
    assert history.opened is not None
    assert history.opened.estimate["calls"] == 2


SOURCE = Source("clauses", "clauses.txt", "The supplier is liable for delays. The buyer pays within thirty days. " * 12)
SEATED: dict[str, dict[str, Any]] = {
    "freeform": {},
    "structured": {},
    "review": {},
    "review of sources": {"preset": "contract-risk"},
    "panel": {"debaters": "ann,bob,cat,dan"},
    "competition": {},
}


@pytest.mark.parametrize(("kind", "debates"), [(name, 1 if name == "competition" else len(MOTIONS)) for name in SEATED])
async def test_uncalibrated_the_dry_run_is_within_15_percent(kind, debates):
    """The habits that are declared of it (a sentence a text, choices at random) are all that the preview knows.

    What the provider counts is what stood in the requests and answers that went over the socket. Where a debate may be
    over before its last round nobody can know when it is: then the estimate is the one for the phase it ended with.
    How many arguments there are is drawn, and one structured debate differs from the next by a tenth (its standard
    deviation): the sum of six is compared.
    """
    expected, taken = [], []
    with FakeProvider() as provider:
        for motion in MOTIONS[:debates]:
            seat = ("all=openai_compatible:fake",)
            given = proposal_of(kind.split()[0], base_url=provider.base_url, seat=seat, **SEATED[kind])
            evidence = (SOURCE,) if "sources" in kind else ()
            proposal = replace(given, motion=read_motion(motion), evidence=evidence)
            store = MemoryStore()
            debate = await start(proposal, Runtime(store, checks_first=False))
            history = history_of(store, debate)
            usages: list[Any] = [row.usage for row in history.made.values()]
            taken.append(sum(usage["input_tokens"] + usage["output_tokens"] for usage in usages))
            last = list(history.asked.values())[-1].phase
            stages = {row.phase: row for row in await preview_stages(proposal)}
            expected.append(stages[last].tokens if kind == "panel" else (await preview(proposal)).tokens)
    assert sum(expected) == pytest.approx(sum(taken), rel=0.15)


@pytest.mark.parametrize("kind", ["freeform", "structured", "panel", "review"])
@pytest.mark.parametrize("told", ["fake", "estimate.characters=20", "estimate.share=0.9"])
async def test_the_expected_lies_between_the_ends_of_its_range_also(kind, told):
    """The expected lies between the ends of its range also where it is told."""
    given = {"seat": ("all=openai_compatible:fake",)} if told == "fake" else {"set": (told,)}
    proposal = proposal_of(kind, base_url="http://127.0.0.1:9/v1", **given, **SEATED[kind])
    seen = await preview(proposal)
    least, most = await preview_range(proposal, seen)
    assert least.tokens <= seen.tokens <= most.tokens


@pytest.mark.parametrize("kind", [name for name in SEATED if name != "competition"])
async def test_the_expected_lies_between_the_least_and_the_most(kind):
    """The expected lies between the least and the most and the known input is the same in all."""
    proposal = proposal_of(kind.split()[0], **SEATED[kind])
    seen = await preview(proposal)
    least, most = await preview_range(proposal, seen)
    assert least.tokens < seen.tokens < most.tokens
    assert all(0 <= row.said_tokens < row.input_tokens for row in (least, seen, most))
    if least.calls == seen.calls == most.calls:
        known = [row.input_tokens - row.said_tokens for row in (least, seen, most)]
        assert max(known) <= 1.25 * min(known)


async def test_an_estimate_follows_what_it_is_told_of_the_answers():
    usual, told, twice = [
        await preview(proposal_of("freeform", set=given))
        for given in ((), ("estimate.characters=60",), ("estimate.share=0.9",))
    ]
    assert told.output_tokens < usual.output_tokens < twice.output_tokens
    assert told.calls == usual.calls == twice.calls
    # Six speeches and a summing-up; each text of sixty characters is at most twenty tokens with its key.
    assert told.output_tokens <= 20 * 12


def written(request: Any) -> str:
    """A turn of a review that keeps the rules."""
    asked = request.body["response_format"]["json_schema"]
    form = SimpleNamespace(schema=asked["schema"], name=asked["name"])
    return json.dumps(WRITTEN[form.name](SimpleNamespace(spec=form)))


@pytest.mark.slow
@pytest.mark.parametrize(("format_name", "half"), [("structured", 3), ("freeform", 3), ("review", 3)])
async def test_after_a_few_debates_the_estimate_is_within_15_percent(format_name, half):
    """After a few debates the estimate is within 15 percent of what the next ones take."""
    store = MemoryStore()
    # The answers of a fake provider break the rules of a review at random; written ones keep them.
    with FakeProvider(answer=written if format_name == "review" else None) as provider:

        async def held(motion: str) -> tuple[int, int]:
            seat = ("all=openai_compatible:wordy",)
            proposal = replace(
                proposal_of(format_name, base_url=provider.base_url, seat=seat), motion=read_motion(motion)
            )
            seen = await preview(proposal)
            debate = await start(proposal, Runtime(store, checks_first=False))
            history = History.of(row.event() for row in store.read(debate))
            usages: list[Any] = [row.usage for row in history.made.values()]
            taken = sum(usage["input_tokens"] + usage["output_tokens"] for usage in usages)
            return seen.input_tokens + seen.output_tokens, taken

        for motion in MOTIONS[: FEWEST - 1]:
            await held(motion)
        assert calibrate(store, format_name, {"openai_compatible:wordy"}, sourced=False) is None
        for motion in MOTIONS[FEWEST - 1 : half]:
            await held(motion)
        known = calibrate(store, format_name, {"openai_compatible:wordy"}, sourced=False)
        assert known is not None
        assert calibrate(store, format_name, {"openai_compatible:other"}, sourced=False) is None
        rows = [await held(motion) for motion in MOTIONS[half : 2 * half]]
    expected, taken = (sum(column) for column in zip(*rows, strict=True))
    assert known.tokens(expected) == pytest.approx(taken, rel=0.15)
    assert known.least <= known.factor <= known.most
    assert f"{half} debates like this" in known.sentence(expected)


@pytest.mark.parametrize("own", [0, 500])
async def test_the_range_of_a_match_holds_brief_and_long_speeches(tmp_path: Path, own: int) -> None:
    """Time is counted in words, so brief debaters make more calls; the range told 39 to 57 where 81 were used."""
    form = FORMATS["competition"]
    settings = resolve(
        format_name="competition",
        seats=tuple(form.seats),
        environ={},
        directory=tmp_path,
        arguments=make_arguments(seat=["all=ollama:any"]).with_values({("rules", "free_speech_words"): own}),
        options=format_scope(form),
    )
    proposal = Proposal(Motion("We should split the service"), form, settings)
    least, most = await preview_range(proposal, await preview(proposal))
    rules = form.rules(free_speech_words=own)
    context = DebateContext(form.seats, proposal.motion)
    for words in (30, 60, 125, 450):

        def answering(path: AskPath, asked: Ask, words: int = words) -> Turn:
            made: Any = instance(asked.spec.schema, str(path))
            return asked.spec.read({**made, "speech": " ".join(["word"] * words)} if "speech" in made else made)

        assert least.calls <= len(hold_match(form.rulebook(rules, context), answering).asks) <= most.calls
