"""The reasons kept with each decision (rule L8)."""

from __future__ import annotations

import pytest

from toolbelt import Catalog, Decision, Plugin, Tool, ToolLoadoutBuilder, ToolLoadoutRegistry
from toolbelt.loadouts import Reason, Rule, Status, Step

CATALOG = Catalog(
    (
        Plugin("shell", (Tool("run"), Tool("kill"))),
        Plugin("git", (Tool("status"), Tool("push"), Tool("pull"))),
        Plugin("docker", (Tool("ps"),)),
        Plugin("ledger", (Tool("book"),), "Finance"),
        Plugin("bare"),
    )
)
create = ToolLoadoutBuilder.create
REGISTRY = ToolLoadoutRegistry(
    builder.build()
    for builder in (
        create("base").include_category("shell").add_discoverable("docker*").add_plugin("ledger"),
        create("strict").extends("base").disable("shell").add_plugin("shell"),
        create("lax").extends("strict").include_category("shell").add_discoverable("*"),
        create("parts").add_plugin("git/status").add_discoverable("git/pu*").disable("git/push"),
        create("all-off").include_category("git").disable("git/*"),
        create("wide").include_category("git").add_plugin("GIT").add_plugin("git/status"),
        create("money").include_category("finance"),
        create("barely").add_plugin("bare/x").add_discoverable("bare/y").disable("bare/z"),
        create("silent"),
        create("silent-child").extends("silent"),
        create("lost").extends("gone").add_plugin("git"),
    )
)


def why(loadout: str, name: str) -> Decision:
    return REGISTRY.resolve(loadout, CATALOG).why(name)


def deciding(decision: Decision) -> list[tuple[str, str, str]]:
    return [(reason.loadout, reason.rule.value, reason.entry) for reason in decision.reasons if reason.decides]


def overruled(decision: Decision) -> list[tuple[str, str, str]]:
    return [(reason.loadout, reason.rule.value, reason.entry) for reason in decision.reasons if not reason.decides]


CASES = {
    "active-by-category": ("base", "shell", Status.ACTIVE, [("base", "category", "shell")], []),
    "active-by-name": ("base", "ledger", Status.ACTIVE, [("base", "named", "ledger")], []),
    "active-by-a-catalogs-own-category": ("money", "ledger", Status.ACTIVE, [("money", "category", "finance")], []),
    "active-for-several-reasons": (
        "wide",
        "git/status",
        Status.ACTIVE,
        [("wide", "named", "GIT"), ("wide", "named", "git/status"), ("wide", "category", "git")],
        [],
    ),
    "active-tool-is-not-credited-to-its-siblings-entry": (
        "wide",
        "git/pull",
        Status.ACTIVE,
        [("wide", "named", "GIT"), ("wide", "category", "git")],
        [],
    ),
    "discoverable-by-pattern": ("base", "docker", Status.DISCOVERABLE, [("base", "discoverable", "docker*")], []),
    "discoverable-by-two-levels": (
        "lax",
        "docker/ps",
        Status.DISCOVERABLE,
        [("base", "discoverable", "docker*"), ("lax", "discoverable", "*")],
        [],
    ),
    "disabled-overrules-parent-and-itself": (
        "strict",
        "shell",
        Status.DISABLED,
        [("strict", "disabled", "shell")],
        [("base", "category", "shell"), ("strict", "named", "shell")],
    ),
    "disabled-by-a-parent-overrules-the-child": (
        "lax",
        "shell/run",
        Status.DISABLED,
        [("strict", "disabled", "shell")],
        [
            ("base", "category", "shell"),
            ("strict", "named", "shell"),
            ("lax", "category", "shell"),
            ("lax", "discoverable", "*"),
        ],
    ),
    "disabled-tool-by-tool": (
        "all-off",
        "git",
        Status.DISABLED,
        [("all-off", "disabled", "git/*")],
        [("all-off", "category", "git")],
    ),
    "tool-disabled-by-its-own-entry": (
        "parts",
        "git/push",
        Status.DISABLED,
        [("parts", "disabled", "git/push")],
        [("parts", "discoverable", "git/pu*")],
    ),
    "tool-discoverable-by-prefix": (
        "parts",
        "git/pull",
        Status.DISCOVERABLE,
        [("parts", "discoverable", "git/pu*")],
        [],
    ),
    "active-beats-discoverable-which-is-told": (
        "parts",
        "git",
        Status.ACTIVE,
        [("parts", "named", "git/status")],
        [("parts", "disabled", "git/push"), ("parts", "discoverable", "git/pu*")],
    ),
    "hidden-since-nothing-speaks": ("base", "git", Status.HIDDEN, [("base", "unmatched", "")], []),
    "hidden-names-every-level": (
        "silent-child",
        "git/push",
        Status.HIDDEN,
        [("silent", "unmatched", ""), ("silent-child", "unmatched", "")],
        [],
    ),
    "hidden-under-an-unknown-loadout": ("nope", "git", Status.HIDDEN, [("nope", "unmatched", "")], []),
    "a-broken-chain-keeps-its-reasons": ("lost", "git", Status.ACTIVE, [("lost", "named", "git")], []),
    "a-plugin-without-known-tools-is-explained-by-what-addresses-them": (
        "barely",
        "bare",
        Status.ACTIVE,
        [("barely", "named", "bare/x")],
        [("barely", "disabled", "bare/z"), ("barely", "discoverable", "bare/y")],
    ),
}


@pytest.mark.parametrize(("loadout", "name", "status", "decides", "others"), CASES.values(), ids=CASES)
def test_L8_the_reasons_say_which_loadout_and_which_rule(
    loadout: str, name: str, status: Status, decides: list[tuple[str, str, str]], others: list[tuple[str, str, str]]
) -> None:
    decision = why(loadout, name)
    assert decision.status is status
    assert deciding(decision) == decides
    assert overruled(decision) == others


def test_L8_what_decides_comes_first() -> None:
    flags = [reason.decides for reason in why("lax", "shell").reasons]
    assert flags == [True, False, False, False, False]


def test_L8_the_chain_is_told_level_by_level_root_first() -> None:
    assert why("lax", "shell").chain == (
        Step("base", category=("shell",)),
        Step("strict", disabled=("shell",), named=("shell",)),
        Step("lax", category=("shell",), discoverable=("*",)),
    )


def test_L8_levels_that_say_nothing_are_told_too() -> None:
    assert why("silent-child", "git").chain == (Step("silent"), Step("silent-child"))


def test_L8_an_unknown_loadout_has_no_chain() -> None:
    assert why("nope", "git").chain == ()


def test_L8_a_step_lists_its_rules_in_the_order_in_which_they_decide() -> None:
    step = Step("a", ("d",), ("n",), ("c",), ("p",))
    assert list(step.entries()) == [
        (Rule.DISABLED, ("d",)),
        (Rule.NAMED, ("n",)),
        (Rule.CATEGORY, ("c",)),
        (Rule.DISCOVERABLE, ("p",)),
    ]


def test_L8_a_plugin_whose_tools_differ_says_how_many_are_what() -> None:
    assert why("parts", "git").parts == ((Status.ACTIVE, 1), (Status.DISCOVERABLE, 1), (Status.DISABLED, 1))


@pytest.mark.parametrize(("loadout", "name"), [("wide", "git"), ("all-off", "git"), ("parts", "git/push")])
def test_L8_what_is_of_one_piece_has_no_parts(loadout: str, name: str) -> None:
    assert why(loadout, name).parts == ()


def test_L8_a_decision_says_what_it_is_about() -> None:
    plugin, tool = why("base", "LEDGER"), why("base", "book")
    assert (plugin.name, plugin.kind, plugin.plugin, plugin.category) == ("ledger", "plugin", "ledger", "Finance")
    assert (tool.name, tool.kind, tool.plugin, tool.category) == ("ledger/book", "tool", "ledger", "Finance")
    assert why("base", "docker").category is None
    assert why("base", "git").category == "git"


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (Reason("dev", Rule.DISABLED, "web"), "dev disables 'web'"),
        (Reason("dev", Rule.NAMED, "git/push"), "dev names 'git/push'"),
        (Reason("dev", Rule.CATEGORY, "git"), "dev includes the category 'git'"),
        (Reason("dev", Rule.DISCOVERABLE, "docker*"), "dev makes 'docker*' discoverable"),
        (Reason("dev", Rule.UNMATCHED, ""), "nothing in dev makes it active or discoverable"),
    ],
    ids=[rule.value for rule in Rule],
)
def test_L8_a_reason_reads_as_a_sentence(reason: Reason, text: str) -> None:
    assert str(reason) == text


def test_L8_a_decision_is_a_value() -> None:
    assert why("lax", "shell") == why("lax", "SHELL")
    assert len({why("lax", "shell"), why("lax", "shell")}) == 1
