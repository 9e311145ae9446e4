"""Looks at a run that stops when its comparison is decided (rule X6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from toolbelt.errors import ToolbeltError
from toolbelt.evals.analysis.comparison.compare import compare_arms
from toolbelt.evals.analysis.comparison.comparison import ArmComparison, Comparison, Measure
from toolbelt.evals.analysis.comparison.pairing import Pairing, pair_arms, pair_by_model
from toolbelt.evals.analysis.comparison.reason_text import describe_reasons
from toolbelt.evals.analysis.comparison.sample_size import wanted_cases
from toolbelt.evals.analysis.evidence.evidence import Side
from toolbelt.evals.analysis.evidence.sides import open_side
from toolbelt.evals.analysis.evidence.stored_run import StoredRun
from toolbelt.evals.running.plan import Plan
from toolbelt.evals.running.rounds import Decision
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.text import plural


def refuse_incomparable(store: RunStore, run: str) -> None:
    """Raise `ToolbeltError` where a run that begins cannot be compared with its baseline, or has an arm too many."""
    row = store.get(run)
    decision = _decision(row.plan)
    with _open_baseline(decision, store) as baseline:
        if baseline is None:
            return
        side = StoredRun(store, row)
        if reasons := describe_reasons(compare_arms(baseline, side, Pairing(()))):
            raise ToolbeltError(f"{decision.baseline} cannot be compared with this run: {' '.join(reasons)}")
        if added := pair_arms(baseline.arms, side.arms).added:
            names = ", ".join(side.arms[place].label for place in added)
            raise ToolbeltError(f"{decision.baseline} has no arm of the same name to compare with: {names}.")


def take_look(store: RunStore, run: str, number: int) -> bool:
    """Compare the arms after a round, and store what it came to; whether all is decided.

    A look is taken once. Were it taken again, when trials that failed then have been asked, there would be more looks
    than the bounds allow for.

    Args:
        store: With the run.
        run: Its id.
        number: Of the round, from 0; its trials have ended, but for those that could not be run.
    """
    row = store.get(run)
    decision = _decision(row.plan)
    taken = decision.rounds[number]
    if taken.is_decided is not None:
        return taken.is_decided
    # As it would be if it ended here: the cases of later rounds are none that it lacks.
    ended = replace(row.plan, decision=decision.with_look(number, is_decided=True))
    with _open_baseline(decision, store) as baseline:
        comparison = _compare(baseline, StoredRun(store, replace(row, plan=ended)), decision)
    verdicts = {pair.new.label: _describe_pair(pair, comparison) for pair in comparison.pairs}
    is_decided = bool(verdicts) and all(
        pair.verdict not in (None, Verdict.INSUFFICIENT_DATA) for pair in comparison.pairs
    )
    looked = decision.with_look(number, is_decided=is_decided, verdicts=verdicts)
    store.replace_plan(run, replace(row.plan, decision=looked))
    return is_decided


def describe_end(plan: Plan) -> str:
    """What the looks came to so far, what was saved, and how many cases would decide what is open; in words."""
    decision = _decision(plan)
    last = decision.last_look
    if last is None:
        return "not decided: no round has been asked yet"
    look = decision.rounds[last]
    verdicts = look.verdicts or {}
    found = "; ".join(f"{arm}: {_describe_verdict(verdict)}" for arm, verdict in verdicts.items())
    asked = f"after {look.cases:,} of {plural(plan.cases, 'case')} (look {last + 1} of {len(decision.rounds)})"
    if decision.end is not None:
        return (
            f"decided {asked}, {1 - plan.size / plan.numbers:.0%} of the trials saved "
            f"({plan.numbers - plan.size:,} of {plan.numbers:,}): {found}"
        )
    wanted = max((verdict["wanted_cases"] or 0 for verdict in verdicts.values()), default=0)
    more = f"; a margin of {100 * decision.margin:g} points takes about {plural(wanted, 'case')}" if wanted else ""
    return f"not decided {asked}: {found}{more}"


def _compare(baseline: Side | None, side: Side, decision: Decision) -> Comparison:
    old = side if baseline is None else baseline
    pairing = pair_by_model(side) if baseline is None else pair_arms(old.arms, side.arms)
    # Both shares, as `toolbelt eval compare` adjusts its p values over both.
    return compare_arms(old, side, pairing, margin=decision.margin, measures=(Measure.ACCURACY, Measure.SOLVED))


def _describe_pair(pair: ArmComparison, comparison: Comparison) -> dict[str, Any]:
    contrast, verdict = pair.main_contrast, pair.verdict
    return {
        "difference": contrast.difference,
        "low": contrast.low,
        "high": contrast.high,
        "verdict": (verdict or Verdict.INSUFFICIENT_DATA).value,
        "wanted_cases": wanted_cases(contrast, comparison.margin, comparison.level),
    }


def _describe_verdict(verdict: Mapping[str, Any]) -> str:
    words = verdict["verdict"]
    return words if verdict["difference"] is None else f"{words} ({100 * verdict['difference']:+.1f} points)"


@contextmanager
def _open_baseline(decision: Decision, store: RunStore) -> Iterator[Side | None]:
    if not decision.baseline:
        yield None
        return
    with open_side(decision.baseline, store.path) as side:
        yield side


def _decision(plan: Plan) -> Decision:
    if plan.decision is None:
        raise ValueError("This run has no looks.")
    return plan.decision
