"""The rules of Google's APIs; see `provider_rules`."""

from __future__ import annotations

from datetime import date

from toolbelt.models.rules import (
    ANY_CHARACTER,
    LEFT_OUT,
    NO_LOSS,
    ArrayItems,
    Effect,
    Fact,
    FilledEnum,
    LoneAnyOf,
    MaxTools,
    NamePattern,
    ParameterName,
    ProviderRules,
    RequiredDescribed,
    RootKeywords,
    RootObject,
    SchemaKeywords,
    SchemaObjects,
    SingleType,
    Source,
    TextEnum,
    TextFormat,
    ToolName,
    TypeGiven,
    deleted_by_litellm,
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


_LIMITING = frozenset(
    {
        *("oneOf", "allOf", "not", "if", "then", "else", "const", "prefixItems", "contains", "uniqueItems"),
        *("exclusiveMinimum", "exclusiveMaximum", "multipleOf", "patternProperties", "dependentRequired"),
    }
)
"""Keywords without which a model is shown another tool, and not only less about it."""


def _keywords(allowed: frozenset[str], *urls: str) -> tuple[Fact, Fact]:
    note = "of `parameters`; clients that send `parametersJsonSchema` instead need not keep to it"
    return (
        Fact(SchemaKeywords(barred=_LIMITING), _at(*urls), note=note, litellm=LEFT_OUT),
        Fact(SchemaKeywords(allowed=allowed | _LIMITING), _at(*urls), note=note, litellm=NO_LOSS),
    )


_SDK = "https://pypi.org/project/google-genai/3.6.1/"
"""Google's own client: its `types.py` states these numbers of both APIs."""
_SDK_READ = read_on(date(2026, 11, 28), _SDK)
_NAME_CHARACTERS = ("A-Za-z_", "A-Za-z0-9_.:-")
_GEMINI_NAMES = (
    Fact(
        ToolName(NamePattern(*_NAME_CHARACTERS, 128)),
        _SDK_READ
        + _at(
            "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/function-calling",
            "https://github.com/kaitranntt/ccs/issues/25",
        ),
    ),
    Fact(
        ToolName(NamePattern(ANY_CHARACTER, ANY_CHARACTER, 64)),
        _at("https://github.com/kaitranntt/ccs/issues/25"),
        Effect.SOME_REFUSE,
        note="google-genai 3.6.1 documents 128; refusals of more than 64 were reported before",
    ),
)
_GEMINI_PARAMETERS = (
    Fact(
        ParameterName(NamePattern("A-Za-z_", "A-Za-z0-9_", 64)),
        _SDK_READ
        + _at(
            "https://cloud.google.com/vertex-ai/generative-ai/docs/reference/java/latest/"
            "com.google.cloud.vertexai.api.FunctionDeclarationOrBuilder"
        ),
        Effect.SOME_REFUSE,
        note="documented; no refusal was found reported",
    ),
    deleted_by_litellm(
        "strict",
        file="vertex_ai/gemini/vertex_and_google_ai_studio_gemini.py",
        note=", so that the API refuses what requires it",
        effect=Effect.SOME_REFUSE,
    ),
)
_GEMINI_SCHEMA = "https://ai.google.dev/api/python/google/ai/generativelanguage/Schema"
_GEMINI_SINGLE_TYPE = Fact(
    SingleType(),
    _at(_GEMINI_SCHEMA, "https://github.com/zed-industries/zed/issues/53919"),
    litellm="sends alternatives, without values and limits",
)
_GEMINI_TEXT_ENUM = Fact(
    TextEnum(),
    _at(
        _GEMINI_SCHEMA,
        "https://github.com/microsoft/azure-devops-mcp/issues/145",
        "https://github.com/decolua/9router/issues/359",
    ),
    litellm="leaves out the values; where they alone say what it is, sends an object",
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
    litellm="sends null for ''",
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
    note="documented as required; Gemini 3 is reported to refuse what models before it took; litellm sends an object, "
    "but of `oneOf` or `allOf` alone nothing",
)
_ANY_OF_SOURCES = read_on(
    date(2026, 11, 28),
    "https://github.com/lambda-alpha-labs/Graphenium/issues/37",
    "https://github.com/anomalyco/opencode/issues/14788",
    "https://github.com/patlux/pi-commandcode-provider/pull/103",
    "https://github.com/BerriAI/litellm/issues/11164",
)
_LONE_ANY_OF = Fact(
    LoneAnyOf(),
    _ANY_OF_SOURCES,
    note="reported of Vertex AI",
    litellm="leaves out what stands beside it, but for title and description; a branch without a type is an object",
)
_ROOT_ANY_OF = Fact(
    RootKeywords(barred=frozenset({"anyOf"})),
    _ANY_OF_SOURCES,
    note="nothing may stand beside it, and the root is an object; litellm leaves out the object and all parameters",
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
        Fact(MaxTools(512), _at("https://github.com/google-gemini/gemini-cli/issues/19083") + _SDK_READ),
        *_GEMINI_NAMES,
        *_GEMINI_PARAMETERS,
        *_keywords(
            _GEMINI_KEYWORDS,
            "https://docs.cloud.google.com/nodejs/docs/reference/generativelanguage/latest/generativelanguage/"
            "protos.google.ai.generativelanguage.v1beta.ischema",
            "https://github.com/openswarm-ai/openswarm/issues/24",
        ),
        _LONE_ANY_OF._replace(effect=Effect.SOME_REFUSE),
        _ROOT_ANY_OF._replace(effect=Effect.SOME_REFUSE),
        _GEMINI_SINGLE_TYPE,
        _GEMINI_TEXT_ENUM,
        _GEMINI_FILLED_ENUM,
        _GEMINI_TYPE_GIVEN,
        _GEMINI_SCHEMA_OBJECTS,
        Fact(
            TextFormat(frozenset({"enum", "date-time"})),
            _at("https://github.com/google-gemini/gemini-cli/issues/3178"),
            litellm="leaves it out",
        ),
        Fact(
            ArrayItems(),
            _at(
                "https://github.com/cline/cline/issues/7339",
                "https://github.com/NousResearch/hermes-agent/pull/69924",
            ),
            litellm="says that they hold objects",
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
            _at("https://github.com/google-gemini/gemini-cli/pull/26869") + _SDK_READ,
            note="older documentation says 128, and 64 before that",
        ),
        *_GEMINI_NAMES,
        *_GEMINI_PARAMETERS,
        Fact(RootObject(), _at("https://github.com/diegosouzapw/OmniRoute/pull/3360")),
        *_keywords(
            _GEMINI_KEYWORDS | {"additionalProperties"},
            "https://docs.cloud.google.com/nodejs/docs/reference/aiplatform/latest/aiplatform/"
            "protos.google.cloud.aiplatform.v1beta1.ischema",
        ),
        _LONE_ANY_OF,
        _ROOT_ANY_OF,
        _GEMINI_SINGLE_TYPE,
        _GEMINI_TEXT_ENUM,
        _GEMINI_FILLED_ENUM,
        _GEMINI_TYPE_GIVEN,
        _GEMINI_SCHEMA_OBJECTS,
    ),
    models="gemini",
)
