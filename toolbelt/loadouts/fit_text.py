"""Why tools fit a model or do not, in words."""

from __future__ import annotations

from typing import assert_never

from toolbelt.loadouts.fit import DEGRADED_SHARE, Component, FitReason, ModelFit


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
        case FitReason.UNSURE_ROOM:
            free = (fit.context_window or 0) - (fit.output_reserve or 0)
            return (
                f"Definitions of about {fit.tokens:,} tokens, {fit.error:.0%} more or less, may be more than the "
                f"{free:,} that a window of {fit.context_window:,} has for them."
            )
        case FitReason.CROWDED:
            return (
                f"Definitions take {fit.fraction:.0%} of the window, over {DEGRADED_SHARE:.0%}; "
                f"the largest part: the {_describe_largest(fit)}."
            )
        case FitReason.UNKNOWN_TOOL_CALLING:
            return "Whether it calls tools is unknown."
        case FitReason.BROKEN_RULES:
            several = fit.to_repair > 1
            return (
                f"{fit.to_repair:,} tool{'s' if several else ''} break{'' if several else 's'} a rule of {fit.api}: "
                "send the repaired form (`toolbelt model fit --fix`), unless the client rewrites them."
            )
        case _:
            assert_never(reason)


def _describe_largest(fit: ModelFit) -> str:
    words = fit.largest.value.replace("_", " ")
    if fit.largest is Component.OUTPUT_RESERVE or not fit.by_plugin:
        return words
    name, tokens = fit.by_plugin[0]
    return f"{words}, of which {name!r} takes {tokens:,}"
