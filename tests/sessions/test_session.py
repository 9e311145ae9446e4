"""What a session promises whatever its policies are, and what every policy promises to a session (rule R8)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sessions.samples import shown, tool
from toolbelt.agents import LoadoutPolicy
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.loadouts import ToolLoadout, ToolLoadoutRegistry
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import FailureCode, ToolResult
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.policy import Selection, SessionPolicy, Stage
from toolbelt.sessions.session import Session
from toolbelt.sessions.store import MemorySessionStore, SessionStore
from toolbelt.sessions.toolkit_policy import ToolkitPolicy
from toolbelt.tiers.policy import TierPolicy
from toolbelt.toolkits.toolkit import Toolkit

PLUGINS = {
    "file": ("read", "write"),
    "git": ("git_log", "git_push"),
    "docker": ("docker_ps", "docker_run"),
    "odd": ("open issue",),
}
CATALOG = Catalog(
    tuple(Plugin(name, tuple(map(Tool, tools)), f"{name}s") for name, tools in PLUGINS.items()), core=("file/read",)
)
KITS = (Toolkit("history", member_tools=("git",)), Toolkit("ops", member_tools=("docker", "odd")))
AGENT = AgentSpec("lead", ("file",), ("history", "ops"))
LOADOUTS = ToolLoadoutRegistry(
    [
        ToolLoadout(
            "dev",
            None,
            frozenset({"file", "git"}),
            discoverable_patterns=("docker", "odd"),
            disabled_plugins=frozenset({"git/git_push"}),
        )
    ]
)


def registry() -> ToolRegistry:
    return ToolRegistry([tool(name, plugin) for plugin, names in PLUGINS.items() for name in names])


def toolkits(store: SessionStore | None = None) -> ToolkitPolicy:
    return ToolkitPolicy(AGENT, KITS, store, "s")


MAKERS: dict[str, Callable[[], list[SessionPolicy]]] = {
    "none": list,
    "toolkits": lambda: [toolkits()],
    "loadout": lambda: [LoadoutPolicy("dev", LOADOUTS)],
    "everything": lambda: [LoadoutPolicy(None, LOADOUTS)],
    "tiers": lambda: [TierPolicy(CATALOG)],
    "enforced-tiers": lambda: [TierPolicy(CATALOG, enforce=True)],
    "toolkits-and-loadout": lambda: [LoadoutPolicy("dev", LOADOUTS), toolkits()],
    "loadout-and-tiers": lambda: [TierPolicy(CATALOG), LoadoutPolicy("dev", LOADOUTS)],
}
CHANGES: tuple[tuple[str, dict[str, str]], ...] = (
    ("load_tools", {"toolkit": "history"}),
    ("load_tools", {"toolkit": "ops"}),
    ("unload_tools", {"toolkit": "history"}),
    ("activate_tool", {"plugin": "docker"}),
    ("activate_tool", {"plugin": "git"}),
    ("load_tools", {"category": "gits"}),
    ("load_tools", {"category": "dockers"}),
)


def ask(session: Session, *calls: tuple[str, Mapping[str, Any]], **settings: Any) -> list[ToolResult]:
    asked = [{"id": str(number), "name": name, "args": args} for number, (name, args) in enumerate(calls)]
    results = asyncio.run(session.execute_parallel(asked, **settings))
    assert [each.tool_call_id for each in results] == [each["id"] for each in asked]
    return [each.result for each in results]


Make = Callable[[], list[SessionPolicy]]


@pytest.fixture(params=[*MAKERS.values()], ids=[*MAKERS])
def make(request: pytest.FixtureRequest) -> Make:
    made: Make = request.param
    return made


@pytest.fixture
def policies(make: Make) -> list[SessionPolicy]:
    return make()


# Every policy


def test_a_meta_tool_is_described_and_has_a_strict_schema(policies: list[SessionPolicy]) -> None:
    for policy in policies:
        for meta in policy.meta_tools:
            jsonschema.Draft202012Validator.check_schema(dict(meta.parameters))
            assert meta.parameters["additionalProperties"] is False
            assert len(meta.description) > 80
            assert all(part["description"] for part in meta.parameters["properties"].values())


def test_a_selection_holds_only_what_was_given_and_nothing_twice(policies: list[SessionPolicy]) -> None:
    tools = registry()
    for policy in policies:
        policy.begin_turn(tools)
        for names in (list(tools.wire_names), ["git_log", "read"], []):
            selected = policy.select(Selection(tuple(names)))
            assert {*selected.reachable} <= {*names}
            assert len({*selected.reachable}) == len(selected.reachable)
            assert policy.select(Selection(tuple(names))) == selected, "to select changes nothing"


def test_what_may_be_explained_is_explained_in_a_sentence(policies: list[SessionPolicy]) -> None:
    session = Session(registry(), policies)
    session.begin_turn()
    for policy in policies:
        for name in session.registry.wire_names:
            assert (policy.explain(name) or "It is.").endswith(".")


# Every session


def test_R3_what_is_shown_runs_and_meta_tools_come_first(policies: list[SessionPolicy]) -> None:
    session = Session(registry(), policies)
    meta = [each.name for policy in sorted(policies, key=lambda each: each.stage) for each in policy.meta_tools]
    first, rest = shown(session)[: len(meta)], shown(session)[len(meta) :]
    assert first == meta
    assert all(result.ok for result in ask(session, *((name, {}) for name in rest)))
    assert [each.name for each in session.registry.get_all()] == [each.name for each in registry().get_all()]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_R8_no_call_sees_what_another_of_its_batch_changes(make: Make, change: tuple[str, dict[str, str]]) -> None:
    calls: list[tuple[str, dict[str, str]]] = [(name, {}) for names in PLUGINS.values() for name in names]
    alone = [result.ok for result in ask(Session(registry(), make()), *calls)]
    assert [result.ok for result in ask(Session(registry(), make()), change, *calls)[1:]] == alone
    assert [result.ok for result in ask(Session(registry(), make()), *calls, change)[:-1]] == alone


def test_R4_a_meta_tool_counts_as_a_call_and_its_answer_is_whole(policies: list[SessionPolicy]) -> None:
    tools = registry()
    tools.register(ExecutableTool("read", plugin="file", function=lambda: "x" * 10_000))
    session = Session(tools, policies, around=ToolContext(result_budget_chars=2_000))
    listing: list[tuple[str, dict[str, str]]] = [
        (name, {}) for name in shown(session) if name in ("list_toolkits", "capability_list", "browse_tools")
    ]
    results = ask(session, *listing, *([("read", {})] * 7))
    assert all(json.loads(result.value) == result.structured for result in results[: len(listing)])
    share = 2_000 // len(results)
    assert {result.value.index("\n") for result in results[len(listing) :]} == {share}


def test_R6_a_dry_run_changes_nothing(policies: list[SessionPolicy]) -> None:
    session = Session(registry(), policies)
    before = shown(session)
    ask(session, *CHANGES, dry_run=True)
    assert shown(session) == before
    session.begin_turn()
    assert shown(session) == before


def test_definitions_are_the_same_to_the_byte_until_something_changes(policies: list[SessionPolicy]) -> None:
    session = Session(registry(), policies)
    for form in ("lite", "openai", "anthropic"):
        first = json.dumps(session.to_definitions(form=form), default=dict)
        ask(session, ("read", {}), ("nothing", {}))
        assert json.dumps(session.to_definitions(form=form), default=dict) == first
    assert session.count_tokens(EstimateCounter()) == sum(
        EstimateCounter().count([json.dumps(each, ensure_ascii=False, separators=(",", ":"))])[0]
        for each in session.to_definitions(form="openai")
    )


def test_a_session_that_was_cancelled_goes_on(policies: list[SessionPolicy]) -> None:
    async def hang() -> None:
        await asyncio.Event().wait()

    tools = registry()
    tools.register(ExecutableTool("hang", plugin="file", function=hang))
    session = Session(tools, policies)

    async def run() -> None:
        running = asyncio.create_task(session.execute_parallel([{"name": "hang"}, {"name": "read"}]))
        await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(run())
    assert ask(session, ("read", {}))[0].ok


@dataclass
class Model:
    """What a session with toolkits, a loadout or tiers is to show, word by word from the rules."""

    kind: str
    stored: set[str]
    loaded: set[str]
    activated: list[str]
    categories: list[str]

    def turn(self) -> None:
        self.loaded = set(self.stored)
        self.categories = []

    def call(self, name: str, args: Mapping[str, str], granted: Sequence[str]) -> None:
        match name, args:
            case "load_tools", {"toolkit": key} if self.kind != "loadout-and-tiers":
                self.stored.add(key)
            case "unload_tools", {"toolkit": key} if self.kind != "loadout-and-tiers":
                self.stored.discard(key)
            case "activate_tool", {"plugin": "docker"}:
                self.activated += [each for each in PLUGINS["docker"] if each in granted and each not in self.activated]
            case "load_tools", {"category": key} if self.kind == "loadout-and-tiers":
                self.categories += [key] if key not in self.categories else []

    @property
    def granted(self) -> list[str]:
        """What the toolkits give."""
        if self.kind == "loadout-and-tiers":
            return [name for names in PLUGINS.values() for name in names]
        kits = {"history": PLUGINS["git"], "ops": (*PLUGINS["docker"], *PLUGINS["odd"])}
        return [*PLUGINS["file"], *(name for key in kits if key in self.loaded for name in kits[key])]

    @property
    def shown(self) -> set[str]:
        active = {"read", "write", "git_log", *self.activated}.intersection(self.granted)
        if self.kind == "toolkits-and-loadout":
            return active
        loaded = {name for key in self.categories for name in PLUGINS.get(key.removesuffix("s"), ())}
        return active & {"read", *loaded, *self.activated}

    @property
    def runs(self) -> set[str]:
        return {"read", "write", "git_log", *self.activated}.intersection(self.granted)


STEPS = st.one_of(st.just("turn"), st.just("restart"), st.lists(st.sampled_from(CHANGES), min_size=1, max_size=4))


@pytest.mark.parametrize("kind", ["toolkits-and-loadout", "loadout-and-tiers"])
@settings(max_examples=60, deadline=None)
@given(steps=st.lists(STEPS, max_size=8))
def test_D4_T3_L14_any_interleaving_of_batches_turns_and_restarts_is_what_the_rules_say(
    kind: str, steps: list[Any]
) -> None:
    store = MemorySessionStore()

    def open_session() -> Session:
        first: SessionPolicy = toolkits(store) if kind == "toolkits-and-loadout" else TierPolicy(CATALOG)
        return Session(registry(), [LoadoutPolicy("dev", LOADOUTS), first], session_id="s")

    session, model = open_session(), Model(kind, set(), set(), [], [])
    for step in steps:
        if step == "restart":
            session = open_session()
            model.activated = []
            model.turn()
        elif step == "turn":
            session.begin_turn()
            model.turn()
        else:
            before, granted = shown(session), model.granted
            ask(session, *step)
            for name, args in step:
                model.call(name, args, granted)
            assert shown(session)[: len(before)] == before, "within a turn, the list only grows at its end"
        names = [name for names in PLUGINS.values() for name in names]
        assert {*shown(session)}.intersection([*names, "open_issue"]) == {
            name.replace(" ", "_") for name in model.shown
        }
        results = ask(session, *((name, {}) for name in names))
        assert {name for name, result in zip(names, results, strict=True) if result.ok} == model.runs
        refused = [result for result in results if not result.ok]
        assert all(result.code is FailureCode.NOT_AVAILABLE for result in refused)


@pytest.mark.parametrize(
    ("policy", "change", "call"),
    [
        pytest.param(
            lambda: LoadoutPolicy("dev", LOADOUTS), ("activate_tool", {"plugin": "docker"}), "docker_ps", id="loadout"
        ),
        pytest.param(
            lambda: TierPolicy(CATALOG, enforce=True), ("load_tools", {"category": "gits"}), "git_log", id="tiers"
        ),
    ],
)
def test_R8_a_call_beside_the_one_that_brings_its_tool_is_told_to_wait(
    policy: Callable[[], SessionPolicy], change: tuple[str, dict[str, str]], call: str
) -> None:
    session = Session(registry(), [policy()], session_id="s")
    _, early = ask(session, change, (call, {}))
    assert early.code is FailureCode.NOT_AVAILABLE
    assert "next message" in early.text
    (later,) = ask(session, (call, {}))
    assert later.ok


def test_R8_policies_apply_by_their_stage_in_whatever_order_they_are_given() -> None:
    assert [policy.stage for policy in (toolkits(), LoadoutPolicy(), TierPolicy())] == [*Stage]
    orders = [
        [toolkits(), LoadoutPolicy("dev", LOADOUTS)],
        [LoadoutPolicy("dev", LOADOUTS), toolkits()],
    ]
    one, other = (Session(registry(), policies, session_id="s") for policies in orders)
    assert shown(one) == shown(other)
