"""Why `auto` chose what it did, in words."""

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
from toolbelt.loadouts.fit import FitVerdict, ModelFit
from toolbelt.loadouts.fit_text import describe_fit
from toolbelt.loadouts.loadout import WHOLE_CATALOG


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
