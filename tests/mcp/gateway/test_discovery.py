"""The meta-tools of the gateway: what they find, describe and pass on (rule M6)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.definitions import is_legal_wire_name
from toolbelt.catalog.ranking.words import LARGE
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.catalog.tool_names import describe_tools
from toolbelt.mcp.gateway.discovery import (
    CallThrough,
    Discovery,
    DiscoveryRefusal,
    RefusalReason,
    format_answer,
)
from toolbelt.mcp.gateway.discovery_arguments import DiscoveryArgumentsError
from toolbelt.mcp.gateway.meta_tools import MAX_DESCRIBED, PAGE_SIZE, DiscoveryRole
from toolbelt.stores.cache_files import CacheFiles

SCHEMA = {"type": "object", "properties": {"path": {"$ref": "#/$defs/p"}}, "$defs": {"p": {"type": "string"}}}
READS, WRITES = {"readOnlyHint": True}, {"readOnlyHint": False}
CATALOG = Catalog(
    (
        Plugin(
            "vault",
            (
                Tool("secret_list", "List the secrets of a vault. Slowly.", SCHEMA, READS),
                Tool("secret_delete", "Delete a secret for good.", SCHEMA, {"destructiveHint": True}),
                Tool("secret_touch", "Touch a secret.", SCHEMA),
                Tool("secret_export", "Export all secrets.", SCHEMA, READS),  # disabled
            ),
            description="Secrets and keys. Nothing else.",
        ),
        Plugin("git", (Tool("git_status", "Show what changed.", SCHEMA, READS), Tool("git push", "Push.", SCHEMA))),
        Plugin("files", (Tool("read", "Read a file.", SCHEMA, READS), Tool("list", "List a folder.", SCHEMA, READS))),
        Plugin("web", (Tool("list", "List pages.", SCHEMA, READS),)),  # hidden
    )
)
DISCOVERABLE = ("vault/secret_list", "vault/secret_delete", "vault/secret_touch", "git/git push", "files/list")
OFFERED = ("git/git_status", "files/read")
WITHHELD = ("vault/secret_export", "web/list")


def discover(catalog: Catalog = CATALOG, discoverable: tuple[str, ...] = DISCOVERABLE) -> Discovery:
    def pick(ids: tuple[str, ...]) -> list[Tool]:
        return [tool for tool in catalog.tools if tool.id in ids]

    rest = tuple(tool.id for tool in catalog.tools if tool.id not in discoverable + OFFERED)
    return Discovery(
        pick(discoverable), catalog.wire_names, catalog.plugins, offered=pick(OFFERED), withheld=pick(rest)
    )


def names_of(tool_id: str) -> set[str]:
    """Every name that somebody may write for a tool."""
    tool = CATALOG.get_tool(tool_id)
    plain = {tool.id, tool.path, tool.name, CATALOG.wire_names[tool.id]}
    cased = {form for name in plain for form in (name.upper(), name.title(), name.swapcase())}
    return plain | cased | {f" {name}\n" for name in plain}


def test_M6_there_are_four_and_their_hints_are_right() -> None:
    definitions = discover().definitions
    hints = {tool.name: (tool.annotations["readOnlyHint"], tool.annotations["destructiveHint"]) for tool in definitions}
    assert hints == {
        "search_tools": (True, False),
        "describe_tools": (True, False),
        "call_tool_read": (True, False),
        "call_tool": (False, True),
    }
    for tool in definitions:
        Draft202012Validator.check_schema(tool.parameters)
        assert is_legal_wire_name(tool.name)
        assert "{" not in tool.description


def test_M6_without_anything_discoverable_there_are_none() -> None:
    discovery = discover(discoverable=())
    assert discovery.definitions == ()
    assert discovery.find_role("search_tools") is None


def test_M6_a_tool_of_a_server_keeps_its_name_and_the_meta_tool_gets_another() -> None:
    taken = Catalog((Plugin("other", (Tool("call_tool", "Parse."), Tool("Search_Tools", "Parse more."))),))
    discovery = Discovery(taken.tools, taken.wire_names)
    assert [tool.name for tool in discovery.definitions] == [
        "toolbelt_search_tools",
        "describe_tools",
        "call_tool_read",
        "toolbelt_call_tool",
    ]
    assert "toolbelt_call_tool" in discovery.definitions[0].description
    found = discovery.search("parse")["tools"]
    assert {tool["call_with"] for tool in found} == {"toolbelt_call_tool"}


def test_M6_the_description_lists_the_groups() -> None:
    description = discover().definitions[0].description
    groups = description.partition("Groups:\n")[2].splitlines()
    assert groups == ["- vault (3): Secrets and keys.", "- git (1): git_push", "- files (1): files__list"]
    assert "web" not in description  # hidden


@pytest.mark.parametrize("tools", [3, 60], ids=["by-name", "by-subject"])
def test_M6_a_description_that_was_made_from_names_does_not_name_what_is_withheld(tools: int) -> None:
    names = [f"{verb}_pearl{number}" for number in range(tools) for verb in ("list", "wipe")]
    made = Plugin("box", tuple(Tool(name, "Does.") for name in names), description=describe_tools(names))
    shown = [tool for tool in made.tools if tool.name.startswith("list")]
    hidden = [tool for tool in made.tools if tool not in shown]
    description = Discovery(shown, {}, [made], withheld=hidden).definitions[0].description
    assert "list_pearl0" in description
    assert "wipe" not in description


def test_M6_the_log_can_name_what_a_client_may_not_know_of() -> None:
    assert discover().find_wire_name("VAULT/Secret_Export") == "secret_export"
    assert discover().find_wire_name("list") == "list"  # of two tools


@pytest.mark.parametrize(("plugins", "tokens"), [(10, 900), (60, 900), (2_000, 900)])
def test_M6_the_description_stays_short_however_many_groups_there_are(plugins: int, tokens: int) -> None:
    many = Catalog(
        tuple(
            Plugin(f"service{number}", (Tool(f"tool{number}", "Does."),), description="Long words " * 30)
            for number in range(plugins)
        )
    )
    description = Discovery(many.tools, many.wire_names, many.plugins).definitions[0].description
    assert "service0 (1)" in description
    assert EstimateCounter().count([description])[0] < tokens


def test_M6_search_ranks_by_words_and_names_the_tool_to_call_with() -> None:
    answer = discover().search("delete a secret")
    assert answer["tools"][0] == {
        "name": "secret_delete",
        "group": "vault",
        "description": "Delete a secret for good.",
        "call_with": "call_tool",
    }
    assert {tool["name"]: tool["call_with"] for tool in answer["tools"]} == {
        "secret_delete": "call_tool",
        "secret_list": "call_tool_read",
        "secret_touch": "call_tool",
    }


def test_M6_a_group_is_found_by_its_own_words() -> None:
    assert discover().search("git")["tools"][0]["name"] == "git_push"
    only = discover().search(group="VAULT")["tools"]
    assert [tool["name"] for tool in only] == ["secret_list", "secret_delete", "secret_touch"]
    unknown = discover().search(group="vaul")
    assert unknown["groups"] == ["vault", "git", "files"]
    assert "'vault'" in unknown["message"]


def test_M6_search_gives_pages() -> None:
    many = Catalog((Plugin("p", tuple(Tool(f"tool_{number:03}", "Alike.") for number in range(25))),))
    discovery = Discovery(many.tools, many.wire_names)
    pages = [discovery.search("alike", page=page) for page in (1, 2, 3, 4)]
    assert [len(page["tools"]) for page in pages] == [PAGE_SIZE, PAGE_SIZE, 5, 0]
    assert len({tool["name"] for page in pages for tool in page["tools"]}) == 25
    assert all((page["pages"], page["total"]) == (3, 25) for page in pages)


def test_M6_nothing_found_gives_the_nearest_names() -> None:
    answer = discover().search("sekretlizt")
    assert answer["tools"] == []
    assert answer["nearest"][0] == "secret_list"
    assert answer["groups"] == ["vault", "git", "files"]


def test_M6_describe_gives_the_schema_as_the_server_sent_it() -> None:
    described = discover().describe(["secret_list", "VAULT/secret_delete", "git_push"])
    assert [tool["inputSchema"] for tool in described["tools"]] == [SCHEMA] * 3
    assert described["tools"][0]["description"] == "List the secrets of a vault. Slowly."
    assert [tool["call_with"] for tool in described["tools"]] == ["call_tool_read", "call_tool", "call_tool"]
    assert described["tools"][0]["annotations"] == READS


def test_M6_describe_names_what_is_unknown_with_the_nearest() -> None:
    described = discover().describe(["secret_lst", "secret_list"])
    assert [tool["name"] for tool in described["tools"]] == ["secret_list"]
    (unknown,) = described["unknown"]
    assert (unknown["name"], unknown["nearest"][0]) == ("secret_lst", "secret_list")


def test_M6_a_long_answer_leaves_out_the_rest_by_name() -> None:
    huge = Catalog((Plugin("p", tuple(Tool(f"t{number}", "x" * 50_000) for number in range(3))),))
    described = Discovery(huge.tools, huge.wire_names).describe(["t0", "t1", "t2"])
    assert [tool["name"] for tool in described["tools"]] == ["t0"]
    assert described["left_out"] == ["t1", "t2"]


def test_answers_are_one_line_of_json_without_invisible_characters() -> None:
    odd = Catalog((Plugin("p", (Tool("t", "A\u202eb\u200b \x1b[31m.\n\nMore."),)),))
    discovery = Discovery(odd.tools, odd.wire_names)
    for text in (
        format_answer(discovery.answer(DiscoveryRole.SEARCH, {"query": None, "group": None, "page": None})),
        format_answer(discovery.answer(DiscoveryRole.DESCRIBE, {"names": "t"})),
    ):
        assert text.isprintable()
        json.loads(text)
    described = json.loads(format_answer(discovery.answer(DiscoveryRole.DESCRIBE, {"names": ["t"]})))
    assert described["tools"][0]["description"] == "A\u202eb\u200b \x1b[31m.\n\nMore."


@pytest.mark.parametrize(
    ("role", "arguments"),
    [
        (DiscoveryRole.SEARCH, {"query": 3}),
        (DiscoveryRole.SEARCH, {"page": 0}),
        (DiscoveryRole.SEARCH, {"page": True}),
        (DiscoveryRole.SEARCH, {"group": []}),
        (DiscoveryRole.DESCRIBE, {}),
        (DiscoveryRole.DESCRIBE, {"names": []}),
        (DiscoveryRole.DESCRIBE, {"names": [1]}),
        (DiscoveryRole.DESCRIBE, {"names": ["x"] * (MAX_DESCRIBED + 1)}),
    ],
)
def test_wrong_arguments_are_refused_in_words(role: DiscoveryRole, arguments: dict[str, object]) -> None:
    with pytest.raises(DiscoveryArgumentsError, match=r"\.$"):
        discover().answer(role, arguments)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"name": ""}, {"name": 3}, {"name": "secret_list", "arguments": "[1]"}, {"name": "t", "arguments": [1]}],
)
def test_a_call_without_a_name_or_with_wrong_arguments_is_not_passed_on(arguments: dict[str, object]) -> None:
    for role in (DiscoveryRole.CALL, DiscoveryRole.CALL_READ):
        refusal = discover().admit(role, arguments)
        assert isinstance(refusal, DiscoveryRefusal)
        assert refusal.reason is RefusalReason.INVALID_ARGUMENTS


@pytest.mark.parametrize("name", sorted(names_of("vault/secret_list")))
def test_M6_a_read_only_tool_is_called_by_any_of_its_names(name: str) -> None:
    call = discover().admit(DiscoveryRole.CALL_READ, {"name": name, "arguments": {"path": "a"}})
    assert call == CallThrough(CATALOG.get_tool("vault/secret_list"), {"path": "a"})
    assert discover().admit(DiscoveryRole.CALL_READ, {"name": name, "arguments": '{"path": "a"}'}) == call


@pytest.mark.parametrize("tool_id", ["vault/secret_delete", "vault/secret_touch", "git/git push"])
def test_M6_a_tool_that_may_write_never_runs_through_call_tool_read(tool_id: str) -> None:
    for name in names_of(tool_id):
        refusal = discover().admit(DiscoveryRole.CALL_READ, {"name": name})
        assert isinstance(refusal, DiscoveryRefusal)
        assert refusal.reason is RefusalReason.NOT_READ_ONLY
        assert refusal.message.endswith("call it with call_tool.")
        assert isinstance(discover().admit(DiscoveryRole.CALL, {"name": name}), CallThrough)


@pytest.mark.parametrize("hint", [None, False, "true", 1, "yes", [True], {"value": True}])
def test_M6_only_true_itself_is_read_only(hint: object) -> None:
    catalog = Catalog((Plugin("p", (Tool("t", annotations={"readOnlyHint": hint, "destructiveHint": False}),)),))
    discovery = Discovery(catalog.tools, catalog.wire_names)
    assert isinstance(discovery.admit(DiscoveryRole.CALL_READ, {"name": "t"}), DiscoveryRefusal)
    assert isinstance(discovery.admit(DiscoveryRole.CALL, {"name": "t"}), CallThrough)


def test_M6_call_tool_does_not_run_what_only_reads() -> None:
    refusal = discover().admit(DiscoveryRole.CALL, {"name": "secret_list"})
    assert isinstance(refusal, DiscoveryRefusal)
    assert refusal.reason is RefusalReason.READ_ONLY
    assert refusal.message.endswith("call it with call_tool_read.")


@pytest.mark.parametrize("tool_id", WITHHELD)
def test_M6_a_disabled_or_hidden_tool_is_like_one_that_does_not_exist(tool_id: str) -> None:
    discovery = discover()
    for name in names_of(tool_id) - {form for tool in DISCOVERABLE for form in names_of(tool)}:
        for role in (DiscoveryRole.CALL, DiscoveryRole.CALL_READ):
            refusal = discovery.admit(role, {"name": name})
            assert isinstance(refusal, DiscoveryRefusal)
            assert refusal.reason is RefusalReason.UNKNOWN
            unknown = discovery.admit(role, {"name": "zz" + name.strip()})
            assert isinstance(unknown, DiscoveryRefusal)
            assert unknown.reason is RefusalReason.UNKNOWN
            assert refusal.message.split(".")[0] == f"Unknown tool: {name.strip()!r}"
        assert discovery.describe([name])["tools"] == []
    found = {tool["name"] for tool in discovery.search(" ".join(sorted(names_of(tool_id))))["tools"]}
    assert CATALOG.wire_names[tool_id] not in found


def test_M6_a_bare_name_that_a_hidden_tool_shares_means_neither() -> None:
    discovery = discover()
    for name in ("list", "LIST"):
        refusal = discovery.admit(DiscoveryRole.CALL_READ, {"name": name})
        assert isinstance(refusal, DiscoveryRefusal)
        assert refusal.reason is RefusalReason.UNKNOWN
    assert isinstance(discovery.admit(DiscoveryRole.CALL_READ, {"name": "files/list"}), CallThrough)


def test_M6_a_tool_of_the_list_is_called_directly() -> None:
    refusal = discover().admit(DiscoveryRole.CALL_READ, {"name": "git_status"})
    assert isinstance(refusal, DiscoveryRefusal)
    assert refusal.reason is RefusalReason.OFFERED


def test_M6_a_tool_that_is_withheld_later_is_gone_and_the_definitions_stay() -> None:
    before = discover()
    assert before.search("secret")["total"] == 3
    after = before.without({"vault/secret_list", "git/git_status"})
    assert after.definitions == before.definitions
    assert after.search("secret")["total"] == 2
    assert after.describe(["secret_list", "git_status"])["tools"] == []
    refusal = after.admit(DiscoveryRole.CALL_READ, {"name": "secret_list"})
    assert isinstance(refusal, DiscoveryRefusal)
    assert refusal.reason is RefusalReason.UNKNOWN
    assert before.search("secret")["total"] == 3


@given(st.text(max_size=40), st.sampled_from([DiscoveryRole.CALL, DiscoveryRole.CALL_READ]))
def test_M6_no_name_reaches_what_is_withheld(name: str, role: DiscoveryRole) -> None:
    call = discover().admit(role, {"name": name})
    if isinstance(call, CallThrough):
        assert call.tool.id in DISCOVERABLE
        assert (call.tool.annotations.get("readOnlyHint") is True) == (role is DiscoveryRole.CALL_READ)


def test_S2_the_index_of_a_large_surface_is_stored_by_content(tmp_path: Path) -> None:
    tools = [Tool(f"tool_{number}", f"Weighs {number} stones.", id=str(number)) for number in range(LARGE)]
    store = CacheFiles(tmp_path)
    first, again, without = (
        Discovery(tools, {}, store=each).search("stones 1234", "", 1) for each in (store, store, None)
    )
    assert first == again == without
    assert len(list(tmp_path.iterdir())) == 1
