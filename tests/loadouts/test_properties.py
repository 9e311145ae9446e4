"""Laws of resolution (rules L4, L7–L9), over random chains and catalogs.

`Naive` is a second implementation, written from the words of the spec alone and sharing no code with the first:
what both agree on is not the slip of one pen.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from toolbelt import Catalog, Plugin, Tool, ToolLoadout, ToolLoadoutRegistry
from toolbelt.loadouts import Rule, Status

# Few names, much alike, so that they meet: upper case, slashes, stars, one of the category map.
PLUGIN_NAMES = ["git", "GIT", "Git/hub", "git/", "a", "a/b", "A/B/c", "a*", "*", "shell", "batchedit", "straße"]
TOOL_NAMES = ["b", "B", "b/c", "c", "hub", "hub/x", "status", "st*", "*", "/"]
CATEGORIES = ["git", "shell", "filesystem", "Finance", "finance", "a"]
LOADOUT_NAMES = ["one", "two", "three", "TWO", "minimal", "gone"]

loose = st.text(alphabet="aAb/*ßgit", min_size=1, max_size=6)
plugin_names = st.one_of(st.sampled_from(PLUGIN_NAMES), loose)
tool_names = st.one_of(st.sampled_from(TOOL_NAMES), loose)


# Strategies are made once: to make one takes longer than to draw from it.
entry_kinds = st.sampled_from(["plain", "prefix", "tool", "tool-prefix", "all-tools"])


@st.composite
def entries(draw: st.DrawFn) -> str:
    """A plugin, a pattern, a tool of a plugin, or a prefix of one."""
    name = draw(plugin_names)
    kind = draw(entry_kinds)
    if kind == "prefix":
        return f"{name[: draw(st.integers(0, len(name)))]}*"
    if kind == "all-tools":
        return f"{name}/*"
    if kind == "plain":
        return name
    tool = draw(tool_names)
    return f"{name}/{tool}" if kind == "tool" else f"{name}/{tool[: draw(st.integers(0, len(tool)))]}*"


few_entries = st.lists(entries(), max_size=3)


def loadouts(name: str | None = None) -> st.SearchStrategy[ToolLoadout]:
    return st.builds(
        ToolLoadout,
        st.sampled_from(LOADOUT_NAMES[:-1]) if name is None else st.just(name),
        st.one_of(st.none(), st.sampled_from(LOADOUT_NAMES)),
        few_entries.map(frozenset),
        st.lists(st.sampled_from(CATEGORIES), max_size=2).map(frozenset),
        few_entries.map(tuple),
        st.lists(entries(), max_size=2).map(frozenset),
    )


# An id of its own for each tool, so that plugin `a` with tool `b/c` and plugin `a/b` with tool `c` may meet.
one_plugin = st.builds(
    lambda tools, category, name: Plugin(name, tuple(Tool(tool, id=f"{name}|{tool}") for tool in tools), category),
    st.lists(tool_names, max_size=4, unique=True),
    st.one_of(st.none(), st.sampled_from(CATEGORIES)),
    plugin_names,
)


def spelling(plugin: str | Plugin) -> str:
    return plugin if isinstance(plugin, str) else plugin.name


catalogs = st.lists(one_plugin, max_size=6, unique_by=lambda plugin: plugin.name.casefold()).map(
    lambda made: Catalog(tuple(made))
)
registries = st.lists(loadouts(), min_size=1, max_size=5).map(ToolLoadoutRegistry)
asked = st.sampled_from(LOADOUT_NAMES)

MAPPED = {"git": "git", "shell": "shell", "batchedit": "filesystem"}
"""The rows of the seed's table that the names above can hit."""


class Naive:
    """L4, L7 and L9 as the spec says them, and nothing else."""

    def __init__(self, loadouts: Sequence[ToolLoadout], name: str) -> None:
        """`loadouts` in the order registered: of one name, the last counts."""
        self.chain: list[ToolLoadout] = []
        visited: list[str] = []
        wanted: str | None = name
        while wanted is not None and wanted.casefold() not in visited:
            visited.append(wanted.casefold())
            found = [loadout for loadout in loadouts if loadout.name.casefold() == visited[-1]]
            if not found:
                break
            self.chain.append(found[-1])
            wanted = found[-1].parent_loadout_name

    @staticmethod
    def pattern(pattern: str, text: str) -> bool:
        """L4."""
        if pattern == "*":
            return True
        pattern, text = pattern.casefold(), text.casefold()
        return text[: len(pattern) - 1] == pattern[:-1] if pattern[-1:] == "*" else text == pattern

    @classmethod
    def tool_entry(cls, entry: str, plugin: str, tool: str) -> bool:
        """L9: `plugin/tool` or `plugin/prefix*`."""
        if entry.casefold()[: len(plugin.casefold()) + 1] != plugin.casefold() + "/":
            return False
        return cls.pattern(entry.casefold()[len(plugin.casefold()) + 1 :], tool)

    @staticmethod
    def category(plugin: Plugin | str) -> str | None:
        """L2: its own, else the map's."""
        if isinstance(plugin, Plugin) and plugin.category is not None:
            return plugin.category.casefold()
        return MAPPED.get((plugin if isinstance(plugin, str) else plugin.name).casefold())

    def by_category(self, plugin: Plugin | str) -> bool:
        return any(
            entry.casefold() == self.category(plugin) for loadout in self.chain for entry in loadout.included_categories
        )

    def tool(self, plugin: Plugin, tool: Tool) -> str:
        def same(entry: str) -> bool:
            return entry.casefold() == plugin.name.casefold()

        def addressed(entry: str) -> bool:
            return self.tool_entry(entry, plugin.name, tool.name)

        for loadout in self.chain:
            if any(same(entry) or addressed(entry) for entry in loadout.disabled_plugins):
                return "disabled"
        for loadout in self.chain:
            named = any(entry == "*" or same(entry) or addressed(entry) for entry in loadout.default_plugins)
            if named or self.by_category(plugin):
                return "active"
        for loadout in self.chain:
            if any(self.pattern(e, plugin.name) or addressed(e) for e in loadout.discoverable_patterns):
                return "discoverable"
        return "hidden"

    def plugin(self, plugin: Plugin | str) -> str:
        """The best that became of its tools; where none are known, what addresses them stands for them."""
        if isinstance(plugin, Plugin) and plugin.tools:
            statuses = [self.tool(plugin, tool) for tool in plugin.tools]
            return min(statuses, key=["active", "discoverable", "hidden", "disabled"].index)
        name = spelling(plugin)
        key = name.casefold()
        disabled = [entry.casefold() for loadout in self.chain for entry in loadout.disabled_plugins]
        if key in disabled or f"{key}/*" in disabled:
            return "disabled"
        named = [entry.casefold() for loadout in self.chain for entry in loadout.default_plugins]
        patterns = [entry.casefold() for loadout in self.chain for entry in loadout.discoverable_patterns]
        if "*" in named or key in named or self.by_category(plugin) or self.some_tool_left(named, key, disabled):
            return "active"
        if any(self.pattern(entry, name) for entry in patterns) or self.some_tool_left(patterns, key, disabled):
            return "discoverable"
        return "hidden"

    @staticmethod
    def some_tool_left(wanted: Sequence[str], key: str, disabled: Sequence[str]) -> bool:
        """Whether an entry addresses a tool of the plugin that no disabled entry blocks."""

        def blocks(block: str, entry: str) -> bool:
            if block.endswith("*") and block.startswith(f"{key}/"):
                return entry.startswith(block[:-1])
            return entry == block

        mine = [entry for entry in wanted if entry.startswith(f"{key}/")]
        return any(not any(blocks(block, entry) for block in disabled) for entry in mine)


MANY = settings(max_examples=200, deadline=None)
SOME = settings(max_examples=80, deadline=None)


@MANY
@given(st.lists(loadouts(), min_size=1, max_size=5), asked, catalogs)
def test_L7_L9_a_naive_reading_of_the_spec_agrees_on_catalogs(
    written: list[ToolLoadout], name: str, catalog: Catalog
) -> None:
    registry = ToolLoadoutRegistry(written)
    resolution = registry.resolve(name, catalog)
    naive = Naive(registry.get_all(), name)
    assert list(reversed(resolution.lineage)) == [loadout.name for loadout in naive.chain]
    for plugin in catalog.plugins:
        for tool in plugin.tools:
            assert resolution.tool_status(plugin, tool).value == naive.tool(plugin, tool), tool.id
        assert resolution.plugin_status(plugin).value == naive.plugin(plugin), plugin.name


@MANY
@given(st.lists(loadouts(), min_size=1, max_size=5), asked, st.lists(st.one_of(plugin_names, one_plugin), max_size=6))
def test_L7_L9_a_naive_reading_of_the_spec_agrees_on_names_and_plugins(
    written: list[ToolLoadout], name: str, available: list[str | Plugin]
) -> None:
    registry = ToolLoadoutRegistry(written)
    naive = Naive(registry.get_all(), name)

    def expected(status: str) -> list[str]:
        names: list[str] = []
        for one in available:
            spelled = spelling(one)
            if naive.plugin(one) == status and spelled not in names:
                names.append(spelled)
        return names

    assert list(registry.resolve_active_plugins(name, available)) == expected("active")
    assert list(registry.resolve_discoverable_plugins(name, available)) == expected("discoverable")


@SOME
@given(registries, asked, catalogs)
def test_L8_resolve_agrees_with_the_two_resolvers(registry: ToolLoadoutRegistry, name: str, catalog: Catalog) -> None:
    resolution = registry.resolve(name, catalog)
    assert registry.resolve_active_plugins(name, catalog.plugins) == resolution.active_plugins
    assert registry.resolve_discoverable_plugins(name, catalog.plugins) == resolution.discoverable_plugins


@SOME
@given(registries, asked, catalogs, st.randoms())
def test_L7_the_order_of_what_is_available_does_not_change_the_sets(
    registry: ToolLoadoutRegistry, name: str, catalog: Catalog, random: Random
) -> None:
    shuffled = list(catalog.plugins)
    random.shuffle(shuffled)
    for resolve in (registry.resolve_active_plugins, registry.resolve_discoverable_plugins):
        assert set(resolve(name, shuffled)) == set(resolve(name, catalog.plugins))


@SOME
@given(registries, asked, st.lists(st.one_of(plugin_names, one_plugin), max_size=8, unique_by=spelling))
def test_L7_the_result_is_ordered_and_spelled_as_available_each_once(
    registry: ToolLoadoutRegistry, name: str, available: list[str | Plugin]
) -> None:
    spelled = [spelling(one) for one in available]
    for resolve in (registry.resolve_active_plugins, registry.resolve_discoverable_plugins):
        found = resolve(name, (one for one in available))
        assert list(found) == [one for one in spelled if one in found]
        assert resolve(name, [*available, *available]) == found


@SOME
@given(registries, asked, catalogs)
def test_L8_the_four_statuses_partition_the_catalog(registry: ToolLoadoutRegistry, name: str, catalog: Catalog) -> None:
    resolution = registry.resolve(name, catalog)
    lists = [
        resolution.active_plugins,
        resolution.discoverable_plugins,
        resolution.disabled_plugins,
        resolution.hidden_plugins,
    ]
    assert sorted(name for names in lists for name in names) == sorted(plugin.name for plugin in catalog.plugins)
    tools = [tool.id for status in Status for tool in resolution.tools_with(status)]
    assert sorted(tools) == sorted(tool.id for tool in catalog.tools)


STRENGTH = [Status.HIDDEN, Status.DISCOVERABLE, Status.ACTIVE, Status.DISABLED]
"""What more entries can turn a tool into, weakest first."""


@SOME
@given(registries, loadouts(name="child"), asked, catalogs)
def test_L7_parent_unions_only_grow(
    registry: ToolLoadoutRegistry, child: ToolLoadout, parent: str, catalog: Catalog
) -> None:
    """A child adds entries and takes none away, so that a tool never falls back: what the parent shows, the child
    shows or disables; what the parent disables, it disables; what the parent lets be asked for is not hidden."""
    registry.register(ToolLoadout("child", parent, child.default_plugins, child.included_categories,
                                  child.discoverable_patterns, child.disabled_plugins))  # fmt: skip
    above, below = registry.resolve(parent, catalog), registry.resolve("child", catalog)
    for plugin in catalog.plugins:
        for tool in plugin.tools:
            before, after = above.tool_status(plugin, tool), below.tool_status(plugin, tool)
            assert STRENGTH.index(after) >= STRENGTH.index(before)


@SOME
@given(registries, loadouts(name="child"), asked, st.lists(plugin_names, max_size=6))
def test_L7_parent_unions_only_grow_for_whole_plugins_as_long_as_no_tool_is_addressed(
    registry: ToolLoadoutRegistry, child: ToolLoadout, parent: str, names: list[str]
) -> None:
    """Of whole plugins too, but for a child's `plugin/tool` under disabled, which may leave of it what is hidden."""
    whole = frozenset(entry for entry in child.disabled_plugins if "/" not in entry)
    registry.register(ToolLoadout("child", parent, child.default_plugins, child.included_categories,
                                  child.discoverable_patterns, whole))  # fmt: skip
    available = [name for name in names if name.casefold() not in {entry.casefold() for entry in whole}]
    before = set(registry.resolve_active_plugins(parent, available))
    assert before <= set(registry.resolve_active_plugins("child", available))
    asked_for = set(registry.resolve_discoverable_plugins(parent, available))
    assert asked_for <= {
        *registry.resolve_active_plugins("child", available),
        *registry.resolve_discoverable_plugins("child", available),
    }


@SOME
@given(registries, st.lists(loadouts(), min_size=1, max_size=4), catalogs, st.data())
def test_L7_disabled_wins_at_any_level_and_no_child_can_undo_it(
    registry: ToolLoadoutRegistry, descendants: list[ToolLoadout], catalog: Catalog, data: st.DataObject
) -> None:
    """Put a ban on something at a random level of a chain; nothing else in the chain can bring it back."""
    targets = [plugin.name for plugin in catalog.plugins] or ["git"]
    target = data.draw(st.sampled_from(targets), label="disabled")
    level = data.draw(st.integers(0, len(descendants) - 1), label="level")
    for number, one in enumerate(descendants):
        registry.register(
            ToolLoadout(
                f"level{number}",
                f"level{number - 1}" if number else one.parent_loadout_name,
                one.default_plugins | {target, f"{target}/*"},
                one.included_categories,
                (*one.discoverable_patterns, "*", f"{target}/*"),
                one.disabled_plugins | ({target.upper()} if number == level else set()),
            )
        )
    leaf = f"level{len(descendants) - 1}"
    resolution = registry.resolve(leaf, catalog)
    for plugin in catalog.plugins:
        if plugin.name == target:
            assert resolution.plugin_status(plugin) is Status.DISABLED
            assert resolution.tools_of(plugin, Status.DISABLED) == plugin.tools
    for available in ([target], list(catalog.plugins)):
        assert target not in registry.resolve_active_plugins(leaf, available)
        assert target not in registry.resolve_discoverable_plugins(leaf, available)


@SOME
@given(registries, asked, catalogs)
def test_L9_a_disabled_tool_is_never_shown_whatever_its_plugin(
    registry: ToolLoadoutRegistry, name: str, catalog: Catalog
) -> None:
    entries_of_chain = {e for loadout in registry.trace_lineage(name).loadouts for e in loadout.disabled_plugins}
    for tool in registry.resolve(name, catalog).active_tools:
        assert tool.path.casefold() not in {entry.casefold() for entry in entries_of_chain}
        assert (tool.plugin or "").casefold() not in {entry.casefold() for entry in entries_of_chain}


IMPLIED = {
    Rule.DISABLED: Status.DISABLED,
    Rule.NAMED: Status.ACTIVE,
    Rule.CATEGORY: Status.ACTIVE,
    Rule.DISCOVERABLE: Status.DISCOVERABLE,
    Rule.UNMATCHED: Status.HIDDEN,
}


@MANY
@given(registries, asked, catalogs)
def test_L8_why_never_contradicts_the_resolution(registry: ToolLoadoutRegistry, name: str, catalog: Catalog) -> None:
    resolution = registry.resolve(name, catalog)
    written = {loadout.name: loadout for loadout in resolution.chain}
    for plugin in catalog.plugins:
        decisions = [(resolution.why(plugin.name), resolution.plugin_status(plugin))]
        decisions += [(resolution.why(tool.id), resolution.tool_status(plugin, tool)) for tool in plugin.tools]
        for decision, status in decisions:
            assert decision.status is status
            assert decision.reasons
            assert decision.reasons[0].decides
            assert tuple(step.loadout for step in decision.chain) == resolution.lineage
            for reason in decision.reasons:
                assert (IMPLIED[reason.rule] is status) or not reason.decides
                if reason.rule is Rule.UNMATCHED:
                    continue
                one = written[reason.loadout]
                assert (
                    reason.entry
                    in {
                        Rule.DISABLED: one.disabled_plugins,
                        Rule.NAMED: one.default_plugins,
                        Rule.CATEGORY: one.included_categories,
                        Rule.DISCOVERABLE: one.discoverable_patterns,
                    }[reason.rule]
                )


@SOME
@given(registries, asked, catalogs)
def test_L8_the_strongest_rule_that_speaks_of_a_tool_decides_it(
    registry: ToolLoadoutRegistry, name: str, catalog: Catalog
) -> None:
    resolution = registry.resolve(name, catalog)
    for tool in catalog.tools:
        decision = resolution.why(tool.id)
        spoken = {rule for step in decision.chain for rule, found in step.entries() if found}
        first = next((rule for rule in Rule if rule in spoken), Rule.UNMATCHED)
        assert decision.status is IMPLIED[first]


@SOME
@given(registries, asked, catalogs)
def test_L8_the_parts_of_a_plugin_add_up(registry: ToolLoadoutRegistry, name: str, catalog: Catalog) -> None:
    resolution = registry.resolve(name, catalog)
    for plugin in catalog.plugins:
        parts = dict(resolution.explain_plugin(plugin).parts)
        counted = {status: len(resolution.tools_of(plugin, status)) for status in Status}
        if parts:
            assert parts == {status: count for status, count in counted.items() if count}
            assert len(parts) > 1
        else:
            assert sum(count > 0 for count in counted.values()) <= 1
