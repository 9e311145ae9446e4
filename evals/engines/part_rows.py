"""The rows of parts: what a worker needs of the store, and what it returns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from toolbelt.evals.engines.chunks import Chunk
from toolbelt.evals.running.merging import copy_rows
from toolbelt.evals.running.records import TRIAL_COLUMNS, TrialRecord, read_trial
from toolbelt.evals.running.store import RunStore
from toolbelt.stores.sqlite_files import transaction

_EARLIER = {
    "requests": "SELECT * FROM requests WHERE run = ? AND trial = ?",
    "responses": "SELECT * FROM responses WHERE run = ? AND trial = ?",
    "offers": "SELECT * FROM offers WHERE offer IN (SELECT offer FROM requests WHERE run = ? AND trial = ?)",
}
_SPENT = (
    "SELECT count(*) - (SELECT count(*) FROM responses WHERE run = ?1 AND trial = ?2 AND is_reused), total(cost_usd) "
    "FROM requests WHERE run = ?1 AND trial = ?2"
)


def with_earlier(chunk: Chunk, store: RunStore, run: str, unfinished: Iterable[int]) -> Chunk:
    """A chunk with its finished trials, whose answers others may share, and the requests of `unfinished` ones."""
    rows: dict[str, list[tuple[object, ...]]] = {}
    requests, cost = 0, 0.0
    with store.guarded():
        for trial in chunk.done:
            query = "SELECT * FROM trials WHERE run = ? AND trial = ?"
            rows.setdefault("trials", []).extend(store.connection.execute(query, (run, trial)))
        for trial in unfinished:
            for table, query in _EARLIER.items():
                if found := store.connection.execute(query, (run, trial)).fetchall():
                    rows.setdefault(table, []).extend(found)
            [(asked, cost_usd)] = store.connection.execute(_SPENT, (run, trial)).fetchall()
            requests, cost = requests + asked, cost + cost_usd
    return replace(chunk, earlier=rows, spent=(requests, cost))


def keep_part(store: RunStore, run: str, data: bytes) -> tuple[list[TrialRecord], set[int]]:
    """Store the rows of a part, all or none.

    Returns:
        Its trials that have ended since, and the numbers of those that have requests alone.
    """
    execute = store.connection.execute
    with store.guarded():
        execute("ATTACH ':memory:' AS part")
        try:
            store.connection.deserialize(data, name="part")
            new = (
                f"SELECT {TRIAL_COLUMNS} FROM part.trials WHERE run = ?1 "  # noqa: S608  our own names
                "AND trial NOT IN (SELECT trial FROM main.trials WHERE run = ?1)"
            )
            ended = list(map(read_trial, execute(new, (run,))))
            with transaction(store.connection):
                copy_rows(store, "part", run, run, is_known=True)
                store.check_place()
            begun = execute(
                "SELECT DISTINCT trial FROM part.requests WHERE trial NOT IN (SELECT trial FROM part.trials)"
            )
            return ended, {trial for (trial,) in begun}
        finally:
            execute("DETACH part")
