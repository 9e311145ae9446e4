"""How the estimate of a run is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from toolbelt.evals.execution import describe_shard
from toolbelt.evals.running.plan import Arm, Plan
from toolbelt.evals.running.records import plus_cost
from toolbelt.evals.running.rounds import Decision
from toolbelt.evals.setup.estimate import ArmEstimate
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Note
from toolbelt.views.cells import Count, Span, Tokens, Tone
from toolbelt.views.table import Column, Row, Table

_OTHERWISE = "What is known of a model can be corrected under `models` in toolbelt.yaml; --ask-anyway sends it anyway."


def estimate_data(plan: Plan, arms: Sequence[ArmEstimate]) -> dict[str, Any]:
    """Plain values, for JSON; where the run may stop early, at one of `looks`, all figures are the most it takes.

    Arms are as if each were asked alone; the sums are without what they share, which is asked once.
    """
    return {
        "dry_run": True,
        "dataset": {"name": plan.dataset_name, "digest": plan.digest},
        "excluded": dict(plan.excluded),
        "suite": plan.suite or None,
        "model_facts": {model: dict(known) for model, known in plan.model_facts.items()},
        "left_out": [asdict(pair) for pair in plan.left_out],
        "planned": plan.size,
        "shard": None if plan.shard is None else str(plan.shard),
        "looks": None if plan.decision is None else [{"cases": each.cases} for each in plan.decision.rounds],
        **{
            key: sum(getattr(arm, key) - getattr(arm.shared, key) for arm in arms)
            for key in ("requests", "prompt_tokens", "completion_tokens")
        },
        "cost_usd": total_cost(arms),
        "arms": [asdict(arm) for arm in arms],
    }


def estimate_view(plan: Plan, arms: Sequence[ArmEstimate]) -> tuple[Block, ...]:
    """A table, and a total below it."""
    columns = (
        Column("toolset", is_text=True),
        Column("trials", is_spare=True),
        Column("requests"),
        Column("prompt tokens", short="prompt\ntokens"),
        Column("definition tokens", short="definition\ntokens", is_spare=True),
        Column("answer tokens", short="answer\ntokens", is_spare=True),
        Column("cost"),
    )
    rows = (
        Row(
            arm.model,
            (
                Span(Arm(arm.model, arm.toolset, arm.variant).shown),
                Count(arm.trials),
                Count(arm.requests),
                Tokens(arm.prompt_tokens, is_estimate=True),
                Tokens(arm.definition_tokens, is_estimate=arm.token_error > 0),
                Tokens(arm.completion_tokens, is_estimate=True),
                Span(format_estimate(arm.cost_usd)),
            ),
        )
        for arm in arms
    )
    requests = sum(arm.requests - arm.shared.requests for arm in arms)
    total = ("" if plan.decision is None else "at most ") + (
        f"{plural(plan.size, 'trial')}, about {plural(requests, 'request')} and "
        f"{sum(arm.prompt_tokens - arm.shared.prompt_tokens for arm in arms):,} prompt tokens: "
        f"{format_estimate(total_cost(arms))}"
    )
    unasked = [Note(line) for line in _not_asked(arms)]
    how = "Estimated by running a sample with local/bm25 in place of the models; no model was called."
    return (
        Table("model", columns, tuple(rows)),
        Note(total, Tone.STRONG),
        *map(Note, _describe_shared(arms)),
        *([] if plan.shard is None else [Note(f"{describe_shard(plan)}.")]),
        *([] if plan.decision is None else [Note(_describe_looks(plan.decision, plan.cases))]),
        *unasked,
        *([Note(_OTHERWISE)] if unasked else []),
        *map(Note, _describe_unsure(arms)),
        Note(how, Tone.FAINT),
    )


def _describe_looks(decision: Decision, cases: int) -> str:
    """After how many cases the run may stop."""
    *others, last = (f"{each.cases:,}" for each in decision.rounds)
    looks = f"{', '.join(others)} or {last}" if others else last
    return f"The run stops at the first look that decides it, after {looks} of {plural(cases, 'case')}."


def _not_asked(arms: Sequence[ArmEstimate]) -> Iterator[str]:
    """Which trials would end before the first request, a model a line."""
    for model, of_model in groupby(arms, key=lambda arm: arm.model):
        unasked = [arm for arm in of_model if arm.not_asked]
        if unasked:
            trials = (
                f"{sum(arm.not_asked for arm in unasked):,} of {plural(sum(arm.trials for arm in unasked), 'trial')}"
            )
            names = [Arm(arm.model, arm.toolset, arm.variant).shown for arm in unasked]
            which = f"Of {names[0]}: " if len(names) > 1 else ""
            yield f"Not asked of {model}: {trials} with {', '.join(names)}. {which}{unasked[0].reason}"


def _describe_unsure(arms: Sequence[ArmEstimate]) -> Iterator[str]:
    """By how much tokens may be wrong, and what is not among them."""
    errors: dict[float, list[str]] = {}
    for model, error in {arm.model: arm.token_error for arm in arms}.items():
        errors.setdefault(error, []).append(model)
    errors.pop(0.0, None)
    if shares := ", ".join(f"{error:.0%} ({', '.join(models)})" for error, models in sorted(errors.items())):
        yield (
            f"Tokens of definitions may be wrong by {shares}. To measure what they come to, after a run: "
            "toolbelt model calibrate"
        )
    if reasoning := list(dict.fromkeys(arm.model for arm in arms if arm.reasons)):
        yield f"Not included: what {', '.join(reasoning)} may reason before an answer, which is billed as answers are."


def _describe_shared(arms: Sequence[ArmEstimate]) -> Iterator[str]:
    """What is saved as arms with the same requests are asked once."""
    if trials := sum(arm.shared.trials for arm in arms):
        names = [Arm(arm.model, arm.toolset, arm.variant).label for arm in arms if arm.shared.trials]
        requests = plural(sum(arm.shared.requests for arm in arms), "request")
        cost = _add_costs(arm.shared.cost_usd for arm in arms)
        saved = requests if not cost else f"{requests} and {format_estimate(cost)}"
        yield (
            f"Asked once: {plural(trials, 'trial')} of {', '.join(names)} have the same requests as those of an arm "
            f"before them, and will have its answers. That saves {saved}, which the total leaves out."
        )


def total_cost(arms: Sequence[ArmEstimate]) -> float | None:
    """USD, without what arms share; `None` where the price of any arm is unknown."""
    cost, shared = _add_costs(arm.cost_usd for arm in arms), _add_costs(arm.shared.cost_usd for arm in arms)
    return None if cost is None or shared is None else cost - shared


def _add_costs(costs: Iterable[float | None]) -> float | None:
    total: float | None = 0.0
    for cost in costs:
        total = plus_cost(total, cost)
    return total


def format_estimate(cost_usd: float | None) -> str:
    """Dollars, as precise as they are small."""
    if cost_usd is None:
        return "price unknown"
    return "$0" if cost_usd == 0 else f"${cost_usd:,.2f}" if cost_usd >= 1 else f"${cost_usd:.4f}"
