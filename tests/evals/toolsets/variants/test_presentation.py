"""Tools under names that say nothing, and without descriptions (rule E1)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.toolsets.samples import ASSISTANT, CATALOGS, SMALL, TIERED, case, play, shown, toolset, use
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.definitions import is_legal_wire_name
from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.evals.conversation import Message
from toolbelt.evals.offers import ToolRenderer
from toolbelt.evals.toolsets.variants.presentation import make_presentation, without_descriptions
from toolbelt.evals.toolsets.variants.variant import parse_variant
from toolbelt.tiers import MetaTools


def renderer(catalog: Catalog, variant: str, seed: int = 0) -> ToolRenderer:
    return ToolRenderer(
        catalog, EstimateCounter(), presentation=make_presentation(parse_variant(variant), catalog, seed)
    )


def texts_of(schema: Any) -> list[str]:
    """Every text that explains something, wherever it stands."""
    if isinstance(schema, list):
        return [text for item in schema for text in texts_of(item)]
    if not isinstance(schema, dict):
        return []
    own = [schema[key] for key in ("description", "title") if isinstance(schema.get(key), str)]
    inner = [
        text
        for key, value in schema.items()
        if key not in {"const", "enum", "default"}
        for item in (value.values() if key == "properties" else [value])
        for text in texts_of(item)
    ]
    return own + inner


@pytest.mark.parametrize("catalog", CATALOGS.values(), ids=CATALOGS)
def test_E1_anonymous_names_are_legal_unique_and_lead_back(catalog: Catalog) -> None:
    made, meta = renderer(catalog, "anonymous"), MetaTools.of(catalog)
    own_meta = {meta.browse.id, meta.load.id}
    names = {tool.id: made.offered(tool.id).name for tool in catalog.tools}
    assert len(set(names.values())) == len(names)
    assert all(map(is_legal_wire_name, names.values()))
    for tool_id, name in names.items():
        assert made.find_id(name) == tool_id
        assert re.fullmatch(r"tool_\d{3}", name) is not None or tool_id in own_meta
        assert made.offered(tool_id).definition["function"]["name"] == name
        assert made.offered(tool_id).tool is catalog.get_tool(tool_id), "whose id is scored"


def test_E1_numbers_are_drawn_and_do_not_tell_where_a_tool_stands() -> None:
    def names(seed: int) -> list[str]:
        made = renderer(ASSISTANT, "anonymous", seed)
        return [made.offered(tool.id).name for tool in ASSISTANT.tools]

    assert names(0) == names(0)
    assert names(0) != names(1)
    assert names(0) != sorted(names(0))
    assert sorted(names(0)) == sorted(names(1))


def test_E1_descriptions_speak_of_tools_by_the_names_these_have_now() -> None:
    made = renderer(ASSISTANT, "anonymous")
    compound = [tool.name for tool in ASSISTANT.tools if "_" in tool.name]
    told = {tool.id: json.dumps(made.offered(tool.id).definition) for tool in ASSISTANT.tools}
    leaks = {
        (tool_id, name)
        for tool_id, text in told.items()
        for name in compound
        if re.search(rf"(?<!\w){name}(?!\w)", text)
    }
    arguments = {
        (tool.id, name)
        for tool in ASSISTANT.tools
        for name in compound
        if name in tool.parameters.get("properties", {})
    }
    assert leaks <= arguments, "an argument may be called as a tool is"
    changed = [
        tool
        for tool in ASSISTANT.tools
        if made.offered(tool.id).definition["function"]["description"] != tool.description
    ]
    assert len(changed) > 50, "most descriptions say where else to turn"


def test_E1_a_name_that_is_a_word_stays_in_prose_and_is_renamed_in_quotes() -> None:
    tools = (
        Tool("search", "A search of `notes`; see 'read' and search() too, but not a read-only `searcher`."),
        Tool("read", "Reads what search found: `search`."),
        Tool("notes", "Notes."),
    )
    catalog = Catalog((Plugin("desk", tools),))
    made = renderer(catalog, "anonymous")
    names = {tool.name: made.offered(tool.id).name for tool in catalog.tools}
    told = made.offered("desk/search").definition["function"]["description"]
    assert (
        told
        == f"A search of `{names['notes']}`; see '{names['read']}' and search() too, but not a read-only `searcher`."
    )
    assert made.offered("desk/read").definition["function"]["description"] == (
        f"Reads what search found: `{names['search']}`."
    )


def test_E1_a_catalog_that_has_such_names_already_gets_others() -> None:
    catalog = Catalog((Plugin("p", (Tool("tool_001", "One."), Tool("tool_002", "Two."))),))
    made = renderer(catalog, "anonymous")
    assert sorted(made.offered(tool.id).name for tool in catalog.tools) == ["function_001", "function_002"]


@pytest.mark.parametrize("catalog", CATALOGS.values(), ids=CATALOGS)
def test_E1_undescribed_tools_keep_names_and_types_alone(catalog: Catalog) -> None:
    made, plain, meta = renderer(catalog, "undescribed"), renderer(catalog, ""), MetaTools.of(catalog)
    for tool in catalog.tools:
        if tool.id in {meta.browse.id, meta.load.id}:
            assert made.offered(tool.id).definition == plain.offered(tool.id).definition
            continue
        function = made.offered(tool.id).definition["function"]
        assert function["description"] == ""
        assert texts_of(function["parameters"]) == []
        before = plain.offered(tool.id).definition["function"]["parameters"]
        assert list(function["parameters"]["properties"]) == list(before["properties"])
        assert function["parameters"].get("required") == before.get("required")
        assert made.offered(tool.id).tokens <= plain.offered(tool.id).tokens


def test_E1_an_argument_called_description_is_no_description() -> None:
    schema = {
        "type": "object",
        "description": "gone",
        "properties": {
            "description": {"type": "string", "description": "gone", "enum": ["description"], "examples": ["gone"]},
            "title": {"anyOf": [{"$ref": "#/$defs/title", "title": "gone"}, {"type": "null"}]},
            "shape": {"type": "object", "properties": {"title": {"type": "array", "items": {"description": "gone"}}}},
        },
        "required": ["description"],
        "dependentRequired": {"description": ["title"]},
        "dependencies": {"description": ["title"]},
        "markdownDescription": "gone",
        "$defs": {"title": {"type": "string", "default": {"description": "kept"}, "$comment": "gone"}},
        "additionalProperties": False,
    }
    tool = without_descriptions(Tool("t", "gone", schema))
    assert "gone" not in json.dumps(thaw(tool.parameters))
    assert thaw(tool.parameters) == {
        "type": "object",
        "properties": {
            "description": {"type": "string", "enum": ["description"]},
            "title": {"anyOf": [{"$ref": "#/$defs/title"}, {"type": "null"}]},
            "shape": {"type": "object", "properties": {"title": {"type": "array", "items": {}}}},
        },
        "required": ["description"],
        "dependentRequired": {"description": ["title"]},
        "dependencies": {"description": ["title"]},
        "$defs": {"title": {"type": "string", "default": {"description": "kept"}}},
        "additionalProperties": False,
    }


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_E1_whatever_stands_in_a_schema_nothing_breaks(value: Any) -> None:
    catalog = Catalog((Plugin("p", (Tool("do_it", "Like `do_it`.", {"type": "object", "x": value}),)),))
    for variant in ("anonymous", "undescribed", "anonymous+undescribed"):
        definition = renderer(catalog, variant).offered("p/do_it").definition
        assert json.loads(json.dumps(definition)) == definition


def test_T2_what_is_loaded_is_told_by_the_names_it_is_shown_under() -> None:
    made = toolset("tiered", TIERED, variant="anonymous")
    of = case(("git/git_push",))
    conversation = play(made, of, [use("load_tools", category="git")])
    told = json.loads(conversation.exchanges[0].answers[0])["tools_added"]
    added = [offered.name for offered in made.offer(of, conversation).tools][-len(told) :]
    assert told == added
    assert all(name.startswith("tool_") for name in told)


def test_E1_only_the_plain_shelf_needs_no_look() -> None:
    assert make_presentation(parse_variant("shuffled+padded:9"), SMALL, 0) is None
    assert shown(toolset("full", variant="anonymous"), case()) == shown(toolset("full"), case())


def test_E3_a_history_calls_tools_by_the_names_they_are_shown_under() -> None:
    made = renderer(SMALL, "anonymous")
    name = made.offered("repo/push").name
    call: Message = {"id": "1", "type": "function", "function": {"name": "push", "arguments": "{}"}}
    unknown = {"id": "2", "type": "function", "function": {"name": "teleport", "arguments": "{}"}}
    messages: tuple[Message, ...] = (
        {"role": "user", "content": "push", "name": "push"},
        {"role": "assistant", "content": None, "tool_calls": [call, unknown]},
        {"role": "tool", "tool_call_id": "1", "name": "push", "content": "ok"},
        {"role": "assistant", "content": "Pushed.", "tool_calls": None},
    )
    said = made.with_wire_names(messages)
    assert said[0] is messages[0], "a user may be called as a tool is"
    assert [one["function"]["name"] for one in said[1]["tool_calls"]] == [name, "teleport"]
    assert said[2]["name"] == name
    assert said[3] == messages[3]
    assert call["function"]["name"] == "push"
    assert renderer(SMALL, "").with_wire_names(case().messages) == case().messages


def test_E1_a_name_that_several_tools_bear_means_the_neighbour_or_nobody() -> None:
    gh = Plugin("gh", (Tool("list_items", "Lists."), Tool("look", "After list_items.")))
    jira = Plugin("jira", (Tool("list_items", "Lists."), Tool("look", "After list_items, or gh/list_items.")))
    mail = Plugin("mail", (Tool("send", "Like list_items."),))
    catalog = Catalog((gh, jira, mail))
    made = renderer(catalog, "anonymous")

    def told(tool_id: str) -> str:
        return str(made.offered(tool_id).definition["function"]["description"])

    names = {tool.id: made.offered(tool.id).name for tool in catalog.tools}
    assert told("gh/look") == f"After {names['gh/list_items']}."
    assert told("jira/look") == f"After {names['jira/list_items']}, or {names['gh/list_items']}."
    assert told("mail/send") == "Like another tool."


def test_E1_an_argument_is_no_tool_though_it_is_called_like_one() -> None:
    schema = {"type": "object", "properties": {"read_mail": {"type": "string", "description": "The read_mail id."}}}
    tools = (Tool("reply", "Answers by the read_mail id; see read_mail_box.", schema), Tool("read_mail", "Reads."))
    made = renderer(Catalog((Plugin("p", tools),)), "anonymous")
    function = made.offered("p/reply").definition["function"]
    assert function["description"] == "Answers by the read_mail id; see read_mail_box."
    assert function["parameters"]["properties"]["read_mail"]["description"] == "The read_mail id."
