"""A debate killed with SIGKILL at any event, and resumed, equals one that was never killed."""

import json
import select
import subprocess
import sys
from pathlib import Path

import pytest

from disputatio.testing.provider import provider_process
from strategies import FULL

KILLER = Path(__file__).with_name("boundary_killer.py")
SERVER = Path(__file__).parents[1] / "tools" / "plain_server.py"
PIECEWISE = "seats.all.piecewise=true"
MCP = f"mcp_servers.demo={sys.executable} {SERVER} good {{}}/tool-calls"


@pytest.fixture(scope="module")
def killed():
    """Kills and resumes debates of a format in a process that does so for all of them."""
    program = [sys.executable, str(KILLER)]
    with (
        provider_process() as base_url,
        subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process,
    ):

        def ordered(**order):
            process.stdin.write(json.dumps({"base_url": base_url, **order}) + "\n")
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], 900 if FULL else 300)
            if not ready:
                process.kill()
                raise AssertionError("it did not end in time")
            return json.loads(process.stdout.readline() or '{"failed": "the process ended"}')

        yield ordered
        process.stdin.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("format_name", "extra"),
    [
        ("structured", ()),
        ("structured", (PIECEWISE, "limits.minimum_arguments=2", "limits.maximum_arguments=2")),
        ("freeform", ("rounds=2",)),
        ("review", ("limits.minimum_arguments=1", "limits.maximum_arguments=2")),
        ("competition", ("rules.free_speeches=1", "rules.free_words=12", "rules.free_mode=concurrent")),
        ("market", ("limits.maximum_arguments=2",)),
        ("panel", ("debaters=ada,bo", "rounds=1", "options=adopt,revise")),
        ("freeform", ("rounds=1", "seats.pro.tools=calculate,demo", "tools.rounds=1", MCP)),
    ],
)
def test_a_kill_at_any_event_changes_no_outcome(killed, format_name, extra, tmp_path):
    """Resuming after a kill at any event gives the uninterrupted debate."""
    settings = [row.format(tmp_path) for row in extra]
    # Every boundary of a structured debate. Of long records and of a second shape of one the usual run takes some, full
    # runs take all; another test cuts such records without processes.
    some = {"freeform": 3, "panel": 2, "review": 8, "competition": 80, "market": 100}
    every = 1 if FULL else some.get(format_name, 8 if PIECEWISE in extra else 1)
    results = killed(folder=str(tmp_path), format_name=format_name, extra=settings, every=every)
    assert "failed" not in results, results["failed"]
    whole = results["whole"]
    assert whole["status"] in {"COMPLETE", "DEGRADED"}
    assert len(results["killed"]) == len(range(1, whole["events"], every))
    for row in results["killed"]:
        before, after = row["before"], row["after"]
        assert after["meaning"] == whole["meaning"], f"killed at event {row['last']}"
        # Every call that was settled before the kill is there once, and none of them was sent again.
        assert set(before["made"]) <= set(after["made"])
        assert len(after["sent"]) == len(set(after["sent"])) == len(whole["sent"]) + len(after["lost"])
        assert after["lost"] == [call for call in before["sent"] if call not in before["made"]]
        # A tool whose result was settled is not called again; the server counts for itself.
        assert sorted(after["tools"]) == sorted(whole["tools"])
        assert row["served"] == _of_servers(whole) - _of_servers(before)
    if MCP in extra:
        assert _of_servers(whole) > 1


def _of_servers(told):
    """How many results of servers a record holds."""
    return sum(1 for _, server, _ in told["tools"] if server)
