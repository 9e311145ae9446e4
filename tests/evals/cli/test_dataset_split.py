"""`toolbelt dataset split`, as it is called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.evals.cases.samples import case, public, write_dataset, write_imported
from tests.evals.cases.test_split import rows
from tests.wording import each_mentions, mentions


def test_E7_both_parts_can_be_run(toolbelt: Toolbelt, project: Path) -> None:
    ran = toolbelt("dataset", "split", "assistant", "-o", "parts", "--json")
    assert ran.code == 0
    parts = ran.json["parts"]
    assert list(parts) == ["dev", "held-out"]
    assert sum(part["cases"] for part in parts.values()) == ran.json["dataset"]["cases"]
    for part in parts.values():
        shown = toolbelt("dataset", "show", part["folder"], "--json").json
        assert (shown["digest"], shown["cases"], shown["kinds"]) == (part["digest"], part["cases"], part["kinds"])
        assert shown["loadouts"], "roles go on meaning something"
        assert toolbelt("eval", "run", "-d", part["folder"], "--limit", "3", "-t", "full,loadout").code == 0


def test_E7_what_is_told(toolbelt: Toolbelt, project: Path) -> None:
    write_dataset(project / "mine", [*rows(10), *rows(1, "odd\x1b[31m")])
    ran = toolbelt("dataset", "split", "mine", "-o", "parts", "--held-out", "0.3")
    assert ran.code == 0
    assert mentions(ran.err, "note", "dev", "odd\\x1b[31m")
    assert [line.split() for line in ran.out.splitlines()[:3]] == [
        ["kind", "dev", "held", "out", "share"],
        ["single", "21", "9", "30%"],
        ["odd\\x1b[31m", "3", "0", "0%"],
    ]
    assert mentions(ran.out.splitlines()[-1], "parts/held-out", "9 cases", "3 clusters")


def test_E3_what_is_in_neither_part_is_told(toolbelt: Toolbelt, project: Path) -> None:
    made = [public(id=f"{n}") for n in range(6)]
    write_imported(project / "mine", [*made, public(id="lost", expected=["no_such_tool"])])
    ran = toolbelt("dataset", "split", "mine", "-o", "parts", "--json")
    assert mentions(ran.err, "warning", "1 case")
    assert sum(ran.json["excluded"].values()) == 1
    assert toolbelt("dataset", "show", "parts/held-out", "--json").json["layout"] == "public"


def test_E3_a_catalog_from_elsewhere_goes_with_the_parts(toolbelt: Toolbelt, project: Path) -> None:
    write_dataset(project / "mine", rows(5))
    (project / "mine/catalog.json").rename(project / "tools.json")
    (project / "mine/loadouts.json").write_text(json.dumps({"pusher": ["git_push"]}))
    assert toolbelt("dataset", "split", "mine", "-o", "parts").code == 2
    assert toolbelt("dataset", "split", "mine", "-o", "parts", "-c", "tools.json").code == 0
    assert toolbelt("dataset", "show", "parts/dev", "--json").json["loadouts"] == [{"name": "pusher", "tools": 1}]


def test_E7_what_is_too_large_and_a_share_far_off_are_told(toolbelt: Toolbelt, project: Path) -> None:
    made = [case(id=f"big-{n}", cluster="big", kind="k\x1b[31m") for n in range(90)]
    made += [case(id=f"{n}", cluster=f"{n}", kind="k\x1b[31m", draft=n < 2) for n in range(10)]
    write_dataset(project / "mine", made)
    ran = toolbelt("dataset", "split", "mine", "-o", "parts", "--json")
    kind = "k\\x1b[31m"
    assert each_mentions(
        ran.err.splitlines(),
        ("note", "90 of the 100 cases", f"kind {kind}", "'big-0'", "dev"),
        ("warning", "2.0%", "20.0%"),
        ("warning", "2 cases", "drafted"),
    )
    assert ran.json["large_groups"] == [{"kind": "k\x1b[31m", "cases": 90, "of": 100, "case": "big-0"}]
    assert ran.json["held_out_cases"] == 0.02
    assert sum(part["drafts"] for part in ran.json["parts"].values()) == 2


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param(["mine", "--held-out", "0"], "--held-out", id="nothing"),
        pytest.param(["mine", "--held-out", "1"], "--held-out", id="everything"),
        pytest.param(["mine", "--held-out", "nan"], "not a finite number", id="nan"),
        pytest.param(["mine", "--by", "kind"], "--by", id="another-way"),
        pytest.param(["mein"], "Did you mean 'mine'?", id="wrong-name"),
        pytest.param(["broken"], "broken/cases.jsonl:2", id="half-broken"),
        pytest.param(["alone"], "more than one cluster", id="one-cluster"),
        pytest.param(["empty"], "no case in this file", id="empty"),
        pytest.param(["mine", "-o", "file"], "'file' is a file", id="output-is-a-file"),
        pytest.param(["mine", "-o", "mine"], "mine", id="output-is-the-dataset"),
    ],
)
def test_E9_what_is_refused(toolbelt: Toolbelt, project: Path, arguments: list[str], named: object) -> None:
    write_dataset(project / "mine", rows(5))
    write_dataset(project / "alone", rows(1))
    write_dataset(project / "empty", [])
    write_dataset(project / "broken", [case(), case(id="b", match="no")])
    (project / "file").write_text("mine")
    ran = toolbelt("dataset", "split", "-o", "parts", *arguments)
    assert ran.code == 2
    assert mentions(ran.err, named)
    assert ran.out == ""
    assert not (project / "parts").exists()
    assert (project / "file").read_text() == "mine"
