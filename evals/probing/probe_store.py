"""Probes in the run store. An attempt is stored before its reply is used, a check before the next one is reported."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from toolbelt.errors import InvalidFileError, NotFoundError, StorageError, ToolbeltError
from toolbelt.evals.probing.checks import CHECKS, ProbePlan
from toolbelt.evals.probing.results import CheckOutcome, CheckResult, ProbeResult
from toolbelt.evals.probing.script import one_line
from toolbelt.evals.running.locks import RunLocks
from toolbelt.evals.running.records import Attempts, RequestRecord, fold_attempts
from toolbelt.evals.running.row_checks import (
    ATTEMPT_TYPES,
    EVERY_ROW,
    FAILURE,
    STATUSES,
    find_wrong_rows,
    make_rules,
    one_of,
)
from toolbelt.evals.running.run_names import LATEST, draw_id
from toolbelt.evals.running.store import RunStore

_ADD_REQUEST = f"INSERT OR REPLACE INTO probe_requests VALUES ({','.join('?' * 17)})"  # noqa: S608  marks alone
_ADD_CHECK = f"INSERT OR REPLACE INTO probe_checks VALUES ({','.join('?' * 15)})"  # noqa: S608
_LONGEST_MESSAGE = 2000
_TEXTS = dict.fromkeys(("created", "reason", "model", "tokenizer"), "str")
_PROBE = {**_TEXTS, "api_base": "str | None", "suite": "int", "planned": "texts", "code": "object"}
_USAGE = ("definition_tokens", "prompt_tokens", "completion_tokens", "cached_read_tokens", "cached_write_tokens")
_FIGURES = {name: ATTEMPT_TYPES[name] for name in (*_USAGE, "latency_seconds", "cost_usd", "reasoning_tokens")}
_CHECK = {"check_key": "str", "finished": "str", "said": "str", "requests": "int", "retries": "int", **_FIGURES}
_RULES = (
    ("probes", "probe", (one_of("status", STATUSES), *make_rules(_PROBE))),
    ("probe_checks", "check_key", (one_of("outcome", CheckOutcome), *make_rules(_CHECK))),
    ("probe_requests", "check_key, request, attempt", (*make_rules({**ATTEMPT_TYPES, "finished": "str"}), FAILURE)),
)
"""Each table, the columns that say which row it is, and what its columns hold."""
NOTHING_PROBED = "Nothing has been probed here yet: toolbelt model probe"


def find_open_checks(checks: Iterable[CheckResult], planned: Iterable[str]) -> tuple[str, ...]:
    """Keys of planned checks that did not run, or show nothing about the model."""
    ended = {check.key for check in checks if not check.outcome.is_open}
    return tuple(key for key in planned if key not in ended)


@dataclass(frozen=True, slots=True)
class ProbeStore:
    """The probes of a project.

    Attributes:
        store: The file; open.
    """

    store: RunStore

    # One probe

    def create(self, plan: ProbePlan) -> str:
        """Begin a probe and return its id.

        Raises:
            StorageError: the file cannot be written to.
        """
        if not self._has_tables():
            raise StorageError(
                f"No probe can be kept in {str(self.store.path)!r}: it was written by an earlier version of toolbelt "
                "and can only be read here; name another file with --store."
            )
        now = datetime.now(UTC)
        values = (
            now.isoformat(timespec="milliseconds"),
            "running",
            "",
            plan.model,
            plan.api_base,
            plan.suite,
            plan.tokenizer,
            json.dumps(list(plan.planned)),
            json.dumps(dict(plan.code)),
        )
        with self.store.guarded():
            probe = draw_id(self.store.connection, "probes", "probe", now)
            self.store.connection.execute(
                f"INSERT INTO probes VALUES ({','.join('?' * 10)})",  # noqa: S608
                (probe, *values),
            )
        return probe

    def set_status(self, probe: str, status: str, reason: str = "") -> None:
        """Store the status of a probe."""
        with self.store.guarded():
            self.store.connection.execute(
                "UPDATE probes SET status = ?, reason = ? WHERE probe = ?",
                (status, one_line(reason, _LONGEST_MESSAGE), probe),
            )

    async def add_request(self, probe: str, key: str, record: RequestRecord) -> None:
        """Store a finished attempt of a check; it is durable when this returns.

        Raises:
            StorageError: the disk failed, or the file was removed or replaced.
        """
        failure, message, *figures, reasoning = record.list_values()
        words, now = one_line(str(message), _LONGEST_MESSAGE), datetime.now(UTC).isoformat(timespec="milliseconds")
        values = (probe, key, record.request, record.attempt, failure, words, *figures, now, reasoning)
        await self.store.writes.add((_ADD_REQUEST, values))

    async def add_check(self, probe: str, result: CheckResult) -> None:
        """Store a check that ended, as `add_request` does; it replaces an earlier result of the same check."""
        values = (
            probe,
            result.key,
            datetime.now(UTC).isoformat(timespec="milliseconds"),
            result.outcome.value,
            one_line(result.said, _LONGEST_MESSAGE),
            result.requests,
            result.retries,
            result.definition_tokens,
            result.prompt_tokens,
            result.completion_tokens,
            result.cached_read_tokens,
            result.cached_write_tokens,
            result.latency_seconds,
            result.cost_usd,
            result.reasoning_tokens,
        )
        await self.store.writes.add((_ADD_CHECK, values))

    def ended(self, probe: str) -> dict[str, CheckResult]:
        """The checks that ended, by key."""
        with self.store.guarded():
            return {row[0]: CheckResult(row[0], CheckOutcome(row[1]), *row[2:]) for row in self._check_rows(probe)}

    def find_earlier(self, probe: str, key: str) -> dict[int, Attempts]:
        """The stored attempts of a check, by the number of their request."""
        with self.store.guarded():
            rows = self.store.connection.execute(
                "SELECT request, CASE WHEN failure IS NULL THEN reply END, prompt_tokens, completion_tokens, "
                "cached_read_tokens, cached_write_tokens, reasoning_tokens, latency_seconds, cost_usd "
                "FROM probe_requests WHERE probe = ? AND check_key = ? ORDER BY request, attempt",
                (probe, key),
            ).fetchall()
        return fold_attempts(rows)

    def spent(self, probe: str) -> tuple[int, float]:
        """Number of requests so far, with retries, and their cost in USD as far as prices are known."""
        with self.store.guarded():
            requests, _, cost_usd = self._requests_made(probe)
        return requests, cost_usd

    # All probes

    def probes(self, model: str | None = None) -> list[ProbeResult]:
        """The probes of a model, or all; the latest first."""
        if not self._has_tables():
            return []
        with self.store.guarded():
            nameless = find_wrong_rows(
                self.store.connection, str(self.store.path), "probes", "probe", make_rules({"probe": "str"}), EVERY_ROW
            )
            if findings := list(nameless):
                raise InvalidFileError(findings)
            rows = self.store.connection.execute(
                "SELECT probe, created, status, reason, model, api_base, suite, tokenizer, planned, code "
                "FROM probes WHERE ?1 IS NULL OR model = ?1 ORDER BY created DESC, probe DESC",
                (model,),
            ).fetchall()
            return [self._result(*row) for row in rows]

    def get(self, name: str) -> ProbeResult:
        """The probe with the id `name`, else the only one whose id begins with it; `latest` gives the latest.

        Raises:
            NotFoundError: there is none; the error lists the nearest ids.
            ToolbeltError: several ids begin with `name`.
        """
        results = self.probes()
        if name == LATEST and results:
            return results[0]
        matches = [result for result in results if result.probe == name] or [
            result for result in results if name and result.probe.startswith(name)
        ]
        if not matches:
            ids = [result.probe for result in results]
            hint = "" if ids else NOTHING_PROBED
            raise NotFoundError("probe", name, [*ids[:15], LATEST] if ids else [], hint)
        if len(matches) > 1:
            listed = ", ".join(result.probe for result in matches[:5])
            raise ToolbeltError(f"{len(matches)} probes begin with {name!r}: {listed}, …")
        return matches[0]

    def find_unfinished(self, plan: ProbePlan) -> ProbeResult | None:
        """The latest probe of the same plan, if it is not finished."""
        for result in self.probes(plan.model):
            sides = ((each.api_base, each.suite, each.planned, each.code.get("effort")) for each in (result, plan))
            if len(set(sides)) == 1:
                return None if result.status == "finished" else result
        return None

    @property
    def locks(self) -> RunLocks:
        """The locks that show which process works on which probe."""
        return replace(self.store.locks, kind="probe")

    @staticmethod
    def place_key(plan: ProbePlan) -> str:
        """Key of the lock that stops a second process from probing the same model at the same place."""
        text = json.dumps([plan.model, plan.api_base])
        return f"probe-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"

    def _has_tables(self) -> bool:
        """Whether the file has the probe tables; a read-only file of an earlier version has none."""
        with self.store.guarded():
            row = self.store.connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'probes'").fetchone()
        return row is not None

    def _result(self, probe: str, created: str, status: str, reason: str, model: str, *rest: Any) -> ProbeResult:
        api_base, suite, tokenizer, planned, code = rest
        self._refuse_damage(probe)
        keys, made_with = tuple(json.loads(planned)), dict(json.loads(code))
        checks = [CheckResult(row[0], CheckOutcome(row[1]), *row[2:]) for row in self._check_rows(probe)]
        open_requests, open_cost_usd = self._open(probe, checks)
        order = {key: place for place, key in enumerate([*keys, *(check.key for check in CHECKS)])}
        if status == "running" and not self.locks.is_held(probe):
            status = "killed"
        return ProbeResult(
            probe=probe,
            created=created,
            model=model,
            status=status,
            checks=tuple(sorted(checks, key=lambda check: order.get(check.key, len(order)))),
            planned=keys,
            reason=reason,
            api_base=api_base,
            suite=suite,
            tokenizer=tokenizer,
            open_requests=open_requests,
            open_cost_usd=open_cost_usd,
            code=made_with,
        )

    def _refuse_damage(self, probe: str) -> None:
        """Raise `InvalidFileError` for rows that are not as toolbelt wrote them, each with its table and key."""
        file, of_probe = str(self.store.path), ("probe = ?", probe)
        findings = [
            finding
            for table, keys, rules in _RULES
            for finding in find_wrong_rows(self.store.connection, file, table, keys, rules, of_probe)
        ]
        if findings:
            raise InvalidFileError(findings)

    def _open(self, probe: str, ended: Iterable[CheckResult]) -> tuple[int, float | None]:
        """Number of requests of checks that did not end, and their cost in USD, `None` if that is unknown."""
        checks = list(ended)
        requests, priced, cost_usd = self._requests_made(probe)
        count = requests - sum(check.requests + check.retries for check in checks)
        if count <= 0:
            return 0, 0.0
        known = cost_usd - sum(check.cost_usd or 0.0 for check in checks)
        return count, max(0.0, known) if priced == requests else None

    def _requests_made(self, probe: str) -> tuple[int, int, float]:
        """Number of requests, how many of them have a known cost, and the sum of those costs in USD."""
        requests, priced, cost_usd = self.store.connection.execute(
            "SELECT count(*), count(cost_usd), total(cost_usd) FROM probe_requests WHERE probe = ?", (probe,)
        ).fetchone()
        return int(requests), int(priced), float(cost_usd)

    def _check_rows(self, probe: str) -> Sequence[Sequence[Any]]:
        return self.store.connection.execute(
            "SELECT check_key, outcome, said, requests, retries, definition_tokens, prompt_tokens, completion_tokens, "
            "cached_read_tokens, cached_write_tokens, latency_seconds, cost_usd, reasoning_tokens FROM probe_checks "
            "WHERE probe = ?",
            (probe,),
        ).fetchall()
