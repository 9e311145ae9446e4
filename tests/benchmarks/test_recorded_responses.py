"""Recorded responses beside the harness part of `local/bm25`: what finding and storing them costs (rule X3)."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from tests.benchmarks.eval_work import Harness
from toolbelt.evals.conversation import Reply
from toolbelt.evals.models.model import Request
from toolbelt.evals.models.opening import open_model
from toolbelt.evals.responses.cache import ResponseCache
from toolbelt.evals.responses.export import format_export
from toolbelt.evals.responses.recorded import RecordedResponses
from toolbelt.providers.chat import Usage

ROUNDS = 3


class RankingModel:
    """`local/bm25`, and how long it ranks."""

    name = "local/bm25"

    def __init__(self) -> None:
        self._model = open_model(self.name)
        self.ranking_seconds = 0.0

    async def complete(self, request: Request) -> Reply:
        began = time.process_time()
        try:
            return await self._model.complete(request)
        finally:
            self.ranking_seconds += time.process_time() - began

    def cost_usd(self, usage: Usage) -> float | None:
        return self._model.cost_usd(usage)

    async def close(self) -> None:
        await self._model.close()


class SilentModel(RankingModel):
    """A model that must not be asked."""

    async def complete(self, request: Request) -> Reply:
        raise AssertionError("a recorded response was not found")


def _cpu_seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


@pytest.mark.parametrize("toolset", ["full", "oracle+9", "tiered"])
def test_X3_a_replay_has_at_least_half_the_speed_of_the_harness_itself(toolset: str, tmp_path: Path) -> None:
    """The shipped cases, replayed from a cache and from an export, in turn with `local/bm25`, its ranking left out.

    All that a run does is in it, from reading the files to the last row. What remains is the key of each request and
    the reading of its answer, which no network and no ranking adds to.
    """
    cache, export = tmp_path / "cache.db", tmp_path / "responses.jsonl"
    model = RankingModel()
    with RecordedResponses([cache]) as recorded:
        Harness("assistant", model, toolset, tmp_path / "first.db", recorded=recorded).run()
        assert recorded.added
    with ResponseCache(cache, read_only=True) as opened:
        lines = format_export(opened.read_all()).lines
    export.write_text("".join(f"{line}\n" for line in lines))
    ranked = Harness("assistant", model, toolset, tmp_path / "ranked.db")
    seconds: dict[str, list[float]] = {"ranked": [], "cache": [], "export": []}
    for _ in range(ROUNDS):
        model.ranking_seconds = 0.0
        seconds["ranked"].append(_cpu_seconds(ranked.run) - model.ranking_seconds)
        for name, file in (("cache", cache), ("export", export)):
            with RecordedResponses([file], is_offline=True) as recorded:
                replay = Harness("assistant", SilentModel(), toolset, tmp_path / "replay.db", recorded=recorded)
                seconds[name].append(_cpu_seconds(replay.run))
    base = median(seconds["ranked"])
    ratios = {name: base / median(seconds[name]) for name in ("cache", "export")}
    print(
        f"replay over {toolset}: {ratios['cache']:.2f} (cache), {ratios['export']:.2f} (export) of local/bm25's harness"
    )
    assert min(ratios.values()) > 0.5
