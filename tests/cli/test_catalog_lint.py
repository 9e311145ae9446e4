"""`toolbelt catalog lint`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt

DOUBTFUL = """\
plugins:
- name: git
  tools:
  - name: bad.name
    description: Same words.
    parameters: {type: object, properties: {}}
  - name: other
    description: same  words.
    parameters: {type: object, properties: {a: {type: strng}}}
  - name: silent
  - name: hostile
    description: "x\\e[31m"
- name: empty
  tools: []
"""


def test_the_text(toolbelt: Toolbelt, small: Path, expected: Callable[[str], str]) -> None:
    ran = toolbelt("catalog", "lint")
    assert (ran.code, ran.out, ran.err) == (0, expected("catalog_lint.txt"), "")


def test_every_finding_has_its_line(toolbelt: Toolbelt, project: Path) -> None:
    (project / "c.yaml").write_text(DOUBTFUL)
    ran = toolbelt("catalog", "lint", "-c", "c.yaml", "--json")
    assert ran.code == 2
    found = {(row["rule"], row["line"], row["severity"]) for row in ran.json["findings"]}
    assert {
        ("illegal-name", 4, "warning"),
        ("twin-tools", 4, "warning"),
        ("invalid-schema", 7, "error"),
        ("no-description", 10, "warning"),
        ("control-character", 11, "warning"),
        ("empty-plugin", 13, "warning"),
        ("no-category", 13, "warning"),
    } <= found
    assert all(row["file"] == "c.yaml" for row in ran.json["findings"])


@pytest.mark.parametrize(
    ("dialect", "rules"),
    [
        pytest.param("", ["invalid-schema"], id="none-said-is-2020-12"),
        pytest.param("$schema: 'http://json-schema.org/draft-07/schema#',", [], id="draft-7"),
        pytest.param("$schema: 'http://json-schema.org/draft-04/schema#',", [], id="draft-4"),
        pytest.param("$schema: 'https://json-schema.org/draft/2020-12/schema',", ["invalid-schema"], id="2020-12-said"),
        pytest.param("$schema: 'https://example.org/mine',", ["invalid-schema"], id="an-unknown-one-is-2020-12"),
        pytest.param("$schema: 5,", ["invalid-schema"], id="no-text"),
    ],
)
def test_a_schema_is_held_to_the_dialect_it_names(
    toolbelt: Toolbelt, project: Path, dialect: str, rules: list[str]
) -> None:
    # A list of schemas under `items` was right until 2020-12.
    schema = f"{{{dialect} type: object, properties: {{a: {{description: A., items: [{{type: string}}]}}}}}}"
    tool = f"{{name: t, description: Does it., parameters: {schema}}}"
    (project / "c.yaml").write_text(f"plugins: [{{name: git, tools: [{tool}]}}]\n")
    rows = toolbelt("catalog", "lint", "-c", "c.yaml", "--json").json["findings"]
    assert [row["rule"] for row in rows] == rules


@pytest.mark.parametrize("catalog", ["assistant", "tiered"])
def test_the_shipped_catalogs_have_no_findings(toolbelt: Toolbelt, catalog: str) -> None:
    ran = toolbelt("catalog", "lint", "--catalog", catalog, "--strict")
    assert (ran.code, ran.out) == (0, "no findings\n")


def test_strictly_a_warning_is_1(toolbelt: Toolbelt, small: Path) -> None:
    assert (toolbelt("catalog", "lint").code, toolbelt("catalog", "lint", "--strict").code) == (0, 1)


def test_a_megabyte_of_description_is_a_warning_and_no_command_chokes_on_it(toolbelt: Toolbelt, project: Path) -> None:
    (project / "c.yaml").write_text(f"plugins: [{{name: git, tools: [{{name: t, description: {'d' * 1_000_000}}}]}}]\n")
    rows = toolbelt("catalog", "lint", "-c", "c.yaml", "--json").json["findings"]
    assert [row["rule"] for row in rows] == ["long-description"]
    for command in ("catalog list", "catalog show git", "catalog stats", "loadout inspect full", "loadout list"):
        ran = toolbelt(*command.split(), "-c", "c.yaml")
        assert ran.code == 0
        assert len(ran.out) < 10_000, command
