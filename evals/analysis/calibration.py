"""What tool definitions come to in a model's prompts, measured on a stored run (rule V8).

Taken are trials of which each request had the same list of tools, and of which the provider reported all prompt tokens;
of several requests, only if the model did not reason between them, as what it thought is sent back and not counted. All
trials with one list of tools are one measurement, so that a list that was asked often does not outweigh the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

import numpy as np

from toolbelt.errors import ToolbeltError
from toolbelt.evals.running.store import RunRow, RunStore
from toolbelt.models.facts import ModelFacts
from toolbelt.models.token_rates import AS_COUNTED, Basis, TokenRate, find_model_rate, rate_data
from toolbelt.text import plural

LEAST_REQUESTS = 20
"""With a reported number of prompt tokens: fewer show no error in nine of ten prompts."""
LEAST_LISTS = 4
"""Different lists of tools: a rate has two figures, and each half of the lists is estimated by the other."""
LEAST_SPREAD = 1.5
"""Of the longest list over the shortest: else what is fixed cannot be distinguished from what grows."""
LEAST_FACTOR = 0.1
"""Below, the server does not read the tools: the cheapest family takes 0.4 of our count."""
LEAST_ERROR = 0.01
"""No error is stated below: other tools than the measured ones differ by more."""
_SELECT = """
SELECT r.offer, r.tools, r.definition_tokens, (t.own_prompt_tokens - t.definition_tokens_total) * 1.0 / t.requests,
    CASE WHEN count(r.prompt_tokens) = t.requests THEN sum(r.prompt_tokens) * 1.0 / t.requests END, t.requests,
    max(EXISTS (SELECT 1 FROM responses AS p
        WHERE is_reused AND p.run = r.run AND p.trial = r.trial AND p.request = r.request))
FROM trials AS t JOIN arms AS a USING (run, arm) JOIN requests AS r USING (run, trial)
WHERE run = ? AND a.model = ? AND r.failure IS NULL AND r.tools > 0 AND t.own_prompt_tokens IS NOT NULL
    AND t.same_as IS NULL AND a.toolset NOT LIKE 'hosted-search%'
    AND (t.requests = 1 OR coalesce(t.reasoning_tokens, 0) = 0)
GROUP BY t.trial HAVING count(*) = t.requests AND count(DISTINCT r.offer) = 1
"""


@dataclass(frozen=True, slots=True)
class PromptErrors:
    """By what share of a prompt's reported tokens its estimate is wrong.

    Attributes:
        median: Of half of the prompts at most.
        most: Of nine in ten at most.
    """

    median: float
    most: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a run shows of the definitions in a model's prompts.

    Attributes:
        model: Its name, or its label.
        asked_as: The name by which it was asked.
        requests: That were taken.
        lists: Different lists of tools in them.
        before: The rate that holds now, on the count of this run.
        errors_before: Of it; `None` where no request could be taken.
        measured: The rate of this run, its error that of `errors_after`; `None` where it shows none.
        errors_after: Of rates that were measured on one half of the lists, on the prompts of the other.
        problem: Why there is no rate, or none that is better than the present one, in words; empty if there is.
    """

    model: str
    asked_as: str
    requests: int
    lists: int
    before: TokenRate
    errors_before: PromptErrors | None = None
    measured: TokenRate | None = None
    errors_after: PromptErrors | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Prompt:
    """That of a trial, the mean of its requests."""

    offer: str
    tools: int
    count: int
    messages: float
    reported: float
    requests: int


def calibrate_run(store: RunStore, row: RunRow, find_facts: Callable[[str], ModelFacts]) -> tuple[Calibration, ...]:
    """What a run shows of each hosted model.

    Args:
        store: With the run.
        row: The run.
        find_facts: What is known of a model now.

    Raises:
        ToolbeltError: no model of the run is asked over an API, or its answers were imported.
    """
    if row.plan.imported:
        raise ToolbeltError(f"The answers of {row.run} were imported: what its providers were sent is not known.")
    models = dict.fromkeys(arm.model for arm in row.plan.arms)
    facts = {model: find_facts(row.plan.find_asked(model)) for model in models}
    hosted = [model for model in models if find_model_rate(facts[model]) != AS_COUNTED]
    if not hosted:
        raise ToolbeltError(f"{row.run} asked no model that a provider counts for: {', '.join(models)}.")
    return tuple(_calibrate(store, row, model, facts[model]) for model in hosted)


def _calibrate(store: RunStore, row: RunRow, model: str, facts: ModelFacts) -> Calibration:
    with store.guarded():
        rows = store.connection.execute(_SELECT, (row.run, model)).fetchall()
    present, of_run = find_model_rate(facts), row.plan.token_rates.get(model)
    before = present.counted_by(row.plan.tokenizer if of_run is None else of_run.tokenizer)
    prompts = [_Prompt(*values) for *values, is_reused in rows if values[4] is not None and not is_reused]
    lists = _by_list(prompts)
    found = Calibration(model, facts.name, _count(prompts), len(lists), before)
    if present.form != ("" if of_run is None else of_run.form):
        return replace(found, problem="the run counted definitions in another form than is counted now: run it again")
    if not prompts:
        return replace(found, problem=_why_none(rows))
    found = replace(found, errors_before=_measure_errors(before, prompts))
    if problem := _find_problem(prompts, lists):
        return replace(found, problem=problem)
    whole = _fit(before, lists)
    if whole.factor < LEAST_FACTOR:
        problem = "the reported tokens hardly grow with the tools, so that the server may drop or cut them"
        return replace(found, problem=f"{problem}; see: toolbelt model probe")
    halves = lists[::2], lists[1::2]
    held_out = [_errors(_fit(before, half), _flatten(other)) for half, other in (halves, halves[::-1])]
    after = _summarize([error for errors in held_out for error in errors])
    stated = max(LEAST_ERROR, math.ceil(after.most * 100) / 100)
    measured = replace(whole, error=stated, samples=found.requests, basis=Basis.STATED)
    found = replace(found, measured=measured, errors_after=after)
    if found.errors_before is not None and after.most >= found.errors_before.most:
        return replace(found, problem="the rate that holds now misses no more: keep it")
    return found


def _by_list(prompts: Sequence[_Prompt]) -> list[list[_Prompt]]:
    """Prompts with one list of tools together, the shortest list first."""
    lists: dict[tuple[int, str], list[_Prompt]] = {}
    for prompt in prompts:
        lists.setdefault((prompt.count, prompt.offer), []).append(prompt)
    return [lists[key] for key in sorted(lists)]


def _flatten(lists: Sequence[Sequence[_Prompt]]) -> list[_Prompt]:
    return [prompt for each in lists for prompt in each]


def _why_none(rows: Sequence[Sequence[Any]]) -> str:
    if not rows:
        return "no trial is stored whose requests were all answered and had the same list of tools"
    if all(is_reused for *_, is_reused in rows):
        return f"the answers of {plural(len(rows), 'trial')} are recorded ones of an earlier run: calibrate by that run"
    return f"the provider reported all prompt tokens of none of {plural(len(rows), 'trial')}"


def _find_problem(prompts: Sequence[_Prompt], lists: Sequence[Sequence[_Prompt]]) -> str:
    shortest, longest = lists[0][0].count, lists[-1][0].count
    if (requests := _count(prompts)) < LEAST_REQUESTS:
        return f"{plural(requests, 'request')} with reported prompt tokens are too few: {LEAST_REQUESTS} are needed"
    if len(lists) < LEAST_LISTS or longest < LEAST_SPREAD * shortest:
        sizes = f"{shortest:,} tokens" if shortest == longest else f"{shortest:,} to {longest:,} tokens"
        return (
            f"the counts vary too little: {plural(len(lists), 'list')} of tools with {sizes}, where {LEAST_LISTS} of "
            f"which the longest has {LEAST_SPREAD} times the shortest are needed. Name more toolsets: 'full,loadout:*'"
        )
    if any(median(_definitions(each)) <= 0 for each in lists):
        return "fewer tokens are reported than the messages alone have, so that the server does not count the tools"
    return ""


def _count(prompts: Sequence[_Prompt]) -> int:
    return sum(prompt.requests for prompt in prompts)


def _definitions(prompts: Sequence[_Prompt]) -> list[float]:
    """Reported tokens of each prompt that are not of its messages."""
    return [prompt.reported - prompt.messages for prompt in prompts]


def _fit(family: TokenRate, lists: Sequence[Sequence[_Prompt]]) -> TokenRate:
    """The rate with the least squares of relative errors, a list of tools a measurement; never less than 0 is fixed."""
    counts = np.array([float(each[0].count) for each in lists])
    reported = np.array([median(_definitions(each)) - family.each * each[0].tools for each in lists])
    weights = 1 / np.maximum(reported, 1.0)
    columns = np.column_stack([weights, counts * weights])
    fixed, factor = np.linalg.lstsq(columns, reported * weights, rcond=None)[0]
    if fixed < 0:
        fixed, factor = 0.0, np.linalg.lstsq(columns[:, 1:], reported * weights, rcond=None)[0][0]
    return replace(family, fixed=round(float(fixed)), factor=round(float(factor), 3))


def _errors(rate: TokenRate, prompts: Sequence[_Prompt]) -> list[float]:
    """By what share the estimate of each prompt is wrong."""
    estimates = (rate.estimate(prompt.count, prompt.tools) + prompt.messages for prompt in prompts)
    return [abs(estimate / prompt.reported - 1) for estimate, prompt in zip(estimates, prompts, strict=True)]


def _measure_errors(rate: TokenRate, prompts: Sequence[_Prompt]) -> PromptErrors | None:
    known = [prompt for prompt in prompts if prompt.reported > 0]
    return _summarize(_errors(rate, known)) if known else None


def _summarize(errors: Sequence[float]) -> PromptErrors:
    return PromptErrors(*(round(float(share), 4) for share in np.quantile(errors, (0.5, 0.9))))


def calibration_data(found: Calibration) -> dict[str, Any]:
    """As plain values; `null` where there is nothing."""
    return {
        "model": found.asked_as,
        "label": None if found.model == found.asked_as else found.model,
        "requests": found.requests,
        "lists": found.lists,
        "before": rate_data(found.before),
        "errors_before": None if found.errors_before is None else asdict(found.errors_before),
        "measured": None if found.measured is None else rate_data(found.measured),
        "errors_after": None if found.errors_after is None else asdict(found.errors_after),
        "problem": found.problem or None,
    }
