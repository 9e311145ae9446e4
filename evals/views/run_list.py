"""A run as one of a list: what it asked, and how far it came."""

from __future__ import annotations

from typing import Any

from toolbelt.evals.running.store import RunRow


def run_row_data(row: RunRow, status: str, note: str = "") -> dict[str, Any]:
    """A run as plain values, for JSON.

    Args:
        row: As stored.
        status: See `RunStore.find_status`.
        note: What somebody wrote about it.
    """
    return {
        "run": row.run,
        "created": row.created,
        "status": status,
        "reason": row.reason,
        "dataset": {"name": row.plan.dataset_name, "digest": row.plan.digest},
        "shard": None if row.plan.shard is None else str(row.plan.shard),
        "planned": row.plan.size,
        "finished": row.finished,
        "commit": row.plan.code.get("commit"),
        "note": note,
        "arms": [{"model": arm.model, "toolset": arm.toolset, "variant": arm.variant} for arm in row.plan.arms],
    }
