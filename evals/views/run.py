"""A run's results as views: the arms at a glance, or every measure of them, notes to read first, and the result."""

from __future__ import annotations

from collections.abc import Iterator

from toolbelt.evals.analysis.comparison.comparison import Comparison
from toolbelt.evals.analysis.matrix.matrix import Matrix
from toolbelt.evals.analysis.result import find_result
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.running.top_up import times_epochs
from toolbelt.evals.views.arms import arms_table, outcomes_table
from toolbelt.evals.views.figures import epoch_lines, same_model, status_notes, uncovered_line
from toolbelt.evals.views.glance import describe_findings, glance_table
from toolbelt.evals.views.result_text import describe_model, result_sentence
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Line, Listing, Note
from toolbelt.views.cells import Span, Tone


def run_view(summary: RunSummary, comparison: Comparison | None = None, *, details: bool = False) -> tuple[Block, ...]:
    """A run, finished or not, without its result, which `result_view` puts last.

    Args:
        summary: Of the run.
        comparison: Of its own arms; without one no arm is compared with another.
        details: Whether to show every measure and the outcomes; else what fits on a small screen.
    """
    if details:
        tables: tuple[Block, ...] = (arms_table(summary), outcomes_table(summary))
        return (*_heading(summary), *tables, *_epochs(summary), *_notes(summary))
    meanings = describe_findings(comparison)
    legend = Note(f"{meanings}{'; ' if meanings else ''}every measure: toolbelt eval show --details", Tone.FAINT)
    return (*_heading(summary), glance_table(summary, comparison), legend, *status_notes(summary))


def result_view(
    summary: RunSummary, comparison: Comparison | None = None, matrix: Matrix | None = None
) -> tuple[Block, ...]:
    """The result in a few sentences, which stand last."""
    return (Line((Span(result_sentence(find_result(summary, comparison, matrix)), Tone.STRONG),)),)


def _heading(summary: RunSummary) -> Iterator[Block]:
    arms = f"{plural(summary.cases, 'case')} × {plural(len(summary.arms), 'arm')}"
    epochs = times_epochs(summary.epochs, summary.arm_epochs)
    yield Line((Span("run ", Tone.FAINT), Span(summary.run, Tone.STRONG), Span(f"  {summary.status}")))
    yield Note(f"dataset {summary.dataset}, catalog {summary.catalog}: {arms}{epochs}")
    if (model := same_model(summary)) is not None and len(summary.arms) > 1:
        yield Note(f"model {describe_model(model)}")


def _epochs(summary: RunSummary) -> Iterator[Block]:
    if lines := epoch_lines(summary):
        meaning, *arms = lines
        yield Note(meaning)
        yield Listing(tuple(map(Span, arms)))


def _notes(summary: RunSummary) -> Iterator[Block]:
    yield from status_notes(summary)
    if line := uncovered_line(summary):
        yield Note(line)
