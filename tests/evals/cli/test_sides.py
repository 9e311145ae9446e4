"""What runs, baselines and arms are called on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.evals.cli.test_eval_run import office
from tests.wording import mentions, naming
from toolbelt.errors import InvalidFileError, NotFoundError, ToolbeltError
from toolbelt.evals.analysis.evidence.evidence import ArmName
from toolbelt.evals.analysis.evidence.sides import choose_arms, find_arm, find_arms, is_path, open_side

__all__ = ["office"]

ARMS = (
    ArmName("gpt-4o", "full"),
    ArmName("gpt-4o", "full", "shuffled"),
    ArmName("local/bm25", "full"),
    ArmName("local/bm25", "tiered"),
    ArmName("local/bm25", "loadout:dev"),
)
STORE = Path(".toolbelt/runs.db")


@pytest.mark.parametrize(
    ("name", "places"),
    [
        pytest.param("gpt-4o · full", [0], id="model-and-toolset"),
        pytest.param("gpt-4o full", [0], id="a-blank-does-for-the-dot"),
        pytest.param(" GPT-4O·FULL ", [0], id="case-does-not-matter"),
        pytest.param("gpt-4o full shuffled", [1], id="model-toolset-and-variant"),
        pytest.param("full", [0, 2], id="a-toolset-is-the-plain-one-of-every-model"),
        pytest.param("full · shuffled", [1], id="toolset-and-variant"),
        pytest.param("tiered", [3], id="a-toolset"),
        pytest.param("loadout:dev", [4], id="a-toolset-with-a-colon"),
        pytest.param("local/bm25", [2, 3, 4], id="a-model"),
        pytest.param("shuffled", [1], id="a-variant"),
        pytest.param("#1", [0], id="a-number"),
        pytest.param("5", [4], id="a-number-alone"),
    ],
)
def test_an_arm_goes_by_the_fullest_name_that_fits(name: str, places: list[int]) -> None:
    assert list(find_arms(ARMS, name)) == places


def test_a_name_that_is_a_number_beats_the_number() -> None:
    arms = (ArmName("m", "full"), ArmName("m", "1"))
    assert find_arms(arms, "1") == (1,)
    assert find_arms(arms, "#1") == (0,)


@pytest.mark.parametrize(
    ("name", "named"),
    [
        pytest.param("ful", ("ful", "full"), id="the-nearest"),
        pytest.param("gpt-4 full", "gpt-4o · full", id="the-nearest-of-whole-names"),
        pytest.param("#6", ("#6", "gpt-4o · full, gpt-4o · full · shuffled"), id="too-high-a-number"),
        pytest.param("0", "No arm named '0'", id="numbers-begin-at-1"),
        pytest.param("", "No arm named ''", id="nothing"),
        pytest.param("·", "No arm named '·'", id="a-dot"),
    ],
)
def test_no_such_arm(name: str, named: object) -> None:
    with pytest.raises(NotFoundError) as caught:
        find_arms(ARMS, name)
    assert mentions(str(caught.value), named)


def test_one_arm_is_wanted_and_several_go_by_the_name() -> None:
    assert find_arm(ARMS, "tiered") == 3
    with pytest.raises(ToolbeltError) as caught:
        find_arm(ARMS, "full")
    assert mentions(str(caught.value), "2 arms", "full", "gpt-4o · full", "(#1)", "local/bm25 · full", "(#3)")


@pytest.mark.parametrize(
    ("names", "places"),
    [
        pytest.param(["tiered", "gpt-4o full"], (0, 3), id="in-their-own-order"),
        pytest.param(["tiered,gpt-4o full"], (0, 3), id="with-commas"),
        pytest.param([" tiered , ,", "#4"], (3,), id="each-once-and-empty-ones-not-at-all"),
        pytest.param(["full"], (0, 2), id="several-by-one-name"),
    ],
)
def test_arms_are_chosen_by_several_names(names: list[str], places: tuple[int, ...]) -> None:
    assert choose_arms(ARMS, names) == places


@pytest.mark.parametrize(
    ("names", "says"),
    [([""], "No arm is named"), ([" , ", ""], "No arm is named"), (["full", "nope"], "No arm named 'nope'")],
)
def test_to_choose_none_is_an_error(names: list[str], says: str) -> None:
    with pytest.raises(ToolbeltError, match=says):
        choose_arms(ARMS, names)


def test_of_very_many_candidates_a_few_are_named() -> None:
    with pytest.raises(ToolbeltError, match=naming("30 arms", "full", "(#10)", "20 more")):
        find_arm([ArmName(f"m{number}", "full") for number in range(30)], "full")


@pytest.mark.parametrize("arms", [(), ARMS], ids=["none", "five"])
def test_no_name_is_a_bug(arms: Sequence[ArmName]) -> None:
    for name in ("#", "##1", "1.0", "-1", "\x1b[31m", "9" * 400, "#0"):
        with pytest.raises(NotFoundError):
            find_arm(arms, name)


@pytest.mark.parametrize(
    ("name", "is_file"),
    [("latest", False), ("20260101-120000-ab12", False), ("reports/x", True), ("base.json", True), ("c:\\x", True)],
)
def test_what_is_a_file_by_its_name(project: Path, name: str, is_file: bool) -> None:
    assert is_path(name) is is_file


def test_a_file_that_is_there_is_one_whatever_its_name(project: Path) -> None:
    (project / "baseline").write_text("")
    assert is_path("baseline")
    assert not is_path("other")
    assert not is_path("x" * 5000), "longer than any name of a file"


def test_a_file_called_as_a_run_is_does_not_take_its_place(office: Path, toolbelt: Toolbelt) -> None:
    run = toolbelt("eval", "run", "-d", "office", "-t", "full", "--json").json["run"]
    for name in ("latest", run, run[:4], run[:-2]):
        (office / name).write_text("of somebody else's")
        with open_side(name, STORE) as side:
            assert (side.about.name, side.about.is_baseline) == (run, False)
        with pytest.raises(InvalidFileError), open_side(f"./{name}", STORE):
            pass


def test_a_run_goes_by_its_id_its_beginning_or_latest(office: Path, toolbelt: Toolbelt) -> None:
    runs = [toolbelt("eval", "run", "-d", "office", "-t", "full", "--json").json["run"] for _ in range(2)]
    for name, run in (("latest", runs[1]), (runs[0], runs[0]), (runs[1][:-1], runs[1])):
        with open_side(name, STORE) as side:
            assert side.about.name == run
            assert [arm.label for arm in side.arms] == ["local/bm25 · full"]
            assert list(side.read(0)) == ["refund-1", "parcel-1", "chat-1"]
    with pytest.raises(NotFoundError) as caught, open_side(runs[0] + "x", STORE):
        pass
    assert mentions(str(caught.value), f"{runs[0]}x")
    assert mentions(str(caught.value), "reports/baseline.json")
    with pytest.raises(ToolbeltError, match="2 runs begin with '2'"), open_side("2", STORE):
        pass


def test_nothing_has_been_run(project: Path) -> None:
    with pytest.raises(NotFoundError, match="Nothing has been run"), open_side("latest", STORE):
        pass


def test_a_baseline_goes_by_its_file_and_takes_no_store(office: Path, toolbelt: Toolbelt) -> None:
    toolbelt("eval", "run", "-d", "office", "-t", "full,loadout")
    assert toolbelt("eval", "baseline", "save", "-o", "kept/base.json").code == 0
    with open_side("kept/base.json", Path("nowhere/runs.db")) as side:
        assert side.about.is_baseline
        assert [arm.toolset for arm in side.arms] == ["full", "loadout"]
    with pytest.raises(NotFoundError) as caught, open_side("kept/bsae.json", STORE):
        pass
    assert mentions(str(caught.value), "kept/bsae.json", "kept/base.json")
    with pytest.raises(NotFoundError, match=r"No baseline named 'kept'.*kept/base\.json"), open_side("kept/", STORE):
        pass


def test_no_baseline_is_there_at_all(project: Path) -> None:
    with pytest.raises(NotFoundError) as caught, open_side("reports/baseline.json", STORE):
        pass
    assert "toolbelt eval baseline save" in str(caught.value)


def test_a_broken_baseline_says_what_is_wrong_with_it(project: Path) -> None:
    (project / "base.json").write_text('{"schema": "some.other/1"}')
    with pytest.raises(InvalidFileError), open_side("base.json", STORE):
        pass
