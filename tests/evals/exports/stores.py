"""Runs in files, as the command keeps them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from tests.evals.analysis.summary.rows import RUN
from tests.evals.views.sample import ARMS, CASES, sample_run
from toolbelt.evals.running.plan import Arm, Plan
from toolbelt.evals.running.store import RunStore

__all__ = ["RUN", "keep", "sample_store"]


def sample_store(path: Path) -> Path:
    """The run of `tests.evals.views.sample`, which has everything a report has to cope with, in a file."""
    return keep(sample_run(), path, ARMS, CASES)


def keep(connection: sqlite3.Connection, path: Path, arms: list[tuple[str, str, str]], cases: int) -> Path:
    """A run of `tests.evals.analysis.summary.rows` in a file, with a plan that the store can read."""
    with RunStore(path) as store:
        connection.backup(store.connection)
        (text,) = connection.execute("SELECT plan FROM runs").fetchone()
        kept = json.loads(text)
        dataset = kept["dataset"]
        made = Plan(
            dataset=dataset["reference"],
            dataset_name=dataset["name"],
            digest=dataset["digest"],
            catalog_name=kept["catalog"],
            surroundings="sha256:fedcba9876543210",
            chosen="sha256:00112233445566778",
            arms=tuple(Arm(*names) for names in arms),
            cases=cases,
        )
        plan = json.loads(made.to_json()) | {"excluded": kept["excluded"], "settings": kept["settings"]}
        for column in ("rank", "same_as", "reasoning_tokens", "exchange"):
            store.connection.execute(f"ALTER TABLE trials DROP COLUMN {column}")
        store.connection.execute("ALTER TABLE requests DROP COLUMN reasoning_tokens")
        store.connection.execute("PRAGMA user_version=3")
        store.connection.execute("UPDATE runs SET plan = ?", (json.dumps(plan),))
    return path
