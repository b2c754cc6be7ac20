"""``disputatio fork`` as a user has it: looked at first, run, shown, listed and verified; wrong names refused."""

from __future__ import annotations

import json

import pytest
from cli_commands import is_clear

pytestmark = pytest.mark.slow


@pytest.fixture
def parent(call, seated) -> str:
    assert call("debate", "Should we act?", *seated[:4], "--format", "structured", "--json").code == 0
    return str(json.loads(call("list", "--json").out)[0]["id"])


def test_a_fork_is_looked_at_run_shown_listed_and_verified(call, parent):
    looked = call("fork", parent[:6], "--strike", "PRO-2", "--dry-run")
    assert looked.code == 0
    assert "Kept         2 turns: opening/pro, opening/con" in looked.out
    assert len(json.loads(call("list", "--json").out)) == 1
    seen = json.loads(call("fork", parent, "--strike", "PRO-2", "--dry-run", "--json").out)
    assert (seen["parent"], seen["struck"], len(seen["asked_again"])) == (parent, ["PRO-2"], 5)

    ran = call("fork", parent, "--strike", "PRO-2", "--json")
    assert ran.code == 0, ran.err
    exported = json.loads(ran.out)
    assert exported["forked"]["parent"] == parent
    listed = {row["id"]: row["parent"] for row in json.loads(call("list", "--json").out)}
    assert listed == {exported["id"]: parent, parent: None}
    assert f"(fork of {parent})" in call("list").out
    assert f"A fork of {parent} without PRO-2" in " ".join(call("show", exported["id"]).out.split())
    verified = call("verify", exported["id"])
    assert (verified.code, f"A fork of {parent}, whose head was" in verified.out) == (0, True)


@pytest.mark.parametrize(
    "given", [(), ("--strike", "PRO-9"), ("--strike", ""), ("--strike", "PRO-2", "--max-calls", "0")]
)
def test_what_cannot_be_forked_is_refused_in_a_sentence(call, parent, given):
    refused = call("fork", parent, *given)
    assert refused.code == 2
    assert is_clear(refused.err)
    assert len(json.loads(call("list", "--json").out)) == 1


def test_a_format_that_cannot_be_forked_says_so(call, seated):
    assert call("debate", "Should we act?", *seated, "--json").code == 0
    refused = call("fork", json.loads(call("list", "--json").out)[0]["id"], "--strike", "PRO-1")
    assert refused.code == 2
    assert "the format freeform cannot be forked" in " ".join(refused.err.split())
