"""What is answered to the capability tools, and that it is safe (rule L14)."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.agents.samples import LOADOUT_NAMES, loadout_registries, names, registries, registry, tool, wanted
from tests.wording import mentions
from toolbelt import Plugin, ToolLoadout, ToolLoadoutRegistry
from toolbelt.agents import scoped_registry
from toolbelt.agents.loadout_policy import LoadoutPolicy
from toolbelt.loadouts import Status
from toolbelt.patterns import fold
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.sessions.session import Session

LOADOUTS = ToolLoadoutRegistry(
    [
        ToolLoadout("guarded", "minimal", disabled_plugins=frozenset({"docker", "policy", "git/git_push"})),
        ToolLoadout("few", discoverable_patterns=("docker*", "git/git_status"), default_plugins=frozenset({"shell"})),
    ]
)


@dataclass
class Asked:
    """A policy with its session, asked without going through calls."""

    policy: LoadoutPolicy
    session: Session

    @property
    def tools(self) -> ToolRegistry:
        return self.session.tools

    def activate(self, plugin: str) -> dict[str, Any]:
        made = self._now.activate(plugin)
        self.session._is_current = False  # as after a batch
        return made

    def discover(self, *args: Any, **question: Any) -> dict[str, Any]:
        return self._now.discover(*args, **question)

    def list_active(self) -> dict[str, Any]:
        return self._now.list_active()

    @property
    def _now(self) -> LoadoutPolicy:
        self.session.to_definitions()
        return self.policy


def over(whole: ToolRegistry, loadout: str | None, loadouts: ToolLoadoutRegistry = LOADOUTS) -> Asked:
    policy = LoadoutPolicy(loadout, loadouts)
    return Asked(policy, Session(whole, [policy]))


def reach(loadout: str | None, *more: Any) -> Asked:
    return over(registry(*more), loadout)


def offered(of: Asked, **question: Any) -> list[str]:
    return [entry["plugin"] for entry in of.discover(**question)["plugins"]]


def test_L14_capability_list_is_what_is_active_with_category_and_tools() -> None:
    assert reach("few", tool("now")).list_active() == {
        "status": "ok",
        "loadout": "few",
        "total": 1,
        "plugins": [{"plugin": "shell", "category": "shell", "tools": ["run"]}],
        "discoverable": 3,
    }
    everything = reach(None, tool("now")).list_active()
    assert everything["loadout"] is None
    assert everything["discoverable"] == 0
    assert everything["plugins"][-1] == {"plugin": "now", "category": None, "tools": ["now"]}
    assert {"plugin": "Git", "category": "git", "tools": ["git_status", "git_push"]} in everything["plugins"]


def test_L14_discover_shows_what_is_discoverable_only() -> None:
    assert reach("few").discover() == {
        "status": "ok",
        "page": 1,
        "pages": 1,
        "total": 3,
        "plugins": [
            {"plugin": "Git", "category": "git", "tools": ["git_status"], "description": "What has changed",
             "tool_count": 1},
            {"plugin": "docker", "category": "containers", "tools": ["docker_ps", "docker_run"],
             "description": "Containers of this machine", "tool_count": 2},
            {"plugin": "dockerhub", "category": "containers", "tools": ["pull"], "description": "Fetch an image",
             "tool_count": 1},
        ],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param({}, ["Git", "github", "search", "web", "memory", "scheduler", "dockerhub"], id="all"),
        pytest.param({"category": "GITHUB"}, ["github"], id="a-category-ignoring-case"),
        pytest.param({"category": " containers "}, ["dockerhub"], id="a-category-that-plugins-declare"),
        pytest.param({"category": "", "keyword": " "}, ["Git", "github", "search", "web", "memory", "scheduler",
                                                        "dockerhub"], id="blank-is-left-out"),
        pytest.param({"keyword": "ISSUES"}, ["github"], id="a-tools-name-or-description-ignoring-case"),
        pytest.param({"keyword": "hub"}, ["dockerhub", "github"], id="a-plugins-name-the-best-first"),
        pytest.param({"keyword": "fetch"}, ["web", "dockerhub"], id="a-description"),
        pytest.param({"keyword": "image fetch"}, ["dockerhub"], id="every-word-in-any-order"),
        pytest.param({"keyword": "fetch", "category": "web"}, ["web"], id="both"),
        pytest.param({"keyword": "publish"}, [], id="no-disabled-tool-of-a-discoverable-plugin"),
    ],
)  # fmt: skip
def test_L14_discover_filters_by_category_and_keyword(question: dict[str, Any], expected: list[str]) -> None:
    answer = reach("guarded").discover(**question)
    assert [entry["plugin"] for entry in answer["plugins"]] == expected
    assert (answer["status"], answer["total"], "message" in answer) == ("ok", len(expected), not expected)


@pytest.mark.parametrize(
    ("keyword", "nearest", "withheld"),
    [
        pytest.param("please fetch me an image", ["dockerhub", "web"], [], id="a-whole-sentence"),
        pytest.param("docker_run", ["scheduler", "dockerhub"], ["docker"], id="nothing-of-what-is-disabled"),
        pytest.param("read_file", ["search"], ["file"], id="nothing-of-what-is-active"),
    ],
)
def test_S2_where_no_tool_has_all_words_the_nearest_are_found(
    keyword: str, nearest: list[str], withheld: list[str]
) -> None:
    answer = reach("guarded").discover(keyword=keyword)
    found = [entry["plugin"] for entry in answer["plugins"]]
    assert found == nearest
    assert not {*found} & {*withheld}
    assert mentions(answer["message"], "nearest")


def test_L14_of_a_plugin_the_tools_that_match_are_named_and_all_are_counted() -> None:
    (entry,) = reach("few").discover(keyword="start container")["plugins"]
    assert (entry["plugin"], entry["tools"], entry["tool_count"]) == ("docker", ["docker_run"], 2)


@pytest.mark.parametrize("category", ["databases", "security", "filesystem", "other"])
def test_L14_an_unknown_category_is_answered_with_those_of_discoverable_plugins(category: str) -> None:
    answer = reach("guarded").discover(category)  # security is disabled, filesystem is active
    assert answer == {
        "status": "unknown_category",
        "category": category,
        "categories": ["git", "github", "search", "web", "memory", "scheduling", "containers"],
        "message": f"No discoverable plugin is of category {category!r}.",
    }


def test_L14_plugins_without_a_category_are_other() -> None:
    reached = reach("minimal", tool("now", "The time"))
    assert offered(reached, category="Other") == ["now"]
    assert reached.discover("none such")["categories"][-1] == "other"


PAGED = [
    pytest.param(0, 1, 0, 0, "There is nothing else to discover.", id="nothing-at-all"),
    pytest.param(1, 1, 1, 1, None, id="one"),
    pytest.param(20, 1, 20, 1, None, id="a-full-page"),
    pytest.param(20, 2, 0, 1, "There is no page 2; pages go from 1 to 1.", id="beyond-a-full-page"),
    pytest.param(21, 1, 20, 2, None, id="the-first-of-two"),
    pytest.param(21, 2, 1, 2, None, id="the-second-of-two"),
    pytest.param(45, 3, 5, 3, None, id="the-third"),
    pytest.param(45, 4, 0, 3, "There is no page 4; pages go from 1 to 3.", id="beyond"),
    pytest.param(45, 0, 0, 3, "There is no page 0; pages go from 1 to 3.", id="before"),
    pytest.param(45, -1, 0, 3, "There is no page -1; pages go from 1 to 3.", id="no-page-counts-from-the-end"),
]


@pytest.mark.parametrize(("plugins", "page", "shown", "pages", "message"), PAGED)
def test_L14_discover_shows_twenty_plugins_a_page(
    plugins: int, page: int, shown: int, pages: int, message: str | None
) -> None:
    whole = ToolRegistry([tool(f"tool_{number}") for number in range(plugins)])
    answer = over(whole, "minimal").discover(page=page)
    first = (page - 1) * 20
    assert [entry["plugin"] for entry in answer["plugins"]] == [f"tool_{first + n}" for n in range(shown)]
    assert (answer["page"], answer["pages"], answer["total"], answer.get("message")) == (page, pages, plugins, message)


NEW = ["docker_ps", "docker_run"]
ACTIVATIONS = [
    pytest.param("docker", {"status": "activated", "plugin": "docker", "tools": NEW,
                            "takes_effect": "next_request"}, id="a-plugin"),
    pytest.param(" DOCKER ", {"status": "activated", "plugin": "docker", "tools": NEW,
                              "takes_effect": "next_request"}, id="ignoring-case-and-blanks"),
    pytest.param("docker/docker_run", {"status": "activated", "plugin": "docker", "tools": ["docker_run"],
                                       "takes_effect": "next_request"}, id="one-tool-by-its-path"),
    pytest.param("Docker_PS", {"status": "activated", "plugin": "docker", "tools": ["docker_ps"],
                               "takes_effect": "next_request"}, id="one-tool-by-its-name"),
    pytest.param("git", {"status": "activated", "plugin": "Git", "tools": ["git_status"],
                         "takes_effect": "next_request"}, id="of-a-plugin-only-what-is-discoverable"),
    pytest.param("shell", {"status": "already_active", "plugin": "shell", "tools": ["run"]}, id="an-active-plugin"),
    pytest.param("shell/RUN", {"status": "already_active", "plugin": "shell", "tools": ["run"]}, id="an-active-tool"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "expected"), ACTIVATIONS)
def test_L14_activate_adds_what_is_discoverable(name: str, expected: dict[str, Any]) -> None:
    reached = reach("few")
    assert reached.activate(name) == expected
    assert names(reached.tools) == ["run", *(expected["tools"] if expected["status"] == "activated" else [])]


@pytest.mark.parametrize(
    "name",
    ["policy", "policy/audit", "audit", "memory", "git/git_push", "git_push", "made up", "docker/*", "docker*", "*", "",
     "/", "docker/", "few", "capability_list", "activate_tool"],
)  # fmt: skip
def test_L14_nothing_else_can_be_activated(name: str) -> None:
    reached = reach("few")
    answer = reached.activate(name)
    assert answer["status"] == "not_discoverable"
    assert mentions(answer["message"], f"{name!r}", "discover_tools")
    assert set(answer["nearest"]) <= {"Git", "git_status", "docker", "docker_ps", "docker_run", "dockerhub", "pull"}
    assert names(reached.tools) == ["run"]


def test_L14_a_slip_of_the_pen_is_answered_with_the_nearest() -> None:
    assert reach("few").activate("dokcer")["nearest"][0] == "docker"


def test_L14_what_is_activated_is_active_and_no_longer_discoverable() -> None:
    reached = reach("few")
    reached.activate("docker/docker_run")
    docker = {"plugin": "docker", "category": "containers", "tools": ["docker_run"]}
    assert docker in reached.list_active()["plugins"]
    (left,) = reached.discover(keyword="docker_")["plugins"]
    assert (left["tools"], left["tool_count"]) == (["docker_ps"], 1)
    assert reached.activate("docker_run")["status"] == "already_active"
    assert reached.activate("docker")["tools"] == ["docker_ps"]
    again = reached.activate("docker")
    assert (again["status"], sorted(again["tools"]), "takes_effect" in again) == ("already_active", NEW, False)
    assert offered(reached) == ["Git", "dockerhub"]


def test_L14_activated_tools_come_last_in_the_order_they_were_activated() -> None:
    reached = reach("few")
    reached.activate("dockerhub")
    reached.activate("git")
    assert names(reached.tools) == ["run", "pull", "git_status"]


def test_L14_an_activated_tool_keeps_its_extension_and_its_category() -> None:
    whole = ToolRegistry()
    whole.register_all(Plugin("docker", (tool("docker_ps"),), "containers"), plugin_id="extension")
    made = over(whole, "few")
    made.activate("docker")
    assert made.tools.get_plugin_id("docker_ps") == "extension"
    containers = ToolLoadoutRegistry([ToolLoadout("containers", included_categories=frozenset({"containers"}))])
    assert names(scoped_registry(made.tools, "containers", containers)) == ["docker_ps"]


def test_L14_what_is_not_to_be_had_now_is_not_there_until_it_is() -> None:
    there: set[str] = set()
    whole = registry(
        tool("sometimes", plugin="docker", is_available=lambda: "sometimes" in there),
        tool("uptime", plugin="shell", is_available=lambda: "uptime" in there),
        tool("sealed", plugin="dockerized", capabilities=frozenset({"secrets"})),
    )
    made = over(whole, "few")
    assert made.list_active()["plugins"] == [{"plugin": "shell", "category": "shell", "tools": ["run"]}]
    assert [entry["tools"] for entry in made.discover(keyword="docker_")["plugins"]] == [NEW]
    assert made.activate("sealed")["status"] == made.activate("sometimes")["status"] == "not_discoverable"
    assert made.activate("docker")["tools"] == NEW
    there |= {"sometimes", "uptime"}
    assert made.list_active()["plugins"][0]["tools"] == ["run", "uptime"]
    assert made.activate("docker")["tools"] == ["sometimes"]


SOME = settings(max_examples=60, deadline=None)
asked = st.sampled_from(LOADOUT_NAMES)


def listed(of: Asked) -> list[str]:
    return [name for entry in of.list_active()["plugins"] for name in entry["tools"]]


def found(of: Asked) -> list[str]:
    pages = range(1, of.discover()["pages"] + 1)
    return [name for page in pages for entry in of.discover(page=page)["plugins"] for name in entry["tools"]]


@given(registries(), loadout_registries, asked, wanted)
def test_L14_active_discoverable_and_the_rest_part_the_tools(
    whole: ToolRegistry, loadouts: ToolLoadoutRegistry, name: str, activated: list[str]
) -> None:
    resolution = loadouts.resolve(name, whole.catalog)
    of = {status: {one.name for one in resolution.tools_with(status)} for status in Status}
    made = over(whole, name, loadouts)
    assert (sorted(listed(made)), sorted(found(made))) == (sorted(of[Status.ACTIVE]), sorted(of[Status.DISCOVERABLE]))
    for one in activated:
        made.activate(one)
        assert len(listed(made)) == len(set(listed(made)))
        assert set(listed(made)) == set(names(made.tools))
        assert set(listed(made)) | set(found(made)) == of[Status.ACTIVE] | of[Status.DISCOVERABLE]
        assert not set(listed(made)) & set(found(made))


@given(registries(), loadout_registries, asked, wanted)
def test_L14_nothing_disabled_or_hidden_is_ever_shown_and_what_is_shown_only_grows_at_its_end(
    whole: ToolRegistry, loadouts: ToolLoadoutRegistry, name: str, activated: list[str]
) -> None:
    resolution = loadouts.resolve(name, whole.catalog)
    out = {one.name for status in (Status.DISABLED, Status.HIDDEN) for one in resolution.tools_with(status)}
    before = whole.to_definitions(form="openai")
    made = over(whole, name, loadouts)
    shown = made.tools.to_definitions(form="openai")
    for one in activated:
        waiting = found(made)
        answer = made.activate(one)
        now = made.tools.to_definitions(form="openai")
        assert now[: len(shown)] == shown
        added = [definition["function"]["name"] for definition in now[len(shown) :]]
        assert added == (answer["tools"] if answer["status"] == "activated" else [])
        assert set(added) <= set(waiting)
        assert not out & {definition["function"]["name"] for definition in now}
        shown = now
    assert whole.to_definitions(form="openai") == before


@SOME
@given(registries(), loadout_registries, asked, wanted)
def test_L14_what_is_disabled_or_hidden_is_answered_like_what_does_not_exist(
    whole: ToolRegistry, loadouts: ToolLoadoutRegistry, name: str, questions: list[str]
) -> None:
    resolution = loadouts.resolve(name, whole.catalog)
    out = [one for status in (Status.DISABLED, Status.HIDDEN) for one in resolution.tools_with(status)]
    # Of a plugin that is spelled in two ways, the first tool's spelling is shown, whatever becomes of that tool.
    spellings = {one.plugin or "" for one in whole.catalog.tools}
    assume(len({fold(spelling) for spelling in spellings}) == len(spellings))
    without = scoped_registry(whole, None)
    for gone in out:
        without.unregister(gone.name)
    one, other = over(whole, name, loadouts), over(without, name, loadouts)
    for question in [*questions, *(gone.name for gone in out), *(gone.plugin or "" for gone in out)]:
        assert one.activate(question) == other.activate(question)
        assert one.discover(keyword=question) == other.discover(keyword=question)
        assert one.discover(category=question) == other.discover(category=question)
        assert one.list_active() == other.list_active()
    assert one.tools.to_definitions() == other.tools.to_definitions()


def test_L14_a_disabled_tool_does_not_show_by_the_order_of_plugins() -> None:
    tools = [tool("status", plugin="a"), tool("list", plugin="b"), tool("push", plugin="a")]
    without = ToolLoadout("some", discoverable_patterns=("*",), default_plugins=frozenset())
    disabled = replace(without, disabled_plugins=frozenset({"a/status"}))
    assert offered(over(ToolRegistry(tools[1:]), "some", ToolLoadoutRegistry([without]))) == ["b", "a"]
    assert offered(over(ToolRegistry(tools), "some", ToolLoadoutRegistry([disabled]))) == ["b", "a"]


def test_L14_of_what_a_model_asks_for_an_answer_repeats_a_hundred_characters() -> None:
    reached = reach("few")
    asked = "docker" + "x" * 1_000_000
    refused = reached.activate(asked)
    assert (refused["status"], refused["plugin"]) == ("not_discoverable", f"{asked[:100]}…")
    assert asked[:100] in refused["message"]
    assert len(json.dumps([refused, reached.discover(asked)])) < 2_000
    assert reached.activate("x" * 100)["plugin"] == "x" * 100
    assert reached.discover("x" * 100)["category"] == "x" * 100
