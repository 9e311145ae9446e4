"""A large catalog comes from the cache as it comes from its file, or else from its file."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from hashlib import blake2b
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.catalog.test_files import catalogs
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.files import format_catalog
from toolbelt.catalog.reader import CatalogFile
from toolbelt.errors import InvalidFileError
from toolbelt.importers import import_catalog
from toolbelt.providers.tokenizers import count_tokens
from toolbelt.stores import catalogs as opening
from toolbelt.stores.catalogs import open_catalog
from toolbelt.stores.stored_catalogs import read_through_cache

SCHEMA = {"type": "object", "properties": {"größe": {"type": "number", "enum": [1, 1.5, None]}}}
TOOL = {"name": "f", "description": "Does\u2028it.", "parameters": SCHEMA, "annotations": {"title": "F"}}
FIXED = {"name": "g", "id": "own", "wire_name": "sent"}
OTHER = {"name": "Other", "category": "mine", "description": "All else.", "tools": [TOOL | {"extra": {"strict": True}}]}
OWN = {
    "plugins": [{"name": "git", "server": "s", "tools": [TOOL, FIXED]}, OTHER],
    "categories": {"mine": "Nothing else."},
    "core": ["own"],
    "loadouts": {"few": {"plugins": ["git"]}},
    "ladder": ["few"],
    "servers": {"s": {"version": "1"}},
}
LINE = {"server": "a", "group": "x", **TOOL}
OPERATION = {"operationId": "f", "parameters": [{"in": "path", "name": "b", "required": True, "schema": SCHEMA}]}
OPENAPI = {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {"/a/{b}": {"get": OPERATION}}}
TEXTS = {
    "catalog.json": json.dumps(OWN, indent=1),
    "doubtful.json": json.dumps({"plugins": [OTHER]}, indent=1),
    "lines.jsonl": "\n".join(map(json.dumps, [LINE, {**LINE, "group": "y", "more": 1}, {**LINE, "name": "g"}])),
    "openai.json": json.dumps([{"type": "function", "function": {**FIXED, "parameters": SCHEMA, "strict": True}}]),
    "mcp.json": json.dumps({"result": {"tools": [{"name": "f", "inputSchema": SCHEMA}], "nextCursor": "1"}}, indent=1),
    "openapi.json": json.dumps(OPENAPI, indent=1),
    "catalog.yaml": json.dumps(OWN, indent=1),
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOOLBELT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(opening, "LARGE", 0)
    return tmp_path / "cache" / "catalogs"


def parts(file: CatalogFile) -> tuple[object, ...]:
    """Everything that anybody may see of it."""
    catalog = file.catalog
    subjects: list[Plugin | Tool] = [*catalog.plugins, *catalog.tools]
    return (
        [getattr(catalog, each.name) for each in fields(catalog) if each.compare],
        [(tool.has_own_id, tool.written(), repr(tool), hash(tool), tool.written()) for tool in catalog.tools],
        list(catalog.wire_names.items()),
        [file.find_line(subject) for subject in subjects],
        (file.source, file.notes, file.findings, file.is_shipped),
        catalog.loadouts and file.document and file.document.data["loadouts"],
    )


def refuse() -> tuple[CatalogFile, str]:
    raise AssertionError("it was read again")


def warm(text: str, source: str) -> tuple[CatalogFile, str]:
    """As it comes from the cache, which has it."""
    read_through_cache(text, source, lambda: import_catalog(text, source))
    return read_through_cache(text, source, refuse)


@given(catalogs())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_stored_catalog_equals_the_one_that_is_read(catalog: Catalog) -> None:
    text = format_catalog(catalog, "json")
    stored, label = warm(text, "catalog.json")
    read, read_label = import_catalog(text, "catalog.json")
    assert (stored.catalog, label) == (read.catalog, read_label)
    assert parts(stored) == parts(read)


@pytest.mark.parametrize("name", sorted(TEXTS.keys() - {"catalog.yaml"}))
def test_a_stored_catalog_equals_the_one_that_is_read_from_any_format(name: str) -> None:
    stored, label = warm(TEXTS[name], name)
    read, read_label = import_catalog(TEXTS[name], name)
    assert (parts(stored), label) == (parts(read), read_label)


def test_a_stored_catalog_has_the_doubts_of_its_file() -> None:
    assert [found.line for found in warm(TEXTS["doubtful.json"], "doubtful.json")[0].findings] == [5]


def test_of_yaml_whose_lines_are_not_found_again_nothing_is_kept(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "catalog.yaml").write_text(TEXTS["catalog.yaml"])
    for _ in range(2):
        assert parts(open_catalog("catalog.yaml")) == parts(import_catalog(TEXTS["catalog.yaml"], "catalog.yaml")[0])
    assert not cache.exists()


def test_what_is_long_of_a_tool_is_frozen_copied_pickled_and_read_by_threads_alike() -> None:
    read, _ = import_catalog(TEXTS["catalog.json"], "catalog.json")
    copies: list[Callable[[Tool], Tool]] = [copy.copy, copy.deepcopy, lambda tool: pickle.loads(pickle.dumps(tool))]
    for make in copies:
        stored, _ = warm(TEXTS["catalog.json"], "catalog.json")
        assert tuple(map(make, stored.catalog.tools)) == read.catalog.tools
    for _ in range(20):
        stored, _ = warm(TEXTS["catalog.json"], "catalog.json")
        with ThreadPoolExecutor(4) as threads:
            seen = list(threads.map(lambda tool: tool.parameters, [stored.catalog.tools[0]] * 4))
        assert seen == [SCHEMA] * 4
    with pytest.raises(TypeError):
        stored.catalog.tools[0].parameters["properties"]["größe"]["enum"].append(2)
    assert Tool("x").description == Tool.description == ""


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: data[: len(data) // 2], id="truncated"),
        pytest.param(lambda data: data[:-1], id="truncated-by-a-byte"),
        pytest.param(lambda data: data.replace(b"Does", b"Dose"), id="changed-by-a-byte"),
        pytest.param(lambda data: b"\0" * len(data), id="zeros"),
        pytest.param(lambda data: b"\x80\x04N.", id="a-pickle"),
    ],
)
def test_a_damaged_cache_is_made_again(damage: Callable[[bytes], bytes], cache: Path) -> None:
    text = TEXTS["catalog.json"]
    expected = parts(warm(text, "catalog.json")[0])
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert parts(read_through_cache(text, "catalog.json", lambda: import_catalog(text, "catalog.json"))[0]) == expected
    assert file.read_bytes() == whole


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"ids": []}, id="of-the-wrong-type"),
        pytest.param({"plugins": [["p", None, "", "", ["f", "f"]]]}, id="ids-twice"),
        pytest.param({"plugins": [["p", None, "", "", ["f"]]]}, id="fewer-tools-than-lines"),
        pytest.param({"catalog": {"nam": "x"}}, id="unknown-fields"),
    ],
)
def test_a_file_that_is_whole_but_wrong_is_not_taken(change: dict[str, object], cache: Path) -> None:
    text = TEXTS["catalog.json"]
    expected = parts(warm(text, "catalog.json")[0])
    (file,) = cache.iterdir()
    *lines, last, _ = file.read_bytes().split(b"\n")
    content = b"\n".join([*lines, json.dumps({**json.loads(last), **change}).encode()])
    file.write_bytes(content + b"\n" + blake2b(content, digest_size=16).hexdigest().encode())
    assert parts(read_through_cache(text, "catalog.json", lambda: import_catalog(text, "catalog.json"))[0]) == expected


def test_a_file_of_another_text_is_not_taken(cache: Path) -> None:
    other = TEXTS["catalog.json"].replace("All else.", "Nothing else.")
    warm(other, "catalog.json")
    (foreign,) = cache.iterdir()
    text = TEXTS["catalog.json"]
    warm(text, "catalog.json")
    (own,) = set(cache.iterdir()) - {foreign}
    own.write_bytes(foreign.read_bytes())
    stored, _ = read_through_cache(text, "catalog.json", lambda: import_catalog(text, "catalog.json"))
    assert stored.catalog.plugins[1].description == "All else."


def test_another_text_name_or_folder_is_another_catalog(cache: Path, tmp_path: Path) -> None:
    text = json.dumps([{"type": "function", "function": {"name": "f"}}])
    names = []
    for source in ("a.json", "b.json", "one/tools.json", "two/tools.json"):
        (tmp_path / source).parent.mkdir(exist_ok=True)
        names.append(warm(text, source)[0].catalog.name)
    assert names == ["a", "b", "one", "two"]


def test_a_small_catalog_is_not_kept(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("TOOLBELT_CACHE_DIR", str(cache.parent))
    path = tmp_path / "catalog.json"
    path.write_text(TEXTS["catalog.json"])
    opened = open_catalog(str(path)).catalog
    assert (opened.digest, cache.parent.exists()) == ("", False)
    assert len(TEXTS["catalog.json"]) < opening.LARGE


@pytest.mark.parametrize("obstacle", ["a-file-in-its-place", "a-link-to-nowhere"])
def test_where_no_cache_can_be_the_file_is_read(obstacle: str, cache: Path, tmp_path: Path) -> None:
    if obstacle == "a-file-in-its-place":
        cache.parent.write_text("")
    else:
        cache.parent.symlink_to("/nowhere/at/all")
    path = tmp_path / "catalog.json"
    path.write_text(TEXTS["catalog.json"])
    for _ in range(2):
        assert parts(open_catalog(str(path)))[:2] == parts(import_catalog(TEXTS["catalog.json"], str(path))[0])[:2]
        assert count_tokens(open_catalog(str(path)).catalog, "o200k_base", "openai").total


def test_mistakes_are_reported_each_time_and_nothing_is_kept(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "catalog.json"
    path.write_text(json.dumps({"plugins": [{"name": "p", "tools": [TOOL, TOOL, {"nam": 1}]}]}, indent=1))
    found = []
    for _ in range(2):
        with pytest.raises(InvalidFileError) as refused:
            open_catalog(str(path))
        found.append([(finding.rule, finding.line) for finding in refused.value.findings])
    assert found[0] == found[1]
    assert len(found[0]) == 2
    assert not cache.exists()


def test_counts_of_a_stored_catalog_are_those_of_its_tools(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "catalog.json"
    path.write_text(TEXTS["catalog.json"])
    eager = import_catalog(TEXTS["catalog.json"], str(path))[0].catalog
    for form in ("openai", "anthropic", "openai", "anthropic"):
        opened = open_catalog(str(path)).catalog
        assert opened.digest
        for tokenizer in ("o200k_base", "estimate"):
            assert count_tokens(opened, tokenizer, form) == count_tokens(eager, tokenizer, form)
    assert (eager.digest, replace(opened, name="n").digest) == ("", "")


def test_processes_that_read_and_write_at_once_agree(tmp_path: Path) -> None:
    path = tmp_path / "catalog.json"
    path.write_text(TEXTS["catalog.json"])
    code = """
import sys
from toolbelt.stores import catalogs
catalogs.LARGE = 0
for _ in range(20):
    tools = catalogs.open_catalog(sys.argv[1]).catalog.tools
    assert [tool.description for tool in tools] == ["Does\\u2028it.", "", "Does\\u2028it."]
"""
    command = [sys.executable, "-c", code, str(path)]
    readers = [subprocess.Popen(command, env=dict(os.environ)) for _ in range(3)]
    assert [reader.wait() for reader in readers] == [0, 0, 0]
