"""How often a case that is asked several times is right, in a line for each arm."""

from __future__ import annotations

from toolbelt.evals.analysis.summary.run_summary import ArmSummary, RunSummary
from toolbelt.evals.views.figures import arm_labels, format_share

MEANING = (
    "pass@k is the chance that at least one of k trials of a case calls the right tools, pass^k that each of them does."
)


def epoch_lines(summary: RunSummary) -> list[str]:
    """pass@k and pass^k of each arm, with `MEANING` before them; nothing where each case was asked once."""
    lines = [
        f"{label}: {_line(arm, summary.cases)}"
        for label, arm in zip(arm_labels(summary), summary.arms, strict=True)
        if any(arm.pass_cases.values())
    ]
    return [MEANING, *lines] if lines else []


def _line(arm: ArmSummary, cases: int) -> str:
    draws = ",".join(map(str, arm.pass_cases))
    at, each = (" ".join(map(format_share, shares.values())) for shares in (arm.pass_at, arm.pass_all))
    fewer = [f"{covered:,} at k={k}" for k, covered in arm.pass_cases.items() if covered < cases]
    beside = f" (of {cases:,} cases {', '.join(fewer)})" if fewer else ""
    return f"pass@{draws}: {at}; pass^{draws}: {each}{beside}"
