"""Agents as values (rule D1)."""

from __future__ import annotations

from typing import Any

import pytest

from toolbelt.errors import InvalidDefinitionError
from toolbelt.sessions.agent import AgentSpec


def test_D1_a_lone_name_is_a_list_of_one_and_what_is_left_out_is_empty() -> None:
    as_written: dict[str, Any] = {"tools": "file", "allowed_toolkits": ["devops"], "initial_toolkits": "devops"}
    agent = AgentSpec("a", **as_written)
    assert (agent.tools, agent.allowed_toolkits, agent.initial_toolkits) == (("file",), ("devops",), ("devops",))
    assert (agent.rooms, agent.display_name, agent.overrides) == ((), "a", {})


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        pytest.param({"name": " "}, "must be text that is not blank, not ' '", id="a-blank-name"),
        pytest.param({"name": 7}, "must be text that is not blank, not 7", id="a-number-for-a-name"),
        pytest.param({"tools": ["file", ""]}, "tools of agent 'a' holds what is no name: ''", id="a-blank-tool"),
        pytest.param({"rooms": [1]}, "rooms of agent 'a' holds what is no name: 1", id="a-number-for-a-room"),
        pytest.param({"tools": ["x", "x"]}, "tools of agent 'a' names these twice: x", id="a-tool-twice"),
        pytest.param({"rooms": ["x", "x"]}, "rooms of agent 'a' names these twice: x", id="a-room-twice"),
        pytest.param(
            {"initial_toolkits": ["x"]}, "are not among its allowed_toolkits: x", id="an-initial-one-not-allowed"
        ),
        pytest.param({"overrides": {"x": {}}}, "has overrides for no tool of its: x", id="overrides-of-no-tool"),
    ],
)
def test_D1_what_is_no_agent_is_refused(parts: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidDefinitionError) as caught:
        AgentSpec(**{"name": "a", **parts})
    assert words in str(caught.value)
