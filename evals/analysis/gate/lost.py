"""Tools whose cases are all wrong now, which a margin over all cases need not notice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from toolbelt.evals.analysis.comparison.comparison import Comparison
from toolbelt.evals.analysis.comparison.explanations import missing_and_surplus
from toolbelt.evals.analysis.evidence.evidence import Attempt, Side
from toolbelt.evals.analysis.gate.verdict import LostTool
from toolbelt.evals.scoring.outcome import Outcome

_LEAST = 2
"""Cases; a single one is a flip like others."""


def find_lost(comparison: Comparison | None, run: Side) -> Iterator[LostTool]:
    """Arm by arm, the tool with the most cases first.

    Args:
        comparison: Of the run with its baseline.
        run: The new side, which knows what was called where it is right; nothing is found in a baseline, which does
            not.
    """
    if comparison is None or run.about.is_baseline:
        return
    places = {arm.key: place for place, arm in enumerate(run.arms)}
    for pair in comparison.pairs:
        lost = Counter(tool for flip in pair.flips if flip.change < 0 for tool in dict.fromkeys(_missing(flip.new)))
        candidates = {tool for tool, cases in lost.items() if cases >= _LEAST}
        if not candidates:
            continue
        for case in run.read(places[pair.new.key]).values():
            for attempt in case.scored:
                if attempt.is_right:
                    candidates.difference_update(attempt.called or ())
        yield from (LostTool(pair.new.label, tool, cases) for tool, cases in lost.most_common() if tool in candidates)


def _missing(attempt: Attempt) -> Sequence[str]:
    """A tool called in another order is still found; one that is called and not offered is lost all the more."""
    return attempt.missing if attempt.outcome is Outcome.UNOFFERED_TOOL else missing_and_surplus(attempt)[0]
