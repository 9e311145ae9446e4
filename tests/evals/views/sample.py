"""A small run with everything that a report has to cope with."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from tests.evals.analysis.summary.rows import database

ARMS = [
    ("local/bm25", "full", ""),
    ("local/bm25", "loadout:a|b `c` <b>d</b> $x_1$\n*e*", ""),
    ("local/bm25", "oracle", ""),
    ("local/bm25", "oracle+3", ""),
    ("gpt-4o", "full", "shuffled"),
    ("gpt-4o", "loadout:财务\x1b[31m", ""),
]
CASES = 8
_TOOLS = (40, 12, 1, 4, 40, 12)


def sample_run() -> sqlite3.Connection:
    """Six arms of eight cases; the fifth has a reported usage and a price, the last nothing but errors."""
    return database(
        ARMS,
        _trials(),
        _requests(),
        planned=CASES,
        plan={
            "cases": CASES,
            "excluded": {"expected tool 'x|y' is not in the catalog": 2, "no answer": 1},
            "settings": {"request_limit": 10, "limit": 8, "kinds": ["single", "multi"], "temperature": 0.0},
            "dataset": {
                "name": "assistant",
                "reference": "/tmp/my sets/assistant",
                "digest": "sha256:0123456789abcdef",
            },
        },
        status="incomplete",
        reason="gpt-4o was not found by the provider",
    )


def _trials() -> Iterator[dict[str, Any]]:
    for case in range(CASES):
        for arm in range(len(ARMS)):
            trial = {"trial": case * len(ARMS) + arm, "arm": arm, "case_id": f"c{case}", "cluster": f"c{case}"}
            trial |= {"definition_tokens": 100 * _TOOLS[arm], "definition_tokens_total": 110 * _TOOLS[arm]}
            trial |= {"own_prompt_tokens": 110 * _TOOLS[arm] + 60, "cost_usd": 0.0}
            if case >= 6:
                trial |= {"expects_nothing": 1, "selections": 0, "hits": 0, "made": 0, "wanted": 0}
            if arm == 1 and case < 3:
                trial |= {"covered": 0, "surfaced": 0, "outcome": "missing_call", "selections": 0, "hits": 0, "made": 0}
            elif (case * 3 + arm) % 7 == 0:
                trial |= {"outcome": "unneeded_call" if case >= 6 else "wrong_tool", "hits": 0, "selections": 1}
            elif arm == 0 and case == 1:
                trial |= {"outcome": "hallucinated_tool", "hits": 0}
            if arm == 4:
                trial |= {"prompt_tokens": 3000 + case, "completion_tokens": 20, "cost_usd": 0.00123}
            if arm == 5:
                trial |= {"outcome": "error", "reason": "=1+1", "cost_usd": None, "ending": "error"}
            if arm != 5 or case < 6:
                yield trial


def _requests() -> Iterator[dict[str, Any]]:
    for case in range(CASES):
        for arm in range(5):
            number = case * len(ARMS) + arm
            yield {"trial": number, "tools": _TOOLS[arm], "latency_seconds": 0.001 * 10**arm * (case + 1)}
