"""The measures of an arm and of a run (rules E5 and E6), as values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolbelt.evals.analysis.summary.responses import ModelResponses
from toolbelt.evals.running.overflow import LeftOutArm, ModelLimits
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.toolsets.spec import is_oracle, shorten_toolset
from toolbelt.text import plural
from toolbelt.views.json_values import Amount, Count, PositiveCount, Share, described


def _tokens(meaning: str) -> Mapping[str, str]:
    return described(meaning, "tokens per trial")


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its counts."""

    value: Share | None = field(
        init=False, metadata=described("numerator / denominator, a fraction; null where nothing was counted")
    )
    numerator: Count = field(default=0, metadata=described("how many did: trials or calls"))
    denominator: Count = field(default=0, metadata=described("of how many"))
    low: Share | None = field(
        default=None,
        metadata=described("lower bound of the 95% interval, a fraction; null where there is none"),
    )
    high: Share | None = field(
        default=None,
        metadata=described("upper bound of the 95% interval, a fraction; null where there is none"),
    )

    def __post_init__(self) -> None:
        value = self.numerator / self.denominator if self.denominator else None
        object.__setattr__(self, "value", value)


@dataclass(frozen=True, slots=True)
class PassAtK:
    """How k trials of a case fare together (rule E7): pass@k and pass^k."""

    k: PositiveCount = field(metadata=described("trials of a case"))
    at_least_once: Share | None = field(
        metadata=described(
            "chance that at least one of k trials of a case is right by names; null where no case has as many scored "
            "epochs",
            "share",
        )
    )
    each_time: Share | None = field(
        metadata=described("chance that each of k trials of a case is right by names; null as for the former", "share")
    )
    cases: Count = field(metadata=described("cases with k scored epochs or more, which the two are over"))
    left_out: Count = field(metadata=described("cases with fewer, also for not being run yet"))


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """One model × one toolset. Means are over the scored trials; null is what was not measured, which is not zero.

    Its fields are the one table of an arm's measures: JSON, its schema and the columns of arms (`views.columns`) derive
    names, order, types, units and meanings from them. A mean is `None`, too, where the figure of any scored trial is
    unknown: a mean over those alone for which it was reported would say nothing of the arm. An uncovered trial in
    which the model refused, or was still browsing at the limit, did not decide, and so is not in
    `abstained_uncovered`. What a provider's cache could serve within the trials is
    `repeated_tokens - invalidated_tokens`.
    """

    model: str = field(metadata=described("name of the model"))
    toolset: str = field(metadata=described("name of the toolset"))
    variant: str = field(default="", metadata=described("what is changed about the toolset; empty if nothing"))
    asked_as: str = field(
        default="", metadata=described("the name by which the model is asked, where `model` is its label; empty if not")
    )
    planned: Count = field(default=0, metadata=described("planned", "trials"))
    finished: Count = field(
        default=0, metadata=described("with an outcome, error and context_overflow among them", "trials")
    )
    scored: Count = field(
        default=0, metadata=described("that say something about the choice: the others are in no rate", "trials")
    )
    accuracy: Rate = field(default=Rate(), metadata=described("right by names, of those scored", "share of trials"))
    right_of_asked: Rate = field(
        default=Rate(),
        metadata=described(
            "right by names, of those scored and those too long for the model, which count as not right: what arms are "
            "ranked by",
            "share of trials",
        ),
    )
    solved: Rate = field(
        default=Rate(), metadata=described("right by names and arguments, of those scored", "share of trials")
    )
    coverage: Rate = field(
        default=Rate(),
        metadata=described("a complete accepted answer could be reached, of those scored", "share of trials"),
    )
    surfaced: Rate = field(
        default=Rate(), metadata=described("it was really offered at some request, of those scored", "share of trials")
    )
    mean_rank: Amount | None = field(
        default=None,
        metadata=described(
            "at which searches found the tools of a right answer, of several the last; mean of those scored that found "
            "them, surfaced or not; nothing without a search",
            "place",
        ),
    )
    selection_given_coverage: Rate = field(
        default=Rate(), metadata=described("right by names, of those covered", "share of trials")
    )
    abstention: Rate = field(
        default=Rate(), metadata=described("right by names, of those where no call is expected", "share of trials")
    )
    hallucination: Rate = field(
        default=Rate(),
        metadata=described("a tool was called that is in no catalog, of those scored", "share of trials"),
    )
    truncated: Rate = field(
        default=Rate(),
        metadata=described(
            "the token limit cut the answer before its calls were complete, of those scored", "share of trials"
        ),
    )
    abstained_uncovered: Rate = field(
        default=Rate(),
        metadata=described(
            "nothing was called, of those not covered that were not refused, given up or cut", "share of trials"
        ),
    )
    argument_correctness: Rate = field(
        default=Rate(), metadata=described("arguments are right, of the calls checked", "share of calls")
    )
    precision: Rate = field(default=Rate(), metadata=described("asked for, of the calls made", "share of calls"))
    recall: Rate = field(default=Rate(), metadata=described("made, of the calls asked for", "share of calls"))
    f1: Share | None = field(default=None, metadata=described("harmonic mean of precision and recall", "share"))
    definition_tokens: Amount | None = field(
        default=None, metadata=_tokens("tool definitions at the first request, estimated; mean of those scored")
    )
    definition_tokens_total: Amount | None = field(default=None, metadata=_tokens("over all requests, estimated; mean"))
    token_error: Share | None = field(default=None, metadata=described("by which these may be wrong", "share"))
    prompt_tokens: Amount | None = field(
        default=None,
        metadata=_tokens(
            "prompts over all requests, as reported; estimated where prompt_tokens_reported is false; mean"
        ),
    )
    prompt_tokens_reported: bool = field(
        default=False, metadata=described("whether the provider reported them for every scored trial")
    )
    prompt_tokens_trials: Count = field(default=0, metadata=described("scored, for which it did", "trials"))
    own_prompt_tokens: Amount | None = field(
        default=None, metadata=_tokens("prompts over all requests, estimated; mean")
    )
    completion_tokens: Amount | None = field(default=None, metadata=_tokens("answers, as reported; mean"))
    reasoning_tokens: Amount | None = field(
        default=None, metadata=_tokens("of the answers, spent on reasoning, as reported; mean")
    )
    cached_read_tokens: Amount | None = field(
        default=None, metadata=_tokens("of the prompts, read from the provider's cache, as reported; mean")
    )
    cached_write_tokens: Amount | None = field(
        default=None, metadata=_tokens("of the prompts, written to the provider's cache, as reported; mean")
    )
    invalidated_tokens: Amount | None = field(
        default=None,
        metadata=_tokens("of the prompts' prefix, made uncacheable by changes of the tool list, estimated; mean"),
    )
    repeated_tokens: Amount | None = field(
        default=None,
        metadata=_tokens("prompts of all requests but the last, which the next ones begin with, estimated; mean"),
    )
    requests: Amount | None = field(
        default=None, metadata=described("retries not among them; mean", "requests per trial")
    )
    retries: Count = field(default=0, metadata=described("asked again, in all", "requests"))
    cost_usd: Amount | None = field(
        default=None,
        metadata=described("mean of those scored; nothing where a price is unknown", "US dollars per trial"),
    )
    cost_usd_total: Amount | None = field(
        default=None, metadata=described("of all finished trials, unscored ones and retries included", "US dollars")
    )
    shared: Count = field(
        default=0,
        metadata=described("whose requests another arm sent as well, and that have its answers: asked once", "trials"),
    )
    shared_cost_usd: Amount | None = field(
        default=None,
        metadata=described(
            "of cost_usd_total, what the run did not spend as it asked once; nothing where a price is unknown",
            "US dollars",
        ),
    )
    latency_seconds: Amount | None = field(default=None, metadata=described("median", "seconds per request"))
    latency_p95_seconds: Amount | None = field(
        default=None, metadata=described("95th percentile", "seconds per request")
    )
    outcomes: Mapping[Outcome, PositiveCount] = field(
        default_factory=dict, metadata=described("trials by outcome; those at 0 are left out")
    )
    tools_offered: Amount | None = field(
        default=None, metadata=described("at the first request, where that was answered; mean", "tools per trial")
    )
    first_offers: Count | None = field(
        default=None, metadata=described("different lists of tools offered at first requests", "lists")
    )
    first_offer: str | None = field(default=None, metadata=described("digest of that list, where there is just one"))
    serving_digest: str | None = field(
        default=None,
        metadata=described(
            "digest of the list that `toolbelt serve` offers with this loadout; nothing without servers"
        ),
    )
    offered_tokens: Amount | None = field(
        default=None,
        metadata=_tokens(
            "tool definitions at the first request, estimated; mean of all finished, unscored ones included"
        ),
    )
    distractors_reached: Count | None = field(
        default=None,
        metadata=described("that show the N distractors of oracle+N; nothing for other toolsets", "cases"),
    )
    turned_away: Count = field(
        default=0, metadata=described("not asked, as what they began with could not fit", "trials")
    )
    too_many_tools: Count = field(
        default=0,
        metadata=described("of these, as the request would have held more tools than the model takes", "trials"),
    )
    overflow_reason: str = field(
        default="",
        metadata=described("why trials were too long for the model: the commonest reason; empty if none was"),
    )
    error_reason: str = field(
        default="", metadata=described("why trials failed: the commonest reason; empty if none did")
    )
    tokenizer: str = field(default="", metadata=described("what tokens are estimated by"))
    passing: tuple[PassAtK, ...] = field(
        default=(), metadata=described("by k; empty where each case was asked once", key="pass")
    )

    def __post_init__(self) -> None:
        if not self.too_long:
            object.__setattr__(self, "right_of_asked", self.accuracy)

    @property
    def too_long(self) -> int:
        """Trials that did not fit the model."""
        return self.outcomes.get(Outcome.CONTEXT_OVERFLOW, 0)

    @property
    def share_too_long(self) -> float:
        """Of the trials planned, those that were too long."""
        return self.too_long / max(1, self.planned)

    @property
    def known_right(self) -> float:
        """Of the trials planned, those that are right: what did not fit, failed or is still to come is not."""
        return self.right_of_asked.numerator / max(1, self.planned)

    @property
    def is_for_orientation(self) -> bool:
        """Whether nobody can use it: a variant is an experiment, an oracle knows the answer."""
        return bool(self.variant) or is_oracle(self.toolset)

    @property
    def label(self) -> str:
        """What distinguishes it from the other arms."""
        return " · ".join(part for part in (self.model, self.toolset_label) if part)

    @property
    def toolset_label(self) -> str:
        """What distinguishes it from the other arms of its model."""
        return " · ".join(part for part in (shorten_toolset(self.toolset), self.variant) if part)


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
        epochs: How often each case is asked, at most.
        arm_epochs: How often by each arm; empty where by all equally often.
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
        model_facts: By model, what is known of its name, see `Plan.model_facts`.
        left_out: Pairs of a model and a toolset of the suite that there was nothing to ask for.
        responses: Of each model that is asked over a response cache, which answers were recorded and which asked.
        encoded_twice: Answers with arguments that were encoded twice, and were read.
        impossible: Answers whose reported tokens cannot be, and count as not reported.
        dropped: Answers of models that were not shown all parts of their own earlier turns.
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
    arm_epochs: tuple[int, ...] = ()
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
    model_facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    left_out: tuple[LeftOutArm, ...] = ()
    responses: tuple[ModelResponses, ...] = ()
    encoded_twice: int = 0
    impossible: int = 0
    dropped: int = 0

    def __repr__(self) -> str:
        return f"<RunSummary of {self.run} of {self.dataset}: {self.status}, {self.outline}>"

    @property
    def spent_usd(self) -> float | None:
        """What the run cost, as far as known: what arms share counts once. `None` where no arm's cost is known."""
        costs = [
            arm.cost_usd_total - (arm.shared_cost_usd or 0.0) for arm in self.arms if arm.cost_usd_total is not None
        ]
        return sum(costs) if costs else None

    @property
    def outline(self) -> str:
        """Trials that have finished and the accuracy of the first arms, on one line."""
        arms = ", ".join(f"{arm.label} {_percent(arm.accuracy.value)}" for arm in self.arms[:6])
        more = f", … {len(self.arms) - 6} more" if len(self.arms) > 6 else ""
        trials = f"{sum(arm.finished for arm in self.arms):,} of {plural(self.planned, 'trial')}"
        return f"{trials}; accuracy: {arms}{more}"


def rank_key(arm: ArmSummary) -> tuple[float, float, float, float]:
    """The order of arms wherever one is called better than another, the best first (rule V1).

    By what is known to be right of all planned; of equals, the one that more fits; then that of which fewer trials
    failed; then that with fewer prompt tokens. So none stands before one that is as good where both were asked.
    """
    tokens = math.inf if arm.prompt_tokens is None else arm.prompt_tokens
    return -arm.known_right, arm.share_too_long, -arm.scored / max(1, arm.planned), tokens


def is_outdone(arm: ArmSummary, others: Sequence[ArmSummary]) -> bool:
    """Whether another arm was asked more and is known to be right at least as often."""
    return any(other.share_too_long < arm.share_too_long and other.known_right >= arm.known_right for other in others)


def asked_most(arms: Sequence[ArmSummary]) -> list[ArmSummary]:
    """The scored arms of which the fewest trials were too long: those whose tokens, costs and latencies may be ranked.

    What did not fit has no cost, and what does fit is short: an arm that was asked less looks cheaper than it is.
    """
    scored = [arm for arm in arms if arm.scored]
    least = min((arm.share_too_long for arm in scored), default=0.0)
    return [arm for arm in scored if arm.share_too_long == least]


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"
