"""The verdicts of many runs at once, against those of the product run by run (rule E7)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.evals.statistics.many_runs import LOST, OPEN, PASSED, decide, draw_runs
from tests.evals.statistics.simulation import Change, Setting, draw
from toolbelt.evals.statistics.paired import RESAMPLES, paired_difference
from toolbelt.evals.statistics.verdict import Verdict, judge

CODES = {Verdict.NO_REGRESSION: PASSED, Verdict.INSUFFICIENT_DATA: OPEN, Verdict.REGRESSION: LOST}


@pytest.mark.parametrize(
    ("setting", "loss", "level", "differing"),
    [
        pytest.param(Setting(254, (1, 1), 1, 0.025, 0.02), 0.05, 0.997, 0, id="single cases"),
        pytest.param(Setting(300, (1, 1), 1, 0.015, 0.02), 0.02, 0.954, 0, id="single cases, a small loss"),
        pytest.param(Setting(100, (1, 1), 3, 0.05, 0.08), 0.04, 0.954, 1, id="epochs"),
        pytest.param(Setting(60, (1, 3), 2, 0.05, 0.1), 0.1, 0.99, 1, id="epochs of uneven clusters"),
    ],
)
def test_E7_verdicts_of_many_runs_are_those_of_one(setting: Setting, loss: float, level: float, differing: int) -> None:
    """But for those at the edge, where the product draws resamples and this computes what they tend to."""
    runs = 60
    found = []
    flat = draw(np.random.default_rng(4), replace(setting, clusters=runs * setting.clusters), Change.CLUSTERS, loss)
    for run in range(runs):
        pairs = flat[run * setting.clusters : (run + 1) * setting.clusters]
        contrast = paired_difference(pairs, level, run, RESAMPLES)
        found.append(CODES[judge(contrast.low, contrast.high, contrast.p_value, setting.margin, 1 - level)])
    many = decide(draw_runs(np.random.default_rng(4), setting, Change.CLUSTERS, loss, runs), setting.margin, level)
    assert len(set(found)) > 1, "else nothing is compared"
    assert np.sum(many != np.array(found)) <= differing
