"""toolbelt decides which tools an LLM agent sees, and proves with evals that the decision is right.

Names are loaded when first used, so that a command that needs none of them starts at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:  # the same names for type checkers and editors; a test compares the two
    from toolbelt.agents import AgentSession as AgentSession
    from toolbelt.agents import LoadoutPolicy as LoadoutPolicy
    from toolbelt.agents import SubagentRunner as SubagentRunner
    from toolbelt.agents import SubagentType as SubagentType
    from toolbelt.agents import scoped_registry as scoped_registry
    from toolbelt.catalog import PLUGIN_CATEGORY_MAP as PLUGIN_CATEGORY_MAP
    from toolbelt.catalog import Catalog as Catalog
    from toolbelt.catalog import Plugin as Plugin
    from toolbelt.catalog import Tool as Tool
    from toolbelt.catalog import ToolCategory as ToolCategory
    from toolbelt.errors import ToolbeltError as ToolbeltError
    from toolbelt.loadouts import Decision as Decision
    from toolbelt.loadouts import Resolution as Resolution
    from toolbelt.loadouts import ToolLoadout as ToolLoadout
    from toolbelt.loadouts import ToolLoadoutBuilder as ToolLoadoutBuilder
    from toolbelt.loadouts import ToolLoadoutRegistry as ToolLoadoutRegistry
    from toolbelt.loadouts import WellKnownLoadouts as WellKnownLoadouts
    from toolbelt.project.opening import open_project as open_project
    from toolbelt.project.project import Project as Project
    from toolbelt.runtime.context import Capability as Capability
    from toolbelt.runtime.context import ToolContext as ToolContext
    from toolbelt.runtime.executable import ExecutableTool as ExecutableTool
    from toolbelt.runtime.gates import FilterOpts as FilterOpts
    from toolbelt.runtime.guards import ALLOW as ALLOW
    from toolbelt.runtime.guards import AuditRecord as AuditRecord
    from toolbelt.runtime.guards import GuardDecision as GuardDecision
    from toolbelt.runtime.guards import ask_person as ask_person
    from toolbelt.runtime.guards import refuse as refuse
    from toolbelt.runtime.reducers.read_file import ReadFileReducer as ReadFileReducer
    from toolbelt.runtime.reducers.records import RecordsReducer as RecordsReducer
    from toolbelt.runtime.reducers.reducer import ReducerRegistry as ReducerRegistry
    from toolbelt.runtime.reducers.shell import ShellReducer as ShellReducer
    from toolbelt.runtime.reducers.shipped import default_reducers as default_reducers
    from toolbelt.runtime.registry import ToolRegistry as ToolRegistry
    from toolbelt.runtime.results import CallResult as CallResult
    from toolbelt.runtime.results import FailureCode as FailureCode
    from toolbelt.runtime.results import ToolCall as ToolCall
    from toolbelt.runtime.results import ToolResult as ToolResult
    from toolbelt.sessions.agent import AgentSpec as AgentSpec
    from toolbelt.sessions.policy import SessionPolicy as SessionPolicy
    from toolbelt.sessions.session import Session as Session
    from toolbelt.sessions.store import MemorySessionStore as MemorySessionStore
    from toolbelt.sessions.store import SessionStore as SessionStore
    from toolbelt.sessions.toolkit_policy import ToolkitPolicy as ToolkitPolicy
    from toolbelt.stores.catalogs import write_catalog as write_catalog
    from toolbelt.stores.config import Config as Config
    from toolbelt.stores.config import read_config as read_config
    from toolbelt.stores.sessions import SqliteSessionStore as SqliteSessionStore
    from toolbelt.tiers.policy import TierPolicy as TierPolicy
    from toolbelt.toolkits.assembly import SubApp as SubApp
    from toolbelt.toolkits.assembly import assemble as assemble
    from toolbelt.toolkits.directive import DirectiveRule as DirectiveRule
    from toolbelt.toolkits.directive import DirectiveRules as DirectiveRules
    from toolbelt.toolkits.directive import format_tool_choice as format_tool_choice
    from toolbelt.toolkits.expand import expand_toolkits as expand_toolkits
    from toolbelt.toolkits.policy import PolicyText as PolicyText
    from toolbelt.toolkits.policy import build_policy as build_policy
    from toolbelt.toolkits.switches import ToolkitCatalog as ToolkitCatalog
    from toolbelt.toolkits.toolkit import Directive as Directive
    from toolbelt.toolkits.toolkit import Toolkit as Toolkit
    from toolbelt.toolkits.toolkit import ToolSpec as ToolSpec

_MODULES = {
    "toolbelt.agents": (
        "AgentSession",
        "LoadoutPolicy",
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
    "toolbelt.project.opening": ("open_project",),
    "toolbelt.project.project": ("Project",),
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
    "toolbelt.sessions.policy": ("SessionPolicy",),
    "toolbelt.sessions.session": ("Session",),
    "toolbelt.sessions.store": (
        "MemorySessionStore",
        "SessionStore",
    ),
    "toolbelt.sessions.toolkit_policy": ("ToolkitPolicy",),
    "toolbelt.stores.catalogs": ("write_catalog",),
    "toolbelt.stores.config": (
        "Config",
        "read_config",
    ),
    "toolbelt.stores.sessions": ("SqliteSessionStore",),
    "toolbelt.tiers.policy": ("TierPolicy",),
    "toolbelt.toolkits.assembly": (
        "SubApp",
        "assemble",
    ),
    "toolbelt.toolkits.directive": (
        "DirectiveRule",
        "DirectiveRules",
        "format_tool_choice",
    ),
    "toolbelt.toolkits.expand": ("expand_toolkits",),
    "toolbelt.toolkits.policy": (
        "PolicyText",
        "build_policy",
    ),
    "toolbelt.toolkits.switches": ("ToolkitCatalog",),
    "toolbelt.toolkits.toolkit": (
        "Directive",
        "ToolSpec",
        "Toolkit",
    ),
}
"""Every public name, by the module that defines it."""
_HOMES = {name: module for module, names in _MODULES.items() for name in names}
__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
