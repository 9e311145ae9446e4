"""Agents and their sub-agents: the tools that each has, discovers and activates (rules L12 to L14)."""

from toolbelt.agents.loadout_policy import LoadoutPolicy
from toolbelt.agents.scoping import scoped_registry
from toolbelt.agents.session import AgentSession
from toolbelt.agents.subagents import SubagentRunner, SubagentType

__all__ = ["AgentSession", "LoadoutPolicy", "SubagentRunner", "SubagentType", "scoped_registry"]
