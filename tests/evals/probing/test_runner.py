"""A probe made, cut short, gone on with, and refused."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as settings_of_hypothesis
from hypothesis import strategies as st

from tests.evals.probing.able_model import AbleModel, answer, fail, probe, settings
from tests.wording import mentions, naming
from toolbelt.errors import StorageError, ToolbeltError
from toolbelt.evals.conversation import Reply
from toolbelt.evals.models.model import Request
from toolbelt.evals.probing.checks import EVERY, FIRST, ProbePlan
from toolbelt.evals.probing.learned_facts import learned_facts
from toolbelt.evals.probing.probe_store import ProbeStore
from toolbelt.evals.probing.results import CheckOutcome, CheckResult, ProbeResult, total_cost, total_requests
from toolbelt.evals.probing.runner import run_probe
from toolbelt.evals.running.overflow import ModelLimits
from toolbelt.evals.running.store import RunStore
from toolbelt.loadouts.fit import FitVerdict
from toolbelt.providers.chat import Failure, ModelError

WORKS, UNKNOWN = CheckOutcome.WORKS, CheckOutcome.UNKNOWN
ALL_BUT_CACHED = dict.fromkeys(EVERY, WORKS) | {"cached_tokens": CheckOutcome.PARTLY}
"""As it reports that 0 were."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


def outcomes(result: ProbeResult) -> dict[str, CheckOutcome]:
    return {one.key: one.outcome for one in result.checks}


def tools_of(request: Request) -> int:
    return len(request.offer.tools)


class Watching:
    def __init__(self, until: int = 1000) -> None:
        self.seen: list[str] = []
        self.waits: list[tuple[float, str]] = []
        self.until = until

    def checked(self, result: CheckResult) -> None:
        self.seen.append(result.key)
        if len(self.seen) == self.until:
            raise KeyboardInterrupt

    def waiting(self, seconds: float, why: str) -> None:
        self.waits.append((seconds, why))


def test_an_able_model_passes_in_some_twenty_requests(path: Path) -> None:
    model, watching = AbleModel(), Watching()
    result = probe(path, model, watcher=watching)
    assert (result.status, result.reason) == ("finished", "")
    assert outcomes(result) == ALL_BUT_CACHED
    assert [one.key for one in result.checks] == list(result.planned) == list(EVERY), "in the order of the suite"
    assert watching.seen[0] == FIRST
    assert sorted(watching.seen) == sorted(EVERY)
    assert 20 <= len(model.requests) <= 30
    assert sum(one.requests for one in result.checks) == len(model.requests)
    assert sum(one.cost_usd or 0.0 for one in result.checks) == 110.0 * len(model.requests)
    assert model.closed == 1
    assert {request.sampling.temperature for request in model.requests} == {None}, "left to the provider"
    assert learned_facts(result) == {"tool_calling": True, "parallel_calls": True, "tool_choice": True}


def test_what_a_check_takes_is_summed_up(path: Path) -> None:
    one = next(one for one in probe(path, AbleModel()).checks if one.key == "growing_tools")
    assert (one.requests, one.retries, one.prompt_tokens, one.completion_tokens) == (2, 0, 200, 20)
    assert (one.cached_read_tokens, one.cached_write_tokens, one.latency_seconds, one.cost_usd) == (0, None, 1.0, 220.0)
    assert one.definition_tokens > 0


@pytest.mark.parametrize("most", [1, 3])
def test_so_many_checks_are_under_way_at_once_and_the_first_alone(path: Path, most: int) -> None:
    under_way: list[int] = []
    model = AbleModel(lambda request: under_way.append(len(model.requests)))
    assert probe(path, model, max_concurrency=most).status == "finished"
    assert model.most == most
    assert under_way[0] == 1, "nothing else is asked before the first has its answer"


def test_a_serial_model_works_partly(path: Path) -> None:
    result = probe(path, AbleModel(is_serial=True))
    assert result.outcome("parallel_calls") is CheckOutcome.PARTLY
    assert learned_facts(result)["parallel_calls"] is False


def test_where_tools_are_refused_nothing_else_is_asked(path: Path) -> None:
    model = AbleModel(lambda request: fail(Failure.BAD_REQUEST, "no tools") if request.offer.tools else None)
    result = probe(path, model)
    assert result.status == "finished"
    assert outcomes(result) == dict.fromkeys(EVERY, CheckOutcome.SKIPPED) | {FIRST: CheckOutcome.REFUSED}
    assert len(model.requests) == 2
    assert {one.requests for one in result.checks if one.key != FIRST} == {0}
    assert learned_facts(result) == {"tool_calling": False}


def test_not_found_is_of_the_request_where_the_model_answers_others(path: Path) -> None:
    nowhere = fail(Failure.NOT_FOUND, "none of ours takes tools")
    result = probe(path, AbleModel(lambda request: nowhere if request.offer.tools else None))
    assert (result.status, result.outcome(FIRST)) == ("finished", CheckOutcome.REFUSED)
    result = probe(path, AbleModel(lambda request: nowhere if request.sampling.tool_choice else None), fresh=True)
    assert (result.status, result.outcome("choice_none")) == ("finished", CheckOutcome.REFUSED)


@pytest.mark.parametrize(
    ("limits", "tokens", "has_room"),
    [
        (ModelLimits(), 10**9, True),
        (ModelLimits(8192), 8191, True),
        (ModelLimits(8192), 8192, False),
        (ModelLimits(8192, 2048), 6143, True),
        (ModelLimits(8192, 2048), 6144, False),
    ],
)
def test_L15_room_is_what_the_reserve_leaves(limits: ModelLimits, tokens: int, has_room: bool) -> None:
    assert limits.has_room(tokens) is has_room
    assert (limits.fit("m", tokens, 1).verdict is FitVerdict.REFUSES) is not has_room, "as everywhere else"


@pytest.mark.parametrize("failure", [Failure.AUTHENTICATION, Failure.QUOTA, Failure.NOT_FOUND])
def test_E9_where_the_model_cannot_be_asked_the_probe_is_incomplete(path: Path, failure: Failure) -> None:
    model = AbleModel(lambda _: fail(failure, "not you"))
    result = probe(path, model)
    assert (result.status, result.checks) == ("incomplete", ())
    assert "not you" in result.reason
    assert len(model.requests) <= 2
    again = AbleModel()
    assert probe(path, again).probe == result.probe, "with another key it goes on"


def test_a_key_that_is_taken_away_ends_it_in_the_middle(path: Path) -> None:
    model = AbleModel(lambda _: fail(Failure.AUTHENTICATION, "gone") if len(model.requests) > 5 else None)
    result = probe(path, model, max_concurrency=1)
    assert (result.status, result.reason) == ("incomplete", "authentication: gone")
    assert len(result.checks) == 5, "those before are kept"


def test_what_no_answer_comes_to_is_unknown_and_made_again(path: Path) -> None:
    model = AbleModel(lambda request: fail(Failure.UNAVAILABLE, "overloaded") if tools_of(request) == 256 else None)
    result = probe(path, model)
    assert outcomes(result) == ALL_BUT_CACHED | {"tools_256": UNKNOWN}
    assert result.status == "incomplete"
    assert mentions(result.reason, "unavailable", "overloaded")
    [unknown] = [one for one in result.checks if one.outcome is UNKNOWN]
    assert (unknown.requests, unknown.retries) == (1, 2)

    healed = AbleModel()
    again = probe(path, healed)
    assert (again.probe, again.status, outcomes(again)) == (result.probe, "finished", ALL_BUT_CACHED)
    assert [tools_of(request) for request in healed.requests] == [256], "and nothing else is asked again"
    [mended] = [one for one in again.checks if one.key == "tools_256"]
    assert (mended.requests, mended.retries, mended.cost_usd) == (1, 3, 110.0), "what it took before stays counted"


def test_a_server_that_goes_down_is_not_waited_for_check_by_check(path: Path) -> None:
    model = AbleModel(lambda _: fail(Failure.UNAVAILABLE, "down") if len(model.requests) > 3 else None)
    result = probe(path, model, max_concurrency=1)
    assert result.status == "incomplete"
    assert mentions(result.reason, "5 checks in a row")
    assert len(model.requests) < 3 + 6 * 3


def test_a_model_that_never_answers_is_left_after_the_first(path: Path) -> None:
    model = AbleModel(lambda _: fail(Failure.RATE_LIMIT, "slow down"))
    result = probe(path, model)
    assert (outcomes(result), result.status) == ({FIRST: UNKNOWN}, "incomplete")
    assert len(model.requests) == 3


def test_what_takes_too_long_is_not_waited_for_again(path: Path) -> None:
    model = AbleModel(lambda _: fail(Failure.TIMEOUT, "late"))
    result = probe(path, model)
    assert (outcomes(result), result.status) == ({FIRST: UNKNOWN}, "incomplete")
    assert len(model.requests) == 1


def test_what_is_waited_for_is_told_before_the_wait(path: Path) -> None:
    watching = Watching()
    probe(path, AbleModel(lambda _: fail(Failure.UNAVAILABLE, "down")), watcher=watching)
    assert watching.waits == [(0.0, "unavailable: down")] * 2


def test_a_server_that_fails_at_the_sight_of_a_tool_takes_none(path: Path) -> None:
    model = AbleModel(lambda request: fail(Failure.UNAVAILABLE, "500: use --jinja") if request.offer.tools else None)
    result = probe(path, model)
    assert (result.status, result.outcome(FIRST)) == ("finished", CheckOutcome.REFUSED)
    assert [tools_of(request) for request in model.requests] == [1, 1, 1, 0, 1, 1]
    assert learned_facts(result) == {"tool_calling": False}


def test_a_server_that_is_down_is_asked_once_without_tools_and_no_more(path: Path) -> None:
    model = AbleModel(lambda _: fail(Failure.UNAVAILABLE, "down"))
    result = probe(path, model)
    assert outcomes(result) == {FIRST: UNKNOWN}
    assert [tools_of(request) for request in model.requests] == [1, 1, 1, 0]


def test_a_rate_limit_that_passes_leaves_no_trace_but_retries(path: Path) -> None:
    turned_away: set[int] = set()

    def limited(request: Request) -> ModelError | None:
        if id(request) in turned_away or tools_of(request) != 64:
            return None
        turned_away.add(id(request))
        return fail(Failure.RATE_LIMIT, "slow down", retry_after_seconds=0.0)

    result = probe(path, AbleModel(limited))
    assert outcomes(result) == ALL_BUT_CACHED
    assert {one.key for one in result.checks if one.retries} == {"tools_64"}


def test_what_has_no_room_is_not_asked(path: Path) -> None:
    model = AbleModel()
    result = probe(path, model, limits=ModelLimits(8192, 2048, max_tools=20, tool_calling=False))
    too_large = [one for one in result.checks if one.outcome is CheckOutcome.TOO_LARGE]
    assert [one.key for one in too_large] == ["tools_128", "tools_256"]
    assert {one.requests for one in too_large} == {0}
    assert mentions(too_large[0].said, "window of 8,192", "2,048")
    asked = {tools_of(request) for request in model.requests}
    assert 64 in asked, "what is said of the most tools, and of tool calling, is found out"
    assert max(asked) == 64


def test_an_overflow_that_the_provider_tells_is_too_large(path: Path) -> None:
    model = AbleModel(lambda request: fail(Failure.CONTEXT_OVERFLOW) if request.offer.tokens > 9000 else None)
    result = probe(path, model)
    assert (result.outcome("tools_256"), result.status) == (CheckOutcome.TOO_LARGE, "finished")


def test_caps_are_kept_to_and_stay_so_over_sessions(path: Path) -> None:
    model = AbleModel()
    result = probe(path, model, max_requests=4)
    assert (result.status, len(model.requests)) == ("incomplete", 4)
    assert mentions(result.reason, "4 requests")
    assert total_requests(result) == 4, "those of checks under way as well"
    assert total_cost(result) == 440.0
    again = AbleModel()
    assert probe(path, again, max_requests=6).status == "incomplete"
    assert len(again.requests) == 2
    assert mentions(probe(path, AbleModel(), max_cost_usd=700.0).reason, "beyond the cap")
    last = AbleModel()
    assert probe(path, last).status == "finished"


def test_E8_an_interrupted_probe_goes_on_and_asks_nothing_twice(path: Path) -> None:
    model = AbleModel()
    with pytest.raises(KeyboardInterrupt):
        probe(path, model, watcher=Watching(until=6), max_concurrency=1)
    with RunStore(path) as store:
        kept = ProbeStore(store).get("latest")
    assert (kept.status, kept.reason, len(kept.checks)) == ("interrupted", "interrupted by the user", 6)
    again = AbleModel()
    result = probe(path, again)
    assert (result.probe, result.status, outcomes(result)) == (kept.probe, "finished", ALL_BUT_CACHED)
    assert len(model.requests) + len(again.requests) == len(probe_afresh(path).requests)


def probe_afresh(path: Path) -> AbleModel:
    model = AbleModel()
    probe(path, model, fresh=True)
    return model


@settings_of_hypothesis(max_examples=8, deadline=None)
@given(cut=st.integers(1, 22), most=st.integers(1, 5))
def test_E8_cut_anywhere_and_gone_on_with_is_as_if_it_had_not_been(cut: int, most: int) -> None:
    left = iter(range(cut))

    def dies(_: Request) -> None:
        if next(left, 0) == cut - 1:
            raise KeyboardInterrupt

    with tempfile.TemporaryDirectory() as folder:
        path, model, again = Path(folder) / "runs.db", AbleModel(dies), AbleModel()
        with pytest.raises(KeyboardInterrupt):
            probe(path, model, max_concurrency=most)
        mended, whole = probe(path, again), probe(Path(folder) / "whole.db", AbleModel())
    assert mended.checks == whole.checks
    lost = len(model.requests) + len(again.requests) - sum(one.requests for one in whole.checks)
    assert 1 <= lost <= most, "what was under way at the cut, and nothing else, is asked twice"


def test_E8_what_was_answered_of_a_check_is_not_asked_again(path: Path) -> None:
    def dies(request: Request) -> ModelError | None:
        if request.messages[-1]["role"] == "tool":
            raise KeyboardInterrupt
        return None

    wanted = ProbePlan("able", planned=(FIRST, "growing_tools"))
    with pytest.raises(KeyboardInterrupt):
        probe(path, AbleModel(dies), wanted=wanted)
    again = AbleModel()
    result = probe(path, again, wanted=wanted)
    assert outcomes(result) == {FIRST: WORKS, "growing_tools": WORKS}
    assert [request.messages[-1]["role"] for request in again.requests] == ["tool"], "the second request alone"


def test_a_finished_probe_is_not_gone_on_with_nor_another_of_its_kind(path: Path) -> None:
    first = probe(path, AbleModel())
    assert probe(path, AbleModel()).probe != first.probe
    cut = AbleModel()
    open_one = probe(path, cut, max_requests=3)
    assert probe(path, AbleModel(), max_requests=3, fresh=True).probe != open_one.probe
    elsewhere = ProbePlan("able", "http://127.0.0.1:1/v1", tokenizer="estimate")
    assert probe(path, AbleModel(), wanted=elsewhere, max_requests=1).probe not in (open_one.probe, first.probe)
    few = ProbePlan("able", planned=(FIRST,))
    assert probe(path, AbleModel(), wanted=few).planned == (FIRST,)


def test_two_processes_do_not_probe_the_same_at_once(path: Path) -> None:
    with RunStore(path) as store:
        kept = ProbeStore(store)
        wanted = ProbePlan("able")
        with (
            kept.locks.claim(kept.place_key(wanted)),
            pytest.raises(ToolbeltError, match=naming("able", "another process")),
        ):
            probe(path, AbleModel(), wanted=wanted)
        other = ProbePlan("able", "http://127.0.0.1:1/v1")
        with kept.locks.claim(kept.place_key(wanted)):
            assert probe(path, AbleModel(), wanted=other).status == "finished"


def test_E9_a_full_disk_ends_it_and_what_was_kept_is_safe(path: Path) -> None:
    with RunStore(path) as store:
        pages = store.connection.execute("PRAGMA page_count").fetchone()[0]
        store.connection.execute(f"PRAGMA max_page_count={pages + 1}")  # what a full disk looks like to SQLite
        model = AbleModel(lambda request: fail(Failure.BAD_REQUEST, "x" * 1900) if tools_of(request) > 3 else None)
        with pytest.raises(StorageError, match="full") as refused:
            run_probe(store, ProbePlan("able"), model, settings())
        assert refused.value.exit_code == 3
        assert model.closed == 1
    with RunStore(path) as store:
        kept = ProbeStore(store).get("latest")
        assert kept.status in ("incomplete", "killed")
    again = probe(path, AbleModel())
    assert (again.probe, again.status) == (kept.probe, "finished")


def test_E8_a_reply_that_cannot_be_kept_is_not_used(path: Path) -> None:
    def take_away(request: Request) -> None:
        if request.offer.by_name.keys() == {"load_tools"}:
            path.rename(path.with_name("gone.db"))

    model = AbleModel(take_away)
    with pytest.raises(StorageError, match="removed or replaced"):
        probe(path, model, wanted=ProbePlan("able", planned=(FIRST, "growing_tools")))
    assert len(model.requests) == 2, "what the second reply asked for was not gone on with"


def test_foreign_text_is_kept_as_one_line_whatever_it_holds(path: Path) -> None:
    said = "no\n\x1b]0;title\x07 \ud800 tools " + "x" * 5000
    model = AbleModel(lambda request: fail(Failure.BAD_REQUEST, said) if tools_of(request) == 64 else None)
    result = probe(path, model)
    [refused] = [one for one in result.checks if one.outcome is CheckOutcome.REFUSED]
    assert refused.key == "tools_64"
    assert "no \x1b]0;title\x07 ? tools xx" in refused.said
    assert len(refused.said) < 300
    with RunStore(path) as store:
        assert ProbeStore(store).get(result.probe) == result


class Rambling(AbleModel):
    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        return Reply("\ud800\x1b[31m", answer(request).calls)


def test_a_model_that_says_what_no_file_can_hold_is_judged_and_kept(path: Path) -> None:
    result = probe(path, Rambling())
    assert result.status == "finished"
    assert result.outcome("after_result") is CheckOutcome.FAILS
    assert all(one.prompt_tokens is None and one.cost_usd is None for one in result.checks), "not said, so unknown"
