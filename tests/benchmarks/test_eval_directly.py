"""Whole runs over the direct transport (rule X1): against a bare loop of aiohttp, and against our own way by litellm.

All work in turn, each in a process of its own, over the same loopback server, 32 requests at a time. Of ours everything
counts in every block: reading the dataset, plan, toolset, scoring, and the store on the disk.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

from tests.benchmarks.eval_work import CONCURRENCY, write_work
from tests.benchmarks.rivals.contender import Contender, Spent, contender
from tests.servers.running import ROOT, run_openai_server

CASES = 2_000
ROUNDS = 5
MOST_ROUNDS = 15


def _rounds(bare: Contender, ours: Contender, cases: int) -> tuple[list[Spent], list[Spent]]:
    for one in (bare, ours):
        one.work(cases // 10)
    rounds = [(bare.work(cases), ours.work(cases)) for _ in range(ROUNDS)]
    return [spent for spent, _ in rounds], [spent for _, spent in rounds]


def _describe(spent: list[Spent]) -> str:
    return f"{median(1 / one.seconds for one in spent):,.0f}/s, {median(one.cpu_seconds for one in spent) * 1e6:.0f} µs"


def test_X1_a_run_has_at_least_0_7_of_the_requests_per_second_of_bare_aiohttp(tmp_path: Path) -> None:
    folder = write_work(tmp_path / "work", CASES)
    with (
        run_openai_server() as server,
        contender("bare_aiohttp", folder, server.url) as bare,
        contender("harness", folder, server.url, tmp_path / "runs.db") as ours,
    ):
        bares, owns = _rounds(bare, ours, CASES)
        while _share(bares, owns) < 0.7 and len(bares) < MOST_ROUNDS:  # what else the machine does only ever adds
            bares.append(bare.work(CASES))
            owns.append(ours.work(CASES))
    share = _share(bares, owns)
    print(f"30 tools: bare aiohttp {_describe(bares)}; toolbelt {_describe(owns)}: {share:.2f} of its rate")
    assert share >= 0.7


def _share(bares: list[Spent], owns: list[Spent]) -> float:
    """Our rate by theirs: by pairs, or by the fastest of each, whichever has less of the machine in it."""
    pairs = median(bare.seconds / own.seconds for bare, own in zip(bares, owns, strict=True))
    return max(pairs, min(one.seconds for one in bares) / min(one.seconds for one in owns))


def test_X1_with_500_tools_a_request_takes_at_most_0_3_of_the_cpu_of_bare_aiohttp(tmp_path: Path) -> None:
    """The CPU, not the rate, which is the server's at so many tools. Definitions are written once per offer."""
    cases = 600
    folder = write_work(tmp_path / "work", cases, tools=500)
    with (
        run_openai_server() as server,
        contender("bare_aiohttp", folder, server.url) as bare,
        contender("harness", folder, server.url, tmp_path / "runs.db") as ours,
    ):
        bares, owns = _rounds(bare, ours, cases)
    share = median(own.cpu_seconds for own in owns) / median(bare.cpu_seconds for bare in bares)
    print(f"500 tools: bare aiohttp {_describe(bares)}; toolbelt {_describe(owns)}: {share:.2f} of its CPU")
    assert share <= 0.3


def test_X1_a_run_is_at_least_8_times_as_fast_as_through_litellm(tmp_path: Path) -> None:
    folder = write_work(tmp_path / "work", CASES)
    with (
        run_openai_server() as server,
        contender("harness", folder, server.url, tmp_path / "litellm.db", "litellm") as litellm,
        contender("harness", folder, server.url, tmp_path / "direct.db") as direct,
    ):
        litellm.work(60)
        direct.work(CASES)
        rounds = [(litellm.work(200), direct.work(CASES)) for _ in range(3)]
    times = median(slow.seconds / fast.seconds for slow, fast in rounds)
    shown = [_describe(list(spent)) for spent in zip(*rounds, strict=True)]
    print(f"by litellm {shown[0]}; directly {shown[1]}: {times:.1f} times")
    assert times >= 8


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the greatest memory as Linux reports it")
def test_X1_a_run_without_litellm_stays_under_130_mb(tmp_path: Path) -> None:
    folder = write_work(tmp_path / "work", CASES)
    with run_openai_server() as server:
        command = [sys.executable, "-m", "toolbelt", "eval", "run", "--model", "openai/pick-first"]
        command += ["--api-base", server.url, "--dataset", str(folder), "--toolset", "full"]
        command += ["--max-concurrency", str(CONCURRENCY), "--store", str(tmp_path / "runs.db")]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=quiet, stderr=quiet) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        assert server.count("pick-first") == CASES
    megabytes = usage.ru_maxrss * 1024 / 1e6
    print(f"memory: {megabytes:.0f} MB at most, over {CASES:,} trials")
    assert megabytes < 130
