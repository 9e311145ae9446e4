"""What must be said before any verdict: is there something to compare with, is the run whole, was it reviewed?"""

from __future__ import annotations

from collections.abc import Iterator

from toolbelt.evals.analysis.comparison.comparison import Comparison
from toolbelt.evals.analysis.evidence.evidence import SideInfo
from toolbelt.evals.analysis.gate.arm_figures import ArmFigures
from toolbelt.evals.analysis.gate.verdict import PASS, UNSURE, Check
from toolbelt.text import plural


def check_first(
    run: SideInfo, arms: tuple[ArmFigures, ...], comparison: Comparison | None, left_out: int = 0
) -> Iterator[Check]:
    """In the order in which they are to be told.

    Args:
        run: What is looked at.
        arms: Those of its arms that are.
        comparison: With the baseline, if there is one.
        left_out: How many arms of the run and the baseline are not looked at because others were asked for.
    """
    if comparison is not None:
        yield from _comparable(comparison)
    yield from _reviewed(run, "run")
    if comparison is not None and comparison.old.drafts:
        yield from _reviewed(comparison.old, "baseline")
    yield _complete(run, arms)
    if comparison is not None and comparison.old.status != "finished":
        told = f"{comparison.old.name}, which it is held against, is {comparison.old.status}: not all of it is there"
        yield Check("complete", UNSURE, told)
    yield from _arms(comparison, left_out)


def _comparable(comparison: Comparison) -> Iterator[Check]:
    if comparison.reasons:
        for reason in comparison.reasons:
            yield Check("comparable", UNSURE, reason)
        return
    old = comparison.old
    yield Check("comparable", PASS, f"{old.name} is of the same {plural(old.cases, 'case')}, grading and settings")


def _reviewed(about: SideInfo, what: str) -> Iterator[Check]:
    if about.drafts:
        told = (
            f"{about.drafts:,} of {plural(about.cases, 'case')} of the {what} are drafts that nobody has reviewed, and "
            "prove nothing: review them, remove their `draft`, and run again"
        )
        yield Check("reviewed", UNSURE, told, observed=about.drafts, limit=0)
    else:
        yield Check("reviewed", PASS, "no case is a draft")


def _complete(run: SideInfo, arms: tuple[ArmFigures, ...]) -> Check:
    planned = run.cases * run.epochs * len(arms)
    if not planned:
        told = "there is not a single trial to look at: ask cases, and name arms that the run has"
        return Check("complete", UNSURE, told, observed=0, limit=0)
    finished, errors = sum(arm.finished for arm in arms), sum(arm.errors for arm in arms)
    overflows = sum(arm.overflows for arm in arms)
    if run.status != "finished" or finished < planned:
        why = f" ({run.reason.rstrip('.')})" if run.reason else ""
        left = f"{planned - finished:,} of {plural(planned, 'trial')} have not been run"
        state = f"{run.status}{why}: {left}" if finished < planned else f"{run.status}{why}, after its last trial"
        # One that another process works on cannot be resumed, and need not.
        hint = "wait for it to end" if run.status == "running" else f"go on with: toolbelt eval resume {run.name}"
        told = f"the run is {state}; {hint}"
        return Check("complete", UNSURE, told, observed=finished, limit=planned)
    if errors:
        told = (
            f"{errors:,} of {plural(planned, 'trial')} ended with an error and are unscored; what follows holds "
            "whatever would have become of them, but for tokens and cost, which are of the others alone. "
            f"Again: toolbelt eval resume {run.name} --retry-errors"
        )
        # All of them failing says nothing at all, which is no pass.
        return Check("complete", PASS if errors < planned else UNSURE, told, observed=planned - errors, limit=planned)
    unscored = f"; {overflows:,} did not fit the model's window and are unscored" if overflows else ""
    told = f"all of {plural(planned, 'trial')} came to an end{unscored}"
    return Check("complete", PASS, told, observed=finished, limit=planned)


def _arms(comparison: Comparison | None, left_out: int) -> Iterator[Check]:
    others = f"; {plural(left_out, 'other')} not looked at, as --arm has it" if left_out else ""
    if comparison is None:
        if left_out:
            yield Check("arms", PASS, f"some of the arms alone{others}")
        return
    for arm in comparison.missing:
        told = "the baseline has this arm, the run lacks it: run it too, or save the baseline without it"
        yield Check("arms", UNSURE, told, arm.label)
    # An arm more than in the baseline is no fault; where there is no other, nothing at all was held against it.
    verdict = PASS if comparison.pairs or comparison.reasons else UNSURE
    for arm in comparison.added:
        told = "the baseline lacks this arm, so that it is held against nothing: save the baseline again"
        yield Check("arms", verdict, told, arm.label)
    if comparison.is_comparable and not (comparison.missing or comparison.added):
        same = f"the same {plural(len(comparison.pairs), 'arm')} as in the baseline"
        yield Check("arms", PASS, f"{same}{others}")
    elif left_out:
        yield Check("arms", PASS, f"some of the arms alone{others}")
