from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SHARED_DATA, needs_shared_data
from tests.evals.cases.samples import CATALOG, case, open_public, write_dataset
from tests.wording import each_mentions, naming
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.dataset import Dataset, open_dataset
from toolbelt.project.project import Project
from toolbelt.stores.config import examine_config


def opened(tmp_path: Path, loadouts: Any, catalog: Catalog = CATALOG) -> Dataset:
    folder = write_dataset(tmp_path / "mine", [case(expected=[])], catalog)
    (folder / "loadouts.json").write_text(json.dumps(loadouts, indent=1))
    return open_dataset(str(folder))


def workspace(dataset: Dataset, tmp_path: Path) -> Project:
    return Project(examine_config(tmp_path), dataset.catalog_file, "estimate")


def active(dataset: Dataset, tmp_path: Path) -> dict[str, list[str]]:
    made = workspace(dataset, tmp_path)
    made.refuse_errors()
    resolve = made.registry.resolve
    return {
        one.loadout.name: [tool.id for tool in resolve(one.loadout.name, made.catalog).active_tools]
        for one in made.catalog_loadouts
    }


def test_E1_lists_beside_the_cases_are_loadouts_of_the_catalog(tmp_path: Path) -> None:
    loadouts = {
        "Some Person": ["git_push", "web/read", "git/git_push"],
        "by": {"kind": {"one": ["search"]}, "two": ["git_log", "file/read"]},
        "about": {"Some Person": "who pushes"},
        "nothing": [],
    }
    dataset = opened(tmp_path, loadouts)
    assert active(dataset, tmp_path) == {
        "Some Person": ["git/git_push", "web/read"],
        "by/kind/one": ["web/search"],
        "by/two": ["git/git_log", "file/read"],
        "nothing": [],
    }
    assert each_mentions([note.partition(": ")[2] for note in dataset.notes], ("no list", "about"))
    assert len(dataset) == 1


def test_E1_tools_that_are_gone_are_left_out_and_said(tmp_path: Path) -> None:
    dataset = opened(tmp_path, {"a": ["gone", "git_push", "read"], "b": ["lost"] * 7})
    assert active(dataset, tmp_path)["a"] == ["git/git_push"]
    assert each_mentions(
        dataset.notes, ("loadout 'a'", 2, "gone, read"), ("loadout 'b'", 7, "lost, lost, lost, lost, lost, …")
    )


@pytest.mark.parametrize(
    ("plugins", "asked", "more"),
    [
        pytest.param({"p": ["get*", "getter", "set"]}, "p/get*", ["p/getter"], id="L4-a-star-at-the-end"),
        pytest.param({"p": ["get*", "set"]}, "p/get*", [], id="L4-a-star-that-matches-nothing-else"),
        pytest.param({"p": ["Get", "get"]}, "p/get", ["p/Get"], id="L4-names-ignore-case"),
        pytest.param({"a": ["b/c"], "a/b": ["c"]}, "a/b/c", None, id="L9-slashes-in-names"),
        pytest.param({"p": ["x", "y"], "p/x": ["z"]}, "p/x", ["p/x/z"], id="L9-a-plugin-named-like-a-tool"),
        pytest.param({"p": ["x"], "q": ["y"]}, "own-id", [], id="L9-by-its-path-whatever-its-id"),
        pytest.param({"ö p*": ["x", "y"]}, "ö p*/x", [], id="L9-odd-names-of-plugins"),
    ],
)
def test_a_loadout_that_selects_more_than_it_lists_says_so(
    tmp_path: Path, plugins: dict[str, list[str]], asked: str, more: list[str] | None
) -> None:
    made = tuple(Plugin(name, tuple(Tool(tool) for tool in tools)) for name, tools in plugins.items())
    if more is None:  # both have the same path, so that one needs an id of its own
        made = (Plugin("a", (Tool("b/c", id="first"),)), made[1])
        more = ["first"]
    if asked == "own-id":
        made = (Plugin("p", (Tool("x", id=asked),)), made[1])
    dataset = opened(tmp_path, {"one": [asked]}, Catalog(plugins=made))
    assert set(active(dataset, tmp_path)["one"]) == {asked, *more}
    named = [f"loadout 'one' also selects {len(more)} that it does not list, by alike names: {', '.join(more)}"]
    assert list(dataset.notes) == named * bool(more)


def test_mistakes_of_loadouts_are_told_all_at_once_with_their_lines(tmp_path: Path) -> None:
    loadouts = {"a": ["git_push", 3], "b": "git_push", "A": [], "auto": ["git_log"], "in": {"x": [], "y": 5}, " ": []}
    with pytest.raises(InvalidFileError) as caught:
        opened(tmp_path, loadouts)
    assert [(finding.rule, finding.line) for finding in caught.value.findings] == [
        ("wrong-type", 4),
        ("wrong-type", 6),
        ("duplicate-loadout", 7),
        ("reserved-name", 8),
        ("wrong-type", 13),
        ("blank-name", 15),
    ]
    assert all(finding.file == str(tmp_path / "mine" / "loadouts.json") for finding in caught.value.findings)


def test_loadouts_that_are_no_object_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match=naming("loadouts.json:1: error", "object")):
        opened(tmp_path, ["git_push"])


def test_findings_of_loadouts_and_tools_keep_their_own_files_and_lines(tmp_path: Path) -> None:
    dataset = opened(tmp_path, {"a": [], "empty": []})
    findings = workspace(dataset, tmp_path).lint()
    assert {(Path(finding.file or "").name, finding.line, finding.rule) for finding in findings} == {
        ("loadouts.json", 2, "matches-nothing"),
        ("loadouts.json", 3, "matches-nothing"),
    }
    plain = open_dataset(str(write_dataset(tmp_path / "plain", [case()]))).catalog_file
    for tool in CATALOG.tools:
        assert dataset.catalog_file.find_line(tool) == plain.find_line(tool)
    assert plain.find_line(CATALOG.tools[1]) != plain.find_line(CATALOG.tools[0])


def test_a_catalog_with_loadouts_of_its_own_keeps_them(tmp_path: Path) -> None:
    own = Catalog(plugins=CATALOG.plugins, loadouts={"mine": {"plugins": ["git"]}})
    with pytest.raises(InvalidFileError, match="has loadouts of its own"):
        opened(tmp_path, {"theirs": ["search"]}, own)
    folder = write_dataset(tmp_path / "other", [case()], own)
    given = open_dataset(str(folder)).catalog_file
    dataset = open_dataset(str(tmp_path / "mine"), catalog=given)
    assert list(active(dataset, tmp_path)) == ["mine"]
    assert "left aside" in dataset.notes[0]


@needs_shared_data
def test_E1_metatool_brings_its_loadouts(tmp_path: Path) -> None:
    dataset = open_public("metatool")
    listed = json.loads((SHARED_DATA / "metatool" / "loadouts.json").read_text())
    made = active(dataset, tmp_path)
    assert {name: set(tools) for name, tools in made.items()} == {name: set(tools) for name, tools in listed.items()}
    assert dataset.notes == ()
