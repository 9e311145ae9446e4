"""The result of a run as JSON: which toolset to take, against which, how sure, and the sentence that says so."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolbelt.evals.analysis.result import RunResult, TradeOff
from toolbelt.evals.analysis.summary.run_summary import ArmSummary
from toolbelt.evals.views.result_text import result_sentence, result_title
from toolbelt.views.json_values import Amount, Count, PositiveCount, Share, described


@dataclass(frozen=True, slots=True)
class ResultArm:
    """An arm that a result names; its other measures are in `arms`."""

    model: str = field(metadata=described("name of the model"))
    toolset: str = field(metadata=described("name of the toolset"))
    variant: str = field(metadata=described("what is changed about the toolset; empty if nothing"))
    accuracy: Share | None = field(
        metadata=described("right by names, of the trials scored; null where none was", "share of trials")
    )
    right_of_asked: Share | None = field(
        metadata=described(
            "right by names, of those too long for the model, too, which count as not right; null where none was asked",
            "share of trials",
        )
    )
    prompt_tokens: Amount | None = field(
        metadata=described("of whole prompts over all requests, a trial; null where not known", "tokens")
    )
    cost_usd: Amount | None = field(metadata=described("a trial; null where a price is not known", "US dollars"))


@dataclass(frozen=True, slots=True)
class ArmFinding:
    """What may be said of another arm that could be used."""

    arm: Count = field(metadata=described("its position in `arms`, from 0"))
    finding: TradeOff = field(
        metadata=described("against the arm that it is compared with, as in `finding` of the result")
    )


@dataclass(frozen=True, slots=True)
class ResultData:
    """What a run comes to: of several models, for the one that is right most often of all asked."""

    title: str = field(metadata=described("the result as a title"))
    sentence: str = field(metadata=described("the result in one or two sentences"))
    model: str = field(metadata=described("its name; the reference's, of an arm compared with another model's"))
    is_word_matching: bool = field(
        metadata=described("whether the model is the word-matching baseline, which is not an LLM")
    )
    is_complete: bool = field(metadata=described("whether the run has finished"))
    cases: Count = field(metadata=described("cases that each arm is asked"))
    epochs: PositiveCount = field(metadata=described("how often each is asked"))
    margin: Share = field(metadata=described("accuracy that may be lost, a fraction"))
    recommended: ResultArm | None = field(
        metadata=described(
            "the arm to take: the smallest of the model that is surely not worse than its best by more than the "
            "margin, else the best; null where there is nothing to go by"
        )
    )
    reference: ResultArm | None = field(
        metadata=described(
            "the arm that the recommended one is held against: the best of its model where that is another, else the "
            "one that the others are compared with; null where nothing was scored"
        )
    )
    is_sure: bool = field(metadata=described("whether the recommended arm is surely good enough"))
    finding: TradeOff | None = field(
        metadata=described("of the recommended arm against the reference; null where they are the same")
    )
    difference: float | None = field(
        metadata=described(
            "of what is right of all asked, the recommended arm less the reference; null where they are the same"
        )
    )
    low: float | None = field(metadata=described("lower bound of its interval, a fraction; null where there is none"))
    high: float | None = field(metadata=described("upper bound of its interval, a fraction; null where there is none"))
    compared_cases: Count | None = field(
        metadata=described("cases that the difference is over; null where they are the same")
    )
    tokens_saved: float | None = field(
        metadata=described(
            "prompt tokens that the recommended arm does without, below 0 where it takes more; null where not known",
            "share of the reference's",
        )
    )
    cost_saved_usd: float | None = field(
        metadata=described("what a trial costs less; null where not known", "US dollars")
    )
    others: tuple[ArmFinding, ...] = field(metadata=described("the other arms that a model could be given"))
    cases_wanted: PositiveCount | None = field(
        metadata=described(
            "cases that would settle what is open about the recommended arm; null if nothing is, or no number would"
        )
    )


def describe_result(result: RunResult) -> ResultData:
    """The result with its title and its sentence; `to_json` makes the value of `result` in a run's JSON of it."""
    contrast = result.contrast
    return ResultData(
        title=result_title(result),
        sentence=result_sentence(result),
        model=result.model,
        is_word_matching=result.is_word_matching,
        is_complete=result.is_complete,
        cases=result.cases,
        epochs=result.epochs,
        margin=result.margin,
        recommended=_arm(result.recommended),
        reference=_arm(result.reference),
        is_sure=result.is_sure,
        finding=result.trade_off,
        difference=None if contrast is None else contrast.difference,
        low=None if contrast is None else contrast.low,
        high=None if contrast is None else contrast.high,
        compared_cases=None if contrast is None else contrast.cases,
        tokens_saved=result.tokens_saved,
        cost_saved_usd=result.cost_saved_usd,
        others=tuple(ArmFinding(place, trade_off) for place, trade_off in result.others),
        cases_wanted=result.cases_wanted,
    )


def _arm(arm: ArmSummary | None) -> ResultArm | None:
    if arm is None:
        return None
    right = arm.right_of_asked.value
    return ResultArm(arm.model, arm.toolset, arm.variant, arm.accuracy.value, right, arm.prompt_tokens, arm.cost_usd)
