"""The cache of fits: what is found in it is what would be calculated, and it is never in the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from toolbelt import Project, open_project
from toolbelt.loadouts.fit import ModelFit
from toolbelt.project.fits import FILE_NAME, find_fits

MODELS = ("gpt-4o-mini", "claude-sonnet-4-5", "unheard-of")
CATALOG = """
plugins:
  - name: git
    tools: [{name: log, description: "Show the history.", parameters: {type: object, properties: {x: {enum: [1]}}}}]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOOLBELT_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "tools.yaml").write_text(CATALOG)
    (tmp_path / "toolbelt.yaml").write_text("catalog: tools.yaml\n")
    return tmp_path


def _fits(project: Project) -> tuple[ModelFit, ...]:
    return project.inspect(None, MODELS).models


def _find(folder: Path) -> tuple[ModelFit, ...] | None:
    """What is in the cache for the project as its files are now."""
    project = open_project(folder)
    calculated = []

    def calculate() -> tuple[ModelFit, ...]:
        calculated.append(True)
        return ()

    fits = find_fits(project, project.catalog.tools, MODELS, calculate)
    return None if calculated else fits


def test_what_is_found_is_what_was_calculated(folder: Path) -> None:
    calculated = _fits(open_project(folder))
    assert [fit.to_repair for fit in calculated] == [0, 0, 0]
    assert _find(folder) == calculated


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: text.replace("history", "past"), id="description"),
        pytest.param(lambda text: text.replace("enum", "examples"), id="schema"),
        pytest.param(lambda text: text.replace("name: log", "name: show"), id="name"),
        pytest.param(lambda text: text.replace("name: git", "name: vcs"), id="plugin"),
        pytest.param(lambda text: text.replace("description", "wire_name: l, description"), id="wire-name"),
    ],
)
def test_another_catalog_is_calculated_anew(folder: Path, change: Callable[[str], str]) -> None:
    _fits(open_project(folder))
    (folder / "tools.yaml").write_text(change(CATALOG))
    assert _find(folder) is None


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("models: [{name: unheard-of, context_window: 9000}]", id="a-model-of-the-project"),
        pytest.param("tokenizer: estimate", id="a-tokenizer"),
    ],
)
def test_other_settings_are_calculated_anew(folder: Path, line: str) -> None:
    _fits(open_project(folder))
    (folder / "toolbelt.yaml").write_text(f"catalog: tools.yaml\n{line}\n")
    assert _find(folder) is None


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda path: path.write_text("no JSON"), id="no-json"),
        pytest.param(lambda path: path.write_text("[" * 100_000), id="deep"),
        pytest.param(lambda path: path.write_text("[]"), id="a-list"),
        pytest.param(lambda path: path.write_bytes(b"\xff"), id="no-text"),
        pytest.param(lambda path: path.write_text(path.read_text().replace("gpt-4o-mini", "gpt-5")), id="edited"),
        pytest.param(lambda path: path.write_text(json.dumps(dict.fromkeys(json.loads(path.read_text())))), id="null"),
    ],
)
def test_a_damaged_cache_is_replaced(folder: Path, spoil: Callable[[Path], object]) -> None:
    calculated = _fits(open_project(folder))
    spoil(folder / "cache" / FILE_NAME)
    assert _fits(open_project(folder)) == calculated
    assert _find(folder) == calculated


def test_fits_are_calculated_where_nothing_can_be_written(folder: Path) -> None:
    (folder / "cache").write_text("a file in the place of the folder")
    assert _fits(open_project(folder)) == _fits(open_project(folder))


def test_the_latest_are_kept(folder: Path) -> None:
    for number in range(60):
        open_project(folder).inspect(None, [f"unheard-of-{number}"])
    assert len(json.loads((folder / "cache" / FILE_NAME).read_text())) == 50
