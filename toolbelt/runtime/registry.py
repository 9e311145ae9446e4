"""The executable tools of an agent: registered, shown as definitions, run when a model calls them (rules R1 to R7)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.definitions import DEFINITION_FORMATS, rewrite_name
from toolbelt.catalog.frozen import thaw
from toolbelt.errors import InvalidDefinitionError, NotFoundError, suggestion
from toolbelt.patterns import find_name_problem
from toolbelt.runtime.context import EMPTY_CONTEXT, Capability, ToolContext
from toolbelt.runtime.executable import ExecutableTool, as_executable
from toolbelt.runtime.execution import BatchRunner, read_calls, split_attachments
from toolbelt.runtime.gates import (
    FilterOpts,
    Gates,
    RegisteredTool,
    ask_are_available,
    find_missing_backends,
)
from toolbelt.runtime.guards import AuditSink
from toolbelt.runtime.reducers.reducer import ReducerRegistry
from toolbelt.runtime.results import CallResult
from toolbelt.runtime.snapshot import LITE, RegistrySnapshot
from toolbelt.runtime.time_limits import DEFAULT_TIMEOUT_SECONDS
from toolbelt.text import show_value

_log = logging.getLogger(__name__)


class ToolRegistry:
    """Holds executable tools by name, shows those that pass the gates, and runs what a model calls.

        registry = ToolRegistry()
        registry.register(read_file)                               # any function, or an ExecutableTool
        definitions = registry.to_definitions(form="openai")       # for the request
        results = await registry.execute_parallel(message.tool_calls)

    A tool that is shown can be called, and no other tool can. Each listing and each batch uses the tools as they were
    when it began, so several tasks and threads may list and run while one registers. Two must not register at once.

    Args:
        tools: Registered at once, in order.
        backends: Serve the capabilities that tools declare, by name. A callable value, sync or async, is called with
            the tool and the `ToolContext` of each call; the tool finds what it returns in `context.backends`. Any
            other value is found there as it is.
        reducers: Shorten results before they are cut; `None` for none.
        audit: Gets every decision of a guard before the tool runs; sync or async. If it raises, the tool does not run.
        default_timeout_seconds: The time limit of tools that have none; `None` for no limit.
        reserved: Tools that may be registered later. Wire names depend on all tools; these count from the start, so
            that no wire name changes when they are registered.

    Raises:
        InvalidDefinitionError: a backend of an unknown capability, or as `register`.
    """

    def __init__(
        self,
        tools: Iterable[ExecutableTool | Callable[..., Any]] = (),
        *,
        backends: Mapping[str, Any] | None = None,
        reducers: ReducerRegistry | None = None,
        audit: AuditSink | None = None,
        default_timeout_seconds: float | None = DEFAULT_TIMEOUT_SECONDS,
        reserved: Iterable[Tool] = (),
    ) -> None:
        known = [capability.value for capability in Capability]
        for name in backends or ():
            if name not in known:
                raise InvalidDefinitionError(str(NotFoundError("capability", name, known)))
        self.backends: Mapping[str, Any] = MappingProxyType(dict(backends or {}))
        self.reducers = reducers
        self.audit = audit
        self.default_timeout_seconds = default_timeout_seconds
        self._entries: dict[str, RegisteredTool] = {}
        self._rewritten: dict[str, str] = {}
        self._plugins: dict[str, Plugin] = {}
        self._reserved = tuple(reserved)
        self._checked_exclusions: set[str] = set()
        self._snapshot = RegistrySnapshot({}, {})
        self.register_all(tools)

    def register(self, tool: ExecutableTool | Callable[..., Any], *, plugin_id: str | None = None) -> None:
        """Add a tool; one of the same name and the same owner is overwritten where it stands.

        Args:
            tool: A function is made into one by `ExecutableTool.of`.
            plugin_id: The extension that brings it (rule R1): its tools are let through by
                `FilterOpts.allowed_plugins`, not by the allow-list. It is not the plugin that groups tools, which is
                `ExecutableTool.plugin`.

        Raises:
            InvalidDefinitionError: a function that cannot be a tool, a `Tool` that cannot be run, a `plugin_id` that is
                no name, a name that another owner (the built-in tools, an extension, an MCP server) or another plugin
                has registered, or that providers know one of its tools by, as its own name is not legal for them.
        """
        self.register_all((tool,), plugin_id=plugin_id)

    def register_all(
        self, tools: Iterable[ExecutableTool | Callable[..., Any]] | Plugin, *, plugin_id: str | None = None
    ) -> None:
        """Add tools, in order; of a `Plugin`, the category is kept as well.

        Raises:
            InvalidDefinitionError: as `register`; then none of them is added.
        """
        if plugin_id is not None and (problem := find_name_problem(plugin_id)) is not None:
            raise InvalidDefinitionError(f"The plugin_id of an extension {problem}.")
        added: dict[str, RegisteredTool] = {}
        rewritten = dict(self._rewritten)
        for tool in tools.tools if isinstance(tools, Plugin) else tools:
            entry = RegisteredTool(as_executable(tool), plugin_id)
            name = entry.tool.name
            wire_name = rewrite_name(name)
            for other in (name, rewritten.get(name), wire_name):
                there = None if other is None else added.get(other) or self._entries.get(other)
                if there is None:
                    continue
                if entry.is_of_another(there) if other == name else entry.owner != there.owner:
                    shown = f"take the place of that of {there.whose}"
                    if other != name:
                        shown = f"have the wire name {wire_name!r}, as {other!r} of {there.whose} has"
                    raise InvalidDefinitionError(
                        f"The tool {name!r} of {entry.whose} would {shown}. "
                        "Give it another name, or unregister the other one first."
                    )
            added[name] = entry
            if wire_name != name:
                rewritten[wire_name] = name
        if isinstance(tools, Plugin):
            self._plugins[tools.key] = tools
        self._entries.update(added)
        self._rewritten = rewritten
        self._update_snapshot()

    def unregister(self, name: str) -> None:
        """Remove a tool; nothing happens where there is none of that name."""
        if self._entries.pop(name, None) is not None:
            self._rewritten = {rewrite_name(other): other for other in self._rewritten.values() if other != name}
            self._update_snapshot()

    def get(self, name: str) -> ExecutableTool | None:
        """The tool of that name; `None` if there is none."""
        entry = self._entries.get(name)
        return None if entry is None else entry.tool

    def get_plugin_id(self, name: str) -> str | None:
        """The extension that provides a tool; `None` for a built-in tool, and if there is no tool of that name."""
        entry = self._entries.get(name)
        return None if entry is None else entry.plugin_id

    def get_all(self) -> tuple[ExecutableTool, ...]:
        """Every tool, in order of registration."""
        return tuple(entry.tool for entry in self._entries.values())

    def get_available(self) -> tuple[ExecutableTool, ...]:
        """The tools that are available now: by their own statement, and with a backend for each capability."""
        tools = self.get_all()
        absent = {refusal.tool for refusal in ask_are_available(tools)}
        return tuple(
            tool for tool in tools if tool.name not in absent and find_missing_backends(tool, self.backends) is None
        )

    def get_for_toolset(self, toolset: str) -> tuple[ExecutableTool, ...]:
        """The tools of a group, available or not, in order of registration."""
        return tuple(entry.tool for entry in self._entries.values() if entry.tool.toolset == toolset)

    def to_definitions(
        self,
        allowed_tools: Iterable[str] | None = None,
        filter_opts: FilterOpts | None = None,
        *,
        form: str = LITE,
    ) -> list[dict[str, Any]]:
        """The definitions for the model, in order of registration; identical to the byte as long as nothing changes.

        Args:
            allowed_tools: Names of the built-in tools that pass; `None` for all, empty for none (rule R2).
            filter_opts: Which other tools pass.
            form: `lite` for `{name, description, parameters}`, with parameters that cannot be changed; else a
                provider's (`openai`, `litellm`, `anthropic`, `mcp`), with plain values that the caller may change.

        Raises:
            NotFoundError: an unknown form, with the nearest.
        """
        if form != LITE and form not in DEFINITION_FORMATS:
            raise NotFoundError("form", form, (LITE, *DEFINITION_FORMATS))
        gates = Gates.of(allowed_tools, filter_opts, self.backends)
        self._log_unmatched(gates.filters)
        definitions = self._snapshot.definitions(form, gates)
        if form == LITE:
            return [dict(definition) for definition in definitions]
        return [thaw(definition) for definition in definitions]

    async def execute_parallel(
        self,
        calls: Iterable[Any],
        ctx: ToolContext | None = None,
        allowed_tools: Iterable[str] | None = None,
        filter_opts: FilterOpts | None = None,
        attachments: Sequence[Any] = (),
    ) -> list[CallResult]:
        """Run calls at once; returns a result for each, in the order of the calls, whatever happens (rules R3 to R7).

        Args:
            calls: Each a `ToolCall`, or what `ToolCall.of` reads, such as a provider's.
            ctx: The context of the batch.
            allowed_tools: As in `to_definitions`.
            filter_opts: As in `to_definitions`.
            attachments: Of the turn, for tools that declare the capability.

        Returns:
            Results with `tool_call_id`, `name` and `result`. A failure is a result with a code, not an exception;
            only a cancellation is raised.

        Raises:
            InvalidDefinitionError: a `ctx`, `allowed_tools` or `filter_opts` of another type, before any call runs.
        """
        snapshot = self._snapshot
        gates = Gates.of(allowed_tools, filter_opts, self.backends)
        self._log_unmatched(gates.filters)
        around: object = EMPTY_CONTEXT if ctx is None else ctx
        if not isinstance(around, ToolContext):
            raise InvalidDefinitionError(f"The ctx must be ToolContext(...), not {show_value(around)}.")
        context, attachments = split_attachments(around, attachments)
        runner = BatchRunner(
            gates,
            # Both from one snapshot: what one call of the batch registers is not there for another (rule L14).
            snapshot.find,
            lambda: snapshot.unconditional_names(gates),
            context,
            attachments,
            self.backends,
            self.reducers,
            self.audit,
            self.default_timeout_seconds,
        )
        return await runner.run(read_calls(calls))

    def find(self, name: str) -> RegisteredTool | None:
        """The tool of a name that a model wrote: its own name, its wire name, or its id."""
        return self._snapshot.find(name)

    def narrowed(
        self, names: Iterable[str], *, first: Iterable[ExecutableTool] = (), reserved: Iterable[Tool] = ()
    ) -> ToolRegistry:
        """A new registry with some of the tools, as they are now; later changes of one do not reach the other.

        Extensions, backends, reducers, audit sink and default time limit are copied, and so are all plugins, so that
        tools which are added later have a category. Wire names stay the same: tools that are left out are reserved.

        Args:
            names: Of the tools, in the new order; unknown names are left out.
            first: Tools that come before all others.
            reserved: More tools, as in `ToolRegistry`.
        """
        narrowed = ToolRegistry(
            first,
            backends=self.backends,
            reducers=self.reducers,
            audit=self.audit,
            default_timeout_seconds=self.default_timeout_seconds,
            reserved=(*self._reserved, *self.get_all(), *reserved),
        )
        narrowed._plugins.update(self._plugins)
        narrowed._rewritten.update(self._rewritten)
        narrowed._checked_exclusions = self._checked_exclusions
        narrowed._entries.update((name, self._entries[name]) for name in names if name in self._entries)
        narrowed._update_snapshot()
        return narrowed

    @property
    def wire_names(self) -> Mapping[str, str]:
        """The wire names by name, of registered and reserved tools: the name itself where that is legal."""
        return self._snapshot.wire_names

    @property
    def catalog(self) -> Catalog:
        """The registered tools by plugin, for loadouts; a tool without plugin is a plugin of its own name."""
        return self._snapshot.catalog

    def _log_unmatched(self, filters: FilterOpts) -> None:
        """Log each entry of a deny list that names nothing, once: what it was meant to exclude is shown."""
        for entry in sorted(filters.excluded_keys - self._checked_exclusions):
            self._checked_exclusions.add(entry)
            if entry not in self._snapshot.keys:
                hint = suggestion(entry, sorted(self._snapshot.keys))
                _log.warning("exclude_tools names %r, which is no tool here.%s", entry, hint)

    def _update_snapshot(self) -> None:
        # One assignment: a listing or batch that has begun keeps the old snapshot.
        self._snapshot = RegistrySnapshot(self._entries, self._plugins, self._reserved)
