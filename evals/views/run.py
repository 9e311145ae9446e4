"""A run's results as views: arms × measures, outcomes, and notes to read first."""

from __future__ import annotations

from collections.abc import Iterator

from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.views.arms import arms_table, outcomes_table
from toolbelt.evals.views.figures import epoch_lines, same_model, status_notes, uncovered_line
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Line, Listing, Note
from toolbelt.views.cells import Span, Tone


def run_view(summary: RunSummary) -> tuple[Block, ...]:
    """A run, finished or not."""
    return (*_heading(summary), arms_table(summary), outcomes_table(summary), *_epochs(summary), *_notes(summary))


def _heading(summary: RunSummary) -> Iterator[Block]:
    arms = f"{plural(summary.cases, 'case')} × {plural(len(summary.arms), 'arm')}"
    epochs = f" × {plural(summary.epochs, 'epoch')}" if summary.epochs > 1 else ""
    yield Line((Span("run ", Tone.FAINT), Span(summary.run, Tone.STRONG), Span(f"  {summary.status}")))
    yield Note(f"dataset {summary.dataset}, catalog {summary.catalog}: {arms}{epochs}")
    if (model := same_model(summary)) is not None and len(summary.arms) > 1:
        yield Note(f"model {model}")


def _epochs(summary: RunSummary) -> Iterator[Block]:
    if lines := epoch_lines(summary):
        meaning, *arms = lines
        yield Note(meaning)
        yield Listing(tuple(map(Span, arms)))


def _notes(summary: RunSummary) -> Iterator[Block]:
    yield from status_notes(summary)
    if line := uncovered_line(summary):
        yield Note(line)
