"""What providers write when they refuse a request, and what each text means (rule X2): a table to read from the top.

A row counts where neither the status nor litellm's class of the error says enough. Each has the thread, issue or page
where the text was seen. Rows on limits of an account come first: their texts mention tokens and lengths, and look like
overflows. To add a row, add its text to `tests/providers/test_provider_texts.py`, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolbelt.providers.chat import Failure


@dataclass(frozen=True, slots=True)
class ProviderText:
    """A text of a provider, and its meaning.

    Attributes:
        provider: Who writes it.
        failure: What it means.
        pattern: What it contains, in lower case.
        statuses: HTTP statuses at which it counts; `None` where the wire saw none.
        source: Where it was seen.
    """

    provider: str
    failure: Failure
    pattern: re.Pattern[str]
    statuses: frozenset[int | None]
    source: str

    def means(self, status: int | None, words: str) -> bool:
        """Whether a text with this status has this meaning."""
        return status in self.statuses and self.pattern.search(words) is not None


_ANYWHERE = frozenset({None, 200, 400, 404, 413, 422, 500})
"""429 is not among them, as messages on rate limits also mention tokens."""
_ACCOUNT = frozenset({None, 400, 403, 429})
_TOO_LARGE = frozenset({None, 400, 413, 429})
_TOO_FAST = frozenset({None, 200, 400})


def _row(provider: str, failure: Failure, pattern: str, source: str, statuses: frozenset[int | None]) -> ProviderText:
    return ProviderText(provider, failure, re.compile(pattern, re.DOTALL), statuses, source)


def _quota(provider: str, pattern: str, source: str) -> ProviderText:
    return _row(provider, Failure.QUOTA, pattern, source, _ACCOUNT)


def _overflow(provider: str, pattern: str, source: str) -> ProviderText:
    return _row(provider, Failure.CONTEXT_OVERFLOW, pattern, source, _ANYWHERE)


def _broken_call(provider: str, pattern: str, source: str) -> ProviderText:
    return _row(provider, Failure.BROKEN_CALL, pattern, source, _ANYWHERE | {424})


_OVERFLOWS_OF_PI = "earendil-works/pi, packages/ai/src/utils/overflow.ts"
ACCOUNT_TEXTS = (
    _quota("OpenAI", r"insufficient_quota", "Pythagora-io/gpt-pilot #340"),
    _quota("OpenAI", r"account is not active|billing_not_active", "BerriAI/litellm #2743"),
    _quota("Anthropic", r"credit balance is too low", "anthropics/claude-quickstarts #229"),
    _quota("DeepSeek", r"insufficient balance", "continuedev/continue #9942; Aider-AI/aider #4851"),
    _quota("OpenRouter", r"insufficient[_ ]credits", "Gitlawb/openclaude #43; Gitlawb/openclaude #1528"),
    _quota("OpenRouter", r"free-models-per-day", "cline/cline #5301"),
    _quota("Cloudflare", r"daily free allocation", "diegosouzapw/OmniRoute #6980"),
    _quota("Gemini", r"quotaid\W+\w*perday", "UKGovernmentBEIS/inspect_ai #5526"),
    _quota("Bedrock", r"too many tokens per day", "minorun365/agent-book #29"),
    # Of a minute's limit Gemini writes the same, and then which limit it is.
    _quota(
        "OpenAI, Gemini",
        r"exceeded your current quota(?!.*(quota exceeded for metric|retry in|retrydelay|per ?minute))",
        "browserbase/mcp-server-browserbase #129",
    ),
    _row(
        "OpenAI, Groq",
        Failure.REQUEST_TOO_LARGE,
        r"request too large for",
        "continuedev/continue #11472; continuedev/continue #10218",
        _TOO_LARGE,
    ),
    _row(
        "Anthropic",
        Failure.REQUEST_TOO_LARGE,
        r"extra usage is required for long context",
        "anthropics/claude-code #66799",
        _TOO_LARGE,
    ),
    _row("Groq", Failure.REQUEST_TOO_LARGE, r"rate_limit", "zeeyado/koassistant.koplugin #106", frozenset({413})),
    _row(
        "Bedrock",
        Failure.RATE_LIMIT,
        r"too many tokens, please wait|throttl",
        f"RooCodeInc/Roo-Code #5050; {_OVERFLOWS_OF_PI}",
        _TOO_FAST,
    ),
    _row(
        "Mistral, gateways",
        Failure.RATE_LIMIT,
        r"too many requests|rate[ _-]?limit",
        "continuedev/continue #6185",
        _TOO_FAST,
    ),
)
TEXTS = (
    _broken_call(
        "Groq",
        r"tool_use_failed|failed to call a function|tool call validation failed",
        "groq/groq-typescript #28; pipecat-ai/pipecat #1168; anomalyco/opencode #1018",
    ),
    _broken_call(
        "Groq, llama.cpp, vLLM",
        r"(failed to|could not|cannot|unable to|error in|error|while) (pars|decod|extract)\w* (the )?(model'?s )?"
        r"(tool|function)[ _-]calls?\b",
        "Rekin226/aquascope #266; vxcontrol/pentagi #313; ollama/ollama #12884",
    ),
    _broken_call(
        "llama.cpp",
        r"failed to parse input at pos \d|output that does not match the expected \S+ format",
        "ggml-org/llama.cpp #24644; pwilkin/llama.cpp #5; ggml-org/llama.cpp #27025; mostlygeek/llama-swap #856",
    ),
    _broken_call(
        "Cerebras, gateways",
        r"(generated|produced|returned|emitted) (an? )?(invalid|malformed|unparsable) (tool|function)[ _-]calls?\b"
        r"|(invalid|malformed) (tool|function)[ _-]calls? (was )?(generated|produced|returned|emitted) by"
        r"|failed to generate (a )?(tool|function)[ _-]calls?\b"
        r"|(tool|function)[ _-]call'?s? arguments (are|is) (not valid|invalid)|invalid_tool_call\b",
        "vybestack/llxprt-code #221",
    ),
    _broken_call(
        "SGLang, LMDeploy, gateways",
        r"failed to parse fc related info|invalid_tool_call_format|invalid json format in tool call",
        "InternLM/lmdeploy, lmdeploy/serve/openai/api_server.py; microsoft/vscode #268550",
    ),
    _broken_call(
        "Bedrock",
        r"invalid sequence as part of tooluse",
        "strands-agents/harness-sdk #649; SEMOSS/Semoss #2892",
    ),
    _overflow("OpenAI", r"context_length_exceeded", "continuedev/continue #11472"),
    _overflow(
        "OpenAI, DeepSeek, vLLM, SGLang, Mistral",
        r"(maximum|max|model'?s) context (length|window|size)",
        "TheR1D/shell_gpt #653; evalstate/fast-agent #621; vllm-project/vllm #20409; sgl-project/sglang #3642",
    ),
    _overflow("OpenAI, Anthropic, MLX", r"context[ _](window|limit|length)", "anthropics/claude-code #33514"),
    _overflow(
        "llama.cpp",
        r"(exceed\w*|available) (the |your )?(available |maximum |max )*context|exceed_context_size",
        "ggml-org/llama.cpp PR #15780; continuedev/continue #12735",
    ),
    _overflow("Anthropic, Ollama, MLX", r"prompt[ _](is )?too[ _]long", "anthropics/anthropic-sdk-python #938"),
    _overflow("Bedrock", r"input is too long|input length .* exceed", "anthropics/claude-code #71634"),
    _overflow(
        "Gemini, SGLang",
        r"too many (input |total )?tokens|(input|prompt|requested) token count .*exceed",
        f"browserbase/mcp-server-browserbase #129; sgl-project/sglang #8096; {_OVERFLOWS_OF_PI}",
    ),
    _overflow("Groq", r"reduce the length of (the|your) (messages|prompt|input)", "continuedev/continue #10218"),
    _overflow(
        "xAI, Kimi, Qwen",
        r"maximum prompt length is|exceeded model token limit|range of input length should be",
        "cline/cline #3120; MoonshotAI/kimi-cli #2011; QwenLM/qwen-code #98",
    ),
    _overflow(
        "vLLM",
        r"longer than the maximum model length|max_tokens must be at least 1, got (-\d|0\b)",
        "hiyouga/LlamaFactory #7723; vllm-project/vllm, vllm/sampling_params.py",
    ),
    _overflow(
        "TGI, Together",
        r".max_new_tokens. must be <=|.inputs. must have less than \d+ tokens",
        "huggingface/text-generation-inference, router/src/validation.rs",
    ),
    _overflow(
        "TensorRT-LLM",
        r"prompt length \([\d.]+\).*(exceeds maximum|should not exceed max_num_tokens)|default_max_tokens`? \(-?\d+\)",
        "triton-inference-server/tensorrtllm_backend #141; NVIDIA/TensorRT-LLM, tensorrt_llm/llmapi/llm.py; "
        "NVIDIA/TensorRT-LLM, tensorrt_llm/executor/base_worker.py",
    ),
    _overflow("LM Studio", r"n_keep \(?\d+\)? >= n_ctx", "lmstudio-ai/lmstudio-bug-tracker #546"),
    _row(
        "llama.cpp",
        Failure.BAD_REQUEST,
        r"requires --jinja|unsupported param: tools",
        "defilantech/LLMKube #126; ggml-org/llama.cpp #10920",
        frozenset({500}),
    ),
    _row(
        "OpenAI, Gemini",
        Failure.REFUSED,
        r"content_policy|safety system|violating our usage policy|blocked for reason: safety",
        "RanFeng/clipsketch-ai #6; alan-turing-institute/t0-1 #69; ChatGPTNextWeb/NextChat #3714; "
        "BerriAI/litellm, docs/my-website/docs/exception_mapping.md",
        _ANYWHERE,
    ),
    _row(
        "Azure",
        Failure.REFUSED,
        r"content management policy|responsibleaipolicy|content[_ ]filter",
        "openai/openai-python #331; simonw/research #16",
        _ANYWHERE,
    ),
    _row(
        "OpenAI, Gemini",
        Failure.AUTHENTICATION,
        r"(incorrect|invalid) api[ _]key|api key not (valid|found)|api_key_invalid",
        "continuedev/continue #9634; google-gemini/gemini-cli #25198; babaohuang/GeminiProChat #142",
        _ANYWHERE,
    ),
    _row(
        "OpenAI, OpenRouter, Ollama",
        Failure.NOT_FOUND,
        r"model_not_found|not a valid model|model .{0,100}(not found|does not exist)",
        "shobrook/wut #14; OpenRouterTeam/openrouter-examples #74; netease-youdao/QAnything #555",
        _ANYWHERE,
    ),
)
