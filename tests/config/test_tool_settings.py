"""What seats may look up, and which servers there are: where it is said, which says it louder, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from disputatio._cli.arguments import make_arguments
from disputatio.config import Settings, diagnose, resolve
from disputatio.errors import InvalidInputError

SEATS = ("pro", "con", "judge")
SECRET = "sk-0123456789abcdef"  # noqa: S105  (nobody's)


def settle(
    directory: Path, file: str = "", environ: dict[str, str] | None = None, **given: tuple[str, ...]
) -> Settings:
    (directory / "disputatio.toml").write_text(file, encoding="utf-8")
    return resolve(
        format_name="structured",
        seats=SEATS,
        environ=environ or {},
        directory=directory,
        arguments=make_arguments(**given),  # type: ignore[arg-type]
    )


def test_no_seat_has_tools_unless_somebody_says_so(tmp_path):
    assert settle(tmp_path).tools == {}


def test_the_option_beats_the_variable_beats_the_file(tmp_path):
    """The option beats the variable beats the file and a seat beats all."""
    file = '[seats.all]\ntools = ["search"]\n[seats.judge]\ntools = "calculate"\n'
    settled = settle(tmp_path, file, {"CON_LLM_TOOLS": "search, calculate"}, tools=("pro=none",))
    assert settled.tools == {"con": ("search", "calculate"), "judge": ("calculate",)}
    assert settled.sources["seats.pro.tools"] == "--tools"
    assert settled.sources["seats.con.tools"] == "CON_LLM_TOOLS"
    settled = settle(tmp_path, file, tools=("all=files,files.read", "pro=search"))
    assert settled.tools == {"pro": ("search",), "con": ("files", "files.read"), "judge": ("files", "files.read")}


def test_a_server_is_a_command_or_an_address(tmp_path):
    """A server is a command or an address and gets the variables that are named for it."""
    file = '[mcp_servers]\nfiles = "serve --root \'/a b\'"\nweb = "https://example.org/mcp"\n[mcp_env]\nweb = "TOKEN"\n'
    settled = settle(tmp_path, file, {"TOKEN": SECRET})
    files, web = settled.mcp_servers["files"], settled.mcp_servers["web"]
    assert (files.command, files.url, files.variables) == (("serve", "--root", "/a b"), "", {})
    assert (web.command, web.url, web.variables) == ((), "https://example.org/mcp", {"TOKEN": SECRET})
    assert settle(tmp_path, file, {"TOKEN": SECRET}, mcp=("web=other",)).mcp_servers["web"].command == ("other",)


def test_the_limits_are_settings(tmp_path):
    settled = settle(tmp_path, set=("tools.rounds=1", "tools.calls=5", "tools.result_chars=900", "tools.timeout=0.5"))
    limits = settled.tool_limits
    assert (limits.rounds, limits.calls, limits.result_chars, limits.timeout_s) == (1, 5, 900, 0.5)


@pytest.mark.parametrize(
    "given",
    [
        {"tools": ("pro",)},
        {"tools": ("pro=",)},
        {"tools": ("prp=search",)},
        {"tools": ("pro=search,none",)},
        {"tools": ("pro=se arch;rm",)},
        {"mcp": ("files",)},
        {"mcp": ("search=serve",)},
        {"mcp": ("Files Here=serve",)},
        {"mcp": ("files=http://",)},
        {"mcp": ("files='serve",)},
        {"set": ("mcp_env.files=TOKEN",)},
        {"set": ("tools.rounds=0",)},
    ],
    ids=str,
)
def test_what_cannot_be_used_is_refused_in_a_sentence(tmp_path, given):
    with pytest.raises(InvalidInputError) as caught:
        settle(tmp_path, **given)
    assert caught.value.cause.endswith(".")
    assert caught.value.next_step


def test_neither_an_address_nor_a_variable_of_a_server_is_shown(tmp_path):
    file = f'[mcp_servers]\nweb = "https://example.org/mcp?key={SECRET}"\n[mcp_env]\nweb = "TOKEN"\n'
    settled = settle(tmp_path, file, {"TOKEN": SECRET}, tools=("pro=web",))
    assert SECRET not in repr(settled)
    shown = [
        f"{row.detail} {row.next_step}" for row in diagnose(settled, environ={"TOKEN": SECRET}, directory=tmp_path)
    ]
    assert not [row for row in shown if SECRET in row]
    with pytest.raises(InvalidInputError) as caught:
        settle(tmp_path, mcp=(f"web='{SECRET}",))
    assert SECRET not in str(caught.value)


def test_a_variable_that_is_not_set_is_named(tmp_path):
    with pytest.raises(InvalidInputError, match="TOKEN, which is not set"):
        settle(tmp_path, '[mcp_servers]\nweb = "serve"\n[mcp_env]\nweb = ["TOKEN"]\n')
