"""`toolbelt eval search` (rule S3)."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.cli.conftest import Toolbelt
from tests.evals.cases.samples import case, write_dataset
from tests.wording import mentions
from toolbelt.evals.exports.schemas import read_schema

ROWS = [
    case(id="push", query="push to the remote", tags=["german"]),
    case(id="search", query="search", expected=[{"tool": "search"}], offered=["search", "git_log"]),
    case(id="idle", query="thanks", expected=[]),
]
OWN = """
def make_search(tools):
    print("loud")
    return lambda text, k: [(tool.id, -place) for place, tool in enumerate(tools)]
"""


@pytest.fixture
def mine(project: Path) -> Path:
    """A dataset, and a ranker of the user's own."""
    (project / "own.py").write_text(OWN)
    return write_dataset(project / "mine", ROWS)


def test_C_the_json_follows_its_schema(toolbelt: Toolbelt, mine: Path) -> None:
    ran = toolbelt(
        "eval", "search", "-d", "mine", "-r", "words,regex", "-r", "words", "-d", "tiered", "--limit", 20, "--json"
    )
    assert ran.code == 0
    Draft202012Validator(read_schema("search")).validate(ran.json)
    assert [(row["dataset"], row["rank"]) for row in ran.json["rankers"]] == [
        ("mine", "words"), ("mine", "regex"), ("tiered", "words"), ("tiered", "regex"),
    ]  # fmt: skip
    assert {(row["a"], row["b"]) for row in ran.json["contrasts"]} == {("words", "regex")}
    assert ran.json["rankers"][0]["recall_at_1"] == pytest.approx(
        {"value": 1.0, "cases": 2, "low": 0.3424, "high": 1.0}, abs=1e-4
    )


def test_S3_the_title_states_what_is_searched(toolbelt: Toolbelt, mine: Path) -> None:
    assert mentions(toolbelt("eval", "search", "-d", "mine").out, "2 cases", "each offers (median 2)", "1 of them")
    whole = toolbelt("eval", "search", "-d", "mine", "--whole-catalog")
    assert mentions(whole.out, "mine: 2 cases over the whole catalog (5 tools)", "1 need no tool", "german", "No chat")


def test_S3_files_are_written_beside(toolbelt: Toolbelt, mine: Path) -> None:
    arguments = ("eval", "search", "-d", "mine", "-r", "words,regex", "--plot", "new/r.svg", "-o", "r.md")
    ran = toolbelt(*arguments)
    assert (ran.code, ran.err.count("wrote")) == (0, 2)
    assert Path("new/r.svg").read_bytes().lstrip().startswith(b"<?xml")
    assert "| words |" in Path("r.md").read_text()
    again = toolbelt(*arguments)
    assert again.code == 2
    assert "--force" in again.err
    assert toolbelt(*arguments, "--force").code == 0
    assert toolbelt("eval", "search", "-d", "mine", "--plot", "r.png").code == 0
    assert Path("r.png").read_bytes().startswith(b"\x89PNG")


def test_M2_a_ranker_of_the_users_own_needs_approval(toolbelt: Toolbelt, mine: Path) -> None:
    arguments = ("eval", "search", "-d", "mine", "-r", "python:own:make_search", "--json")
    refused = toolbelt(*arguments)
    assert (refused.code, refused.out) == (2, "")
    assert "own:make_search" in refused.err
    ran = toolbelt(*arguments, "--yes")
    assert ran.json["rankers"][0]["mrr"]["value"] == pytest.approx((1 + 1 / 2) / 2)


def test_X3_offline_a_model_without_stored_vectors_leaves_the_run_incomplete(toolbelt: Toolbelt, mine: Path) -> None:
    ran = toolbelt(
        "eval", "search", "-d", "mine", "-r", "words,embedding:text-embedding-3-small", "--offline", "--json"
    )
    assert (ran.code, [row["scored"] for row in ran.json["rankers"]]) == (3, [2, 0])
    assert mentions(ran.err, "warning", "--offline", "text-embedding-3-small")


def test_the_default_dataset_is_noted_where_the_project_has_another_catalog(toolbelt: Toolbelt, mine: Path) -> None:
    Path("toolbelt.yaml").write_text("catalog: mine/catalog.json\n")
    assert mentions(toolbelt("eval", "search", "--limit", "5").err, "no dataset was named", "mine/catalog.json")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        pytest.param(("-r", "word"), ("word", "words"), id="ranker"),
        pytest.param(("-d", "asistant"), ("asistant", "assistant"), id="dataset"),
        pytest.param(("--tag", "eazy"), ("eazy", "easy"), id="tag"),
        pytest.param(("--plot", "r.gif"), (".svg", ".png", "r.gif"), id="plot"),
        pytest.param(("--plot", "r.svg", "-o", "r.svg"), ("--plot", "--output", "same file"), id="one-file-twice"),
        pytest.param(("-r", ""), ("words",), id="no-ranker"),
    ],
)
def test_E9_mistakes_are_refused_with_what_is_right(
    toolbelt: Toolbelt, arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    ran = toolbelt("eval", "search", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, *parts)


def test_a_wrong_choice_is_answered_with_the_nearest(toolbelt: Toolbelt, mine: Path) -> None:
    ran = toolbelt("eval", "search", "-d", "mine", "--by", "langage")
    assert ran.code == 2
    assert mentions(ran.err, "'langage'", "Did you mean 'language'?")


def test_S3_the_figures_are_written_as_the_ending_says(toolbelt: Toolbelt, mine: Path) -> None:
    about = ("eval", "search", "-d", "mine", "-r", "words", "--by", "tag")
    written = {}
    for ending in ("md", "html", "csv", "json"):
        assert toolbelt(*about, "-o", f"r.{ending}").code == 0
        written[ending] = Path(f"r.{ending}").read_text()
    assert written["md"].startswith("## mine")
    assert written["html"].startswith("<!doctype html>")
    assert json.loads(written["json"]) == toolbelt(*about, "--json").json
    rows = list(csv.DictReader(written["csv"].splitlines()))
    [mean] = [row for row in rows if (row["by"], row["measure"]) == ("", "recall_at_1")]
    assert (mean["dataset"], mean["rank"], float(mean["value"]), mean["cases"]) == ("mine", "words", 1.0, "2")
    assert [row["group"] for row in rows if (row["by"], row["measure"]) == ("tag", "mrr")] == ["", "german"]
    assert mentions(toolbelt(*about, "-o", "r.xlsx").err, "'r.xlsx'", ".csv")
