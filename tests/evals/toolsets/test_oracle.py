"""`oracle` and `oracle+N` (rule E1)."""

from __future__ import annotations

import subprocess
import sys
import time
import weakref
from collections import Counter
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.toolsets.samples import ASSISTANT, SMALL, TIERED, calls_of, case, shown, start, toolset
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.offers import Offer
from toolbelt.evals.toolsets.oracle import count_reached
from toolbelt.evals.toolsets.spec import parse_toolset
from toolbelt.evals.toolsets.toolset import Toolset
from toolbelt.evals.toolsets.universe import OFFERS_KEPT

IDS = [tool.id for tool in ASSISTANT.tools]
COUNTS = (0, 1, 2, 3, 5, 9, 30, 200, 999)


@pytest.mark.parametrize(
    ("of", "right"),
    [
        pytest.param(case(("repo/log",)), {"repo/log"}, id="the-one"),
        pytest.param(case(("repo/log", "disk/log", "repo/log")), {"repo/log", "disk/log"}, id="each-once"),
        pytest.param(case((("repo/log", "disk/log"),)), {"repo/log"}, id="the-first-of-several-that-would-do"),
        pytest.param(case(("repo/log",), accept=(tuple(calls_of("disk/log")),)), {"repo/log"}, id="no-further-answer"),
        pytest.param(case(("repo/log",), allowed_extra=frozenset({"disk/log"})), {"repo/log"}, id="nothing-beside"),
        pytest.param(case(()), set(), id="nothing-is-right"),
        pytest.param(
            case((("repo/log", "disk/log"),), offered=("disk/log", "chat/read")), {"disk/log"}, id="that-is-there"
        ),
        pytest.param(case(("repo/log",), offered=("chat/read",)), set(), id="none-is-there"),
    ],
)
def test_E1_oracle_offers_the_right_tools_only(of: Case, right: set[str]) -> None:
    made = toolset("oracle")
    assert set(shown(made, of)) == right
    assert made.reach(of) == right
    assert bool(made.offer(of, start(of)).definitions) == bool(right)


def test_E1_oracle_draws_one_where_any_call_will_do() -> None:
    drawn = {shown(toolset("oracle"), case(None, f"case {number}"))[0] for number in range(60)}
    assert len(drawn) == len(SMALL.tools)
    assert len(shown(toolset("oracle+3"), case(None))) == 4


def test_E1_oracle_never_draws_what_is_forbidden_where_any_call_will_do() -> None:
    forbidden = frozenset(tool.id for tool in SMALL.tools[1:])
    for number in range(20):
        of = case(None, f"case {number}", forbidden=forbidden)
        assert shown(toolset("oracle"), of) == [SMALL.tools[0].id]


@pytest.mark.parametrize("kind", ["", ":near"])
@settings(max_examples=20, deadline=None)
@given(
    right=st.lists(st.sampled_from(IDS), max_size=4),
    extra=st.frozensets(st.sampled_from(IDS), max_size=4),
    offered=st.none() | st.lists(st.sampled_from(IDS), max_size=60).map(tuple),
    case_id=st.text(),
)
def test_E1_oracle_distractors_are_nested_and_keep_their_order(
    kind: str, right: list[str], extra: frozenset[str], offered: tuple[str, ...] | None, case_id: str
) -> None:
    universe = set(IDS if offered is None else offered)
    for expected in (tuple(right), None):
        of = case(expected, case_id, "read a file", allowed_extra=extra, offered=offered)
        first = shown(toolset("oracle", ASSISTANT), of)
        before = first
        for count in COUNTS:
            now = shown(_assistant(f"oracle+{count}{kind}"), of)
            assert [tool_id for tool_id in now if tool_id in before] == before
            assert not (set(now) - set(first)) & of.right_ids
            assert len(now) - len(first) == min(count, len(universe - of.right_ids - set(first)))
            before = now


@lru_cache
def _assistant(name: str) -> Toolset:
    return toolset(name, ASSISTANT)


@pytest.mark.parametrize("kind", ["", ":near"])
def test_E1_oracle_gives_no_position_away(kind: str) -> None:
    made = toolset(f"oracle+4{kind}", ASSISTANT)
    places = Counter(
        shown(made, case((IDS[number % len(IDS)],), f"case {number}")).index(IDS[number % len(IDS)])
        for number in range(2_000)
    )
    # A fair draw has 400 at each place, with a standard deviation of 18.
    assert len(places) == 5
    assert all(310 < count < 490 for count in places.values()), places


def test_E1_oracle_orders_the_same_tools_anew_for_each_case() -> None:
    made = toolset("oracle+7")  # with every tool of the catalog
    orders = {tuple(shown(made, case(("repo/log",), f"case {number}"))) for number in range(50)}
    assert len(orders) == 50
    assert len({frozenset(order) for order in orders}) == 1


def test_E1_oracle_draws_every_tool_alike() -> None:
    made = toolset("oracle+9", TIERED)
    meta = {"core/browse_tools", "core/load_tools"}
    drawn = Counter(tool_id for number in range(2_000) for tool_id in shown(made, case((), f"case {number}")))
    assert drawn.keys() == {tool.id for tool in TIERED.tools} - meta
    # 9 of 109, 2,000 times: 165 each, with a standard deviation of 12.
    assert all(95 < count < 235 for count in drawn.values()), (min(drawn.values()), max(drawn.values()))


def test_E1_oracle_draws_by_seed_and_case() -> None:
    one = shown(toolset("oracle+9", ASSISTANT, seed=1), case(()))
    assert shown(toolset("oracle+9", ASSISTANT, seed=1), case(())) == one
    assert shown(toolset("oracle+9", ASSISTANT, seed=2), case(())) != one
    assert shown(toolset("oracle+9", ASSISTANT, seed=1), case((), "another")) != one


@pytest.mark.parametrize("name", ["oracle+5", "oracle+5:near"])
def test_E1_oracle_draws_the_same_in_every_process(name: str) -> None:
    code = (
        "from tests.evals.toolsets.samples import *\n"
        f"print(shown(toolset({name!r}, ASSISTANT, seed=3), case((ASSISTANT.tools[7].id,), 'é', 'read a file')))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": salt}
        ).stdout
        for salt in ("1", "2")
    }
    here = shown(toolset(name, ASSISTANT, seed=3), case((ASSISTANT.tools[7].id,), "é", "read a file"))
    assert said == {f"{here}\n"}


NEAR = Catalog(
    (
        Plugin(
            "p",
            (
                Tool("paint_wall", "Paint a wall with a brush"),
                Tool("send_invoice", "Send an invoice to a customer"),
                Tool("list_invoices", "List the invoices of a customer"),
                Tool("brush_dog", "Brush a dog"),
                Tool("send_letter", "Send a letter"),
                Tool("fly", "Take off"),
                Tool("land", "Touch down"),
            ),
        ),
    ),
    name="near",
)


@pytest.mark.parametrize(
    ("of", "nearest"),
    [
        pytest.param(case(("p/send_invoice",)), ["p/list_invoices"], id="of-the-right-tool"),
        pytest.param(case(("p/paint_wall",)), ["p/brush_dog"], id="of-another"),
        pytest.param(
            case(("p/paint_wall", "p/send_invoice")), ["p/brush_dog", "p/list_invoices"], id="of-each-by-turns"
        ),
        pytest.param(
            case(("p/send_invoice", "p/paint_wall")),
            ["p/list_invoices", "p/brush_dog", "p/send_letter"],
            id="of-each-by-turns-not-one-after-the-other",
        ),
        pytest.param(case((), query="my dog is dirty"), ["p/brush_dog"], id="of-the-query-where-nothing-is-right"),
        pytest.param(
            case(("p/send_invoice",), allowed_extra=frozenset({"p/list_invoices"})),
            ["p/send_letter"],
            id="never-one-that-is-right",
        ),
    ],
)
def test_E1_oracle_near_takes_the_most_similar(of: Case, nearest: list[str]) -> None:
    for count in range(len(nearest) + 1):
        made = toolset(f"oracle+{count}:near", NEAR)
        right = set(shown(toolset("oracle", NEAR), of))
        assert set(shown(made, of)) - right == set(nearest[:count])


def test_E1_oracle_near_is_filled_up_by_chance() -> None:
    made = toolset("oracle+3:near", NEAR)
    drawn = [set(shown(made, case(("p/send_invoice",), f"case {number}"))) for number in range(40)]
    assert all({"p/send_invoice", "p/list_invoices", "p/send_letter"} < one and len(one) == 4 for one in drawn)
    assert len(set(map(frozenset, drawn))) > 1


def test_E1_oracle_near_goes_past_what_it_keeps() -> None:
    alike = Catalog((Plugin("p", tuple(Tool("copy", "Copy a page", id=f"p/copy{n}") for n in range(300))),))
    made, of = toolset("oracle+250:near", alike), case(("p/copy299",))
    # Equals in the order of the catalog; only then is chance asked.
    assert set(shown(made, of)) == {"p/copy299", *(f"p/copy{n}" for n in range(250))}


def test_E1_oracle_takes_no_meta_tool_for_a_distractor() -> None:
    for kind in ("", ":near"):
        drawn = shown(toolset(f"oracle+999{kind}", TIERED), case((), query="browse and load tools"))
        assert len(drawn) == len(TIERED.tools) - 2
        assert not {"core/browse_tools", "core/load_tools"} & set(drawn)


def test_E1_oracle_takes_time_by_what_it_shows_not_by_the_catalog() -> None:
    def seconds(size: int) -> float:
        catalog = Catalog((Plugin("p", tuple(Tool(f"t{n}") for n in range(size))),))
        made = toolset("oracle+9", catalog)
        best = float("inf")
        for turn in range(5):
            cases = [case((f"p/t{n}",), f"{turn} {n}") for n in range(200)]
            began = time.perf_counter()
            for of in cases:
                made.offer(of, start(of))
            best = min(best, time.perf_counter() - began)
        return best

    # Drawing by sorting the catalog for each case would take a hundred times as long.
    assert seconds(10_000) < 10 * seconds(100)


def test_E8_oracle_keeps_no_more_cases_however_many_there_are() -> None:
    made = toolset("oracle+2")
    living: weakref.WeakSet[Offer] = weakref.WeakSet()
    for number in range(2_000):
        of = case(("repo/log",), f"case {number}")
        living.add(made.offer(of, start(of)))
    assert len(living) <= OFFERS_KEPT


NARROW = case(("repo/log",), offered=("repo/log", "disk/log", "chat/read"))
COUNTED = [
    pytest.param([case(("repo/log",))], len(SMALL.tools) - 1, id="the-whole-catalog-but-the-right-one"),
    pytest.param([case(()), case(("repo/log",))], len(SMALL.tools) - 1, id="the-case-with-the-fewest-decides"),
    pytest.param([case(("repo/log", "disk/log"))], len(SMALL.tools) - 2, id="two-right-ones"),
    pytest.param([case(None)], len(SMALL.tools) - 1, id="one-stands-for-any"),
    pytest.param([NARROW], 2, id="what-all-cases-are-offered"),
    pytest.param([NARROW, case(("repo/log",))], len(SMALL.tools) - 1, id="what-some-are-offered-decides-nothing"),
]


@pytest.mark.parametrize(("cases", "most"), COUNTED)
def test_E1_more_distractors_than_there_are_is_refused_with_the_most_that_there_are(
    cases: list[Case], most: int
) -> None:
    reached = count_reached(SMALL, [parse_toolset(f"oracle+{most}")], cases)
    shown_now = [len(shown(toolset(f"oracle+{most}"), of)) - len(shown(toolset("oracle"), of)) for of in cases]
    assert reached == {f"oracle+{most}": sum(count == most for count in shown_now)}
    assert max(shown_now) == most
    with pytest.raises(ToolbeltError, match=rf"'oracle\+{most + 1}:near'.* 'oracle\+{most}'"):
        count_reached(SMALL, [parse_toolset(f"oracle+{most + 1}:near")], cases)


def test_E1_the_catalogs_own_meta_tools_are_no_distractors_that_count() -> None:
    most = len(TIERED.tools) - 2
    assert count_reached(TIERED, [parse_toolset(f"oracle+{most}")], [case(())]) == {f"oracle+{most}": 1}
    with pytest.raises(ToolbeltError):
        count_reached(TIERED, [parse_toolset(f"oracle+{most + 1}")], [case(())])


def test_E1_a_case_that_is_offered_fewer_shows_them_all_and_is_counted() -> None:
    specs = [parse_toolset(name) for name in ("full", "oracle", "oracle+2", "oracle+3")]
    assert count_reached(SMALL, specs, [NARROW, case(("repo/log",))]) == {"oracle+2": 2, "oracle+3": 1}
    assert count_reached(SMALL, specs[:2], iter(())) == {}
