"""A file that cannot be a model is refused before the library sees it, each kind in its own words."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from embedded_stage import hollow_gguf

from disputatio.errors import InvalidInputError
from disputatio.participants.embedded.weights import check_gguf


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04 a zip archive of some length", "is not a GGUF file"),
        (b"GG", "is not a GGUF file"),
        (b"GGUF\x03\x00", "ends inside its header"),
        (struct.pack("<4sIQQ", b"GGUF", 1, 1, 0), "GGUF version 1"),
        (struct.pack("<4sIQQ", b"GGUF", 3, 0, 5), "holds no weights"),
    ],
)
def test_file_that_cannot_be_model_is_refused_with_its_own_cause(
    tmp_path: Path, content: bytes, complaint: str
) -> None:
    """A file that cannot be a model is refused with its own cause."""
    file = tmp_path / "model.gguf"
    file.write_bytes(content)
    with pytest.raises(InvalidInputError, match=complaint) as refused:
        check_gguf(file)
    assert str(file) in refused.value.cause


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="There is no model file"):
        check_gguf(tmp_path / "missing.gguf")
    with pytest.raises(InvalidInputError, match="is not a file"):
        check_gguf(tmp_path)


def test_a_file_with_a_gguf_header_and_tensors_passes(tmp_path: Path) -> None:
    check_gguf(hollow_gguf(tmp_path / "model.gguf"))
