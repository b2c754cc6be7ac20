"""The models that a seat names in one word: each row can be fetched, seated and served."""

from __future__ import annotations

from pathlib import Path

import pytest

from disputatio.config import Arguments, resolve
from disputatio.errors import InvalidInputError
from disputatio.participants.embedded.hub_download import PREFIX, Reference
from disputatio.participants.embedded.server_spec import machine_memory, memory_needed
from disputatio.participants.embedded.weights import hub_reference
from disputatio.participants.local_models import EMBEDDED_MODEL, LOCAL_MODELS, RECOMMENDED_MODEL, LocalModel
from disputatio.participants.providers import family, parse_seat_value

FETCHED = [row for row in LOCAL_MODELS.values() if row.name != EMBEDDED_MODEL]


@pytest.mark.parametrize("row", FETCHED, ids=lambda row: row.name)
def test_a_row_names_a_file_of_the_hub(row: LocalModel) -> None:
    reference = Reference.read(f"{PREFIX}{row.repository}/{row.file}")
    assert hub_reference(row.name) == reference
    assert row.name.split("-")[0] in row.file.lower(), "the name is that of the file"


def test_the_rows_are_different_files_from_small_to_large() -> None:
    assert len({(row.repository, row.file) for row in FETCHED}) == len(FETCHED) >= 6
    sizes = [row.size_bytes for row in LOCAL_MODELS.values()]
    assert sizes == sorted(sizes)
    assert RECOMMENDED_MODEL in LOCAL_MODELS


def is_piecewise(folder: Path, model: str, **given: str) -> bool:
    settled = resolve(
        format_name="freeform",
        seats=("pro", "con", "judge"),
        environ=given,
        directory=folder,
        arguments=Arguments().with_seats([("all", f"embedded:{model}")]),
    )
    return settled.seats["pro"].piecewise


def test_small_models_are_asked_piecewise_and_large_ones_are_not(tmp_path: Path) -> None:
    asked = {name: is_piecewise(tmp_path, name) for name in LOCAL_MODELS}
    assert asked == {name: row.size_bytes < 2_000_000_000 for name, row in LOCAL_MODELS.items()}
    assert is_piecewise(tmp_path, "/models/of-unknown-size.gguf")
    assert is_piecewise(tmp_path, "qwen3-8b", LLM_PIECEWISE="true")
    assert not is_piecewise(tmp_path, "qwen3-0.6b", LLM_PIECEWISE="false")


def test_a_name_that_is_nearly_right_gets_the_right_one() -> None:
    with pytest.raises(InvalidInputError, match="Did you mean qwen3-4b") as refused:
        parse_seat_value("embedded:Qwen3-4B")
    for name in LOCAL_MODELS:
        assert name in refused.value.next_step


def test_the_memory_is_that_of_weights_and_context() -> None:
    # From the model's configuration: 26 layers, 8 key-value heads of 128 numbers, 2 bytes each.
    assert LOCAL_MODELS["ministral-3-3b"].cache_bytes == 106_496
    row = LOCAL_MODELS["qwen3-4b"]
    assert memory_needed(row) == row.size_bytes + 2 * 16_384 * row.cache_bytes + 400_000_000
    assert memory_needed(LOCAL_MODELS[EMBEDDED_MODEL]) == 850_000_000
    memory = machine_memory()
    assert memory is not None
    assert memory > 100_000_000


def test_the_families_of_the_rows_are_known() -> None:
    assert {family(row.name, "embedded") for row in FETCHED} == {"qwen", "granite", "mistral"}
