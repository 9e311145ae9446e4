"""What a provider's cache makes of a run's requests (rule E6), against a cache that is played through."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.analysis.summary.rows import RUN, database
from tests.evals.running.agents import Agent, calls, in_turn, make_case, make_trial_runner
from tests.evals.toolsets.samples import SMALL
from toolbelt.catalog.definitions import definition_text
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.errors import NotFoundError
from toolbelt.evals.analysis.economics import (
    ArmEconomics,
    Caching,
    cache_economics,
    economics_data,
    has_savings,
    open_prices,
    run_economics,
)
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate, RunSummary
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Reply
from toolbelt.evals.models.model import Request
from toolbelt.evals.running.plan import Trial
from toolbelt.evals.running.records import RequestRecord, TrialRecord
from toolbelt.providers.chat import ModelError, Usage
from toolbelt.providers.litellm_table import PRICE_TABLE, ModelTable, find_litellm_file
from toolbelt.providers.prices import Prices, Rates

READ, WRITTEN = Rates(1.0, 4.0, 0.1, 1.0), Rates(1.0, 4.0, 0.1, 1.25)
COMMIT = make_case("repo/commit")
SAID = Reply("I have it with your next message.", usage=Usage(10, 1))


def load(name: str, toolset: str) -> Reply:
    return calls(("load_tools", {"category" if toolset == "tiered" else "toolkit": name}))


def unload(name: str) -> Reply:
    return calls(("unload_tools", {"toolkit": name}))


@dataclass
class Played:
    """Trials of one arm: what the provider saw, and what was kept of it."""

    requests: list[list[Request]]
    summary: RunSummary


def play(toolset: str, *trials: tuple[Case, Sequence[Reply | ModelError]]) -> Played:
    kept: list[RequestRecord] = []
    rows: list[TrialRecord] = []
    seen: list[list[Request]] = []
    for number, (of, replies) in enumerate(trials):
        agent = Agent(in_turn(*replies))
        trial_runner = make_trial_runner(agent, toolset, kept, catalog=SMALL)
        rows.append(asyncio.run(trial_runner.run(Trial(number, 0, 0, 0), replace(of, id=f"c{number}"))))
        seen.append(agent.requests)
    trial_rows = [
        {**asdict(row), "cluster": row.case_id, "prompt_tokens": None, "completion_tokens": None} for row in rows
    ]
    requests = [{"trial": one.trial, "request": one.request, "offer": one.offer.digest} for one in kept]
    summary = summarize(database([("m", toolset, "")], trial_rows, requests, planned=len(rows)), RUN)
    return Played(seen, summary)


def blocks(request: Request) -> list[str]:
    """A prompt as a provider's cache sees it: definitions first, then messages."""
    definitions = [definition_text(dict(one)) for one in request.offer.definitions]
    return definitions + [json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in request.messages]


def tokens(texts: Sequence[str]) -> int:
    return sum(EstimateCounter().count(texts))


def common(old: Sequence[str], new: Sequence[str]) -> int:
    length = 0
    while length < min(len(old), len(new)) and old[length] == new[length]:
        length += 1
    return length


def played_through(conversations: Sequence[Sequence[Request]]) -> dict[str, int]:
    """The tokens of a cache that holds the prompt before, and of one that also holds how conversations opened."""
    found = dict.fromkeys(("whole", "read", "rebilled", "opened"), 0)
    openings: set[tuple[str, ...]] = set()
    for requests in conversations:
        first = blocks(requests[0])[: len(requests[0].offer.definitions)]
        found["opened"] += tokens(first) if tuple(first) in openings else 0
        openings.add(tuple(first))
        before: list[str] = []
        for request in requests:
            now = blocks(request)
            kept = common(before, now)
            found["whole"] += tokens(now)
            found["read"] += tokens(now[:kept])
            found["rebilled"] += tokens(before[kept:])
            before = now
    return found


CONVERSATIONS = [
    pytest.param("full", [(COMMIT, [calls("commit")])], id="one-request-repeats-nothing"),
    pytest.param("full", [(COMMIT, [calls("read"), calls("commit")])] * 3, id="the-same-list-throughout"),
    pytest.param(
        "tiered",
        [(COMMIT, [calls("browse_tools"), load("git", "tiered"), calls("commit")]), (COMMIT, [calls("send")])],
        id="a-category-is-loaded",
    ),
    pytest.param(
        "tiered",
        [(COMMIT, [load("git", "tiered"), load("files", "tiered"), calls("open")])] * 2,
        id="two-categories-one-after-the-other",
    ),
    pytest.param(
        "dynamic",
        [(COMMIT, [load("git", "dynamic"), SAID, calls("commit")])],
        id="a-toolkit-comes-with-the-next-message",
    ),
    pytest.param(
        "dynamic",
        [
            (COMMIT, [load("git", "dynamic"), SAID, unload("git"), load("files", "dynamic"), SAID, calls("open")]),
            (COMMIT, [calls("send")]),
        ],
        id="one-toolkit-goes-and-another-comes",
    ),
]


@pytest.mark.parametrize(("toolset", "trials"), CONVERSATIONS)
def test_E6_the_bills_are_those_of_a_cache_that_is_played_through(toolset: str, trials: list[Any]) -> None:
    played = play(toolset, *trials)
    expected = played_through(played.requests)
    [one] = cache_economics(played.summary, lambda _: None)
    whole, read, rebilled, opened = (expected[name] / len(trials) for name in ("whole", "read", "rebilled", "opened"))
    assert astuple(one.bills[Caching.NONE]) == pytest.approx((whole, 0, 0, None, None))
    assert astuple(one.bills[Caching.WITHIN]) == pytest.approx((whole - read, read, rebilled, None, None))
    across = (whole - read - opened, read + opened, rebilled, None, None)
    assert astuple(one.bills[Caching.ACROSS]) == pytest.approx(across)


def test_the_conversations_above_change_their_tools() -> None:
    changed = [param.id for param in CONVERSATIONS if played_through(play(*_given(param)).requests)["rebilled"]]
    assert len(changed) == 4  # so that they prove something


def _given(param: Any) -> tuple[Any, ...]:
    toolset, trials = param.values
    return (toolset, *trials)


def test_E6_a_bill_by_hand() -> None:
    # Two requests of 1,000 and 1,500 tokens; the list changed behind the first 300: 700 are billed again.
    arm = ArmSummary(
        "m",
        "dynamic",
        finished=4,
        scored=4,
        solved=Rate(1, 4),
        definition_tokens=400.0,
        own_prompt_tokens=2500.0,
        prompt_tokens=2500.0,
        completion_tokens=50.0,
        repeated_tokens=1000.0,
        invalidated_tokens=700.0,
        first_offers=1,
        requests=2.0,
    )
    [one] = cache_economics(_run(arm), lambda _: Prices(((0, WRITTEN),)))
    expected = {
        Caching.NONE: (2500, 0, 0, 2500 + 200, 0),
        Caching.WITHIN: (2200, 300, 700, 2750 + 30 + 200, 700 * 1.15),
        Caching.ACROSS: (1900, 600, 700, 2375 + 60 + 200, 700 * 1.15),
    }
    assert list(one.bills) == list(expected)
    for caching, figures in expected.items():
        assert astuple(one.bills[caching]) == pytest.approx(figures)
    solved = one.of_solved(Caching.WITHIN)
    assert solved is not None
    assert astuple(solved) == pytest.approx((8800, 1200, 2800, 4 * 2980, 2800 * 1.15))


def _run(*arms: ArmSummary) -> RunSummary:
    return RunSummary("r", "2026-03-01", "finished", "d", "sha256:0", arms=arms)


def _arm(**changes: Any) -> ArmSummary:
    known: dict[str, Any] = {"finished": 10, "scored": 10, "solved": Rate(5, 10), "first_offers": 1, "requests": 2.0}
    known |= {"own_prompt_tokens": 2000.0, "prompt_tokens": 2000.0, "definition_tokens": 500.0}
    known |= {"repeated_tokens": 900.0, "invalidated_tokens": 100.0}
    return ArmSummary("m", "tiered", **known | changes)


def _bill(arm: ArmSummary, rates: Rates | None = None, **more: Any) -> ArmEconomics:
    prices = None if rates is None else Prices(((0, rates),))
    return cache_economics(_run(arm), lambda _: prices, **more)[0]


@st.composite
def _arms(draw: st.DrawFn) -> ArmSummary:
    """What the meter can come to: definitions are in the last prompt, and what is invalidated was repeated."""
    definitions, last, repeated = (draw(st.floats(0, 1e6)) for _ in range(3))
    share, scored = draw(st.floats(0, 1)), draw(st.integers(1, 1000))
    whole = definitions + last + repeated
    return _arm(
        finished=draw(st.integers(scored, 1100)),
        scored=scored,
        solved=Rate(draw(st.integers(0, scored)), scored),
        own_prompt_tokens=whole,
        prompt_tokens=whole * draw(st.floats(0.5, 2)),
        prompt_tokens_reported=draw(st.booleans()),
        definition_tokens=definitions,
        repeated_tokens=repeated,
        invalidated_tokens=repeated * share,
        completion_tokens=draw(st.none() | st.floats(0, 1e4)),
        first_offers=draw(st.none() | st.integers(1, 1100)),
    )


_RATES = st.builds(
    lambda prompt, share, completion: Rates(prompt, completion, prompt * share, prompt),
    st.floats(1e-8, 1e-3),
    st.floats(0, 1),
    st.floats(0, 1e-3),
)


@given(_arms(), _RATES)
def test_E6_a_cache_that_charges_nothing_for_writing_is_never_dearer(arm: ArmSummary, rates: Rates) -> None:
    one = _bill(arm, rates)
    usd = [bill.usd or 0.0 for bill in one.bills.values()]
    assert all(later <= earlier * (1 + 1e-9) for earlier, later in pairwise(usd))
    whole = arm.prompt_tokens if arm.prompt_tokens_reported else arm.own_prompt_tokens
    for bill in one.bills.values():
        assert bill.fresh_tokens + bill.read_tokens == pytest.approx(whole)  # nothing is lost, nothing invented
        assert bill.fresh_tokens >= -1e-6 * (whole or 0)
    assert one.bills[Caching.WITHIN].rebilled_tokens == pytest.approx((arm.invalidated_tokens or 0) * one.scale)


@given(_arms(), _RATES)
def test_E6_an_unchanged_list_would_save_just_what_is_rebilled(arm: ArmSummary, rates: Rates) -> None:
    changed, same = _bill(arm, rates), _bill(replace(arm, invalidated_tokens=0.0), rates)
    for caching in changed.bills:
        saved = (changed.bills[caching].usd or 0) - (same.bills[caching].usd or 0)
        assert saved == pytest.approx(changed.bills[caching].rebilled_usd, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("changes", "ways"),
    [
        pytest.param({"scored": 0, "solved": Rate()}, 0, id="nothing-scored"),
        pytest.param({"own_prompt_tokens": None}, 0, id="tokens-unknown"),
        pytest.param({"repeated_tokens": None}, 0, id="what-repeats-is-unknown"),
        pytest.param({"invalidated_tokens": None}, 0, id="what-changed-is-unknown"),
        pytest.param({"first_offers": None}, 2, id="the-first-lists-are-unknown"),
        pytest.param({}, 3, id="all-is-known"),
    ],
)
def test_E6_what_is_unknown_has_no_bill(changes: dict[str, Any], ways: int) -> None:
    assert len(_bill(_arm(**changes), READ).bills) == ways


def test_E6_where_nothing_was_solved_no_price_is_named() -> None:
    one = _bill(_arm(solved=Rate(0, 10)), READ)
    assert one.trials_per_solved is None
    assert one.bills
    assert [one.of_solved(caching) for caching in Caching] == [None] * 3


def test_E6_own_shares_are_scaled_to_what_was_reported() -> None:
    own = _bill(_arm())
    reported = _bill(_arm(prompt_tokens=2200.0, prompt_tokens_reported=True))
    assert (own.scale, reported.scale) == pytest.approx((1.0, 1.1))
    for caching in Caching:
        assert reported.bills[caching].fresh_tokens == pytest.approx(1.1 * own.bills[caching].fresh_tokens)


def test_E6_a_trial_that_was_not_scored_has_written_its_list_too() -> None:
    bills = _bill(_arm(finished=20, scored=10, first_offers=5)).bills
    assert bills[Caching.ACROSS].read_tokens - bills[Caching.WITHIN].read_tokens == 500 * (1 - 5 / 20)


def test_E6_as_many_lists_as_trials_share_nothing() -> None:
    bills = _bill(_arm(first_offers=10)).bills
    assert bills[Caching.ACROSS] == bills[Caching.WITHIN]


@pytest.mark.parametrize(
    ("rates", "usd"),
    [
        pytest.param(READ, 1200 + 80, id="writing-costs-what-any-token-does"),
        pytest.param(WRITTEN, 1500 + 80, id="a-surcharge-for-writing"),
        pytest.param(Rates(1.0, 4.0, 0.1, 0.0), 1200 + 80, id="writing-for-nothing-is-still-a-token"),
        pytest.param(Rates(1.0, 4.0, 1.0, 1.0), 2000, id="no-price-of-its-own-for-reading"),
    ],
)
def test_E6_what_is_written_to_the_cache_is_paid_for(rates: Rates, usd: float) -> None:
    assert _bill(_arm(), rates).bills[Caching.WITHIN].usd == pytest.approx(usd)


def test_E6_a_long_prompt_has_the_price_of_long_prompts() -> None:
    dearer = Rates(2.0, 8.0, 0.2, 2.0)
    [one] = cache_economics(_run(_arm()), lambda _: Prices(((0, READ), (999, dearer))))
    [short] = cache_economics(_run(_arm()), lambda _: Prices(((0, READ), (1000, dearer))))
    assert (one.rates, short.rates) == (dearer, READ)


@pytest.mark.parametrize(
    ("own", "priced_as", "rates", "told"),
    [
        pytest.param(None, None, None, "", id="no-price"),
        pytest.param(Rates(0, 0, 0, 0), None, None, "", id="a-price-of-nothing-compares-nothing"),
        pytest.param(None, "other", READ, "other", id="as-if"),
        pytest.param(Rates(0, 0, 0, 0), "other", READ, "other", id="as-if-for-what-is-free"),
        pytest.param(WRITTEN, "other", WRITTEN, "", id="an-own-price-stays"),
    ],
)
def test_E6_dollars_as_if(own: Rates | None, priced_as: str | None, rates: Rates | None, told: str) -> None:
    prices = {"m": own, "other": READ}

    def price_of(model: str) -> Prices | None:
        found = prices.get(model)
        return None if found is None else Prices(((0, found),))

    [one] = cache_economics(_run(_arm()), price_of, priced_as)
    assert (one.rates, one.priced_as) == (rates, told)
    assert (one.bills[Caching.NONE].usd is None) == (rates is None)


def test_a_model_without_a_price_lends_none() -> None:
    with pytest.raises(NotFoundError, match="No priced model named 'nobody'"):
        cache_economics(_run(_arm()), lambda _: None, "nobody")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        pytest.param({}, True, id="something-is-read"),
        pytest.param({"repeated_tokens": 0.0, "invalidated_tokens": 0.0}, True, id="openings-alone"),
        pytest.param(
            {"repeated_tokens": 0.0, "invalidated_tokens": 0.0, "first_offers": 10}, False, id="nothing-repeats"
        ),
        pytest.param({"solved": Rate(0, 10)}, False, id="nothing-solved"),
    ],
)
def test_it_speaks_only_where_a_cache_does_something(changes: dict[str, Any], says: bool) -> None:
    assert has_savings([_bill(_arm(**changes))]) is says


@cache
def table() -> dict[str, Any]:
    path = find_litellm_file(PRICE_TABLE)
    assert path is not None
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def run(model: str) -> RunSummary:
    arm = ArmSummary(
        model,
        "tiered",
        finished=10,
        scored=10,
        solved=Rate(10, 10),
        definition_tokens=500.0,
        own_prompt_tokens=2000.0,
        prompt_tokens=2000.0,
        completion_tokens=30.0,
        repeated_tokens=900.0,
        invalidated_tokens=100.0,
        first_offers=10,
        requests=2.0,
    )
    return RunSummary("r", "2026-03-01", "finished", "d", "sha256:0", arms=(arm,))


@pytest.mark.parametrize(
    ("model", "written"),
    [
        pytest.param("gpt-4o", "input_cost_per_token", id="writing-is-free"),
        pytest.param("claude-sonnet-4-5", "cache_creation_input_token_cost", id="writing-costs-more"),
        pytest.param("gemini/gemini-2.5-flash", "input_cost_per_token", id="kept-by-itself"),
    ],
)
def test_E6_bills_by_the_values_of_the_table(model: str, written: str, shared_cache: Path) -> None:
    entry = table()[model]
    prompt, read, answer = (
        entry[key] for key in ("input_cost_per_token", "cache_read_input_token_cost", "output_cost_per_token")
    )
    [one] = run_economics(run(model), ModelTable(shared_cache))
    assert one.bills[Caching.NONE].usd == pytest.approx(2000 * prompt + 30 * answer)
    assert one.bills[Caching.WITHIN].usd == pytest.approx(1200 * entry[written] + 800 * read + 30 * answer)
    assert one.bills[Caching.WITHIN].rebilled_usd == pytest.approx(100 * (entry[written] - read))
    assert read < prompt  # so that it makes a difference


def test_E6_a_local_model_has_tokens_alone_until_it_is_priced_as_another(shared_cache: Path) -> None:
    models = ModelTable(shared_cache)
    [plain] = run_economics(run("local/bm25"), models)
    [priced] = run_economics(run("local/bm25"), models, "gpt-4o")
    [other] = run_economics(run("gpt-4o"), models)
    assert (plain.rates, plain.bills[Caching.NONE].usd) == (None, None)
    assert priced.bills == other.bills
    assert (priced.priced_as, other.priced_as) == ("gpt-4o", "")


@pytest.mark.parametrize("name", ["gpt-4oo", "ollama/llama3"], ids=["unknown", "free"])
def test_a_price_that_is_none_names_the_nearest(name: str, shared_cache: Path) -> None:
    with pytest.raises(NotFoundError) as raised:
        run_economics(run("local/bm25"), ModelTable(shared_cache), name)
    assert f"No priced model named '{name}'." in str(raised.value)
    assert ("gpt-4o" in raised.value.known) is (name == "gpt-4oo")


def test_each_price_is_looked_up_once(tmp_path: Path) -> None:
    source = tmp_path / "table.json"
    source.write_text(json.dumps({"m": {"input_cost_per_token": 1.0, "output_cost_per_token": 2.0}}))
    prices = open_prices(ModelTable(source=source))
    found = prices("m")
    source.unlink()
    assert found is not None
    assert prices("m") is found


def test_E10_every_bill_is_there_or_null() -> None:
    arm = ArmSummary(
        "m",
        "tiered",
        "shuffled",
        finished=4,
        scored=4,
        solved=Rate(2, 4),
        own_prompt_tokens=100.0,
        prompt_tokens=100.0,
        repeated_tokens=40.0,
        invalidated_tokens=10.0,
        cached_read_tokens=20.0,
        cost_usd=0.5,
        requests=1.0,
    )
    summary = RunSummary("r", "2026", "finished", "d", "sha256:0", arms=(arm, ArmSummary("m", "full", planned=4)))
    first, second = economics_data(cache_economics(summary, lambda _: Prices(((0, Rates(2.0, 8.0, 1.0, 2.0)),))))
    assert first == {
        "model": "m",
        "toolset": "tiered",
        "variant": "shuffled",
        "scored": 4,
        "solved": 2,
        "trials_per_solved": 2.0,
        "scale": 1.0,
        "price": {"prompt": 2.0, "completion": 8.0, "cached_read": 1.0, "cached_write": 2.0, "reasoning": None},
        "priced_as": None,
        "has_answers": False,
        "none": {"per_trial": _bill_data(100, 0, 0, 200, 0), "per_solved": _bill_data(200, 0, 0, 400, 0)},
        "within": {"per_trial": _bill_data(70, 30, 10, 170, 10), "per_solved": _bill_data(140, 60, 20, 340, 20)},
        "across": None,
        "reported": {"cached_read_tokens": 20.0, "cached_write_tokens": None, "cost_usd": 0.5},
    }
    assert {second[name] for name in ("none", "within", "across", "scale", "price", "trials_per_solved")} == {None}
    json.dumps([first, second], allow_nan=False)


def _bill_data(fresh: float, read: float, rebilled: float, usd: float, rebilled_usd: float) -> dict[str, float]:
    return {
        "fresh_tokens": fresh,
        "read_tokens": read,
        "rebilled_tokens": rebilled,
        "usd": usd,
        "rebilled_usd": rebilled_usd,
    }
