"""What the prompt says of toolkits: a part that never changes, and one that does (rule D8)."""

from __future__ import annotations

import itertools

from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.prompt import ToolkitPrompt
from toolbelt.toolkits.toolkit import Toolkit

DYNAMIC = DynamicToolkits(
    AgentSpec("assistant", (), ("devops", "plain", "odd\u2028- name"), ("devops",)),
    [
        Toolkit("devops", description="Docker and\n  AWS tools.\n"),
        Toolkit("odd\u2028- name", description='Says "hi"\x1b[2J\u202eand more'),
        Toolkit("plain"),
    ],
)


def test_D8_the_whole_of_it() -> None:
    prompt = ToolkitPrompt.of(DYNAMIC, ("devops", "odd\u2028- name"))
    introduction, *rows = prompt.static.split("\n")
    assert "load_tools" in introduction
    assert rows == [
        '- "devops" (always loaded): Docker and AWS tools.',
        '- "plain"',
        '- "odd\\u2028- name": Says "hi"\\u001b[2J\\u202eand more',
    ]
    assert prompt.volatile == 'Loaded now: "devops", "odd\\u2028- name".'


def test_D8_the_static_part_is_the_same_to_the_byte_whatever_is_loaded() -> None:
    keys = tuple(DYNAMIC.toolkits)
    subsets = [made for count in range(4) for made in itertools.combinations(keys, count)]
    prompts = [ToolkitPrompt.of(DYNAMIC, loaded) for loaded in subsets]
    assert len({prompt.static for prompt in prompts}) == 1
    assert len({prompt.volatile for prompt in prompts}) == len(subsets)


def test_D8_nothing_loaded_is_said() -> None:
    assert ToolkitPrompt.of(DYNAMIC, ()).volatile == "Loaded now: none."


def test_D8_what_is_loaded_is_said_in_its_order() -> None:
    assert ToolkitPrompt.of(DYNAMIC, ("plain", "devops")).volatile == 'Loaded now: "plain", "devops".'
