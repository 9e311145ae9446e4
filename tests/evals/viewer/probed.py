"""Probes to show, written by hand."""

from __future__ import annotations

from toolbelt.evals.probing.results import CheckOutcome, CheckResult, ProbeResult


def probes() -> tuple[ProbeResult, ...]:
    """Of two models: with every outcome there is, and one that was interrupted."""
    keys = tuple(f"check_{outcome.value}" for outcome in CheckOutcome)
    all_outcomes = tuple(
        CheckResult(f"check_{one.value}", one, f"It was seen that it {one.value}.", 1, prompt_tokens=10)
        for one in CheckOutcome
    )
    return (
        ProbeResult("p1", "2026-03-01T12:00:00Z", "openai/gpt-5-mini", "finished", all_outcomes, keys),
        ProbeResult(
            "p2", "2026-03-02T12:00:00Z", "ollama/qwen3:4b", "interrupted", all_outcomes[:2], keys,
            api_base="http://localhost:11434",
        ),
    )  # fmt: skip
