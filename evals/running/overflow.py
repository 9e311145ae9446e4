"""Decides a context overflow before a request is sent, from the limits of the model (rule E4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

from toolbelt.evals.offers import Offer
from toolbelt.loadouts.fit import FitReason, FitVerdict, ModelFit
from toolbelt.loadouts.fit_text import describe_fit_reason
from toolbelt.models.token_rates import TokenRate, find_rate, read_rate
from toolbelt.views.json_values import Count, described


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """Limits of a model, as known when the run began."""

    context_window: Count | None = field(
        default=None, metadata=described("tokens that a prompt takes at most; null if unknown")
    )
    output_reserve: Count | None = field(
        default=None, metadata=described("tokens kept free for an answer; null if unknown")
    )
    max_tools: Count | None = field(
        default=None, metadata=described("the most tools that a request may hold; null if unknown")
    )
    tool_calling: bool | None = field(default=None, metadata=described("whether it calls tools; null if unknown"))

    def fit(self, model: str, tokens: int, tools: int, tokenizer: str = "", rate: TokenRate | None = None) -> ModelFit:
        """Compare a number of tools, and our count of their definitions, with the model's limits.

        Without a rate, as in runs of earlier versions, the count is of the definitions as they are sent.
        """
        rate = rate or find_rate(model).of_sent()
        return ModelFit(
            model=model,
            context_window=self.context_window,
            tokens=rate.estimate(tokens, tools),
            tokenizer=tokenizer,
            exact=False,
            tools=tools,
            output_reserve=self.output_reserve,
            max_tools=self.max_tools,
            tool_calling=self.tool_calling,
            error=rate.error,
        )

    def has_room(self, tokens: int) -> bool:
        """Whether a prompt leaves room for an answer; true where the window is unknown."""
        return self.context_window is None or tokens + (self.output_reserve or 0) < self.context_window

    def find_overflow(self, model: str, offer: Offer, rate: TokenRate | None = None) -> ModelFit | None:
        """The fit of an offer that overflows: the prompt is too long, or there are too many tools.

        The flag `tool_calling` is ignored: tables of models are often wrong about it, and the model's answer shows it.

        Returns:
            `None` if the offer can be sent, or if nothing is known.
        """
        fit = replace(self.fit(model, offer.tokens, len(offer.tools), rate=rate), tool_calling=None)
        return fit if fit.verdict is FitVerdict.REFUSES else None


def describe_overflow(fit: ModelFit) -> str:
    """Why an offer cannot be sent. If it breaks both limits, both are named, so that the user fixes both at once."""
    broken = [reason for reason in fit.reasons if reason in (FitReason.TOO_MANY_TOOLS, FitReason.NO_ROOM)]
    return " ".join(describe_fit_reason(fit, reason) for reason in broken)


class FitGuard:
    """Decides whether an offer can be sent to one model; each offer is checked once.

    Args:
        model: Name of the model.
        limits: Its limits.
        rate: What our count comes to in its prompt.
    """

    def __init__(self, model: str, limits: ModelLimits, rate: TokenRate | None = None) -> None:
        self._model = model
        self._rate = rate
        self._limits = limits
        self._checked: WeakKeyDictionary[Offer, ModelFit | None] = (
            WeakKeyDictionary()
        )  # most offers are shared by many trials

    def find_overflow(self, offer: Offer) -> ModelFit | None:
        """The fit of an offer that overflows; `None` if it can be sent, or if nothing is known."""
        if offer not in self._checked:
            self._checked[offer] = self._limits.find_overflow(self._model, offer, self._rate)
        return self._checked[offer]


@dataclass(frozen=True, slots=True)
class LeftOutArm:
    """A model and a toolset of a suite that are not run together.

    Attributes:
        model: Its name.
        toolset: Its name.
        verdict: `unsupported` where the model calls no tools, `refuses` where `auto` finds nothing that fits,
            `unknown` where it cannot choose by an unknown window.
        reason: In words.
    """

    model: str
    toolset: str
    verdict: FitVerdict
    reason: str


def read_model_limits(plan: Mapping[str, Any]) -> dict[str, ModelLimits]:
    """The `rooms` of a stored plan."""
    return {model: ModelLimits(**limits) for model, limits in plan.get("rooms", {}).items()}


def read_token_rates(plan: Mapping[str, Any]) -> dict[str, TokenRate]:
    """The `token_rates` of a stored plan; runs of earlier versions have none."""
    return {model: read_rate(rate) for model, rate in plan.get("token_rates", {}).items()}


def read_known_limits(plan: Mapping[str, Any]) -> dict[str, Any]:
    """What a stored plan has of limits, by the field of `Plan`."""
    return {
        "limits": read_model_limits(plan),
        "token_rates": read_token_rates(plan),
        "left_out": read_left_out(plan),
    }


def read_left_out(plan: Mapping[str, Any]) -> tuple[LeftOutArm, ...]:
    """The `left_out` of a stored plan."""
    return tuple(LeftOutArm(**{**pair, "verdict": FitVerdict(pair["verdict"])}) for pair in plan.get("left_out", ()))
