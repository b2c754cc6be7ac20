"""A ``.env`` with role prefixes, as such debate systems use it, works as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from disputatio._cli.arguments import make_arguments
from disputatio.config import Settings, missing_keys, resolve
from disputatio.participants.model_seat import ModelSeating

DOTENV = """\
# Global default
LLM_PROVIDER=zhipu
LLM_MODEL=glm-4.7
ZAI_API_KEY=your-key

# Pro uses DeepSeek
PRO_LLM_PROVIDER=openai_compatible
PRO_LLM_MODEL=deepseek-chat
PRO_LLM_BASE_URL=https://api.deepseek.com/v1
PRO_LLM_API_KEY=sk-...

# Con uses Zhipu
CON_LLM_PROVIDER=zhipu
CON_LLM_MODEL=glm-4.7

# Judge uses Claude
JUDGE_LLM_PROVIDER=openai_compatible
JUDGE_LLM_MODEL=claude-sonnet-4-6
JUDGE_LLM_BASE_URL=https://api.anthropic.com/v1
JUDGE_LLM_API_KEY=sk-ant-...
"""
PRO = ModelSeating(provider="openai_compatible", model="deepseek-chat", base_url="https://api.deepseek.com/v1")
CON = ModelSeating(provider="zhipu", model="glm-4.7")
JUDGE = ModelSeating(provider="openai_compatible", model="claude-sonnet-4-6", base_url="https://api.anthropic.com/v1")


def settle(directory: Path, dotenv: str, seats: tuple[str, ...], **arguments: object) -> Settings:
    (directory / ".env").write_text(dotenv, encoding="utf-8")
    return resolve(
        format_name="any",
        seats=seats,
        environ={},
        directory=directory,
        arguments=make_arguments(**arguments),  # type: ignore[arg-type]
    )


def test_each_role_gets_its_own_model_address_and_key(tmp_path: Path):
    settled = settle(tmp_path, DOTENV, ("pro", "con", "judge"))
    assert settled.seats == {"pro": PRO, "con": CON, "judge": JUDGE}
    assert settled.credentials.by_seat == {"pro": "sk-...", "con": "your-key", "judge": "sk-ant-..."}
    assert settled.sources["seats.con.api_key"] == ".env:ZAI_API_KEY"
    assert settled.notes == ()
    assert missing_keys(settled) == ()


def test_in_competition_a_side_covers_its_four_debaters(tmp_path: Path):
    seats = tuple(f"{side}_{number}" for side in ("pro", "con") for number in range(1, 5))
    settled = settle(tmp_path, f"{DOTENV}PRO_3_LLM_MODEL=deepseek-reasoner\n", (*seats, "judge"))
    for seat in ("pro_1", "pro_2", "pro_4"):
        assert settled.seats[seat] == PRO
    assert settled.seats["pro_3"].model == "deepseek-reasoner"
    assert {settled.seats[f"con_{number}"] for number in range(1, 5)} == {CON}
    assert settled.credentials.key("pro_4") == "sk-..."
    assert settled.seats["judge"] == JUDGE


def test_a_seat_without_a_prefix_takes_the_global_model(tmp_path: Path):
    """A seat without a prefix of its own takes the global model."""
    settled = settle(tmp_path, DOTENV, ("tech_bull", "tech_bear"))
    assert settled.seats == {"tech_bull": CON, "tech_bear": CON}
    assert settled.sources["seats.tech_bull.model"] == ".env:LLM_MODEL"
    named = settle(tmp_path, f"{DOTENV}TECH_BULL_LLM_MODEL=glm-5\n", ("tech_bull", "tech_bear"))
    assert named.seats["tech_bull"].model == "glm-5"
    assert named.seats["tech_bear"].model == "glm-4.7"


def test_zhipu_without_a_model_is_its_default_model(tmp_path: Path):
    settled = settle(tmp_path, "LLM_PROVIDER=zhipu\nZAI_API_KEY=your-key\n", ("pro",))
    assert settled.seats["pro"] == CON
    assert settled.sources["seats.pro.model"] == "default"


def test_the_command_line_goes_above_the_role(tmp_path: Path):
    settled = settle(tmp_path, DOTENV, ("pro", "con", "judge"), seat=("judge=anthropic:claude-opus-5-5",))
    assert settled.seats["judge"].address == "anthropic:claude-opus-5-5"
    assert settled.credentials.key("judge") is None
    assert settled.sources["seats.judge.model"] == "--seat judge=..."
    assert settled.seats["pro"] == PRO


EVERY_VARIABLE = """\
PRO_LLM_PROVIDER=vllm
PRO_LLM_MODEL=qwen3-32b
PRO_LLM_BASE_URL=http://gpu.example:8000/v1/
PRO_LLM_API_KEY=vllm-key
PRO_LLM_TEMPERATURE=0.35
PRO_LLM_MAX_TOKENS=900
PRO_LLM_TIMEOUT=45.5
PRO_LLM_ATTEMPTS=2
PRO_LLM_PERSONA="A cautious hydrologist."
PRO_LLM_FALLBACK=ollama:qwen3:8b
PRO_LLM_PIECEWISE=yes
PRO_LLM_MODE=tool
PRO_LLM_PRICE=0.1/0.2/0.05
"""


def test_every_field_of_a_seat_can_be_set_by_a_variable(tmp_path: Path):
    from decimal import Decimal

    from disputatio.participants.call import OutputMode
    from disputatio.participants.model_seat import Price

    settled = settle(tmp_path, EVERY_VARIABLE, ("pro",))
    pro = settled.seats["pro"]
    assert pro == ModelSeating(
        provider="vllm",
        model="qwen3-32b",
        base_url="http://gpu.example:8000/v1",
        temperature=0.35,
        persona="A cautious hydrologist.",
        piecewise=True,
        max_tokens=900,
        timeout_s=45.5,
        attempts=2,
        mode=OutputMode.TOOL,
        price=Price(Decimal("0.1"), Decimal("0.2"), Decimal("0.05")),
        fallback=pro.fallback,
    )
    assert pro.fallback is not None
    assert pro.fallback.address == "ollama:qwen3:8b"
    assert pro.fallback.price is None
    assert pro.fallback.mode is None


def test_lines_that_cannot_be_read_and_variables(tmp_path: Path):
    """Lines that cannot be read and variables that are misspelt are told."""
    settled = settle(tmp_path, "\nLLM_PROVIDER embedded\nLLM_MODLE=glm-5\nJUGDE_LLM_MODEL=x\n", ("judge",))
    assert len(settled.notes) == 3
    assert settled.notes[0] == "Line 2 of .env is not an assignment and was not read."
    assert any(".env:LLM_MODLE is not a setting" in note and "LLM_MODEL" in note for note in settled.notes)
    assert any("Did you mean JUDGE_LLM_MODEL" in note for note in settled.notes)


def test_variables_of_other_tools_are_not_remarked_on(tmp_path: Path):
    dotenv = "LLM_GATEWAY_HOST_NAME=x\nMY_LLM_THING=y\nLLM_DEBUG=1\nPRO_LLM_MODEL=\n"
    assert settle(tmp_path, dotenv, ("judge",)).notes == ()


@pytest.mark.parametrize("dotenv", [b"LLM_PROVIDER=\xff\xfe", b"\x80"])
def test_a_dotenv_that_is_no_text_is_a_clear_error(tmp_path: Path, dotenv: bytes):
    from disputatio.errors import InvalidInputError

    (tmp_path / ".env").write_bytes(dotenv)
    with pytest.raises(InvalidInputError, match=r"\.env .* is not UTF-8"):
        resolve(format_name="any", seats=("pro",), environ={}, directory=tmp_path)


def test_a_dotenv_from_another_editor_is_read(tmp_path: Path):
    (tmp_path / ".env").write_bytes(b"\xef\xbb\xbfLLM_PROVIDER=zhipu\r\nexport ZAI_API_KEY='your-key'\r\n")
    settled = resolve(format_name="any", seats=("pro",), environ={}, directory=tmp_path)
    assert settled.seats["pro"] == CON
    assert settled.credentials.key("pro") == "your-key"
