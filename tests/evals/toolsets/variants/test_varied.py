"""Toolsets in another order, at another length, in other company (rule E1)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import pytest

from tests.evals.toolsets.samples import (
    ASSISTANT,
    CATALOGS,
    TIERED,
    case,
    context,
    meta_ids,
    play,
    shown,
    start,
    toolset,
    use,
)
from tests.evals.toolsets.test_contract import CALLS, NAMES, ROLES, SEARCHES, cases
from toolbelt.catalog import Catalog
from toolbelt.catalog.tokens import EstimateCounter, count_tool_tokens
from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Conversation
from toolbelt.evals.offers import Offer, ToolRenderer
from toolbelt.evals.toolsets.toolset import Toolset
from toolbelt.evals.toolsets.variants.variant import Variant
from toolbelt.evals.toolsets.variants.varied import Filler, Shortfall, Varied, vary
from toolbelt.project.opening import open_project
from toolbelt.providers.tokenizers import make_counter
from toolbelt.tiers import MetaTools

VARIANTS = (
    "shuffled", "padded:9000", "distractors:5", "distractors:5:near", "distractors:9999", "anonymous", "undescribed",
    "shuffled+padded:9000+distractors:3:near+anonymous+undescribed",
)  # fmt: skip
EVERY_CHANGE = VARIANTS[-1]
KINDS = ("loadout:half", "tiered", "dynamic:helper", "oracle+9:near", SEARCHES[0])
"""One toolset of each kind; the others differ from these in what they offer, not in how a variant changes it."""
PUSH = case(("git/git_push",), "push")


@cache
def unvaried(name: str, key: str) -> Toolset:
    """The toolset that the variants of a catalog are held against: it offers them all the same."""
    return toolset(name, CATALOGS[key], roles=ROLES)


def again(conversation: Conversation, epoch: int) -> Conversation:
    return replace(conversation, epoch=epoch)


@pytest.mark.parametrize(
    ("key", "name", "variant"),
    [*product(CATALOGS, KINDS, VARIANTS), *(("small", name, EVERY_CHANGE) for name in NAMES if name not in KINDS)],
)
def test_E1_a_variant_keeps_the_contract_of_its_toolset(key: str, name: str, variant: str) -> None:
    catalog = CATALOGS[key]
    made = toolset(name, catalog, variant=variant, roles=ROLES)
    extras = meta_ids(name, catalog) - {tool.id for tool in catalog.tools}
    twin = toolset(name, catalog, variant=variant, roles=ROLES)
    base = unvaried(name, key)
    assert made.name == name
    for of in cases(catalog):
        conversation = start(of)
        before: list[object] = []
        first = {offered.tool.id for offered in base.offer(of, conversation).tools}
        company = {offered.tool.id for offered in made.offer(of, conversation).tools} - first
        for calls in (*CALLS, None):
            offer = made.offer(of, conversation)
            ids = [offered.tool.id for offered in offer.tools]
            plain = [offered.tool.id for offered in base.offer(of, conversation).tools]
            assert len(set(ids)) == len(ids)
            assert set(plain) <= set(ids), "nothing is taken away"
            assert "distractors" in variant or set(plain) == set(ids)
            assert set(ids) - extras <= made.reach(of)
            if not name.startswith("dynamic"):  # whose order is that of rule D6
                assert list(offer.tools[: len(before)]) == before, (
                    "what was shown stays in front: a cached prefix holds"
                )
            if "shuffled" not in variant:
                own = [tool_id for tool_id in ids if tool_id not in company]
                assert own == [tool_id for tool_id in plain if tool_id not in company], "the toolset's order is kept"
            assert made.offer(of, conversation) is offer
            before = list(offer.tools)
            if calls is not None:
                conversation = play(made, of, calls, conversation=conversation)
        assert shown(twin, of, conversation) == ids, "by the seed alone"


@pytest.mark.parametrize("name", ["full", "loadout:half", "oracle+9"])
def test_E1_shuffled_is_another_order_in_each_trial(name: str) -> None:
    made = toolset(name, ASSISTANT, variant="shuffled", roles=ROLES)
    orders = [
        tuple(shown(made, of, again(start(of), epoch)))
        for of in (PUSH, replace(PUSH, id="push again"))
        for epoch in range(3)
    ]
    same = {frozenset(order) for order in orders[:3]}
    assert len(set(orders)) == 6
    assert len(same) == 1
    assert shown(made, PUSH) == list(orders[0])


def test_E1_no_place_is_liked_by_the_shuffle() -> None:
    made = toolset("loadout:half", ASSISTANT, variant="shuffled")
    count = len(shown(made, PUSH))
    places = [shown(made, PUSH, again(start(PUSH), epoch)).index("git/git_push") for epoch in range(400)]
    middle = (count - 1) / 2
    assert abs(sum(places) / len(places) - middle) < count / 10
    assert set(places) == set(range(count))


def test_T3_what_is_loaded_stands_behind_the_core_and_is_shuffled_for_itself() -> None:
    made, of = toolset("tiered", TIERED, variant="shuffled"), PUSH
    core = shown(made, of)
    one = play(made, of, [use("load_tools", category="git")])
    two = play(made, of, [use("load_tools", category="hooks")], conversation=one)
    git = shown(made, of, one)[len(core) :]
    assert shown(made, of, two)[: len(core) + len(git)] == [*core, *git]
    assert {tool_id.split("/")[0] for tool_id in git} == {"git"}
    assert git != [tool.id for tool in TIERED.tools if tool.plugin == "git"]
    assert set(core) == set(shown(toolset("tiered", TIERED), of))


@pytest.mark.parametrize("tokens", [3000, 9000, 46_000, 200_000])
@pytest.mark.parametrize("tokenizer", ["estimate", "o200k_base"])
def test_E1_padding_reaches_the_length_by_the_tokenizer_that_counts(tokens: int, tokenizer: str) -> None:
    counter = EstimateCounter() if tokenizer == "estimate" else make_counter(tokenizer)
    renderer = ToolRenderer(ASSISTANT, counter)
    tools = renderer.offer(tool.id for tool in ASSISTANT.tools[:10]).tools
    padded = Filler(renderer, 0).padded(tools, tokens)
    assert sum(offered.tokens for offered in padded) == pytest.approx(tokens, rel=0.02)
    for before, after in zip(tools, padded, strict=True):
        assert after.tool is before.tool
        assert after.name == before.name
        told = after.definition["function"]
        assert told["description"].startswith(before.definition["function"]["description"])
        assert told["parameters"] == before.definition["function"]["parameters"]
        added = after.tokens - before.tokens
        assert added == pytest.approx((tokens - sum(one.tokens for one in tools)) / 10, rel=0.15), "each by the same"


def test_E1_padding_is_counted_not_assumed() -> None:
    made = toolset("loadout:half", ASSISTANT, variant="padded:60000")
    offer = made.offer(PUSH, start(PUSH))
    counted = count_tool_tokens(
        Catalog(
            tuple(
                replace(
                    plugin,
                    tools=tuple(
                        replace(tool, description=offer.by_name[tool.name].definition["function"]["description"])
                        for tool in plugin.tools
                        if tool.name in offer.by_name
                    ),
                )
                for plugin in ASSISTANT.plugins
            )
        ),
        EstimateCounter(),
    )
    assert offer.tokens == counted.total


def test_E1_what_is_longer_already_stays_as_it_is() -> None:
    plain, made = toolset("full", ASSISTANT), toolset("full", ASSISTANT, variant="padded:100")
    assert made.offer(PUSH, start(PUSH)).definitions == plain.offer(PUSH, start(PUSH)).definitions
    nothing = toolset("oracle", ASSISTANT, variant="padded:100")
    assert nothing.offer(case(()), start(case(()))).tools == ()


def test_E1_padding_differs_between_tools_and_seeds_and_names_no_tool() -> None:
    def told(seed: int) -> list[str]:
        base = context(ASSISTANT, seed=seed)
        renderer = base.renderer({})
        tools = renderer.offer(tool.id for tool in ASSISTANT.tools[:3]).tools
        padded = Filler(renderer, seed).padded(tools, 5000)
        pairs = zip(padded, tools, strict=True)
        return [
            long.definition["function"]["description"].removeprefix(short.definition["function"]["description"])
            for long, short in pairs
        ]

    assert len({*told(0), *told(1)}) == 6
    assert told(0) == told(0)
    assert not any("_" in text for text in told(0))


def test_E1_trials_share_what_is_padded_alike() -> None:
    made = toolset("loadout:half", ASSISTANT, variant="padded:60000")
    assert made.offer(PUSH, start(PUSH)) is made.offer(case((), "another"), start(case((), "another")))
    other = toolset("oracle+2", ASSISTANT, variant="padded:60000")
    offers = [other.offer(PUSH, again(start(PUSH), epoch)) for epoch in (0, 1)]
    assert offers[0] is offers[1]


@pytest.mark.parametrize("kind", ["", ":near"])
def test_E1_distractors_are_wrong_new_and_nested(kind: str) -> None:
    of = Case(
        "several",
        PUSH.messages,
        PUSH.expected,
        accept=case((("shell/run_command", "runtime/exec"),)).answers,
        allowed_extra=frozenset({"git/git_status"}),
    )
    base = set(shown(toolset("loadout:minimal", ASSISTANT), of))
    sets = [
        set(shown(toolset("loadout:minimal", ASSISTANT, variant=f"distractors:{count}{kind}"), of)) - base
        for count in (1, 2, 9, 30)
    ]
    assert [len(one) for one in sets] == [1, 2, 9, 30]
    assert sets[0] < sets[1] < sets[2] < sets[3]
    assert not sets[3] & of.right_ids


def test_E1_near_distractors_are_like_the_right_tool() -> None:
    added = [
        set(shown(toolset("loadout:minimal", ASSISTANT, variant=f"distractors:8{kind}"), PUSH))
        - set(shown(toolset("loadout:minimal", ASSISTANT), PUSH))
        for kind in (":near", "")
    ]
    plugins = [sum(tool_id.startswith("git/") for tool_id in one) for one in added]
    assert plugins[0] > plugins[1]


def test_E1_where_a_distractor_stands_tells_nothing() -> None:
    made = toolset("loadout:minimal", ASSISTANT, variant="distractors:30")
    base = shown(toolset("loadout:minimal", ASSISTANT), PUSH)
    order = shown(made, PUSH)
    assert [tool_id for tool_id in order if tool_id in base] == base
    places = [place for place, tool_id in enumerate(order) if tool_id not in base]
    assert places != list(range(len(order) - 30, len(order)))
    assert min(places) < len(order) / 4
    assert max(places) > len(order) / 2


def test_E1_distractors_stay_in_the_universe_of_the_case() -> None:
    of = case(("git/git_push",), "small", offered=("git/git_push", "git/git_pull", "shell/run_command"))
    assert set(shown(toolset("oracle", ASSISTANT, variant="distractors:9"), of)) == set(of.offered or ())


def test_E5_distractors_make_nothing_covered() -> None:
    made = toolset("loadout:minimal", ASSISTANT, variant="distractors:9999")
    assert "git/git_push" not in made.reach(PUSH)
    assert made.reach(PUSH) == set(shown(made, PUSH))


def test_E1_a_meta_tool_is_no_distractor() -> None:
    own = [written.loadout for written in open_project(catalog="tiered").catalog_loadouts]
    made = toolset("loadout:coder", TIERED, variant="distractors:9999", loadouts=own)
    meta = MetaTools.of(TIERED)
    plain = set(shown(toolset("loadout:coder", TIERED, loadouts=own), PUSH))
    assert {meta.browse.id, meta.load.id}.isdisjoint(set(shown(made, PUSH)) - plain)
    assert len(shown(made, PUSH)) > len(plain)


def test_E1_what_is_offered_under_a_plain_variant_is_the_toolset_itself() -> None:
    base = context(ASSISTANT)
    made: Toolset = toolset("full", ASSISTANT)
    assert vary(made, Variant(), base, base.renderer({})) is made
    assert vary(made, Variant(anonymous=True), base, base.renderer({})) is made
    assert isinstance(made.offer(PUSH, start(PUSH)), Offer)


def test_E1_how_far_a_variant_could_not_be_had() -> None:
    small = case(("git/git_push",), "small", offered=("git/git_push", "git/git_pull", "shell/run_command"))
    made = toolset("oracle", ASSISTANT, variant="distractors:9")
    assert isinstance(made, Varied)
    assert made.find_shortfall([PUSH, small, PUSH]) == Shortfall(tried=3, lacking=1, fewest=2)
    made = toolset("oracle+2", ASSISTANT, variant="padded:300")
    assert isinstance(made, Varied)
    assert made.find_shortfall([PUSH, case((), "none")]).tried == 2
    assert made.find_shortfall([PUSH]).longer == 1
