"""What the commands print: JSON that is JSON, plain text that is plain, lines that fit, and help that teaches."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path

import jsonschema_rs
import pytest
from cli_commands import CONTROL, Call, Commands

from disputatio.report.columns import columns
from disputatio.report.json_export import export_schema
from disputatio.testing import FakeProvider, Mishap, Mishaps, refused_base_url

MOTION = "Sollten wir handeln? 我们应该行动吗？"
STYLES = re.compile(r"\x1b\[([0-9;]*)m")
COLOURS = re.compile(r"(?:^|;)(?:3[0-7]|9[0-7]|4[0-7])")


def recorded(call: Call, seated: tuple[str, ...]) -> str:
    """A debate with a verdict; returns its id."""
    return str(json.loads(call("debate", MOTION, *seated, "-f", "structured", "--json").out)["id"])


@pytest.fixture
def structured(seated: tuple[str, ...]) -> tuple[str, ...]:
    return seated[:4]


@pytest.mark.slow
def test_only_valid_json_is_on_standard_output(call: Call, structured: tuple[str, ...], provider: FakeProvider) -> None:
    schema = jsonschema_rs.validator_for(export_schema())
    for arguments, code in (([], 0), (["--max-calls", "2"], 3)):
        ended = call("debate", MOTION, *structured, *arguments, "--json")
        assert ended.code == code
        export = json.loads(ended.out)
        schema.validate(export)
        assert ended.out.endswith("}\n")
        assert not CONTROL.search(ended.out)
        again = call("show", export["id"], "--as", "json")
        assert (again.code, json.loads(again.out)) == (0, export)
        resumed = call("resume", export["id"], "--max-calls", "50", "--json")
        assert resumed.code == 0
        schema.validate(json.loads(resumed.out))
    provider.mishaps = Mishaps().always(Mishap.HTTP_401)
    failed = call("debate", MOTION, *structured, "--json")
    assert failed.code == 5
    schema.validate(json.loads(failed.out))


@pytest.mark.slow
def test_lists_and_findings_are_json_too(call: Call, structured: tuple[str, ...]) -> None:
    debate = recorded(call, structured)
    assert [row["id"] for row in json.loads(call("list", "--json").out)] == [debate]
    assert json.loads(call("models", "--json").out)[0]["provider"] == "openai"
    assert json.loads(call("models", "openai", "--json").out)
    found = json.loads(call("doctor", *structured, "--json").out)
    assert {row["state"] for row in found["answers"].values()} == {"fine"}
    preview = json.loads(call("debate", MOTION, *structured, "--dry-run", "--json").out)
    assert preview["calls"] >= 7


@pytest.mark.slow
def test_nothing_is_printed_as_json_where_nothing_began(call: Call) -> None:
    with refused_base_url() as address:
        ended = call("debate", MOTION, "--seat", "all=openai_compatible:fake", "--base-url", address, "--json")
    assert (ended.code, ended.out) == (5, "")


@pytest.mark.slow
def test_a_dry_run_asks_nobody_and_writes_nothing(
    call: Call, bare: Path, structured: tuple[str, ...], provider: FakeProvider
) -> None:
    ended = call("debate", MOTION, *structured, "--dry-run", "--max-calls", "2")
    assert (ended.code, ended.err) == (0, "")
    assert "over the ceiling of 2 calls" in ended.out
    assert provider.arrived.count == provider.models_asked.count == 0
    assert [path.name for path in bare.parent.iterdir()] == ["work"]


@pytest.mark.slow
def test_show_has_every_form_and_writes_files(call: Call, bare: Path, structured: tuple[str, ...]) -> None:
    debate = recorded(call, structured)
    text, markdown = call("show", debate), call("show", debate, "--as", "md")
    assert "Argument trace" in text.out
    assert markdown.out.startswith("#")
    for form in ("text", "json", "md", "html", "argdown"):
        ended = call("show", debate, "--as", form, "--out", f"it.{form}")
        assert (ended.code, ended.said) == (0, "")
        assert (bare / f"it.{form}").read_text("utf-8").strip()
    for place in ("nowhere/it.md", ".", "x" * 300):
        ended = call("show", debate, "--out", place)
        assert ended.code == 2
        assert "cannot be written" in ended.err


@pytest.mark.slow
def test_show_is_brief_short_or_full(call: Call, structured: tuple[str, ...]) -> None:
    debate = recorded(call, structured)
    brief, short, full = (call("show", debate, *more).out.splitlines() for more in (["--brief"], [], ["--full"]))
    assert len(brief) < len(short) < len(full)
    assert len(short) <= 120
    assert any(line.startswith("Worst doubt") for line in brief[:12])
    assert brief[:8] == short[:8] == full[:8]
    assert "OPENING" in full
    assert "OPENING" not in short
    for wrong in (["--brief", "--full"], ["--brief", "--as", "md"], ["--full", "--as", "json"]):
        assert call("show", debate, *wrong).code == 2


@pytest.mark.slow
def test_a_debate_ends_with_the_command_for_its_page(call: Call, structured: tuple[str, ...]) -> None:
    ended = call("debate", MOTION, *structured, "--plain")
    named = call("debate", MOTION, *structured, "--plain", "--store", "other.sqlite")
    *_, last = " ".join(ended.out.split()).partition("As a page: ")
    assert re.fullmatch(r"disputatio show [0-9a-f]+ --as html --open", last)
    *_, last = " ".join(named.out.split()).partition("As a page: ")
    command = re.fullmatch(r"(disputatio show [0-9a-f]+) --as html --open( --store sqlite:///\S+)", last)
    assert command is not None
    assert call(*(command[1] + command[2]).split()[1:]).code == 0
    folder = "a-folder-with-a-name-that-no-line-of-a-terminal-holds/" * 3
    Path(folder).mkdir(parents=True)
    far = call("debate", MOTION, *structured, "--plain", "--store", f"{folder}debates.sqlite")
    assert far.out.rstrip().endswith(f"{folder}debates.sqlite"), "a command is there to be copied"


@pytest.mark.slow
@pytest.mark.parametrize("environ", [{}, {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "TTY_COMPATIBLE": "1"}])
def test_plain_output_has_no_control_codes(
    call: Call, seated: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    for arguments in (["--plain"], []):
        ended = call("debate", MOTION, *seated, *arguments)
        assert ended.code == 0
        assert not CONTROL.search(ended.said)
    debate = call("list").out.split("\t")[0]
    for command in (["list"], ["show", debate], ["verify", debate], ["models"], ["doctor", "--no-calls"]):
        assert not CONTROL.search(call(*command).said)


@pytest.mark.slow
def test_plain_is_plain_on_a_terminal_as_well(commands: Commands) -> None:
    ended = commands.debate(MOTION, "--plain", terminal=(80, 24))
    assert ended.code == 0
    assert not CONTROL.search(ended.out.replace("\r\n", "\n"))


@pytest.mark.slow
@pytest.mark.parametrize("width", [40, 200])
def test_lines_fit_the_terminal(commands: Commands, width: int) -> None:
    first = commands.run("debate", MOTION, *commands.given[:4], terminal=(width, 50))
    assert first.code == 0
    debate = commands.run("list").out.split("\t")[0]
    others = [["list"], ["show", debate], ["models"], ["doctor", "--no-calls"], ["--help"], ["debate", "--help"]]
    others.append(["debate", MOTION, *commands.given[:4], "--dry-run"])
    seen = [first, *(commands.run(*command, terminal=(width, 50)) for command in others)]
    for ended in seen:
        assert ended.code == 0
        for line in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", ended.out).replace("\r", "\n").split("\n"):
            assert columns(line) <= width


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environ", "coloured", "moves"),
    [({}, True, True), ({"NO_COLOR": "1"}, False, True), ({"TERM": "dumb"}, False, False)],
    ids=["terminal", "NO_COLOR", "dumb"],
)
def test_colours_and_movement_are_used_where_they_are_wanted(
    commands: Commands, environ: dict[str, str], coloured: bool, moves: bool
) -> None:
    ended = commands.debate(MOTION, terminal=(80, 24), environment={"TERM": "xterm-256color", **environ})
    assert ended.code == 0
    styles = STYLES.findall(ended.out)
    assert any(COLOURS.search(style) for style in styles) is coloured
    assert bool(re.search(r"\x1b\[(?:2K|\d*A)", ended.out)) is moves
    if environ.get("TERM") == "dumb":
        assert "\x1b" not in ended.out


@pytest.mark.parametrize("width", ["0", "-5", "wide", ""])
def test_a_width_that_is_none_does_not_hide_the_help(call: Call, monkeypatch: pytest.MonkeyPatch, width: str) -> None:
    monkeypatch.setenv("COLUMNS", width)
    ended = call("--help")
    assert ended.code == 0
    assert "Run a debate" in ended.out


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_come_out_and_complete(starter: socket.socket, tmp_path: Path, shell: str) -> None:
    commands = Commands(starter, tmp_path)
    script = commands.run(environment={"_DISPUTATIO_COMPLETE": f"source_{shell}"})
    assert (script.code, script.err.strip()) == (0, "")
    assert f"complete_{shell}" in script.out
    if shell == "bash":
        words = {"_DISPUTATIO_COMPLETE": "complete_bash", "COMP_WORDS": "disputatio ver", "COMP_CWORD": "1"}
        assert commands.run(environment=words).out.split() == ["verify"]


@pytest.mark.slow
def test_a_motion_is_typed_at_the_terminal(commands: Commands, provider: FakeProvider) -> None:
    running = commands.start("debate", "-", *commands.given, terminal=(80, 24))
    running.until("press Ctrl-D")
    running.type("Is this typed?\n\x04")
    ended = running.ended()
    assert ended.code == 0
    assert "Is this typed?" in provider.requests[0].prompt


def test_prices_of_one_model_are_found_by_its_beginning(call: Call) -> None:
    ended = call("models", "openai:gpt-5-m")
    assert ended.code == 0
    assert [line.split()[0] for line in ended.out.splitlines()[1:]] == ["gpt-5-mini"]


def test_embedded_models_are_listed_with_their_needs(call: Call) -> None:
    ended = call("models", "embedded")
    assert ended.code == 0
    rows = [line.split() for line in ended.out.splitlines()[1:]]
    assert ["qwen3-4b", "2.5", "GB", "7.7", "GB", "at", "once", "no", "Apache-2.0"] in [row[:9] for row in rows]
    found = json.loads(call("models", "embedded:qwen3-4b", "--json").out)
    assert [row["repository"] for row in found["models"]] == ["Qwen/Qwen3-4B-GGUF"]
    assert found["models"][0]["fits"] is (found["models"][0]["memory_bytes"] <= found["memory_bytes"])


def test_a_misspelled_provider_is_guessed(call: Call) -> None:
    ended = call("models", "opneai")
    assert ended.code == 2
    assert "Did you mean openai?" in ended.err
