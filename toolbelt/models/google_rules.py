"""The rules of Google's APIs; see `provider_rules`."""

from __future__ import annotations

from datetime import date

from toolbelt.models.rules import (
    ArrayItems,
    Effect,
    Fact,
    FilledEnum,
    MaxTools,
    NamePattern,
    ParameterName,
    ProviderRules,
    RequiredDescribed,
    RootObject,
    SchemaKeywords,
    SchemaObjects,
    SingleType,
    Source,
    TextEnum,
    TextFormat,
    ToolName,
    TypeGiven,
    read_on,
)

_READ = date(2026, 11, 21)
_READ_LATER = date(2026, 11, 22)
_GEMINI_KEYWORDS = frozenset(
    {
        *("type", "format", "title", "description", "nullable", "default", "enum", "example", "pattern"),
        *("items", "minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum"),
        *("properties", "propertyOrdering", "required", "minProperties", "maxProperties", "anyOf"),
    }
)


def _at(*urls: str) -> tuple[Source, ...]:
    return read_on(_READ, *urls)


_GEMINI_NAME = Fact(
    ToolName(NamePattern("A-Za-z_", "A-Za-z0-9_.:-", 64)),
    _at(
        "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/function-calling",
        "https://github.com/kaitranntt/ccs/issues/25",
    ),
)
_GEMINI_SCHEMA = "https://ai.google.dev/api/python/google/ai/generativelanguage/Schema"
_GEMINI_SINGLE_TYPE = Fact(SingleType(), _at(_GEMINI_SCHEMA, "https://github.com/zed-industries/zed/issues/53919"))
_GEMINI_TEXT_ENUM = Fact(
    TextEnum(),
    _at(
        _GEMINI_SCHEMA,
        "https://github.com/microsoft/azure-devops-mcp/issues/145",
        "https://github.com/decolua/9router/issues/359",
    ),
)
_GEMINI_FILLED_ENUM = Fact(
    FilledEnum(),
    read_on(
        _READ_LATER,
        "https://github.com/BerriAI/litellm/pull/14155",
        "https://github.com/anomalyco/opencode/pull/46676",
        "https://github.com/elastic/kibana/pull/286302",
    ),
    note="as users and the makers of clients report; not documented",
)
_GEMINI_TYPE_GIVEN = Fact(
    TypeGiven(),
    read_on(
        _READ_LATER,
        _GEMINI_SCHEMA,
        "https://github.com/google-gemini/gemini-cli/pull/5694",
        "https://github.com/UKGovernmentBEIS/inspect_ai/pull/3097",
        "https://github.com/QuantumNous/new-api/issues/3022",
    ),
    Effect.SOME_REFUSE,
    note="documented as required; Gemini 3 is reported to refuse what models before it took",
)
_GEMINI_SCHEMA_OBJECTS = Fact(
    SchemaObjects(),
    read_on(_READ_LATER, _GEMINI_SCHEMA),
    Effect.SOME_REFUSE,
    note="documented: each is a message of its own; no refusal was found reported",
)
GEMINI = ProviderRules(
    "gemini",
    "the Gemini API",
    frozenset({"gemini"}),
    (
        Fact(MaxTools(512), _at("https://github.com/google-gemini/gemini-cli/issues/19083")),
        _GEMINI_NAME,
        Fact(
            SchemaKeywords(allowed=_GEMINI_KEYWORDS),
            _at(
                "https://docs.cloud.google.com/nodejs/docs/reference/generativelanguage/latest/generativelanguage/"
                "protos.google.ai.generativelanguage.v1beta.ischema",
                "https://github.com/openswarm-ai/openswarm/issues/24",
            ),
            note="of `parameters`; clients that send `parametersJsonSchema` instead need not keep to it",
        ),
        _GEMINI_SINGLE_TYPE,
        _GEMINI_TEXT_ENUM,
        _GEMINI_FILLED_ENUM,
        _GEMINI_TYPE_GIVEN,
        _GEMINI_SCHEMA_OBJECTS,
        Fact(
            TextFormat(frozenset({"enum", "date-time"})),
            _at("https://github.com/google-gemini/gemini-cli/issues/3178"),
        ),
        Fact(
            ArrayItems(),
            _at(
                "https://github.com/cline/cline/issues/7339",
                "https://github.com/NousResearch/hermes-agent/pull/69924",
            ),
        ),
        Fact(RequiredDescribed(), _at("https://github.com/iBUHub/AIStudioToAPI/issues/154")),
    ),
)
VERTEX = ProviderRules(
    "vertex_ai",
    "Gemini on Vertex AI",
    frozenset({"vertex_ai", "vertex_ai-language-models"}),
    (
        Fact(
            MaxTools(512),
            _at("https://github.com/google-gemini/gemini-cli/pull/26869"),
            note="older documentation says 128, and 64 before that",
        ),
        _GEMINI_NAME,
        Fact(
            ParameterName(NamePattern("A-Za-z_", "A-Za-z0-9_", 64)),
            _at(
                "https://cloud.google.com/vertex-ai/generative-ai/docs/reference/java/latest/"
                "com.google.cloud.vertexai.api.FunctionDeclarationOrBuilder"
            ),
            Effect.SOME_REFUSE,
            note="documented; no refusal was found reported",
        ),
        Fact(RootObject(), _at("https://github.com/diegosouzapw/OmniRoute/pull/3360")),
        Fact(
            SchemaKeywords(allowed=_GEMINI_KEYWORDS | {"additionalProperties"}),
            _at(
                "https://docs.cloud.google.com/nodejs/docs/reference/aiplatform/latest/aiplatform/"
                "protos.google.cloud.aiplatform.v1beta1.ischema"
            ),
            note="of `parameters`; clients that send `parametersJsonSchema` instead need not keep to it",
        ),
        _GEMINI_SINGLE_TYPE,
        _GEMINI_TEXT_ENUM,
        _GEMINI_FILLED_ENUM,
        _GEMINI_TYPE_GIVEN,
        _GEMINI_SCHEMA_OBJECTS,
    ),
    models="gemini",
)
