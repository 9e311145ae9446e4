"""The file that stores the runs: every response before it is used, every trial before the next is reported (rule E8).

SQLite with a write-ahead log. What is handed in during one step of the event loop is stored in one transaction, and
whoever handed it in waits for that. So a kill of the process, `kill -9` included, loses nothing that was used. The log
is not forced to the disk at each write, which would cost more than the trials of a local model: a power loss or a crash
of the system may take the last moments with it, but leaves the file sound and the run resumable.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import NoReturn

from toolbelt.errors import InvalidFileError, NotFoundError, StorageError, ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.running.grouped_writes import GroupedWrites, Row, Rows
from toolbelt.evals.running.locks import RunLocks
from toolbelt.evals.running.plan import Plan
from toolbelt.evals.running.records import (
    TRIAL_COLUMNS,
    Attempts,
    Done,
    RequestRecord,
    TrialRecord,
    fold_attempts,
    format_case,
    read_trial,
)
from toolbelt.evals.running.row_checks import find_damage, refuse_wrong_runs
from toolbelt.evals.running.run_names import LATEST, draw_id
from toolbelt.evals.running.schema import connect, create_tables
from toolbelt.sources import refuse_special
from toolbelt.stores.files import make_folder
from toolbelt.stores.sqlite_files import (
    create_private,
    describe_disk_error,
    find_identity,
    raise_file_error,
    transaction,
)

DEFAULT_FILE = Path(".toolbelt") / "runs.db"
NOTHING_RUN = "Nothing has been run here yet: toolbelt eval run"
_REMEMBERED = 1000
_ADD_OFFER = "INSERT OR IGNORE INTO offers VALUES (?, ?)"
_ADD_REQUEST = f"INSERT OR REPLACE INTO requests VALUES ({','.join('?' * 17)})"  # noqa: S608  marks alone
_ADD_RESPONSE = f"INSERT OR REPLACE INTO responses VALUES ({','.join('?' * 9)})"  # noqa: S608
_TRIAL = ("run", *(field.name for field in fields(TrialRecord)))  # earlier files have another order
_ADD_TRIAL = f"INSERT OR REPLACE INTO trials ({','.join(_TRIAL)}) VALUES ({','.join('?' * len(_TRIAL))})"  # noqa: S608
_VALUES = attrgetter(*(field.name for field in fields(TrialRecord)))


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as the file has it.

    Attributes:
        run: Its id.
        created: ISO 8601, UTC.
        status: `running`, `finished`, `incomplete` or `interrupted`.
        reason: Why it is not finished.
        plan: What it is.
        finished: Trials that have ended.
    """

    run: str
    created: str
    status: str
    reason: str
    plan: Plan
    finished: int


def find_store(store: str | Path | None) -> Path:
    """The file of runs: `store`, else `TOOLBELT_STORE`, else `DEFAULT_FILE`; `~` is the home folder, as in a shell."""
    chosen = store or os.environ.get("TOOLBELT_STORE") or DEFAULT_FILE
    return Path(os.path.expanduser(chosen))  # noqa: PTH111  pathlib's fails where there is no such user


class RunStore:
    """The file of a project's runs.

    Args:
        path: Made, with its folder, if need be.
        must_exist: Whether a file that is not there is an error.
        hint: What to do about that.
        survives_crash: Whether what is stored is to survive a crash of the machine, and not of this process alone.

    Raises:
        NotFoundError: it must be there and is not.
        StorageError: the disk would not.
        ToolbeltError: it is no file of runs, or of another version.
    """

    def __init__(
        self,
        path: Path = DEFAULT_FILE,
        *,
        must_exist: bool = False,
        hint: str = NOTHING_RUN,
        survives_crash: bool = True,
    ) -> None:
        self.path = path
        if must_exist and not path.exists():
            raise NotFoundError("file", str(path), hint=hint)
        try:
            make_folder(path.parent)
            with contextlib.suppress(FileNotFoundError, ValueError):
                refuse_special(path)
            create_private(path)  # it holds prompts and answers
            self.connection = connect(path.absolute())
        except (OSError, sqlite3.Error) as error:
            raise StorageError(f"Cannot open {str(path)!r}: {describe_disk_error(error)}.") from None
        try:
            with self.guarded():
                create_tables(self.connection, str(path), survives_crash=survives_crash)
        except BaseException:
            self.connection.close()
            raise
        self._name = str(path.absolute())
        self._file = find_identity(self._name)
        self._kept_lately: set[object] = set()
        self._checked: set[str] = set()
        self.writes = GroupedWrites(self._write)

    def close(self) -> None:
        """Close the file, with what was handed in stored."""
        try:
            self.writes.commit()
        finally:
            self.connection.close()

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close()
        if isinstance(error, sqlite3.DatabaseError):  # of whoever reads through `connection`
            self._refuse(error)

    # Runs

    def create(self, plan: Plan, tokenizers: Sequence[str]) -> str:
        """Begin a run; its id. The tokenizers are what counts the definitions of each arm."""
        now = datetime.now(UTC)
        with self.guarded(), transaction(self.connection):
            run = draw_id(self.connection, "runs", "run", now)
            self.insert_run(run, now, plan, tokenizers)
        self._checked.add(run)  # what this object writes is as toolbelt writes it
        return run

    def insert_run(self, run: str, created: datetime, plan: Plan, tokenizers: Sequence[str]) -> None:
        """Add the rows of a run and its arms."""
        self.connection.execute(
            "INSERT INTO runs VALUES (?, ?, 'running', '', ?)",
            (run, created.isoformat(timespec="milliseconds"), plan.to_json()),
        )
        arms = zip(plan.arms, tokenizers, strict=True)
        self.connection.executemany(
            "INSERT INTO arms VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(run, n, arm.model, arm.toolset, arm.variant, by, plan.per_arm) for n, (arm, by) in enumerate(arms)],
        )

    def remove_empty(self, run: str) -> None:
        """Remove a run of which nothing was asked, so that `latest` is none that cannot be shown."""
        empty = (
            "run = ?1 AND NOT EXISTS (SELECT 1 FROM trials WHERE run = ?1) "
            "AND NOT EXISTS (SELECT 1 FROM requests WHERE run = ?1)"
        )
        with self.guarded(), transaction(self.connection):
            for table in ("cases", "arms", "runs"):
                self.connection.execute(f"DELETE FROM {table} WHERE {empty}", (run,))  # noqa: S608

    def replace_plan(self, run: str, plan: Plan) -> None:
        """Store a plan of the same arms, and with it how many trials of each there are."""
        planned = [(plan.planned_of(arm), run, arm) for arm in range(len(plan.arms))]
        with self.guarded(), transaction(self.connection):
            self.connection.execute("UPDATE runs SET plan = ? WHERE run = ?", (plan.to_json(), run))
            self.connection.executemany("UPDATE arms SET planned = ? WHERE run = ? AND arm = ?", planned)

    def runs(self) -> list[RunRow]:
        """Every run, the latest first; raises `InvalidFileError` for rows that toolbelt did not write."""
        with self.guarded():
            refuse_wrong_runs(self.connection, str(self.path))
            rows = self.connection.execute(
                "SELECT run, created, status, reason, plan, "
                "(SELECT count(*) FROM trials WHERE trials.run = runs.run) FROM runs ORDER BY created DESC, run DESC"
            ).fetchall()
        return [self._row(*row) for row in rows]

    def get(self, name: str) -> RunRow:
        """The run of that id, the only one whose id begins so, or the `latest`.

        Raises:
            NotFoundError: there is none, with the nearest ids.
            InvalidFileError: its rows are not as toolbelt wrote them; each with its table and key.
            ToolbeltError: several begin so, or its plan is damaged.
        """
        with self.guarded():
            refuse_wrong_runs(self.connection, str(self.path))
            ids = [row[0] for row in self.connection.execute("SELECT run FROM runs ORDER BY created DESC, run DESC")]
        if name == LATEST and ids:
            matching = ids[:1]
        else:
            matching = [run for run in ids if run == name] or [run for run in ids if name and run.startswith(name)]
        if not matching:
            hint = "" if ids else NOTHING_RUN
            raise NotFoundError("run", name, [*ids[:15], LATEST] if ids else [], hint)
        if len(matching) > 1:
            raise ToolbeltError(f"{len(matching)} runs begin with {name!r}: {', '.join(matching[:5])}, …")
        with self.guarded():
            row = self.connection.execute(
                "SELECT run, created, status, reason, plan, (SELECT count(*) FROM trials WHERE run = ?1) "
                "FROM runs WHERE run = ?1",
                matching,
            ).fetchone()
        found = self._row(*row)
        self._refuse_damage(found)
        return found

    def _refuse_damage(self, row: RunRow) -> None:
        """Raise `InvalidFileError` for wrong rows of a run; they are looked for once while the file is open."""
        if row.run in self._checked:
            return
        with self.guarded():
            if findings := list(find_damage(self.connection, str(self.path), row.run, row.plan)):
                raise InvalidFileError(findings)
        self._checked.add(row.run)

    def _row(self, run: str, created: str, status: str, reason: str, plan: str, finished: int) -> RunRow:
        try:
            return RunRow(run, created, status, reason, Plan.from_json(plan), finished)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise ToolbeltError(f"The plan of run {run!r} in {str(self.path)!r} is damaged.") from None

    def find_status(self, row: RunRow) -> str:
        """The stored status, or `killed` for a run that is stored as running while no process works on it."""
        return "killed" if row.status == "running" and not self.locks.is_held(row.run) else row.status

    def set_status(self, run: str, status: str, reason: str = "") -> None:
        """Store the status of a run."""
        with self.guarded():
            self.connection.execute("UPDATE runs SET status = ?, reason = ? WHERE run = ?", (status, reason, run))

    @property
    def locks(self) -> RunLocks:
        """The locks on the runs of this file."""
        return RunLocks(self.path.with_name("locks"))

    # Trials

    def done(self, run: str, size: int, *, without_errors: bool = False) -> Done:
        """Numbers of the trials that have ended.

        Args:
            run: Its id.
            size: Trials planned.
            without_errors: Leave those out that ended with an error, so that they are run again.
        """
        done_trials = Done(size)
        condition = " AND outcome <> 'error'" if without_errors else ""
        with self.guarded():
            for (number,) in self.connection.execute(f"SELECT trial FROM trials WHERE run = ?{condition}", (run,)):  # noqa: S608
                done_trials.add(number)
        return done_trials

    def forget_errors(self, run: str) -> int:
        """Delete trials that ended with an error, so that they are run again; returns their number.

        Their requests stay: their cost is still counted, and answered requests are not sent again.
        """
        with self.guarded():
            return self.connection.execute("DELETE FROM trials WHERE run = ? AND outcome = 'error'", (run,)).rowcount

    def find_earlier(self, run: str, trial: int) -> dict[int, Attempts]:
        """What is known of the requests of an unfinished trial, by their number."""
        with self.guarded():
            rows = self.connection.execute(
                "SELECT request, CASE WHEN failure IS NULL THEN reply END, prompt_tokens, completion_tokens, "
                "cached_read_tokens, cached_write_tokens, reasoning_tokens, latency_seconds, cost_usd FROM requests "
                "WHERE run = ? AND trial = ? ORDER BY request, attempt",
                (run, trial),
            ).fetchall()
        return fold_attempts(rows)

    def unfinished(self, run: str) -> set[int]:
        """Numbers of unfinished trials that have requests: at most those that were running when an execution ended."""
        with self.guarded():
            rows = self.connection.execute(
                "SELECT DISTINCT trial FROM requests AS r WHERE run = ?1 AND NOT EXISTS "
                "(SELECT 1 FROM trials WHERE run = ?1 AND trial = r.trial)",
                (run,),
            )
            return {row[0] for row in rows}

    def spent(self, run: str) -> tuple[int, float]:
        """Requests sent so far, with retries and without reused responses, and their cost in USD as far as known."""
        with self.guarded():
            row = self.connection.execute(
                "SELECT count(*) - (SELECT count(*) FROM responses WHERE run = ?1 AND is_reused), total(cost_usd) "
                "FROM requests WHERE run = ?1",
                (run,),
            ).fetchone()
        return int(row[0]), float(row[1])

    async def add_request(self, run: str, record: RequestRecord) -> None:
        """Store an attempt at a request that has ended; it is durable when this returns.

        Raises:
            StorageError: the disk refused, or the file was removed or replaced, so that nothing more would be stored.
        """
        offer, place = record.offer, (run, record.trial, record.request, record.attempt)
        failure, message, reply, *figures = record.list_values()
        values = (*place, failure, message, reply, offer.digest, *figures)
        rows: list[tuple[str, Row]] = [(_ADD_REQUEST, values)]
        if self._is_news(offer.digest):
            rows.append((_ADD_OFFER, (offer.digest, json.dumps(list(offer.by_name)))))
        if (mark := record.response) is not None:
            marked = (mark.key, mark.answer, mark.recorded, mark.is_reused, mark.cost_usd)
            rows.append((_ADD_RESPONSE, (*place, *marked)))
        await self.writes.add(*rows)

    def add_cases(self, run: str, cases: Iterable[Case]) -> None:
        """Store cases, all or none, once for all their trials; a case that is already stored stays."""
        rows = [(run, case.id, format_case(case)) for case in cases]
        with self.guarded(), transaction(self.connection):
            self.connection.executemany("INSERT OR IGNORE INTO cases VALUES (?, ?, ?)", rows)

    def _is_news(self, key: object) -> bool:
        """Whether a key was not stored a moment ago. A key forgotten here is stored again, which does no harm."""
        if key in self._kept_lately:
            return False
        if len(self._kept_lately) >= _REMEMBERED:
            self._kept_lately.clear()
        self._kept_lately.add(key)
        return True

    async def add_trial(self, run: str, *records: TrialRecord) -> None:
        """Store trials that have ended, all or none; durable when this returns. Errors are those of `add_request`."""
        await self.writes.add(*((_ADD_TRIAL, (run, *_VALUES(record))) for record in records))

    def find_trial(self, run: str, trial: int) -> TrialRecord | None:
        """A trial that has ended; `None` if it has not, or not here."""
        with self.guarded():
            query = f"SELECT {TRIAL_COLUMNS} FROM trials WHERE run = ? AND trial = ?"  # noqa: S608  our own names
            row = self.connection.execute(query, (run, trial)).fetchone()
        return None if row is None else read_trial(row)

    def find_common_error(self, run: str) -> str:
        """The most frequent reason of the trials that ended with an error; empty if there are none."""
        with self.guarded():
            row = self.connection.execute(
                "SELECT reason FROM trials WHERE run = ? AND outcome = 'error' GROUP BY reason ORDER BY count(*) DESC",
                (run,),
            ).fetchone()
        return "" if row is None else str(row[0])

    # The disk

    def _write(self, rows: Rows) -> None:
        """Store rows, all or none.

        Raises:
            StorageError: the disk refused, or the file was removed or replaced, so that they would be lost.
        """
        try:
            with self.guarded(), transaction(self.connection):
                for statement, values in rows.items():
                    self.connection.executemany(statement, values)
                self.check_place()
        except BaseException:
            self._kept_lately.clear()  # offers of the rows that were not stored
            raise

    def check_place(self) -> None:
        """Raise `StorageError` if the file was removed or replaced, so that what is written would be lost."""
        if find_identity(self._name) != self._file:
            raise StorageError(f"{str(self.path)!r} was removed or replaced while it was written to; the run is lost.")

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn errors of the disk into ours."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            self._refuse(error)

    def _refuse(self, error: sqlite3.Error) -> NoReturn:
        raise_file_error(error, self.path, "file of runs", "What was kept before is safe.")
