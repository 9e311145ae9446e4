"""The tools of an agent over a catalog, for the command line and evals, which run no tools (rule D5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from toolbelt.catalog import Catalog
from toolbelt.catalog.definitions import assign_wire_names
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.bundles import Expansion, expand_over
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.tiers import own_meta_tools
from toolbelt.toolkits.switch_decisions import SwitchDecision, SwitchRule
from toolbelt.toolkits.switching import SwitchedOff, find_switched_off
from toolbelt.toolkits.toolkit import MetaRole, Toolkit


def expand_agent(agent: AgentSpec, toolkits: Iterable[Toolkit], catalog: Catalog) -> tuple[Expansion, SwitchedOff]:
    """What the entries of an agent stand for in a catalog, and what its switches take away.

    A catalog's own meta-tools are left out: they load in another way, and no registry has them. Wire names are those of
    a session over the same tools, which has meta-tools if the agent may load toolkits.

    Raises:
        InvalidDefinitionError: a switch would fail to switch a tool off (rule K2).
    """
    meta_tools = [role.value for role in MetaRole] if agent.allowed_toolkits else []
    wire_names = assign_wire_names(catalog.tools, meta_tools) if meta_tools else catalog.wire_names
    expansion = expand_over(catalog, wire_names, without=own_meta_tools(catalog))
    off = find_switched_off(toolkits, catalog, agent.tools_config)
    off.refuse_errors()
    return expansion, off


def toolkits_over(agent: AgentSpec, toolkits: Iterable[Toolkit], catalog: Catalog) -> DynamicToolkits:
    """The toolkits of an agent over a catalog, with answers for people: they name tools by their ids.

    Raises:
        InvalidDefinitionError: as `DynamicToolkits` and `expand_agent`.
    """
    listed = tuple(toolkits)
    expansion, off = expand_agent(agent, listed, catalog)
    return DynamicToolkits(agent, listed, replace(expansion, find_answer_name=str), off)


def decide_at_start(dynamic: DynamicToolkits) -> Callable[[SwitchDecision], SwitchDecision]:
    """From what the switches of an agent decide about a tool to what it has when a session starts, and why."""
    shown = {tool.key: tool.toolkit for tool in dynamic.shown_tools(dynamic.initial, has_session=False)}

    def decide(decision: SwitchDecision) -> SwitchDecision:
        key = decision.tool
        if decision.enabled is (key in shown):
            return decision
        toolkit = shown[key] if key in shown else next(iter(dynamic.find_toolkits_of(key)), None)
        return replace(decision, enabled=key in shown, rule=SwitchRule.AGENT, toolkit=toolkit, agent=dynamic.agent.name)

    return decide
