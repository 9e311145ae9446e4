"""What the policies and directives of loaded toolkits do in a turn (rules K4, K5, D8)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest

from tests.sessions.samples import META, call, open_session
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.prompt import SessionPrompt
from toolbelt.sessions.session import Session
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


def over(registry: ToolRegistry, *loaded: str, kits: Sequence[Toolkit] = KITS, agent: AgentSpec = AGENT) -> Session:
    """A session in a turn in which these toolkits are loaded."""
    session = open_session(registry, agent, kits=kits)
    for each in call(session, *(("load_tools", {"toolkit": key}) for key in loaded)):
        assert each.result.structured["status"] == "loaded"
    session.begin_turn()
    return session


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
    session = over(registry, *loaded)
    shown = registry.wire_names[ODD]
    assert shown != ODD
    _, *said = session.prompt.volatile.split("\n\n")
    assert said == [text.replace("NAME", shown) for text in policies]
    assert session.prompt.static == over(registry).prompt.static


def test_K4_a_tool_that_is_not_to_be_had_now_is_not_named(registry: ToolRegistry) -> None:
    session = over(registry, "issues")
    THERE["issues"] = False
    assert session.prompt.volatile.endswith('"issues".\n\nThere are no issues.')
    assert session.directive("A ticket, please") is None


def test_K4_a_policy_said_by_two_toolkits_is_said_once(registry: ToolRegistry) -> None:
    kits = [
        Toolkit(key, member_tools=("git",), policy="Never force.") for key in ("history", "issues", "web", "silent")
    ]
    session = over(registry, "history", "issues", kits=kits)
    assert session.prompt.volatile == 'Loaded now: "history", "issues".\n\nNever force.'


def test_K4_without_a_session_the_policies_of_initial_toolkits_are_said_alone(registry: ToolRegistry) -> None:
    agent = AgentSpec("assistant", (), ("history",), ("history",))
    prompt = open_session(registry, agent, session_id=None, kits=KITS).prompt
    assert (prompt.static, prompt.volatile) == ("", "Look with git_log, git_push.\nNever force git_push.")


def test_K7_a_single_tool_has_a_policy_of_its_own(registry: ToolRegistry) -> None:
    registry.register(ExecutableTool("file", plugin="file", function=str, policy=" Read before you write.\n"))
    registry.register(ExecutableTool("git_log", plugin="git", function=str, policy="Read before you write."))
    assert over(registry).prompt.volatile == "Loaded now: none.\n\nRead before you write."
    assert Session(registry).prompt == SessionPrompt(volatile="Read before you write.")


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
    session = over(registry, *loaded)
    shown = registry.wire_names[ODD]
    made = session.directive(message)
    assert made == session.directive([{"type": "text", "text": message}])
    whole = session.to_definitions()
    if tools is None:
        assert made is None
        assert session.to_definitions(directive=made) == whole
        return
    expected = [shown if name == "NAME" else name for name in tools]
    assert made == Directive(tuple(expected), shown if choice == "NAME" else choice)
    assert names(session.to_definitions(directive=made)) == expected
    litellm = session.to_definitions(form="litellm", directive=made)
    assert [definition["function"]["name"] for definition in litellm] == expected
    assert session.to_definitions() == whole, "the next request"


def test_K5_D4_what_is_loaded_meanwhile_has_no_say_in_this_turn(registry: ToolRegistry) -> None:
    session = over(registry)
    call(session, ("load_tools", {"toolkit": "history"}))
    assert session.directive("Who changed it?") is None
    assert session.prompt.volatile == "Loaded now: none."


def test_K5_a_directive_by_keys_or_of_nothing_that_is_shown(registry: ToolRegistry) -> None:
    session = over(registry, "issues")
    assert names(session.to_definitions(directive=Directive((ODD,)))) == [registry.wire_names[ODD]]
    assert session.to_definitions(directive=Directive(("nowhere",))) == session.to_definitions()


def test_K4_K5_functions_get_the_keys_of_members_that_are_there(registry: ToolRegistry) -> None:
    def policy(available: Sequence[str]) -> str:
        return f"You have {list(available)}."

    def directive(message: str, available: Collection[str]) -> Directive:
        return Directive(tuple(available), next(iter(available)))

    kits = [Toolkit("kit", member_tools=("hub", "nowhere"), policy=policy, directive=directive)]
    session = over(registry, "kit", kits=kits, agent=AgentSpec("assistant", (), ("kit",)))
    assert session.prompt.volatile.endswith("You have ['open issue'].")
    shown = registry.wire_names[ODD]
    assert session.directive("go") == Directive((shown,), shown)


def test_D3_answers_speak_of_tools_as_the_model_is_shown_them(registry: ToolRegistry) -> None:
    (loaded,) = call(over(registry), ("load_tools", {"toolkit": "issues"}))
    assert loaded.result.structured["tools"] == [registry.wire_names[ODD]]


def test_D2_a_narrowed_request_is_without_meta_tools_and_the_next_has_them(registry: ToolRegistry) -> None:
    session = over(registry, "history")
    made = session.directive("who changed this")
    assert not {*names(session.to_definitions(directive=made))} & {*META}
    assert names(session.to_definitions())[:3] == [*META]
