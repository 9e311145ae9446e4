"""Sides of a comparison, written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt, CaseEvidence, SideInfo
from toolbelt.evals.scoring.outcome import Outcome

ABOUT = SideInfo(
    name="20260301-120000-beef",
    dataset="office",
    digest="sha256:0123",
    chosen="abcd",
    cases=0,
    settings={"seed": 0, "request_limit": 10},
    catalog="office",
    surroundings="ef01",
    code={"toolbelt": "1.0", "commit": "0" * 40, "changed": "no"},
    created="2026-03-01T12:00:00.000+00:00",
)
FULL = ArmName("local/bm25", "full", "", "o200k_base")
TIERED = ArmName("local/bm25", "tiered", "", "o200k_base")
RIGHT = Attempt(Outcome.CORRECT, True, ("git/status",), (), (), 100, 150, None, 1, 0.0, 0.25)
WRONG = Attempt(Outcome.WRONG_TOOL, True, ("git/log",), ("git/status",), ("git/log",), 100, 150, None, 1, 0.0, 0.5)
NOTHING = Attempt(Outcome.MISSING_CALL, True, (), ("git/status",), (), 100, 150, None, 1, 0.0, 0.5)
FAILED = Attempt(Outcome.ERROR, True, (), (), (), 100, None, None, 1, None, 0.5)
TOO_LONG = Attempt(Outcome.CONTEXT_OVERFLOW, True, (), (), (), 100, 150, None, 1, 0.0, 0.5)


@dataclass(frozen=True)
class WrittenSide:
    """A side that holds what it is given."""

    about: SideInfo
    arms: tuple[ArmName, ...]
    cases: tuple[Mapping[str, CaseEvidence], ...]

    def find_exchange(self, arm: int) -> str:
        """None is known."""
        return ""

    def read(self, arm: int) -> Mapping[str, CaseEvidence]:
        """As given."""
        return self.cases[arm]


def side(*arms: Sequence[Attempt | None], names: Sequence[ArmName] = (FULL, TIERED), **about: Any) -> WrittenSide:
    """A side with one epoch.

    Args:
        arms: For each its attempts, one a case; `None` for one that has not been run.
        names: Of the arms.
        about: What differs from `ABOUT`.
    """
    cases = tuple(
        {
            f"c{number}": CaseEvidence(f"c{number}", f"c{number}", "single", (attempt,))
            for number, attempt in enumerate(attempts)
            if attempt is not None
        }
        for attempts in arms
    )
    return WrittenSide(replace(ABOUT, **{"cases": len(arms[0]), **about}), tuple(names[: len(arms)]), cases)
