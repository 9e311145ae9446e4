"""Toolkits as people write them (rules D1, K8): read strictly, every mistake with its line and path."""

from __future__ import annotations

import json

import pytest

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.findings import Finding
from toolbelt.sources import parse_json, parse_yaml
from toolbelt.toolkits.directive import DirectiveRule, DirectiveRules, directive
from toolbelt.toolkits.expand import expand_toolkits
from toolbelt.toolkits.policy import PolicyText
from toolbelt.toolkits.reader import TOOLKIT_KEYS, read_toolkits
from toolbelt.toolkits.toolkit import Directive, Toolkit

DYNAMIC = """\
# What an agent may load.
toolkits:
  devops:
    description: Containers, clouds and code hosting   # shown to the model
    tools: [docker, aws_lambda, github]
  research:
    description: Looking things up
    tools:
      - duckduckgo
      - arxiv: {max_results: 5}   # one with a setting
      - wikipedia:
"""
FULL = """\
toolkits:
  ops:
    label: Operations
    default_on: true
    description: ''
    tools: [docker, git/status, git/push]
    policy:
      text: Look before you act.
      tools: {git/push: Never push to main., docker: 'Use {tools}.'}
      unavailable: No operations here.
    directive:
      - {when: deploy, tools: [docker], tool_choice: required}
      - {when: [commit, git], tool_choice: git/status}
  plain: {policy: Be brief.}
  empty:
"""


def read(text: str) -> tuple[list[Toolkit], list[Finding]]:
    return read_toolkits(parse_yaml(text, "toolbelt.yaml"), "toolkits")


def test_D1_tools_are_names_or_names_with_overrides() -> None:
    toolkits, findings = read(DYNAMIC)
    assert findings == []
    assert toolkits == [
        Toolkit(
            "devops",
            member_tools=("docker", "aws_lambda", "github"),
            description="Containers, clouds and code hosting",
        ),
        Toolkit(
            "research",
            member_tools=("duckduckgo", "arxiv", "wikipedia"),
            description="Looking things up",
            overrides={"arxiv": {"max_results": 5}},
        ),
    ]


def test_K8_one_toolkit_is_switched_and_loaded_and_has_policy_and_directive() -> None:
    toolkits, findings = read(FULL)
    assert findings == []
    policy = {"git/push": "Never push to main.", "docker": "Use {tools}."}
    rules = (DirectiveRule(("deploy",), ("docker",), "required"), DirectiveRule(("commit", "git"), (), "git/status"))
    assert toolkits == [
        Toolkit(
            "ops",
            "Operations",
            True,
            ("docker", "git/status", "git/push"),
            policy=PolicyText.of("Look before you act.", policy, "No operations here."),
            directive=DirectiveRules(rules),
        ),
        Toolkit("plain", policy=PolicyText.of("Be brief.")),
        Toolkit("empty"),
    ]


def test_D1_overrides_are_frozen() -> None:
    (_, research), _ = read(DYNAMIC)
    with pytest.raises(TypeError):
        research.overrides["arxiv"]["max_results"] = 6  # type: ignore[index]


def test_K8_json_is_read_alike() -> None:
    toolkits, findings = read_toolkits(parse_json(json.dumps({"a": {"tools": ["x", {"y": {"z": None}}]}}), "t.json"))
    assert findings == []
    assert toolkits == [Toolkit("a", member_tools=("x", "y"), overrides={"y": {"z": None}})]


@pytest.mark.parametrize("text", ["toolkits:", "toolkits: {}", "catalog: x", ""])
def test_K8_no_toolkits_is_no_mistake(text: str) -> None:
    assert read(text) == ([], [])


@pytest.mark.parametrize("key", TOOLKIT_KEYS)
def test_K8_a_key_left_blank_says_nothing(key: str) -> None:
    assert read(f"toolkits:\n  a:\n    {key}:\n") == ([Toolkit("a")], [])


MISTAKES = {
    "no-mapping": ("toolkits: [a]", 1, "wrong-type", "`toolkits` must be a mapping from names to toolkits, not a list"),
    "a-toolkit-that-is-a-list": ("toolkits:\n  a: [x]", 2, "wrong-type", "`toolkits.a` must be a mapping, not a list."),
    "a-blank-name": ("toolkits:\n  ' ': {}", 2, "blank-name", "a name must be text that is not blank"),
    "a-name-in-another-case": (
        "toolkits:\n  web: {}\n  Web: {}",
        3,
        "duplicate-name",
        "`toolkits.Web`: 'web' is there already, but for its case.",
    ),
    "a-reserved-name": ("toolkits:\n  Load_Tools: {}", 2, "reserved-name", "`toolkits.Load_Tools`: 'Load_Tools' is"),
    "an-unknown-key": ("toolkits:\n  a: {tolls: [x]}", 2, "unknown-key", "`toolkits.a.tolls`: a toolkit has no key"),
    "an-unknown-key-names-the-nearest": ("toolkits:\n  a: {tolls: []}", 2, "unknown-key", "Did you mean 'tools'?"),
    "the-key-of-python": ("toolkits:\n  a: {member_tools: []}", 2, "unknown-key", "It is written 'tools' here."),
    "the-key-of-typescript": (
        "toolkits:\n  a: {defaultOn: true}",
        2,
        "unknown-key",
        "'default_on' here.",
    ),
    "a-key-with-a-dot": ("toolkits:\n  a b.c: {x: 1}", 2, "unknown-key", '`toolkits["a b.c"].x`'),
    "tools-as-one-text": ("toolkits:\n  a: {tools: x}", 2, "wrong-type", "`toolkits.a.tools` must be a list of tools"),
    "a-tool-that-is-a-number": (
        "toolkits:\n  a:\n    tools:\n      - x\n      - 5",
        5,
        "wrong-type",
        "`toolkits.a.tools[1]` must be a tool's name, or one name with its overrides (`name: {key: value}`), not 5.",
    ),
    "a-tool-that-is-on": ("toolkits:\n  a: {tools: [true]}", 2, "wrong-type", "not true (put it in quotes if it"),
    "a-tool-that-is-nothing": ("toolkits:\n  a: {tools: [null]}", 2, "wrong-type", "not nothing."),
    "a-blank-tool": ("toolkits:\n  a: {tools: [' ']}", 2, "wrong-type", "`toolkits.a.tools[0]` must be a tool's name"),
    "a-blank-tool-with-overrides": ("toolkits:\n  a: {tools: [{'': {}}]}", 2, "blank-name", "may not be blank"),
    "overrides-that-stand-beside-the-name": (
        "toolkits:\n  a:\n    tools:\n      - docker:\n        image: x",
        4,
        "wrong-type",
        "one tool with its overrides below it (`name: {key: value}`), but has the keys 'docker', 'image'.",
    ),
    "no-name-in-an-entry": ("toolkits:\n  a: {tools: [{}]}", 2, "wrong-type", "but has no key."),
    "overrides-that-are-no-map": (
        "toolkits:\n  a: {tools: [x: [1]]}",
        2,
        "wrong-type",
        "`toolkits.a.tools[0].x` must be a mapping of overrides, not a list.",
    ),
    "overrides-that-are-a-text": ("toolkits:\n  a: {tools: [x: yes]}", 2, "wrong-type", "a mapping of overrides, not"),
    "a-tool-twice": (
        "toolkits:\n  a:\n    tools:\n      - x\n      - y\n      - x: {z: 1}",
        6,
        "duplicate-entry",
        "`toolkits.a.tools[2]`: 'x' stands here twice.",
    ),
    "a-tool-in-another-case": (
        "toolkits:\n  a: {tools: [Git/Push, git/push]}",
        2,
        "duplicate-entry",
        "`toolkits.a.tools[1]`: 'git/push' stands here twice, first as 'Git/Push'.",
    ),
    "a-tool-with-a-reserved-name": ("toolkits:\n  a: {tools: [dynamic_tools]}", 2, "reserved-name", "control tool"),
    "a-reserved-name-with-overrides": ("toolkits:\n  a: {tools: [unload_tools: {}]}", 2, "reserved-name", "tools[0]`"),
    "a-label-that-is-no-text": ("toolkits:\n  a: {label: 5}", 2, "wrong-type", "`toolkits.a.label` must be text that"),
    "a-blank-label": (
        "toolkits:\n  a: {label: ' '}",
        2,
        "wrong-type",
        "must be text that is not blank, not blank text.",
    ),
    "a-description-that-is-a-list": (
        "toolkits:\n  a: {description: []}",
        2,
        "wrong-type",
        "must be text, not an empty list.",
    ),
    "a-default-that-is-a-text": ("toolkits:\n  a: {default_on: 'yes'}", 2, "wrong-type", "must be true or false, not"),
    "a-default-that-is-a-number": ("toolkits:\n  a: {default_on: 1}", 2, "wrong-type", "must be true or false, not 1."),
    "a-policy-that-is-a-list": ("toolkits:\n  a: {policy: [x]}", 2, "wrong-type", "`toolkits.a.policy` must be"),
    "a-blank-policy": ("toolkits:\n  a: {policy: ''}", 2, "wrong-type", "`toolkits.a.policy` must be"),
    "an-unknown-key-of-a-policy": (
        "toolkits:\n  a: {policy: {txt: x}}",
        2,
        "unknown-key",
        "`toolkits.a.policy.txt`: a policy has no key 'txt'. Did you mean 'text'?",
    ),
    "a-policy-for-no-member": (
        "toolkits:\n  a:\n    tools: [docker]\n    policy: {tools: {dokcer: x}}",
        4,
        "unknown-member",
        "`toolkits.a.policy.tools.dokcer`: no member of the toolkit is named 'dokcer'. Did you mean 'docker'?",
    ),
    "a-line-that-is-no-text": (
        "toolkits:\n  a: {tools: [x], policy: {tools: {x: 5}}}",
        2,
        "wrong-type",
        "`toolkits.a.policy.tools.x` must be text",
    ),
    "lines-as-a-list": ("toolkits:\n  a: {policy: {tools: [x]}}", 2, "wrong-type", "a mapping from members to lines"),
    "a-directive-that-is-a-mapping": ("toolkits:\n  a: {directive: {when: x}}", 2, "wrong-type", "a list of rules"),
    "a-rule-that-is-a-text": ("toolkits:\n  a: {directive: [x]}", 2, "wrong-type", "`toolkits.a.directive[0]` must be"),
    "a-rule-without-words": (
        "toolkits:\n  a: {directive: [{}]}",
        2,
        "missing-key",
        "`toolkits.a.directive[0]`: a rule",
    ),
    "a-rule-with-no-words": ("toolkits:\n  a: {directive: [{when: []}]}", 2, "wrong-type", "must be words"),
    "a-rule-with-a-blank-word": ("toolkits:\n  a: {directive: [{when: [x, '']}]}", 2, "wrong-type", "when[1]` must be"),
    "an-unknown-key-of-a-rule": (
        "toolkits:\n  a: {directive: [{when: x, toolChoice: auto}]}",
        2,
        "unknown-key",
        "a rule of a directive has no key 'toolChoice'. It is written 'tool_choice' here.",
    ),
    "a-rule-for-no-member": (
        "toolkits:\n  a:\n    tools: [docker]\n    directive:\n      - when: x\n        tools: [git]",
        6,
        "unknown-member",
        "`toolkits.a.directive[0].tools[0]`: no member of the toolkit is named 'git'. Known: docker.",
    ),
    "a-choice-that-is-no-member": (
        "toolkits:\n  a: {tools: [docker], directive: [{when: x, tool_choice: requierd}]}",
        2,
        "unknown-tool-choice",
        "`toolkits.a.directive[0].tool_choice`: no tool choice is named 'requierd'. Did you mean 'required'?",
    ),
    "a-choice-that-the-rule-leaves-out": (
        "toolkits:\n  a: {tools: [x, y], directive: [{when: z, tools: [x], tool_choice: y}]}",
        2,
        "unknown-tool-choice",
        "Known: required, auto, none, x.",
    ),
}


@pytest.mark.parametrize(("text", "line", "rule", "message"), MISTAKES.values(), ids=MISTAKES)
def test_D1_a_mistake_is_told_with_line_and_path(text: str, line: int, rule: str, message: str) -> None:
    findings = read(text)[1]
    assert [(found.file, found.line, found.rule) for found in findings] == [("toolbelt.yaml", line, rule)]
    assert message in findings[0].message


def test_D1_all_mistakes_are_told_at_once_and_the_rest_is_read() -> None:
    toolkits, findings = read("toolkits: {a: {tools: [1, x, x, y: 2], frob: 1}, b: 5, ' ': {}, c: {}}")
    assert [(found.rule, found.message.split("`")[1]) for found in findings] == [
        ("unknown-key", "toolkits.a.frob"),
        ("wrong-type", "toolkits.a.tools[0]"),
        ("duplicate-entry", "toolkits.a.tools[2]"),
        ("wrong-type", "toolkits.a.tools[3].y"),
        ("wrong-type", "toolkits.b"),
        ("blank-name", 'toolkits[" "]'),
    ]
    assert [(toolkit.key, toolkit.member_tools) for toolkit in toolkits] == [("a", ("x",)), ("b", ()), ("c", ())]


def test_a_value_that_is_long_is_cut_in_the_message() -> None:
    (found,) = read(f"toolkits: {{a: {{default_on: {'x' * 100_000}}}}}")[1]
    assert len(found.message) < 200


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        pytest.param("KIT", "duplicate-name", id="there-already"),
        pytest.param("load_tools", "reserved-name", id="reserved"),
    ],
)
def test_D1_what_is_wrong_below_a_name_that_is_wrong_is_told_as_well(name: str, rule: str) -> None:
    _, findings = read(f"toolkits:\n  kit: {{}}\n  {name}:\n    default_on: 7\n")
    assert [(finding.rule, finding.line) for finding in findings] == [(rule, 3), ("wrong-type", 4)]


def test_K5_a_rule_of_a_directive_may_name_one_tool_of_a_member_plugin() -> None:
    rules = "[{when: who, tools: [GIT/git_blame], tool_choice: GIT/git_blame}, {when: x, tools: [shell/run, git/]}]"
    toolkits, findings = read(f"toolkits:\n  a:\n    tools: [git]\n    directive: {rules}\n")
    assert [finding.rule for finding in findings] == ["unknown-member", "unknown-member"]
    assert isinstance(toolkits[0].directive, DirectiveRules)
    rule = toolkits[0].directive.rules[0]
    assert (rule.tools, rule.tool_choice) == (("GIT/git_blame",), "GIT/git_blame")
    catalog = Catalog((Plugin("git", (Tool("git_blame"), Tool("git_log"))),))
    (expanded,) = expand_toolkits(toolkits[:1], catalog).catalog.toolkits
    narrowed = directive("who did that?", [expanded], ["git/git_blame", "git/git_log"])
    assert narrowed == Directive(("git/git_blame",), "git/git_blame")
