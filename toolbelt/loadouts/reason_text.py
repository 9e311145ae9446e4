"""Why a toolset fits a model, and why `auto` chose what it did, in words."""

from __future__ import annotations

from typing import assert_never

from toolbelt.loadouts.auto import (
    MAX_SHARE,
    AutoChoice,
    Recommendation,
    RecommendationOutcome,
    StepVerdict,
    TriedLoadout,
)
from toolbelt.loadouts.fit import DEGRADED_SHARE, Component, FitReason, FitVerdict, ModelFit
from toolbelt.loadouts.loadout import WHOLE_CATALOG


def describe_fit(fit: ModelFit) -> tuple[str, ...]:
    """A sentence for each reason, in their order."""
    return tuple(describe_fit_reason(fit, reason) for reason in fit.reasons)


def describe_fit_reason(fit: ModelFit, reason: FitReason) -> str:
    """One reason of a fit, as a sentence."""
    match reason:
        case FitReason.NO_TOOL_CALLING:
            return "It does not call tools."
        case FitReason.TOO_MANY_TOOLS:
            return f"A request may hold {fit.max_tools:,} tools; these are {fit.tools:,}, {fit.surplus:,} too many."
        case FitReason.UNKNOWN_WINDOW:
            return "Its context window is unknown."
        case FitReason.NO_ROOM:
            reserve = f" and {fit.output_reserve:,} kept for the answer" if fit.output_reserve else ""
            return (
                f"Definitions of {fit.tokens:,} tokens{reserve} leave no room in a window of {fit.context_window:,}; "
                f"the largest part: the {_describe_largest(fit)}."
            )
        case FitReason.CROWDED:
            return (
                f"Definitions take {fit.fraction:.0%} of the window, over {DEGRADED_SHARE:.0%}; "
                f"the largest part: the {_describe_largest(fit)}."
            )
        case FitReason.UNKNOWN_TOOL_CALLING:
            return "Whether it calls tools is unknown."
        case FitReason.BROKEN_RULES:
            several = fit.to_mend > 1
            return (
                f"{fit.to_mend:,} tool{'s' if several else ''} break{'' if several else 's'} a rule of {fit.api}: "
                "send the mended form (`toolbelt model fit --fix`), unless the client rewrites them."
            )
        case _:
            assert_never(reason)


def _describe_largest(fit: ModelFit) -> str:
    words = fit.largest.value.replace("_", " ")
    if fit.largest is Component.OUTPUT_RESERVE or not fit.by_plugin:
        return words
    name, tokens = fit.by_plugin[0]
    return f"{words}, of which {name!r} takes {tokens:,}"


def describe_choice(choice: AutoChoice) -> tuple[str, ...]:
    """How `auto` chose, sentence by sentence: the recommended toolset first, then the steps down the ladder."""
    recommended = () if choice.recommendation is None else _describe_recommendation(choice.recommendation)
    return (*recommended, *map(_describe_step, choice.steps))


def describe_unmet_recommendation(choice: AutoChoice) -> str:
    """Why the recommended toolset was not chosen; empty if it was, or if none is recommended."""
    unmet = choice.unmet_recommendation
    return "" if unmet is None else _describe_recommendation(unmet)[0]


def _describe_recommendation(recommendation: Recommendation) -> tuple[str, ...]:
    name = _describe_name(recommendation.name)
    source = f"{name}: toolbelt.yaml gives it to this model"
    match recommendation.outcome:
        case RecommendationOutcome.TAKEN:
            return (f"{source}.", *(() if recommendation.fit is None else (_describe_taken(name, recommendation.fit),)))
        case RecommendationOutcome.NOT_A_LOADOUT:
            return (f"toolbelt.yaml gives this model {name!r}, which is no loadout: the ladder decides.",)
        case RecommendationOutcome.MATCHES_NOTHING:
            return (f"{source}, but it matches nothing of this catalog.",)
        case RecommendationOutcome.DOES_NOT_FIT:
            why = () if recommendation.fit is None else describe_fit(recommendation.fit)[:1]
            return (" ".join((f"{source}, but it cannot be.", *why)),)
        case _ as never:
            assert_never(never)


def _describe_taken(name: str, fit: ModelFit) -> str:
    if fit.context_window is None or fit.fraction is None:
        return f"{name} takes {fit.tokens:,} tokens; the context window is unknown, and so is whether it fits."
    share = f"{name} takes {fit.tokens:,} of {fit.context_window:,} tokens ({fit.fraction:.0%})"
    return f"{share}: it fits, with little room." if fit.verdict is FitVerdict.FITS_DEGRADED else f"{share}: it fits."


def _describe_step(step: TriedLoadout) -> str:
    name = _describe_name(step.loadout)
    match step.verdict:
        case StepVerdict.NO_TOOL_CALLING:
            return "It does not call tools, so none are chosen."
        case StepVerdict.UNKNOWN_WINDOW:
            return "The context window is unknown, so nothing can be chosen by it."
        case StepVerdict.NO_LOADOUT:
            return f"{name}: no loadout of that name."
        case StepVerdict.FOR_LARGER_WINDOWS:
            return f"{name} is for windows from {step.limit:,}; this one is {step.window:,}."
        case StepVerdict.MATCHES_NOTHING:
            return f"{name} matches nothing of this catalog."
        case StepVerdict.FITS:
            return f"{_describe_share(name, step)}: it fits."
        case StepVerdict.OVER_SHARE:
            return f"{_describe_share(name, step)}: too much."
        case StepVerdict.NO_ROOM_FOR_ANSWER:
            return f"{_describe_share(name, step)}, and {step.limit:,} are kept for the answer: too much."
        case StepVerdict.TOO_MANY_TOOLS:
            return f"{_describe_share(name, step)}, but holds {step.tools:,} tools of {step.limit:,} allowed: too many."
        case _ as never:
            assert_never(never)


def _describe_share(name: str, step: TriedLoadout) -> str:
    share = step.tokens / step.window if step.window else 0.0
    return f"{name} takes {step.tokens:,} of {step.window:,} tokens ({share:.0%}, {MAX_SHARE:.0%} allowed)"


def _describe_name(name: str) -> str:
    return "The whole catalog" if name == WHOLE_CATALOG else name
