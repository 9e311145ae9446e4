"""The table of a run's arms, built once for the terminal, Markdown and the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate, RunSummary
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.views.figures import arm_labels
from toolbelt.views.cells import Amount, Cell, Count, Dollars, Proportion, Seconds, Span, Tokens
from toolbelt.views.table import Column, Row, Table


def proportion(rate: Rate) -> Proportion:
    """A rate as a cell."""
    return Proportion(rate.value, rate.low, rate.high, rate.numerator, rate.denominator)


OF_ASKED = Column(
    "right of asked",
    "Right tools called, by name, of all asked; what was too long for the model is not right. Arms are ranked by it.",
    "right of\nasked",
    has_interval=True,
    has_bar=True,
)
SCORED = Column(
    "scored / planned",
    "Trials that say something about the choice; errors and prompts that were too long do not.",
    "scored/\nplanned",
)

_INVALIDATED = "invalidated tokens"
_ANSWER, _REASONING = "answer tokens", "reasoning tokens"
_RANK = "mean rank"
_MEASURES: tuple[tuple[Column, Callable[[ArmSummary], Cell]], ...] = (
    (
        Column(
            "accuracy",
            "Right tools called, by name, of the scored trials.",
            "accuracy\n(95% interval)",
            has_interval=True,
            has_bar=True,
        ),
        lambda arm: proportion(arm.accuracy),
    ),
    (OF_ASKED, lambda arm: proportion(arm.right_of_asked)),
    (
        Column(
            "solved",
            "Right tools called with right arguments, of the scored trials.",
            has_interval=True,
            has_bar=True,
        ),
        lambda arm: proportion(arm.solved),
    ),
    (
        Column("argument correctness", "Calls with right arguments, of those whose are checked.", "args\nright"),
        lambda arm: proportion(arm.argument_correctness),
    ),
    (
        Column("coverage", "A right answer could be reached with the tools that the toolset offers."),
        lambda arm: proportion(arm.coverage),
    ),
    (
        Column(_RANK, "Place at which searches found the right tools, of several the last; mean of the hits.", "rank"),
        lambda arm: Amount(arm.mean_rank),
    ),
    (
        Column(
            "selection given coverage",
            "Right, of the trials where a right answer could be reached.",
            "selection\n| coverage",
        ),
        lambda arm: proportion(arm.selection_given_coverage),
    ),
    (
        Column("abstention", "Right, of the trials where nothing needed to be called."),
        lambda arm: proportion(arm.abstention),
    ),
    (
        Column(
            "abstained uncovered",
            "Nothing was called, of the trials where no right answer could be reached.",
            is_secondary=True,
        ),
        lambda arm: proportion(arm.abstained_uncovered),
    ),
    (
        Column("hallucinated", "A tool was called that is in no catalog.", "halluci-\nnated"),
        lambda arm: proportion(arm.hallucination),
    ),
    (
        Column(
            "definition tokens",
            "Tool definitions at the first request, estimated (~ by the model's rate); mean of the scored trials.",
            "defin.\ntokens",
            has_bar=True,
        ),
        lambda arm: Tokens(arm.definition_tokens, is_estimate=arm.token_error is not None),
    ),
    (
        Column(
            "prompt tokens",
            "Whole prompts over all requests, as the provider reported them (~ estimated); mean.",
            "prompt\ntokens",
            has_bar=True,
        ),
        lambda arm: Tokens(arm.prompt_tokens, is_estimate=not arm.prompt_tokens_reported),
    ),
    (
        Column(
            _INVALIDATED,
            "Of the prefix that changes of the tool list made uncacheable, over all requests, estimated; mean.",
            "invalid.\ntokens",
        ),
        lambda arm: Tokens(arm.invalidated_tokens),
    ),
    (
        Column(
            _ANSWER,
            "Of all answers, as the provider reported them; mean.",
            "answer\ntokens",
        ),
        lambda arm: Tokens(arm.completion_tokens),
    ),
    (
        Column(_REASONING, "Of the answer tokens, spent on reasoning; mean.", "of them\nreasoning"),
        lambda arm: Tokens(arm.reasoning_tokens),
    ),
    (Column("requests", "Calls of the model's API; mean.", "re-\nquests"), lambda arm: Amount(arm.requests)),
    (
        Column("cost per trial", "In US dollars, retries included; mean.", "cost\n/trial", has_bar=True),
        lambda arm: Dollars(arm.cost_usd),
    ),
    (Column("latency median", "Of a request.", "latency\nmedian"), lambda arm: Seconds(arm.latency_seconds)),
    (
        Column("latency p95", "Of a request, 95th percentile.", "latency\np95"),
        lambda arm: Seconds(arm.latency_p95_seconds),
    ),
    (SCORED, lambda arm: Count(arm.scored, arm.planned)),
)
"""The columns of an arm, in order."""


def arms_table(summary: RunSummary) -> Table:
    """Arms × measures; those of what not every run has, such as reasoning, are columns where there was any."""
    has_changes = any(arm.invalidated_tokens for arm in summary.arms)
    has_ranks = any(arm.mean_rank is not None for arm in summary.arms)
    is_cut = any(arm.too_long for arm in summary.arms)
    reasons = any(arm.reasoning_tokens for arm in summary.arms)
    optional = (
        *((_INVALIDATED, has_changes), (_RANK, has_ranks), (OF_ASKED.name, is_cut)),
        *((_ANSWER, reasons), (_REASONING, reasons)),
    )
    left_out = {name for name, wanted in optional if not wanted}
    measures = [(column, cell) for column, cell in _MEASURES if column.name not in left_out]
    rows = (Row(arm.toolset_label, tuple(cell(arm) for _, cell in measures), arm.model) for arm in summary.arms)
    return Table(
        "arm",
        tuple(column for column, _ in measures),
        tuple(rows),
        "model",
        name="arms-table",
        caption="Measures of each arm; a button in the head sorts by its column",
        is_numbered=True,
    )


def coverage_table(summary: RunSummary) -> Table:
    """The two parts of accuracy: the toolset's and the model's."""
    names = ("coverage", "selection", "accuracy")
    rates = ((arm.coverage, arm.selection_given_coverage, arm.accuracy) for arm in summary.arms)
    rows = (
        Row(arm.toolset_label, tuple(map(proportion, parts)), arm.model)
        for arm, parts in zip(summary.arms, rates, strict=True)
    )
    return Table(
        "arm",
        tuple(Column(name, has_interval=True, has_bar=True) for name in names),
        tuple(rows),
        "model",
        name="coverage-table",
        caption="Coverage, selection and accuracy of each arm",
    )


def outcomes_table(summary: RunSummary) -> Table:
    """Counts of trials by outcome, in words, the commonest first."""
    rows = []
    for arm in summary.arms:
        counts = sorted(arm.outcomes.items(), key=lambda item: -item[1])
        outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in counts)
        rows.append(Row(arm.toolset_label, (Span(outcomes or "nothing run yet"),), arm.model))
    return Table("arm", (Column("outcomes", is_text=True),), tuple(rows), "model")


def arm_names(summary: RunSummary) -> list[str]:
    """A label for each arm, in their order, that differs from all others; it has a number where two would look the
    same.
    """
    labels = arm_labels(summary)
    return [f"#{place} {label}" if labels.count(label) > 1 else label for place, label in enumerate(labels, start=1)]


def outcome_columns(arms: Sequence[ArmSummary]) -> list[Outcome]:
    """The outcomes that occur in any arm, the right ones first, unscored ones last."""
    present = [outcome for outcome in reversed(Outcome) if any(arm.outcomes.get(outcome) for arm in arms)]
    return sorted(present, key=lambda outcome: (not outcome.is_scored, not outcome.is_right_by_names))
