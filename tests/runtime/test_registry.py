"""The registry (rules R1, R2): what is registered, and what of it is shown."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wording import naming
from toolbelt.catalog import Plugin, Tool
from toolbelt.catalog.definitions import is_legal_wire_name
from toolbelt.errors import InvalidDefinitionError, NotFoundError
from toolbelt.loadouts import ToolLoadout, ToolLoadoutRegistry
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.gates import FilterOpts
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import FailureCode


def tool(name: str, **settings: Any) -> ExecutableTool:
    return ExecutableTool(name, function=print, **settings)


def names(tools: Sequence[Tool]) -> list[str]:
    return [each.name for each in tools]


def shown(registry: ToolRegistry, *arguments: Any, **settings: Any) -> list[str]:
    return [definition["name"] for definition in registry.to_definitions(*arguments, **settings)]


def read_file(path: str, limit: int = 10) -> str:
    """Read a file.

    Args:
        path: Where it is.
    """
    return f"{limit} lines of {path}"


# R1


def test_R1_the_example_of_the_docstring_works_as_written() -> None:
    lines = [line.strip() for line in (inspect.getdoc(ToolRegistry) or "").splitlines() if line.startswith("    ")]
    example = [line for line in lines if line.startswith(("registry", "definitions", "results"))]
    call = {"id": "1", "function": {"name": "read_file", "arguments": '{"path": "a.txt"}'}}
    names_of: dict[str, Any] = {
        "ToolRegistry": ToolRegistry,
        "read_file": read_file,
        "message": SimpleNamespace(tool_calls=[call]),
    }
    body = "\n    ".join(example)
    exec(f"async def main():\n    {body}\n    return definitions, results", names_of)
    definitions, results = asyncio.run(names_of["main"]())
    assert len(example) == 4
    assert [(result.tool_call_id, result.result.value) for result in results] == [("1", "10 lines of a.txt")]
    assert definitions == [
        {
            "type": "function",
            "function": {
                "name": "read_file",
                "description": "Read a file.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "path": {"type": "string", "description": "Where it is."},
                        "limit": {"type": "integer", "default": 10},
                    },
                    "required": ["path"],
                    "additionalProperties": False,
                },
            },
        }
    ]


def test_R1_registering_a_name_again_overwrites_and_keeps_its_place() -> None:
    registry = ToolRegistry([tool("one"), tool("two"), tool("three")])
    assert shown(registry) == ["one", "two", "three"]
    registry.register(tool("two", description="new"))
    assert [(each["name"], each["description"]) for each in registry.to_definitions()] == [
        ("one", ""), ("two", "new"), ("three", ""),
    ]  # fmt: skip
    registry.register_all([tool("one", description="newer")])
    assert shown(registry)[0] == "one"


OWNED = [
    pytest.param(tool("run"), None, id="built-in"),
    pytest.param(tool("run"), "p", id="extension"),
    pytest.param(tool("run"), "q", id="another-extension"),
]


@pytest.mark.parametrize(("theirs", "their_id"), OWNED)
@pytest.mark.parametrize(("mine", "my_id"), OWNED)
def test_R1_only_its_owner_may_overwrite_a_name(
    mine: ExecutableTool, my_id: str | None, theirs: ExecutableTool, their_id: str | None
) -> None:
    registry = ToolRegistry()
    registry.register(mine, plugin_id=my_id)
    if my_id == their_id:
        registry.register(theirs, plugin_id=their_id)
        return
    with pytest.raises(InvalidDefinitionError, match=naming(my_id or "built-in", their_id or "built-in")):
        registry.register_all([tool("new"), theirs], plugin_id=their_id)
    assert names(registry.get_all()) == ["run"]
    assert registry.get_plugin_id("run") == my_id
    assert shown(registry, []) == ([] if my_id is None else ["run"])


@pytest.mark.parametrize("plugin_id", [None, "ext"])
def test_R1_a_plugin_may_not_overwrite_the_tool_of_another(plugin_id: str | None) -> None:
    registry = ToolRegistry()
    registry.register_all(Plugin("git", (tool("log"),)), plugin_id=plugin_id)
    with pytest.raises(InvalidDefinitionError, match=naming("'log'", "'git'", "'docker'")):
        registry.register_all(Plugin("docker", (tool("ps"), tool("log"))), plugin_id=plugin_id)
    with pytest.raises(InvalidDefinitionError):
        ToolRegistry([tool("log", plugin="git"), tool("log", plugin="docker")])
    assert [(each.name, each.plugin) for each in registry.get_all()] == [("log", "git")]
    registry.register(tool("log", plugin="GIT", description="newer"), plugin_id=plugin_id)
    registry.register(tool("log", description="newest"), plugin_id=plugin_id)
    assert [each.description for each in registry.get_all()] == ["newest"]


def test_R1_a_server_may_not_overwrite_the_tool_of_another() -> None:
    registry = ToolRegistry([tool("mcp__a__b__c", plugin="a")])
    with pytest.raises(InvalidDefinitionError, match=naming("'a'", "'a__b'")):
        registry.register(tool("mcp__a__b__c", plugin="a__b"))
    with pytest.raises(InvalidDefinitionError):
        registry.register(tool("mcp__a__b__c", plugin="a"), plugin_id="extension")
    registry.register(tool("mcp__a__b__c", plugin="a", description="new"))


@pytest.mark.parametrize("named", ["db query", "db_query"])
def test_R1_no_other_owner_takes_the_wire_name_that_a_name_is_rewritten_to(named: str) -> None:
    other = {"db query": "db_query", "db_query": "db query"}[named]
    registry = ToolRegistry([tool(named)])
    with pytest.raises(InvalidDefinitionError, match=naming("'db query'", "'db_query'", "built-in", "'ext'")):
        registry.register(tool(other), plugin_id="ext")
    assert registry.find("db_query") is registry.find(named), "calls by that name go where they went"
    registry.register(tool(other))
    assert names(registry.get_all()) == [named, other], "the same owner may"


def test_R1_a_wire_name_is_free_again_when_its_tool_is_gone() -> None:
    registry = ToolRegistry([tool("db query"), tool("other")])
    registry.unregister("db query")
    registry.register(tool("db_query"), plugin_id="ext")
    assert registry.wire_names["db_query"] == "db_query"


@pytest.mark.parametrize("plugin_id", [{"name": "git"}, ["git"], 3, True, "", " ", "a\nb"], ids=repr)
def test_R1_the_id_of_an_extension_is_a_name(plugin_id: Any) -> None:
    registry = ToolRegistry([tool("there")])
    with pytest.raises(InvalidDefinitionError, match="plugin_id"):
        registry.register(tool("new"), plugin_id=plugin_id)
    assert shown(registry) == ["there"]


def test_R1_a_plugin_is_not_given_by_position() -> None:
    with pytest.raises(TypeError):
        ToolRegistry().register(tool("status"), "git")  # type: ignore[call-arg]


def test_R1_unregistering_what_is_not_there_does_nothing() -> None:
    registry = ToolRegistry([tool("one"), tool("two")])
    registry.unregister("one")
    registry.unregister("one")
    assert (registry.get("one"), registry.find("one"), shown(registry)) == (None, None, ["two"])
    registry.register(tool("one"))
    assert shown(registry) == ["two", "one"]


def test_R1_what_is_in_a_toolset_is_there_available_or_not() -> None:
    registry = ToolRegistry([tool("a", toolset="x", is_available=lambda: False), tool("b"), tool("c", toolset="x")])
    assert names(registry.get_for_toolset("x")) == ["a", "c"]
    assert names(registry.get_available()) == ["b", "c"]
    assert names(registry.get_all()) == ["a", "b", "c"]
    assert registry.get_for_toolset("y") == ()


def test_R1_available_is_what_says_so_and_has_what_it_needs() -> None:
    tools = [tool("plain"), tool("net", capabilities=["network"]), tool("disk", capabilities=["storage"])]
    registry = ToolRegistry(tools, backends={"network": object()})
    assert names(registry.get_available()) == shown(registry) == ["plain", "net"]


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        pytest.param(Tool("plain"), ("plain", "ExecutableTool"), id="a-plain-tool"),
        pytest.param(3, "3 is no function", id="no-function"),
        pytest.param(lambda: None, "A lambda has no name", id="a-lambda"),
    ],
)
def test_R1_one_that_cannot_be_a_tool_adds_none(bad: Any, named: object) -> None:
    registry = ToolRegistry([tool("there")])
    with pytest.raises(InvalidDefinitionError, match=naming(named)):
        registry.register_all([tool("new"), bad, tool("newer")])
    with pytest.raises(InvalidDefinitionError, match=naming(named)):
        registry.register_all(iter([tool("new"), bad]), plugin_id="extension")
    assert names(registry.get_all()) == ["there"]


def takes_nothing() -> None: ...
def takes_a(a: int) -> None: ...
def takes_a_in_place(a: int, /) -> None: ...
def takes_any(**rest: int) -> None: ...
def takes_a_and_context(ctx: ToolContext, a: int = 1) -> None: ...


LISTS_A = {"type": "object", "properties": {"a": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("function", "parameters", "is_refused"),
    [
        pytest.param(takes_a, LISTS_A, False, id="as-listed"),
        pytest.param(takes_any, LISTS_A, False, id="any"),
        pytest.param(takes_a_and_context, LISTS_A, False, id="and-the-context"),
        pytest.param(takes_nothing, LISTS_A, True, id="listed-but-not-taken"),
        pytest.param(takes_a_in_place, LISTS_A, True, id="by-position-only"),
        pytest.param(takes_a_and_context, {"properties": {"ctx": {}}}, True, id="what-the-context-takes"),
        pytest.param(takes_a, {"properties": {}}, True, id="needed-but-not-listed"),
        pytest.param(takes_a, {"properties": {}, "additionalProperties": False}, True, id="needed-but-forbidden"),
        pytest.param(takes_a, {"properties": {}, "additionalProperties": {"type": "integer"}}, False, id="open"),
        pytest.param(takes_a, {}, False, id="no-schema-says-nothing"),
    ],
)
def test_R7_a_function_that_cannot_take_its_arguments_is_refused(
    function: Any, parameters: dict[str, Any], is_refused: bool
) -> None:
    made = ExecutableTool.of(function, name="t", parameters=parameters)
    if not is_refused:
        ToolRegistry([made])
        return
    with pytest.raises(InvalidDefinitionError, match="'t'"):
        ToolRegistry([made])


def test_R1_a_plugin_of_tools_that_cannot_be_run_adds_neither_tools_nor_category() -> None:
    registry = ToolRegistry()
    with pytest.raises(InvalidDefinitionError):
        registry.register_all(Plugin("mine", (tool("a"), Tool("b")), category="git"))
    registry.register(tool("a", plugin="mine"))
    assert registry.catalog.get_plugin("mine").effective_category is None


def test_R1_a_backend_for_no_capability_is_refused() -> None:
    with pytest.raises(InvalidDefinitionError, match="Did you mean 'network'"):
        ToolRegistry(backends={"netwrk": object()})


def test_R1_the_catalog_groups_by_plugin_and_keeps_categories() -> None:
    registry = ToolRegistry([tool("lone"), tool("status", plugin="git")])
    registry.register_all(Plugin("issues", (tool("issue_list"), tool("issue_get")), "github", "Tickets."))
    registry.register(tool("diff", plugin="Git"))
    catalog = registry.catalog
    assert [(plugin.name, names(plugin.tools), plugin.effective_category) for plugin in catalog.plugins] == [
        ("lone", ["lone"], None),
        ("git", ["status", "diff"], "git"),
        ("issues", ["issue_list", "issue_get"], "github"),
    ]
    assert catalog.get_plugin("issues").description == "Tickets."
    loadout = ToolLoadout("mine", included_categories=frozenset({"github"}), default_plugins=frozenset({"git/diff"}))
    assert names(ToolLoadoutRegistry([loadout]).resolve("mine", catalog).active_tools) == [
        "diff", "issue_list", "issue_get",
    ]  # fmt: skip


def test_R1_the_catalog_keeps_tools_apart_whose_paths_are_alike() -> None:
    registry = ToolRegistry([tool("b/c", plugin="a"), tool("c", plugin="a/b"), tool("d", id="own")])
    assert [each.id for each in registry.catalog.tools] == ["b/c", "c", "own"]


# R2


@dataclass(frozen=True)
class Kind:
    """A tool of the property test."""

    name: str
    plugin_id: str | None
    always_include: bool
    answer: bool | None


SERVERS = ["s", "t"]
NAMES = ["read", "write", "run", "mcp__s__get", "mcp__s__put", "mcp__t__get", "mcp_x"]
KINDS = st.lists(
    st.builds(
        Kind,
        name=st.sampled_from(NAMES),
        plugin_id=st.none() | st.sampled_from(["p", "q"]),
        always_include=st.booleans(),
        answer=st.none() | st.booleans(),
    ),
    max_size=8,
)


def some(of: list[str]) -> st.SearchStrategy[list[str] | None]:
    return st.none() | st.lists(st.sampled_from(of), max_size=4)


def registered(kinds: list[Kind]) -> list[Kind]:
    """A name that its owner registers again overwrites and keeps its place; nobody else may."""
    latest: dict[str, Kind] = {}
    for kind in kinds:
        if kind.name not in latest or latest[kind.name].plugin_id == kind.plugin_id:
            latest[kind.name] = kind
    return list(latest.values())


def by_the_words_of_R2(
    kinds: list[Kind], allowed: list[str] | None, filters: dict[str, list[str] | None]
) -> Iterator[str]:
    """The gates in the order and the words of the rule, none of the code."""
    for kind in registered(kinds):
        is_of_mcp, is_of_extension = kind.name.startswith("mcp__"), kind.plugin_id is not None
        is_built_in = not is_of_mcp and not is_of_extension
        if kind.answer is False:
            continue
        if is_built_in and allowed is not None and kind.name not in allowed and not kind.always_include:
            continue
        if kind.name in (filters["exclude_tools"] or []):
            continue
        servers, tools, plugins = (filters[f"allowed_{of}"] for of in ("mcp_servers", "mcp_tools", "plugins"))
        if is_of_mcp and servers is not None and kind.name.split("__")[1] not in servers:
            continue
        if is_of_mcp and tools is not None and kind.name not in tools:
            continue
        if is_of_extension and plugins is not None and kind.plugin_id not in plugins:
            continue
        yield kind.name


@given(
    KINDS,
    some(NAMES),
    st.fixed_dictionaries(
        {
            "exclude_tools": some(NAMES),
            "allowed_mcp_servers": some(SERVERS),
            "allowed_mcp_tools": some(NAMES),
            "allowed_plugins": some(["p", "q"]),
        }
    ),
)
def test_R2_what_is_shown_is_what_the_words_of_the_rule_say(
    kinds: list[Kind], allowed: list[str] | None, filters: dict[str, Any]
) -> None:
    registry = ToolRegistry()
    for kind in kinds:
        answer = kind.answer
        asked = None if answer is None else lambda answer=answer: answer
        made = tool(kind.name, always_include=kind.always_include, is_available=asked)
        there = registry.get(kind.name)
        if there is None or registry.get_plugin_id(kind.name) == kind.plugin_id:
            registry.register(made, plugin_id=kind.plugin_id)
            continue
        with pytest.raises(InvalidDefinitionError):
            registry.register(made, plugin_id=kind.plugin_id)
        assert registry.get(kind.name) is there
    expected = list(by_the_words_of_R2(kinds, allowed, filters))
    assert shown(registry, allowed, FilterOpts(**filters)) == expected
    assert shown(registry, allowed, FilterOpts(**filters)) == expected


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param("Run", id="name-in-another-case"),
        pytest.param("shell.v1", id="id"),
        pytest.param("Shell/run", id="path"),
        pytest.param("run_it", id="wire-name"),
        pytest.param("RUN_IT", id="wire-name-in-another-case"),
        pytest.param(" run", id="split-at-a-comma"),
    ],
)
def test_R2_a_deny_list_takes_any_name_of_a_tool(entry: str) -> None:
    registry = ToolRegistry([tool("run", plugin="shell", id="shell.v1"), tool("run it", id="x"), tool("other")])
    hidden = "run it" if "it" in entry.lower() else "run"
    opts = FilterOpts(exclude_tools=[entry])
    assert registry.wire_names[hidden] not in shown(registry, None, opts)
    assert len(shown(registry, None, opts)) == 2
    (result,) = asyncio.run(registry.execute_parallel([{"id": "1", "name": hidden}], filter_opts=opts))
    assert result.result.code is FailureCode.NOT_AVAILABLE


def test_R2_an_entry_of_a_deny_list_that_names_nothing_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    registry = ToolRegistry([tool("read"), tool("write")], reserved=[tool("later")])
    for _ in range(2):
        registry.to_definitions(filter_opts=FilterOpts(exclude_tools=["reed", "WRITE", "later"]))
        asyncio.run(registry.execute_parallel([], filter_opts=FilterOpts(exclude_tools=["reed"])))
    assert [(record.levelname, "'reed'" in record.getMessage()) for record in caplog.records] == [("WARNING", True)]
    assert "'read'" in caplog.records[0].getMessage()


FORMS = ["lite", "openai", "litellm", "anthropic", "mcp"]


@pytest.mark.parametrize("form", FORMS)
def test_R2_definitions_are_the_same_to_the_byte(form: str) -> None:
    extra = {"strict": True, "cache_control": {"type": "ephemeral"}, "title": "A"}
    registry = ToolRegistry([read_file, tool("b", extra=extra, annotations={"readOnlyHint": True}), tool("c")])
    first = json.dumps(registry.to_definitions(form=form))
    registry.to_definitions(["b"], form="lite")
    assert json.dumps(registry.to_definitions(form=form)) == first
    again = ToolRegistry(registry.get_all())
    assert json.dumps(again.to_definitions(form=form)) == first


def test_R2_the_lite_form_has_three_keys_and_takes_no_arguments_where_there_are_none() -> None:
    (definition,) = ToolRegistry([tool("a", description="A.", extra={"strict": True})]).to_definitions()
    assert definition == {"name": "a", "description": "A.", "parameters": {"type": "object", "properties": {}}}


@pytest.mark.parametrize("form", FORMS)
def test_R2_whatever_is_done_to_definitions_the_next_are_as_before(form: str) -> None:
    def spoil(value: Any) -> None:
        if isinstance(value, dict):
            for inner in list(value.values()):
                spoil(inner)
            value.pop("type", None)
            value["additionalProperties"] = "changed"
        elif isinstance(value, list):
            for inner in value:
                spoil(inner)
            value.append("changed")

    registry = ToolRegistry([read_file, tool("b", annotations={"readOnlyHint": True})])
    before = json.dumps(registry.to_definitions(form=form))
    taken = registry.to_definitions(form=form)
    if form == "lite":
        taken[0]["name"] = "changed"
        with pytest.raises(TypeError, match="frozen"):
            spoil(taken)
    else:
        spoil(taken)
        assert json.dumps(taken) != before
    taken.clear()
    assert json.dumps(registry.to_definitions(form=form)) == before
    assert json.dumps(copy.deepcopy(registry.to_definitions(form=form))) == before


def test_R2_an_unknown_form_names_the_nearest() -> None:
    with pytest.raises(NotFoundError, match="Did you mean 'anthropic'"):
        ToolRegistry().to_definitions(form="antropic")


def test_R2_a_tool_is_asked_each_time() -> None:
    answers = iter([True, False, True])
    registry = ToolRegistry([tool("a", is_available=lambda: next(answers)), tool("b")])
    assert [shown(registry) for _ in range(4)] == [["a", "b"], ["b"], ["a", "b"], ["b"]]


def test_R2_a_tool_that_changes_the_registry_when_asked_does_not_disturb_the_listing() -> None:
    registry = ToolRegistry()

    def leave() -> bool:
        registry.unregister("b")
        return True

    registry.register_all([tool("a", is_available=leave), tool("b")])
    assert [shown(registry), shown(registry)] == [["a", "b"], ["a"]]


def test_R2_many_lists_in_turn_are_each_answered_rightly() -> None:
    registry = ToolRegistry([tool(f"t{number}") for number in range(100)])
    for _ in range(2):
        for number in range(100):
            assert shown(registry, [f"t{number}", "t0"]) == (["t0", f"t{number}"] if number else ["t0"])


ODD = [
    pytest.param("files.read", "files_read", id="dot"),
    pytest.param("read file", "read_file", id="blank"),
    pytest.param("x" * 80, None, id="80-characters"),
    pytest.param("日本", None, id="no-letter-that-is-legal"),
    pytest.param("größe", None, id="umlaut"),
    pytest.param("1st", "t_1st", id="digit-first"),
    pytest.param("mcp__git hub__get", "mcp__git_hub__get", id="server-with-a-blank"),
]


@pytest.mark.parametrize(("name", "wire_name"), ODD)
@pytest.mark.parametrize("form", ["lite", "openai"])
def test_R2_a_name_that_providers_refuse_goes_by_another_and_is_found_by_both(
    name: str, wire_name: str | None, form: str
) -> None:
    registry = ToolRegistry([tool("plain"), tool(name)])
    definition = registry.to_definitions(form=form)[1]
    shown_as = definition["name"] if form == "lite" else definition["function"]["name"]
    assert is_legal_wire_name(shown_as)
    assert wire_name in (None, shown_as)
    for word in (name, shown_as):
        found = registry.find(word)
        assert found is not None
        assert found.tool is registry.get(name)
    assert shown(registry, ["plain", name], FilterOpts(exclude_tools=frozenset({"plain"}))) == [shown_as]
    assert registry.get(shown_as) is None


def test_R2_a_name_that_is_reserved_counts_from_the_start_and_leads_nowhere() -> None:
    registry = ToolRegistry([ExecutableTool.of(lambda: "dotted", name="a.b")], reserved=(tool("a_b"), tool("c d")))
    shown = registry.to_definitions()
    assert registry.wire_names == {"a.b": shown[0]["name"], "a_b": "a_b", "c d": "c_d"}
    assert shown[0]["name"] != "a_b"
    assert [registry.find(name) for name in ("a_b", "c d", "c_d")] == [None, None, None]
    registry.register(tool("a_b"))
    assert registry.to_definitions()[:1] == shown
    assert ToolRegistry([ExecutableTool.of(lambda: "dotted", name="a.b")]).wire_names == {"a.b": "a_b"}


def test_R2_a_wire_name_never_is_another_tools_name() -> None:
    registry = ToolRegistry([tool("read file"), tool("read_file"), tool("read.file")])
    words = shown(registry)
    assert words[1] == "read_file"
    assert len(set(words)) == 3
    assert [registry.find(word).tool.name for word in words] == ["read file", "read_file", "read.file"]  # type: ignore[union-attr]


@given(st.lists(st.text("ab_. é", min_size=1, max_size=4).filter(str.strip), max_size=8, unique=True))
def test_R2_every_name_shown_is_legal_unique_and_leads_back(given_names: list[str]) -> None:
    registry = ToolRegistry([tool(name) for name in given_names])
    words = shown(registry)
    assert all(map(is_legal_wire_name, words))
    assert len(set(words)) == len(words)
    assert [found.tool.name for word in words if (found := registry.find(word)) is not None] == given_names


def test_R2_threads_may_list_while_one_registers() -> None:
    registry = ToolRegistry([tool(f"t{number}") for number in range(50)])
    failures: list[BaseException] = []
    is_over = threading.Event()

    def keep_listing() -> None:
        try:
            while not is_over.is_set():
                words = shown(registry, [f"t{number}" for number in range(50)])
                assert words == [f"t{number}" for number in range(50)]
        except BaseException as error:  # noqa: BLE001  of a thread, for the test
            failures.append(error)

    threads = [threading.Thread(target=keep_listing) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(300):
        registry.register(tool(f"new{number % 7}"))
        registry.unregister(f"new{(number + 3) % 7}")
    is_over.set()
    for thread in threads:
        thread.join()
    assert failures == []
