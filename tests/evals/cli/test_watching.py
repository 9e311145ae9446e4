"""What is shown while a run goes on (rule E8: what is told of is kept, and adds up over sessions)."""

from __future__ import annotations

import asyncio
import io
import os
import pty
import re
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.evals.running.test_plan import make_plan
from tests.evals.running.test_store import trial_record
from tests.wording import mentions
from toolbelt.evals.cli.watching import LINE_EVERY_SECONDS, ArmTally, ProgressDisplay, watch
from toolbelt.evals.running.client import Budget
from toolbelt.evals.running.pace import Pace
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.scoring.outcome import Outcome


class Clock:
    """Time that passes when it is told to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def make_display(arms: int = 2, cases: int = 100) -> tuple[ProgressDisplay, Clock]:
    plan, clock = make_plan(arms=arms, cases=cases, epochs=1), Clock()
    return ProgressDisplay(plan, "r1", Budget(cost_usd=1.5), [ArmTally() for _ in plan.arms], clock), clock


def test_the_line_says_rate_and_time_left() -> None:
    watcher, clock = make_display()
    clock.now += 60  # a model client takes its time to load, which is no trial's
    watcher.finished(trial_record(0))
    for number in range(1, 51):
        clock.now += 0.1
        watcher.finished(trial_record(number, arm=number % 2))
    assert mentions(watcher.line(), "51 of 200 trials", "10/s", "0:15 left", "$1.5000", "0 errors")


def test_accuracy_is_of_what_is_scored() -> None:
    tally = ArmTally()
    assert tally.accuracy == "–"
    tally.add(Outcome.ERROR, None)
    tally.add(Outcome.CONTEXT_OVERFLOW, 0.5)
    assert (tally.accuracy, tally.errors, tally.finished) == ("–", 1, 2)
    tally.add(Outcome.CORRECT, 0.5)
    tally.add(Outcome.WRONG_ARGUMENTS, 0.5)
    tally.add(Outcome.WRONG_TOOL, 0.5, 2)
    assert (tally.accuracy, tally.scored, tally.cost_usd) == ("50.0%", 4, 2.0)


def test_lines_come_now_and_then_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    watcher, clock = make_display()
    watcher.start(Console(file=io.StringIO()))
    for number in range(100):
        clock.now += 0.3
        watcher.finished(trial_record(number, arm=0))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == pytest.approx(30 / LINE_EVERY_SECONDS, abs=1)
    assert all(line.startswith("run: ") and mentions(line, "local/bm25 · oracle+0", "100.0%") for line in lines)


def test_X2_the_line_says_what_is_waited_for_and_until_when(capsys: pytest.CaptureFixture[str]) -> None:
    watcher, clock = make_display()
    pace = Pace("gpt-x", most=8, open_at=clock.now + 65)
    watcher.paces = [pace]
    assert re.search(r"gpt-x: rate limit, nothing is sent until \d\d:\d\d:\d\d", watcher.line())
    watcher.start(Console(file=io.StringIO()))
    assert pace.on_pause is not None
    for _ in range(3):
        pace.on_pause(pace)
    assert len(capsys.readouterr().err.splitlines()) == 1, "once, where nothing else is printed"
    clock.now += 65
    assert "gpt-x" not in watcher.line()
    pace.slow_down(0)
    assert mentions(watcher.line(), "gpt-x", "at most 1 at once")


@pytest.mark.parametrize("height", [8, 24])
def test_many_arms_leave_room_on_the_screen(height: int) -> None:
    watcher, _ = make_display(arms=30)
    console = Console(file=io.StringIO(), width=80, height=height)
    with console.capture() as captured:
        console.print(watcher.view(console))
    lines = captured.get().splitlines()
    assert len(lines) <= height
    assert lines[-1].startswith("and ")
    assert all(len(line) <= 80 for line in lines)


def test_names_of_others_cannot_write_to_the_terminal() -> None:
    watcher, _ = make_display(arms=1)
    arm = replace(watcher.plan.arms[0], model="evil\x1b[2J", toolset="x\ny")
    watcher.plan = replace(watcher.plan, arms=(arm,))
    console = Console(file=io.StringIO(), width=100, height=10)
    with console.capture() as captured:
        console.print(watcher.view(console))
    assert "\x1b" not in captured.get()


def test_E8_a_resumed_run_counts_what_was_finished_before(tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.db") as store:
        plan = make_plan()
        run = store.create(plan, ["t"] * 3)
        asyncio.run(store.add_trial(run, trial_record(0)))
        asyncio.run(store.add_trial(run, trial_record(1, "error", arm=1, cost_usd=None)))
        with watch(plan, store.connection, run, Budget()) as watcher:
            assert watcher.done == 2
            assert [tally.errors for tally in watcher.tallies] == [0, 1, 0]


def test_on_a_terminal_it_is_alive_and_leaves_no_trace(tmp_path: Path) -> None:
    main, other = pty.openpty()
    command = [sys.executable, "-m", "toolbelt", "eval", "run", "--toolset", "full,tiered", "--limit", "60", "--json"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=other) as process:
        os.close(other)
        shown = b""
        try:
            while chunk := os.read(main, 4096):
                shown += chunk
        except OSError:  # the other end is closed: the process has ended
            pass
        assert process.stdout is not None
        process.stdout.read()
    os.close(main)
    text = shown.decode()
    assert process.returncode == 0, text
    assert "of 120 trials" in text
    assert "\x1b[2K" in text, "what was shown is taken away again"
    with sqlite3.connect(tmp_path / ".toolbelt" / "runs.db") as connection:
        assert connection.execute("SELECT count(*) FROM trials").fetchone() == (120,)
