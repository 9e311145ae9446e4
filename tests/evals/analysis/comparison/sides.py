"""Sides of a comparison that are written down in a test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from toolbelt.evals.analysis.comparison.comparison import Contrast
from toolbelt.evals.analysis.comparison.reasons import MissingFigures, Reason
from toolbelt.evals.analysis.evidence.evidence import ArmName, Attempt, CaseEvidence, SideInfo
from toolbelt.evals.scoring.outcome import Outcome

ARM = ArmName("local/bm25", "full", tokenizer="o200k")
ABOUT = SideInfo("20260301-120000-beef", "shipped", "d1", "c1", cases=1)

OUTCOMES: Mapping[str, Attempt | None] = {
    "+": Attempt(Outcome.CORRECT, covered=True),
    "a": Attempt(Outcome.WRONG_ARGUMENTS, covered=True),  # right by names, not solved
    "-": Attempt(Outcome.WRONG_TOOL, covered=True, missing=("git/log",), surplus=("git/show",)),
    "u": Attempt(Outcome.MISSING_CALL, covered=False, missing=("git/log",)),
    "e": Attempt(Outcome.ERROR, covered=True),
    "o": Attempt(Outcome.CONTEXT_OVERFLOW, covered=True),
    ".": None,
}
"""What became of a trial, by one character."""


@dataclass(frozen=True)
class Written:
    """A side whose arms are given; counts how often each was read."""

    about: SideInfo
    arms: tuple[ArmName, ...]
    evidence: tuple[Mapping[str, CaseEvidence], ...]

    def find_exchange(self, arm: int) -> str:
        return ""

    def read(self, arm: int) -> Mapping[str, CaseEvidence]:
        return self.evidence[arm]


def evidence(
    trials: Iterable[str | Sequence[Attempt | None]],
    clusters: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
) -> dict[str, CaseEvidence]:
    """Cases `c0`, `c1`, … whose epochs are given, a character each; an empty one has not been read at all."""
    cases = {}
    for number, epochs in enumerate(trials):
        if epochs:
            case = f"c{number}"
            attempts = tuple(OUTCOMES[epoch] if isinstance(epoch, str) else epoch for epoch in epochs)
            cluster = clusters[number] if clusters else case
            cases[case] = CaseEvidence(case, cluster, kinds[number] if kinds else "single", attempts)
    return cases


def side(
    *arms: Iterable[str | Sequence[Attempt | None]],
    names: Sequence[ArmName] | None = None,
    clusters: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
    **about: Any,
) -> Written:
    """A side of arms whose cases are given; asked as many cases, as often, as the first arm's say."""
    written = [list(arm) for arm in arms]
    epochs = max((len(trial) for arm in written for trial in arm), default=1)
    described = {"cases": len(written[0]) if written else 0, "epochs": max(1, epochs), **about}
    if names is None:
        names = [replace(ARM, toolset=f"loadout:{position}" if position else "full") for position in range(len(arms))]
    return Written(replace(ABOUT, **described), tuple(names), tuple(evidence(arm, clusters, kinds) for arm in written))


def rounded_reasons(contrast: Contrast) -> tuple[Reason, ...]:
    """The reasons of a contrast with their fractions rounded to 3 digits, to be compared with some that are written."""
    return tuple(_rounded(reason) for reason in contrast.reasons)


def _rounded(reason: Reason) -> Reason:
    if isinstance(reason, MissingFigures):
        return reason
    values = {field.name: getattr(reason, field.name) for field in fields(reason)}
    rounded: Any = {name: round(value, 3) for name, value in values.items() if isinstance(value, float)}
    return replace(reason, **rounded)
