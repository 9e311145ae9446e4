"""A run of the store as one side of a comparison."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from toolbelt.evals.analysis.evidence.case_table import CaseTable, TableBuilder
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt, SequentialInfo, SideInfo, TopUpInfo
from toolbelt.evals.analysis.summary.responses import digest_texts, read_answers, read_responses
from toolbelt.evals.analysis.summary.summarize import read_snapshot
from toolbelt.evals.running.plan import Plan
from toolbelt.evals.running.store import RunRow, RunStore
from toolbelt.evals.scoring.outcome import Outcome

_COLUMNS = (
    "case_id, cluster, kind, epoch, outcome, covered, called, missing, surplus, definition_tokens, own_prompt_tokens, "
    "prompt_tokens, requests, {cost}, {latency}"
)
_OF_TRIAL = (
    "FROM responses AS p WHERE p.run = trials.run AND p.trial = coalesce(trials.same_as, trials.trial) AND p.is_reused"
)
_WITH_ORIGINAL_COST = (
    f"CASE WHEN NOT EXISTS (SELECT 1 {_OF_TRIAL} AND p.cost_usd IS NULL) "
    f"THEN cost_usd + (SELECT total(p.cost_usd) {_OF_TRIAL}) END"
)
"""What a trial would have cost without reused responses, so that runs with and without them can be compared."""
_ENDS = 5
"""Columns that say how a trial ended, of those after the epoch; the others are figures."""
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}


class StoredRun:
    """A run, read from its store an arm at a time.

    Args:
        store: With the run.
        row: The run.
    """

    def __init__(self, store: RunStore, row: RunRow) -> None:
        self._connection: sqlite3.Connection = store.connection
        plan = row.plan
        self._run = row.run
        self._grid = max(1, len(plan.arms)), max(1, plan.cases)
        rows = self._connection.execute(
            "SELECT model, toolset, variant, tokenizer FROM arms WHERE run = ? ORDER BY arm", (row.run,)
        )
        self._arms = tuple(ArmName(*names) for names in rows)
        self._about = SideInfo(
            name=row.run,
            dataset=plan.dataset_name,
            digest=plan.digest,
            chosen=plan.selection,
            cases=plan.asked_cases,
            epochs=plan.epochs,
            filter=_flags(plan),
            settings={**plan.stated, "request_limit": plan.request_limit},
            catalog=plan.catalog_name,
            surroundings=plan.surroundings,
            code=plan.code,
            aliases={
                model: target
                for model, known in plan.model_facts.items()
                if (target := known.get("alias_of") or known.get("asked_as"))
            },
            status=store.find_status(row),
            reason=row.reason,
            drafts=plan.drafts,
            api_base=plan.api_base,
            created=row.created,
            tools=plan.tools,
            responses=read_responses(self._connection, row.run, len(plan.arms)),
            sequential=_describe_design(plan),
            margin=None if plan.decision is None else plan.decision.margin,
            top_up=_describe_top_up(plan, self._arms),
            is_imported=plan.imported is not None,
        )
        self._last: tuple[int, CaseTable] | None = None

    @property
    def about(self) -> SideInfo:
        """Dataset, run and settings of this side."""
        return self._about

    @property
    def arms(self) -> tuple[ArmName, ...]:
        """The arms, in the order of the command."""
        return self._arms

    def read(self, arm: int) -> CaseTable:
        """Every case of which a trial of the arm has finished, by its id, in the order asked.

        The arm that was read last is cached, because a gate reads it several times.
        """
        if self._last is None or self._last[0] != arm:
            before = None if self._last is None else self._last[1]
            self._last = arm, self._read(arm, before)
        return self._last[1]

    def has_same_requests(self, old: int, new: int) -> bool:
        """Whether every trial of two arms has the requests and the answers of the other's (rule V3)."""
        query = (
            "SELECT count(*), sum(coalesce(a.same_as, a.trial) = coalesce(b.same_as, b.trial)) "
            "FROM trials AS a LEFT JOIN trials AS b ON b.run = a.run AND b.trial = a.trial - a.arm + ?3 "
            "WHERE a.run = ?1 AND a.arm = ?2"
        )
        with read_snapshot(self._connection):
            ways = [(self._run, old, new), (self._run, new, old)]
            counts = [self._connection.execute(query, way).fetchone() for way in ways]
        return all(trials and trials == same for trials, same in counts)

    def find_exchange(self, arm: int) -> str:
        """Digest of the requests and the answers of all trials of an arm; empty where one is not known (rule V3)."""
        known = "SELECT count(*) FROM trials WHERE run = ? AND arm = ? AND exchange <> ''"
        query = "SELECT exchange FROM trials WHERE run = ? AND arm = ? ORDER BY case_id, epoch"
        with read_snapshot(self._connection):
            if self._connection.execute(known, (self._run, arm)).fetchone() != (self._planned(arm),):
                return ""
            return digest_texts(exchange for (exchange,) in self._connection.execute(query, (self._run, arm)))

    def _planned(self, arm: int) -> int:
        return self._about.cases * self._about.epochs_of(self._arms[arm])

    def _read(self, arm: int, before: CaseTable | None) -> CaseTable:
        epochs = self._about.epochs_of(self._arms[arm])
        # Not by the trial's number alone: a case whose first epoch has not finished would come after the others.
        order, grid = ("trial / ? % ?, trial", self._grid) if epochs > 1 else ("trial", ())
        # The names are this module's own.
        columns = _COLUMNS.format(
            cost=_WITH_ORIGINAL_COST if self._about.responses else "cost_usd",
            latency="NULL" if self._about.is_imported else "latency_seconds",
        )
        query = f"SELECT {columns} FROM trials WHERE run = ? AND arm = ? ORDER BY {order}"  # noqa: S608
        builder = TableBuilder(epochs, _make_end, before)
        with read_snapshot(self._connection):
            for case, cluster, kind, epoch, *rest in self._connection.execute(query, (self._run, arm, *grid)):
                builder.begin(case, cluster, kind)
                builder.add(epoch, tuple(rest[:_ENDS]), rest[_ENDS:])
            answers = read_answers(self._connection, self._run, arm) if self._about.responses else {}
        return builder.finish(answers)


def _make_end(texts: tuple[Any, ...]) -> Attempt:
    outcome, covered, *lists = texts
    called, missing, surplus = (tuple(json.loads(text)) for text in lists)
    return Attempt(_OUTCOMES[outcome], bool(covered), called, missing, surplus)


def _describe_design(plan: Plan) -> SequentialInfo | None:
    if (decision := plan.decision) is None:
        return None
    last = decision.last_look
    rounds, taken = decision.rounds, 0 if last is None else last + 1
    return SequentialInfo(rounds[max(0, taken - 1)].level, taken, len(rounds), plan.cases, decision.end is not None)


def _describe_top_up(plan: Plan, arms: Sequence[ArmName]) -> TopUpInfo | None:
    if (top_up := plan.top_up) is None:
        return None
    asked = {arm.label: epochs for arm, epochs in zip(arms, top_up.asked, strict=True)}
    return TopUpInfo(top_up.epochs, top_up.level, asked)


def _flags(plan: Plan) -> dict[str, Any]:
    chosen = plan.filter
    lists = {"kind": chosen.kinds, "tag": chosen.tags, "case": chosen.ids}
    drawn = {} if chosen.limit is None else {"limit": chosen.limit, "seed": plan.seed}
    part = {} if plan.shard is None else {"shard": str(plan.shard)}
    return {**{key: list(values) for key, values in lists.items() if values}, **drawn, **part}
