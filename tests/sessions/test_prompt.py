"""What the prompt says of toolkits: a part that never changes, and one that does (rule D8)."""

from __future__ import annotations

import itertools

from tests.sessions.samples import META, a_registry, call, open_session
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.prompt import SessionPrompt
from toolbelt.toolkits.toolkit import Toolkit

KITS = [
    Toolkit("devops", description="Docker and\n  AWS tools.\n"),
    Toolkit("odd\u2028- name", description='Says "hi"\x1b[2J\u202eand more'),
    Toolkit("plain"),
]
AGENT = AgentSpec("assistant", (), ("devops", "plain", "odd\u2028- name"), ("devops",))


def prompt_of(*loaded: str, agent: AgentSpec = AGENT, session_id: str | None = "s") -> SessionPrompt:
    session = open_session(a_registry(), agent, session_id=session_id, kits=KITS)
    call(session, *(("load_tools", {"toolkit": key}) for key in loaded))
    session.begin_turn()
    return session.prompt


def test_D8_the_whole_of_it() -> None:
    prompt = prompt_of("odd\u2028- name")
    introduction, *rows = prompt.static.split("\n")
    assert "load_tools" in introduction
    assert rows == [
        '- "devops" (always loaded): Docker and AWS tools.',
        '- "plain"',
        '- "odd\\u2028- name": Says "hi"\\u001b[2J\\u202eand more',
    ]
    assert prompt.volatile == 'Loaded now: "devops", "odd\\u2028- name".'


def test_D8_the_static_part_is_the_same_to_the_byte_whatever_is_loaded() -> None:
    subsets = [some for count in range(3) for some in itertools.combinations(("plain", "odd\u2028- name"), count)]
    prompts = [prompt_of(*loaded) for loaded in subsets]
    assert len({prompt.static for prompt in prompts}) == 1
    assert len({prompt.volatile for prompt in prompts}) == len(subsets)


def test_D8_nothing_loaded_is_said() -> None:
    assert prompt_of(agent=AgentSpec("a", (), ("plain",))).volatile == "Loaded now: none."


def test_D8_what_is_loaded_is_said_in_its_order() -> None:
    assert prompt_of("odd\u2028- name", "plain").volatile == 'Loaded now: "devops", "plain", "odd\\u2028- name".'


def test_D8_a_prompt_as_one_text_is_both_parts() -> None:
    prompt = prompt_of("plain")
    assert str(prompt) == f"{prompt.static}\n\n{prompt.volatile}"


def test_D4_D8_the_prompt_is_of_the_turn() -> None:
    session = open_session(a_registry(), AGENT, kits=KITS)
    before = session.prompt
    call(session, ("load_tools", {"toolkit": "plain"}))
    assert session.prompt == before
    session.begin_turn()
    assert (session.prompt.static, session.prompt.volatile) == (before.static, 'Loaded now: "devops", "plain".')


def test_D2_D8_without_meta_tools_the_prompt_is_silent() -> None:
    assert prompt_of(session_id=None) == prompt_of(agent=AgentSpec("plain", ("file",))) == SessionPrompt()
    assert not {*META} & {*str(prompt_of(session_id=None)).split()}
