"""`full` and the loadouts (rule E1)."""

from __future__ import annotations

import json

import pytest

from tests.evals.toolsets.samples import (
    ASSISTANT,
    BUILDER,
    SMALL,
    TIERED,
    case,
    context,
    play,
    shown,
    start,
    toolset,
    use,
)
from tests.wording import mentions, naming
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.evals.toolsets.opening import make_toolset
from toolbelt.evals.toolsets.spec import parse_toolset
from toolbelt.loadouts import Resolution, ToolLoadout, ToolLoadoutRegistry

REPO = ["repo/commit", "repo/push", "repo/log"]
DISK = ["disk/open", "disk/log"]


def test_E1_full_is_the_whole_catalog_in_its_order() -> None:
    assert shown(toolset("full"), case()) == [tool.id for tool in SMALL.tools]
    assert toolset("full").reach(case()) == {tool.id for tool in SMALL.tools}


def test_E3_a_universe_is_cut_out_in_the_catalogs_order() -> None:
    of = case(offered=("disk/log", "chat/read", "repo/log", "disk/log"))
    assert shown(toolset("full"), of) == ["chat/read", "repo/log", "disk/log"]
    assert shown(toolset("loadout:half"), of) == ["repo/log", "disk/log"]
    assert toolset("loadout:half").reach(of) == {"repo/log", "disk/log"}


def test_E1_a_loadout_offers_what_it_makes_active() -> None:
    assert shown(toolset("loadout:half"), case()) == [*REPO, *DISK]
    developer = shown(toolset("loadout:developer", ASSISTANT), case())
    assert developer == [tool.id for tool in ToolLoadoutRegistry().resolve("developer", ASSISTANT).active_tools]


def test_E1_loadout_full_is_the_loadout_of_that_name() -> None:
    opened = toolset("loadout:full", ASSISTANT)
    assert opened.name == "loadout:full"
    assert "docker/docker_ps" not in opened.reach(case())
    assert len(opened.reach(case())) < len(toolset("full", ASSISTANT).reach(case())) == len(ASSISTANT.tools)


def test_E1_loadout_is_each_cases_own_role() -> None:
    opened = toolset("loadout", roles=frozenset({"half", "GIT only"}), loadouts=(GIT_ONLY,))
    assert shown(opened, case(role="half")) == [*REPO, *DISK]
    assert shown(opened, case(role="Git Only")) == REPO
    assert shown(opened, case(role="git only", offered=("repo/log", "disk/log"))) == ["repo/log"]
    assert shown(opened, case()) == [tool.id for tool in SMALL.tools]


GIT_ONLY = BUILDER.create("git only").include_category("git").build()


def test_E1_a_role_that_is_no_loadout_is_refused_with_the_nearest() -> None:
    with pytest.raises(NotFoundError, match=naming("hafl", "half", "role")) as caught:
        toolset("loadout", roles=frozenset({"half", "hafl"}))
    assert caught.value.kind == "loadout"


def test_E1_a_case_whose_role_nobody_announced_is_refused_too() -> None:
    opened = toolset("loadout", roles=frozenset({"half"}))
    with pytest.raises(NotFoundError, match=naming("role of case 'one'")):
        opened.offer(case(role="hlaf"), start(case()))


def test_E1_loadout_without_any_role_says_what_to_write() -> None:
    with pytest.raises(ToolbeltError, match=r"no case has one.*loadout:NAME"):
        toolset("loadout")


@pytest.mark.parametrize(
    ("name", "roles"),
    [("loadout:web only", frozenset[str]()), ("loadout", frozenset({"half", "web only"}))],
    ids=["by-name", "by-role"],
)
def test_L10_a_loadout_that_matches_nothing_is_an_error(name: str, roles: frozenset[str]) -> None:
    web = BUILDER.create("web only").include_category("web").build()
    with pytest.raises(ToolbeltError, match=naming("web only", "small")) as caught:
        toolset(name, roles=roles, loadouts=(web,))
    assert caught.value.exit_code == 2


def test_L10_a_loadout_whose_parent_is_unknown_is_an_error() -> None:
    orphan = ToolLoadout("orphan", "nobody", included_categories=frozenset({"git"}))
    with pytest.raises(ToolbeltError, match=naming("orphan", "nobody")):
        toolset("loadout:orphan", loadouts=(orphan,))


def test_L15_auto_is_what_the_ground_resolves() -> None:
    assert shown(toolset("loadout:auto"), case()) == [*REPO, *DISK]

    def nothing_fits() -> Resolution:
        raise ToolbeltError("nothing fits")

    with pytest.raises(ToolbeltError, match="nothing fits"):
        toolset("loadout:auto", resolve_auto=nothing_fits)
    with pytest.raises(ToolbeltError, match="needs a model"):
        toolset("loadout:auto", resolve_auto=None)


def test_E3_a_universe_of_which_a_loadout_has_nothing_offers_nothing() -> None:
    of = case(offered=("chat/read",))
    assert toolset("loadout:half").offer(of, start(of)).definitions == []


def test_E4_a_catalogs_own_meta_tools_are_answered_and_load_nothing() -> None:
    made, of = toolset("full", TIERED), case()
    calls = [
        use("browse_tools"),
        use("load_tools", category="GIT"),
        use("core/load_tools", category="git"),
        use("git_log"),
    ]
    browsed, loaded, by_id, ordinary = made.answer(of, start(of), calls)
    assert [entry["name"] for entry in json.loads(browsed or "")["categories"]] == list(TIERED.categories)
    message = json.loads(loaded or "")
    assert (message.pop("loaded"), message.pop("tools_added"), message.keys()) == ("git", [], {"message"})
    assert mentions(message["message"], "11 git tools", "already")
    assert by_id == loaded
    assert ordinary is None
    before = shown(made, of)
    assert shown(made, of, play(made, of, calls)) == before


def test_E4_they_know_only_what_is_shown() -> None:
    made, of = toolset("loadout:coder", TIERED, loadouts=_own_loadouts()), case()
    browsed, loaded = made.answer(of, start(of), [use("browse_tools"), use("load_tools", category="system")])
    assert [entry["name"] for entry in json.loads(browsed or "")["categories"]] == ["git", "memory", "files"]
    assert mentions(json.loads(loaded or "")["error"], "system", "git, memory, files")


def test_E4_a_meta_tool_that_is_not_shown_is_a_tool_like_any_other() -> None:
    made, of = toolset("loadout:git", TIERED, loadouts=(BUILDER.create("git").include_category("git").build(),)), case()
    assert made.answer(of, start(of), [use("browse_tools")]) == (None,)
    made, of = toolset("full", TIERED), case(offered=("core/browse_tools", "git/git_commit"))
    browsed, loaded = made.answer(of, start(of), [use("browse_tools"), use("load_tools", category="git")])
    assert browsed is not None
    assert loaded is None


def _own_loadouts() -> tuple[ToolLoadout, ...]:
    return (BUILDER.create("coder").add_plugin("core").include_category("git").include_category("files")
            .include_category("memory").build(),)  # fmt: skip


def test_one_shelf_serves_all() -> None:
    base = context()
    for name in ("full", "loadout:half", "oracle+3"):
        of = case(("repo/log",))
        for offered in make_toolset(parse_toolset(name), base).offer(of, start(of)).tools:
            assert offered is base.renderer({}).offered(offered.tool.id)
