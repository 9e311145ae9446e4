"""Runs an eval whose process is killed at random moments and goes on each time, until it has ended.

A child is forked for each execution, so that nothing is imported twice, and tells which trials were reported to it
through a pipe, which outlives it.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sqlite3
import sys
import time
import traceback
from pathlib import Path

from tests.benchmarks.eval_work import write_work
from toolbelt.evals import resume_run, run_eval
from toolbelt.evals.running.records import TrialRecord

CONCURRENCY = 32
SAME = ("plain", "padded:1")
"""Two arms whose requests are the same, as all definitions are longer than one token."""
LATEST_SECONDS = 0.2
"""After its first trial, a child is killed within this time."""


def execute(folder: Path, model: str, api_base: str | None, epochs: int, pipe: int) -> None:
    """Begin the run, or go on with it, in this process."""

    def report(record: TrialRecord) -> None:
        os.write(pipe, f"{record.trial}\n".encode())

    store = folder / "runs.db"
    if find_run(store) is None:
        run_eval(
            folder / "work", model, "full", variants=SAME, epochs=epochs, store=store, api_base=api_base,
            max_concurrency=CONCURRENCY, on_trial=report,
        )  # fmt: skip
    else:
        resume_run(store=store, max_concurrency=CONCURRENCY, on_trial=report)


def find_run(store: Path) -> str | None:
    """The run, if the file and its tables are there yet."""
    if not store.exists():
        return None
    connection = sqlite3.connect(store, timeout=60)
    try:
        row = connection.execute("SELECT run FROM runs").fetchone()
    except sqlite3.OperationalError:
        return None
    finally:
        connection.close()
    return None if row is None else str(row[0])


def finished_trials(store: Path) -> dict[int, str]:
    """When each trial was finished, as stored."""
    connection = sqlite3.connect(store, timeout=60)
    try:
        return dict(connection.execute("SELECT trial, finished FROM trials"))
    finally:
        connection.close()


def main() -> None:
    """Kill it so often, then let it end; print what was lost or repeated."""
    folder, model, api_base = Path(sys.argv[1]), sys.argv[2], sys.argv[3] or None
    kills, cases, epochs = map(int, sys.argv[4:])
    write_work(folder / "work", cases)
    chance = random.Random(kills)
    killed, lost, repeated, reported = 0, 0, 0, 0
    before: dict[int, str] = {}
    while True:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                execute(folder, model, api_base, epochs, writing)
            except BaseException:  # noqa: BLE001  the child must end here, whatever it was
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        os.close(writing)
        select.select([reading], [], [], 60)  # its first trial, or its end
        if killed < kills:
            time.sleep(chance.uniform(0, LATEST_SECONDS))
            os.kill(child, signal.SIGKILL)
        with os.fdopen(reading) as pipe:
            lines = pipe.read().split("\n")[:-1]
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        after = finished_trials(folder / "runs.db")
        lost += sum(int(line) not in after for line in lines)
        repeated += sum(after.get(trial) != finished for trial, finished in before.items())
        before, reported = after, reported + len(lines)
        if status != -signal.SIGKILL:
            break
        killed += 1
    ended = {"killed": killed, "lost": lost, "repeated": repeated, "reported": reported, "status": status}
    sys.stdout.write(json.dumps(ended))


if __name__ == "__main__":
    main()
