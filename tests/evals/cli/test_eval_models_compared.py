"""A run of several models, compared, reported and gated by its own baseline (rules E4 and E7)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.conftest import Ran, Toolbelt
from tests.evals.cli.test_eval_run import RUN, office
from tests.evals.cli.test_eval_suite import OTHER, say
from tests.wording import mentions
from toolbelt.evals.exports.schemas import read_schema

__all__ = ["office"]
SMALL = "local/bm25"
Asked = Callable[..., Ran]


FITS = 100_000


@pytest.fixture
def ask(toolbelt: Toolbelt, office: Path) -> Asked:
    """A run of two models: of a small one, whose `window` is given and by default too small for `full` and `tiered`,
    and of one that everything fits.
    """

    def run(*toolsets: str, window: int = 190, models: tuple[str, ...] = (SMALL, OTHER)) -> Ran:
        small = {"name": SMALL, "context_window": window, "output_limit": 50}
        say(office, small, {"name": OTHER, "context_window": FITS})
        named = [part for model in models for part in ("--model", model)]
        ran = toolbelt(*RUN, *named, "--toolset", ",".join(toolsets))
        assert ran.code == 0, ran.err
        return ran

    return run


def arms(data: dict[str, Any]) -> list[tuple[str, str]]:
    return [(pair["a"]["label"], pair["b"]["label"]) for pair in data["pairs"]]


def test_E7_each_model_is_compared_with_itself_and_what_cannot_fit_is_named(ask: Asked, toolbelt: Toolbelt) -> None:
    ask("full", "loadout:porter", "tiered", "oracle")
    data = toolbelt("eval", "compare", "--json").json
    jsonschema.validate(data, read_schema("comparison"))
    assert arms(data) == [
        (f"{SMALL} · loadout:porter", f"{SMALL} · oracle"),
        *((f"{OTHER} · full", f"{OTHER} · {toolset}") for toolset in ("loadout:porter", "tiered", "oracle")),
    ]
    assert any(mentions(note, f"{SMALL} with full, tiered") for note in data["notes"])
    assert "regression" not in {pair["verdict"] for pair in data["pairs"]}
    shown = toolbelt("eval", "compare").out
    assert mentions(" ".join(shown.split()), f"{SMALL} with loadout:porter", f"{OTHER} with full")
    assert f"{OTHER}, against full" in shown
    ran = toolbelt("eval", "report", "-o", "made", "--json")
    (folder,) = Path("made").iterdir()
    for reported in (ran.json, json.loads((folder / "summary.json").read_text())):
        assert reported["comparison"] == data


def test_E7_with_an_arm_named_all_are_held_against_it(ask: Asked, toolbelt: Toolbelt) -> None:
    ask("full", "loadout:porter")
    data = toolbelt("eval", "compare", "--against", f"{OTHER} full", "--json").json
    assert arms(data) == [
        (f"{OTHER} · full", f"{SMALL} · full"),
        (f"{OTHER} · full", f"{SMALL} · loadout:porter"),
        (f"{OTHER} · full", f"{OTHER} · loadout:porter"),
    ]
    assert data["pairs"][0]["verdict"] == "regression", "as asked for"
    assert (data["unfit"], data["alone"]) == ([], [])


@pytest.mark.parametrize(
    ("arm", "told"),
    [
        pytest.param(f"{SMALL} full", "does not fit", id="unfit"),
        pytest.param(f"{SMALL} loadout:porter", "no other of its model", id="alone"),
        pytest.param(f"{OTHER} full", "the others", id="the-base"),
    ],
)
def test_E9_an_arm_that_is_in_no_pair_is_told_with_why(ask: Asked, toolbelt: Toolbelt, arm: str, told: str) -> None:
    ask("full", "loadout:porter")
    ran = toolbelt("eval", "compare", "--arm", arm)
    assert ran.code == 2
    assert mentions(ran.err, f"{arm.replace(' ', ' · ')!r}", told, "against")
    ran = toolbelt("eval", "compare", "--arm", f"{OTHER} loadout:porter", "--json")
    assert arms(ran.json) == [(f"{OTHER} · full", f"{OTHER} · loadout:porter")]


def test_E4_a_run_of_which_no_two_arms_can_be_compared_says_so(ask: Asked, toolbelt: Toolbelt) -> None:
    ask("full", "loadout:porter", models=(SMALL,))
    data = toolbelt("eval", "compare", "--json")
    assert (data.code, data.json["pairs"]) == (0, [])
    shown = toolbelt("eval", "compare")
    assert shown.code == 0
    assert mentions(shown.out, f"{SMALL} with full")
    assert mentions(" ".join(shown.out.split()), f"{SMALL} with loadout:porter")
    assert toolbelt("eval", "report", "-o", "made").code == 0
    (folder,) = Path("made").iterdir()
    assert "No two arms" in (folder / "report.html").read_text()


@pytest.mark.parametrize(
    ("before", "now", "code", "named"),
    [
        pytest.param(190, 190, 0, "nothing fits, as before", id="as-before"),
        pytest.param(190, FITS, 0, ("improved", "3 of 3 cases"), id="fits-now"),
        pytest.param(FITS, 190, 1, "3 cases no longer fit", id="fits-no-longer"),
    ],
)
def test_E9_the_gate_on_what_cannot_fit(
    ask: Asked, toolbelt: Toolbelt, before: int, now: int, code: int, named: object
) -> None:
    ask("full", "loadout:porter", window=before)
    assert toolbelt("eval", "baseline", "save", "-o", "base.json").code == 0
    if now != before:
        ask("full", "loadout:porter", window=now)
    ran = toolbelt("eval", "gate", "--baseline", "base.json", "--margin", "1", "--json")
    assert ran.code == code, ran.err
    jsonschema.validate(ran.json, read_schema("gate"))
    (check,) = (one for one in ran.json["checks"] if (one["name"], one["arm"]) == ("overflow", f"{SMALL} · full"))
    assert mentions(check["message"], named)
