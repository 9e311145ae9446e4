"""The baseline that is committed: `make gate` holds the shipped dataset against it."""

from __future__ import annotations

from pathlib import Path

from toolbelt.evals.analysis.evidence.baseline_reader import read_baseline
from toolbelt.evals.analysis.evidence.baseline_writer import BaselineLines
from toolbelt.evals.cases.dataset import open_dataset

FILE = Path(__file__).resolve().parents[4] / "reports" / "baseline.json"


def test_it_is_of_the_cases_as_they_are_shipped() -> None:
    found = read_baseline(FILE)
    dataset = open_dataset("assistant")
    assert found.about.digest == dataset.digest, "the cases changed: make baseline, and say in the commit why it moved"
    assert found.about.cases == len(dataset)
    assert [arm.toolset for arm in found.arms] == ["full", "loadout", "tiered", "dynamic"]
    assert {arm.model for arm in found.arms} == {"local/bm25"}


def test_it_is_as_it_was_saved() -> None:
    assert "".join(BaselineLines(read_baseline(FILE))) == FILE.read_text(encoding="utf-8"), "edited by hand?"
