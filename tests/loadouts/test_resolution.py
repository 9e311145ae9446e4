"""What a loadout makes of a whole catalog (rules L7–L9)."""

from __future__ import annotations

import pytest

from tests.wording import naming
from toolbelt import Catalog, Decision, Plugin, Resolution, Tool, ToolLoadout, ToolLoadoutBuilder, ToolLoadoutRegistry
from toolbelt.errors import AmbiguousNameError, NotFoundError
from toolbelt.loadouts import Reason, Rule, Status, Step
from toolbelt.stores.catalogs import find_shipped_catalog


def plugin(name: str, *tools: str, category: str | None = None) -> Plugin:
    return Plugin(name, tuple(Tool(tool) for tool in tools), category)


CATALOG = Catalog(
    (
        plugin("web", "fetch", "post"),
        plugin("Git", "status", "push", "pull"),
        plugin("docker", "ps", "run"),
        plugin("shell", "run"),
        plugin("vault", "read", category="Secrets"),
        plugin("empty"),
    )
)
MIXED = (
    ToolLoadoutBuilder.create("mixed")
    .include_category("git")
    .add_plugin("WEB/fetch")
    .add_discoverable("docker/p*")
    .disable("git/PU*")
    .disable("shell")
    .build()
)


def resolve(*loadouts: ToolLoadout, catalog: Catalog = CATALOG) -> Resolution:
    """The last of them over the catalog."""
    return ToolLoadoutRegistry(loadouts).resolve(loadouts[-1].name, catalog)


def ids(resolution: Resolution, status: Status) -> list[str]:
    return [tool.id for tool in resolution.tools_with(status)]


def test_L8_every_plugin_is_in_exactly_one_list_in_catalog_order_and_spelling() -> None:
    resolution = resolve(MIXED)
    assert resolution.active_plugins == ("web", "Git")
    assert resolution.discoverable_plugins == ("docker",)
    assert resolution.disabled_plugins == ("shell",)
    assert resolution.hidden_plugins == ("vault", "empty")


def test_L9_every_tool_is_decided_by_itself() -> None:
    resolution = resolve(MIXED)
    assert ids(resolution, Status.ACTIVE) == ["web/fetch", "Git/status"]
    assert ids(resolution, Status.DISCOVERABLE) == ["docker/ps"]
    assert ids(resolution, Status.DISABLED) == ["Git/push", "Git/pull", "shell/run"]
    assert ids(resolution, Status.HIDDEN) == ["web/post", "docker/run", "vault/read"]


def test_L8_active_tools_are_the_tools_themselves() -> None:
    assert resolve(MIXED).active_tools == (CATALOG.get_tool("web/fetch"), CATALOG.get_tool("Git/status"))


def test_L8_tools_of_one_plugin() -> None:
    resolution = resolve(MIXED)
    git = CATALOG.get_plugin("git")
    assert [tool.name for tool in resolution.tools_of(git, Status.ACTIVE)] == ["status"]
    assert [tool.name for tool in resolution.tools_of(git, Status.DISABLED)] == ["push", "pull"]
    assert resolution.tools_of(git, Status.HIDDEN) == ()


def test_L9_a_plugin_all_of_whose_tools_are_disabled_is_disabled() -> None:
    resolution = resolve(ToolLoadoutBuilder.create("a").add_plugin("git").disable("git/*").build())
    assert resolution.disabled_plugins == ("Git",)
    assert resolution.active_tools == ()


def test_L9_a_plugin_of_which_something_is_merely_hidden_is_hidden() -> None:
    resolution = resolve(ToolLoadoutBuilder.create("a").disable("git/push").build())
    assert "Git" in resolution.hidden_plugins
    assert ids(resolution, Status.DISABLED) == ["Git/push"]


def test_L9_an_id_of_its_own_does_not_change_how_a_tool_is_addressed() -> None:
    catalog = Catalog((Plugin("search", (Tool("find", id="search.v2.find"),)),))
    by_path = resolve(ToolLoadoutBuilder.create("a").add_plugin("search/find").build(), catalog=catalog)
    by_id = resolve(ToolLoadoutBuilder.create("a").add_plugin("search.v2.find").build(), catalog=catalog)
    assert ids(by_path, Status.ACTIVE) == ["search.v2.find"]
    assert ids(by_id, Status.ACTIVE) == []


def test_L7_an_unknown_loadout_hides_everything() -> None:
    resolution = ToolLoadoutRegistry().resolve("nope", CATALOG)
    assert resolution.chain == ()
    assert resolution.lineage == ()
    assert resolution.broken == "unknown loadout 'nope'"
    assert resolution.active_plugins == resolution.discoverable_plugins == resolution.disabled_plugins == ()
    assert resolution.hidden_plugins == tuple(plugin.name for plugin in CATALOG.plugins)
    assert ids(resolution, Status.HIDDEN) == [tool.id for tool in CATALOG.tools]


def test_L7_the_lineage_is_root_first_and_says_where_it_broke() -> None:
    child = ToolLoadout("child", "middle")
    resolution = resolve(ToolLoadout("middle", "gone"), child)
    assert resolution.lineage == ("middle", "child")
    assert resolution.broken == "unknown parent 'gone'"
    assert resolve(ToolLoadout("fine", "minimal")).broken is None


def test_L7_a_resolution_stays_when_the_registry_moves_on() -> None:
    registry = ToolLoadoutRegistry([MIXED])
    resolution = registry.resolve("mixed", CATALOG)
    registry.register(ToolLoadout("mixed"))
    assert resolution.active_plugins == ("web", "Git")


def test_L7_an_empty_catalog_resolves_to_nothing() -> None:
    resolution = resolve(MIXED, catalog=Catalog())
    assert resolution.active_plugins == resolution.hidden_plugins == ()
    assert resolution.active_tools == ()


def test_L5_the_shipped_catalog_under_the_built_in_loadouts() -> None:
    path = find_shipped_catalog("assistant")
    assert path is not None
    catalog = Catalog.read(path)
    registry = ToolLoadoutRegistry()
    minimal = {"file", "batchEdit", "diff", "notebook", "migration", "shell", "environment", "clipboard", "runtime"}
    minimal |= {"think"}
    analysis = {"parityDocs", "skillParity", "benchmark", "usage"}
    unreachable_by_category = {"docker", "kubernetes", "terraform"}
    everything = {plugin.name for plugin in catalog.plugins}
    expected = {
        "minimal": minimal,
        "developer": minimal | analysis | {"git", "github", "search", "websearch", "memory"},
        "research": minimal | {"search", "websearch", "web", "browser", "memory", "multimodal"},
        "devops": minimal | {"git", "tailscale", "scheduler"},
        "full": everything - unreachable_by_category,
    }
    for name, active in expected.items():
        resolution = registry.resolve(name, catalog)
        assert set(resolution.active_plugins) == active, name
        rest = everything - active
        # All but `full` inherit the star of `minimal`.
        assert set(resolution.discoverable_plugins) == (set() if name == "full" else rest), name
        assert set(resolution.hidden_plugins) == (rest if name == "full" else set()), name
        assert resolution.disabled_plugins == ()


@pytest.mark.parametrize(
    ("asked", "kind", "name"),
    [
        ("web", "plugin", "web"),
        ("GIT", "plugin", "Git"),
        ("web/fetch", "tool", "web/fetch"),
        ("git/PUSH", "tool", "Git/push"),
        ("status", "tool", "Git/status"),
    ],
    ids=["plugin", "plugin-in-other-case", "tool-by-id", "tool-in-other-case", "tool-by-bare-name"],
)
def test_L8_why_takes_plugins_and_tools(asked: str, kind: str, name: str) -> None:
    decision = resolve(MIXED).why(asked)
    assert (decision.kind, decision.name) == (kind, name)


def test_L8_why_of_what_is_nowhere_tells_the_nearest_name() -> None:
    with pytest.raises(NotFoundError, match=naming("dokcer", "docker")) as caught:
        resolve(MIXED).why("dokcer")
    assert {"docker", "web/fetch"} <= set(caught.value.known)


def test_L8_why_of_a_shared_name_lists_the_candidates() -> None:
    with pytest.raises(AmbiguousNameError) as caught:
        resolve(MIXED).why("run")
    assert caught.value.candidates == ("docker/run", "shell/run")


EXPLAINED_CATALOG = Catalog(
    (
        Plugin("shell", (Tool("run"), Tool("kill"))),
        Plugin("git", (Tool("status"), Tool("push"), Tool("pull"))),
        Plugin("docker", (Tool("ps"),)),
        Plugin("ledger", (Tool("book"),), "Finance"),
        Plugin("bare"),
    )
)
create = ToolLoadoutBuilder.create
EXPLAINED_REGISTRY = ToolLoadoutRegistry(
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
    return EXPLAINED_REGISTRY.resolve(loadout, EXPLAINED_CATALOG).why(name)


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
        (Reason("dev", Rule.SWITCHED_OFF, "switched off by `x` in y"), "switched off by `x` in y, whatever dev has"),
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
