"""Models × toolsets as JSON."""

from __future__ import annotations

import json

from tests.evals.analysis.matrix.runs import Asked, WrittenRun, matrix_of
from toolbelt.evals.analysis.matrix.matrix_json import matrix_data
from toolbelt.evals.analysis.matrix.recommendation import recommendation
from toolbelt.evals.running.overflow import LeftOutArm, ModelLimits
from toolbelt.loadouts.fit import FitVerdict


def test_C_all_that_is_known_is_there_in_plain_values() -> None:
    matrix = matrix_of(
        WrittenRun(
            [Asked("full", "+" * 90 + "-" * 10, 9000), Asked("tiered", "+" * 50 + "-" * 40 + "o" * 10, 90, 500)],
            rooms={"m": ModelLimits(20_000)},
            left_out=(LeftOutArm("deaf", "tiered", FitVerdict.UNSUPPORTED, "It does not call tools."),),
        ),
        0.1,
    )
    data = json.loads(json.dumps(matrix_data(matrix), allow_nan=False))
    assert (data["schema"], data["run"], data["margin"]) == ("toolbelt.compatibility/1", matrix.run, 0.1)
    assert data["toolsets"] == ["full", "tiered"]
    assert data["recommendation"] == recommendation(matrix)
    one, deaf = data["models"]
    assert (one["model"], one["context_window"]) == ("m", 20_000)
    full, tiered = one["cells"]
    assert (full["state"], full["arm"], full["verdict"], full["share"]) == ("scored", 0, "fits_degraded", 0.45)
    assert (tiered["state"], tiered["overflowed"], tiered["definition_tokens_total"]) == ("partly", 10, 500)
    assert tiered["accuracy"]["numerator"] == 50
    assert one["pick"]["best"] == one["pick"]["choice"] == {"arm": 0, "toolset": "full"}
    assert (one["pick"]["toolset"], one["pick"]["promising"], one["pick"]["level"]) == ("full", None, 0.95)
    assert one["pick"]["sure"] is True
    candidate, best = one["pick"]["candidates"]
    assert (best["contrast"], candidate["holds"], candidate["overflowing"]) == (None, False, 10)
    assert candidate["contrast"]["low"] < candidate["contrast"]["difference"] < candidate["contrast"]["high"]
    assert deaf["cells"][0] is None
    assert (deaf["cells"][1]["state"], deaf["cells"][1]["arm"]) == ("unsupported", None)
    assert (deaf["pick"]["choice"], deaf["pick"]["toolset"]) == (None, None)
    assert deaf["pick"]["reasons"] == ["It does not call tools."]
