"""What a loadout makes of a catalog, with the reasons (rule L8)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import NotFoundError
from toolbelt.loadouts.decision import Decision, reasons_for, trace
from toolbelt.loadouts.loadout import ToolLoadout
from toolbelt.loadouts.selection import Selection, Status, active_tools


@dataclass(frozen=True, eq=False, repr=False)
class Resolution:
    """Every plugin and tool of a catalog, decided.

    Attributes:
        loadout: The name asked for.
        chain: The loadouts that were merged, root first; empty if the name is unknown, and all is hidden then.
        catalog: What was decided about.
        broken: Why the chain ended early, `None` if it did not.
    """

    loadout: str
    chain: tuple[ToolLoadout, ...]
    catalog: Catalog
    broken: str | None = None

    @property
    def lineage(self) -> tuple[str, ...]:
        """Names of the chain, root first."""
        return tuple(loadout.name for loadout in self.chain)

    @property
    def active_plugins(self) -> tuple[str, ...]:
        """Names of plugins with at least one tool shown, in catalog order."""
        return self._plugins_by_status[Status.ACTIVE]

    @property
    def discoverable_plugins(self) -> tuple[str, ...]:
        """Names of plugins that may be asked for."""
        return self._plugins_by_status[Status.DISCOVERABLE]

    @property
    def disabled_plugins(self) -> tuple[str, ...]:
        """Names of plugins that are blocked."""
        return self._plugins_by_status[Status.DISABLED]

    @property
    def hidden_plugins(self) -> tuple[str, ...]:
        """Names of plugins that are neither shown, nor to be asked for, nor blocked."""
        return self._plugins_by_status[Status.HIDDEN]

    @cached_property
    def active_tools(self) -> tuple[Tool, ...]:
        """The tools that are shown, in catalog order."""
        return () if self._selection is None else active_tools(self._selection, self.catalog.plugins)

    def tools_with(self, status: Status) -> tuple[Tool, ...]:
        """The tools of that status, in catalog order."""
        return self.active_tools if status is Status.ACTIVE else self._tools_by_status[status]

    def tools_of(self, plugin: Plugin, status: Status) -> tuple[Tool, ...]:
        """The tools of one plugin that have that status."""
        return tuple(tool for tool in plugin.tools if self.tool_status(plugin, tool) is status)

    def plugin_status(self, plugin: Plugin) -> Status:
        """What became of a plugin."""
        return Status.HIDDEN if self._selection is None else self._selection.plugin_status(plugin)

    def tool_status(self, plugin: Plugin, tool: Tool) -> Status:
        """What became of a tool."""
        return Status.HIDDEN if self._selection is None else self._selection.tool_status(plugin, tool)

    def why(self, name: str) -> Decision:
        """What became of a plugin or tool, and why.

        Args:
            name: A plugin's name, else a tool's id, `plugin/name`, or bare name that one tool alone bears.

        Raises:
            NotFoundError: neither a plugin nor a tool, with the nearest names of both.
            AmbiguousNameError: several tools bear the name.
        """
        if (plugin := self.catalog.find_plugin(name)) is not None:
            return self.explain_plugin(plugin)
        try:
            tool = self.catalog.get_tool(name)
        except NotFoundError as error:
            known = [*(plugin.name for plugin in self.catalog.plugins), *error.known]
            raise NotFoundError("plugin or tool", name, known) from None
        return self._explain_tool(tool)

    def explain_plugin(self, plugin: Plugin) -> Decision:
        """What became of a plugin, and why."""
        status = self.plugin_status(plugin)
        steps = trace(self.chain, plugin, plugin.tools)
        parts = Counter(self.tool_status(plugin, tool) for tool in plugin.tools)
        return Decision(
            name=plugin.name,
            kind="plugin",
            plugin=plugin.name,
            category=plugin.effective_category,
            status=status,
            reasons=reasons_for(status, steps, self.loadout),
            chain=steps,
            parts=tuple((part, parts[part]) for part in Status if parts[part]) if len(parts) > 1 else (),
        )

    def _explain_tool(self, tool: Tool) -> Decision:
        plugin = self.catalog.get_plugin(tool.plugin or "")
        status = self.tool_status(plugin, tool)
        steps = trace(self.chain, plugin, (tool,))
        return Decision(
            name=tool.id,
            kind="tool",
            plugin=plugin.name,
            category=plugin.effective_category,
            status=status,
            reasons=reasons_for(status, steps, self.loadout),
            chain=steps,
        )

    @cached_property
    def _selection(self) -> Selection | None:
        return Selection.of(self.chain)

    @cached_property
    def _plugins_by_status(self) -> dict[Status, tuple[str, ...]]:
        made: dict[Status, list[str]] = {status: [] for status in Status}
        for plugin in self.catalog.plugins:
            made[self.plugin_status(plugin)].append(plugin.name)
        return {status: tuple(names) for status, names in made.items()}

    @cached_property
    def _tools_by_status(self) -> dict[Status, tuple[Tool, ...]]:
        made: dict[Status, list[Tool]] = {status: [] for status in Status}
        for plugin in self.catalog.plugins:
            for tool in plugin.tools:
                made[self.tool_status(plugin, tool)].append(tool)
        return {status: tuple(tools) for status, tools in made.items()}
