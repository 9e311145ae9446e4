"""The top of the page: its title, the result, the checks of a gate, where to go next; and the notes at its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolbelt.evals.analysis.comparison.comparison import ArmComparison, Comparison
from toolbelt.evals.analysis.comparison.reason_text import describe_notes, describe_reasons
from toolbelt.evals.analysis.gate.gate_text import describe_check_reason
from toolbelt.evals.analysis.gate.verdict import GateCheck, GateResult
from toolbelt.evals.analysis.result import RunResult
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.viewer.findings import badge_values, verdict_badge
from toolbelt.evals.views.figures import status_lines, uncovered_line
from toolbelt.evals.views.gate_markdown import gate_title
from toolbelt.evals.views.result_text import describe_model, result_sentence, result_title
from toolbelt.text import plural

_CHECK_WORDS = {
    Verdict.REGRESSION: "Failed",
    Verdict.NO_REGRESSION: "Passed",
    Verdict.INSUFFICIENT_DATA: "Undecided",
}
_RANK = (Verdict.REGRESSION, Verdict.INSUFFICIENT_DATA, Verdict.NO_REGRESSION)


def top_values(
    summary: RunSummary, result: RunResult, comparison: Comparison | None, gate: GateResult | None
) -> dict[str, Any]:
    """The values of the top of the page.

    Args:
        summary: Of the run.
        result: Of its arms.
        comparison: Of them, or with another run.
        gate: What it says, in place of the result.

    Returns:
        `title`, `badge` (`mark`, `word`, `tone`; `None` but for a gate), `lead`: sentences, the result first, `checks`
        of a gate, the worst first.
    """
    values: dict[str, Any] = {"title": result_title(result), "badge": None, "lead": [], "checks": []}
    if gate is not None:
        checks = sorted(gate.checks, key=lambda check: _RANK.index(check.verdict))
        values |= {
            "title": gate_title(gate),
            "badge": badge_values(verdict_badge(gate.verdict)),
            "lead": [_gate_lead(gate)],
            "checks": [{**_check_badge(check), "check": check} for check in checks],
        }
    elif comparison is not None and not comparison.is_comparable:
        values["lead"] = [
            result_sentence(result),
            f"{_sides(comparison)} cannot be compared.",
            *describe_reasons(comparison),
        ]
    elif comparison is not None and comparison.pairs and not comparison.is_within:
        values["lead"] = [f"{_sides(comparison)}, case by case, over the cases both were scored on."]
    else:
        values["lead"] = [result_sentence(result), *_uncompared(summary, comparison)]
    values["lead"] += _drafts(summary)
    return values


def note_lines(summary: RunSummary, comparison: Comparison | None) -> list[str]:
    """What a reader should know about the run and the comparison."""
    notes = [*(describe_notes(comparison) if comparison else ()), *status_lines(summary)]
    return [*dict.fromkeys(notes), *(line for line in (uncovered_line(summary),) if line)]


def model_line(summary: RunSummary, lead: Sequence[str]) -> str:
    """The models of the run, the word-matching baseline marked as such; empty where a sentence on top names the only
    one.
    """
    models = [describe_model(model) for model in dict.fromkeys(arm.model for arm in summary.arms)]
    is_named = len(models) == 1 and any(models[0] in line for line in lead)
    return "" if is_named else ", ".join(models)


def next_links(
    summary: RunSummary, result: RunResult, comparison: Comparison | None, *, has_recommendation: bool
) -> list[dict[str, Any]]:
    """Where a reader may go from the result: `href`, `text`, `is_live`, which needs the page's script."""
    links: list[dict[str, Any]] = []
    if comparison is not None and comparison.is_comparable and comparison.pairs:
        pair = next((pair for pair in comparison.pairs if _is_result(pair, result)), None)
        places = {(arm.model, arm.toolset, arm.variant): place for place, arm in enumerate(summary.arms)}
        if pair is not None and pair.flips:
            cases = plural(pair.flip_counts.total, "case")
            text = f"the {cases} on which {pair.new.toolset_label} and {pair.old.toolset_label} differ"
            links.append(
                {"href": f"#from={places[pair.old.key]}&to={places[pair.new.key]}", "text": text, "is_live": True}
            )
        elif not comparison.is_within:
            links.append({"href": "#differences", "text": "which cases flipped, and to which tools", "is_live": False})
    if len(summary.arms) > 1:
        links.append({"href": "#trials", "text": "every case in every arm", "is_live": True})
    links.append({"href": "#confusions", "text": "which tools are confused", "is_live": True})
    if has_recommendation:
        links.append({"href": "#paste", "text": "lines for toolbelt.yaml", "is_live": False})
    return links


def _is_result(pair: ArmComparison, result: RunResult) -> bool:
    """Whether a pair is what the result was found by."""
    if result.reference is None or result.recommended is None:
        return False
    keys = {(arm.model, arm.toolset, arm.variant) for arm in (result.reference, result.recommended)}
    return {pair.old.key, pair.new.key} == keys


def _check_badge(check: GateCheck) -> dict[str, Any]:
    badge = verdict_badge(check.verdict)._replace(word=_CHECK_WORDS[check.verdict])
    return {**badge_values(badge), "verdict": check.verdict.value, "message": describe_check_reason(check)}


def _gate_lead(gate: GateResult) -> str:
    against = f" against {gate.comparison.old.name}" if gate.comparison else ""
    conclusion = {
        Verdict.REGRESSION: "at least one check found a regression.",
        Verdict.NO_REGRESSION: "every check passed.",
        Verdict.INSUFFICIENT_DATA: "no check failed, but not all of them could be decided. This is not a pass.",
    }[gate.verdict]
    return f"The gate looked at run {gate.run.name}{against}: {conclusion}"


def _sides(comparison: Comparison) -> str:
    if comparison.is_within:
        return f"The arms of {comparison.old.name}"
    return f"{comparison.new.name} against {comparison.old.name}"


def _uncompared(summary: RunSummary, comparison: Comparison | None) -> Iterator[str]:
    """Why several arms were not compared."""
    if len(summary.arms) > 1 and not (comparison is not None and comparison.pairs):
        why = "No comparison was asked for" if comparison is None else "No two arms could be compared"
        yield f"{why}, so nothing here says that one arm is better than another."


def _drafts(summary: RunSummary) -> Sequence[str]:
    drafts = summary.settings.get("drafts") or 0
    if not drafts:
        return ()
    are = "is a draft" if drafts == 1 else "are drafts"
    return (f"{plural(drafts, 'case')} {are} that nobody has reviewed, so nothing may be proved by this run.",)
