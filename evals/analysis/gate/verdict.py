"""The limits, checks and verdict of a gate, as values (rule E9)."""

from __future__ import annotations

from dataclasses import dataclass

from toolbelt.evals.analysis.comparison.comparison import MARGIN, Comparison, Measure
from toolbelt.evals.analysis.evidence.evidence import ArmName, SideInfo
from toolbelt.evals.analysis.gate.changed_tools import ChangedTool
from toolbelt.evals.analysis.gate.check_reasons import CheckReason
from toolbelt.evals.analysis.gate.recorded import MAX_AGE_DAYS, RecordedUse
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.text import plural

PASS, FAIL, UNSURE = Verdict.NO_REGRESSION, Verdict.REGRESSION, Verdict.INSUFFICIENT_DATA
"""Short names for the verdict of a check."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What is tolerated.

    Attributes:
        margin: Accuracy that may be lost against the baseline, a fraction.
        measure: `accuracy` or `solved`, which the margin and `min_accuracy` are of.
        max_lost: Cases of an arm that may be right less often than before; they decide where the interval does not.
            `None` for the margin alone.
        min_accuracy: What each arm must reach, a fraction; `None` for anything.
        max_token_increase: By how much prompt tokens may grow against the baseline, a fraction of what they were.
        max_cost_increase: By how much the cost may grow against the baseline, a fraction of what it was.
        min_sample_size: Clusters of cases that a verdict takes.
        response_max_age_days: Days by which recorded and live responses of a model may be apart.
        allow_mixed: Whether recorded and live responses may differ in reported model, fingerprint and age.
    """

    margin: float = MARGIN
    measure: Measure = Measure.ACCURACY
    min_accuracy: float | None = None
    max_token_increase: float | None = None
    max_cost_increase: float | None = None
    min_sample_size: int = 1
    response_max_age_days: float = MAX_AGE_DAYS
    allow_mixed: bool = False
    max_lost: int | None = None


@dataclass(frozen=True, slots=True)
class GateCheck:
    """One check of a gate: a figure, its limit and the verdict.

    Attributes:
        name: `comparable`, `complete`, `reviewed`, `arms`, `responses`, `sample-size`, `overflow`, `accuracy` (or
            `solved`), `max-lost`, `min-accuracy` (or `min-solved`), `tokens`, `cost`.
        verdict: What it says.
        reason: Why, with the figures; `gate_text.describe_check_reason` puts it into words.
        arm: Of which arm; `None` where it is of the whole run.
        observed: The figure that is checked, in the unit of the limit; `None` where there is none.
        low: Lower bound of its interval.
        high: Upper bound.
        limit: What the figure is compared with.
        cases: Of how many cases that figure is; `None` where it is not of cases.
        planned: Number of cases that the check covers if the run is complete: all planned cases; for `overflow`, those
            that fitted before.
    """

    name: str
    verdict: Verdict
    reason: CheckReason
    arm: ArmName | None = None
    observed: float | None = None
    low: float | None = None
    high: float | None = None
    limit: float | None = None
    cases: int | None = None
    planned: int | None = None


@dataclass(frozen=True, slots=True)
class LostTool:
    """A tool that lost all its cases.

    The margin is a share of all cases, so the few cases of one tool may all be lost within it. The report shows them.

    Attributes:
        arm: Of which arm.
        tool: Its id.
        cases: Number of its cases that were right and are not any more; at least two.
    """

    arm: ArmName
    tool: str
    cases: int


@dataclass(frozen=True, slots=True)
class AskedFurther:
    """What a gate asked in addition, of the arms whose verdict was open.

    Attributes:
        trials: How many.
        requests: Sent for them, with retries.
        cost_usd: What they cost, as far as known.
        spared: Trials that as many epochs of every arm would have taken beyond those of the run.
        reason: Why not all that was to be asked could be; empty if it could.
    """

    trials: int
    requests: int
    cost_usd: float
    spared: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of a gate.

    Attributes:
        run: The run that was checked.
        checks: The checks, in the order in which they are shown.
        limits: What is tolerated.
        comparison: With the baseline; `None` without one.
        lost: Tools that lost all their cases, whatever the verdict.
        changed: Tools whose definition is not that of the baseline, whatever the verdict.
        responses: What run and baseline have of recorded responses; `None` where the run has none.
        further: What was asked in addition; `None` where nothing was to be.
    """

    run: SideInfo
    checks: tuple[GateCheck, ...]
    limits: Limits
    comparison: Comparison | None = None
    lost: tuple[LostTool, ...] = ()
    changed: tuple[ChangedTool, ...] = ()
    responses: RecordedUse | None = None
    further: AskedFurther | None = None

    def __repr__(self) -> str:
        against = "" if self.comparison is None else f" against {self.comparison.old.name}"
        left = [check for check in self.checks if check.verdict is not PASS]
        arms = (f" of {check.arm.label}" if check.arm is not None else "" for check in left)
        shown = ", ".join(f"{check.name}{arm} {check.verdict}" for check, arm in zip(left[:6], arms, strict=False))
        more = f", … {len(left) - 6} more" if len(left) > 6 else ""
        passed = f"{len(self.checks) - len(left)} of {plural(len(self.checks), 'check')} passed"
        return f"<GateResult of {self.run.name}{against}: {self.verdict}, {passed}{': ' if left else ''}{shown}{more}>"

    @property
    def verdict(self) -> Verdict:
        """A regression if any check found one; else the least certain verdict. Without checks, the data is
        insufficient.
        """
        verdicts = {check.verdict for check in self.checks}
        if Verdict.REGRESSION in verdicts:
            return Verdict.REGRESSION
        return Verdict.NO_REGRESSION if verdicts == {Verdict.NO_REGRESSION} else Verdict.INSUFFICIENT_DATA
