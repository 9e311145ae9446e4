"""All files are checked in one run: a mistake in one never hides a mistake in another (rule L10)."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolbelt import open_project
from toolbelt.errors import InvalidFileError

CONFIG = """\
catalog: catalog.yaml
models: [{name: m, contxt_window: 7}]
toolkits: {kit: {tols: [git]}}
agents:
  a: {allowed_toolkits: [kti], tools_config: switches.yaml}
"""
CATALOGS = {
    "a-wrong-category": ("plugins: [{name: git, category: gti}]\n", "unknown-category"),
    "a-wrong-loadout-of-its-own": ("plugins: [{name: git}]\nloadouts: {own: {plugns: [git]}}\n", "unknown-key"),
    "no-yaml": ("plugins: [\n", "syntax"),
    "missing": (None, "unknown-catalog"),
}


@pytest.mark.parametrize(
    ("catalog", "known"),
    [
        pytest.param("plugins: [{nam: git}]\n", {"lost": "unknown-parent"}, id="a-catalog-without-loadouts"),
        pytest.param("plugins: [{nam: git}]\nloadouts: {base: {}}\n", {}, id="the-catalog-has-the-parent"),
        pytest.param("plugins: [\n", {}, id="nobody-knows"),
    ],
)
def test_L10_a_broken_catalog_hides_nothing_that_does_not_depend_on_it(
    tmp_path: Path, catalog: str, known: dict[str, str]
) -> None:
    (tmp_path / "toolbelt.yaml").write_text("catalog: catalog.yaml\n")
    (tmp_path / "lost.loadout.yaml").write_text("extends: base\n")
    (tmp_path / "twice.loadout.yaml").write_text("plugins: [git, git]\n")
    (tmp_path / "catalog.yaml").write_text(catalog)
    with pytest.raises(InvalidFileError) as caught:
        open_project(tmp_path)
    found = {Path(finding.file or "").name.partition(".")[0]: finding.rule for finding in caught.value.findings}
    assert found.pop("catalog")
    assert found == {**known, "twice": "repeated-entry"}


@pytest.mark.parametrize(("catalog", "rule"), CATALOGS.values(), ids=CATALOGS)
def test_L10_mistakes_of_all_files_come_together(tmp_path: Path, catalog: str | None, rule: str) -> None:
    (tmp_path / "toolbelt.yaml").write_text(CONFIG)
    (tmp_path / "switches.yaml").write_text("kit: 'false'\n")
    (tmp_path / "loop.loadout.yaml").write_text("extends: loop\n")
    (tmp_path / "wrong.loadout.yaml").write_text("plugins: git\n")
    if catalog is not None:
        (tmp_path / "catalog.yaml").write_text(catalog)
    with pytest.raises(InvalidFileError) as caught:
        open_project(tmp_path)
    found = {(Path(finding.file or "").name, finding.rule) for finding in caught.value.findings}
    assert found == {
        ("toolbelt.yaml" if catalog is None else "catalog.yaml", rule),
        ("loop.loadout.yaml", "cycle"),
        ("switches.yaml", "wrong-type"),
        ("toolbelt.yaml", "unknown-key"),  # of the model, and of the toolkit
        ("toolbelt.yaml", "unknown-toolkit"),
        ("wrong.loadout.yaml", "wrong-type"),
    }
