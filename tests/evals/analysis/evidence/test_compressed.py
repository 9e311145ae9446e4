"""Rows that are kept compressed (rule E8: memory hardly grows with the number of trials)."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from toolbelt.evals.analysis.evidence import compressed
from toolbelt.evals.analysis.evidence.compressed import CompressedRows


@pytest.mark.parametrize("disk", ["whole", "without-a-folder"])
def test_E8_rows_are_the_same_from_a_file_and_without_a_folder_for_one(
    disk: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(compressed, "_MOST_HELD", 100)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path if disk == "whole" else tmp_path / "gone"))
    rows, wanted = CompressedRows(), [(str(number), [number, None]) for number in range(4_321)]
    for row in wanted:
        rows.append(row)
    assert len(rows) == len(wanted)
    assert any(isinstance(block, tuple) for block in rows._blocks) == (disk == "whole")
    assert list(zip(rows, rows, strict=True)) == list(zip(wanted, wanted, strict=True))  # two readers at once
