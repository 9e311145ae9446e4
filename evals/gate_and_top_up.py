"""A gate that asks further epochs of the arms whose verdict is open, up to those of the baseline (rule X6).

With models that answer now one way, now another, one epoch leaves too many verdicts open, and several epochs of
everything cost as many times as much. So a look follows each epoch, and only arms that are still open get another. As
many epochs of the baseline are compared as the arm has. The intervals have the same level at each look (Pocock), as
arms end at different ones; by it all looks together err as a single one, or less: `docs/statistics.md` says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from toolbelt.errors import ToolbeltError
from toolbelt.evals.analysis.comparison.compare import Progress, no_progress
from toolbelt.evals.analysis.comparison.sample_size import cannot_pass
from toolbelt.evals.analysis.evidence.evidence import Side
from toolbelt.evals.analysis.evidence.stored_run import StoredRun
from toolbelt.evals.analysis.gate.gate import gate_sides
from toolbelt.evals.analysis.gate.verdict import AskedFurther, GateResult, Limits
from toolbelt.evals.execution import Started, continue_run, ignore
from toolbelt.evals.running.plan import Plan
from toolbelt.evals.running.runner import RunEnd
from toolbelt.evals.running.store import RunRow, RunStore
from toolbelt.evals.running.top_up import TopUp
from toolbelt.evals.setup.asking import ExecutionOptions
from toolbelt.evals.setup.reporting import EvalReporter, NoteKind, RunNote
from toolbelt.evals.statistics.sequential import find_level
from toolbelt.evals.statistics.verdict import Verdict


def gate_and_top_up(
    path: Path,
    name: str,
    baseline: Side,
    limits: Limits,
    options: ExecutionOptions,
    reporter: EvalReporter,
    *,
    arms: Sequence[str],
    seed: int,
    progress: Progress = no_progress,
    started: Started = ignore,
) -> GateResult:
    """Check a run as `gate_sides` does, and ask an epoch more of its open arms for as long as that may decide it.

    Args:
        path: The file of runs.
        name: The run: its id, the beginning of one, or `latest`.
        baseline: What it is compared with; of as many epochs as arms are asked at most.
        limits: What is tolerated.
        options: How models are asked; caps are of the whole run, what was asked before included.
        reporter: Gets notes and the trials.
        arms: As for `gate_sides`.
        seed: As for `gate_sides`.
        progress: As for `gate_sides`.
        started: As for `start_run`; called for each epoch that is asked.

    Raises:
        ToolbeltError: the run cannot be asked further, or what it was asked over has changed.
    """
    with RunStore(path, must_exist=True) as store:
        row = store.get(name)
        before, (requests, cost_usd) = row.finished, store.spent(row.run)
    plan = design_top_up(row.plan, row.run, baseline.about.epochs)
    reason, is_unfinished = "", row.finished < plan.size
    if row.plan.top_up is not None and is_unfinished:  # an epoch that a cap or Ctrl-C broke off
        reason, is_unfinished = _ask(path, row.run, options, reporter, started), False
    while True:
        design = plan.top_up
        with RunStore(path, must_exist=True) as store:
            stored = store.get(row.run)
            row = replace(stored, plan=plan)
            result = gate_sides(StoredRun(store, row), limits, baseline, arms=arms, seed=seed, progress=progress)
            if design is None or is_unfinished or result.comparison is None or not result.comparison.is_comparable:
                return result
            further = () if reason else find_open(result, plan)
            plan = _with_further(plan, further)
            if plan != stored.plan:
                with store.locks.claim(row.run):
                    store.replace_plan(row.run, plan)
            if not further:
                spent = store.spent(row.run)
                break
        labels = ", ".join(plan.arms[arm].label for arm in further)
        text = f"the verdict is open for {labels}: asking epoch {plan.epochs} of at most {design.epochs}"
        reporter.note(RunNote(NoteKind.TOP_UP, text, (row.run,)))
        try:
            reason = _ask(path, row.run, options, reporter, started)
        except ToolbeltError:
            _drop_empty_epoch(path, row)
            raise
        plan = _drop_empty_epoch(path, row)
    whole = design.epochs * plan.asked_cases * len(plan.arms)
    return replace(
        result,
        further=AskedFurther(
            row.finished - before, spent[0] - requests, spent[1] - cost_usd, whole - plan.size, reason
        ),
    )


def design_top_up(plan: Plan, run: str, epochs: int) -> Plan:
    """The plan of a run with the looks up to so many epochs; as it is where it has as many already.

    Raises:
        ToolbeltError: the run is a part of one, or has other looks.
    """
    if plan.decision is not None:
        raise ToolbeltError(f"Run {run} was run with --until-decided, and has looks of its own: gate it as it is.")
    if plan.shard is not None:
        raise ToolbeltError(f"Run {run} is shard {plan.shard}: merge the shards first (toolbelt eval merge).")
    if plan.top_up is not None:
        if plan.top_up.epochs != epochs:
            raise ToolbeltError(
                f"Run {run} was asked further for a baseline of {plan.top_up.epochs} epochs, and this one has "
                f"{epochs}: compare it with that one, or run it again."
            )
        return plan
    if plan.epochs >= epochs:
        return plan
    shares = tuple(epoch / epochs for epoch in range(plan.epochs, epochs + 1))
    return replace(plan, top_up=TopUp(epochs, find_level(shares), (plan.epochs,) * len(plan.arms)))


def find_open(result: GateResult, plan: Plan) -> tuple[int, ...]:
    """The places of the arms that a further epoch may decide; none where the gate could not pass even so."""
    left = [check for check in result.checks if check.verdict is not Verdict.NO_REGRESSION]
    measure = result.limits.measure
    decidable = {measure.value, "overflow"}  # the latter is as sure as the share
    if plan.top_up is None or any(check.verdict is Verdict.REGRESSION or check.name not in decidable for check in left):
        return ()
    pairs = () if result.comparison is None else result.comparison.pairs
    contrasts = {pair.new.key: pair.contrast(measure) for pair in pairs}
    places = []
    for place, arm in enumerate(plan.arms):
        contrast = contrasts.get((arm.model, arm.toolset, arm.variant))
        if contrast is None or contrast.verdict is not Verdict.INSUFFICIENT_DATA:
            continue
        if contrast.unanswered or plan.top_up.asked[place] >= plan.top_up.epochs:
            return ()
        if cannot_pass(contrast, result.limits.margin):
            return ()
        places.append(place)
    return tuple(places)


def _with_further(plan: Plan, arms: Sequence[int]) -> Plan:
    assert plan.top_up is not None  # noqa: S101  it is one that was designed
    top_up = plan.top_up.with_further(arms)
    return replace(plan, top_up=top_up, epochs=max(top_up.asked))


def _drop_empty_epoch(path: Path, before: RunRow) -> Plan:
    """The plan after an epoch; as it was before where no trial of it has ended, which the run would seem to lack."""
    with RunStore(path, must_exist=True) as store:
        row = store.get(before.run)
        if row.finished > before.finished:
            return row.plan
        store.replace_plan(row.run, before.plan)
        store.set_status(row.run, before.status, before.reason)
        return before.plan


def _ask(path: Path, run: str, options: ExecutionOptions, reporter: EvalReporter, started: Started) -> str:
    """Why not all could be asked; empty if it could."""
    outcome = continue_run(path, run, options, reporter, started)
    return outcome.reason if outcome.end is RunEnd.INCOMPLETE else ""
