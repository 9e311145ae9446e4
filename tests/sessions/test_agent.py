"""Agents as values (rule D1)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.toolkits.test_reader import DYNAMIC
from tests.wording import mentions
from toolbelt.errors import InvalidDefinitionError
from toolbelt.findings import Finding
from toolbelt.sessions.agent import AGENT_KEYS, AgentSpec, read_agents
from toolbelt.sources import parse_yaml
from toolbelt.toolkits.reader import read_toolkits


def test_D1_a_lone_name_is_a_list_of_one_and_what_is_left_out_is_empty() -> None:
    as_written: dict[str, Any] = {"tools": "file", "allowed_toolkits": ["devops"], "initial_toolkits": "devops"}
    agent = AgentSpec("a", **as_written)
    assert (agent.tools, agent.allowed_toolkits, agent.initial_toolkits) == (("file",), ("devops",), ("devops",))
    assert (agent.rooms, agent.display_name, agent.overrides) == ((), "a", {})


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        pytest.param({"name": " "}, ("text", "' '"), id="a-blank-name"),
        pytest.param({"name": 7}, ("text", 7), id="a-number-for-a-name"),
        pytest.param({"tools": ["file", ""]}, ("tools", "'a'", "''"), id="a-blank-tool"),
        pytest.param({"rooms": [1]}, ("rooms", "'a'", 1), id="a-number-for-a-room"),
        pytest.param({"tools": ["x", "x"]}, ("tools", "'a'", "twice", "x"), id="a-tool-twice"),
        pytest.param({"rooms": ["x", "x"]}, ("rooms", "'a'", "twice", "x"), id="a-room-twice"),
        pytest.param({"initial_toolkits": ["x"]}, ("allowed_toolkits", "x"), id="an-initial-one-not-allowed"),
        pytest.param({"overrides": {"x": {}}}, ("overrides", "x"), id="overrides-of-no-tool"),
    ],
)
def test_D1_what_is_no_agent_is_refused(parts: dict[str, Any], named: object) -> None:
    with pytest.raises(InvalidDefinitionError) as caught:
        AgentSpec(**{"name": "a", **parts})
    assert mentions(str(caught.value), named)


ASSISTANT = """\
agents:
  helper:
    display_name: Helper
    role: Whatever comes up   # no specialist
    model: sonnet
    tools:
      - file
      - shell: {timeout: 5}
    allowed_toolkits: [devops, research]
    initial_toolkits: [research]
    rooms: [lobby]
"""


def read(text: str) -> tuple[list[AgentSpec], list[Finding]]:
    document = parse_yaml(text, "toolbelt.yaml")
    toolkits, findings = read_toolkits(document, "toolkits")
    assert findings == []
    return read_agents(document, "agents", toolkits=toolkits)


def test_D1_every_key_fills_its_field() -> None:
    assert read(DYNAMIC + ASSISTANT) == (
        [
            AgentSpec(
                "helper",
                tools=("file", "shell"),
                allowed_toolkits=("devops", "research"),
                initial_toolkits=("research",),
                overrides={"shell": {"timeout": 5}},
                display_name="Helper",
                role="Whatever comes up",
                model="sonnet",
                rooms=("lobby",),
            )
        ],
        [],
    )


@pytest.mark.parametrize("text", ["agents:", "agents: {}", "toolkits: {}", ""])
def test_D1_no_agents_is_no_mistake(text: str) -> None:
    assert read(text) == ([], [])


@pytest.mark.parametrize("body", ["", "{}", "{tools: []}", "{role: ''}", *(f"{{{key}: }}" for key in AGENT_KEYS)])
def test_D1_an_agent_without_toolkits_is_one(body: str) -> None:
    assert read(f"agents:\n  bare: {body}\n") == ([AgentSpec("bare")], [])


MISTAKES = {
    "no-mapping": ("agents: [a]", 1, "wrong-type", "`agents` must be a mapping from names to agents, not a list."),
    "an-agent-that-is-a-text": ("agents:\n  a: x", 2, "wrong-type", "`agents.a` must be a mapping, not 'x'."),
    "a-blank-name": ("agents:\n  '': {}", 2, "blank-name", "a name must be text that is not blank"),
    "a-name-in-another-case": ("agents:\n  a: {}\n  A: {}", 3, "duplicate-name", "`agents.A`: 'a' is there already"),
    "an-unknown-key": ("agents:\n  a: {rols: x}", 2, "unknown-key", "`agents.a.rols`: an agent has no key 'rols'."),
    "a-key-of-another-spelling": ("agents:\n  a: {toolkits: []}", 2, "unknown-key", "'allowed_toolkits' here."),
    "an-unknown-toolkit": (
        "agents:\n  code: {allowed_toolkits: [devop]}",
        2,
        "unknown-toolkit",
        "`agents.code.allowed_toolkits[0]`: no toolkit is named 'devop'. Did you mean 'devops'?",
    ),
    "a-toolkit-in-another-case": (
        "agents:\n  code: {allowed_toolkits: [DevOps]}",
        2,
        "unknown-toolkit",
        "Did you mean 'devops'?",
    ),
    "an-unknown-initial-toolkit": (
        "agents:\n  code:\n    initial_toolkits:\n      - reserch",
        4,
        "unknown-toolkit",
        "`agents.code.initial_toolkits[0]`: no toolkit is named 'reserch'. Did you mean 'research'?",
    ),
    "an-initial-toolkit-that-is-not-allowed": (
        "agents:\n  code: {allowed_toolkits: [devops], initial_toolkits: [devops, research]}",
        2,
        "initial-not-allowed",
        "`agents.code.initial_toolkits[1]`: 'research' is not among the agent's `allowed_toolkits`; add it there.",
    ),
    "an-allowed-toolkit-twice": (
        "agents:\n  code: {allowed_toolkits: [devops, research, devops]}",
        2,
        "duplicate-entry",
        "`agents.code.allowed_toolkits[2]`: 'devops' stands here twice.",
    ),
    "an-initial-toolkit-twice": (
        "agents:\n  code: {allowed_toolkits: [devops], initial_toolkits: [devops, devops]}",
        2,
        "duplicate-entry",
        "initial_toolkits[1]`",
    ),
    "a-tool-twice": ("agents:\n  a: {tools: [x, x: {y: 1}]}", 2, "duplicate-entry", "`agents.a.tools[1]`: 'x' stands"),
    "a-room-twice": ("agents:\n  a: {rooms: [x, x]}", 2, "duplicate-entry", "`agents.a.rooms[1]`"),
    "a-tool-with-a-reserved-name": ("agents:\n  a: {tools: [load_tools]}", 2, "reserved-name", "`agents.a.tools[0]`"),
    "overrides-that-are-no-map": ("agents:\n  a: {tools: [x: 5]}", 2, "wrong-type", "`agents.a.tools[0].x` must be"),
    "toolkits-as-one-text": ("agents:\n  a: {allowed_toolkits: devops}", 2, "wrong-type", "must be a list of names"),
    "a-room-that-is-a-number": ("agents:\n  a: {rooms: [1]}", 2, "wrong-type", "`agents.a.rooms[0]` must be a name"),
    "a-blank-model": ("agents:\n  a: {model: ' '}", 2, "wrong-type", "`agents.a.model` must be text that is not blank"),
    "a-role-that-is-a-list": (
        "agents:\n  a: {role: [x]}",
        2,
        "wrong-type",
        "`agents.a.role` must be text, not a",
    ),
    "an-initial-toolkit-against-a-tool-of-its-own": (
        "agents:\n  a: {tools: [arxiv], allowed_toolkits: [research], initial_toolkits: [research]}",
        2,
        "conflict",
        """the agent's own `tools` give 'arxiv' different overrides: {"max_results": 5} in the one, {} in the other.""",
    ),
    "an-initial-toolkit-against-a-tool-in-another-case": (
        "agents:\n  a: {tools: [ArXiv], allowed_toolkits: [research], initial_toolkits: [research]}",
        2,
        "conflict",
        "give 'arxiv' different overrides",
    ),
}


@pytest.mark.parametrize(("text", "line", "rule", "message"), MISTAKES.values(), ids=MISTAKES)
def test_D1_a_mistake_is_told_with_line_and_path(text: str, line: int, rule: str, message: str) -> None:
    findings = read(f"{text}\n{DYNAMIC}")[1]
    assert [(found.file, found.line, found.rule) for found in findings] == [("toolbelt.yaml", line, rule)]
    assert message in findings[0].message


TWO = """\
toolkits:
  one: {tools: [docker: {image: a}]}
  two: {tools: [docker: {image: b}]}
  same: {tools: [docker: {image: a}]}
agents:
  x: {tools: [git], allowed_toolkits: [one, two, same], initial_toolkits: %s}
"""


def test_D6_initial_toolkits_that_conflict_are_refused_by_both_names() -> None:
    (found,) = read(TWO % "[two, one]")[1]
    assert (found.line, found.rule) == (6, "conflict")
    assert mentions(
        found.message, "`agents.x.initial_toolkits[0]`", "two", "one", "docker", '{"image": "b"}', '{"image": "a"}'
    )


@pytest.mark.parametrize("initial", ["[one, same]", "[two]", "[]"])
def test_D6_equal_overrides_and_what_is_only_allowed_are_no_mistake(initial: str) -> None:
    assert read(TWO % initial)[1] == []


def test_D1_all_mistakes_are_told_at_once_and_the_rest_is_read() -> None:
    agents, findings = read(
        f"{DYNAMIC}agents: {{a: {{frob: 1, tools: [x, 5], allowed_toolkits: [nope, devops], initial_toolkits: [nope]}},"
        " b: 5, c: {role: y}}"
    )
    assert [found.rule for found in findings] == [
        *("unknown-key", "wrong-type", "unknown-toolkit", "unknown-toolkit", "wrong-type")
    ]
    assert agents == [
        AgentSpec("a", tools=("x",), allowed_toolkits=("devops",)),
        AgentSpec("b"),
        AgentSpec("c", role="y"),
    ]
