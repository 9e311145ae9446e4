"""What is wrong with a reply by its form, whatever the case expects (rule E4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolbelt.evals.cases.case import content_text
from toolbelt.evals.conversation import Reply
from toolbelt.evals.models.model import Request
from toolbelt.evals.offers import Offer
from toolbelt.providers.calls_in_text import TextCall, find_call_in_text, offered_parameters
from toolbelt.providers.chat import Failure, ModelError, Usage
from toolbelt.text import plural

CHECKED_TOKENS = 500
"""Definitions up to so many tokens may be missing from a prompt without it being noticeable in the reported usage."""
_LEAST_SHARE = 0.25
"""Of the estimated tokens of a prompt: tokenizers and chat templates differ by less."""
_EMPTY = (
    "The answer is empty: no text, no call, and 0 completion tokens. The server is up and generates nothing: see its "
    "log, restart it, or ask it less at a time (--max-concurrency 1)."
)
_REMEDY = (
    "llama.cpp's server needs --jinja and a chat template with tools (--chat-template-file); Ollama cuts prompts to "
    "half its window: raise num_ctx."
)
_PARSERS = {
    "<arg_key>": ("glm45", "glm45"),
    "<seed:": ("seed_oss", ""),
    "<minimax:": ("minimax_m2", "minimax-m2"),
    "]<]minimax": ("minimax_m3", "minimax-m3"),
    "<function=": ("qwen3_coder", "qwen3_coder"),
    "<|python_tag|>": ("llama3_json", "llama3"),
    "<|python_start|>": ("llama4_pythonic", "pythonic"),
    "[tool_calls]": ("mistral", "mistral"),
    "｜dsml｜": ("deepseek_v32", "deepseekv32"),
    "<steptml:": ("step3", "step3"),
    "function<｜tool": ("deepseek_v3", "deepseekv3"),
    "<｜tool": ("deepseek_v31", "deepseekv31"),
    "<|tool_calls_section": ("kimi_k2", "kimi_k2"),
    "<|tool_call_begin|>": ("kimi_k2", "kimi_k2"),
    "<|tool_call_start|>": ("lfm2", "lfm2"),
    "<|tool_call>": ("gemma4", "gemma4"),
    "<start_function_call>": ("functiongemma", ""),
    "<|tool_call|>": ("granite", ""),
    "functools[": ("phi4_mini_json", ""),
    "<|action_start|>": ("internlm", "interns1"),
    "<|start_action|>": ("cohere_command3", "cohere_command4"),
    "<|tools_prefix|>": ("apertus", "apertus2509"),
    "to=functions.": ("openai", "gpt-oss"),
    "<tool_calls>": ("hunyuan_a13b", "hunyuan"),
    "<function_calls>": ("olmo3", ""),
    "<longcat_tool_call>": ("longcat", ""),
    "<dots_function_call>": ("", "dots"),
    "<function_call>": ("granite-20b-fc", ""),
    "<|function_call|>": ("gigachat3", "gigachat3"),
    "<tool_call>": ("hermes", "qwen25"),
}
"""Names of the parsers of vLLM and SGLang by what a call holds, in small letters, the special before the general."""
_MOST_TIMES, _SLACK_TOKENS = 10, 100_000
"""A prompt of more than so many times our count, and so many tokens more, was not sent."""
_LONGEST_ANSWER = 10_000_000
"""Tokens; no model answers at such length."""
ENCODED_TWICE = "arguments encoded twice"
IMPOSSIBLE = "figures that cannot be"
DROPPED = "not shown to the model again"


def take_note(reply: Reply, own_tokens: int, window: int | None) -> tuple[Reply, str]:
    """What is odd about an answer, as it is kept beside it; and the answer without figures that cannot be.

    A figure that cannot be counts as not reported: it is in no sum and no cost, and the note has it.

    Args:
        reply: The answer.
        own_tokens: The prompt's tokens, as counted here; 0 where that was not done.
        window: The model's context window; `None` if unknown.
    """
    usage, odd = reply.usage, []
    prompt, completion = usage.prompt_tokens or 0, usage.completion_tokens or 0
    is_above_window = window is not None and prompt > max(window, 2 * own_tokens)
    if own_tokens and (is_above_window or prompt > _MOST_TIMES * own_tokens + _SLACK_TOKENS):
        odd.append(f"{prompt:,} prompt tokens for {own_tokens:,} by our count")
        usage = Usage(completion_tokens=usage.completion_tokens)
    if completion > max(window or 0, _LONGEST_ANSWER):
        odd.append(f"{completion:,} completion tokens")
        usage = replace(usage, completion_tokens=None)
    notes = [f"{IMPOSSIBLE}: {', '.join(odd)}"] if odd else []
    if twice := sum(call.is_double_encoded for call in reply.calls):
        notes.append(f"{ENCODED_TWICE}: {plural(twice, 'call')}")
    if reply.dropped:
        notes.append(f"{DROPPED}: {', '.join(reply.dropped)}")
    return (replace(reply, usage=usage) if odd else reply), "; ".join(notes)


class ReplyFault(ModelError):  # noqa: N818  a reply, not a mistake of ours
    """A server answered, and its answer is none: `broken_answer`, `tools_not_seen` or `call_in_text`."""


def find_text_fault(request: Request, reply: Reply) -> ModelError | None:
    """The fault of a call in the text of any reply to a conversation, recorded ones included; `None` if it has none.

    It is the server's, `call_in_text`, or the model's, `broken_call`, where no parser could read what it wrote.
    """
    if reply.calls or not (reply.text or reply.thoughts):
        return None
    asked = next((message.get("content") for message in reversed(request.messages) if message["role"] == "user"), "")
    offered = offered_parameters(
        {"name": each.name, "parameters": each.tool.parameters} for each in request.offer.tools
    )
    call = find_call_in_text(reply.text, reply.thoughts, offered, asked=content_text(asked), is_cut=reply.is_cut)
    if call is None:
        return None
    if call.is_broken:
        message = f"The model's call in the text ({call.form}) cannot be read."
        return ModelError(Failure.BROKEN_CALL, message, latency_seconds=reply.latency_seconds, usage=reply.usage)
    message = f"The server left the call in the text ({call.form}), instead of taking it out of it. {_remedy(call)}"
    return ReplyFault(Failure.CALL_IN_TEXT, message, latency_seconds=reply.latency_seconds, usage=reply.usage)


def _remedy(call: TextCall) -> str:
    """Which option of which server takes such calls out of the text."""
    written = call.written.lower()
    known = next((names for held, names in _PARSERS.items() if held in written), ("", ""))
    vllm, sglang = known if written else ("pythonic", "pythonic")
    return (
        f"vLLM needs --enable-auto-tool-choice --tool-call-parser {vllm or 'NAME'}, SGLang --tool-call-parser "
        f"{sglang or 'NAME'}, llama.cpp's server --jinja, and Ollama a model whose template has tools."
    )


def find_fault(request: Request, reply: Reply, own_tokens: int) -> ReplyFault | None:
    """What is wrong with the first reply to a conversation; `None` if it is a reply of the model to what was sent.

    Args:
        request: What was sent.
        reply: What came.
        own_tokens: The prompt's tokens with its definitions, as counted here.
    """
    if not (reply.text + reply.thoughts).strip() and not reply.calls and reply.usage.completion_tokens == 0:
        return ReplyFault(Failure.BROKEN_ANSWER, _EMPTY, latency_seconds=reply.latency_seconds, usage=reply.usage)
    seen = _prompt_tokens(reply)
    if seen is None or seen >= _LEAST_SHARE * own_tokens or request.offer.tokens <= CHECKED_TOKENS:
        return None
    if any(call.name in request.offer.by_name for call in reply.calls):
        return None
    message = (
        f"The server did not see the tools: it reports {seen:,} prompt tokens for {own_tokens:,} by our count, "
        f"{request.offer.tokens:,} of them tool definitions. It dropped the tools or cut the prompt. {_REMEDY}"
    )
    return ReplyFault(Failure.TOOLS_NOT_SEEN, message, latency_seconds=reply.latency_seconds, usage=reply.usage)


def _prompt_tokens(reply: Reply) -> int | None:
    """As reported, in the server's favour: some count cached tokens beside the others, and not among them."""
    usage = reply.usage
    if usage.prompt_tokens is None:
        return None
    return usage.prompt_tokens + (usage.cached_read_tokens or 0) + (usage.cached_write_tokens or 0)


def is_truncated(reply: Reply, offer: Offer, max_tokens: int | None = None) -> bool:
    """Whether the token limit cut a reply before its calls were complete.

    Some servers drop the call that was cut: then there is only text, or nothing. Others send what there is of it, which
    is no JSON, or close it, so that arguments are missing; and some of these say `tool_calls` and not `length`. Calls
    before the last one are complete.

    Args:
        reply: What came.
        offer: What was offered.
        max_tokens: The limit that was set; `None` for the provider's.
    """
    if not reply.calls:
        return reply.is_cut
    used = reply.usage.completion_tokens
    if not reply.is_cut and (max_tokens is None or used is None or used < max_tokens):
        return False
    last = reply.calls[-1]
    if last.arguments is None:
        return True
    offered = offer.by_name.get(last.name)
    required = () if offered is None else offered.tool.parameters.get("required", ())
    return isinstance(required, Sequence) and any(name not in last.arguments for name in required)
