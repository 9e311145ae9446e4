"""The gates (rule R2): who is let through by which list, and what is said to who is not."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

from toolbelt.errors import InvalidDefinitionError
from toolbelt.runtime.context import Capability
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.gates import FilterOpts, Gates, Refusal, RefusalReason, RegisteredTool, find_unavailability


def tool(name: str, **settings: Any) -> ExecutableTool:
    return ExecutableTool(name, function=print, **settings)


def passes(registered: RegisteredTool, allowed: Any = None, **filters: Any) -> bool:
    gates = Gates.of(allowed, FilterOpts(**filters), {})
    return gates.find_refusal(registered) is None


BUILT_IN = RegisteredTool(tool("read"))
ALWAYS = RegisteredTool(tool("help", always_include=True))
MCP = RegisteredTool(tool("mcp__git__status"))
EXTENSION = RegisteredTool(tool("translate"), "languages")
MCP_OF_EXTENSION = RegisteredTool(tool("mcp__git__blame"), "languages")
ALL = {"built-in": BUILT_IN, "always": ALWAYS, "mcp": MCP, "extension": EXTENSION, "both": MCP_OF_EXTENSION}
EVERYONE = set(ALL)


@pytest.mark.parametrize(
    ("allowed", "filters", "let_through"),
    [
        pytest.param(None, {}, EVERYONE, id="none-is-unrestricted"),
        pytest.param([], {}, EVERYONE - {"built-in"}, id="an-empty-allow-list-is-no-built-in"),
        pytest.param(["read"], {}, EVERYONE, id="an-allow-list-speaks-of-built-ins-alone"),
        pytest.param("read", {}, EVERYONE, id="a-lone-name-is-a-list-of-one"),
        pytest.param(iter(["read"]), {}, EVERYONE, id="any-iterable-is-a-list"),
        pytest.param(["READ"], {}, EVERYONE - {"built-in"}, id="names-are-exact"),
        pytest.param(None, {"allowed_mcp_servers": None}, EVERYONE, id="no-list-of-servers"),
        pytest.param(None, {"allowed_mcp_servers": []}, EVERYONE - {"mcp", "both"}, id="no-server"),
        pytest.param(None, {"allowed_mcp_servers": ["git"]}, EVERYONE, id="this-server"),
        pytest.param(None, {"allowed_mcp_tools": []}, EVERYONE - {"mcp", "both"}, id="no-mcp-tool"),
        pytest.param(None, {"allowed_mcp_tools": ["mcp__git__status"]}, EVERYONE - {"both"}, id="this-mcp-tool"),
        pytest.param(
            None, {"allowed_mcp_tools": ["mcp__git__status"], "allowed_mcp_servers": []}, EVERYONE - {"mcp", "both"},
            id="both-lists-count",
        ),
        pytest.param(None, {"allowed_plugins": []}, EVERYONE - {"extension", "both"}, id="no-extension"),
        pytest.param(None, {"allowed_plugins": ["languages"]}, EVERYONE, id="this-extension"),
        pytest.param(None, {"exclude_tools": ["read", "help"]}, EVERYONE - {"built-in", "always"}, id="excluded"),
        pytest.param(["read"], {"exclude_tools": ["read"]}, EVERYONE - {"built-in"}, id="exclusion-beats-allowing"),
        pytest.param(["help"], {"exclude_tools": "help"}, EVERYONE - {"built-in", "always"}, id="and-always-include"),
        pytest.param(
            None, {"exclude_tools": [entry.tool.name for entry in ALL.values()]}, set(), id="and-everything-else"
        ),
        pytest.param([], {"allowed_mcp_servers": [], "allowed_plugins": []}, {"always"}, id="only-what-always-is"),
    ],
)  # fmt: skip
def test_R2_who_is_let_through(allowed: Any, filters: dict[str, Any], let_through: set[str]) -> None:
    gates = Gates.of(allowed, FilterOpts(**filters), {})
    assert {who for who, registered in ALL.items() if gates.find_refusal(registered) is None} == let_through


@pytest.mark.parametrize(
    ("name", "plugin", "server", "is_let_through"),
    [
        pytest.param("mcp__a__b__c", None, "a", False, id="the-name-alone-does-not-say-which"),
        pytest.param("mcp__a__b__c", None, "a__b", False, id="so-it-is-of-neither"),
        pytest.param("mcp__a__b__c", None, "b", False, id="but-of-no-other"),
        pytest.param("mcp__a__b__c", "a__b", "a__b", True, id="the-plugin-says-which"),
        pytest.param("mcp__a__b__c", "a__b", "a", False, id="and-so-it-is-not-the-other"),
        pytest.param("mcp__a__b__c", "A", "a", False, id="a-plugin-of-another-name-says-nothing"),
        pytest.param("mcp__a__b", "A", "a", True, id="nor-need-it-where-the-name-says-it"),
        pytest.param("mcp__a___b", None, "a_", False, id="three-underscores-two-ways"),
        pytest.param("mcp__github__enterprise__delete_all", None, "github", False, id="a-longer-server"),
        pytest.param("mcp__a", None, "a", True, id="a-name-without-tool"),
        pytest.param("mcp__", None, "a", False, id="a-name-of-nothing"),
        pytest.param("mcp_a__b", None, "x", True, id="one-underscore-is-a-built-in"),
        pytest.param("MCP__a__b", None, "x", True, id="capitals-are-a-built-in"),
    ],
)
def test_R2_which_server_a_tool_is_of(name: str, plugin: str | None, server: str, is_let_through: bool) -> None:
    assert passes(RegisteredTool(tool(name, plugin=plugin)), None, allowed_mcp_servers=[server]) == is_let_through


def test_R2_a_tool_of_one_of_two_servers_passes_if_both_are_allowed() -> None:
    registered = RegisteredTool(tool("mcp__a__b__c"))
    assert passes(registered, None, allowed_mcp_servers=["a", "a__b"])
    assert passes(registered, None)


def test_R2_always_include_passes_the_allow_list_and_nothing_else() -> None:
    assert passes(RegisteredTool(tool("a", always_include=True)), [])
    assert not passes(RegisteredTool(tool("mcp__s__a", always_include=True)), None, allowed_mcp_servers=[])
    assert not passes(RegisteredTool(tool("a", always_include=True), "p"), None, allowed_plugins=[])
    assert not passes(RegisteredTool(tool("a", always_include=True, is_available=lambda: False)))


def raises(error: BaseException) -> Callable[[], bool]:
    def ask() -> bool:
        raise error

    return ask


class Torn:
    def __bool__(self) -> bool:
        raise ValueError("the truth value is ambiguous")


async def later() -> bool:
    return True


@pytest.mark.parametrize(
    ("is_available", "reason", "detail"),
    [
        pytest.param(None, None, "", id="says-nothing"),
        pytest.param(lambda: True, None, "", id="yes"),
        pytest.param(lambda: "yes", None, "", id="something"),
        pytest.param(lambda: False, RefusalReason.UNAVAILABLE, "", id="no"),
        pytest.param(lambda: None, RefusalReason.UNAVAILABLE, "", id="nothing"),
        pytest.param(list, RefusalReason.UNAVAILABLE, "", id="empty"),
        pytest.param(raises(OSError("down")), RefusalReason.AVAILABILITY_RAISED, "OSError", id="raises"),
        pytest.param(raises(SystemExit(1)), RefusalReason.AVAILABILITY_RAISED, "SystemExit", id="exits"),
        pytest.param(
            raises(GeneratorExit()), RefusalReason.AVAILABILITY_RAISED, "GeneratorExit", id="no-exception-of-use"
        ),
        pytest.param(lambda: Torn(), RefusalReason.AVAILABILITY_RAISED, "ValueError", id="neither-true-nor-false"),  # noqa: PLW0108
        pytest.param(later, None, "", id="async"),
        pytest.param(lambda: later(), None, "", id="gives-a-coroutine"),  # noqa: PLW0108
        pytest.param(
            raises(KeyboardInterrupt()), RefusalReason.AVAILABILITY_RAISED, "KeyboardInterrupt", id="interrupts"
        ),
    ],
)
def test_R2_a_tool_states_whether_it_is_available(is_available: Any, reason: RefusalReason | None, detail: str) -> None:
    with warnings.catch_warnings(action="error"):
        refusal = find_unavailability(tool("t", is_available=is_available), ())
    assert refusal == (None if reason is None else Refusal("t", reason, detail))


def test_R2_what_is_barred_is_not_asked() -> None:
    asked = RegisteredTool(tool("t", is_available=raises(AssertionError("asked"))))
    assert Gates.of([], None, {}).find_refusal(asked) == Refusal("t", RefusalReason.NOT_ALLOWED)


def test_R6_a_capability_that_nothing_serves_keeps_a_tool_out() -> None:
    needs = tool("t", capabilities=["network", "secrets", "process"])
    assert find_unavailability(needs, {Capability.PROCESS}) == Refusal(
        "t", RefusalReason.NO_BACKEND, "network, secrets"
    )
    assert find_unavailability(needs, ["network", "secrets", "process"]) is None


@pytest.mark.parametrize(
    ("registered", "allowed", "filters", "reason"),
    [
        (BUILT_IN, [], {}, RefusalReason.NOT_ALLOWED),
        (BUILT_IN, None, {"exclude_tools": ["read"]}, RefusalReason.EXCLUDED),
        (MCP, None, {"allowed_mcp_servers": []}, RefusalReason.MCP_SERVER),
        (MCP, None, {"allowed_mcp_tools": []}, RefusalReason.MCP_TOOL),
        (EXTENSION, None, {"allowed_plugins": []}, RefusalReason.EXTENSION),
    ],
)
def test_R2_a_refusal_has_its_reason(
    registered: RegisteredTool, allowed: Any, filters: dict[str, Any], reason: RefusalReason
) -> None:
    refusal = Gates.of(allowed, FilterOpts(**filters), {}).find_refusal(registered)
    assert refusal is not None
    assert (refusal.tool, refusal.reason) == (registered.tool.name, reason)


@pytest.mark.parametrize(
    ("refusal", "text"),
    [
        (Refusal("t", RefusalReason.EXCLUDED), "t is not permitted here: it is excluded."),
        (Refusal("t", RefusalReason.NOT_ALLOWED), "t is not permitted here: it is not among the allowed tools."),
        (
            Refusal("t", RefusalReason.MCP_SERVER, "'{a}'"),
            "t is not permitted here: its MCP server '{a}' is not allowed.",
        ),
        (Refusal("{t}", RefusalReason.UNAVAILABLE), "{t} is not currently available."),
        (
            Refusal("t", RefusalReason.NO_BACKEND, "network, secrets"),
            "t is not currently available: nothing here provides network, secrets.",
        ),
    ],
)
def test_R2_a_refusal_is_a_sentence_for_the_model(refusal: Refusal, text: str) -> None:
    assert str(refusal) == text


def test_R2_lists_are_taken_as_they_are() -> None:
    mine = ["a"]
    opts = FilterOpts(exclude_tools=mine, allowed_mcp_servers=mine, allowed_mcp_tools=mine, allowed_plugins=mine)
    mine.append("b")
    assert opts == FilterOpts(*[frozenset({"a"})] * 4)
    assert FilterOpts() == FilterOpts(exclude_tools=[])


@pytest.mark.parametrize("entry", ["", " ", "\u200b", 7, None, ["run"]])
def test_R2_an_entry_of_a_deny_list_that_is_no_name_is_refused(entry: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match="exclude_tools"):
        FilterOpts(exclude_tools=[entry])


@pytest.mark.parametrize(
    ("name", "entry"), [("run", "ru\u200bn"), ("ru\u200bn", "run"), ("run", "run\n"), ("run ", "run")]
)
def test_R2_no_character_that_cannot_be_seen_hides_a_tool_from_a_deny_list(name: str, entry: str) -> None:
    refusal = Gates.of(None, FilterOpts(exclude_tools=[entry]), {}).find_refusal(RegisteredTool(tool(name)))
    assert refusal is not None
    assert refusal.reason is RefusalReason.EXCLUDED


@pytest.mark.parametrize("names", [7, b"run", {"run": False}, [7], [["run"]]])
def test_R2_a_list_of_something_else_is_refused(names: Any) -> None:
    for part in ("exclude_tools", "allowed_mcp_servers", "allowed_mcp_tools", "allowed_plugins"):
        with pytest.raises(InvalidDefinitionError, match=part):
            FilterOpts(**{part: names})
    with pytest.raises(InvalidDefinitionError, match="allowed_tools"):
        Gates.of(names, None, {})


@pytest.mark.parametrize("filters", [{"exclude_tools": ["run"]}, {}, "run", 7])
def test_R2_filters_that_are_no_filters_are_refused(filters: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match="filter_opts"):
        Gates.of(None, filters, {})


def test_R3_whether_a_tool_is_to_be_had_is_asked_before_what_it_needs() -> None:
    needs = tool("t", capabilities=["network"], is_available=lambda: False)
    assert find_unavailability(needs, ()) == Refusal("t", RefusalReason.UNAVAILABLE)
