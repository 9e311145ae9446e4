"""Two workers of Dask against one process on two cores (rule X5), over the trials alone.

What is compared is trials a second, from the first that ended to the last. To start the workers takes two or three
seconds more, which only a long run gains back; the seconds of the whole command are printed beside.

Where two processes with half of the trials each, which share nothing, are not fast enough either, the machine has no
two cores to spare: then two workers have to be nearly as fast as those.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest

from tests.benchmarks.eval_work import CONCURRENCY, write_work
from tests.servers.running import ROOT, run_openai_server

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
pytestmark = pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="two workers need two cores")

ROUNDS = 3
"""At most: as many as it takes."""
MARGIN = 1.1
"""How much faster than two workers two processes that share nothing may be."""
REQUESTS = 6_000


def test_X5_two_workers_match_words_half_again_as_fast_as_one_process(tmp_path: Path) -> None:
    run = ["--model", "local/bm25", "--toolset", "full,loadout,tiered,dynamic,oracle+9", "--epochs", "2"]
    _assert_faster(run, tmp_path, at_least=1.5)


def test_X5_two_workers_ask_a_server_on_the_same_cores_nearly_as_fast_as_one_process(tmp_path: Path) -> None:
    folder = write_work(tmp_path / "work", REQUESTS)
    with run_openai_server() as server:
        run = ["--model", "openai/pick-first", "--api-base", server.url, "--dataset", str(folder), "--toolset", "full"]
        _assert_faster([*run, "--max-concurrency", str(CONCURRENCY)], tmp_path, at_least=0.8)


def _assert_faster(run: Sequence[str], folder: Path, at_least: float) -> None:
    """Compare the fastest rates of several rounds."""
    whole = spread = 0.0
    for number in range(ROUNDS):
        whole = max(whole, _rate("one process", folder / f"{number}-process", [*run]))
        spread = max(spread, _rate("two workers", folder / f"{number}-dask", [*run, "--engine", "dask:2"]))
        if spread >= at_least * whole:
            return
    apart = _rate("two processes", folder / "apart", *([*run, "--shard", f"{part}/2"] for part in (1, 2)))
    assert spread >= min(at_least * whole, apart / MARGIN)


def _rate(name: str, folder: Path, *runs: Sequence[str]) -> float:
    """Trials a second of runs side by side, from the first trial to the last."""
    folder.mkdir()
    stores = [folder / f"{number}.db" for number in range(len(runs))]
    command = [sys.executable, "-m", "toolbelt", "eval", "run"]
    started = time.perf_counter()
    processes = [
        subprocess.Popen(
            [*command, *run, "--store", str(store)],
            cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for run, store in zip(runs, stores, strict=True)
    ]  # fmt: skip
    assert [process.wait() for process in processes] == [0] * len(runs)
    seconds = time.perf_counter() - started
    trials, asking = _count(stores)
    print(f"{name}: {trials:,} trials, {trials / asking:,.0f}/s; {seconds:.1f} s in all")
    return trials / asking


def _count(stores: Sequence[Path]) -> tuple[int, float]:
    """Trials, and the seconds from the first to the last."""
    counts, firsts, lasts = [], [], []
    for store in stores:
        with contextlib.closing(sqlite3.connect(store)) as connection:
            count, first, last = connection.execute(
                "SELECT count(*), min(finished), max(finished) FROM trials"
            ).fetchone()
        counts.append(count)
        firsts.append(datetime.fromisoformat(first))
        lasts.append(datetime.fromisoformat(last))
    return sum(counts), (max(lasts) - min(firsts)).total_seconds()
