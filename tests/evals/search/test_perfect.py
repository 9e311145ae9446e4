"""A script with perfect judgement reaches exactly the coverage of each toolset (rules E5, S1)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.evals.running.agents import make_trial_runner
from tests.evals.search.perfect import PerfectModel
from toolbelt.evals.cases.dataset import Dataset, open_dataset
from toolbelt.evals.running.plan import Trial
from toolbelt.evals.running.records import TrialRecord
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.search.presets import PRESETS

DATASETS = {name: open_dataset(name) for name in ("assistant", "tiered")}
TOOLSETS = [
    "full",
    "tiered",
    *(f"search:{preset}" for preset in PRESETS),
    "search:k=1",
    "search:rank=regex",
    "search:reveal=call:returns=schemas",
    "search:reveal=rebind",
    "search:pinned=none:listing=names",
    "search:fastmcp:rank=regex",
    "search:bigtool:k=1",
    "search:rag-mcp:k=5:reveal=append",
]


def play(dataset: Dataset, toolset: str, step: int) -> Iterator[TrialRecord]:
    catalog = dataset.catalog_file.catalog
    model = PerfectModel(catalog)
    runner = make_trial_runner(model, toolset, catalog=catalog)  # type: ignore[arg-type]  # a model
    model.toolset = runner.toolset
    for number, index in enumerate(range(0, len(dataset), step)):
        model.case = dataset.case(index)
        yield asyncio.run(runner.run(Trial(number, index, 0, 0), model.case))


def is_accurate(record: TrialRecord) -> bool:
    return Outcome(record.outcome).is_right_by_names


@pytest.mark.parametrize("toolset", TOOLSETS)
@pytest.mark.parametrize("name", DATASETS)
def test_E5_perfect_judgement_reaches_exactly_the_coverage(name: str, toolset: str) -> None:
    records = list(play(DATASETS[name], toolset, 47))
    assert [record.case_id for record in records if is_accurate(record) != record.covered] == []
    assert all(record.surfaced for record in records if record.covered)
    if "trigger=request" not in toolset and not toolset.startswith("search:rag-mcp"):
        assert all(record.covered for record in records)
