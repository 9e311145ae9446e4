"""How many tools an API takes: by its own words, or told to lie between, and never guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.evals.probing.checks import EVERY, TOOL_COUNTS, tools_key
from toolbelt.evals.probing.results import CheckOutcome, CheckResult, ProbeResult
from toolbelt.evals.probing.stated_limits import ToolLimit, find_limit, find_window

W, P, F, R, T, U, S = (
    CheckOutcome.WORKS,
    CheckOutcome.PARTLY,
    CheckOutcome.FAILS,
    CheckOutcome.REFUSED,
    CheckOutcome.TOO_LARGE,
    CheckOutcome.UNKNOWN,
    CheckOutcome.SKIPPED,
)


def probed(outcomes: dict[str, CheckOutcome], said: dict[str, str] | None = None) -> ProbeResult:
    checks = tuple(CheckResult(key, outcomes[key], (said or {}).get(key, ""), 1) for key in EVERY if key in outcomes)
    return ProbeResult("20260101-000000-aaaa", "2026-01-01", "m", "finished", checks, EVERY)


def counts(*outcomes: CheckOutcome) -> dict[str, CheckOutcome]:
    return dict(zip(map(tools_key, TOOL_COUNTS), outcomes, strict=True))


def refused(said: str, *outcomes: CheckOutcome) -> ToolLimit | None:
    """Of so many tools each; `said` by every refusal, of as many as were sent."""
    made = counts(*outcomes)
    spoken = {tools_key(count): f"The request was refused: {said.format(count)}" for count in TOOL_COUNTS}
    return find_limit(probed({"one_tool": W, **made}, spoken))


@pytest.mark.parametrize(
    ("outcomes", "limit"),
    [
        pytest.param((W, W, W, R), (128, 256), id="the-largest-before-the-refusal"),
        pytest.param((W, W, R, R), (64, 128), id="two-refused"),
        pytest.param((W, W, F, R), (128, 256), id="a-wrong-answer-is-an-answer"),
        pytest.param((W, W, U, R), (64, 256), id="one-unknown"),
        pytest.param((W, W, W, W), None, id="nothing-refused"),
        pytest.param((W, W, W, T), None, id="no-room-is-no-limit"),
        pytest.param((R, R, R, R), (1, 16), id="all-refused-but-one-tool"),
        pytest.param((W, R, W, R), None, id="refused-for-another-reason"),
    ],
)
def test_the_limit_lies_below_a_refusal(outcomes: tuple[CheckOutcome, ...], limit: tuple[int, int] | None) -> None:
    refusal = refused("no", *outcomes)
    assert (refusal and (refusal.taken, refusal.refused)) == limit
    assert refusal is None or refusal.stated is None


def test_where_no_tool_was_ever_taken_there_is_no_limit() -> None:
    assert find_limit(probed(counts(R, R, R, R))) is None
    assert find_limit(probed({"one_tool": R, **counts(S, S, S, S)})) is None


UP_TO_128, UP_TO_16, NONE_OF_MANY = (W, W, W, R), (W, R, R, R), (R, R, R, R)
ARRAY = (
    "Invalid 'tools': array too long. Expected an array with maximum length {most}, but got an array with length {{}}"
)


@pytest.mark.parametrize(
    ("said", "outcomes", "told"),
    [
        pytest.param(f"{ARRAY.format(most=128)} instead.", UP_TO_128, 128, id="openai-says-what-was-sent-too"),
        pytest.param(f"{ARRAY.format(most=20)} instead.", UP_TO_16, 20, id="openai-between"),
        pytest.param("At most 200 are taken of tools, {} were given.", UP_TO_128, 200, id="between"),
        pytest.param("At most 20 tools are taken, {} were given.", UP_TO_16, 20, id="not-the-count-of-another-check"),
        pytest.param("Cannot have more than 128 tools per request.", UP_TO_128, 128, id="not-more-than"),
        pytest.param(
            "tools: List should have at most 128 items after validation, not {}", UP_TO_128, 128, id="pydantic"
        ),
        pytest.param("'tools' : maximum number of items is 128", UP_TO_128, 128, id="items"),
        pytest.param("The request has too many function declarations (max 200).", UP_TO_128, 200, id="declarations"),
        pytest.param("Maximum tools limit reached. Requested: {}, limit: 200", UP_TO_128, 200, id="requested"),
        pytest.param("At most 128 tools; you sent {}. Send 128 or fewer.", UP_TO_128, 128, id="said-twice"),
        pytest.param("At most 5 tools are taken.", NONE_OF_MANY, 5, id="fewer-than-the-fewest-that-are-tried"),
        pytest.param("Too many tools: {}.", UP_TO_128, None, id="what-was-sent-is-no-limit"),
        pytest.param("Too many tools.", UP_TO_128, None, id="no-number"),
        pytest.param("At most 64 tools are taken.", UP_TO_128, None, id="fewer-than-were-taken"),
        pytest.param("At most 512 tools are taken.", UP_TO_128, None, id="more-than-were-refused"),
        pytest.param("At most 128 tools, 200 for others.", UP_TO_128, None, id="one-of-two"),
        pytest.param("At most 200 requests a minute.", UP_TO_128, None, id="of-something-else"),
        pytest.param("tools: at most 200 tokens.", UP_TO_128, None, id="of-tokens"),
        pytest.param("Invalid schema for tool at 130: too many levels.", UP_TO_128, None, id="of-what-is-in-a-tool"),
        pytest.param("'tools[130].function' exceeds what is allowed.", UP_TO_128, None, id="the-place-of-one-tool"),
        pytest.param("tools.130: too large.", UP_TO_128, None, id="the-place-of-one-tool-by-a-dot"),
        pytest.param(
            "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got 65.",
            UP_TO_16,
            None,
            id="the-length-of-a-name",
        ),
        pytest.param("Fewer than 129 tools are allowed.", UP_TO_128, None, id="a-number-that-is-too-many-itself"),
        pytest.param("Model m-200 takes not so many tools: max is less.", UP_TO_128, None, id="of-a-name"),
        pytest.param("Too many tools for v2.130 of 2026-130-01.", UP_TO_128, None, id="of-a-version-or-a-date"),
        pytest.param("Too many tools; the limit is 200…", UP_TO_128, None, id="cut-in-the-middle-of-a-number"),
        pytest.param("200", UP_TO_128, None, id="a-number-alone"),
    ],
)
def test_L15_a_limit_is_told_only_where_the_api_names_one_number_that_can_be_it(
    said: str, outcomes: tuple[CheckOutcome, ...], told: int | None
) -> None:
    limit = refused(said, *outcomes)
    assert limit is not None
    assert limit.stated == told


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (ToolLimit(128, 256), "takes 128 tools, refuses 256: the limit lies between"),
        (ToolLimit(1, 16), "takes 1 tool, refuses 16: the limit lies between"),
        (ToolLimit(16, 64, 20), "takes at most 20 tools, as its refusal of 64 says"),
    ],
)
def test_a_limit_in_words(limit: ToolLimit, said: str) -> None:
    assert str(limit) == said


@given(st.text() | st.from_regex(r"(at most|max|limit) [0-9]{1,4} tools?", fullmatch=True), st.integers(0, 3))
def test_whatever_is_said_a_limit_is_one_that_was_not_refused_and_not_seen_to_be_passed(said: str, first: int) -> None:
    outcomes = tuple(W if place < first else R for place in range(4))
    limit = refused(said.replace("{", "").replace("}", ""), *outcomes)
    assert limit is not None
    assert limit.stated is None or limit.taken <= limit.stated < limit.refused


@pytest.mark.parametrize(
    ("said", "window"),
    [
        pytest.param("This model's maximum context length is 8192 tokens. You requested 9,000.", 8192, id="is"),
        pytest.param("exceeds the model's maximum context length of 131,072 tokens", 131_072, id="of-with-a-comma"),
        pytest.param("the request exceeds the available context size (4096 tokens), increase it", 4096, id="available"),
        pytest.param("model loaded with context length of only 4096 tokens, which is not enough", 4096, id="only"),
        pytest.param("prompt is too long: 208310 tokens > 200000 maximum", 200_000, id="more-than"),
        pytest.param("count (9) exceeds the maximum number of tokens allowed (1048576).", 1_048_576, id="allowed"),
        pytest.param("too large for model with 32768 maximum context length", 32_768, id="number-first"),
        pytest.param("This model's maximum prompt length is 131072 but it has 537812.", 131_072, id="prompt"),
        pytest.param("longer than the maximum model length of 8192. Make sure that", 8192, id="of-vllms-decoder"),
        pytest.param("41911 tokens exceeds max context window of 32768 tokens", 32_768, id="of-mlx"),
        pytest.param("Your prompt has 9000 tokens. Reduce its length.", None, id="the-prompts-own-length"),
        pytest.param("Request too large: tokens per minute (TPM): Limit 6000, Requested 9000", None, id="rate"),
        pytest.param("maximum context length is 10 tokens; maximum context length is 20 tokens", None, id="two"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_L15_a_window_is_what_a_provider_names_and_never_a_guess(said: str, window: int | None) -> None:
    assert find_window(said) == window
