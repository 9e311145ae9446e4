"""toolbelt decides which tools an LLM agent sees, and proves with evals that the decision is right.

Names are loaded when first used, so that a command that needs none of them starts at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from toolbelt.agents import AgentSession, SubagentRunner, SubagentType, scoped_registry
    from toolbelt.catalog import PLUGIN_CATEGORY_MAP, Catalog, Plugin, Tool, ToolCategory
    from toolbelt.errors import ToolbeltError
    from toolbelt.loadouts import (
        Decision,
        Resolution,
        ToolLoadout,
        ToolLoadoutBuilder,
        ToolLoadoutRegistry,
        WellKnownLoadouts,
    )
    from toolbelt.runtime.context import Capability, ToolContext
    from toolbelt.runtime.executable import ExecutableTool
    from toolbelt.runtime.gates import FilterOpts
    from toolbelt.runtime.guards import ALLOW, AuditRecord, GuardDecision, ask_person, refuse
    from toolbelt.runtime.reducers.read_file import ReadFileReducer
    from toolbelt.runtime.reducers.records import RecordsReducer
    from toolbelt.runtime.reducers.reducer import ReducerRegistry
    from toolbelt.runtime.reducers.shell import ShellReducer
    from toolbelt.runtime.reducers.shipped import default_reducers
    from toolbelt.runtime.registry import ToolRegistry
    from toolbelt.runtime.results import CallResult, FailureCode, ToolCall, ToolResult
    from toolbelt.sessions.agent import AgentSpec
    from toolbelt.sessions.bundles import expand_over
    from toolbelt.sessions.dynamic import DynamicToolkits
    from toolbelt.sessions.sessions import DynamicSessions
    from toolbelt.sessions.store import MemorySessionStore, SessionStore
    from toolbelt.sessions.turn import Turn
    from toolbelt.stores.config import Config, read_config
    from toolbelt.stores.sessions import SqliteSessionStore
    from toolbelt.toolkits.assembly import SubApp, assemble
    from toolbelt.toolkits.directive import DirectiveRule, DirectiveRules
    from toolbelt.toolkits.expand import expand_toolkits
    from toolbelt.toolkits.policy import PolicyText, build_policy
    from toolbelt.toolkits.switches import ToolkitCatalog
    from toolbelt.toolkits.tool_choice import format_tool_choice
    from toolbelt.toolkits.toolkit import Directive, Toolkit, ToolSpec

__all__ = [
    "ALLOW",
    "PLUGIN_CATEGORY_MAP",
    "AgentSession",
    "AgentSpec",
    "AuditRecord",
    "CallResult",
    "Capability",
    "Catalog",
    "Config",
    "Decision",
    "Directive",
    "DirectiveRule",
    "DirectiveRules",
    "DynamicSessions",
    "DynamicToolkits",
    "ExecutableTool",
    "FailureCode",
    "FilterOpts",
    "GuardDecision",
    "MemorySessionStore",
    "Plugin",
    "PolicyText",
    "ReadFileReducer",
    "RecordsReducer",
    "ReducerRegistry",
    "Resolution",
    "SessionStore",
    "ShellReducer",
    "SqliteSessionStore",
    "SubApp",
    "SubagentRunner",
    "SubagentType",
    "Tool",
    "ToolCall",
    "ToolCategory",
    "ToolContext",
    "ToolLoadout",
    "ToolLoadoutBuilder",
    "ToolLoadoutRegistry",
    "ToolRegistry",
    "ToolResult",
    "ToolSpec",
    "ToolbeltError",
    "Toolkit",
    "ToolkitCatalog",
    "Turn",
    "WellKnownLoadouts",
    "ask_person",
    "assemble",
    "build_policy",
    "default_reducers",
    "expand_over",
    "expand_toolkits",
    "format_tool_choice",
    "read_config",
    "refuse",
    "scoped_registry",
]

_MODULES = {
    "toolbelt.agents": (
        "AgentSession",
        "SubagentRunner",
        "SubagentType",
        "scoped_registry",
    ),
    "toolbelt.catalog": (
        "Catalog",
        "PLUGIN_CATEGORY_MAP",
        "Plugin",
        "Tool",
        "ToolCategory",
    ),
    "toolbelt.errors": ("ToolbeltError",),
    "toolbelt.loadouts": (
        "Decision",
        "Resolution",
        "ToolLoadout",
        "ToolLoadoutBuilder",
        "ToolLoadoutRegistry",
        "WellKnownLoadouts",
    ),
    "toolbelt.runtime.context": (
        "Capability",
        "ToolContext",
    ),
    "toolbelt.runtime.executable": ("ExecutableTool",),
    "toolbelt.runtime.gates": ("FilterOpts",),
    "toolbelt.runtime.guards": (
        "ALLOW",
        "AuditRecord",
        "GuardDecision",
        "ask_person",
        "refuse",
    ),
    "toolbelt.runtime.reducers.read_file": ("ReadFileReducer",),
    "toolbelt.runtime.reducers.records": ("RecordsReducer",),
    "toolbelt.runtime.reducers.reducer": ("ReducerRegistry",),
    "toolbelt.runtime.reducers.shell": ("ShellReducer",),
    "toolbelt.runtime.reducers.shipped": ("default_reducers",),
    "toolbelt.runtime.registry": ("ToolRegistry",),
    "toolbelt.runtime.results": (
        "CallResult",
        "FailureCode",
        "ToolCall",
        "ToolResult",
    ),
    "toolbelt.sessions.agent": ("AgentSpec",),
    "toolbelt.sessions.dynamic": ("DynamicToolkits",),
    "toolbelt.sessions.bundles": ("expand_over",),
    "toolbelt.sessions.sessions": ("DynamicSessions",),
    "toolbelt.sessions.store": (
        "MemorySessionStore",
        "SessionStore",
    ),
    "toolbelt.sessions.turn": ("Turn",),
    "toolbelt.stores.config": (
        "Config",
        "read_config",
    ),
    "toolbelt.stores.sessions": ("SqliteSessionStore",),
    "toolbelt.toolkits.assembly": (
        "SubApp",
        "assemble",
    ),
    "toolbelt.toolkits.directive": (
        "DirectiveRule",
        "DirectiveRules",
    ),
    "toolbelt.toolkits.expand": ("expand_toolkits",),
    "toolbelt.toolkits.policy": (
        "PolicyText",
        "build_policy",
    ),
    "toolbelt.toolkits.switches": ("ToolkitCatalog",),
    "toolbelt.toolkits.tool_choice": ("format_tool_choice",),
    "toolbelt.toolkits.toolkit": (
        "Directive",
        "ToolSpec",
        "Toolkit",
    ),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
