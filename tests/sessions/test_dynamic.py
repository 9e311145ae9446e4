"""The toolkits of one agent, as values: what is loaded, what that gives, what changes it (rules D2 to D6)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from tests.wording import each_mentions, mentions, naming
from toolbelt.errors import InvalidDefinitionError, NotFoundError
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.bundles import Expansion
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.store import DropKind
from toolbelt.toolkits.toolkit import MetaRole, Toolkit

DEVOPS = Toolkit("devops", member_tools=("docker", "aws_lambda", "github"), description="Docker, AWS, and GitHub tools")
RESEARCH = Toolkit("research", member_tools=("duckduckgo", "arxiv", "wikipedia"), description="Web search and papers")
PODMAN = Toolkit("podman", member_tools=("docker",), overrides={"docker": {"socket": "podman"}})
FILES = Toolkit("files", member_tools=("file",), overrides={"file": {"base_dir": "/srv"}})
ROOT = Toolkit("root", member_tools=("sudo",))
ALL = (DEVOPS, RESEARCH, PODMAN, FILES, ROOT)
ASSISTANT = AgentSpec("assistant", ("file", "shell"), ("devops", "research", "podman", "files"), ("research",))


def keys_of(dynamic: DynamicToolkits, loaded: Iterable[str]) -> tuple[str, ...]:
    return tuple(tool.key for tool in dynamic.merge(loaded))


def toolkits(agent: AgentSpec = ASSISTANT) -> DynamicToolkits:
    return DynamicToolkits(agent, ALL)


def agent(*allowed: str, initial: tuple[str, ...] = (), tools: tuple[str, ...] = (), **more: Any) -> AgentSpec:
    return AgentSpec("a", tools, allowed, initial, **more)


_ALL_FIVE = list(itertools.product((True, False), repeat=5))

# D3


def _expected_load(known: bool, allowed: bool, loaded: bool, session: bool, conflict: bool) -> str:
    """Rule D3 as it is written: the first that applies."""
    order = (
        (not known, "unknown"),
        (not allowed, "not_allowed"),
        (loaded, "already_loaded"),
        (not session, "error"),
        (conflict, "conflict"),
        (True, "loaded"),
    )
    return next(status for applies, status in order if applies)


def _expected_unload(known: bool, allowed: bool, sticky: bool, loaded: bool, session: bool) -> str:
    order = (
        (not known, "unknown"),
        (not allowed, "not_allowed"),
        (sticky, "sticky"),
        (not loaded, "not_loaded"),
        (not session, "error"),
        (True, "unloaded"),
    )
    return next(status for applies, status in order if applies)


@pytest.mark.parametrize(("known", "allowed", "loaded", "session", "conflict"), _ALL_FIVE)
def test_D3_load_says_the_first_that_applies(
    known: bool, allowed: bool, loaded: bool, session: bool, conflict: bool
) -> None:
    if loaded and conflict:
        conflict = False  # what is loaded stands in no conflict
    wanted = Toolkit("wanted", member_tools=("docker",), overrides={"docker": {"x": 1}} if conflict else {})
    spec = agent(*(("devops", "wanted") if allowed and known else ("devops",)))
    dynamic = DynamicToolkits(spec, (DEVOPS, wanted) if known else (DEVOPS,))
    before = dynamic.restore(["devops", *(["wanted"] if loaded else [])]).loaded
    answer, after = dynamic.load("wanted", before, has_session=session)
    assert answer["status"] == _expected_load(known, allowed, loaded, session, conflict)
    assert answer["tool"] == "dynamic_tools"
    assert answer["message"]
    assert after == ((*before, "wanted") if answer["status"] == "loaded" else before)


@pytest.mark.parametrize(("known", "allowed", "sticky", "loaded", "session"), _ALL_FIVE)
def test_D3_unload_says_the_first_that_applies(
    known: bool, allowed: bool, sticky: bool, loaded: bool, session: bool
) -> None:
    may = known and allowed
    spec = agent(*(("devops", "research") if may else ("devops",)), initial=("research",) if may and sticky else ())
    dynamic = DynamicToolkits(spec, (DEVOPS, RESEARCH) if known else (DEVOPS,))
    before = dynamic.restore(["devops", *(["research"] if loaded else [])]).loaded
    answer, after = dynamic.unload("research", before, has_session=session)
    assert answer["status"] == _expected_unload(known, allowed, may and sticky, loaded, session)
    assert after == (("devops",) if answer["status"] == "unloaded" else before)


def test_D3_a_sticky_toolkit_is_sticky_also_where_the_caller_has_lost_it() -> None:
    assert toolkits().unload("research", ())[0]["status"] == "sticky"


def test_D3_what_is_loaded_comes_with_the_next_turn_and_the_model_is_told() -> None:
    answer, after = toolkits().load("devops", ("research",))
    assert {key: answer[key] for key in ("status", "toolkit", "tools", "takes_effect")} == {
        "status": "loaded",
        "toolkit": "devops",
        "tools": ["docker", "aws_lambda", "github"],
        "takes_effect": "next_request",
    }
    assert "user's next message" in answer["message"]
    assert after == ("devops", "research")


@pytest.mark.parametrize("name", ["nothing", "root"])
def test_D3_a_refusal_names_what_is_allowed(name: str) -> None:
    for answer, after in (toolkits().load(name, ("research",)), toolkits().unload(name, ("research",))):
        assert answer["status"] == ("unknown" if name == "nothing" else "not_allowed")
        assert answer["allowed_toolkits"] == ["devops", "research", "podman", "files"]
        assert after == ("research",)


@pytest.mark.parametrize(
    ("toolkit", "loaded", "tool", "holder", "overrides", "existing"),
    [
        pytest.param("podman", ("devops",), "docker", "devops", {"socket": "podman"}, {}, id="another-toolkit"),
        pytest.param("devops", ("podman",), "docker", "podman", {}, {"socket": "podman"}, id="the-other-way-round"),
        pytest.param("files", (), "file", "static tools", {"base_dir": "/srv"}, {}, id="static"),
    ],
)
def test_D3_D6_a_conflict_names_tool_holder_and_both_sides(
    toolkit: str, loaded: tuple[str, ...], tool: str, holder: str, overrides: object, existing: object
) -> None:
    dynamic = toolkits()
    before = dynamic.restore(loaded).loaded
    answer, after = dynamic.load(toolkit, before)
    assert (answer["status"], answer["conflicting_tool"], answer["conflicts_with"]) == ("conflict", tool, holder)
    assert (answer["overrides"], answer["existing_overrides"]) == (overrides, existing)
    assert after == before


def test_D3_the_list_is_in_allowed_order_with_state_and_tools() -> None:
    answer = toolkits().list_toolkits(("files", "research"))
    assert (answer["status"], answer["tool"]) == ("ok", "dynamic_tools")
    rows = [(row["name"], row["loaded"], row["sticky"]) for row in answer["toolkits"]]
    assert rows == [
        ("devops", False, False),
        ("research", True, True),
        ("podman", False, False),
        ("files", True, False),
    ]
    assert answer["toolkits"][0]["tools"] == ["docker", "aws_lambda", "github"]
    assert answer["toolkits"][0]["description"] == "Docker, AWS, and GitHub tools"


def test_D3_unloading_names_only_the_tools_that_go() -> None:
    twin = Toolkit("twin", member_tools=("docker", "helm"))
    dynamic = DynamicToolkits(agent("devops", "twin", tools=("github",)), (DEVOPS, twin))
    assert dynamic.unload("devops", ("devops", "twin"))[0]["tools"] == ["aws_lambda"]


def test_D3_a_model_is_not_promised_tools_that_do_not_come_or_go() -> None:
    empty = DynamicToolkits(agent("devops"), ALL, Expansion(lambda _: ()))
    answer, after = empty.load("devops", ())
    assert (answer["status"], answer["tools"], after) == ("loaded", [], ("devops",))
    assert "no tool in it" in answer["message"]
    twin = DynamicToolkits(agent("devops", tools=DEVOPS.member_tools), ALL)
    answer, _ = twin.unload("devops", ("devops",))
    assert (answer["tools"], "you keep" in answer["message"]) == ([], True)


def test_D3_a_conflict_says_whether_anything_can_be_done() -> None:
    assert "unload that one first" in toolkits().load("podman", ("devops",))[0]["message"]
    assert "nothing you can do" in toolkits().load("files", ())[0]["message"], "static"
    sticky = DynamicToolkits(agent("podman", "devops", initial=("devops",)), ALL)
    assert "nothing you can do" in sticky.load("podman", sticky.initial)[0]["message"], "sticky"


def test_answers_say_the_names_that_the_model_is_shown() -> None:
    dynamic = DynamicToolkits(ASSISTANT, ALL, Expansion(find_wire_name=lambda key: f"plugin__{key}"))
    assert dynamic.load("devops", ())[0]["tools"] == ["plugin__docker", "plugin__aws_lambda", "plugin__github"]
    assert dynamic.load("podman", ("devops",))[0]["conflicting_tool"] == "plugin__docker"
    assert "Call load_tools with" in dynamic.call(MetaRole.LOAD, {}, ())[0]["message"]


# What a model writes


@pytest.mark.parametrize(
    "arguments", [None, {}, {"toolkit": None}, {"toolkit": 3}, {"toolkit": ["devops"]}, {"name": "x"}]
)
@pytest.mark.parametrize("role", [MetaRole.LOAD, MetaRole.UNLOAD])
def test_arguments_that_name_no_toolkit_are_answered_with_the_usage(
    role: MetaRole, arguments: Mapping[str, Any] | None
) -> None:
    answer, after = toolkits().call(role, arguments, ("research",))
    assert answer["status"] == "error"
    assert f'{role.value} with {{"toolkit": NAME}}' in answer["message"]
    assert "devops" in answer["allowed_toolkits"]
    assert after == ("research",)


@pytest.mark.parametrize("arguments", [None, {}, {"surplus": 1}])
def test_the_list_needs_no_arguments(arguments: Mapping[str, Any] | None) -> None:
    assert toolkits().call(MetaRole.LIST, arguments, ())[0]["status"] == "ok"


def test_a_call_goes_to_its_role() -> None:
    answer, after = toolkits().call(MetaRole.LOAD, {"toolkit": "devops"}, ("research",))
    assert answer["status"] == "loaded"
    answer, after = toolkits().call(MetaRole.UNLOAD, {"toolkit": "devops"}, after)
    assert (answer["status"], after) == ("unloaded", ("research",))


@pytest.mark.parametrize(
    ("written", "status", "means"),
    [
        pytest.param("DevOps", "loaded", "devops", id="case-is-ignored"),
        pytest.param("  devops\n", "loaded", "devops", id="blanks-around-it-too"),
        pytest.param("MIXED", "not_allowed", "MIXED", id="an-exact-name-comes-first"),
        pytest.param("mixed", "loaded", "Mixed", id="then-the-allowed-one"),
        pytest.param("twin", "unknown", "twin", id="two-as-near-are-neither"),
        pytest.param("", "unknown", "", id="empty"),
        pytest.param("dev ops", "unknown", "dev ops", id="blanks-within-count"),
    ],
)
def test_a_model_may_write_a_name_a_little_otherwise(written: str, status: str, means: str) -> None:
    keys = ("devops", "MIXED", "Mixed", "Twin", "TWIN")
    dynamic = DynamicToolkits(agent("devops", "Mixed", "Twin", "TWIN"), map(Toolkit, keys))
    answer, _ = dynamic.load(written, ())
    assert (answer["status"], answer["toolkit"]) == (status, means)


# D5


@pytest.mark.parametrize(
    ("stored", "loaded", "dropped"),
    [
        pytest.param(None, ("research",), (), id="nothing-kept-is-the-initial-ones"),
        pytest.param((), ("research",), (), id="initial-ones-are-merged"),
        pytest.param(("research", "devops"), ("devops", "research"), (), id="allowed-order"),
        pytest.param(("gone", "devops", "root"), ("devops", "research"), ("gone", "root"), id="unknown-and-forbidden"),
        pytest.param(("podman", "devops"), ("devops", "research"), ("podman",), id="the-earlier-allowed-stays"),
        pytest.param(("files",), ("research",), ("files",), id="in-conflict-with-static-tools"),
        pytest.param(("devops", "devops"), ("devops", "research"), (), id="twice-is-once"),
        pytest.param(("DEVOPS",), ("research",), ("DEVOPS",), id="what-is-kept-is-spelled-as-it-was"),
    ],
)
def test_D5_what_is_kept_is_held_against_the_configuration_of_now(
    stored: tuple[str, ...] | None, loaded: tuple[str, ...], dropped: tuple[str, ...]
) -> None:
    restored = toolkits().restore(stored)
    assert restored.loaded == loaded
    assert tuple(drop.toolkit for drop in restored.dropped) == dropped
    assert all(repr(drop.toolkit) in drop.reason for drop in restored.dropped)


def test_D5_each_reason_is_its_own() -> None:
    dropped = toolkits().restore(["gone", "root", "podman", "devops"]).dropped
    assert {drop.toolkit: drop.kind for drop in dropped} == {
        "gone": DropKind.UNKNOWN,
        "root": DropKind.NOT_ALLOWED,
        "podman": DropKind.CONFLICT,
    }
    assert len({drop.reason for drop in dropped}) == 3
    assert mentions(dropped[2].reason, "toolkit 'devops'", "'docker'", "overrides")


def test_D5_a_warning_says_what_may_have_been_meant() -> None:
    (dropped,) = toolkits().restore(["devop"]).dropped
    assert mentions(dropped.reason, "'devop'", "'devops'")


def test_D5_initial_toolkits_are_in_allowed_order() -> None:
    dynamic = DynamicToolkits(agent("devops", "research", initial=("research", "devops")), ALL)
    assert dynamic.initial == dynamic.restore(None).loaded == ("devops", "research")


def test_D5_a_newly_initial_toolkit_pushes_out_what_it_conflicts_with() -> None:
    dynamic = DynamicToolkits(agent("devops", "podman", initial=("podman",)), ALL)
    restored = dynamic.restore(["devops"])
    assert restored.loaded == ("podman",)
    assert [drop.toolkit for drop in restored.dropped] == ["devops"]


def test_D5_what_a_dropped_toolkit_had_stands_in_nobodys_way() -> None:
    kits = [Toolkit(key, member_tools=("t",), overrides={"t": {"of": key}}) for key in ("one", "two")]
    kits.append(Toolkit("three", member_tools=("t", "u"), overrides={"t": {"of": "one"}, "u": {"x": 1}}))
    kits.append(Toolkit("four", member_tools=("u",)))
    dynamic = DynamicToolkits(agent("two", "three", "four", initial=("two",)), kits)
    assert dynamic.restore(["three", "four"]).loaded == ("two", "four")


# D6


def test_D6_static_tools_come_first_then_toolkits_in_allowed_order() -> None:
    assert keys_of(toolkits(), ["research", "devops"]) == (
        *("file", "shell", "docker", "aws_lambda", "github", "duckduckgo", "arxiv", "wikipedia"),
    )


def test_D6_equal_overrides_are_kept_once_as_they_were_there_first() -> None:
    one = Toolkit("one", member_tools=("t",), overrides={"t": {"a": 1, "b": [True]}})
    two = Toolkit("two", member_tools=("t",), overrides={"t": {"b": [True], "a": 1.0}})
    (tool,) = DynamicToolkits(agent("one", "two"), (one, two)).merge(("one", "two"))
    assert (tool.key, tool.toolkit, tool.overrides) == ("t", "one", {"a": 1, "b": [True]})


def test_D6_a_plugin_against_one_of_its_tools_is_a_conflict_on_that_tool() -> None:
    plugins = {"git": ("git/status", "git/push")}
    git = Toolkit("git", member_tools=("git",), overrides={"git": {"user": "a"}})
    push = Toolkit("push", member_tools=("git/push",), overrides={"git/push": {"user": "b"}})
    dynamic = DynamicToolkits(agent("git", "push"), (git, push), Expansion(lambda entry: plugins.get(entry, (entry,))))
    assert keys_of(dynamic, ("git",)) == ("git/status", "git/push")
    assert dynamic.load("push", ("git",))[0]["conflicting_tool"] == "git/push"


def test_D6_merging_what_conflicts_or_is_not_allowed_is_refused() -> None:
    with pytest.raises(InvalidDefinitionError, match=naming("podman", "devops", "docker")):
        toolkits().merge(("devops", "podman"))
    with pytest.raises(NotFoundError, match="No toolkit named 'root'"):
        toolkits().merge(("root",))


def test_reach_is_everything_that_could_be_loaded_static_ones_first() -> None:
    assert toolkits().reachable_keys() == (
        *("file", "shell", "docker", "aws_lambda", "github", "duckduckgo", "arxiv", "wikipedia"),
    )
    assert "sudo" in toolkits().named_keys()


def test_an_entry_that_no_tool_answers_to_is_told() -> None:
    dynamic = DynamicToolkits(ASSISTANT, ALL, Expansion(lambda entry: () if entry in ("shell", "docker") else (entry,)))
    assert each_mentions(dynamic.find_unmatched(()), ("'shell'", "static tools"))
    assert each_mentions(dynamic.find_unmatched(("devops",))[1:], ("docker", "devops"))


# What may not exist


@pytest.mark.parametrize(
    ("spec", "kits", "words"),
    [
        pytest.param(agent("devop"), ALL, ["'devop' is not there", "'devops'"], id="unknown"),
        pytest.param(agent("devops"), (DEVOPS, DEVOPS), ["'devops' is there twice"], id="twice"),
        pytest.param(
            agent("devops", "podman", initial=("devops", "podman")),
            ALL,
            ["Initial toolkit 'podman'"],
            id="initial-ones",
        ),
        pytest.param(
            agent("files", initial=("files",), tools=("file",)),
            ALL,
            ["Initial toolkit 'files'", "static tools have 'file'"],
            id="initial-and-static",
        ),
        pytest.param(
            agent("load_tools", tools=("Dynamic_Tools",)),
            (Toolkit("load_tools", member_tools=("unload_tools",)),),
            ["'load_tools' of a toolkit", "'Dynamic_Tools' of a tool", "'unload_tools' of a tool"],
            id="reserved-all-at-once",
        ),
    ],
)
def test_D1_D5_what_can_never_work_is_refused_and_named(
    spec: AgentSpec, kits: tuple[Toolkit, ...], words: list[str]
) -> None:
    with pytest.raises(InvalidDefinitionError, match="agent 'a' cannot be used") as caught:
        DynamicToolkits(spec, kits)
    assert [word for word in words if word not in str(caught.value)] == []


def test_D2_without_allowed_toolkits_there_are_no_meta_tools_and_no_reserved_names() -> None:
    dynamic = DynamicToolkits(agent(tools=("load_tools",)), ALL)
    assert not dynamic.has_meta_tools
    assert keys_of(dynamic, dynamic.initial) == ("load_tools",)
    assert dynamic.load("devops", ())[0]["status"] == "not_allowed"
    assert toolkits().has_meta_tools
