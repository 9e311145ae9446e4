"""What a model does not take of how it is asked (rule V5)."""

from __future__ import annotations

from typing import Any

import pytest

from toolbelt.models.facts import ModelFacts
from toolbelt.models.settings import find_refusal

FREE = ModelFacts("m", provider="openai")
REASONS = ModelFacts("m", provider="openai", reasoning=True, efforts=("none", "low"), default_effort="low")
CLAUDE = ModelFacts("anthropic/claude-x", provider="anthropic", reasoning=True)


@pytest.mark.parametrize(
    ("facts", "asked", "refusal"),
    [
        pytest.param(REASONS, {"effort": "max"}, "m takes no --effort max: it takes none and low.", id="an-effort"),
        pytest.param(
            ModelFacts("m", efforts=()), {"effort": "low"}, "m takes no --effort low: leave it out.", id="no-effort"
        ),
        pytest.param(
            ModelFacts("m", sampling=False),
            {"temperature": 0, "effort": "none"},
            "m takes no --temperature 0: leave it out.",
            id="a-temperature",
        ),
        pytest.param(
            REASONS,
            {"temperature": 0.25},
            "m takes no --temperature 0.25 while it reasons: leave it out, or ask with --effort none.",
            id="a-temperature-while-it-reasons",
        ),
        pytest.param(
            ModelFacts("m", sampling=False),
            {"temperature": 0, "params": {"top_p": 0.9, "top_k": 1, "user": "me"}},
            "m takes no --temperature 0 and `top_p` of its `params`: leave it out.",
            id="a-param-like-a-temperature",
        ),
        pytest.param(
            REASONS,
            {"params": {"top_p": 0.9}},
            "m takes no `top_p` of its `params` while it reasons: leave it out, or ask with --effort none.",
            id="a-param-while-it-reasons",
        ),
        pytest.param(
            CLAUDE,
            {"temperature": 0, "effort": "high"},
            "anthropic/claude-x takes no --temperature 0 while it reasons: leave it out.",
            id="a-temperature-while-claude-reasons",
        ),
        pytest.param(
            ModelFacts("m", tool_choice=False),
            {"tool_choice": "git_log"},
            "m cannot be made to call a tool: leave out --tool-choice git_log.",
            id="a-forced-call",
        ),
        pytest.param(
            CLAUDE,
            {"tool_choice": "required", "effort": "low"},
            "anthropic/claude-x cannot be made to call a tool while it reasons: leave out --tool-choice or --effort.",
            id="a-forced-call-while-it-reasons",
        ),
    ],
)
def test_V5_what_is_refused_is_said_in_one_sentence_with_the_option(
    facts: ModelFacts, asked: dict[str, Any], refusal: str
) -> None:
    assert find_refusal(facts, **asked) == refusal


@pytest.mark.parametrize(
    ("facts", "asked"),
    [
        pytest.param(REASONS, {}, id="nothing-asked-for"),
        pytest.param(FREE, {"temperature": 0, "effort": "max", "tool_choice": "required"}, id="nothing-known"),
        pytest.param(ModelFacts("m", sampling=False), {"temperature": 1}, id="the-one-temperature"),
        pytest.param(ModelFacts("m", tool_choice=False), {"tool_choice": "auto"}, id="no-forced-call"),
        pytest.param(REASONS, {"temperature": 0, "effort": "none"}, id="it-does-not-reason-then"),
        pytest.param(ModelFacts("m", provider="xai", reasoning=True), {"temperature": 0}, id="not-with-every-provider"),
        pytest.param(CLAUDE, {"temperature": 0, "tool_choice": "required"}, id="claude-that-is-not-asked-to-reason"),
    ],
)
def test_V5_what_may_be_taken_is_not_refused(facts: ModelFacts, asked: dict[str, Any]) -> None:
    assert find_refusal(facts, **asked) is None
