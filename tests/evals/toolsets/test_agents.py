"""The project's agents over a catalog (rule D1)."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.evals.toolsets.samples import CATALOGS, HELPER, TOOLKITS, context
from toolbelt.catalog import Catalog
from toolbelt.errors import AmbiguousNameError, NotFoundError, ToolbeltError
from toolbelt.evals.toolsets.agents import describe_agents, find_agent, has_tools, match_agent
from toolbelt.evals.toolsets.dynamic import Dynamic
from toolbelt.evals.toolsets.opening import expand_toolsets, make_toolset
from toolbelt.evals.toolsets.spec import ToolsetKind, ToolsetSpec
from toolbelt.loadouts import ToolLoadoutRegistry
from toolbelt.sessions.agent import AgentSpec
from toolbelt.toolkits.toolkit import Toolkit


def test_D1_an_agent_is_found_by_its_exact_name_before_any_other() -> None:
    agents = (AgentSpec("Code"), AgentSpec("code"), AgentSpec("other"))
    assert [find_agent(name, agents).name for name in ("Code", "code", "OTHER")] == ["Code", "code", "other"]
    with pytest.raises(AmbiguousNameError, match="Code"):
        find_agent("CODE", agents)
    with pytest.raises(NotFoundError, match="Did you mean 'other'"):
        find_agent("othr", agents)


OWN_META_TOOLS = ("core/browse_tools", "core/load_tools")
AGENTS: dict[str, tuple[AgentSpec, set[str]]] = {
    "static-tools": (HELPER, {"small", "tiered", "assistant"}),
    "a-toolkit-it-may-load": (AgentSpec("a", ("nothing",), ("sky",)), {"small"}),
    "not-those-of-others": (AgentSpec("a", ("nothing",)), set()),
    "nothing-at-all": (AgentSpec("a"), set()),
    "not-the-meta-tools-of-the-catalog": (AgentSpec("a", OWN_META_TOOLS), set()),
    "not-the-meta-tools-in-a-toolkit": (AgentSpec("a", (), ("loading",)), set()),
    "meta-tools-among-others": (AgentSpec("a", ("core",)), {"tiered"}),
}
KITS = (*TOOLKITS, Toolkit("loading", member_tools=OWN_META_TOOLS))


@pytest.mark.parametrize("catalog", CATALOGS.values(), ids=CATALOGS)
@pytest.mark.parametrize(("agent", "useful"), AGENTS.values(), ids=AGENTS)
def test_D1_what_a_pattern_stands_for_is_what_can_be_made(agent: AgentSpec, useful: set[str], catalog: Catalog) -> None:
    expected, spec = catalog.name in useful, ToolsetSpec(ToolsetKind.DYNAMIC, agent.name)
    assert has_tools(match_agent(agent, KITS, catalog)) is expected
    base = context(catalog, agents=(agent,), toolkits=KITS)
    if expected:
        assert expand_toolsets(["dynamic:*"], catalog, base.registry, (agent,), KITS) == (spec,)
        made = make_toolset(spec, base)
        assert isinstance(made, Dynamic)
        assert made.loads is bool(agent.allowed_toolkits)
        return
    with pytest.raises(ToolbeltError, match="None of the agents"):
        expand_toolsets(["dynamic:*"], catalog, ToolLoadoutRegistry(), (agent,), KITS)
    with pytest.raises(ToolbeltError, match="matches nothing of catalog"):
        make_toolset(spec, base)


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(((HELPER,), TOOLKITS[:2]), id="a-toolkit-less"),
        pytest.param(((HELPER,), TOOLKITS[::-1]), id="in-another-order"),
        pytest.param(((AgentSpec("helper", ("chat/send",)),), TOOLKITS), id="another-agent"),
        pytest.param(((HELPER,), (*TOOLKITS[:2], Toolkit("sky", description="Else."))), id="another-toolkit"),
    ],
)
def test_E8_every_change_shows(changed: tuple[tuple[AgentSpec, ...], tuple[Toolkit, ...]]) -> None:
    assert describe_agents(*changed) != describe_agents((HELPER,), TOOLKITS)


def test_E8_what_is_described_is_the_same_in_every_process() -> None:
    code = (
        "from toolbelt.evals.toolsets.agents import describe_agents; from toolbelt.toolkits.toolkit import Toolkit;"
        "print(describe_agents((), [Toolkit('a', member_tools=('b',), overrides={'b': {'c': {'x', 'y', 'z', 'w'}}})]))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in "123"
    }
    assert len(said) == 1
