"""Runs in a database, written row by row."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolbelt.evals.running.schema import TABLES

RUN = "20260301-120000-beef"

TRIAL: dict[str, Any] = {
    "run": RUN,
    "trial": 0,
    "arm": 0,
    "epoch": 0,
    "case_id": "c0",
    "cluster": "c0",
    "kind": "single",
    "finished": "2026-03-01T12:00:01.000+00:00",
    "outcome": "correct",
    "reason": "",
    "ending": "steps",
    "expects_nothing": 0,
    "covered": 1,
    "surfaced": 1,
    "rank": None,
    "same_as": None,
    "would_dispatch": 0,
    "selections": 1,
    "hits": 1,
    "made": 1,
    "wanted": 1,
    "called": '["files/read"]',
    "missing": "[]",
    "surplus": "[]",
    "arguments_checked": 0,
    "arguments_right": 0,
    "definition_tokens": 100,
    "definition_tokens_total": 100,
    "own_prompt_tokens": 150,
    "prompt_tokens": None,
    "completion_tokens": None,
    "cached_read_tokens": None,
    "cached_write_tokens": None,
    "invalidated_tokens": 0,
    "repeated_tokens": 0,
    "requests": 1,
    "retries": 0,
    "latency_seconds": 0.5,
    "cost_usd": 0.0,
}
REQUEST: dict[str, Any] = {
    "run": RUN,
    "trial": 0,
    "request": 0,
    "attempt": 0,
    "failure": None,
    "message": "",
    "reply": '{"calls": []}',
    "offer": "",
    "tools": 10,
    "definition_tokens": 100,
    "prompt_tokens": None,
    "completion_tokens": None,
    "cached_read_tokens": None,
    "cached_write_tokens": None,
    "latency_seconds": 0.5,
    "cost_usd": None,
}
PLAN: dict[str, Any] = {
    "dataset": {"name": "assistant", "reference": "assistant", "digest": "sha256:0123456789abcdef"},
    "catalog": "assistant",
    "cases": 4,
    "excluded": {},
    "epochs": 1,
    "seed": 0,
    "models": ["local/bm25"],
    "toolsets": ["full"],
    "settings": {"request_limit": 10},
}


def database(
    arms: Sequence[tuple[str, str, str]],
    trials: Iterable[Mapping[str, Any]],
    requests: Iterable[Mapping[str, Any]] = (),
    planned: int = 4,
    plan: Mapping[str, Any] | None = None,
    status: str = "finished",
    reason: str = "",
) -> sqlite3.Connection:
    """A run in memory.

    Args:
        arms: Model, toolset and variant of each.
        trials: What differs from `TRIAL`; numbered in this order unless they say.
        requests: What differs from `REQUEST`.
        planned: Trials of each arm.
        plan: What differs from `PLAN`.
        status: Of the run.
        reason: Why it is not finished.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(TABLES)
    text = json.dumps(PLAN | dict(plan or {}), ensure_ascii=False)
    connection.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?)", (RUN, "2026-03-01T12:00:00Z", status, reason, text))
    connection.executemany(
        "INSERT INTO arms VALUES (?, ?, ?, ?, ?, 'o200k_base', ?)",
        [(RUN, number, *names, planned) for number, names in enumerate(arms)],
    )
    rows = [TRIAL | {"trial": number} | dict(trial) for number, trial in enumerate(trials)]
    connection.executemany(_insert("trials", TRIAL), rows)
    asked = [REQUEST | dict(request) for request in requests]
    connection.executemany(_insert("requests", REQUEST), asked)
    connection.execute("INSERT INTO offers SELECT DISTINCT offer, '[]' FROM requests")
    return connection


def _insert(table: str, row: Mapping[str, Any]) -> str:
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join(f':{name}' for name in row)})"
