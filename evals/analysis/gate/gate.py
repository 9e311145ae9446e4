"""Compares a run with a baseline and with limits, and lists the tools that lost all their cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.evals.analysis.comparison.compare import Progress, compare_arms, no_progress
from toolbelt.evals.analysis.comparison.comparison import Comparison, Measure
from toolbelt.evals.analysis.comparison.explanations import missing_and_surplus
from toolbelt.evals.analysis.comparison.pairing import Pairing
from toolbelt.evals.analysis.evidence.case_table import as_table
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt, CaseEvidence, Side, SideInfo
from toolbelt.evals.analysis.evidence.sides import find_arms, split_arms
from toolbelt.evals.analysis.gate.arm_figures import read_figures
from toolbelt.evals.analysis.gate.changed_tools import find_changed_tools
from toolbelt.evals.analysis.gate.checks import check_limits, check_preconditions
from toolbelt.evals.analysis.gate.recorded import find_recorded_use
from toolbelt.evals.analysis.gate.verdict import GateResult, Limits, LostTool
from toolbelt.evals.scoring.outcome import Outcome

_LEAST_CASES = 2
"""Cases that a tool must have lost to be listed; a single one is a flip like others."""
AMOUNTS = (Measure.DEFINITION_TOKENS, Measure.PROMPT_TOKENS, Measure.COST_USD)
"""What is compared besides the share."""


def gate_sides(
    run: Side,
    limits: Limits,
    baseline: Side | None = None,
    *,
    arms: Sequence[str] = (),
    seed: int = 0,
    progress: Progress = no_progress,
) -> GateResult:
    """Check a run against limits and, if there is one, compare it with a baseline.

    Args:
        run: The run that is checked.
        limits: What is tolerated.
        baseline: What it is compared with.
        arms: Names of the arms that are checked, in the run or in the baseline; a number is one of the run's. Each
            text may hold several, with commas between. All arms if empty.
        seed: Of what is drawn for intervals.
        progress: Shows how many arms are compared.

    Raises:
        NotFoundError: no arm has one of the names.
        ToolbeltError: run and baseline are the same, or `arms` holds no name.
    """
    if baseline is not None and baseline.about.name == run.about.name:
        raise ToolbeltError(f"Run {run.about.name} would be compared with itself, and always pass; name another.")
    keys = {key for name in split_arms(arms) for key in _find_keys(run, baseline, name)} if arms else None
    with progress("comparing arms", len(run.arms if keys is None else keys)) as advance:
        return check_run(run, limits, baseline, only=keys, seed=seed, advance=advance)


def check_run(
    run: Side,
    limits: Limits,
    baseline: Side | None = None,
    *,
    only: Collection[tuple[str, str, str]] | None = None,
    seed: int = 0,
    advance: Callable[[int], object] | None = None,
) -> GateResult:
    """Check a run against limits and, if there is one, compare it with a baseline.

    Args:
        run: The run that is checked.
        limits: What is tolerated; those that need a baseline are ignored without one.
        baseline: What it is compared with, arm by arm.
        only: Keys of the arms that are checked, see `ArmName.key`; all if `None`.
        seed: Of what is drawn for intervals.
        advance: Called with the number of arms compared.

    Returns:
        Every check, what must be said first before the rest. Where the two cannot be compared nothing that takes a
        baseline follows.
    """
    left_out = 0
    if only is not None:
        left_out = len({arm.key for side in (run, baseline) if side is not None for arm in side.arms} - set(only))
        run, baseline = _ChosenArms(run, only), None if baseline is None else _ChosenArms(baseline, only)
    figures = tuple(read_figures(run, arm, limits.measure) for arm in range(len(run.arms)))
    comparison = None
    if baseline is not None:
        comparison = compare_arms(
            baseline,
            run,
            _pair(baseline, run),
            margin=limits.margin,
            measures=(limits.measure, *AMOUNTS),
            seed=seed,
            advance=advance,
        )
    responses = find_recorded_use(run, baseline, limits.response_max_age_days, is_allowed=limits.allow_mixed)
    checks = (
        *check_preconditions(run.about, figures, comparison, left_out, responses, limits.response_max_age_days),
        *check_limits(figures, limits, comparison),
    )
    lost, changed = tuple(_find_lost_tools(comparison, run)), find_changed_tools(comparison)
    return GateResult(run.about, checks, limits, comparison, lost, changed, responses)


def _pair(baseline: Side, run: Side) -> Pairing:
    """Each arm with the same one: another model or toolset in its place is no successor, but a missing arm."""
    places = {arm.key: place for place, arm in enumerate(baseline.arms)}
    known = {arm.key for arm in run.arms}
    return Pairing(
        pairs=tuple((places[arm.key], place) for place, arm in enumerate(run.arms) if arm.key in places),
        missing=tuple(place for place, arm in enumerate(baseline.arms) if arm.key not in known),
        added=tuple(place for place, arm in enumerate(run.arms) if arm.key not in places),
    )


def _find_keys(run: Side, baseline: Side | None, name: str) -> set[tuple[str, str, str]]:
    keys: set[tuple[str, str, str]] = set()
    failures = []
    for side in (run, baseline):
        if side is None or (keys and name.strip().lstrip("#").isdigit()):
            continue
        try:
            keys |= {side.arms[place].key for place in find_arms(side.arms, name)}
        except NotFoundError as error:
            failures.append(error)
    if not keys:
        raise failures[0]
    return keys


class _ChosenArms:
    """A side that shows some of its arms alone.

    Args:
        side: The run or baseline.
        keys: Which, by `ArmName.key`; those it lacks are left out.
    """

    def __init__(self, side: Side, keys: Collection[tuple[str, str, str]]) -> None:
        self._side = side
        self._places = tuple(place for place, arm in enumerate(side.arms) if arm.key in keys)

    @property
    def about(self) -> SideInfo:
        """Dataset, run and settings of this side."""
        return self._side.about

    @property
    def arms(self) -> tuple[ArmName, ...]:
        """The chosen arms, in their order."""
        return tuple(self._side.arms[place] for place in self._places)

    def read(self, arm: int) -> Mapping[str, CaseEvidence]:
        """Every case of which a trial of the arm has finished."""
        return self._side.read(self._places[arm])

    def find_exchange(self, arm: int) -> str:
        """Digest of the requests and the answers of all trials of the arm; empty where one is not known."""
        return self._side.find_exchange(self._places[arm])


def _find_lost_tools(comparison: Comparison | None, run: Side) -> Iterator[LostTool]:
    """Arm by arm, the tool with the most cases first; none in a baseline, which lacks the calls of right trials."""
    if comparison is None or run.about.is_baseline:
        return
    places = {arm.key: place for place, arm in enumerate(run.arms)}
    for pair in comparison.pairs:
        lost: Counter[str] = Counter()
        for attempt, cases in pair.flip_counts.ends:
            for tool in dict.fromkeys(_missing(attempt)):
                lost[tool] += cases
        candidates = {tool for tool, cases in lost.items() if cases >= _LEAST_CASES}
        if not candidates:
            continue
        for attempt, _ in as_table(run.read(places[pair.new.key]), run.about.epochs_of(pair.new)).count_ends():
            if attempt.is_right:
                candidates.difference_update(attempt.called or ())
        yield from (LostTool(pair.new, tool, cases) for tool, cases in lost.most_common() if tool in candidates)


def _missing(attempt: Attempt) -> Sequence[str]:
    """A tool called in another order is still found; one that is called and not offered is lost all the more."""
    return attempt.missing if attempt.outcome is Outcome.UNOFFERED_TOOL else missing_and_surplus(attempt)[0]
