"""What every toolset promises, whichever it is (rule E1)."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.evals.toolsets.samples import (
    CATALOGS,
    case,
    context,
    meta_ids,
    play,
    shown,
    start,
    toolset,
    use,
    with_renderer,
)
from toolbelt.catalog import Catalog
from toolbelt.catalog.definitions import is_legal_wire_name
from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.evals.toolsets.spec import parse_toolset
from toolbelt.evals.toolsets.toolset import GO_AHEAD, Toolset
from toolbelt.search.presets import PRESETS

SEARCHES = tuple(str(parse_toolset(f"search:{preset}")) for preset in PRESETS)
NAMES = (
    "full", "loadout:half", "loadout", "loadout:auto", "tiered", "dynamic", "dynamic:helper",
    "oracle", "oracle+1", "oracle+9", "oracle+9:near", "oracle+9999", *SEARCHES,
)  # fmt: skip
ROLES = frozenset({"half"})


def cases(catalog: Catalog) -> Iterator[Case]:
    ids = [tool.id for tool in catalog.tools]
    part = tuple(reversed(ids[1::2]))
    yield case((ids[0],), "single")
    yield case((ids[0], (ids[2], ids[3]), ids[0]), "several", accept=(), allowed_extra=frozenset({ids[4]}))
    yield case((), "nothing")
    yield case(None, "anything", role="half")
    yield case((part[0],), "small universe", offered=part)
    yield case((ids[1], ids[3]), "with a role", offered=(*part, ids[0], ids[1]), role="half")
    yield case((ids[1],), "odd universe", offered=(ids[1], ids[1], "no such tool"))
    yield case((), "empty universe", offered=())


SEARCHING = sorted({preset.shape.search.name for preset in PRESETS.values()})
LOOK_FOR: dict[str, Any] = {
    "query": "commit the changes", "queries": ["commit", "read a file"], "pattern": "commit|file",
    "paths": ["repo", "Git"],
    "tool_description": "write a message", "tool_keywords": ["send"],
}  # fmt: skip
CALLS: tuple[list[ToolUse], ...] = (
    [use("browse_tools")],
    [use("load_tools", category="git"), use("no such tool", call_id="2"), use("load_tools", "{", call_id="3")],
    [use("load_tools", category="git"), use("load_tools", call_id="2", category="FILES")],
    [use(name, **LOOK_FOR) for name in SEARCHING],
    [use("search_tools", "{"), use("call_tool", name="search_tools"), use("call_tool", tool_name=""), use("call_tool")],
    [use("list_toolkits"), use("load_tools", toolkit="git"), use("load_tools", toolkit="Versions")],
    [],
    [use("unload_tools", toolkit="git"), use("unload_tools", "{"), use("load_tools", toolkit="files")],
    [],
)
EVERY = [
    pytest.param(name, catalog, of, id=f"{name}-{key}-{of.id}")
    for name in NAMES
    for key, catalog in CATALOGS.items()
    for of in cases(catalog)
]


def universe(of: Case, catalog: Catalog) -> set[str]:
    every = {tool.id for tool in catalog.tools}
    return every if of.offered is None else every & set(of.offered)


@pytest.mark.parametrize(("name", "catalog", "of"), EVERY)
def test_E1_the_contract(name: str, catalog: Catalog, of: Case) -> None:
    made = toolset(name, catalog, roles=ROLES)
    meta = meta_ids(name, catalog)
    own = meta & {tool.id for tool in catalog.tools}
    conversation = start(of)
    for calls in (*CALLS, None):
        offer = made.offer(of, conversation)
        offered = [tool.tool.id for tool in offer.tools]
        assert len(set(offered)) == len(offered)
        assert set(offered) <= universe(of, catalog) | meta
        assert set(offered) - (meta - own) <= made.reach(of)
        assert made.reach(of) <= universe(of, catalog) | own
        assert len(offer.by_name) == len(offered)
        assert all(map(is_legal_wire_name, offer.by_name))
        if calls is not None:
            answers = made.answer(of, conversation, calls)
            assert len(answers) == len(calls)
            assert all(isinstance(answer, str) for answer in answers if answer is not None)
            if name not in SEARCHES:
                assert all(isinstance(json.loads(answer), dict) for answer in answers if answer is not None)
            conversation = play(made, of, calls, conversation=conversation)
            if calls and "reveal=rebind" not in name:
                assert set(shown(made, of, conversation)) >= set(offered), "nothing is taken away within a turn"


@pytest.mark.parametrize("name", NAMES)
def test_D4_only_dynamic_toolsets_have_something_to_wait_for(name: str) -> None:
    made, of = toolset(name, CATALOGS["tiered"], roles=ROLES), case()
    spoken = Reply("Well.")
    assert made.follow_up(of, start(of), spoken) is None
    loaded = play(made, of, CALLS[5])
    assert made.follow_up(of, loaded, spoken) == (GO_AHEAD if name.startswith("dynamic") else None)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("catalog", CATALOGS.values(), ids=CATALOGS)
def test_E1_the_same_is_offered_for_the_same(name: str, catalog: Catalog) -> None:
    one, other = toolset(name, catalog, roles=ROLES), toolset(name, catalog, roles=ROLES)
    for of in cases(catalog):
        twin = copy.deepcopy(of)
        here = play(one, of, *CALLS)
        there = play(other, twin, *CALLS)
        assert here == there
        assert shown(one, of, here) == shown(other, twin, there) == shown(one, twin, there)
        assert one.offer(of, here) is one.offer(of, here)


@pytest.mark.parametrize("name", NAMES)
def test_E1_no_trial_leaks_into_another(name: str) -> None:
    catalog = CATALOGS["tiered"]
    made, of = toolset(name, catalog, roles=ROLES), next(cases(catalog))
    before = shown(made, of)
    play(made, of, *CALLS)
    assert shown(made, of) == before


@pytest.mark.parametrize("name", [name for name in NAMES if "listing=groups" not in name])
def test_E1_definitions_are_made_once_for_a_shelf(name: str) -> None:
    catalog = CATALOGS["tiered"]
    made, renderer = with_renderer(name, context(catalog, roles=ROLES))
    for of in cases(catalog):
        for offered in made.offer(of, start(of)).tools:
            assert offered is renderer.offered(offered.tool.id)


@pytest.mark.parametrize(
    "name", ["full", "loadout:half", "loadout", "tiered", "dynamic", "dynamic:helper", "search", "search:openai"]
)
def test_E1_cases_that_share_a_universe_share_the_offer(name: str) -> None:
    made: Toolset = toolset(name, roles=ROLES)
    one, other = case((), "a"), case(None, "b")
    assert made.offer(one, start(one)) is made.offer(other, start(other))
    one, other = (case((), case_id, offered=("disk/log", "repo/log")) for case_id in "ab")
    assert made.offer(one, start(one)) is made.offer(other, start(other))


@pytest.mark.parametrize("name", NAMES)
def test_E1_it_is_named_as_it_is_asked_for(name: str) -> None:
    assert toolset(name, roles=ROLES).name == name


@pytest.mark.parametrize("name", NAMES)
def test_E4_a_call_that_is_of_no_meta_tool_is_left_to_others(name: str) -> None:
    made, of = toolset(name, roles=ROLES), case()
    calls = [use("commit"), use("nonsense"), use(""), use("repo/commit"), use("Browse_Tools")]
    assert made.answer(of, start(of), calls) == (None,) * 5
