"""The measures of an arm and of a run (rules E5 and E6), as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolbelt.evals.running.limits import LeftOut, ModelLimits


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with what it is of.

    Attributes:
        numerator: How many did; a count of trials or calls.
        denominator: Of how many.
        low: Lower bound of the 95% interval, a fraction; `None` where there is nothing.
        high: Upper bound.
    """

    numerator: int = 0
    denominator: int = 0
    low: float | None = None
    high: float | None = None

    @property
    def value(self) -> float | None:
        """A fraction; `None` where nothing was counted, which is neither 0 nor 1."""
        return self.numerator / self.denominator if self.denominator else None

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "value": self.value,
            "numerator": self.numerator,
            "denominator": self.denominator,
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """One model × one toolset.

    Means are over scored trials; `None` where there are none, or where the figure of any of them is not known: a mean
    over those alone for which it was reported would say nothing of the arm.

    Attributes:
        model: Its name.
        toolset: Its name.
        variant: What is changed about the toolset; empty if nothing.
        planned: Trials planned.
        finished: Trials with an outcome, `error` and `context_overflow` among them.
        scored: Trials that say something about the choice.
        accuracy: Right by names, of those scored.
        solved: Outcome `correct`, of those scored.
        coverage: A complete accepted answer could be reached, of those scored.
        surfaced: It was really offered at some request, of those scored.
        selection_given_coverage: Right by names, of those covered.
        abstention: Right by names, of the cases where nothing needed to be called (`[]`).
        hallucination: Outcome `hallucinated_tool`, of those scored.
        abstained_uncovered: Called nothing, of those not covered that were neither refused nor given up: a model that
            refused, or was still browsing at the limit, did not decide.
        argument_correctness: Right arguments, of the calls checked.
        precision: Calls asked for, of calls made.
        recall: Calls asked for and made, of calls asked for.
        f1: Harmonic mean of the two, a fraction.
        definition_tokens: Tool definitions at the first request, own count; mean.
        definition_tokens_total: Over all requests; mean.
        prompt_tokens: As reported, over all requests; mean. Own count where `prompt_tokens_reported` is false.
        prompt_tokens_reported: Whether the provider reported them, for every scored trial.
        prompt_tokens_trials: Scored trials for which it did.
        own_prompt_tokens: Of all requests, own count; mean.
        completion_tokens: As reported; mean.
        cached_read_tokens: As reported; mean.
        cached_write_tokens: As reported; mean.
        invalidated_tokens: Prompt tokens of the prefix that changes of the tool list made uncacheable, own count, over
            all requests; mean.
        repeated_tokens: Prompt tokens of all requests but the last, which the next ones begin with, own count; mean.
            What a provider's cache could serve within the trials is `repeated_tokens - invalidated_tokens`.
        requests: Mean number, retries not counted.
        retries: Requests asked again, in all.
        cost_usd: Mean; `None` where a price is unknown.
        cost_usd_total: Of all finished trials, unscored ones and retries included.
        latency_seconds: Median over requests.
        latency_p95_seconds: 95th percentile.
        outcomes: Trials by outcome, in the order of `Outcome`, those at 0 left out.
        tools_offered: Tools at the first request, over the trials where that was answered; mean.
        first_offers: How many different lists of tools were offered at the first requests of finished trials; `None`
            where there are none.
        first_offer: Digest of the list of tools at the first request, where it was the same in all finished trials that
            made one; else `None`.
        offered_tokens: Tool definitions at the first request, own count; mean over finished trials, those among them
            that were not scored or, as they could not fit, not asked.
        turned_away: Trials that were not asked, as what they began with could not fit.
        overflow_reason: Why trials were too long for the model: the commonest reason; empty where none was.
        error_reason: Why trials failed, likewise.
        tokenizer: What the own counts are by.
        pass_at: By k, the chance that at least one of k trials of a case is right by names (pass@k), a fraction; `None`
            where no case has as many scored epochs. For k in 1, 2, 4, … and the number of epochs; empty where each case
            is asked once.
        pass_all: By k, the chance that each of them is (pass^k), likewise.
        pass_cases: By k, the cases that the two are over: those with k scored epochs or more.
    """

    model: str
    toolset: str
    variant: str = ""
    planned: int = 0
    finished: int = 0
    scored: int = 0
    accuracy: Rate = Rate()
    solved: Rate = Rate()
    coverage: Rate = Rate()
    surfaced: Rate = Rate()
    selection_given_coverage: Rate = Rate()
    abstention: Rate = Rate()
    hallucination: Rate = Rate()
    abstained_uncovered: Rate = Rate()
    argument_correctness: Rate = Rate()
    precision: Rate = Rate()
    recall: Rate = Rate()
    f1: float | None = None
    definition_tokens: float | None = None
    definition_tokens_total: float | None = None
    prompt_tokens: float | None = None
    prompt_tokens_reported: bool = False
    prompt_tokens_trials: int = 0
    own_prompt_tokens: float | None = None
    completion_tokens: float | None = None
    cached_read_tokens: float | None = None
    cached_write_tokens: float | None = None
    invalidated_tokens: float | None = None
    repeated_tokens: float | None = None
    requests: float | None = None
    retries: int = 0
    cost_usd: float | None = None
    cost_usd_total: float | None = None
    latency_seconds: float | None = None
    latency_p95_seconds: float | None = None
    outcomes: Mapping[str, int] = field(default_factory=dict)
    tools_offered: float | None = None
    first_offers: int | None = None
    first_offer: str | None = None
    offered_tokens: float | None = None
    turned_away: int = 0
    overflow_reason: str = ""
    error_reason: str = ""
    tokenizer: str = ""
    pass_at: Mapping[int, float | None] = field(default_factory=dict)
    pass_all: Mapping[int, float | None] = field(default_factory=dict)
    pass_cases: Mapping[int, int] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What distinguishes it from the other arms."""
        return " · ".join(part for part in (self.model, self.toolset_label) if part)

    @property
    def toolset_label(self) -> str:
        """What distinguishes it from the other arms of its model."""
        return " · ".join(part for part in (self.toolset, self.variant) if part)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run.

    Attributes:
        run: Its id.
        created: When it began, ISO 8601 in UTC.
        status: `running`, `finished`, `incomplete` or `interrupted`; `killed` where it was left running and
            nobody works on it.
        reason: Why it is incomplete, in words; empty if it is not.
        dataset: Name of the dataset.
        digest: Of its cases and grading.
        catalog: Name of the catalog.
        cases: Cases each arm is asked.
        excluded: Cases left out of the dataset, by reason.
        epochs: How often each case is asked.
        seed: Of everything that is drawn.
        tokenizers: What counted the definitions, by model.
        planned: Trials of all arms.
        scored: Those that say something.
        errors: Those with outcome `error`.
        arms: One a model and toolset, in the order asked for.
        settings: The rest of what was asked for, plain values.
        surroundings: Digest of the catalog, the loadouts and what else the toolsets go by.
        chosen: Digest of which cases were asked, in which order.
        code: What the run was begun with: `toolbelt`, its version; in a git repository also `commit` and `changed`,
            `yes` or `no`.
        suite: Of which suite its toolsets are; empty if they were named one by one.
        rooms: What each model had room for, by its name, as known when the run began.
        left_out: Pairs of a model and a toolset of the suite that there was nothing to ask for.
    """

    run: str
    created: str
    status: str
    dataset: str
    digest: str
    catalog: str = ""
    reason: str = ""
    cases: int = 0
    excluded: Mapping[str, int] = field(default_factory=dict)
    epochs: int = 1
    seed: int = 0
    tokenizers: Mapping[str, str] = field(default_factory=dict)
    planned: int = 0
    scored: int = 0
    errors: int = 0
    arms: tuple[ArmSummary, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    surroundings: str = ""
    chosen: str = ""
    code: Mapping[str, str] = field(default_factory=dict)
    suite: str = ""
    rooms: Mapping[str, ModelLimits] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()
