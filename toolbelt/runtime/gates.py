"""The gates that a tool passes to be shown, and again to be called (rules R2, R3)."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from toolbelt.errors import InvalidDefinitionError
from toolbelt.patterns import fold
from toolbelt.runtime.availability import LISTING_SECONDS
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.threads import FunctionOutcome
from toolbelt.text import show_value

MCP_PREFIX = "mcp__"
"""What the names of tools of MCP servers begin with: `mcp__<server>__<tool>`."""


class RefusalReason(StrEnum):
    """Why a tool is neither shown nor run; the value is the text for the model, with the detail of the refusal."""

    EXCLUDED = "is not permitted here: it is excluded"
    NOT_ALLOWED = "is not permitted here: it is not among the allowed tools"
    MCP_SERVER = "is not permitted here: its MCP server {} is not allowed"
    MCP_TOOL = "is not permitted here: it is not among the allowed MCP tools"
    EXTENSION = "is not permitted here: its extension {} is not allowed"
    UNAVAILABLE = "is not currently available"
    AVAILABILITY_SILENT = "is not currently available: its is_available does not answer"
    AVAILABILITY_RAISED = "is not currently available: its is_available raised {}"
    NO_BACKEND = "is not currently available: nothing here provides {}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a tool is neither shown nor run.

    Attributes:
        tool: Name of the tool.
        reason: The gate that the tool does not pass.
        detail: The server, extension, exception type or missing capabilities.
    """

    tool: str
    reason: RefusalReason
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.tool} {self.reason.format(self.detail)}."


@dataclass(frozen=True)
class FilterOpts:
    """Which tools of servers and extensions pass; `None` means unrestricted, empty means none.

    Names are stored as a frozenset; a single string is one name.

    Attributes:
        exclude_tools: Tools that never pass, also built-in ones: by name, id, `plugin/name` or wire name, in any case;
            blanks around a name and characters that cannot be seen do not count.
        allowed_mcp_servers: Servers whose `mcp__<server>__*` tools pass; `None` for all, empty for none. A tool whose
            name does not state which of several servers it is of passes only if each of them is allowed.
        allowed_mcp_tools: Names of the `mcp__*` tools that pass; `None` for all, empty for none.
        allowed_plugins: Extensions (`plugin_id`) whose tools pass; `None` for all, empty for none.
        excluded_keys: `exclude_tools` as names are compared.

    Raises:
        InvalidDefinitionError: something that is no list of names; a blank entry of `exclude_tools`.
    """

    exclude_tools: Collection[str] = frozenset()
    allowed_mcp_servers: Collection[str] | None = None
    allowed_mcp_tools: Collection[str] | None = None
    allowed_plugins: Collection[str] | None = None
    excluded_keys: frozenset[str] = field(init=False, repr=False, compare=False, default=frozenset())

    def __post_init__(self) -> None:
        object.__setattr__(self, "exclude_tools", _names("exclude_tools", self.exclude_tools) or frozenset())
        for entry in self.exclude_tools:
            if not _key(entry):  # it would exclude nothing
                raise InvalidDefinitionError(f"An entry of exclude_tools must not be blank, as {show_value(entry)} is.")
        object.__setattr__(self, "excluded_keys", frozenset(map(_key, self.exclude_tools)))
        for part in ("allowed_mcp_servers", "allowed_mcp_tools", "allowed_plugins"):
            object.__setattr__(self, part, _names(part, getattr(self, part)))


@dataclass(frozen=True, slots=True)
class RegisteredTool:
    """A tool of a registry.

    Attributes:
        tool: The tool.
        plugin_id: The extension that provides it; `None` for a built-in tool.
        wire_name: In its registry; empty before it is known.
    """

    tool: ExecutableTool
    plugin_id: str | None = None
    wire_name: str = ""

    @property
    def keys(self) -> frozenset[str]:
        """Everything that the tool can be named by, as names are compared."""
        tool = self.tool
        return frozenset(map(_key, (tool.name, tool.id, tool.path, self.wire_name or tool.name)))

    @property
    def owner(self) -> str:
        """Who may register the name again: the built-in tools, an extension, or an MCP server (rule R1)."""
        if self.plugin_id is not None:
            return f"extension {self.plugin_id!r}"
        if self.mcp_servers:
            return f"MCP server {' or '.join(map(repr, self.mcp_servers))}"
        return "the built-in tools"

    @property
    def whose(self) -> str:
        """The owner, with the plugin that groups the tool, for messages."""
        plugin = "" if self.tool.plugin is None or self.mcp_servers else f"plugin {self.tool.plugin!r} of "
        return f"{plugin}{self.owner}"

    def is_of_another(self, other: RegisteredTool) -> bool:
        """Whether the other is of another owner, or of another plugin of the same one, so that neither may replace it.

        A tool without a plugin may be meant for any.
        """
        plugins = {fold(tool.plugin) for tool in (self.tool, other.tool) if tool.plugin is not None}
        return self.owner != other.owner or len(plugins) > 1

    @property
    def is_built_in(self) -> bool:
        """Whether the allow-list applies: the tool is of no MCP server and of no extension."""
        return self.plugin_id is None and not self.tool.name.startswith(MCP_PREFIX)

    @property
    def mcp_servers(self) -> tuple[str, ...]:
        """The MCP servers that may have the tool, shortest name first: its plugin if the name begins with that.

        The name alone does not state whether `mcp__a__b__c` is `c` of server `a__b` or `b__c` of server `a`, so both
        are listed. Empty for a tool of no MCP server.
        """
        name, plugin = self.tool.name, self.tool.plugin
        if not name.startswith(MCP_PREFIX):
            return ()
        if plugin and name.startswith(f"{MCP_PREFIX}{plugin}__"):
            return (plugin,)
        rest = name.removeprefix(MCP_PREFIX)
        cuts = [cut for cut in range(len(rest)) if rest.startswith("__", cut)]
        return tuple(rest[:cut] for cut in cuts) or (rest,)


@dataclass(frozen=True)
class Gates:
    """The allow-list and filters of one request for definitions, or of one batch.

    Attributes:
        allowed_tools: Names of the built-in tools that pass; `None` for all.
        filters: For the tools of servers and extensions.
        backends: The capabilities that have a backend.
    """

    allowed_tools: frozenset[str] | None
    filters: FilterOpts
    backends: frozenset[str]

    @classmethod
    def of(
        cls, allowed_tools: Iterable[str] | None, filter_opts: FilterOpts | None, backends: Mapping[str, object]
    ) -> Gates:
        """Gates from the arguments of a registry's methods; a single string is one name.

        Raises:
            InvalidDefinitionError: an argument of another type.
        """
        filters: object = NO_FILTERS if filter_opts is None else filter_opts
        if not isinstance(filters, FilterOpts):
            raise InvalidDefinitionError(f"The filter_opts must be FilterOpts(...), not {show_value(filters)}.")
        return cls(_names("allowed_tools", allowed_tools), filters, frozenset(backends))

    def find_refusal(self, registered: RegisteredTool) -> Refusal | None:
        """Why a tool is neither shown nor run; `None` if it passes. An excluded tool is not asked for availability."""
        return self.find_exclusion(registered) or find_unavailability(registered.tool, self.backends)

    def find_exclusion(self, registered: RegisteredTool) -> Refusal | None:
        """Why the lists exclude a tool; whether the tool is available is another question."""
        tool, filters = registered.tool, self.filters
        name = tool.name
        if filters.excluded_keys and not filters.excluded_keys.isdisjoint(registered.keys):
            return Refusal(name, RefusalReason.EXCLUDED)
        if registered.is_built_in and not tool.always_include:
            if self.allowed_tools is not None and name not in self.allowed_tools:
                return Refusal(name, RefusalReason.NOT_ALLOWED)
            return None
        if servers := registered.mcp_servers:
            allowed = filters.allowed_mcp_servers
            if allowed is not None and (barred := [server for server in servers if server not in allowed]):
                return Refusal(name, RefusalReason.MCP_SERVER, repr(barred[0]))
            if filters.allowed_mcp_tools is not None and name not in filters.allowed_mcp_tools:
                return Refusal(name, RefusalReason.MCP_TOOL)
        plugin_id = registered.plugin_id
        if plugin_id is not None and filters.allowed_plugins is not None and plugin_id not in filters.allowed_plugins:
            return Refusal(name, RefusalReason.EXTENSION, repr(plugin_id))
        return None


def find_unavailability(tool: ExecutableTool, backends: Iterable[str]) -> Refusal | None:
    """Why a tool is not available: by its own statement, or because a capability has no backend."""
    return next(ask_are_available((tool,)), None) or find_missing_backends(tool, backends)


def find_missing_backends(tool: ExecutableTool, backends: Iterable[str]) -> Refusal | None:
    """The capabilities of a tool that have no backend; `None` if all have one (rule R6)."""
    if tool.capabilities and (missing := sorted(tool.capabilities.difference(backends))):
        return Refusal(tool.name, RefusalReason.NO_BACKEND, ", ".join(missing))
    return None


def ask_are_available(tools: Iterable[ExecutableTool]) -> Iterator[Refusal]:
    """Why tools are not available by their own `is_available`; nothing for those that are.

    All are asked at once, and have `LISTING_SECONDS` together.
    """
    pending = [(tool, tool.availability, tool.availability.ask()) for tool in tools if tool.availability is not None]
    for tool, availability, answer in pending:
        if (refusal := read_availability(tool, availability.wait(answer, LISTING_SECONDS))) is not None:
            yield refusal


def read_availability(tool: ExecutableTool, outcome: FunctionOutcome | None) -> Refusal | None:
    """Why a tool is not available; `None` if it is.

    Args:
        tool: The tool that was asked.
        outcome: Its answer; `None` if it did not answer in time.
    """
    if outcome is None:
        return Refusal(tool.name, RefusalReason.AVAILABILITY_SILENT)
    if outcome.error is not None:
        return Refusal(tool.name, RefusalReason.AVAILABILITY_RAISED, type(outcome.error).__name__)
    return None if outcome.returned else Refusal(tool.name, RefusalReason.UNAVAILABLE)


def _key(name: str) -> str:
    """As names are compared in a deny list, which may have been `read, write`, and in which nothing may hide."""
    if not name.isprintable():
        name = "".join(character for character in name if unicodedata.category(character) not in ("Cc", "Cf"))
    return fold(name.strip())


def _names(part: str, names: Iterable[str] | None) -> frozenset[str] | None:
    if names is None:
        return None
    if isinstance(names, str):
        return frozenset((names,))
    if isinstance(names, Mapping | bytes) or not isinstance(names, Iterable):
        raise InvalidDefinitionError(f"{part} must be a list of names, not {show_value(names)}.")
    listed = tuple(names)
    if any(not issubclass(kind, str) for kind in set(map(type, listed))):
        raise InvalidDefinitionError(f"{part} must be a list of names, and names are text, in {show_value(listed)}.")
    return frozenset(listed)


NO_FILTERS = FilterOpts()
"""Lets every tool pass."""
