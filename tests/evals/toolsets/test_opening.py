"""Toolsets by name (rule E1)."""

from __future__ import annotations

import pytest

from tests.evals.toolsets.samples import ALWAYS, ASSISTANT, BUILDER, SMALL, context, toolset
from tests.wording import naming
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.evals.toolsets.opening import expand_toolsets, make_toolset
from toolbelt.evals.toolsets.spec import TOOLSETS, ToolsetKind, ToolsetSpec, parse_toolset
from toolbelt.loadouts import ToolLoadoutRegistry

REGISTRY = ToolLoadoutRegistry((ALWAYS, BUILDER.create("My:Odd+One").include_category("git").build()))


def expand(*names: str) -> tuple[str, ...]:
    return tuple(map(str, expand_toolsets(names, SMALL, REGISTRY)))


@pytest.mark.parametrize(
    ("written", "spelled"),
    [
        ("full", "full"),
        (" FULL ", "full"),
        ("Tiered", "tiered"),
        ("loadout", "loadout"),
        ("loadout:HALF", "loadout:half"),
        ("Loadout: half", "loadout:half"),
        ("loadout:AUTO", "loadout:auto"),
        ("loadout:my:odd+one", "loadout:My:Odd+One"),
        ("oracle", "oracle"),
        ("oracle+0", "oracle"),
        ("oracle+0:near", "oracle"),
        ("oracle+007", "oracle+7"),
        ("Oracle+7:RANDOM", "oracle+7"),
        ("ORACLE+7:Near", "oracle+7:near"),
    ],
)
def test_E1_each_has_one_spelling_and_bears_it(written: str, spelled: str) -> None:
    assert expand(written) == (spelled,)
    base = context(roles=frozenset({"half"}), loadouts=tuple(REGISTRY.get_all()))
    assert make_toolset(parse_toolset(written), base).name == spelled
    assert make_toolset(parse_toolset(spelled), base).name == spelled


def test_E1_lists_are_taken_apart_repeats_dropped_and_the_order_kept() -> None:
    assert expand("tiered, full,,oracle+1", "FULL", "oracle+1:random,loadout:half") == (
        "tiered", "full", "oracle+1", "loadout:half",
    )  # fmt: skip


def test_L4_a_pattern_stands_for_every_loadout_that_makes_something_active() -> None:
    # Of the built-in ones `minimal` and `research` have nothing of this catalog, which has no such category.
    active = [loadout.name for loadout in REGISTRY.get_all() if REGISTRY.resolve(loadout.name, SMALL).active_tools]
    assert expand("loadout:*") == tuple(f"loadout:{name}" for name in active)
    assert "loadout:half" in expand("loadout:*")
    assert "loadout:minimal" not in expand("loadout:*")
    assert expand("loadout:HA*", "loadout:*")[0] == "loadout:half"
    assert [str(spec) for spec in expand_toolsets(["loadout:dev*"], ASSISTANT, REGISTRY)] == [
        "loadout:developer",
        "loadout:devops",
    ]


def test_a_loadout_that_is_named_like_a_pattern_is_itself() -> None:
    registry = ToolLoadoutRegistry((BUILDER.create("h*").include_category("git").build(), ALWAYS))
    assert expand_toolsets(["loadout:H*"], SMALL, registry) == (ToolsetSpec(ToolsetKind.LOADOUT, "h*"),)


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ("oracle+", ("'oracle+'", "oracle+9:near")),
        ("oracle+x", "malformed"),
        ("oracle+-1", "malformed"),
        ("oracle+1.5", "malformed"),
        ("oracle+9:far", "malformed"),
        ("oracle:near", "malformed"),
        ("oracle+٣", "malformed"),
        ("oracle+9999999", "malformed"),
        ("loadout:", "write 'loadout', 'loadout:NAME'"),
        ("loadout+half", "malformed"),
        ("full:half", ":half"),
        ("tiered+1", "by its name alone"),
        ("loadout:res*", ("loadout:res*", "small", "research")),
    ],
)
def test_E1_what_is_malformed_is_told_how_it_is_written(written: str, named: object) -> None:
    with pytest.raises(ToolbeltError, match=naming(named)) as caught:
        expand(written)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("written", "kind", "says"),
    [
        ("teired", "toolset", "Did you mean 'tiered'"),
        ("search:fastmcp:reveal=cal", "value of reveal", "Did you mean 'call'"),
        ("search:rveal=call", "search setting", "Did you mean 'reveal'"),
        ("serch", "toolset", "Did you mean 'search'"),
        ("+9", "toolset", "No toolset named"),
        ("half", "toolset", "write 'loadout:half'"),
        ("loadout:hlaf", "loadout", "Did you mean 'half'"),
        ("loadout:zzz*", "loadout", "No loadout named 'zzz\\*'"),
    ],
)
def test_E1_what_is_unknown_is_told_the_nearest(written: str, kind: str, says: str) -> None:
    with pytest.raises(NotFoundError, match=says) as caught:
        expand(written)
    assert caught.value.kind == kind


@pytest.mark.parametrize("written", ["", " , ", "\t"])
def test_E1_no_name_at_all_lists_what_there_is(written: str) -> None:
    with pytest.raises(
        ToolbeltError,
        match=naming("loadout:NAME", "loadout:*", "loadout:auto", "dynamic:AGENT", "dynamic:*"),
    ):
        expand(written)


@pytest.mark.parametrize("written", ["oracle+x", "nope", "loadout:nope", "loadout:*", "full:x"])
def test_E1_making_one_refuses_what_is_none(written: str) -> None:
    with pytest.raises(ToolbeltError):
        toolset(written)


def test_E1_the_table_can_be_read() -> None:
    assert list(TOOLSETS) == ["full", "loadout", "tiered", "dynamic", "search", "hosted-search", "oracle"]
    with pytest.raises(TypeError):
        TOOLSETS["more"] = TOOLSETS[ToolsetKind.FULL]  # type: ignore[index]
