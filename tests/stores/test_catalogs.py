"""Opening a catalog by whatever a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.wording import each_mentions, naming
from toolbelt.errors import InvalidFileError, NotFoundError, ToolbeltError
from toolbelt.stores.catalogs import (
    DEFAULT_CATALOG,
    datasets_folder,
    find_shipped_catalog,
    open_catalog,
    shipped_catalogs,
)

OWN = json.dumps({"name": "own", "plugins": [{"name": "p", "tools": [{"name": "f"}]}]})
MCP = json.dumps({"tools": [{"name": "f", "inputSchema": {}}]})


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_shipped_catalogs_are_found() -> None:
    assert {"assistant", "tiered"} <= set(shipped_catalogs())
    assert DEFAULT_CATALOG in shipped_catalogs()
    for name in shipped_catalogs():
        assert find_shipped_catalog(name) == datasets_folder() / name / "catalog.json"
        assert open_catalog(name).catalog.tools


@pytest.mark.parametrize(
    "name", ["", "nope", "../datasets/tiered", "tiered/", "tiered/../tiered", ".", "a\x00b", "Tiered"]
)
def test_only_a_plain_name_is_shipped(name: str) -> None:
    assert find_shipped_catalog(name) is None


def test_a_file_goes_before_a_shipped_catalog_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "tiered").write_text(OWN)
    assert open_catalog("tiered").catalog.name == "own"


def test_a_folder_does_not(tmp_path: Path) -> None:
    (tmp_path / "tiered").mkdir()
    (tmp_path / "tiered" / "catalog.json").write_text(OWN)
    assert open_catalog("tiered").catalog.name != "own"
    assert open_catalog("./tiered").catalog.name == "own"


@pytest.mark.parametrize("name", ["catalog.json", "catalog.jsonl", "catalog.yaml"])
def test_a_folder_stands_for_the_catalog_in_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / name).write_text('{"name": "f"}\n' if name.endswith("l") and "jsonl" in name else OWN)
    assert [tool.name for tool in open_catalog("set").catalog.tools] == ["f"]


def test_an_own_catalog_has_no_note_and_a_foreign_one_says_how_it_was_read(tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text(OWN)
    (tmp_path / "server.json").write_text(MCP)
    assert open_catalog("own.json").notes == ()
    opened = open_catalog("server.json")
    assert each_mentions(opened.notes, ("server.json", "MCP", "tools/list"))
    assert [tool.id for tool in opened.catalog.tools] == ["server/f"]
    assert opened.find_line(opened.catalog.tools[0]) == 1


def test_what_is_neither_is_not_found_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "mytools.json").write_text(OWN)
    with pytest.raises(NotFoundError, match=naming("assistent", "assistant")):
        open_catalog("assistent")
    with pytest.raises(NotFoundError, match=r"'mytools\.json'"):
        open_catalog("mytool.json")
    with pytest.raises(NotFoundError):
        open_catalog("no/such/folder/x.json")


def test_a_folder_without_a_catalog_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidFileError, match="This is a folder"):
        open_catalog("empty")


def test_mistakes_are_told_with_the_path_as_written(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("plugins:\n- {}\n")
    with pytest.raises(InvalidFileError, match=naming("c.yaml:2: error", "`plugins[0]`", "mapping")):
        open_catalog("c.yaml")


@pytest.mark.parametrize(
    "reference",
    [
        pytest.param("a\x00b", id="nul"),
        pytest.param("", id="nothing"),
        pytest.param("tiered\n", id="a-line-end"),
        pytest.param("x" * 5000, id="a-name-too-long"),
        pytest.param("x" * 300 + ".json", id="a-file-name-too-long"),
    ],
)
def test_a_path_the_system_refuses_is_a_clear_error(reference: str) -> None:
    with pytest.raises(ToolbeltError):
        open_catalog(reference)
