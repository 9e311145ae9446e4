"""Whole runs against a bare loop of `litellm.acompletion`: what the harness adds to what must be done anyway."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from tests.benchmarks.eval_work import write_work
from tests.benchmarks.rivals.contender import Spent, contender
from tests.servers.running import run_openai_server

CASES = 600
ROUNDS = 7
LIMIT = 1.15


def test_a_run_takes_at_most_15_percent_more_than_a_bare_loop_of_litellm(tmp_path: Path) -> None:
    """Cases per second over the same loopback server, 30 tools a case, 32 requests at a time, the same arguments.

    Each is a process of its own, and they work in turn, a block of cases at a time. Imports are not counted. Of ours
    everything else is, in every block: reading the dataset, plan, toolset, scoring, and the store on the disk.
    """
    folder = write_work(tmp_path / "work", CASES)
    with (
        run_openai_server() as server,
        contender("bare_litellm", folder, server.url) as bare,
        contender("harness", folder, server.url, tmp_path / "runs.db") as ours,
    ):
        for one in (bare, ours):
            one.work(60)  # the first requests load the rest of litellm
        rounds = [(bare.work(CASES), ours.work(CASES)) for _ in range(ROUNDS)]
    bares, owns = zip(*rounds, strict=True)
    slowdown = min(one.seconds for one in owns) / min(one.seconds for one in bares)
    print(f"bare litellm: {_told(bares)}; toolbelt: {_told(owns)}; {slowdown - 1:+.0%} by the fastest rounds")
    assert slowdown <= LIMIT


def _told(rounds: tuple[Spent, ...]) -> str:
    fastest = max(1 / one.seconds for one in rounds)
    usual = median(1 / one.seconds for one in rounds)
    return f"{fastest:.0f} cases/s (median {usual:.0f}), {min(one.cpu_seconds for one in rounds) * 1e3:.2f} ms CPU"
