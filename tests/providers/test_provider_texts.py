"""Every row of the table of providers' texts, by a text that it is there for (rule X2)."""

from __future__ import annotations

import re

import pytest

from toolbelt.providers.chat import Failure
from toolbelt.providers.provider_texts import ACCOUNT_TEXTS, TEXTS, ProviderText

ROWS = (*ACCOUNT_TEXTS, *TEXTS)
EXAMPLES: tuple[tuple[int, str], ...] = (
    (429, "insufficient_quota"),
    (429, "Your account is not active, please check your billing details on our website."),
    (400, "Your credit balance is too low to access the Anthropic API."),
    (400, "Insufficient Balance"),
    (403, "Insufficient credits. Add more using your account page."),
    (429, "Rate limit exceeded: free-models-per-day."),
    (429, "You have used up your daily free allocation of 10,000 neurons."),
    (429, '"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"'),
    (429, "Too many tokens per day, please wait before trying again."),
    (429, "You exceeded your current quota, please check your plan and billing details."),
    (429, "Request too large for gpt-4o in organization org-x: Limit 30000, Requested 35000."),
    (429, "Extra usage is required for long context requests."),
    (413, "rate_limit_exceeded"),
    (400, "ThrottlingException: Too many tokens, please wait before trying again."),
    (400, "Requests rate limit exceeded"),
    (400, "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details."),
    (400, "Failed to parse tool call arguments as JSON"),
    (500, "Failed to parse input at pos 12: </tool_call>"),
    (400, "Failed to generate tool_calls. Please adjust your prompt."),
    (400, "Failed to parse fc related info to json format!"),
    (
        424,
        "Model produced invalid sequence as part of ToolUse. Please refer to the model tool use troubleshooting guide.",
    ),
    (400, "context_length_exceeded"),
    (400, "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens."),
    (400, "Your input exceeds the context window of this model."),
    (400, "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it"),
    (400, "prompt is too long: 210000 tokens > 200000 maximum"),
    (400, "Input is too long for requested model."),
    (400, "The input token count (1196265) exceeds the maximum number of tokens allowed (1048576)."),
    (400, "Please reduce the length of the messages or completion."),
    (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
    (400, "The decoder prompt (length 12324) is longer than the maximum model length of 8192."),
    (422, "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000"),
    (400, "Cannot process new request: Prompt length (5056) exceeds maximum sequence length (2048)"),
    (400, "Cannot truncate prompt with n_keep (9000) >= n_ctx (4096)"),
    (500, "tools param requires --jinja flag"),
    (400, "Your request was rejected as a result of our safety system."),
    (400, "The response was filtered due to the prompt triggering Azure's content management policy."),
    (400, "Incorrect API key provided."),
    (404, "The model `gpt-x` does not exist or you do not have access to it."),
)


@pytest.mark.parametrize(
    ("row", "example"), list(zip(ROWS, EXAMPLES, strict=True)), ids=[f"{row.provider}-{row.failure}" for row in ROWS]
)
def test_X2_each_row_has_a_text_and_a_source(row: ProviderText, example: tuple[int, str]) -> None:
    status, text = example
    assert row.means(status, text.lower())
    assert row.provider
    for source in row.source.split("; "):
        assert re.fullmatch(r"[\w.-]+/[\w.-]+( PR)?( #\d+|, [\w./-]+)", source), "a thread, or a file of a repository"
    assert row.failure is not Failure.BROKEN_ANSWER


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.provider}-{row.failure}" for row in ROWS])
def test_X2_no_row_is_about_texts_that_say_nothing_of_it(row: ProviderText) -> None:
    for text in ("", "internal error", "the model is loading", "bad gateway", "invalid value for temperature"):
        assert not any(row.means(status, text) for status in (None, 200, 400, 413, 422, 429, 500))
