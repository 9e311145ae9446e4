"""The rules of the APIs that Claude is asked through, Anthropic's own first; see `provider_rules`."""

from __future__ import annotations

from datetime import date

from toolbelt.models.rules import (
    COMBINATORS,
    LEFT_OUT,
    DescriptionLength,
    Effect,
    Fact,
    KnownReferences,
    NamePattern,
    ParameterName,
    ProviderRules,
    RootKeywords,
    RootObject,
    Source,
    ToolName,
    ValidSchema,
    read_on,
)

_READ = date(2026, 11, 21)
_READ_LATER = date(2026, 11, 28)


def _at(*urls: str) -> tuple[Source, ...]:
    return read_on(_READ, *urls)


ANTHROPIC = ProviderRules(
    "anthropic",
    "Anthropic's messages API",
    frozenset({"anthropic"}),
    (
        Fact(
            ToolName(NamePattern(longest=128)),
            _at(
                "https://github.com/home-assistant/core/issues/147760",
                "https://github.com/anthropics/claude-code/issues/96152",
            ),
            note="documented with 64, taken up to 128",
        ),
        Fact(
            ParameterName(NamePattern("A-Za-z0-9_.-", "A-Za-z0-9_.-", 64)),
            _at(
                "https://github.com/anthropics/claude-code/issues/79418",
                "https://github.com/decocms/studio/pull/6874",
            ),
        ),
        Fact(
            RootKeywords(barred=COMBINATORS),
            _at(
                "https://github.com/anthropics/claude-code/issues/40075",
                "https://github.com/MoonshotAI/kimi-code/issues/2328",
            ),
        ),
        Fact(
            ValidSchema(),
            read_on(
                _READ_LATER,
                "https://github.com/anthropics/claude-code/issues/63673",
                "https://github.com/anthropics/claude-code/issues/586",
            ),
        ),
        Fact(KnownReferences(), read_on(_READ_LATER, "https://github.com/BerriAI/litellm/issues/26692")),
    ),
)
_ELSEWHERE = "reported of Anthropic's own API, whose models and errors this one passes on"
_CLAUDE_NAME, _CLAUDE_PARAMETERS, _CLAUDE_ROOT, _CLAUDE_VALID = (
    fact._replace(effect=Effect.SOME_REFUSE, note=_ELSEWHERE, litellm=LEFT_OUT * isinstance(fact.rule, RootKeywords))
    for fact in ANTHROPIC.facts[:4]
)
VERTEX_CLAUDE = ProviderRules(
    "vertex_ai-claude",
    "Claude on Vertex AI",
    frozenset({"vertex_ai-anthropic_models"}),
    (
        _CLAUDE_NAME,
        _CLAUDE_PARAMETERS,
        _CLAUDE_ROOT,
        _CLAUDE_VALID._replace(
            sources=read_on(_READ_LATER, "https://github.com/shekohex/opencode-google-antigravity-auth/issues/19"),
            effect=Effect.REFUSED,
            note="",
        ),
    ),
)
AZURE_CLAUDE = ProviderRules(
    "azure-claude",
    "Claude on Azure",
    frozenset({"azure_ai"}),
    (_CLAUDE_NAME, _CLAUDE_PARAMETERS, _CLAUDE_ROOT, _CLAUDE_VALID),
    models="claude",
)
DATABRICKS_CLAUDE = ProviderRules(
    "databricks-claude",
    "Claude on Databricks",
    frozenset({"databricks"}),
    (
        _CLAUDE_PARAMETERS._replace(
            sources=read_on(_READ_LATER, "https://github.com/aaif-goose/goose/issues/1804"),
            effect=Effect.REFUSED,
            note="",
        ),
        _CLAUDE_ROOT,
        _CLAUDE_VALID,
    ),
    models="claude",
)
BEDROCK = ProviderRules(
    "bedrock",
    "Bedrock's Converse API",
    frozenset({"bedrock", "bedrock_converse"}),
    (
        Fact(
            ToolName(NamePattern(longest=64)),
            _at(
                "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html",
                "https://github.com/awslabs/mcp/issues/3181",
            )
            + read_on(_READ_LATER, "https://pypi.org/project/botocore/1.44.8/"),
        ),
        Fact(
            DescriptionLength(shortest=1),
            _at(
                "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html",
                "https://github.com/aws-samples/bedrock-access-gateway/issues/213",
            ),
        ),
        Fact(
            RootObject(),
            _at(
                "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolInputSchema.html",
                "https://github.com/earendil-works/pi/issues/8279",
            ),
        ),
        Fact(
            RootKeywords(allowed=frozenset({"type", "properties", "required"})),
            _at("https://github.com/pydantic/pydantic-ai/issues/1623"),
            only="nova",
            litellm=LEFT_OUT,
        ),
        _CLAUDE_PARAMETERS._replace(
            sources=read_on(
                _READ_LATER,
                "https://github.com/aws-solutions-library-samples/"
                "accelerated-intelligent-document-processing-on-aws/issues/709",
            ),
            effect=Effect.REFUSED,
            only="claude",
            note="",
        ),
        _CLAUDE_ROOT._replace(only="claude"),
        _CLAUDE_VALID._replace(only="claude"),
    ),
)
