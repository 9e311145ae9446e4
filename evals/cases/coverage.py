"""Whether a right answer could be given at all (rule E5)."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from toolbelt.evals.cases.case import Case


def is_covered(case: Case, reach: AbstractSet[str]) -> bool:
    """Whether a complete accepted answer lies within `reach`: the same for what could be offered and for what was.

    Calling nothing is always within reach. Where any call will do, a tool of the case's universe has to be.

    Args:
        case: The case.
        reach: Ids of tools.
    """
    if case.expected is None:
        universe = reach if case.offered is None else reach & frozenset(case.offered)
        return () in case.accept or not universe <= case.forbidden
    return any(all(any(tool in reach for tool in call.tools) for call in answer) for answer in case.answers)
