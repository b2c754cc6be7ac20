"""A debate on a model of the Hub that cannot be had: one message, the documented code, and nothing written."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from cli_commands import Call, is_clear

from hub_server import MODEL, Hub, hub_server


@pytest.mark.skipif(find_spec("xllamacpp") is None, reason="the extra `embedded` is not installed")
@pytest.mark.parametrize(
    ("hub", "words"),
    [
        (Hub(stated="0" * 64), "its SHA-256 differs"),
        (Hub(stated_size=10**15), "There is no room for"),
        (Hub(refuses=(404, "EntryNotFound")), "The Hub has no file"),
        (Hub(refuses=(403, "GatedRepo")), "set HF_TOKEN"),
        (Hub(refuses=(500, "")), "The Hub answered 500"),
        (None, "was not reached"),
    ],
    ids=["hash", "room", "missing", "gated", "failing", "away"],
)
def test_no_debate_begins(call: Call, bare: Path, monkeypatch: pytest.MonkeyPatch, hub: Hub | None, words: str) -> None:
    monkeypatch.setenv("DISPUTATIO_CACHE", str(bare / "cache"))
    for name in ("HF_HOME", "HF_HUB_CACHE", "HF_TOKEN", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    debate = ("debate", "We should adopt microservices", "--seat", f"all=embedded:{MODEL}")
    if hub is None:
        ended = call(*debate)
    else:
        with hub_server(hub):
            monkeypatch.setenv("HF_ENDPOINT", hub.url)
            ended = call(*debate)
        assert len(hub.ranges) <= 1, "what failed is not fetched again"
    assert ended.code == 5
    assert words in is_clear(ended.err, lines=8)
    assert "Nothing was spent." in ended.err
    assert call("list").out.startswith("No debates yet.")
    assert not [path for path in (bare / "cache").rglob("*.gguf*") if path.suffix != ".lock"]
