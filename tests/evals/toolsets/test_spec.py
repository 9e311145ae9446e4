"""Names of toolsets as values (rule E1)."""

from __future__ import annotations

import importlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolbelt.errors import InvalidDefinitionError, NotFoundError, ToolbeltError
from toolbelt.evals.toolsets.spec import (
    BY_ROLE,
    BY_WINDOW,
    TOOLSETS,
    NameOf,
    ToolsetKind,
    ToolsetSpec,
    find_toolset,
    is_oracle,
    parse_toolset,
    shorten_toolset,
    toolset_forms,
)
from toolbelt.models.recommended import parse_recommended
from toolbelt.search.presets import PRESETS

NAMES = st.text(st.characters(codec="utf-8"), min_size=1).filter(
    lambda name: name == name.strip() and name.casefold() != "auto"
)
SPECS = st.one_of(
    st.sampled_from([ToolsetSpec(kind) for kind in ToolsetKind if kind is not ToolsetKind.SEARCH]),
    st.sampled_from([parse_toolset(f"search:{name}") for name in PRESETS]),
    st.builds(ToolsetSpec, st.sampled_from([ToolsetKind.LOADOUT, ToolsetKind.DYNAMIC]), NAMES),
    st.builds(ToolsetSpec, st.just(ToolsetKind.ORACLE), st.just(""), st.integers(1, 999_999), st.booleans()),
)


@given(SPECS)
def test_E1_a_spec_is_read_back_from_its_name(spec: ToolsetSpec) -> None:
    assert parse_toolset(str(spec)) == spec


PARTS = [
    "full",
    "loadout",
    "TIERED",
    "dynamic",
    "oracle",
    "search",
    "fastmcp",
    "k=3",
    "İ",
    ":",
    "*",
    " ",
    "+",
    "9",
    "near",
    "Auto",
    "git",
    "ı",
    "ſ",
]


@given(st.one_of(SPECS.map(str), st.lists(st.sampled_from(PARTS), max_size=5).map("".join)))
@example("full+9")
@example("loadout: auto")
@example("loadout:git*")
@example("search:FastMCP:k=8")
@example("search:fastmcp:k=0")
@example("search:own*")
def test_E1_what_a_project_recommends_is_what_an_eval_calls_assignable(text: str) -> None:
    """`toolbelt.models` must not import the harness, so that this law keeps the two readings of a name one."""
    try:
        recommended = str(parse_recommended(text))
    except InvalidDefinitionError:
        recommended = None
    spec = find_toolset(text)
    assert recommended == (shorten_toolset(str(spec)) if spec is not None and spec.is_assignable else None)


@pytest.mark.parametrize("form", toolset_forms())
def test_E1_every_form_of_the_table_can_be_parsed(form: str) -> None:
    assert (
        parse_toolset(form.replace("+N", "+9").replace("KEY=VALUE:…", "k=3")).kind
        == form.partition(":")[0].partition("+")[0]
    )


def test_E1_every_kind_has_a_row_whose_factory_exists() -> None:
    assert list(TOOLSETS) == list(ToolsetKind)
    for entry in TOOLSETS.values():
        module, _, attribute = entry.factory.partition(":")
        assert callable(getattr(importlib.import_module(module), attribute))


@pytest.mark.parametrize(
    ("text", "auto", "by_role", "loadout", "agent"),
    [
        ("loadout", False, True, "", ""),
        ("loadout:AUTO", True, False, "", ""),
        ("loadout:dev", False, False, "dev", ""),
        ("dynamic", False, False, "", ""),
        ("dynamic:auto", False, False, "", "auto"),
        ("full", False, False, "", ""),
    ],
)
def test_E1_what_a_toolset_goes_by(text: str, auto: bool, by_role: bool, loadout: str, agent: str) -> None:
    spec = parse_toolset(text)
    assert (spec.is_auto, spec.is_by_role, spec.loadout, spec.agent) == (auto, by_role, loadout, agent)
    assert (spec == BY_WINDOW, spec == BY_ROLE) == (auto, by_role)


def test_E1_what_is_wrong_is_an_error_or_nothing() -> None:
    with pytest.raises(NotFoundError) as caught:
        parse_toolset("loadouts")
    assert (caught.value.kind, caught.value.known) == ("toolset", toolset_forms())
    with pytest.raises(ToolbeltError, match="malformed"):
        parse_toolset("oracle+x")
    assert find_toolset("loadouts") is find_toolset("oracle+x") is None


@pytest.mark.parametrize(
    ("name", "expected"), [("oracle", True), ("oracle+9:near", True), ("full", False), ("oracles", False), ("", False)]
)
def test_E1_which_toolsets_know_the_answer(name: str, expected: bool) -> None:
    assert is_oracle(name) is expected


def test_names_are_of_loadouts_agents_or_searches() -> None:
    assert {kind: entry.name_of for kind, entry in TOOLSETS.items() if entry.name_of} == {
        ToolsetKind.LOADOUT: NameOf.LOADOUT,
        ToolsetKind.DYNAMIC: NameOf.AGENT,
        ToolsetKind.SEARCH: NameOf.SEARCH,
        ToolsetKind.HOSTED_SEARCH: NameOf.METHOD,
    }
