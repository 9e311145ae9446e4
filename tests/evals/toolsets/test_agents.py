"""The project's agents over a catalog (rule D1)."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.evals.toolsets.samples import HELPER, SMALL, TOOLKITS
from toolbelt.errors import AmbiguousNameError, NotFoundError
from toolbelt.evals.toolsets.agents import describe_agents, find_agent, has_tools
from toolbelt.sessions.agent import AgentSpec
from toolbelt.toolkits.toolkit import Toolkit


def test_D1_an_agent_is_found_by_its_exact_name_before_any_other() -> None:
    agents = (AgentSpec("Code"), AgentSpec("code"), AgentSpec("other"))
    assert [find_agent(name, agents).name for name in ("Code", "code", "OTHER")] == ["Code", "code", "other"]
    with pytest.raises(AmbiguousNameError, match="Code"):
        find_agent("CODE", agents)
    with pytest.raises(NotFoundError, match="Did you mean 'other'"):
        find_agent("othr", agents)


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        pytest.param(HELPER, True, id="static-tools"),
        pytest.param(AgentSpec("a", ("nothing",), ("sky",)), True, id="a-toolkit-it-may-load"),
        pytest.param(AgentSpec("a", ("nothing",)), False, id="not-those-of-others"),
    ],
)
def test_D1_whether_a_catalog_has_anything_for_an_agent(agent: AgentSpec, expected: bool) -> None:
    assert has_tools(agent, TOOLKITS, SMALL) is expected


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
