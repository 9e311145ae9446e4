"""Running a plan (rules E8 and E9)."""

from __future__ import annotations

import asyncio
import itertools
import signal
from collections import Counter
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.running.agents import CATALOG, Agent, Behaviour, calls, in_turn, make_case, make_trial_runner
from tests.evals.running.test_plan import make_plan
from tests.wording import each_mentions
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import StorageError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.conversation import Reply
from toolbelt.evals.models.model import Request
from toolbelt.evals.running.client import Budget
from toolbelt.evals.running.plan import Arm, Plan
from toolbelt.evals.running.process_engine import ProcessEngine, run_workers
from toolbelt.evals.running.records import RequestRecord, TrialRecord
from toolbelt.evals.running.runner import RunEnd, Runner, run_to_end
from toolbelt.evals.running.store import RunStore
from toolbelt.providers.chat import Failure, ModelError, Usage

FINE = in_turn(calls(("read", {"path": "a"})))


class Cases:
    """As many as are asked for, all alike."""

    def __init__(self, count: int, *tools: str) -> None:
        self.rounds, self.tools = (range(count),), tools

    def case(self, index: int) -> Case:
        return make_case(*self.tools, id=f"case-{index}")


class Tally:
    """Counts what it is told of, and ends the run after so many."""

    def __init__(self, store: RunStore, end_after: int | None = None) -> None:
        self.store = store
        self.end_after = end_after
        self.records: list[TrialRecord] = []

    def finished(self, record: TrialRecord) -> None:
        kept = self.store.connection.execute("SELECT count(*) FROM trials WHERE trial = ?", (record.trial,))
        assert kept.fetchone() == (1,), "a trial is kept before it is told of"
        self.records.append(record)
        if self.end_after == len(self.records):
            signal.raise_signal(signal.SIGINT)  # what Ctrl-C does


class Session:
    """A session of a run, on a file that several may share."""

    def __init__(
        self,
        path: Path,
        plan: Plan,
        agents: list[Agent],
        run: str | None = None,
        tools: tuple[str, ...] = ("files/read",),
    ) -> None:
        self.cases = Cases(plan.cases, *tools)
        self.store = RunStore(path)
        self.plan = plan
        self.run = run or self.store.create(plan, ["estimate"] * len(plan.arms))
        self.agents = agents
        self.budget = Budget()

    def work(
        self, end_after: int | None = None, concurrency: int = 4, catalog: Catalog = CATALOG
    ) -> tuple[RunEnd, Runner]:
        self.watcher = Tally(self.store, end_after)
        trial_runners = []
        for agent in self.agents:
            trial_runner = make_trial_runner(agent, catalog=catalog, budget=self.budget)
            trial_runners.append(replace(trial_runner, client=replace(trial_runner.client, keep=self.keep)))
        engine = ProcessEngine(self.plan, self.run, self.store, self.cases, trial_runners, self.watcher, concurrency)
        runner = Runner(self.plan, self.run, self.store, self.cases, engine)
        return run_to_end(runner), runner

    async def keep(self, record: RequestRecord) -> None:
        await self.store.add_request(self.run, record)

    def rows(self) -> dict[int, tuple[str, int]]:
        return {
            trial: (outcome, requests)
            for trial, outcome, requests in self.store.connection.execute(
                "SELECT trial, outcome, requests FROM trials WHERE run = ?", (self.run,)
            )
        }


def plan_for(*models: str, cases: int = 6, epochs: int = 1) -> Plan:
    return replace(make_plan(cases=cases, epochs=epochs), arms=tuple(Arm(model, "full") for model in models))


def test_E8_every_trial_is_run_and_told_of_once(tmp_path: Path) -> None:
    session = Session(tmp_path / "runs.db", plan_for("a", "b", epochs=2), [Agent(FINE, "a"), Agent(FINE, "b")])
    end, _ = session.work()
    assert end is RunEnd.FINISHED
    assert sorted(record.trial for record in session.watcher.records) == list(range(24))
    assert session.store.get(session.run).status == "finished"
    assert [agent.closed for agent in session.agents] == [1, 1]


@settings(max_examples=25, deadline=None)
@given(interruptions=st.lists(st.integers(1, 12), max_size=4), concurrency=st.integers(1, 6))
def test_E8_interrupt_and_resume_equals_an_unbroken_run(
    interruptions: list[int], concurrency: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    plan = plan_for("a", "b", cases=5)
    flaky = [in_turn(calls("list"), calls(("read", {"path": "a"}))), FINE]
    unbroken = Session(tmp_path_factory.mktemp("one") / "runs.db", plan, [Agent(one) for one in flaky])
    unbroken.work()

    path = tmp_path_factory.mktemp("two") / "runs.db"
    run, asked = None, 0
    for end_after in [*interruptions, None]:
        agents = [Agent(one) for one in flaky]
        session = Session(path, plan, agents, run)
        run = session.run
        try:
            session.work(end_after, concurrency)
        except KeyboardInterrupt:
            assert session.store.get(run).status == "interrupted"
        asked += sum(len(agent.requests) for agent in agents)
        session.store.close()
    session = Session(path, plan, [], run)
    assert session.rows() == unbroken.rows()
    assert asked == sum(requests for _, requests in unbroken.rows().values()), "nothing answered is asked again"


def test_E8_what_was_answered_before_a_kill_is_not_asked_again(tmp_path: Path) -> None:
    def once_then_die(request: Request) -> Reply | ModelError:
        if any(message["role"] == "assistant" for message in request.messages):
            raise RuntimeError("killed")
        return calls("list")

    plan = plan_for("a", cases=1)
    tools = ("files/list", "files/read")
    session = Session(tmp_path / "runs.db", plan, [Agent(once_then_die)], tools=tools)
    with pytest.raises(RuntimeError, match="killed"):
        session.work()
    assert session.store.unfinished(session.run) == {0}
    agent = Agent(in_turn(calls("ping"), calls(("read", {"path": "a"}))))
    again = Session(tmp_path / "runs.db", plan, [agent], session.run, tools)
    again.work()
    assert len(agent.requests) == 1
    assert again.rows() == {0: ("correct", 2)}


def test_every_case_is_kept_whatever_the_order_in_which_trials_end(tmp_path: Path) -> None:
    plan = plan_for("a", cases=100, epochs=2)
    session = Session(tmp_path / "runs.db", plan, [Agent(FINE)])
    session.work(concurrency=7)
    kept = session.store.connection.execute("SELECT case_id FROM cases ORDER BY length(case_id), case_id").fetchall()
    assert kept == [(f"case-{number}",) for number in range(100)]


def test_E9_a_cap_ends_the_run_and_says_so(tmp_path: Path) -> None:
    session = Session(tmp_path / "runs.db", plan_for("a", "b"), [Agent(FINE), Agent(FINE)])
    session.budget = Budget(max_requests=5)
    end, runner = session.work()
    assert end is RunEnd.INCOMPLETE
    assert each_mentions(runner.reasons, ("cap", "5 requests"))
    assert sum(len(agent.requests) for agent in session.agents) == 5 == len(session.rows())
    row = session.store.get(session.run)
    assert each_mentions((row.status, row.reason), "incomplete", "5 requests")


def test_E9_a_model_that_cannot_be_asked_is_left_and_the_others_go_on(tmp_path: Path) -> None:
    bad = Agent(lambda _: ModelError(Failure.AUTHENTICATION, "wrong key"), "bad")
    good = Agent(FINE, "good")
    session = Session(tmp_path / "runs.db", plan_for("bad", "good", cases=50), [bad, good])
    end, runner = session.work()
    assert (end, runner.reasons) == (RunEnd.INCOMPLETE, ["bad: authentication: wrong key"])
    assert Counter(outcome for outcome, _ in session.rows().values()) == {"correct": 50}
    assert len(bad.requests) <= 4, "at most those under way"


def test_E9_a_server_that_is_down_is_not_waited_for_in_every_trial(tmp_path: Path) -> None:
    down = Agent(lambda _: ModelError(Failure.UNAVAILABLE, "refused"), "down")
    session = Session(tmp_path / "runs.db", plan_for("down", "up", cases=100), [down, Agent(FINE, "up")])
    end, runner = session.work()
    assert end is RunEnd.INCOMPLETE
    assert each_mentions(runner.reasons, ("down", "20 trials", "unavailable", "refused"))
    outcomes = Counter(outcome for outcome, _ in session.rows().values())
    assert outcomes["correct"] == 100
    assert 20 <= outcomes["error"] <= 20 + 4


BLIND = Reply("I have no tools.", usage=Usage(20, 5))
SEEN = Reply("I need none of them.", usage=Usage(10_000, 5))
EMPTY = Reply("", usage=Usage(10, 0))
MANY = Catalog(plugins=(Plugin("many", tuple(Tool(f"tool_{n}", "Does one of many things. " * 9) for n in range(20))),))


def first_replies(*replies: Reply | ModelError) -> Behaviour:
    """Those replies in turn, one a request, from the first again after the last."""
    numbers = itertools.count()
    return lambda _: replies[next(numbers) % len(replies)]


@pytest.mark.parametrize(
    ("replies", "errors", "trials"),
    [
        pytest.param([BLIND], 5, 5, id="blind"),
        pytest.param([EMPTY], 5, 5, id="empty-twice-each"),
        pytest.param([BLIND, EMPTY, EMPTY], 5, 5, id="either-kind"),
        pytest.param([*[BLIND] * 4, SEEN], 24, 30, id="a-normal-trial-between"),
        pytest.param([EMPTY, SEEN], 0, 30, id="empty-once"),
        pytest.param([BLIND, ModelError(Failure.BAD_REQUEST, "?")], 9, 9, id="another-error-is-no-normal-trial"),
    ],
)
def test_E4_five_trials_without_a_normal_one_between_stop_a_model(
    tmp_path: Path, replies: list[Reply | ModelError], errors: int, trials: int
) -> None:
    session = Session(tmp_path / "runs.db", plan_for("m", cases=30), [Agent(first_replies(*replies), "m")])
    end, runner = session.work(concurrency=1, catalog=MANY)
    outcomes = Counter(outcome for outcome, _ in session.rows().values())
    assert (outcomes["error"], outcomes.total()) == (errors, trials)
    assert (end is RunEnd.INCOMPLETE) == (trials == errors) == any("stopped after 5" in text for text in runner.reasons)


def test_E8_an_answer_that_is_none_is_kept_and_not_used_when_the_run_goes_on(tmp_path: Path) -> None:
    session = Session(tmp_path / "runs.db", plan_for("m", cases=1), [Agent(first_replies(BLIND), "m")])
    session.work(catalog=MANY)
    session.store.forget_errors(session.run)
    again = Session(tmp_path / "runs.db", session.plan, [Agent(first_replies(SEEN), "m")], session.run)
    again.work(catalog=MANY)
    assert again.rows() == {0: ("missing_call", 1)}
    kept = again.store.connection.execute("SELECT failure, reply FROM requests ORDER BY attempt").fetchall()
    assert [failure for failure, _ in kept] == ["tools_not_seen", None]
    assert all(BLIND.text in reply or SEEN.text in reply for _, reply in kept)


def test_E9_failures_now_and_then_end_nothing(tmp_path: Path) -> None:
    numbers = itertools.count()
    flaky = Agent(lambda request: ModelError(Failure.BAD_REQUEST, "?") if next(numbers) % 3 else FINE(request), "flaky")
    session = Session(tmp_path / "runs.db", plan_for("flaky", cases=150), [flaky])
    assert session.work()[0] is RunEnd.FINISHED


@pytest.mark.parametrize(
    "behaviour",
    [lambda _: ModelError(Failure.UNAVAILABLE, "503"), lambda _: ModelError(Failure.TIMEOUT, "none came")],
    ids=["down", "too-late"],
)
def test_E4_an_infrastructure_failure_is_never_a_wrong_answer(behaviour: Behaviour, tmp_path: Path) -> None:
    session = Session(tmp_path / "runs.db", plan_for("a"), [Agent(behaviour)])
    session.work()
    assert {outcome for outcome, _ in session.rows().values()} == {"error"}


def test_a_disk_that_refuses_ends_the_run_with_what_was_kept(tmp_path: Path) -> None:
    session = Session(tmp_path / "runs.db", plan_for("a", cases=5000), [Agent(FINE)])
    pages = session.store.connection.execute("PRAGMA page_count").fetchone()[0]
    session.store.connection.execute(f"PRAGMA max_page_count={pages + 20}")
    with pytest.raises(StorageError, match="full"):
        session.work()
    kept = len(session.rows())
    assert kept > 0
    session.store.close()
    again = Session(tmp_path / "runs.db", session.plan, [Agent(FINE)], session.run)
    assert len(again.rows()) == kept


def test_local_work_lets_others_have_a_turn(tmp_path: Path) -> None:
    session = Session(tmp_path / "runs.db", plan_for("a", cases=200), [Agent(FINE)])

    async def both() -> int:
        turns = 0
        trial_runner = make_trial_runner(session.agents[0])
        trial_runner = replace(trial_runner, client=replace(trial_runner.client, keep=session.keep))
        parts = session.plan, session.run, session.store, session.cases
        runner = Runner(*parts, ProcessEngine(*parts, [trial_runner], Tally(session.store), 1))
        work = asyncio.create_task(runner.work())
        while not work.done():
            turns += 1
            await asyncio.sleep(0)
        return turns

    assert asyncio.run(both()) > 100


async def work(log: list[str], name: str, fails: bool = False) -> None:
    try:
        await asyncio.sleep(0 if fails else 60)
        raise ValueError(name)
    finally:
        await asyncio.sleep(0)
        log.append(name)


def test_E8_workers_run_at_once_until_all_have_ended() -> None:
    log: list[str] = []

    async def meet(barrier: asyncio.Barrier) -> None:
        await barrier.wait()
        log.append("met")

    async def run() -> None:
        barrier = asyncio.Barrier(3)
        await asyncio.wait_for(run_workers(meet(barrier) for _ in range(3)), 10)

    asyncio.run(run())
    assert log == ["met"] * 3


def test_E8_the_failure_of_one_is_heard_once_the_others_have_ended() -> None:
    log: list[str] = []
    workers: list[Coroutine[Any, Any, None]] = [work(log, "b"), work(log, "a", fails=True), work(log, "c")]
    with pytest.raises(ValueError, match="a"):
        asyncio.run(run_workers(workers))
    assert sorted(log) == ["a", "b", "c"]


def test_E8_a_cancellation_ends_them_all() -> None:
    log: list[str] = []

    async def run() -> None:
        task = asyncio.create_task(run_workers([work(log, "a"), work(log, "b")]))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert sorted(log) == ["a", "b"], "before the cancellation is heard"

    asyncio.run(run())
