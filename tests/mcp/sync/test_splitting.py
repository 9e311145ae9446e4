"""Servers with many tools become several plugins (rule M4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wording import mentions
from toolbelt.errors import InvalidDefinitionError
from toolbelt.servers.splitting import MANY, find_group, group_tools, propose_split, read_split, split_schema
from toolbelt.sources import parse_yaml
from toolbelt.sources.section import Section

SERVICES = ["keyvault", "sql", "storage", "storagesync", "monitor", "search", "compute", "redis"]
CLOUD = [
    *({"name": f"{service}_{noun}_{verb}"} for service in SERVICES for noun in "ab" for verb in ("get", "list")),
    {"name": "pricing_get"},
    {"name": "get_bestpractices"},
    {"name": "subscriptions"},
]
FORGE = [
    *({"name": f"{verb}_{noun}"} for noun in ("issue", "gist", "label") for verb in ("get", "create", "delete")),
    *({"name": f"list_{noun}"} for noun in ("issues", "gists", "labels", "repositories", "teams", "pull_requests")),
    *({"name": f"update_pull_request_{part}"} for part in "abcdefghijklmnop"),
    {"name": "search"},
]
name_texts = st.text(st.sampled_from("ab_-.C2ü"), min_size=1, max_size=12)
splits = st.one_of(
    st.just({"by": "prefix"}),
    st.just({"by": "meta", "field": "service"}),
    st.dictionaries(
        st.sampled_from(["x", "y", "other"]), st.lists(st.sampled_from(["a*", "b", "*", "A_a"]), min_size=1), min_size=1
    ).map(lambda groups: {"groups": groups}),
)
listed = st.lists(
    st.fixed_dictionaries(
        {"name": name_texts}, optional={"_meta": st.fixed_dictionaries({"service": st.sampled_from(["One", "two", 3])})}
    ),
    unique_by=lambda tool: str(tool["name"]),
    max_size=8,
)


def names(grouped: Mapping[str, list[Mapping[str, Any]]]) -> dict[str, list[str]]:
    return {plugin: [tool["name"] for tool in tools] for plugin, tools in grouped.items()}


def test_M4_without_a_split_a_server_is_one_plugin() -> None:
    assert names(group_tools([{"name": "b_x"}, {"name": "a_x"}], None, "azure")) == {"azure": ["b_x", "a_x"]}


@pytest.mark.parametrize(
    ("name", "group"),
    [
        pytest.param("keyvault_secret_get", "keyvault", id="underscore"),
        pytest.param("keyvault-secret-get", "keyvault", id="dash"),
        pytest.param("keyvault.secret.get", "keyvault", id="dot"),
        pytest.param("KeyvaultSecretGet", "keyvault", id="camel-case"),
        pytest.param("azure_keyvault_get", "keyvault", id="the-name-of-the-server-is-no-prefix"),
        pytest.param("azure_get", "other", id="nothing-left-but-one-word"),
        pytest.param("fetch", "other", id="one-word"),
    ],
)
def test_M4_the_prefix_of_a_tool_is_its_group(name: str, group: str) -> None:
    assert find_group(name, {}, {"by": "prefix"}, "azure") == group


@pytest.mark.parametrize(
    ("meta", "group"),
    [
        pytest.param({"a.b": "Key Vault"}, "key-vault", id="the-field-as-it-is"),
        pytest.param({"a": {"b": "Key/Vault!"}}, "key-vault", id="a-path"),
        pytest.param({"a.b": ["One", "two"]}, "one", id="the-first-of-a-list"),
        pytest.param({"a.b": "\x1b[31m"}, "31m", id="no-control-character-becomes-a-name"),
        pytest.param({"a.b": 3}, "other", id="no-text"),
        pytest.param({"a.b": "…"}, "other", id="nothing-to-name-it"),
        pytest.param({}, "other", id="absent"),
    ],
)
def test_M4_a_field_of_meta_is_the_group(meta: dict[str, Any], group: str) -> None:
    assert find_group("t", meta, {"by": "meta", "field": "a.b"}, "azure") == group


def test_M4_written_groups_come_in_their_order_the_first_match_counts_and_leftovers_are_last() -> None:
    split = {"groups": {"z": ["KEY*"], "y": ["keyvault", "b"]}}
    tools = [{"name": name} for name in ("x", "b", "keyvault", "key")]
    assert names(group_tools(tools, split, "s")) == {"s-z": ["keyvault", "key"], "s-y": ["b"], "s-other": ["x"]}


def test_M4_a_group_that_cannot_be_a_plugin_is_refused_with_the_server() -> None:
    with pytest.raises(InvalidDefinitionError) as raised:
        group_tools([{"name": "a"}], {"groups": {"\x1b": ["a"]}}, "azure")
    assert mentions(raised.value, "azure")


@given(listed, splits, st.randoms())
def test_M4_no_tool_is_lost_and_none_changes_its_plugin_when_another_comes(
    tools: list[dict[str, Any]], split: dict[str, Any], random: Any
) -> None:
    def plugins(some: list[dict[str, Any]]) -> dict[str, str]:
        grouped = names(group_tools(some, split, "s"))
        return {name: plugin for plugin, members in grouped.items() for name in members}

    before, after = plugins(tools), plugins([{"name": "new_b"}, *tools])
    assert set(before) == {tool["name"] for tool in tools}
    assert {name: after[name] for name in before} == before
    random.shuffle(tools)
    assert plugins(tools) == before


def test_M4_a_cloud_is_split_into_its_services() -> None:
    split = propose_split(CLOUD, "azure")
    assert split is not None
    assert split["groups"] == {service: [f"{service}_*"] for service in sorted(SERVICES)}
    assert names(group_tools(CLOUD, split, "azure"))["azure-other"] == [
        "pricing_get",
        "get_bestpractices",
        "subscriptions",
    ]


def test_M4_tools_named_by_verbs_are_split_by_what_they_are_about() -> None:
    split = propose_split(FORGE, "github")
    assert split is not None
    grouped = names(group_tools(FORGE, split, "github"))
    assert grouped["github-issue"] == ["get_issue", "create_issue", "delete_issue", "list_issues"]
    assert len(grouped["github-pull-request"]) == 17
    assert grouped["github-other"] == ["list_repositories", "list_teams", "search"]


def test_M4_a_field_that_all_tools_have_goes_before_names() -> None:
    tools = [
        {**tool, "_meta": {"id": tool["name"], "service": "ab"[n % 2], "always": "x"}} for n, tool in enumerate(CLOUD)
    ]
    assert propose_split(tools, "azure") == {"by": "meta", "field": "service"}


@pytest.mark.parametrize(
    "tools",
    [
        pytest.param(CLOUD[:MANY], id="not-many"),
        pytest.param([{"name": f"t{n}"} for n in range(99)], id="no-common-words"),
        pytest.param([{"name": f"get_{n}"} for n in range(99)], id="an-everyday-verb-alone"),
    ],
)
def test_M4_no_split_is_proposed_where_it_would_not_help(tools: list[dict[str, Any]]) -> None:
    assert propose_split(tools, "azure") is None


def test_M4_a_very_large_group_is_split_again() -> None:
    tools = [{"name": f"graph_{part}_{n}"} for part in ("mail", "files") for n in range(20)]
    split = propose_split([*tools, {"name": "graph_me"}, {"name": "login_a"}, {"name": "login_b"}], "m365")
    assert split is not None
    assert split["groups"] == {
        "graph": ["graph_me"],
        "graph-files": ["graph_files_*"],
        "graph-mail": ["graph_mail_*"],
        "login": ["login_*"],
    }


@given(st.lists(name_texts, min_size=MANY + 1, max_size=60, unique=True))
def test_M4_a_proposed_split_is_one_that_may_be_written(tool_names: list[str]) -> None:
    split = propose_split([{"name": name} for name in tool_names], "s")
    if split is not None:
        jsonschema.validate(split, split_schema())
        assert len(group_tools([{"name": name} for name in tool_names], split, "s")) > 1


@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        ("{by: prefix}", ()),
        ("{by: meta, field: a.b}", ()),
        ("{groups: {keys: [keyvault_*]}}", ()),
        ("{by: prefx}", ("prefx", "prefix")),
        ("{by: meta}", ("field",)),
        ("{by: prefix, field: x}", ("split.field", "by: meta")),
        ("{by: prefix, groups: {a: [b]}}", ("by", "groups")),
        ("{}", ("by", "groups")),
        ("{grops: {a: [b]}}", ("grops", "groups")),
        ("{groups: {a: []}}", ("split.groups.a",)),
        ("{groups: {a: b}}", ("split.groups.a",)),
        ("{groups: [a]}", ("split.groups",)),
        ("prefix", ("split",)),
    ],
)
def test_M4_a_split_is_read_strictly_and_editors_know_the_same(written: str, wrong: tuple[str, ...]) -> None:
    document = parse_yaml(f"split: {written}", "toolbelt.yaml")
    section = Section.of(document, "split")
    split = read_split(section)
    assert (split is None) == bool(wrong)
    assert bool(section.findings) == bool(wrong)
    if wrong:
        assert any(mentions(finding.message, *wrong) for finding in section.findings)
    assert jsonschema.Draft202012Validator(split_schema()).is_valid(document.data["split"]) == (not wrong)
