"""Recorded responses beside a model that answers at once: what finding and storing them costs (rule X3)."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from tests.benchmarks.eval_work import Harness, InstantModel
from toolbelt.evals.conversation import Reply
from toolbelt.evals.models.model import Request
from toolbelt.evals.responses.export import format_export
from toolbelt.evals.responses.recorded import RecordedResponses

ROUNDS = 3


class SilentModel(InstantModel):
    """A model that must not be asked."""

    async def complete(self, request: Request) -> Reply:
        raise AssertionError("a recorded response was not found")


def _cpu_seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


@pytest.mark.parametrize("toolset", ["full", "oracle+9", "tiered"])
def test_X3_a_replay_has_at_least_half_the_speed_of_the_harness_itself(toolset: str, tmp_path: Path) -> None:
    """The shipped cases, replayed from a cache and from an export, in turn with a model that answers at once.

    All that a run does is in it, from reading the files to the last row. What remains is the key of each request and
    the reading of its answer, which no network and no ranking adds to.
    """
    cache, export = tmp_path / "cache.db", tmp_path / "responses.jsonl"
    with RecordedResponses([cache]) as recorded:
        Harness("assistant", InstantModel(remembers=False), toolset, tmp_path / "first.db", recorded=recorded).run()
        assert recorded.added
    with RecordedResponses([cache], is_offline=True) as recorded:
        assert recorded._cache is not None
        lines = format_export(recorded._cache.read_all()).lines
    export.write_text("".join(f"{line}\n" for line in lines))
    instant = Harness("assistant", InstantModel(remembers=False), toolset, tmp_path / "instant.db")
    seconds: dict[str, list[float]] = {"instant": [], "cache": [], "export": []}
    for _ in range(ROUNDS):
        seconds["instant"].append(_cpu_seconds(instant.run))
        for name, file in (("cache", cache), ("export", export)):
            with RecordedResponses([file], is_offline=True) as recorded:
                replay = Harness("assistant", SilentModel(), toolset, tmp_path / "replay.db", recorded=recorded)
                seconds[name].append(_cpu_seconds(replay.run))
    base = median(seconds["instant"])
    ratios = {name: base / median(seconds[name]) for name in ("cache", "export")}
    print(f"replay over {toolset}: {ratios['cache']:.2f} (cache), {ratios['export']:.2f} (export) of the instant model")
    assert min(ratios.values()) > 0.5
