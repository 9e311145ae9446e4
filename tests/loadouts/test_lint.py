"""What is wrong or doubtful about written loadouts (rule L10)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.wording import mentions
from toolbelt import Catalog, Plugin, Tool, ToolLoadoutRegistry
from toolbelt.findings import Finding, Severity, sorted_findings
from toolbelt.loadouts import BUILT_IN_LOADOUTS
from toolbelt.loadouts.inspection import loadout_data
from toolbelt.loadouts.lint import lint_against_catalog, lint_catalog_for_loadouts, lint_definitions
from toolbelt.loadouts.reader import WrittenLoadout, read_loadouts
from toolbelt.sources import Document, parse_yaml
from toolbelt.stores.catalogs import find_shipped_catalog

CATALOG = Catalog(
    (
        Plugin("git", (Tool("status"), Tool("push"))),
        Plugin("shell", (Tool("run"),)),
        Plugin("web", (Tool("fetch"),)),
        Plugin("docker", (Tool("ps"),)),
        Plugin("ledger", (Tool("book"),), "Finance"),
        Plugin("Straße", (Tool("fahren"),), "Travel"),
        Plugin("a", (Tool("x"),), "Travel"),
        Plugin("a/b", (Tool("yonder"),), "Travel"),
    ),
    name="office",
    categories={"Legal": "declared, but nothing has it"},
)


def read(text: str, source: str = "toolbelt.yaml") -> list[WrittenLoadout]:
    written, findings = read_loadouts(parse_yaml(f"loadouts:\n{text}", source), "loadouts")
    assert findings == []
    return written


def lint(text: str, catalog: Catalog = CATALOG) -> tuple[Finding, ...]:
    """Everything found, but that a loadout matches nothing, which most of these small ones do."""
    written = read(text)
    registry = ToolLoadoutRegistry(one.loadout for one in written)
    of_catalog = (finding for one in written for finding in lint_against_catalog(one, registry, catalog))
    found = sorted_findings([*lint_definitions(written, registry), *of_catalog])
    return tuple(finding for finding in found if finding.rule != "matches-nothing")


def told(text: str) -> list[tuple[int | None, str, str, str]]:
    return [(finding.line, finding.rule, finding.severity.value, finding.message) for finding in lint(text)]


SINGLE: dict[str, tuple[str, int, str, str, str]] = {
    # what is written below `loadouts:`, so that its first line is line 2
    "unknown-category": (
        "  x:\n    categories:\n      - git\n      - securty\n",
        5,
        "unknown-category",
        "error",
        "There is no category 'securty'. Did you mean 'security'?",
    ),
    "unknown-category-near-one-of-the-catalogs-own": (
        "  x: {categories: [finanse]}\n",
        2,
        "unknown-category",
        "error",
        "There is no category 'finanse'. Did you mean 'Finance'?",
    ),
    "unknown-parent": (
        "  x:\n    description: d\n    extends: develper\n",
        4,
        "unknown-parent",
        "error",
        "Loadout 'x' extends 'develper', which does not exist. Did you mean 'developer'?",
    ),
    "unknown-parent-with-nothing-near": (
        "  x: {extends: qqqq}\n",
        2,
        "unknown-parent",
        "error",
        "Loadout 'x' extends 'qqqq', which does not exist. Known: minimal, developer, research, devops, full, x.",
    ),
    "unknown-plugin": (
        "  x:\n    plugins:\n      - git\n      - dokcer\n",
        5,
        "unknown-plugin",
        "error",
        "Catalog 'office' has no plugin 'dokcer'. Did you mean 'docker'?",
    ),
    "unknown-plugin-disabled": (
        "  x:\n    disabled:\n      - shel\n",
        4,
        "unknown-plugin",
        "error",
        "Catalog 'office' has no plugin 'shel'. Did you mean 'shell'?",
    ),
    "unknown-plugin-of-a-tool": (
        "  x: {plugins: [dokcer/ps]}\n",
        2,
        "unknown-plugin",
        "error",
        "Catalog 'office' has no plugin 'dokcer/ps'. Did you mean 'docker'?",
    ),
    "a-prefix-is-no-plugin": (
        "  x: {plugins: ['git*']}\n",
        2,
        "unknown-plugin",
        "error",
        "`plugins` takes names, not the pattern 'git*'; list the plugins one by one.",
    ),
    "a-prefix-disables-no-plugin": (
        "  x: {disabled: ['*']}\n",
        2,
        "unknown-plugin",
        "error",
        "`disabled` takes names, not the pattern '*'; list the plugins one by one.",
    ),
    "unknown-tool": (
        "  x: {plugins: [GIT/statsu]}\n",
        2,
        "unknown-tool",
        "error",
        "Plugin 'git' has no tool 'statsu'. Did you mean 'status'?",
    ),
    "unknown-tool-disabled": (
        "  x: {disabled: [git/psh]}\n",
        2,
        "unknown-tool",
        "error",
        "Plugin 'git' has no tool 'psh'. Did you mean 'push'?",
    ),
    "unknown-tool-prefix": (
        "  x: {plugins: ['git/zz*']}\n",
        2,
        "unknown-tool",
        "error",
        "Plugin 'git' has no tool 'zz*'. Known: status, push.",
    ),
    "unknown-tool-of-a-plugin-with-a-slash": (
        "  x: {plugins: [a/b/yondr]}\n",
        2,
        "unknown-tool",
        "error",
        "Plugin 'a/b' has no tool 'yondr'. Did you mean 'yonder'?",
    ),
    "unknown-tool-of-a-plugin-that-folds-longer": (
        "  x: {plugins: [STRASSE/farhen]}\n",
        2,
        "unknown-tool",
        "error",
        "Plugin 'Straße' has no tool 'farhen'. Did you mean 'fahren'?",
    ),
    "included-and-disabled": (
        "  x:\n    plugins: [web]\n    disabled: [WEB]\n",
        3,
        "included-and-disabled",
        "error",
        "Loadout 'x' has 'web' under both `plugins` and `disabled`; disabled wins.",
    ),
    "included-and-disabled-in-other-case": (
        "  x: {plugins: [GIT/Push], disabled: [git/push]}\n",
        2,
        "included-and-disabled",
        "error",
        "Loadout 'x' has 'GIT/Push' under both `plugins` and `disabled`; disabled wins.",
    ),
    "discoverable-and-disabled": (
        "  x:\n    discoverable: [docker, web]\n    disabled: [web]\n",
        3,
        "included-and-disabled",
        "error",
        "Loadout 'x' has 'web' under both `discoverable` and `disabled`; disabled wins.",
    ),
    "tool-included-and-disabled": (
        "  x: {plugins: [git/push], disabled: [git/push]}\n",
        2,
        "included-and-disabled",
        "error",
        "Loadout 'x' has 'git/push' under both `plugins` and `disabled`; disabled wins.",
    ),
    "a-tool-of-a-disabled-plugin": (
        "  x:\n    disabled: [git]\n    plugins: [web, GIT/push]\n",
        4,
        "included-and-disabled",
        "error",
        "Loadout 'x' names 'GIT/push' under `plugins`, but disables 'git'; disabled wins.",
    ),
    "a-tool-under-a-disabled-pattern": (
        "  x: {plugins: [web, git/push], disabled: [git/pu*]}\n",
        2,
        "included-and-disabled",
        "error",
        "Loadout 'x' names 'git/push' under `plugins`, but disables 'git/pu*'; disabled wins.",
    ),
    "category-repeated": (
        "  x: {categories: [git, Git]}\n",
        2,
        "repeated-entry",
        "warning",
        "'Git' stands more than once under `categories`.",
    ),
    "plugin-repeated": (
        "  x:\n    plugins:\n      - git\n      - GIT\n",
        5,
        "repeated-entry",
        "warning",
        "'GIT' stands more than once under `plugins`.",
    ),
    "pattern-repeated": (
        "  x:\n    discoverable:\n      - docker*\n      - docker*\n",
        5,
        "repeated-entry",
        "warning",
        "'docker*' stands more than once under `discoverable`.",
    ),
    "disabled-repeated": (
        "  x: {disabled: [web, git, web]}\n",
        2,
        "repeated-entry",
        "warning",
        "'web' stands more than once under `disabled`.",
    ),
    "pattern-idle": (
        "  x:\n    discoverable:\n      - docker*\n      - kube*\n",
        5,
        "idle-pattern",
        "warning",
        "The pattern 'kube*' matches nothing in catalog 'office'.",
    ),
    "name-idle": (
        "  x: {discoverable: [dokcer]}\n",
        2,
        "idle-pattern",
        "warning",
        "The pattern 'dokcer' matches nothing in catalog 'office'. Did you mean 'docker'?",
    ),
    "tool-pattern-idle": (
        "  x: {discoverable: ['git/zz*']}\n",
        2,
        "idle-pattern",
        "warning",
        "The pattern 'git/zz*' matches nothing in catalog 'office'.",
    ),
    "pattern-redundant-in-itself": (
        "  x:\n    discoverable:\n      - docker\n      - do*\n",
        4,
        "redundant-pattern",
        "warning",
        "The pattern 'docker' adds nothing: 'do*' of x covers it.",
    ),
    "pattern-redundant-by-inheritance": (
        "  x: {extends: minimal, discoverable: [DOCKER*]}\n",
        2,
        "redundant-pattern",
        "warning",
        "The pattern 'DOCKER*' adds nothing: '*' of minimal covers it.",
    ),
    "tool-pattern-redundant": (
        "  x: {discoverable: [git/push, 'git/p*']}\n",
        2,
        "redundant-pattern",
        "warning",
        "The pattern 'git/push' adds nothing: 'git/p*' of x covers it.",
    ),
    "loadout-extends-itself": (
        "  x:\n    extends: x\n",
        3,
        "cycle",
        "error",
        "Loadouts extend each other in a cycle: x → x. To build on the built-in of that name, give yours another.",
    ),
    "shadow-of-a-built-in-that-extends-it": (
        "  minimal:\n    extends: Minimal\n",
        3,
        "cycle",
        "error",
        (
            "Loadouts extend each other in a cycle: minimal → Minimal."
            " To build on the built-in of that name, give yours another."
        ),
    ),
    "cycle-through-a-built-in": (
        "  minimal: {extends: developer}\n",
        2,
        "cycle",
        "error",
        "Loadouts extend each other in a cycle: minimal → developer → minimal.",
    ),
    "cycle-of-two-told-once": (
        "  x: {extends: y}\n  y: {extends: x}\n",
        2,
        "cycle",
        "error",
        "Loadouts extend each other in a cycle: x → y → x.",
    ),
    "cycle-of-three-told-once": (
        "  z: {extends: x}\n  x: {extends: y}\n  y: {extends: z}\n",
        2,
        "cycle",
        "error",
        "Loadouts extend each other in a cycle: z → x → y → z.",
    ),
    "leading-into-a-cycle-is-told-at-the-cycle": (
        "  lead: {extends: x}\n  x: {extends: y}\n  y: {extends: x}\n",
        3,
        "cycle",
        "error",
        "Loadouts extend each other in a cycle: x → y → x.",
    ),
    "loadout-defined-twice": (
        "  x: {}\n  X: {}\n",
        3,
        "duplicate-loadout",
        "error",
        "Loadout 'X' is defined already at toolbelt.yaml:2; names ignore case.",
    ),
}


@pytest.mark.parametrize(("text", "line", "rule", "severity", "message"), SINGLE.values(), ids=SINGLE)
def test_L10_a_finding_has_rule_severity_line_and_nearest_name(
    text: str, line: int, rule: str, severity: str, message: str
) -> None:
    assert told(text) == [(line, rule, severity, message)]
    assert {finding.file for finding in lint(text)} == {"toolbelt.yaml"}


@pytest.mark.parametrize(
    ("key", "also"), [("plugins", "unknown-plugin"), ("discoverable", "idle-pattern"), ("disabled", "unknown-plugin")]
)
@pytest.mark.parametrize("entry", ["d*r", "*docker", "git/*us", "d*r*"])
def test_L10_a_star_in_the_middle_is_told_wherever_it_stands(key: str, also: str, entry: str) -> None:
    found = told(f"  x:\n    {key}: ['{entry}']\n")
    assert (
        3,
        "star-in-the-middle",
        "warning",
        f"The star inside {entry!r} is a plain character; only one at the end makes a prefix.",
    ) in found
    assert len(found) == 2  # and that nothing has that name
    assert {rule for _, rule, _, _ in found} - {"star-in-the-middle"} <= {also, "unknown-tool"}


@pytest.mark.parametrize(
    "text",
    [
        "  x: {categories: [shell], disabled: [shell]}\n",
        "  x: {extends: minimal, disabled: [shell]}\n",
        "  x: {plugins: [git], disabled: [git/push]}\n",
        "  x: {plugins: [web], discoverable: ['git/*'], disabled: ['git/push']}\n",
        "  x: {plugins: [web]}\n  y: {extends: x, disabled: [web]}\n",
        "  x: {categories: [finance]}\n",
        "  x: {categories: [LEGAL, GitHub, multimodal]}\n",
        "  x: {plugins: [GIT/STATUS, 'docker/p*', STRASSE, STRASSE/Fahren, a/b, a/b/yonder]}\n",
        "  x: {discoverable: ['docker*', 'git/p*', web]}\n",
        "  x: {discoverable: ['*']}\n",
        "  x: {extends: full, discoverable: [docker]}\n",
        "  x: {extends: y}\n  y: {extends: DEVELOPER}\n",
        "  minimal: {plugins: [git]}\n",
        "  x:\n",
    ],
    ids=[
        "category-included-and-its-plugin-disabled",
        "inherited-and-disabled",
        "plugin-named-and-one-tool-disabled",
        "tools-discoverable-and-one-disabled",
        "disabling-what-the-parent-names",
        "a-catalogs-own-category",
        "declared-and-well-known-categories-in-any-case",
        "names-in-any-case-and-with-slashes",
        "patterns-that-match",
        "the-star-alone",
        "a-parent-without-patterns",
        "a-chain-to-a-built-in",
        "shadowing-a-built-in",
        "an-empty-loadout",
    ],
)
def test_L10_what_is_right_is_no_finding(text: str) -> None:
    assert told(text) == []


def test_L10_two_cycles_are_two_findings() -> None:
    text = "  a: {extends: b}\n  b: {extends: A}\n  c: {extends: d}\n  d: {extends: c}\n  e: {extends: e}\n"
    assert [(line, message.split(": ")[1].split(".")[0]) for line, _, _, message in told(text)] == [
        (2, "a → b → A"),
        (4, "c → d → c"),
        (6, "e → e"),
    ]


def test_L10_the_same_loadout_in_two_files_names_the_other_place() -> None:
    written = [*read("  x: {}\n", "one.yaml"), *read("\n  X: {}\n", "two.yaml")]
    (found,) = lint_definitions(written, ToolLoadoutRegistry(one.loadout for one in written))
    assert (found.rule, found.file, found.line) == ("duplicate-loadout", "two.yaml", 3)
    assert "at one.yaml:2" in found.message


def test_L10_all_findings_are_reported_at_once() -> None:
    text = """\
  x:
    extends: nope
    categories: [gti, git, git]
    plugins: [dokcer, git/statsu, web]
    discoverable: ['kube*', 'd*r', 'docker*', docker]
    disabled: [WEB, zzz]
  y: {extends: y}
  Y: {}
"""
    assert [(line, rule) for line, rule, _, _ in told(text)] == [
        (3, "unknown-parent"),
        (4, "unknown-category"),
        (4, "repeated-entry"),
        (5, "included-and-disabled"),
        (5, "unknown-plugin"),
        (5, "unknown-tool"),
        (6, "idle-pattern"),
        (6, "idle-pattern"),
        (6, "redundant-pattern"),
        (6, "star-in-the-middle"),
        (7, "unknown-plugin"),
        (9, "duplicate-loadout"),
    ]


def test_L10_every_mistake_of_a_kind_is_reported() -> None:
    text = "  x: {categories: [q1, q2], plugins: [q3, q4], discoverable: [q5, q6], disabled: [q7, q8]}\n"
    assert [message.split("'")[1] for _, rule, _, message in told(text) if rule == "unknown-category"] == ["q1", "q2"]
    assert [message.split("'")[3] for _, rule, _, message in told(text) if rule == "unknown-plugin"] == [
        "q3",
        "q4",
        "q7",
        "q8",
    ]
    assert sum(rule == "idle-pattern" for _, rule, _, _ in told(text)) == 2


@pytest.mark.parametrize(
    ("text", "idle"),
    [
        ("  x: {disabled: [git]}\n", True),
        ("  x: {plugins: [git], disabled: ['git/*']}\n", True),
        ("  x: {extends: gone}\n", True),
        ("  x: {plugins: [git/status]}\n", False),
        ("  x: {extends: minimal}\n", False),
    ],
    ids=["nothing-included", "all-of-it-disabled", "parent-gone", "one-tool", "inherited"],
)
def test_L10_a_loadout_that_matches_nothing_is_a_warning(text: str, idle: bool) -> None:
    (one,) = read(text)
    found = lint_against_catalog(one, ToolLoadoutRegistry([one.loadout]), CATALOG)
    expected = "Loadout 'x' makes nothing of catalog 'office' active."
    assert [(f.rule, f.severity, f.line, f.message) for f in found] == (
        [("matches-nothing", Severity.WARNING, 2, expected)] if idle else []
    )


def test_L10_a_plugin_without_category_is_told_but_for_those_the_seed_has_patterns_for() -> None:
    names = ("docker", "dockerCompose", "kubernetes", "terraform", "mcpThing", "git", "jira", "stranger")
    catalog = Catalog((*map(Plugin, names), Plugin("mine", category="finance")))
    found = lint_catalog_for_loadouts(catalog, ToolLoadoutRegistry())
    assert [(name, finding.rule, finding.severity) for name, finding in found] == [
        ("jira", "no-category", Severity.WARNING),
        ("stranger", "no-category", Severity.WARNING),
    ]
    assert mentions(found[0][1].message, "jira", "category")


def test_L15_a_ladder_that_names_no_loadout_is_an_error() -> None:
    catalog = Catalog(ladder=("develper", "full"))  # type: ignore[arg-type]
    ((name, finding),) = lint_catalog_for_loadouts(catalog, ToolLoadoutRegistry())
    assert (name, finding.rule, finding.severity) == (None, "unknown-rung", Severity.ERROR)
    assert mentions(finding.message, "develper", "developer")


def test_L10_the_built_in_loadouts_give_no_finding() -> None:
    registry = ToolLoadoutRegistry()
    path = find_shipped_catalog("assistant")
    assert path is not None
    assert lint_definitions([], registry) == ()
    assert lint_catalog_for_loadouts(replace(Catalog.read(path), ladder=()), registry) == ()  # its rungs are its own


def test_L10_written_out_as_ones_own_their_redundant_patterns_are_findings() -> None:
    data = {loadout.name: loadout_data(loadout) for loadout in BUILT_IN_LOADOUTS}
    written, _ = read_loadouts(Document({"loadouts": data}, "mine.yaml"), "loadouts")
    found = [(f.rule, f.message.split("'")[1]) for f in lint_definitions(written, ToolLoadoutRegistry())]
    patterns = ["docker*", "mcp*", "docker*", "kube*", "terraform*"]
    assert found == [("redundant-pattern", pattern) for pattern in patterns]
