"""Agents and their sub-agents: which tools each has, and how one finds and gets more (L12 to L14)."""

from toolbelt.agents.scoping import scoped_registry
from toolbelt.agents.session import AgentSession
from toolbelt.agents.subagents import SubagentRunner, SubagentType

__all__ = ["AgentSession", "SubagentRunner", "SubagentType", "scoped_registry"]
