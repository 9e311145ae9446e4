"""`toolbelt eval recommend`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.evals.analysis.matrix.runs import Asked, WrittenRun, stored
from tests.wording import mentions
from toolbelt.stores.config import read_config

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
    command = ["eval", "recommend", "--store", str(store), "--margin", "0.1"]
    ran = toolbelt(*command)
    assert (ran.code, ran.err) == (0, "")
    assert "loadout:minimal is the best (90.0%)" in toolbelt(*command, "--details").out
    assert ran.out.endswith("models:\n  - name: m\n    toolset: loadout:minimal\n")
    assert "\x1b" not in ran.out, "plain in a pipe"


def test_E7_the_best_as_measured_is_said_not_to_be_sure(toolbelt: Toolbelt, store: Path) -> None:
    command = ["eval", "recommend", "--store", str(store), "--margin", "0.01"]
    ran = toolbelt(*command)
    assert (ran.code, ran.err) == (0, "")
    assert mentions(toolbelt(*command, "--details").out, "loadout:minimal", "90.0% of 100 trials", "not sure")
    assert ran.out.endswith("models:\n  - name: m\n    toolset: loadout:minimal  # as measured, not sure\n")


def test_E6_the_ranking_comes_first_and_pairs_that_were_not_scored_have_a_table(
    toolbelt: Toolbelt, tmp_path: Path
) -> None:
    arms = [*ARMS, Asked("full", GOOD, 9000, model="n")]
    for name, asked in (("whole", ARMS), ("partly", arms)):
        with stored(WrittenRun(asked), tmp_path / name):
            pass
        ran = toolbelt("eval", "recommend", "--store", str(tmp_path / name), "--margin", "0.1")
        assert ran.out.startswith("Which model with which toolset?\n")
        assert ("not run" in ran.out) == (name == "partly")
        assert len(ran.out.splitlines()) <= 24 or name == "partly"


def test_E9_only_what_is_sure_or_exit_3(toolbelt: Toolbelt, store: Path) -> None:
    command = ["eval", "recommend", "--store", str(store), "--sure"]
    assert toolbelt(*command, "--margin", "0.1").code == 0
    ran = toolbelt(*command, "--margin", "0.01")
    assert ran.code == 3
    assert "loadout:minimal" in ran.out, "it is told all the same"
    assert "toolset: " not in ran.out
    assert mentions(ran.err, "note", "nothing", "any model")
    assert toolbelt(*command, "--margin", "0.01", "--json").json["models"][0]["pick"]["choice"] is None


def test_E9_only_what_is_sure_is_asked_for_of_every_model(toolbelt: Toolbelt, tmp_path: Path) -> None:
    arms = [*ARMS, Asked("full", "+-" * 50, 9000, model="n"), Asked("tiered", "-+" * 50, 90, model="n")]
    with stored(WrittenRun(arms), tmp_path / "runs.db"):
        pass
    command = ["eval", "recommend", "--store", str(tmp_path / "runs.db"), "--margin", "0.1"]
    assert toolbelt(*command).code == 0
    ran = toolbelt(*command, "--sure", "--yaml")
    assert (ran.code, ran.out.count("toolset: ")) == (3, 1)
    assert mentions(ran.err, "note", "1 of 2 models")


def test_E9_nothing_to_recommend_for_any_model_is_exit_3(toolbelt: Toolbelt, tmp_path: Path) -> None:
    with stored(WrittenRun(ARMS, drafts=100), tmp_path / "runs.db"):
        pass
    ran = toolbelt("eval", "recommend", "--store", str(tmp_path / "runs.db"))
    assert ran.code == 3
    assert mentions(ran.err, "note", "nothing", "any model")
    assert mentions(ran.out, "nothing", "toolbelt.yaml")


def test_what_is_to_be_pasted_is_whole_however_narrow_the_screen(
    toolbelt: Toolbelt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = "provider/a-name-that-is-longer-than-the-screen-is-wide"
    with stored(WrittenRun([Asked("full", GOOD, model=model), Asked("tiered", GOOD, 90, model=model)]), tmp_path / "r"):
        pass
    monkeypatch.setenv("COLUMNS", "40")
    ran = toolbelt("eval", "recommend", "--store", str(tmp_path / "r"))
    assert f"\n  - name: {model}\n    toolset: tiered  # as measured" in ran.out


def test_yaml_alone_is_a_file_of_a_project(toolbelt: Toolbelt, store: Path, tmp_path: Path) -> None:
    ran = toolbelt("eval", "recommend", "--store", str(store), "--margin", "0.1", "--yaml")
    assert (ran.code, ran.err) == (0, "")
    (tmp_path / "toolbelt.yaml").write_text(ran.out, encoding="utf-8")
    [own] = read_config(tmp_path).own_models
    assert (own.name, own.toolset) == ("m", "loadout:minimal")


def test_a_file_is_written_and_never_replaced_unasked(toolbelt: Toolbelt, store: Path, tmp_path: Path) -> None:
    place = tmp_path / "new" / "models.yaml"
    command = ["eval", "recommend", "--store", str(store), "--margin", "0.1"]
    ran = toolbelt(*command, "-o", str(place))
    assert (ran.code, ran.out, ran.err) == (0, "", f"note: wrote {place}\n")
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
    assert data["models"][0]["pick"]["sure"] is True


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


def say(folder: Path, text: str) -> Path:
    (folder / "toolbelt.yaml").write_text(text, encoding="utf-8")
    return folder / "toolbelt.yaml"


OWN = "models:\n  - name: m\n    context_window: 9000\n    prices: {input: 1, output: 2}\n"
ENTRY = (
    "models:\n  # In place of the entry of that name in toolbelt.yaml:\n  - name: m\n    context_window: 9000\n"
    "    prices:\n      input: 1.0\n      output: 2.0\n    toolset: loadout:minimal\n"
)


def test_E7_an_entry_that_is_there_is_given_whole(
    toolbelt: Toolbelt, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["eval", "recommend", "--store", str(store), "--margin", "0.1"]
    (elsewhere := tmp_path / "elsewhere").mkdir()
    file = say(elsewhere, OWN)
    assert toolbelt(*command, "--config", str(file)).out.endswith(ENTRY)
    assert ENTRY.partition("models:")[2] in toolbelt(*command, "--config", str(file), "--json").json["recommendation"]
    monkeypatch.setenv("TOOLBELT_CONFIG", str(file))
    say(elsewhere, toolbelt(*command, "--yaml").out)
    [own] = read_config(elsewhere).own_models
    assert (own.context_window, own.prices is not None, own.toolset) == (9000, True, "loadout:minimal")
    assert "which says so already:" in toolbelt(*command, "--yaml").out


def test_E9_a_broken_file_is_told(toolbelt: Toolbelt, store: Path, tmp_path: Path) -> None:
    file = say(tmp_path, "models: [{nome: m}]\n")
    ran = toolbelt("eval", "recommend", "--store", str(store), "--config", str(file))
    assert (ran.code, ran.out) == (2, "")
    assert "nome" in ran.err


def test_E7_a_report_goes_by_the_file_of_its_run_while_that_is_there(toolbelt: Toolbelt, tmp_path: Path) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    file = say(elsewhere, OWN)
    with stored(WrittenRun(ARMS, config=str(file)), tmp_path / "runs.db"):
        pass
    command = ["eval", "report", "latest", "--store", str(tmp_path / "runs.db"), "--output"]

    def reported(name: str) -> list[bool]:
        ran = toolbelt(*command, str(tmp_path / name))
        assert ran.code == 0, ran.err
        files = [next((tmp_path / name).rglob(one)) for one in ("summary.json", "report.md", "report.html")]
        return ["In place of the entry of that name" in file.read_text(encoding="utf-8") for file in files]

    assert reported("there") == [True] * 3
    file.unlink()
    assert reported("gone") == [False] * 3


@pytest.mark.parametrize("given", ["loadout:research", "loadout:pocket"])
def test_E7_what_is_pasted_is_what_auto_gives(toolbelt: Toolbelt, tmp_path: Path, given: str) -> None:
    """From a run to `toolbelt.yaml`, and from there to what a model is shown."""
    model = "local/bm25"
    say(Path.cwd(), f"models:\n  - name: {model}\n    context_window: 40000\n")
    with stored(WrittenRun([Asked("full", GOOD, model=model), Asked(given, GOOD, 90, model=model)]), tmp_path / "r.db"):
        pass
    ran = toolbelt("eval", "recommend", "--store", str(tmp_path / "r.db"), "--margin", "0.1", "--yaml")
    say(Path.cwd(), ran.out)
    name = given.removeprefix("loadout:")
    chosen = toolbelt("loadout", "inspect", "auto", "--model", model, "--catalog", "assistant")
    assert chosen.out.startswith(f"auto chose {name} "), chosen.err
    asked = ("--dataset", "assistant", "--limit", "1", "--model", model, "--store", str(tmp_path / "new.db"), "--json")
    auto, named = (toolbelt("eval", "run", "-t", one, *asked).json["arms"][0] for one in ("loadout:auto", given))
    assert (auto["tools_offered"], auto["first_offer"]) == (named["tools_offered"], named["first_offer"])
