"""`toolbelt eval recommend`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.evals.compatibility.runs import Asked, WrittenRun, stored
from toolbelt.stores.config import read_config

WORK = re.compile(r"^comparing toolsets: .*\n", re.MULTILINE)
"""Told where it takes over a second."""
GOOD = "+" * 90 + "-" * 10
ARMS = [Asked("full", GOOD, 9000), Asked("loadout:minimal", GOOD, 90)]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A file with a run in which `loadout:minimal` is as good as `full`, as far as 100 cases go."""
    path = tmp_path / "runs.db"
    with stored(WrittenRun(ARMS), path):
        return path


def test_E7_the_smallest_that_is_surely_good_enough(toolbelt: Toolbelt, store: Path) -> None:
    ran = toolbelt("eval", "recommend", "--store", str(store), "--margin", "0.1")
    assert (ran.code, WORK.sub("", ran.err)) == (0, "")
    assert "loadout:minimal is the best (90.0%)" in ran.out
    assert ran.out.endswith("models:\n  - name: m\n    toolset: loadout:minimal\n")
    assert "\x1b" not in ran.out, "plain in a pipe"


def test_E9_nothing_sure_for_any_model_is_exit_3(toolbelt: Toolbelt, store: Path) -> None:
    ran = toolbelt("eval", "recommend", "--store", str(store), "--margin", "0.01")
    assert ran.code == 3
    assert "Nothing is sure yet: loadout:minimal is the best as measured" in ran.out
    assert WORK.sub("", ran.err) == "note: nothing is sure enough to be recommended, for any model\n"


def test_yaml_alone_is_a_file_of_a_project(toolbelt: Toolbelt, store: Path, tmp_path: Path) -> None:
    ran = toolbelt("eval", "recommend", "--store", str(store), "--margin", "0.1", "--yaml")
    assert (ran.code, WORK.sub("", ran.err)) == (0, "")
    (tmp_path / "toolbelt.yaml").write_text(ran.out, encoding="utf-8")
    [own] = read_config(tmp_path).own_models
    assert (own.name, own.toolset) == ("m", "loadout:minimal")


def test_a_file_is_written_and_never_replaced_unasked(toolbelt: Toolbelt, store: Path, tmp_path: Path) -> None:
    place = tmp_path / "new" / "models.yaml"
    command = ["eval", "recommend", "--store", str(store), "--margin", "0.1"]
    ran = toolbelt(*command, "-o", str(place))
    assert (ran.code, ran.out, WORK.sub("", ran.err)) == (0, "", f"note: wrote {place}\n")
    written = place.read_text(encoding="utf-8")
    assert written == toolbelt(*command, "--yaml").out
    place.write_text("mine", encoding="utf-8")
    ran = toolbelt(*command, "-o", str(place))
    assert ran.code == 2
    assert "exists already" in ran.err
    assert place.read_text(encoding="utf-8") == "mine"
    assert toolbelt(*command, "-o", str(place), "--force").code == 0
    assert place.read_text(encoding="utf-8") == written


def test_C_json_is_one_document(toolbelt: Toolbelt, store: Path) -> None:
    ran = toolbelt("eval", "recommend", "--store", str(store), "--margin", "0.1", "--json")
    data = json.loads(ran.out)
    assert (ran.code, data["models"][0]["pick"]["toolset"]) == (0, "loadout:minimal")
    assert toolbelt("eval", "recommend", "--store", str(store), "--margin", "0.01", "--json").code == 3


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        pytest.param(["nosuch"], "No run named 'nosuch'", id="no-such-run"),
        pytest.param(["--yaml", "--json"], "take one", id="two-ways-to-print"),
        pytest.param(["--margin", "1.5"], "--margin", id="no-margin"),
        pytest.param(["--margin", "nan"], "--margin", id="no-number"),
    ],
)
def test_E9_what_is_wrong_is_exit_2(toolbelt: Toolbelt, store: Path, flags: list[str], said: str) -> None:
    ran = toolbelt("eval", "recommend", "--store", str(store), *flags)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_the_file_of_runs_is_not_written_over(toolbelt: Toolbelt, store: Path, tmp_path: Path) -> None:
    ran = toolbelt("eval", "recommend", "--store", str(store), "-o", str(store), "--force")
    assert ran.code == 2
    assert "are the same file" in ran.err
    ran = toolbelt("eval", "recommend", "--store", str(tmp_path / "none.db"))
    assert ran.code == 2
    assert not (tmp_path / "none.db").exists()
