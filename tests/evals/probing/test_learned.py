"""What a probe shows, in the words of `toolbelt.yaml`: no more than it shows."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.evals.probing.checks import EVERY, FIRST
from toolbelt.evals.probing.learned import learned
from toolbelt.evals.probing.probe import CheckOutcome, CheckResult, ProbeResult
from toolbelt.models.own import OwnModel

O = CheckOutcome  # noqa: E741  a table of them


def result(**outcomes: CheckOutcome) -> ProbeResult:
    checks = tuple(CheckResult(key, outcomes[key]) for key in EVERY if key in outcomes)
    return ProbeResult("20260101-000000-aaaa", "2026-01-01", "m", "finished", checks, EVERY)


@pytest.mark.parametrize(
    ("outcomes", "shown"),
    [
        pytest.param({}, {}, id="nothing-of-nothing"),
        pytest.param({"one_tool": O.UNKNOWN}, {}, id="nothing-of-no-answer"),
        pytest.param({"one_tool": O.WORKS}, {"tool_calling": True}, id="a-call-made"),
        pytest.param({"one_tool": O.REFUSED}, {"tool_calling": False}, id="tools-refused"),
        pytest.param({"one_tool": O.FAILS}, {}, id="a-model-that-would-not-once-shows-nothing"),
        pytest.param({"one_tool": O.FAILS, "long_name": O.WORKS}, {"tool_calling": True}, id="any-call-shows-it"),
        pytest.param({"none_fits": O.WORKS, "choice_none": O.WORKS}, {}, id="what-works-without-a-call-does-not"),
        pytest.param({"parallel_calls": O.FAILS}, {}, id="parallel-open"),
        pytest.param(
            {"parallel_calls": O.WORKS}, {"tool_calling": True, "parallel_calls": True}, id="two-calls-at-once"
        ),
        pytest.param(
            {"parallel_calls": O.PARTLY}, {"tool_calling": True, "parallel_calls": False}, id="one-after-the-other"
        ),
        pytest.param(
            {"choice_required": O.WORKS, "choice_named": O.WORKS},
            {"tool_calling": True, "tool_choice": True},
            id="both-demands-work",
        ),
        pytest.param({"choice_required": O.REFUSED, "choice_named": O.REFUSED}, {"tool_choice": False}, id="refused"),
        pytest.param({"choice_required": O.FAILS, "choice_named": O.FAILS}, {}, id="not-kept-to-once-is-open"),
        pytest.param({"choice_required": O.WORKS, "choice_named": O.REFUSED}, {"tool_calling": True}, id="half"),
        pytest.param({"choice_required": O.REFUSED}, {}, id="the-other-was-not-tried"),
        pytest.param({"cached_tokens": O.WORKS}, {"caching": True}, id="cached"),
        pytest.param({"cached_tokens": O.FAILS}, {}, id="not-cached-shows-nothing"),
    ],
)
def test_no_more_is_learned_than_was_shown(outcomes: dict[str, CheckOutcome], shown: dict[str, object]) -> None:
    assert learned(result(**outcomes)) == shown


WINDOW = "It is more than the context window holds: This model's maximum context length is 8192 tokens."


@pytest.mark.parametrize(
    ("refusals", "window"),
    [
        pytest.param([CheckResult("tools_256", O.TOO_LARGE, WINDOW, 1)], 8192, id="told"),
        pytest.param([CheckResult("tools_256", O.TOO_LARGE, "too long", 1)], None, id="not-told"),
        pytest.param([CheckResult("tools_256", O.TOO_LARGE, WINDOW)], None, id="not-asked"),
        pytest.param([CheckResult("tools_256", O.REFUSED, WINDOW, 1)], None, id="refused-for-another-reason"),
        pytest.param(
            [
                CheckResult("tools_128", O.TOO_LARGE, WINDOW, 1),
                CheckResult("tools_256", O.TOO_LARGE, WINDOW.replace("8192", "4096"), 1),
            ],
            None,
            id="told-to-be-two",
        ),
    ],
)
def test_L15_a_window_is_learned_where_the_provider_names_it(refusals: list[CheckResult], window: int | None) -> None:
    made = ProbeResult("20260101-000000-aaaa", "2026-01-01", "m", "finished", tuple(refusals), EVERY)
    assert learned(made).get("context_window") == window


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        pytest.param("At most 200 tools are taken.", {"max_tools": 200}, id="named"),
        pytest.param("Too many tools.", {}, id="what-was-taken-is-no-limit"),
    ],
)
def test_L15_the_most_tools_are_learned_where_the_api_names_them(said: str, shown: dict[str, int]) -> None:
    checks = (CheckResult("tools_128", O.WORKS), CheckResult("tools_256", O.REFUSED, said, 1))
    made = ProbeResult("20260101-000000-aaaa", "2026-01-01", "m", "finished", checks, EVERY)
    assert learned(made) == {"tool_calling": True, **shown}


@given(st.dictionaries(st.sampled_from(EVERY), st.sampled_from(CheckOutcome)))
def test_whatever_came_is_what_a_model_can_be_said_to_be(outcomes: dict[str, CheckOutcome]) -> None:
    shown = learned(result(**outcomes))
    assert set(shown) <= {field.name for field in fields(OwnModel)}
    assert shown.get("caching") is not False
    if outcomes.get(FIRST) is CheckOutcome.REFUSED:
        assert shown == {"tool_calling": False}
    assert OwnModel("m", **shown).calls_tools is shown.get("tool_calling")
