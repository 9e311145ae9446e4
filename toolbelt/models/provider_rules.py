"""The rules of providers, each with where it was read and when.

Only what a source says is here: a provider's own documentation, its client, or the error its API answered with, as
reported by users and makers of clients; where both are known, what the provider says goes first. What is not here is
unknown. Of vLLM and other servers of one's own nothing was found that holds whatever
the model and the settings; Groq's client (1.7.0)
documents names of 64 characters, of which no refusal was found; of Anthropic nothing says how many tools a request may
hold: its client (2.14.0) has an error `available_tools_limit_exceeded`, of their number or size, without a number.
"""

from __future__ import annotations

from datetime import date

from toolbelt.models.claude_rules import (
    ANTHROPIC,
    AZURE_CLAUDE,
    BEDROCK,
    DATABRICKS_CLAUDE,
    VERTEX_CLAUDE,
)
from toolbelt.models.facts import ModelFacts
from toolbelt.models.google_rules import GEMINI, VERTEX
from toolbelt.models.rules import (
    ANY_CHARACTER,
    COMBINATORS,
    ArrayItems,
    DescriptionLength,
    Effect,
    Fact,
    KnownReferences,
    MaxTools,
    NamePattern,
    ParameterName,
    ProviderRules,
    RootKeywords,
    RootObject,
    SchemaKeywords,
    Source,
    ToolName,
    ValidSchema,
    deleted_by_litellm,
    read_on,
)

_READ = date(2026, 11, 21)
_READ_LATER = date(2026, 11, 28)


def _at(*urls: str) -> tuple[Source, ...]:
    return read_on(_READ, *urls)


_OPENAI_TOOLS = (
    "https://github.com/openai/openai-node/blob/000a114cce6dc1a96a510503aee65284256fade4/src/resources/chat/"
    "completions.ts"
)
"""An older version of OpenAI's own client, written from its specification; newer ones name no number of tools."""
_OPENAI_SPEC = (
    "https://github.com/openai/openai-python/blob/1db4657d0ac77a2e68aad7c2b748064b35a25d4a/src/openai/types/"
    "shared_params/function_definition.py"
)
"""The same of today, of a function's name."""
_OPENAI_SDK = read_on(_READ_LATER, "https://pypi.org/project/openai/3.57.0/")
"""The newest client: the same of a name (`types/shared_params/function_definition.py`), no number of tools."""
_NEWER_MODELS = "https://github.com/meridianlabs-ai/inspect_petri/pull/77"
_REFERENCES_KNOWN = Fact(
    KnownReferences(),
    read_on(_READ_LATER, "https://github.com/open-webui/computer/issues/87"),
    Effect.SOME_REFUSE,
    note="reported of schemas sent as strict, and of servers with OpenAI's API that compile schemas",
)

OPENAI = ProviderRules(
    "openai",
    "OpenAI's chat API",
    frozenset({"openai"}),
    (
        Fact(
            MaxTools(128),
            _at(
                _OPENAI_TOOLS,
                "https://github.com/zed-industries/zed/issues/42393",
                "https://github.com/NousResearch/hermes-agent/issues/13037",
            ),
        ),
        Fact(
            ToolName(NamePattern()),
            _at(_OPENAI_SPEC, _NEWER_MODELS),
        ),
        Fact(
            ToolName(NamePattern(ANY_CHARACTER, ANY_CHARACTER, 64)),
            _at(_OPENAI_SPEC, _NEWER_MODELS) + _OPENAI_SDK,
            Effect.SOME_REFUSE,
            note="documented; gpt-5.5 was seen to take longer names",
        ),
        Fact(
            DescriptionLength(longest=1024),
            _at("https://github.com/getsentry/sentry-mcp/issues/106", _NEWER_MODELS),
            Effect.SOME_REFUSE,
            note="gpt-4o and o3-mini refused longer ones; gpt-5.5 was seen to take 16,000 characters",
        ),
        Fact(RootObject(), _at("https://github.com/chatanywhere/GPT_API_free/issues/403"), Effect.SOME_REFUSE),
        Fact(
            RootKeywords(barred=COMBINATORS | {"enum", "not"}),
            _at(
                "https://github.com/langchain-ai/langchainjs/issues/9804",
                "https://github.com/openai/codex/issues/30132",
            ),
            Effect.SOME_REFUSE,
            note="reported to be taken by newer models since the middle of 2026",
        ),
        Fact(
            ArrayItems(),
            _at(
                "https://github.com/sigoden/aichat/pull/1049",
                "https://github.com/langgenius/dify/issues/32894",
            ),
        ),
        Fact(
            ValidSchema(),
            read_on(
                _READ_LATER,
                "https://github.com/pleaseai/shunt/pull/488",
                "https://github.com/BerriAI/litellm/pull/40485",
                "https://github.com/maltekuhr/laravel-gpt/issues/8",
            ),
        ),
        _REFERENCES_KNOWN,
    ),
)
AZURE = ProviderRules(
    "azure",
    "Azure OpenAI's chat API",
    frozenset({"azure"}),
    (
        Fact(
            MaxTools(128),
            _at("https://learn.microsoft.com/azure/ai-services/openai/quotas-limits"),
            Effect.SOME_REFUSE,
            note="documented; of Azure itself no refusal was found reported",
        ),
        Fact(
            ToolName(NamePattern("A-Za-z0-9_.-", "A-Za-z0-9_.-")),
            _at("https://github.com/Mintplex-Labs/anything-llm/issues/4169"),
        ),
        Fact(
            DescriptionLength(longest=1024),
            _at(
                "https://github.com/langchain-ai/open_deep_research/issues/80",
                "https://github.com/dnakov/anon-kode/issues/45",
            ),
            Effect.SOME_REFUSE,
            note="reported of o3-mini",
        ),
        Fact(RootObject(), _at("https://github.com/Azure/azure-sdk-for-net/issues/61049")),
        Fact(
            RootKeywords(barred=COMBINATORS | {"enum", "const", "not"}),
            _at(
                "https://github.com/BerriAI/litellm/pull/38870",
                "https://github.com/joselcaguilar/azure-openai-ha/issues/147",
            ),
            litellm="leaves them out; of alternatives it keeps the properties, and what all require",
        ),
        Fact(
            ArrayItems(),
            read_on(
                _READ_LATER,
                "https://github.com/razorpay/razorpay-mcp-server/issues/43",
                "https://github.com/PrefectHQ/fastmcp/issues/2464",
            ),
        ),
        Fact(
            ValidSchema(),
            read_on(_READ_LATER, "https://github.com/pleaseai/shunt/pull/488"),
            Effect.SOME_REFUSE,
            note="reported of OpenAI itself",
        ),
        _REFERENCES_KNOWN,
    ),
)
MISTRAL = ProviderRules(
    "mistral",
    "Mistral's chat API",
    frozenset({"mistral"}),
    (
        Fact(
            ToolName(NamePattern(longest=64)),
            _at(
                "https://github.com/Kochava-Studios/witsy/pull/164",
                "https://docs.rs/crate/mistral-rouille/latest/source/docs/"
                "ChatCompletionRequestFunctionCallToolsInnerFunction.md",
            ),
        ),
        deleted_by_litellm("$schema", "$id", file="mistral/chat/transformation.py"),
    ),
)
GROQ = ProviderRules(
    "groq",
    "Groq's chat API",
    frozenset({"groq"}),
    (
        Fact(
            MaxTools(128),
            _at(
                "https://github.com/gsd-build/gsd-2/issues/4376",
                "https://github.com/HunorLaczko/ha-groq-cloud-api/issues/25",
            )
            + read_on(_READ_LATER, "https://pypi.org/project/groq/1.7.0/"),
        ),
        Fact(
            ValidSchema(),
            read_on(_READ_LATER, "https://github.com/usestrix/strix/issues/1088"),
            Effect.SOME_REFUSE,
            note="schemas are checked; of all that is invalid, one case was found reported",
        ),
    ),
)
COHERE = ProviderRules(
    "cohere",
    "Cohere's chat API",
    frozenset({"cohere", "cohere_chat"}),
    (
        Fact(
            ToolName(NamePattern("A-Za-z_", "A-Za-z0-9_")),
            _at(
                "https://github.com/cohere-ai/cohere-python/blob/07896b4e0fee2ba1b26d03731b45231c304a0ce7/src/cohere/types/tool.py"
            ),
            Effect.SOME_REFUSE,
            note="documented for version 1 of the API; no refusal was found reported",
        ),
        Fact(
            ParameterName(NamePattern("A-Za-z_", "A-Za-z0-9_")),
            _at(
                "https://github.com/cohere-ai/cohere-python/blob/07896b4e0fee2ba1b26d03731b45231c304a0ce7/src/cohere/types/tool.py"
            ),
            Effect.SOME_REFUSE,
            note="documented for version 1 of the API; no refusal was found reported",
        ),
    ),
)
DEEPSEEK = ProviderRules(
    "deepseek",
    "DeepSeek's chat API",
    frozenset({"deepseek"}),
    (
        Fact(
            MaxTools(128),
            _at("https://api-docs.deepseek.com/api/create-chat-completion"),
            Effect.SOME_REFUSE,
            note="documented, of deepseek-v4 as well; no refusal was found reported",
        ),
        Fact(
            ToolName(NamePattern(longest=64)),
            _at(
                "https://api-docs.deepseek.com/api/create-chat-completion",
                "https://github.com/zed-industries/zed/issues/57531",
                "https://github.com/mrexodia/ida-pro-mcp/issues/129",
            ),
        ),
    ),
)
XAI = ProviderRules(
    "xai",
    "xAI's API",
    frozenset({"xai"}),
    (
        Fact(
            MaxTools(350),
            _at(
                "https://github.com/farion1231/cc-switch/issues/6795",
                "https://github.com/github/copilot-cli/issues/4836",
                "https://github.com/anomalyco/opencode/issues/28911",
            ),
            note="200 up to the middle of 2026; xai-sdk 1.21.0 documents 128 in its chat.py, and more are taken",
        ),
        deleted_by_litellm("strict", file="xai/chat/transformation.py"),
    ),
    modes=frozenset({"chat", "responses"}),
)
OLLAMA = ProviderRules(
    "ollama",
    "Ollama's chat API",
    frozenset({"ollama", "ollama_chat"}),
    (
        Fact(
            RootKeywords(allowed=frozenset({"type", "$defs", "items", "required", "properties"})),
            _at("https://github.com/ollama/ollama/issues/11444"),
            Effect.IGNORED,
        ),
        Fact(
            SchemaKeywords(barred=frozenset({"const", "additionalProperties"})),
            _at("https://github.com/ollama/ollama/issues/11444"),
            Effect.IGNORED,
        ),
    ),
    modes=frozenset({"chat", "completion"}),
)
WATSONX = ProviderRules(
    "watsonx",
    "watsonx's chat API",
    frozenset({"watsonx"}),
    (deleted_by_litellm("strict", file="watsonx/chat/transformation.py"),),
)
VLLM = ProviderRules(
    "hosted_vllm",
    "vLLM's chat API",
    frozenset({"hosted_vllm"}),
    (deleted_by_litellm("strict", file="hosted_vllm/chat/transformation.py", note="; toolbelt sends the same"),),
)

PROVIDER_RULES: tuple[ProviderRules, ...] = (
    OPENAI,
    AZURE,
    ANTHROPIC,
    GEMINI,
    VERTEX,
    VERTEX_CLAUDE,
    AZURE_CLAUDE,
    DATABRICKS_CLAUDE,
    BEDROCK,
    MISTRAL,
    GROQ,
    COHERE,
    DEEPSEEK,
    XAI,
    OLLAMA,
    WATSONX,
    VLLM,
)


def find_rules(facts: ModelFacts) -> ProviderRules | None:
    """The rules of the API that a model is asked through; `None` if nothing is known of it.

    A model that only looks as if it were OpenAI's (`openai/` is also how a server of one's own is called) is held to
    none of OpenAI's rules, and neither is one that is asked in another way than the rules are about.
    """
    if facts.provider is None or (facts.provider == "openai" and facts.known_as is None):
        return None
    names = [name.lower() for name in (facts.name, facts.known_as) if name]
    for rules in PROVIDER_RULES:
        if facts.provider in rules.providers and any(rules.models in name for name in names):
            return rules if facts.mode is None or facts.mode in rules.modes else None
    return None


def find_tool_rules(facts: ModelFacts) -> tuple[Fact, ...]:
    """The rules that hold for a model; none where nothing is known of its API."""
    rules = find_rules(facts)
    return () if rules is None else rules.for_model(facts.name, facts.known_as)


def find_max_tools(facts: ModelFacts) -> int | None:
    """The most tools of a request to a model: the model's own limit, else that of its API."""
    if facts.max_tools is not None:
        return facts.max_tools
    rules = find_rules(facts)
    return None if rules is None else rules.most_tools
