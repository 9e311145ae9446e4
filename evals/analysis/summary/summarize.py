"""The summary of a run, computed by the database: memory does not grow with the number of trials."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolbelt.errors import NotFoundError
from toolbelt.evals.analysis.summary.queries import ArmTiming, find_reasons, measure_epochs, time_requests
from toolbelt.evals.analysis.summary.rates import (
    CALL_RATES,
    RATES,
    SCORED,
    ClusterCounts,
    RateQuery,
    count_clusters,
    has_single_clusters,
    make_rate,
)
from toolbelt.evals.analysis.summary.responses import ModelResponses, read_responses
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, PassAtK, Rate, RunSummary
from toolbelt.evals.running.overflow import read_left_out, read_model_limits, read_token_rates
from toolbelt.evals.running.reply_faults import DROPPED, ENCODED_TWICE, IMPOSSIBLE
from toolbelt.evals.scoring.outcome import Ending, Outcome
from toolbelt.models.token_rates import TokenRate
from toolbelt.views.json_values import to_json

_MEANS = (
    "definition_tokens",
    "definition_tokens_total",
    "own_prompt_tokens",
    "prompt_tokens",
    "completion_tokens",
    "cached_read_tokens",
    "cached_write_tokens",
    "reasoning_tokens",
    "invalidated_tokens",
    "repeated_tokens",
    "requests",
)
"""Columns of `trials` whose mean over scored trials is a measure of the same name."""
_NOT_ASKED = "requests = 0"
_TOO_MANY = f"{_NOT_ASKED} AND ending = '{Ending.TOO_MANY_TOOLS.value}'"

_SHARED = "same_as IS NOT NULL AND requests > 0"
_SHARED_COST = f"CASE WHEN {_SHARED} THEN cost_usd END"

_INSTRUCTIONS = 1_000_000
"""Of the database, which take it some 20 ms."""

SCHEMA = "toolbelt.run/1"
"""Of `summary_data`; its JSON Schema is in `toolbelt.evals.exports`."""

Row = dict[str, Any]


def summarize(connection: sqlite3.Connection, run: str, status: str | None = None) -> RunSummary:
    """The measures of a run, finished or not.

    Trials with outcome `error` or `context_overflow` are unscored and in no rate. An uncovered trial is never counted
    as right (rule E5), so `accuracy == coverage × selection_given_coverage` in counts: the first's numerator is the
    last's, and the middle's numerator is the last's denominator.

    Intervals are Wilson's where each cluster of cases was tried once, else those of the clusters.

    Args:
        connection: To a file with the tables of `toolbelt.evals.running.schema`; only read, at one moment.
        run: Its id.
        status: Replaces the stored status: `killed` for a run that is stored as running but has no process. The
            database cannot know that.

    Raises:
        NotFoundError: there is no such run.
    """
    with read_snapshot(connection):
        head = connection.execute("SELECT created, status, reason, plan FROM runs WHERE run = ?", (run,)).fetchone()
        if head is None:
            raise NotFoundError("run", run, (row[0] for row in connection.execute("SELECT run FROM runs")))
        planned = connection.execute(
            "SELECT arm, model, toolset, variant, tokenizer, planned FROM arms WHERE run = ? ORDER BY arm", (run,)
        ).fetchall()
        groups = _count_outcomes(connection, run)
        timings = time_requests(connection, run)
        reasons = find_reasons(connection, run)
        responses = read_responses(connection, run, len(planned))
        odd = connection.execute(
            "SELECT total(message LIKE ?2), total(message LIKE ?3), total(message LIKE ?4) FROM requests "
            "WHERE run = ?1 AND failure IS NULL AND message <> ''",
            (run, f"%{ENCODED_TWICE}%", f"%{IMPOSSIBLE}%", f"%{DROPPED}%"),
        ).fetchone()
        clusters = count_clusters(connection, run, _clustered_rates(connection, run, groups))
        created, stored_status, reason, text = head
        plan = json.loads(text)
        if "imported" in plan:
            timings = {arm: replace(each, median_seconds=None, p95_seconds=None) for arm, each in timings.items()}
        epochs = measure_epochs(
            connection, run, (row[0] for row in planned), cases=plan.get("cases", 0), epochs=plan.get("epochs", 1)
        )
    arms = tuple(
        _arm(
            number,
            names,
            planned_trials,
            groups.get(number, {}),
            timings.get(number, ArmTiming()),
            epochs.get(number, ()),
            clusters,
            reasons,
            plan.get("distractors_reached", {}),
            plan.get("served", {}),
            plan.get("model_facts", {}),
            read_token_rates(plan),
        )
        for number, *names, planned_trials in planned
    )
    tokenizers = {arm.model: arm.tokenizer for arm in arms if arm.tokenizer}
    summary = _run(run, created, status or stored_status, reason, plan, arms, tokenizers, responses)
    return replace(summary, encoded_twice=int(odd[0]), impossible=int(odd[1]), dropped=int(odd[2]))


@contextlib.contextmanager
def read_snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """A run may be going on meanwhile: every query inside sees the same trials."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


@contextlib.contextmanager
def time_reading(
    connection: sqlite3.Connection,
    progress: Callable[[str, None], contextlib.AbstractContextManager[Callable[[int], object]]],
) -> Iterator[None]:
    """Report for how many seconds a run is being read: its queries take most of a minute for a million trials."""
    started = time.monotonic()
    with progress("reading the run, seconds", None) as advance:

        def report() -> int:
            advance(int(time.monotonic() - started))
            return 0  # go on

        connection.set_progress_handler(report, _INSTRUCTIONS)
        try:
            yield
        finally:
            connection.set_progress_handler(None, 0)


def _count_outcomes(connection: sqlite3.Connection, run: str) -> dict[int, dict[str, Row]]:
    """Sums by arm and outcome, in one pass over the trials."""
    sums = {"retries", "cost_usd", "rank", _NOT_ASKED, _TOO_MANY, _SHARED, _SHARED_COST, *_MEANS}
    sums |= {expression for rate in RATES.values() for expression in (rate.numerator, rate.denominator)}
    most = {"epoch", *(RATES[name].denominator for name in CALL_RATES)}
    known = {"cost_usd", "rank", *_MEANS}
    columns = [f"{what}({of})" for what, ofs in (("sum", sums), ("max", most), ("count", known)) for of in sorted(ofs)]
    groups: dict[int, dict[str, Row]] = {}
    # Names and expressions are this package's own.
    rows = connection.execute(
        f"SELECT arm, outcome, {', '.join(columns)} FROM trials WHERE run = ? GROUP BY arm, outcome",  # noqa: S608
        (run,),
    )
    for arm, outcome, *values in rows:
        groups.setdefault(arm, {})[outcome] = dict(zip(columns, values, strict=True))
    return groups


def _clustered_rates(connection: sqlite3.Connection, run: str, groups: Mapping[int, Mapping[str, Row]]) -> list[str]:
    """Names of the rates in which several counts hang together: of one cluster, or of one trial with several calls."""
    rows = [row for outcomes in groups.values() for row in outcomes.values()]
    if any(row["max(epoch)"] for row in rows) or not has_single_clusters(connection, run):
        is_any_too_long = any(Outcome.CONTEXT_OVERFLOW.value in outcomes for outcomes in groups.values())
        return [name for name, rate in RATES.items() if is_any_too_long or rate.of == SCORED]
    return [name for name in CALL_RATES if any((row[f"max({RATES[name].denominator})"] or 0) > 1 for row in rows)]


def _arm(
    number: int,
    names: Sequence[str],
    planned: int,
    outcomes: Mapping[str, Row],
    timing: ArmTiming,
    passing: tuple[PassAtK, ...],
    clusters: ClusterCounts,
    reasons: Mapping[tuple[int, str], str],
    distractors_reached: Mapping[str, int],
    served: Mapping[str, str],
    model_facts: Mapping[str, Mapping[str, str]],
    token_rates: Mapping[str, TokenRate],
) -> ArmSummary:
    scored = {outcome: row for outcome, row in outcomes.items() if outcome in SCORED}
    rates = {name: _rate(rate, outcomes, clusters.get((number, name))) for name, rate in RATES.items()}
    precision, recall = rates["precision"], rates["recall"]
    calls = precision.denominator + recall.denominator
    means = {name: _mean(scored.values(), name) for name in _MEANS}
    reported = means["prompt_tokens"] is not None
    # A trial that failed for lack of an answer may have no price, which says nothing about the model's.
    priced = all(row["count(cost_usd)"] == row["sum(1)"] for row in scored.values())
    costs = [row["sum(cost_usd)"] for row in outcomes.values() if row["sum(cost_usd)"] is not None]
    figures: dict[str, Any] = {**rates, **means}
    figures["prompt_tokens_trials"] = sum(row["count(prompt_tokens)"] for row in scored.values())
    if not reported:
        figures["prompt_tokens"] = means["own_prompt_tokens"]
    ranked = sum(row["count(rank)"] for row in scored.values())
    overflowed = outcomes.get(Outcome.CONTEXT_OVERFLOW.value, {})
    model, toolset, variant, tokenizer = names
    return ArmSummary(
        model=model,
        toolset=toolset,
        variant=variant,
        asked_as=model_facts.get(model, {}).get("asked_as", ""),
        token_error=token_rates[model].error if model in token_rates else None,
        planned=planned,
        finished=_total(outcomes.values(), "1"),
        scored=_total(scored.values(), "1"),
        **figures,
        mean_rank=_total(scored.values(), "rank") / ranked if ranked else None,
        f1=2 * precision.numerator / calls if calls else None,
        prompt_tokens_reported=reported,
        retries=_total(outcomes.values(), "retries"),
        cost_usd=_mean(scored.values(), "cost_usd"),
        cost_usd_total=sum(costs) if priced and costs else None,
        shared=_total(outcomes.values(), _SHARED),
        shared_cost_usd=sum(row[f"sum({_SHARED_COST})"] or 0.0 for row in outcomes.values()) if priced else None,
        latency_seconds=timing.median_seconds,
        latency_p95_seconds=timing.p95_seconds,
        tools_offered=timing.tools_offered,
        first_offers=timing.first_offers,
        first_offer=timing.first_offer,
        serving_digest=served.get(toolset) if not variant else None,
        offered_tokens=_mean(outcomes.values(), "definition_tokens"),
        distractors_reached=distractors_reached.get(toolset),
        turned_away=overflowed.get(f"sum({_NOT_ASKED})", 0),
        too_many_tools=overflowed.get(f"sum({_TOO_MANY})", 0),
        overflow_reason=reasons.get((number, Outcome.CONTEXT_OVERFLOW.value), ""),
        error_reason=reasons.get((number, Outcome.ERROR.value), ""),
        tokenizer=tokenizer,
        passing=passing,
        outcomes={outcome: outcomes[outcome]["sum(1)"] for outcome in Outcome if outcome in outcomes},
    )


def _rate(rate: RateQuery, outcomes: Mapping[str, Row], clusters: Mapping[tuple[int, int], int] | None) -> Rate:
    counted = {outcome: row for outcome, row in outcomes.items() if outcome in rate.of}
    top = _total((row for outcome, row in counted.items() if outcome in rate.outcomes), rate.numerator)
    return make_rate(top, _total(counted.values(), rate.denominator), clusters)


def _total(rows: Iterable[Row], expression: str) -> int:
    return sum(row[f"sum({expression})"] or 0 for row in rows)


def _mean(rows: Iterable[Row], column: str) -> float | None:
    """Over all trials; `None` where the figure of any is not known."""
    rows = list(rows)
    trials = _total(rows, "1")
    known = sum(row[f"count({column})"] for row in rows)
    return _total(rows, column) / trials if trials and known == trials else None


def _run(
    run: str,
    created: str,
    status: str,
    reason: str,
    plan: Row,
    arms: tuple[ArmSummary, ...],
    tokenizers: Row,
    responses: tuple[ModelResponses, ...],
) -> RunSummary:
    dataset = plan["dataset"]
    beside = {
        "dataset": dataset.get("reference"),
        "catalog": plan.get("catalog_reference"),
        "config": plan.get("config"),
    }
    return RunSummary(
        run=run,
        created=created,
        status=status,
        reason=reason,
        dataset=dataset["name"],
        digest=dataset["digest"],
        catalog=plan.get("catalog", ""),
        cases=plan.get("asked_cases") or plan.get("cases", 0),
        excluded=plan.get("excluded", {}),
        epochs=plan.get("epochs", 1),
        arm_epochs=tuple((plan.get("top_up") or {}).get("asked", ())),
        seed=plan.get("seed", 0),
        tokenizers=tokenizers,
        planned=sum(arm.planned for arm in arms),
        scored=sum(arm.scored for arm in arms),
        errors=sum(arm.outcomes.get(Outcome.ERROR, 0) for arm in arms),
        arms=arms,
        settings={key: value for key, value in beside.items() if value is not None} | plan.get("settings", {}),
        surroundings=plan.get("surroundings", ""),
        chosen=plan.get("chosen", ""),
        code=plan.get("code", {}),
        suite=plan.get("suite", ""),
        rooms=read_model_limits(plan),
        model_facts=plan.get("model_facts", {}),
        left_out=read_left_out(plan),
        responses=responses,
    )


def summary_data(summary: RunSummary) -> dict[str, Any]:
    """A run as plain values, for JSON: shares as fractions, tokens, requests and cost as means per scored trial.

    A rate is `{value, numerator, denominator, low, high}`; what was not measured is `None`. `pass` is a list by k, over
    `cases`; `left_out` are those without k scored epochs, also for not being run yet.
    """
    return {
        "schema": SCHEMA,
        "run": summary.run,
        "created": summary.created,
        "status": summary.status,
        "reason": summary.reason,
        "dataset": {"name": summary.dataset, "digest": summary.digest},
        "catalog": summary.catalog,
        "surroundings": summary.surroundings,
        "chosen": summary.chosen,
        "code": dict(summary.code),
        "suite": summary.suite or None,
        "rooms": to_json(summary.rooms),
        "model_facts": to_json(summary.model_facts),
        "left_out": to_json(summary.left_out),
        "cases": summary.cases,
        "excluded": dict(summary.excluded),
        "epochs": summary.epochs,
        "seed": summary.seed,
        "settings": dict(summary.settings),
        "tokenizers": dict(summary.tokenizers),
        "planned": summary.planned,
        "scored": summary.scored,
        "errors": summary.errors,
        "responses": to_json(summary.responses),
        "arms": to_json(summary.arms),
    }
