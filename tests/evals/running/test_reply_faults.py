"""Replies that are none by their form (rule E4)."""

from __future__ import annotations

import pytest

from tests.providers.test_calls_in_text import MARKED
from toolbelt.catalog import Tool
from toolbelt.evals.conversation import Reply, ToolUse
from toolbelt.evals.models.model import Request
from toolbelt.evals.offers import Offer, Offered
from toolbelt.evals.running.reply_faults import find_fault, find_text_fault, is_truncated, take_note
from toolbelt.providers.chat import Failure, Usage

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


def offered(count: int) -> Offer:
    """Tools of a hundred tokens each."""
    return Offer(tuple(Offered(f"tool_{n}", Tool(f"tool_{n}", "Does it.", PATH), {}, 100) for n in range(count)))


def calls(name: str, text: str = '{"path": "a"}') -> tuple[ToolUse, ...]:
    return (ToolUse.from_text("call_0", name, text),)


def fault_of(reply: Reply, tools: int = 10, own_tokens: int = 1200) -> Failure | None:
    fault = find_fault(Request(({"role": "user", "content": "Do it."},), offered(tools)), reply, own_tokens)
    return None if fault is None else fault.failure


BLIND, BROKEN = Failure.TOOLS_NOT_SEEN, Failure.BROKEN_ANSWER
TEXT = "I cannot do that."


@pytest.mark.parametrize(
    ("reply", "tools", "fault"),
    [
        pytest.param(Reply(TEXT, usage=Usage(69, 7)), 10, BLIND, id="far-fewer-tokens-than-sent"),
        pytest.param(Reply(TEXT, usage=Usage(299, 7)), 10, BLIND, id="just-below-a-quarter"),
        pytest.param(Reply(TEXT, usage=Usage(300, 7)), 10, None, id="a-quarter"),
        pytest.param(Reply(TEXT, usage=Usage(69, 7, 300)), 10, None, id="cached-tokens-count-beside-them"),
        pytest.param(Reply(TEXT, usage=Usage(69, 7, 0, 300)), 10, None, id="so-do-those-written-to-the-cache"),
        pytest.param(Reply(TEXT, usage=Usage(69, 7)), 5, None, id="500-tokens-of-definitions-are-too-few-to-tell"),
        pytest.param(Reply(TEXT, usage=Usage(69, 7)), 6, BLIND, id="more-than-500-are-enough"),
        pytest.param(Reply(TEXT), 10, None, id="no-usage-reported"),
        pytest.param(Reply(calls=calls("tool_3"), usage=Usage(69, 7)), 10, None, id="an-offered-tool-was-called"),
        pytest.param(Reply(calls=calls("made_up"), usage=Usage(69, 7)), 10, BLIND, id="an-invented-one-was"),
        pytest.param(Reply("", usage=Usage(1200, 0)), 10, BROKEN, id="empty"),
        pytest.param(Reply(" \n", usage=Usage(1200, 0)), 10, BROKEN, id="blank"),
        pytest.param(Reply("", usage=Usage(None, 0)), 0, BROKEN, id="empty-and-of-no-known-prompt"),
        pytest.param(Reply("", usage=Usage(1200, 9)), 10, None, id="nothing-after-some-thought"),
        pytest.param(Reply("", usage=Usage(1200, None)), 10, None, id="nothing-and-no-usage"),
        pytest.param(Reply("No.", usage=Usage(1200, 0)), 10, None, id="text-of-a-server-that-counts-wrongly"),
        pytest.param(Reply(thoughts="No.", usage=Usage(1200, 0)), 10, None, id="thoughts-of-one"),
    ],
)
def test_E4_a_reply_that_is_none(reply: Reply, tools: int, fault: Failure | None) -> None:
    assert fault_of(reply, tools) is fault


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "model_length"])
def test_E4_every_provider_has_its_word_for_the_token_limit(reason: str) -> None:
    assert is_truncated(Reply(TEXT, finish_reason=reason), offered(1))
    assert not is_truncated(Reply(TEXT, finish_reason="stop"), offered(1))


@pytest.mark.parametrize(
    ("text", "reason", "used", "truncated"),
    [
        ('{"path": "a', "length", None, True),
        ("{}", "length", None, True),
        ('{"path": "a"}', "length", None, False),
        ('{"path": "a', "tool_calls", 64, True),
        ('{"path": "a', "tool_calls", 63, False),
        ('{"path": "a', "tool_calls", None, False),
        ("{}", "tool_calls", 10, False),
    ],
)
def test_E4_a_cut_call_is_one_that_is_not_complete(text: str, reason: str, used: int | None, truncated: bool) -> None:
    reply = Reply(calls=calls("tool_0", text), finish_reason=reason, usage=Usage(9, used))
    assert is_truncated(reply, offered(1), max_tokens=64) is truncated


@pytest.mark.parametrize(
    ("usage", "window", "kept"),
    [
        pytest.param(Usage(10**11, 9), None, Usage(None, 9), id="many-times-our-count"),
        pytest.param(Usage(90_000, 9), None, Usage(90_000, 9), id="a-server-that-adds-a-long-prompt-of-its-own"),
        pytest.param(Usage(90_000, 9), 8_192, Usage(None, 9), id="more-than-the-window"),
        pytest.param(Usage(1_900, 9), 1_000, Usage(1_900, 9), id="a-window-that-our-count-does-not-keep-to-either"),
        pytest.param(Usage(1_200, 10**10), None, Usage(1_200, None), id="an-answer-of-no-length"),
    ],
)
def test_E6_a_figure_that_cannot_be_counts_as_not_reported(usage: Usage, window: int | None, kept: Usage) -> None:
    reply, note = take_note(Reply(TEXT, usage=usage), 1_200, window)
    assert reply.usage == kept
    assert ("cannot be" in note) is (usage != kept)


@pytest.mark.parametrize(
    ("reply", "is_fault"),
    [
        pytest.param(Reply('[TOOL_CALLS]tool_3[ARGS]{"path": "a"}'), True, id="in-the-text"),
        pytest.param(
            Reply(thoughts='<tool_call>{"name": "tool_3", "arguments": {}}</tool_call>'), True, id="in-thoughts"
        ),
        pytest.param(Reply('<tool_call>{"name": "tool_3"}</tool_call>', calls("tool_3")), False, id="beside-a-call"),
        pytest.param(Reply("I would use tool_3."), False, id="in-prose"),
    ],
)
def test_V2_a_call_in_the_text_is_a_fault_where_no_call_came(reply: Reply, is_fault: bool) -> None:
    fault = find_text_fault(Request(({"role": "user", "content": "Do it."},), offered(4)), reply)
    assert (fault is not None and fault.failure is Failure.CALL_IN_TEXT) is is_fault


@pytest.mark.parametrize(
    ("form", "vllm", "sglang"),
    [
        ("hermes", "hermes", "qwen25"),
        ("qwen3-coder", "qwen3_coder", "qwen3_coder"),
        ("llama-3", "llama3_json", "llama3"),
        ("mistral-name", "mistral", "mistral"),
        ("deepseek-v3", "deepseek_v3", "deepseekv3"),
        ("deepseek-v3.1", "deepseek_v31", "deepseekv31"),
        ("kimi-k2", "kimi_k2", "kimi_k2"),
        ("glm-4.5", "glm45", "glm45"),
        ("harmony", "openai", "gpt-oss"),
        ("solar", "NAME", "NAME"),
    ],
)
def test_V2_the_parser_of_a_form_is_named(form: str, vllm: str, sglang: str) -> None:
    offer = Offer((Offered("book_table", Tool("book_table"), {}, 100),))
    fault = find_text_fault(Request(({"role": "user", "content": "A table, please."},), offer), Reply(MARKED[form]))
    assert fault is not None
    assert fault.failure is Failure.CALL_IN_TEXT
    assert fault.message.endswith(
        f"vLLM needs --enable-auto-tool-choice --tool-call-parser {vllm}, SGLang --tool-call-parser {sglang}, "
        "llama.cpp's server --jinja, and Ollama a model whose template has tools."
    )


def test_V2_a_call_that_nobody_could_read_is_the_models() -> None:
    request = Request(({"role": "user", "content": "Do it."},), offered(2))
    reply = Reply('<tool_call>{"name": "tool_1", "arguments": {"path": a}}</tool_call>', usage=Usage(900, 7))
    fault = find_text_fault(request, reply)
    assert fault is not None
    assert (fault.failure, fault.usage) == (Failure.BROKEN_CALL, reply.usage)
