"""The digest of what is served, beside what is measured (rule M5)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.mcp.gateways import write_project
from tests.mcp.small import synced_catalog, synced_plugin
from toolbelt.catalog import Catalog
from toolbelt.catalog.definitions import mcp_definition
from toolbelt.catalog.frozen import thaw
from toolbelt.evals import run_eval
from toolbelt.evals.setup.planning import find_serving_digests
from toolbelt.evals.toolsets.spec import find_toolset
from toolbelt.mcp.gateway.discovery import Discovery
from toolbelt.mcp.gateway.surface import serving_digest
from toolbelt.project.opening import open_project

LOADOUTS = {"one": {"plugins": ["small/add"]}, "found": {"plugins": ["small/add"], "discoverable": ["small/wait"]}}


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_project(tmp_path, loadouts=LOADOUTS)
    monkeypatch.chdir(tmp_path)


def digests(catalog: Catalog, *toolsets: str) -> dict[str, str]:
    specs = [spec for toolset in toolsets if (spec := find_toolset(toolset)) is not None]
    return find_serving_digests(open_project(), catalog, specs)


def test_M5_each_loadout_has_the_digest_of_its_list_meta_tools_included() -> None:
    catalog = synced_catalog()
    found = digests(catalog, "full", "loadout", "loadout:auto", "loadout:one", "loadout:found")
    add, wait, leave = catalog.tools
    definition = thaw(mcp_definition(add, "add"))
    meta = Discovery([wait], catalog.wire_names, catalog.plugins, offered=[add], withheld=[leave]).definitions
    assert found == {
        "loadout:one": serving_digest([definition]),
        "loadout:found": serving_digest([definition, *(thaw(mcp_definition(tool, tool.name)) for tool in meta)]),
    }


def test_M5_a_catalog_without_servers_has_none() -> None:
    plugin = replace(synced_plugin(), server="")
    assert digests(Catalog((plugin,)), "loadout:one") == {}


def test_M5_an_arm_has_the_digest_of_what_is_served(tmp_path: Path) -> None:
    dataset = tmp_path / "cases"
    dataset.mkdir()
    case = {"id": "a", "query": "Add two numbers.", "expected": [{"tool": "small/add"}]}
    (dataset / "cases.jsonl").write_text(json.dumps(case) + "\n")
    (dataset / "catalog.yaml").write_text((tmp_path / "catalog.yaml").read_text())
    run = run_eval(str(dataset), ["local/bm25"], ["full", "loadout:one"], store=tmp_path / "runs.db")
    arms = {arm.toolset: arm.serving_digest for arm in run.summary.arms}
    assert arms == {"full": None, **digests(synced_catalog(), "loadout:one")}
