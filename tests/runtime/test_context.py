"""What surrounds a batch of calls (rules R4, R6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.wording import naming
from toolbelt.errors import InvalidDefinitionError
from toolbelt.runtime.context import DEFAULT_RESULT_BUDGET_CHARS, ToolContext


@pytest.mark.parametrize("budget", [-1, 99.9, float("nan"), float("inf"), None, "many", True], ids=repr)
def test_R4_a_budget_that_is_none_is_refused_at_once(budget: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match=naming("result_budget_chars", 0)):
        ToolContext(result_budget_chars=budget)
    with pytest.raises(InvalidDefinitionError):
        replace(ToolContext(), result_budget_chars=budget)


@pytest.mark.parametrize("budget", [0, 1, 10**9])
def test_R4_any_whole_number_from_0_up_is_a_budget(budget: int) -> None:
    assert ToolContext(result_budget_chars=budget).result_budget_chars == budget


def test_R4_a_batch_has_80000_characters_unless_told_otherwise() -> None:
    assert ToolContext().result_budget_chars == DEFAULT_RESULT_BUDGET_CHARS == 80_000


def test_R1_a_context_is_frozen_to_the_inside() -> None:
    attachments, overrides, backends = ["a"], {"search": {"depth": [1]}}, {"network": object()}
    context = ToolContext(attachments=attachments, overrides=overrides, backends=backends)  # type: ignore[arg-type]
    attachments.append("b")
    overrides["search"]["depth"].append(2)
    backends.clear()
    assert (context.attachments, context.overrides) == (("a",), {"search": {"depth": [1]}})
    assert context.backends.keys() == {"network"}
