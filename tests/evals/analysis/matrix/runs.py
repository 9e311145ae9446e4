"""Runs of several models and toolsets in a real file, whose trials are given a character each."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.evals.analysis.summary.rows import REQUEST, TRIAL
from toolbelt.evals.analysis.comparison.comparison import MARGIN
from toolbelt.evals.analysis.evidence.stored_run import StoredRun
from toolbelt.evals.analysis.matrix.build_matrix import build_matrix
from toolbelt.evals.analysis.matrix.matrix import Matrix
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.running.overflow import LeftOutArm, ModelLimits
from toolbelt.evals.running.plan import Arm, Plan
from toolbelt.evals.running.store import RunRow, RunStore

OUTCOMES: Mapping[str, Mapping[str, Any]] = {
    "+": {},
    "a": {"outcome": "wrong_arguments"},
    "-": {"outcome": "wrong_tool", "hits": 0},
    "0": {"expects_nothing": 1},
    "9": {"expects_nothing": 1, "outcome": "unneeded_call", "hits": 0},
    "u": {"outcome": "missing_call", "hits": 0, "covered": 0},
    "e": {"outcome": "error", "reason": "The provider was away."},
    "o": {"outcome": "context_overflow", "reason": "The window was too small."},
    "x": {"outcome": "context_overflow", "reason": "No room.", "requests": 0, "definition_tokens_total": 0},
    "m": {
        "outcome": "context_overflow",
        "ending": "too_many_tools",
        "reason": "Too many tools.",
        "requests": 0,
        "definition_tokens_total": 0,
    },
}
"""Outcomes of a trial: in `0` and `9` nothing is to be called; `x` and `m` were not asked; `.` has not been run."""


@dataclass(frozen=True)
class Asked:
    """An arm and what became of its trials.

    Attributes:
        toolset: Its name.
        trials: A word a case, with a character an epoch.
        tokens: Of the definitions at the first request.
        total: Over all requests; as many if `None`.
        model: Its name.
        variant: Of the toolset.
        tools: At the first request.
        offer: Digest of what was offered first, or one a case.
        prompt: Tokens of all requests, estimated.
        reason: Why what was not asked was not.
        cost: Of a trial, US dollars.
        latency: Of a request, seconds.
    """

    toolset: str
    trials: Sequence[str]
    tokens: int = 1000
    total: int | None = None
    model: str = "m"
    variant: str = ""
    tools: int = 10
    offer: str | Sequence[str] = ""
    prompt: int | None = None
    reason: str = ""
    cost: float = 0.0
    latency: float = 0.5

    def rows(self, place: int, arms: int, clusters: Sequence[str] | None) -> Iterator[tuple[dict[str, Any], bool]]:
        cases = len(self.trials)
        for case, epochs in enumerate(self.trials):
            for epoch, one in enumerate(epochs):
                if one == ".":
                    continue
                total = self.tokens if self.total is None else self.total
                yield (
                    (
                        TRIAL
                        | {
                            "trial": (epoch * cases + case) * arms + place,
                            "arm": place,
                            "epoch": epoch,
                            "case_id": f"c{case}",
                            "cluster": clusters[case] if clusters else f"c{case}",
                            "definition_tokens": self.tokens,
                            "definition_tokens_total": total,
                            "own_prompt_tokens": total + 50 if self.prompt is None else self.prompt,
                            "cost_usd": self.cost,
                        }
                        | dict(OUTCOMES[one])
                        | ({"reason": self.reason} if one in "xm" and self.reason else {})
                    ),
                    one not in "xm",
                )


@dataclass(frozen=True)
class WrittenRun:
    """A run to be written."""

    arms: Sequence[Asked]
    rooms: Mapping[str, ModelLimits] = field(default_factory=dict)
    left_out: tuple[LeftOutArm, ...] = ()
    drafts: int = 0
    status: str = "finished"
    reason: str = ""
    clusters: Sequence[str] | None = None
    config: str | None = None


@contextmanager
def stored(run: WrittenRun, path: Path | None = None) -> Iterator[tuple[RunStore, RunRow]]:
    """The run in a file of its own."""
    with tempfile.TemporaryDirectory() as folder, RunStore(path or Path(folder) / "runs.db") as store:
        first = run.arms[0].trials if run.arms else [""]
        plan = Plan(
            dataset="assistant",
            dataset_name="assistant",
            digest="sha256:0123",
            catalog_name="assistant",
            surroundings="s",
            chosen="c",
            arms=tuple(Arm(one.model, one.toolset, one.variant) for one in run.arms),
            cases=len(first),
            epochs=max(1, len(first[0])),
            limits=run.rooms,
            left_out=run.left_out,
            drafts=run.drafts,
            config=run.config,
        )
        name = store.create(plan, ["o200k_base"] * len(run.arms))
        for place, arm in enumerate(run.arms):
            for trial, is_asked in arm.rows(place, len(run.arms), run.clusters):
                _insert(store, "trials", trial | {"run": name})
                if is_asked:
                    _insert(store, "requests", _request(arm, trial, name))
        store.connection.execute("INSERT INTO offers SELECT DISTINCT offer, '[]' FROM requests")
        store.set_status(name, run.status, run.reason)
        yield store, store.get(name)


def matrix_of(run: WrittenRun | Sequence[Asked], margin: float = MARGIN) -> Matrix:
    """The run laid out."""
    written = run if isinstance(run, WrittenRun) else WrittenRun(run)
    with stored(written) as (store, row):
        return build_matrix(summarize(store.connection, row.run, store.find_status(row)), StoredRun(store, row), margin)


def _request(arm: Asked, trial: Mapping[str, Any], run: str) -> dict[str, Any]:
    case = int(trial["case_id"][1:])
    return REQUEST | {
        "run": run,
        "trial": trial["trial"],
        "failure": {"error": "unavailable", "context_overflow": "context_overflow"}.get(trial["outcome"]),
        "offer": (arm.offer or arm.toolset) if isinstance(arm.offer, str) else arm.offer[case],
        "tools": arm.tools,
        "definition_tokens": arm.tokens,
        "latency_seconds": arm.latency,
    }


def _insert(store: RunStore, table: str, row: Mapping[str, Any]) -> None:
    names = ", ".join(row)
    store.connection.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", [*row.values()])
