"""What the policies and directives of loaded toolkits do in a turn (rules K4, K5, D8)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest

from tests.sessions.samples import META
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.bundles import expand_over
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.sessions import DynamicSessions
from toolbelt.sessions.store import MemorySessionStore
from toolbelt.toolkits.directive import DirectiveRule, DirectiveRules
from toolbelt.toolkits.policy import PolicyText
from toolbelt.toolkits.toolkit import Directive, Toolkit

ODD = "open issue"
"""A name that providers refuse, so that it is shown as another; in the tables, NAME stands for that."""
THERE = {"issues": True}
"""Whether that tool is to be had."""


def rules(words: str, *tools: str, tool_choice: str | None = None) -> DirectiveRules:
    return DirectiveRules((DirectiveRule((words,), tools, tool_choice),))


KITS = (
    Toolkit(
        "issues",
        member_tools=("hub",),
        policy=PolicyText.of("Issues: {tools}.", {"hub/open issue": "Be brief in {tools}."}, "There are no issues."),
        directive=rules("ticket", "hub", tool_choice="hub"),
    ),
    Toolkit(
        "history",
        member_tools=("git/git_log", "git/git_push"),
        policy=PolicyText.of("Look with {tools}.", {"git/git_push": "Never force {tools}."}),
        directive=rules("who changed", "git/git_log", tool_choice="required"),
    ),
    Toolkit("web", member_tools=("nowhere",), policy=PolicyText.of("Use {tools}.", unavailable="There is no web.")),
    Toolkit("silent", member_tools=("file",), directive=rules("file", tool_choice="none")),
)
AGENT = AgentSpec("assistant", ("file",), ("history", "issues", "web", "silent"))


@pytest.fixture
def registry() -> ToolRegistry:
    THERE["issues"] = True
    return ToolRegistry(
        [
            ExecutableTool("file", plugin="file", function=str),
            ExecutableTool("git_log", plugin="git", function=str),
            ExecutableTool("git_push", plugin="git", function=str),
            ExecutableTool(ODD, plugin="hub", function=str, is_available=lambda: THERE["issues"]),
        ]
    )


def over(
    registry: ToolRegistry, *loaded: str, kits: Sequence[Toolkit] = KITS, agent: AgentSpec = AGENT
) -> DynamicSessions:
    sessions = DynamicSessions([DynamicToolkits(agent, kits, expand_over(registry))], MemorySessionStore())
    registry.register_all(sessions.meta_tools())
    for key in loaded:
        assert sessions.load(agent.name, "s", key)["status"] == "loaded"
    return sessions


def names(definitions: Sequence[dict[str, object]]) -> list[object]:
    return [definition["name"] for definition in definitions]


@pytest.mark.parametrize(
    ("loaded", "policies"),
    [
        pytest.param([], [], id="nothing-loaded-says-nothing"),
        pytest.param(["silent"], [], id="a-toolkit-without-a-policy"),
        pytest.param(["history"], ["Look with git_log, git_push.\nNever force git_push."], id="members-by-name"),
        pytest.param(
            ["web", "issues", "history"],
            [
                "Look with git_log, git_push.\nNever force git_push.",
                "Issues: NAME.\nBe brief in NAME.",
                "There is no web.",
            ],
            id="in-allowed-order-as-shown-and-what-is-unavailable",
        ),
    ],
)
def test_K4_D8_the_volatile_part_ends_with_the_policies_of_what_is_loaded(
    registry: ToolRegistry, loaded: list[str], policies: list[str]
) -> None:
    sessions = over(registry, *loaded)
    turn = sessions.begin_turn("assistant", "s")
    shown = registry.wire_names[ODD]
    assert shown != ODD
    _, *said = sessions.prompt(turn).volatile.split("\n\n")
    assert said == [text.replace("NAME", shown) for text in policies]
    assert sessions.prompt(turn, registry) == sessions.prompt(turn)
    assert sessions.prompt(turn).static == over(registry).prompt(turn).static


def test_K4_a_tool_that_is_not_to_be_had_now_is_not_named(registry: ToolRegistry) -> None:
    sessions = over(registry, "issues")
    THERE["issues"] = False
    turn = sessions.begin_turn("assistant", "s")
    assert sessions.prompt(turn, registry).volatile.endswith('"issues".\n\nThere are no issues.')
    assert sessions.directive(turn, "A ticket, please", registry) is None


def test_K4_a_policy_said_by_two_toolkits_is_said_once(registry: ToolRegistry) -> None:
    kits = [
        Toolkit(key, member_tools=("git",), policy="Never force.") for key in ("history", "issues", "web", "silent")
    ]
    sessions = over(registry, "history", "issues", kits=kits)
    prompt = sessions.prompt(sessions.begin_turn("assistant", "s"))
    assert prompt.volatile == 'Loaded now: "history", "issues".\n\nNever force.'


def test_K4_without_a_session_the_policies_of_initial_toolkits_are_said_alone(registry: ToolRegistry) -> None:
    sessions = over(registry, agent=AgentSpec("assistant", (), ("history",), ("history",)))
    prompt = sessions.prompt(sessions.begin_turn("assistant", None), registry)
    assert (prompt.static, prompt.volatile) == ("", "Look with git_log, git_push.\nNever force git_push.")


@pytest.mark.parametrize(
    ("loaded", "message", "tools", "choice"),
    [
        pytest.param(["history"], "Who changed it?", ["git_log"], "required", id="a-rule-of-one-tool"),
        pytest.param(["history"], "Hello", None, None, id="other-words"),
        pytest.param([], "Who changed it?", None, None, id="a-toolkit-that-is-not-loaded"),
        pytest.param(["issues"], "A ticket", ["NAME"], "NAME", id="a-choice-by-the-name-shown"),
        pytest.param(["history", "issues"], "Who changed the ticket", ["git_log", "NAME"], "required", id="a-union"),
        pytest.param(["silent"], "A file", ["file"], "none", id="a-static-tool-that-is-a-member"),
    ],
)
def test_K5_a_message_narrows_one_request_to_tools_of_the_turn(
    registry: ToolRegistry, loaded: list[str], message: str, tools: list[str] | None, choice: str | None
) -> None:
    sessions = over(registry, *loaded)
    turn = sessions.begin_turn("assistant", "s")
    shown = registry.wire_names[ODD]
    made = sessions.directive(turn, message, registry)
    assert made == sessions.directive(turn, message)
    assert made == sessions.directive(turn, [{"type": "text", "text": message}], registry)
    whole = turn.to_definitions(registry)
    if tools is None:
        assert made is None
        assert turn.to_definitions(registry, directive=made) == whole
        return
    expected = [shown if name == "NAME" else name for name in tools]
    assert made == Directive(tuple(expected), shown if choice == "NAME" else choice)
    assert names(turn.to_definitions(registry, directive=made)) == expected
    litellm = turn.to_definitions(registry, form="litellm", directive=made)
    assert [definition["function"]["name"] for definition in litellm] == expected
    assert turn.to_definitions(registry) == whole, "the next request"


def test_K5_D4_what_is_loaded_meanwhile_has_no_say_in_this_turn(registry: ToolRegistry) -> None:
    sessions = over(registry)
    turn = sessions.begin_turn("assistant", "s")
    sessions.load("assistant", "s", "history")
    assert sessions.directive(turn, "Who changed it?", registry) is None
    assert sessions.prompt(turn, registry).volatile == "Loaded now: none."


def test_K5_a_directive_by_keys_or_of_nothing_that_is_shown(registry: ToolRegistry) -> None:
    sessions = over(registry, "issues")
    turn = sessions.begin_turn("assistant", "s")
    assert names(turn.to_definitions(registry, directive=Directive((ODD,)))) == [registry.wire_names[ODD]]
    assert turn.to_definitions(registry, directive=Directive(("nowhere",))) == turn.to_definitions(registry)


def test_K4_K5_functions_get_the_keys_of_members_that_are_there(registry: ToolRegistry) -> None:
    def policy(available: Sequence[str]) -> str:
        return f"You have {list(available)}."

    def directive(message: str, available: Collection[str]) -> Directive:
        return Directive(tuple(available), next(iter(available)))

    kits = [Toolkit("kit", member_tools=("hub", "nowhere"), policy=policy, directive=directive)]
    sessions = over(registry, "kit", kits=kits, agent=AgentSpec("assistant", (), ("kit",)))
    turn = sessions.begin_turn("assistant", "s")
    assert sessions.prompt(turn, registry).volatile.endswith("You have ['open issue'].")
    shown = registry.wire_names[ODD]
    assert sessions.directive(turn, "go", registry) == Directive((shown,), shown)


def test_D3_answers_speak_of_tools_as_the_model_is_shown_them(registry: ToolRegistry) -> None:
    sessions = over(registry)
    assert sessions.load("assistant", "s", "issues")["tools"] == [registry.wire_names[ODD]]


def test_D2_a_narrowed_request_is_without_meta_tools_and_the_next_has_them(registry: ToolRegistry) -> None:
    sessions = over(registry, "history")
    turn = sessions.begin_turn("assistant", "s")
    made = sessions.directive(turn, "who changed this", registry)
    assert not {*names(turn.to_definitions(registry, directive=made))} & {*META}
    assert names(turn.to_definitions(registry))[:3] == [*META]
