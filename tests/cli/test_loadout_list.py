"""`toolbelt loadout list` and `show`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import SMALL, Toolbelt
from tests.cli.test_loadout_inspect import MINE
from tests.wording import mentions


def test_the_list(toolbelt: Toolbelt, small: Path, expected: Callable[[str], str]) -> None:
    (small / "mine.loadout.yaml").write_text(MINE)
    ran = toolbelt("loadout", "list")
    assert (ran.code, ran.out) == (0, expected("loadout_list.txt"))
    assert mentions(ran.err, "mine.loadout.yaml:4: warning", "file*")


def test_at_80_columns_names_and_tokens_are_whole(toolbelt: Toolbelt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    head, *lines, left_out = toolbelt("loadout", "list", "-c", "assistant").out.splitlines()
    assert mentions(left_out, "description", "--json")
    assert head.split()[:7] == ["loadout", "extends", "plugins", "tools", "discoverable", "tokens", "saved"]
    rows = toolbelt("loadout", "list", "-c", "assistant", "--json").json["loadouts"]
    assert [line.split()[0] for line in lines] == [row["name"] for row in rows]
    assert all(f" {row['tokens']:,} " in line for line, row in zip(lines, rows, strict=True))
    assert max(map(len, lines)) <= 80


def test_L10_a_loadout_that_matches_nothing_saves_nothing(toolbelt: Toolbelt, small: Path) -> None:
    (small / "none.loadout.yaml").write_text("discoverable: [git]\n")
    ran = toolbelt("loadout", "list")
    assert ran.out.splitlines()[-1].split() == ["none", "0", "0", "1", "0", "none.loadout.yaml"]


def test_built_in_loadouts_that_match_nothing_of_a_foreign_catalog_are_left_out(
    toolbelt: Toolbelt, small: Path
) -> None:
    (small / "shop.yaml").write_text("name: shop\nplugins: [{name: till, tools: [{name: refund}]}, {name: git}]\n")
    (small / "none.loadout.yaml").write_text("extends: minimal\n")
    (small / "pay.loadout.yaml").write_text("plugins: [till]\n")
    ran = toolbelt("loadout", "list", "--catalog", "shop.yaml")
    assert [line.split()[0] for line in ran.out.splitlines()[1:]] == ["none", "pay"]
    (note,) = (line for line in ran.err.splitlines() if line.startswith("note:"))
    left_out = ["minimal", "developer", "research", "devops", "full"]
    assert mentions(note, *left_out, "'shop'", "toolbelt loadout create")
    data = toolbelt("loadout", "list", "--catalog", "shop.yaml", "--json").json
    assert data["unmatched"] == left_out
    assert [row["name"] for row in data["loadouts"]] == [*left_out, "none", "pay"]


def test_L10_a_loadout_with_a_mistake_is_refused_with_its_line(toolbelt: Toolbelt, small: Path) -> None:
    (small / "x.loadout.yaml").write_text("name: x\nplugins: [gti]\n")
    ran = toolbelt("loadout", "list")
    assert (ran.code, ran.out) == (2, "")
    assert "x.loadout.yaml:2: error:" in ran.err


def test_the_definition_and_its_lineage(toolbelt: Toolbelt, small: Path, expected: Callable[[str], str]) -> None:
    (small / "mine.loadout.yaml").write_text(MINE)
    ran = toolbelt("loadout", "show", "mine")
    assert (ran.code, ran.out, ran.err) == (0, expected("loadout_show.txt"), "")


def test_the_list_as_json(toolbelt: Toolbelt, small: Path) -> None:
    data = toolbelt("loadout", "list", "--json").json
    assert [row["name"] for row in data["loadouts"]] == ["minimal", "developer", "research", "devops", "full"]
    assert all(row["origin"] == "built in" for row in data["loadouts"])
    inspected = toolbelt("loadout", "inspect", "developer", "--json").json
    developer = data["loadouts"][1]
    assert developer["tokens"] == inspected["tokens"]["active"]
    assert developer["active_plugins"] == len(inspected["active"])
    assert developer["discoverable_plugins"] == len(inspected["discoverable"])


def test_L11_a_users_loadout_shadows_a_built_in_in_its_place(toolbelt: Toolbelt, small: Path) -> None:
    (small / "x.loadout.yaml").write_text("name: Developer\nplugins: [payments]\n")
    rows = toolbelt("loadout", "list", "--json").json["loadouts"]
    assert [(row["name"], row["origin"]) for row in rows][:2] == [
        ("minimal", "built in"),
        ("Developer", "x.loadout.yaml"),
    ]
    assert toolbelt("loadout", "inspect", "developer", "--json").json["active"][0]["plugin"] == "payments"


def test_L11_a_built_in_that_is_shadowed_may_be_a_parent_of_another(toolbelt: Toolbelt, small: Path) -> None:
    (small / "toolbelt.yaml").write_text(
        "catalog: small.yaml\nloadouts:\n  minimal: {plugins: [docker]}\n  mine: {extends: minimal}\n"
    )
    data = toolbelt("loadout", "inspect", "mine", "--json").json
    assert [row["plugin"] for row in data["active"]] == ["docker"]


def test_L10_a_loadout_that_extends_itself_is_refused_with_the_way_out(toolbelt: Toolbelt, small: Path) -> None:
    (small / "x.loadout.yaml").write_text("name: minimal\nextends: minimal\n")
    ran = toolbelt("loadout", "list")
    assert ran.code == 2
    assert mentions(ran.err, "x.loadout.yaml:2: error", "minimal → minimal")


def test_L11_a_users_loadout_shadows_one_of_the_catalog(toolbelt: Toolbelt, small: Path) -> None:
    (small / "small.yaml").write_text(SMALL + "loadouts:\n  ours: {plugins: [git]}\n  kept: {plugins: [git]}\n")
    (small / "x.loadout.yaml").write_text("name: Ours\nplugins: [file]\n")
    rows = toolbelt("loadout", "list", "--json").json["loadouts"]
    assert [(row["name"], row["origin"]) for row in rows][5:] == [("kept", "catalog"), ("Ours", "x.loadout.yaml")]
    assert toolbelt("loadout", "inspect", "ours", "--json").json["active"][0]["plugin"] == "file"


def test_L11_the_file_is_found_upward(toolbelt: Toolbelt, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (small / "mine.loadout.yaml").write_text(MINE)
    (small / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(small / "a" / "b")
    data = toolbelt("loadout", "show", "mine", "--json").json
    assert data["lineage"] == ["minimal", "developer", "mine"]
    assert Path(data["chain"][-1]["origin"]).resolve() == small / "mine.loadout.yaml"
    assert data["broken"] is None
    assert data["chain"][-1]["discoverable"] == ["file*"]
