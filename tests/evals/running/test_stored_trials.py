"""What was kept of a case, as `eval show --case` tells it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.evals.running.agents import Agent, calls, in_turn, make_case, make_trial_runner
from tests.evals.running.test_plan import make_plan
from toolbelt.evals.running.plan import Trial
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.running.stored_trials import trials_of


def test_E6_a_trial_tells_what_was_called_what_was_missing_and_what_was_surplus(tmp_path: Path) -> None:
    trial_runner = make_trial_runner(Agent(in_turn(calls("ping", "no \ud800 tool"))))
    record = asyncio.run(trial_runner.run(Trial(0, 0, 0, 0), make_case("files/read")))
    with RunStore(tmp_path / "runs.db") as store:
        run = store.create(make_plan(), ["t"] * 3)
        asyncio.run(store.add_trial(run, record))
        [trial] = trials_of(store.connection, run, "case")
    assert (trial["called"], trial["missing"], trial["surplus"]) == (
        ["net/ping", "no \ud800 tool"],
        ["files/read"],
        ["net/ping", "no \ud800 tool"],
    )
