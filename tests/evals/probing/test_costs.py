"""What a probe would take, said before it is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evals.probing.able_model import AbleModel, probe
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.evals.probing.checks import EVERY
from toolbelt.evals.probing.costs import TOKENS_OF_AN_ANSWER, estimate_probe
from toolbelt.evals.running.overflow import ModelLimits
from toolbelt.providers.chat import Usage


@pytest.mark.parametrize("limits", [None, ModelLimits(8192, 2048)], ids=["no-window-known", "a-small-window"])
def test_the_estimate_is_what_an_able_model_is_asked(tmp_path: Path, limits: ModelLimits | None) -> None:
    model = AbleModel()
    estimated = estimate_probe(model, EstimateCounter(), limits=limits)
    assert model.requests == [], "nobody is asked"
    result = probe(tmp_path / "runs.db", model, limits=limits)
    assert estimated.requests == sum(one.requests for one in result.checks) == len(model.requests)
    definitions = sum(one.definition_tokens for one in result.checks)
    assert definitions == sum(request.offer.tokens for request in model.requests)
    assert definitions < estimated.prompt_tokens < definitions + 20_000
    assert estimated.completion_tokens == estimated.requests * TOKENS_OF_AN_ANSWER
    assert estimated.cost_usd == model.cost_usd(Usage(estimated.prompt_tokens, estimated.completion_tokens))


def test_checks_add_up() -> None:
    whole = estimate_probe(AbleModel(), EstimateCounter())
    parts = [estimate_probe(AbleModel(), EstimateCounter(), checks=[key]) for key in EVERY]
    assert sum(one.prompt_tokens for one in parts) == whole.prompt_tokens == sum(whole.by_check.values())
    assert {key: one.prompt_tokens for key, one in zip(EVERY, parts, strict=True)} == whole.by_check
    assert estimate_probe(AbleModel(), EstimateCounter(), checks=()).requests == 0
    assert whole.prompt_tokens < 60_000, "a probe is to cost little"


def test_an_unknown_price_stays_unknown() -> None:
    class Unpriced(AbleModel):
        def cost_usd(self, usage: Usage) -> float | None:
            return None

    assert estimate_probe(Unpriced(), EstimateCounter()).cost_usd is None
