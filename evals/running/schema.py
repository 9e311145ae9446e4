"""The tables of the file that keeps the runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType

from toolbelt.errors import ToolbeltError
from toolbelt.evals.running.records import TrialRecord
from toolbelt.stores.sqlite_files import READ_ONLY

VERSION = 10
"""Version of the tables. A file of another version is refused, never changed silently, except those in `ADDED`."""

_RUNS = """
CREATE TABLE IF NOT EXISTS runs (
    run TEXT PRIMARY KEY,
    created TEXT NOT NULL,               -- ISO 8601, UTC
    status TEXT NOT NULL,                -- running, finished, incomplete, interrupted
    reason TEXT NOT NULL DEFAULT '',     -- why it is not finished
    plan TEXT NOT NULL                   -- JSON: everything needed to go on, see toolbelt.evals.running.plan
);
CREATE TABLE IF NOT EXISTS arms (
    run TEXT NOT NULL,
    arm INTEGER NOT NULL,                -- 0-based, in the order asked for
    model TEXT NOT NULL,
    toolset TEXT NOT NULL,
    variant TEXT NOT NULL DEFAULT '',
    tokenizer TEXT NOT NULL DEFAULT '',  -- what counted the definitions
    planned INTEGER NOT NULL,            -- trials
    PRIMARY KEY (run, arm)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS requests (    -- every request that came to an end, also of trials under way
    run TEXT NOT NULL,
    trial INTEGER NOT NULL,              -- 0-based number in the plan
    request INTEGER NOT NULL,            -- 0-based within the trial
    attempt INTEGER NOT NULL,            -- 0-based; the last one of a request is the one that counted
    failure TEXT,                        -- NULL where it was answered
    message TEXT NOT NULL DEFAULT '',    -- what the provider said to a failure; of an answer, what is odd about it
    reply TEXT,                          -- JSON
    offer TEXT NOT NULL,                 -- what was offered, see offers
    tools INTEGER NOT NULL,              -- how many that were
    definition_tokens INTEGER NOT NULL,  -- estimated
    prompt_tokens INTEGER,               -- this and the next three as reported; NULL where the provider does not say
    completion_tokens INTEGER,
    cached_read_tokens INTEGER,
    cached_write_tokens INTEGER,
    latency_seconds REAL NOT NULL,
    cost_usd REAL,                       -- NULL where the price is unknown
    reasoning_tokens INTEGER,            -- of the completion, as reported
    PRIMARY KEY (run, trial, request, attempt)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS offers (      -- what was shown, each list of names once
    offer TEXT PRIMARY KEY,              -- a digest of the names
    names TEXT NOT NULL                  -- JSON: wire names in order
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cases (       -- what was asked and what was right: a run is read without its dataset
    run TEXT NOT NULL,
    case_id TEXT NOT NULL,
    content TEXT NOT NULL,               -- JSON: messages, answers, forbidden, allowed_extra, role
    PRIMARY KEY (run, case_id)
) WITHOUT ROWID;
"""

_RESPONSES = """
CREATE TABLE IF NOT EXISTS responses (   -- requests whose answer is in a response cache, see toolbelt.evals.responses
    run TEXT NOT NULL,
    trial INTEGER NOT NULL,              -- this and the next two as in requests
    request INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    key TEXT NOT NULL,                   -- SHA-256 of the request, the origin and the epoch
    answer TEXT NOT NULL,                -- digest of what the model said and called
    recorded TEXT NOT NULL,              -- when it was answered, ISO 8601, UTC
    is_reused INTEGER NOT NULL,          -- 1: taken from the cache, so no request of this run; 0: asked by this run
    cost_usd REAL,                       -- what it cost when it was asked; NULL where the price was unknown
    PRIMARY KEY (run, trial, request, attempt)
) WITHOUT ROWID;
"""

_PROBES = """
CREATE TABLE IF NOT EXISTS probes (      -- short conformance runs over a model's API, see toolbelt.evals.probing
    probe TEXT PRIMARY KEY,
    created TEXT NOT NULL,               -- ISO 8601, UTC
    status TEXT NOT NULL,                -- running, finished, incomplete, interrupted
    reason TEXT NOT NULL DEFAULT '',     -- why it is not finished
    model TEXT NOT NULL,
    api_base TEXT,                       -- where it was asked; NULL for its provider's place
    suite INTEGER NOT NULL,              -- version of the checks
    tokenizer TEXT NOT NULL DEFAULT '',  -- what counted the definitions
    planned TEXT NOT NULL,               -- JSON list: keys of the checks in order
    code TEXT NOT NULL                   -- JSON: what it was made with
);
CREATE TABLE IF NOT EXISTS probe_checks (    -- every check that came to an end
    probe TEXT NOT NULL,
    check_key TEXT NOT NULL,
    finished TEXT NOT NULL,              -- ISO 8601, UTC
    outcome TEXT NOT NULL,
    said TEXT NOT NULL,
    requests INTEGER NOT NULL,           -- retries not among them
    retries INTEGER NOT NULL,
    definition_tokens INTEGER NOT NULL,  -- estimated, over all requests
    prompt_tokens INTEGER,               -- this and the next three as reported, NULL unless of all answered requests
    completion_tokens INTEGER,
    cached_read_tokens INTEGER,
    cached_write_tokens INTEGER,
    latency_seconds REAL NOT NULL,       -- of all answered requests together
    cost_usd REAL,                       -- retries included; NULL where the price is unknown
    reasoning_tokens INTEGER,            -- of the completions, as reported
    PRIMARY KEY (probe, check_key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS probe_requests (  -- every attempt that came to an end, also of checks under way
    probe TEXT NOT NULL,
    check_key TEXT NOT NULL,
    request INTEGER NOT NULL,            -- 0-based within the check
    attempt INTEGER NOT NULL,            -- 0-based; the last one of a request is the one that counted
    failure TEXT,                        -- NULL where it was answered
    message TEXT NOT NULL DEFAULT '',    -- what the provider said to a failure; of an answer, what is odd about it
    reply TEXT,                          -- JSON
    tools INTEGER NOT NULL,              -- how many were offered
    definition_tokens INTEGER NOT NULL,  -- estimated
    prompt_tokens INTEGER,               -- this and the next three as reported; NULL where the provider does not say
    completion_tokens INTEGER,
    cached_read_tokens INTEGER,
    cached_write_tokens INTEGER,
    latency_seconds REAL NOT NULL,
    cost_usd REAL,                       -- NULL where the price is unknown
    finished TEXT NOT NULL,              -- ISO 8601, UTC
    reasoning_tokens INTEGER,            -- of the completion, as reported
    PRIMARY KEY (probe, check_key, request, attempt)
) WITHOUT ROWID;
"""

_NOTES = """
CREATE TABLE IF NOT EXISTS notes (       -- what somebody wrote about a run, or a case of it
    run TEXT NOT NULL,
    case_id TEXT NOT NULL,               -- empty for the whole run
    written TEXT NOT NULL,               -- when, ISO 8601, UTC
    text TEXT NOT NULL,
    PRIMARY KEY (run, case_id)
) WITHOUT ROWID;
"""

_SQL_TYPES = {
    "int": "INTEGER NOT NULL",
    "int | None": "INTEGER",
    "float": "REAL NOT NULL",
    "float | None": "REAL",
    "bool": "INTEGER NOT NULL",
    "str": "TEXT NOT NULL",
}
"""By the type of a field of `TrialRecord`."""


def _trials_table() -> str:
    columns = "".join(
        f"    {field.name} {_SQL_TYPES[str(field.type)]}{' DEFAULT ' + repr('') if field.default == '' else ''},"
        f"  -- {field.metadata['meaning']}\n"
        for field in fields(TrialRecord)
    )
    return f"""
CREATE TABLE IF NOT EXISTS trials (      -- every trial that came to an end
    run TEXT NOT NULL,
{columns}    PRIMARY KEY (run, trial)
) WITHOUT ROWID;
"""


TABLES = _RUNS + _trials_table() + _PROBES + _RESPONSES + _NOTES

_ADD = "ALTER TABLE {} ADD COLUMN {} INTEGER;\n"
_REASONING = "".join(_ADD.format(table, "reasoning_tokens") for table in ("requests", "trials"))
_PROBE_REASONING = "".join(_ADD.format(table, "reasoning_tokens") for table in ("probe_checks", "probe_requests"))
_EXCHANGE = "ALTER TABLE trials ADD COLUMN exchange TEXT NOT NULL DEFAULT '';\n"
_RANK, _SAME_AS = (_ADD.format("trials", column) for column in ("rank", "same_as"))
ADDED: Mapping[int, str] = MappingProxyType(
    {
        3: _PROBES + _RESPONSES + _RANK + _SAME_AS + _REASONING + _EXCHANGE + _NOTES,
        4: _RESPONSES + _RANK + _SAME_AS + _REASONING + _PROBE_REASONING + _EXCHANGE + _NOTES,
        5: _RANK + _SAME_AS + _REASONING + _PROBE_REASONING + _EXCHANGE + _NOTES,
        6: _SAME_AS + _REASONING + _PROBE_REASONING + _EXCHANGE + _NOTES,
        7: _REASONING + _PROBE_REASONING + _EXCHANGE + _NOTES,
        8: _EXCHANGE + _NOTES,
        9: _NOTES,
    }
)
"""For each earlier version, what turns its file into one of this version; existing content is not changed."""
_VIEW = "CREATE TEMP VIEW {0} AS SELECT *, {1} NULL AS reasoning_tokens FROM main.{0};\n"
_REQUESTS_VIEW = _VIEW.format("requests", "")
_PROBE_VIEWS = _VIEW.format("probe_checks", "") + _VIEW.format("probe_requests", "")
_RANK_VIEW = _VIEW.format("trials", "NULL AS rank, NULL AS same_as, '' AS exchange,")
_RESPONSES_IN_MEMORY = _RESPONSES.replace("CREATE TABLE", "CREATE TEMP TABLE")
_EXCHANGE_VIEW = "CREATE TEMP VIEW trials AS SELECT *, '' AS exchange FROM main.trials;\n"
_NOTES_IN_MEMORY = _NOTES.replace("CREATE TABLE", "CREATE TEMP TABLE")
_IN_MEMORY: Mapping[int, str] = MappingProxyType(
    {
        3: _RESPONSES_IN_MEMORY + _RANK_VIEW + _REQUESTS_VIEW + _NOTES_IN_MEMORY,
        4: _RESPONSES_IN_MEMORY + _RANK_VIEW + _REQUESTS_VIEW + _PROBE_VIEWS + _NOTES_IN_MEMORY,
        5: _RANK_VIEW + _REQUESTS_VIEW + _PROBE_VIEWS + _NOTES_IN_MEMORY,
        6: _VIEW.format("trials", "NULL AS same_as, '' AS exchange,")
        + _REQUESTS_VIEW
        + _PROBE_VIEWS
        + _NOTES_IN_MEMORY,
        7: _VIEW.format("trials", "'' AS exchange,") + _REQUESTS_VIEW + _PROBE_VIEWS + _NOTES_IN_MEMORY,
        8: _EXCHANGE_VIEW + _NOTES_IN_MEMORY,
        9: _NOTES_IN_MEMORY,
    }
)
"""Likewise, for a file that can only be read: what queries of runs lack is there, and empty."""
_BUSY_SECONDS = 60


def connect(path: Path) -> sqlite3.Connection:
    """A connection to the file; to its content alone where nothing can be written beside it, as on a read-only disk.

    There SQLite cannot open its log, without which it reads nothing. If there is none, because its last user has closed
    it, the file is complete by itself.
    """
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        connection.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in READ_ONLY or path.with_name(f"{path.name}-wal").exists():
            return connection  # which raises the same again
        connection.close()
        return sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True, isolation_level=None)
    except sqlite3.DatabaseError:
        pass  # reported by what is asked next
    return connection


def create_tables(connection: sqlite3.Connection, file: str, *, survives_crash: bool = True) -> None:
    """Create the tables of a new file, and those that a file of an earlier version lacks.

    Args:
        connection: To the file, outside of any transaction.
        file: Its name.
        survives_crash: Of the machine; else the disk is not waited for.

    Raises:
        ToolbeltError: it holds something else, or is of a version that nothing is known of.
        sqlite3.Error: the disk would not; then the file is as it was.
    """
    # At one moment: another process may be making the tables.
    version, tables = connection.execute(
        "SELECT user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_user_version"
    ).fetchone()
    if version == 0 and tables:
        raise ToolbeltError(f"{file!r} is no file of runs: it holds tables of something else.")
    if version not in (0, VERSION, *ADDED):
        raise ToolbeltError(
            f"{file!r} was written by another version of toolbelt (its tables are version {version}, "
            f"these {VERSION}); name another file."
        )
    connection.execute(f"PRAGMA synchronous={'NORMAL' if survives_crash else 'OFF'}")
    connection.execute("PRAGMA journal_mode=WAL")  # which is written into the file: not before it is known to be ours
    connection.execute("PRAGMA wal_autocheckpoint=4000")
    if version == 0:
        _make(connection, TABLES)
    elif version in ADDED:
        try:
            _make(connection, ADDED[version])
        except sqlite3.OperationalError as error:
            connection.rollback()
            if connection.execute("PRAGMA user_version").fetchone()[0] == VERSION:
                return  # another process was first
            if error.sqlite_errorcode & 0xFF not in READ_ONLY:
                raise
            # Only to be read: it is, as what it holds is as ever.
            connection.execute("PRAGMA temp_store=MEMORY")
            connection.executescript(_IN_MEMORY[version])


def _make(connection: sqlite3.Connection, tables: str) -> None:
    connection.executescript(f"BEGIN IMMEDIATE; {tables} PRAGMA user_version={VERSION}; COMMIT;")
