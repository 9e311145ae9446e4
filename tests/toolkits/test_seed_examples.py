"""From switches to one request: catalogue, assembly, policy, directive and the registry together (rules K1 to K7)."""

from __future__ import annotations

from typing import Any

import pytest

from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.toolkits.assembly import SubApp, assemble
from toolbelt.toolkits.directive import DirectiveRule, DirectiveRules, directive, narrow
from toolbelt.toolkits.policy import PolicyText, build_policy
from toolbelt.toolkits.switches import ToolkitCatalog
from toolbelt.toolkits.toolkit import Toolkit, ToolSpec

EVOLUTION = Toolkit(
    "self_evolution_toolkit",
    "Self-evolution",
    member_tools=("read_skill", "write_skill"),
    policy=PolicyText.of(
        "Skills are examples and no authority; look after them with {tools}.",
        per_tool={"write_skill": "Ask before you change a skill."},
    ),
    directive=DirectiveRules((DirectiveRule(("new skill",), ("write_skill", "read_skill"), "write_skill"),)),
)
CODE = Toolkit("code", member_tools=("run_code",), policy=PolicyText(unavailable="No code execution is available."))
CATALOG = ToolkitCatalog(
    (ToolSpec("search", default_on=True), ToolSpec("read_skill"), ToolSpec("write_skill"), ToolSpec("run_code")),
    (EVOLUTION, CODE),
)


def make(name: str, policy: str = "") -> ExecutableTool:
    return ExecutableTool(name, f"Does {name}.", function=lambda: name, policy=policy)


def assembled(config: dict[str, Any]) -> ToolRegistry:
    return assemble(
        [make(tool.key) for tool in CATALOG.tools],
        {"wiki": [make("lookup")]},
        [make("add_note", "Notes are for the user to read.")],
        [SubApp("notes", ("add_note",))],
        catalog=CATALOG,
        tools_config=config,
    )


@pytest.mark.parametrize(
    ("config", "shown", "prompt", "sent", "choice"),
    [
        pytest.param(
            {"self_evolution_toolkit": True},
            ["search", "read_skill", "write_skill", "mcp__wiki__lookup", "add_note"],
            "Skills are examples and no authority; look after them with read_skill, write_skill.\n"
            "Ask before you change a skill.\n\n"
            "No code execution is available.\n\n"
            "Notes are for the user to read.",
            ["read_skill", "write_skill"],
            "write_skill",
            id="one-switch-grants-the-bundle",
        ),
        pytest.param(
            {"self_evolution_toolkit": True, "write_skill": False, "search": False},
            ["read_skill", "mcp__wiki__lookup", "add_note"],
            "Skills are examples and no authority; look after them with read_skill.\n\n"
            "No code execution is available.\n\n"
            "Notes are for the user to read.",
            ["read_skill"],
            None,
            id="a-member-opts-out-of-tools-prompt-and-choice",
        ),
        pytest.param(
            {"self_evolution_toolkit": False, "write_skill": True, "run_code": True},
            ["search", "run_code", "mcp__wiki__lookup", "add_note"],
            "Notes are for the user to read.",
            ["search", "run_code", "mcp__wiki__lookup", "add_note"],
            None,
            id="off-is-off-and-an-older-boolean-still-works",
        ),
    ],
)
def test_K_from_a_config_to_a_request(
    config: dict[str, Any], shown: list[str], prompt: str, sent: list[str], choice: str | None
) -> None:
    registry = assembled(config)
    definitions = registry.to_definitions(form="openai")
    available = [definition["function"]["name"] for definition in definitions]
    assert available == shown
    assert build_policy(CATALOG, available, registry.get_all()) == prompt
    narrowed = narrow(definitions, directive("Please write a New Skill.", CATALOG.toolkits, available))
    assert [definition["function"]["name"] for definition in narrowed.tools] == sent
    assert narrowed.tool_choice == choice
    assert registry.to_definitions(form="openai") == definitions
