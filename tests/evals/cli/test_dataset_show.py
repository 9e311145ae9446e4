from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toolbelt
from tests.evals.cases.samples import case, public, write_dataset, write_imported
from tests.wording import mentions
from toolbelt.evals.cases.dataset import open_dataset
from toolbelt.stores.catalogs import shipped_datasets

OWN = [
    case(
        id="push",
        system="Be\x1b[31m brief.",
        kind="single",
        tags=["easy"],
        role="developer",
        expected=[
            {
                "tool": "git_push",
                "args": {"remote": "origin"},
                "args_any": {"force": [True, None]},
                "optional": ["force"],
            }
        ],
        accept=[[{"tool": ["web/read", "search"]}, {"tool": "git_log"}]],
        forbidden=["file/read"],
        allowed_extra=["search"],
        results={"git_push": ["done", {"ok": True}]},
        offered=["git_push", "git_log", "search"],
        match="ordered",
    ),
    case(id="chat", query="Hello.", expected=[], kind="none", cluster="talk"),
    case(id="any", query="Do.", expected=None, kind="none", cluster="talk"),
]


@pytest.fixture
def mine(project: Path) -> Path:
    return write_dataset(project / "mine", OWN)


def test_E3_list_shows_what_is_shipped(toolbelt: Toolbelt) -> None:
    ran = toolbelt("dataset", "list", "--json")
    assert ran.code == 0
    assert [row["name"] for row in ran.json["datasets"]] == list(shipped_datasets())
    assert all(row["cases"] > 0 and len(row["digest"]) == 64 for row in ran.json["datasets"])


def test_E3_list_shows_those_named(toolbelt: Toolbelt, mine: Path) -> None:
    ran = toolbelt("dataset", "list", "mine", "mine/cases.jsonl")
    digest = open_dataset("mine").digest[:16]
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "dataset  cases  tools  digest            kinds",
        *[f"mine         3      5  {digest}  single 1, none 2"] * 2,
    ]


def test_E3_show_counts_what_a_dataset_holds(toolbelt: Toolbelt, mine: Path) -> None:
    ran = toolbelt("dataset", "show", "mine")
    assert (ran.code, ran.err) == (0, "")
    assert (
        ran.out
        == f"""\
mine  3 cases in mine/cases.jsonl
layout    toolbelt's own: calls in `expected`; a name that means no tool is an error
catalog   small: 5 tools in 3 plugins (mine/catalog.json)
digest    {open_dataset("mine").digest}
clusters  2
answered  4 of 5 tools; none asks for file/read
roles     developer

kind    cases
none        2
single      1

tag   cases
easy      1
"""
    )


def test_E3_show_says_what_is_left_out_and_which_loadouts_there_are(toolbelt: Toolbelt, project: Path) -> None:
    folder = write_imported(project / "theirs", [public(id="a"), public(id="b", expected=["gone\x1b"])])
    (folder / "loadouts.json").write_text(json.dumps({"Some One": ["git_push", "nope"]}))
    ran = toolbelt("dataset", "show", "theirs")
    assert ran.code == 0
    assert mentions(ran.err, "note", "Some One", 1, "nope")
    assert "loadouts  Some One (1)\n" in ran.out
    assert "line 2: b (gone\\x1b)\n" in ran.out
    data = toolbelt("dataset", "show", "theirs", "--json").json
    assert data["layout"] == "public"
    assert mentions(ran.out, "imported", "`expected`")
    assert data["excluded"] == {"label not in the catalog": 1}
    assert data["exclusions"] == [{"case": "b", "line": 2, "reason": "label not in the catalog", "detail": "gone\x1b"}]
    assert data["loadouts"] == [{"name": "Some One", "tools": 1}]


def test_E3_one_case_whole(toolbelt: Toolbelt, mine: Path) -> None:
    ran = toolbelt("dataset", "show", "mine", "--case", "push")
    assert (ran.code, ran.err) == (0, "")
    assert (
        ran.out
        == """\
push  single #easy
line  1 of mine/cases.jsonl
role  developer

system: Be\\x1b[31m brief.
user: Send it off.

right        git/git_push(remote="origin", force?=true | null, …)
or           web/read or web/search, whatever the arguments
and          git/git_log, whatever the arguments
forbidden    file/read
allowed too  web/search
offered      git/git_push, git/git_log, web/search
result       git/git_push: done
result       git/git_push: {"ok":true}
match        ordered, at most 2 steps
"""
    )


@pytest.mark.parametrize(
    ("case_id", "right"), [pytest.param("chat", "no call", id="no-call"), pytest.param("any", "any call", id="any")]
)
def test_E3_a_case_without_a_right_call(toolbelt: Toolbelt, mine: Path, case_id: str, right: str) -> None:
    assert f"right  {right}\n" in toolbelt("dataset", "show", "mine", "--case", case_id).out


def test_E3_one_case_as_json(toolbelt: Toolbelt, mine: Path) -> None:
    data: dict[str, Any] = toolbelt("dataset", "show", "mine", "--case", "push", "--json").json
    assert data["messages"][-1] == {"role": "user", "content": "Send it off."}
    assert data["expected"] == [
        {
            "tools": ["git/git_push"],
            "arguments": {
                "accepted": {"remote": ["origin"], "force": [True, None]},
                "contains": {},
                "optional": ["force"],
                "exact": False,
                "rules": "literal",
            },
        }
    ]
    assert (data["source"], data["line"], data["steps"], data["match"]) == ("mine/cases.jsonl", 1, 2, "ordered")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param(["show", "mien"], ("mien", "mine"), id="dataset"),
        pytest.param(["show", "zzzzz"], "No dataset named 'zzzzz'. Known: ", id="nothing-near"),
        pytest.param(["show", "mine", "--case", "psuh"], "No case named 'psuh'.", id="case"),
        pytest.param(["list", "mine", "nope"], "No dataset named 'nope'.", id="one-of-several"),
        pytest.param(["show", "mine", "--catalog", "nope"], "nope", id="catalog"),
        pytest.param(["lst"], ("lst", "list"), id="command"),
    ],
)
def test_E9_what_is_not_there_exits_2_with_the_nearest(
    toolbelt: Toolbelt, mine: Path, arguments: list[str], named: object
) -> None:
    ran = toolbelt("dataset", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, named)


def test_E9_mistakes_of_cases_exit_2_with_file_and_line(toolbelt: Toolbelt, project: Path) -> None:
    write_dataset(project / "bad", [case(), case(expected=[{"tool": "git_psh"}])])
    ran = toolbelt("dataset", "show", "bad")
    assert (ran.code, ran.out) == (2, "")
    first, second, last = ran.err.splitlines()
    assert mentions(first, "bad/cases.jsonl:2: error", "a", "line 1")
    assert mentions(second, "bad/cases.jsonl:2: error", "`expected[0].tool`", "git_psh", "git_push")
    assert mentions(last, "Error", "2 findings")


def test_E3_warnings_are_told_a_few_at_a_time(toolbelt: Toolbelt, project: Path) -> None:
    doubtful = [{"tool": "git_push", "args": {"remot": "x"}}]
    write_dataset(project / "mine", [case(id=str(number), expected=doubtful) for number in range(7)])
    ran = toolbelt("dataset", "show", "mine")
    assert ran.code == 0
    assert len(ran.err.splitlines()) == 6
    assert mentions(ran.err.splitlines()[-1], "note", "2 further", "`toolbelt dataset lint`")


def test_E3_the_project_gives_the_catalog_where_a_file_of_cases_has_none(toolbelt: Toolbelt, project: Path) -> None:
    folder = write_dataset(project / "mine", OWN)
    (folder / "cases.jsonl").rename(project / "alone.jsonl")
    assert "no catalog beside these cases" in toolbelt("dataset", "show", "alone.jsonl").err
    (project / "toolbelt.yaml").write_text("catalog: mine/catalog.json\n")
    assert toolbelt("dataset", "show", "alone.jsonl", "--json").json["catalog"]["tools"] == 5
