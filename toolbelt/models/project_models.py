"""The facts about models that a project states under `models` in its `toolbelt.yaml`."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from toolbelt.errors import InvalidDefinitionError
from toolbelt.findings import Finding
from toolbelt.models.facts import APIS, EFFORTS, ModelPrices, prices_data
from toolbelt.models.recommended import RecommendedKind, parse_recommended
from toolbelt.models.token_rates import TokenRate, read_stated_rate, stated_rate
from toolbelt.patterns import fold
from toolbelt.sources import Document, Key
from toolbelt.sources.keys import KeySpec, Kind
from toolbelt.sources.section import Section


@dataclass(frozen=True, slots=True)
class ProjectModel:
    """A model about which the project states facts; `None` is not stated, and is looked up elsewhere.

    Attributes:
        name: The name by which it is requested.
        label: Its short name: what is shown of it, and another name to ask for it.
        base: Another model, of the project or of litellm's table, that gives all facts not known otherwise: the target
            of an alias, or the original of a quantised build.
        provider: The provider of its API.
        api: Over which API it is asked, see `toolbelt.models.facts.APIS`.
        context_window: Tokens that a prompt takes at most.
        output_limit: Tokens of the longest answer.
        output_reserve: Tokens to keep free for an answer.
        max_tools: The most tools that a request may hold.
        tool_calling: Whether it calls tools.
        parallel_calls: Whether it makes several calls at once.
        tool_choice: Whether it can be made to call.
        caching: Whether the provider caches prompts.
        tool_search: Whether the provider has a tool search of its own for it.
        prices: Of a million tokens.
        token_rate: What definitions come to in its prompt; its family and form are those of the model.
        toolset: Name of the recommended toolset, as `models.recommended` reads it.
        sampling: Whether it takes a temperature while it reasons.
        efforts: How much it may be asked to reason, see `toolbelt.models.facts.EFFORTS`; empty if it does not reason.
        params: Further fields of its requests, as plain values; fields that an eval decides are not among them.
    """

    name: str
    label: str | None = None
    base: str | None = None
    provider: str | None = None
    api: str | None = None
    context_window: int | None = None
    output_limit: int | None = None
    output_reserve: int | None = None
    max_tools: int | None = None
    tool_calling: bool | None = None
    parallel_calls: bool | None = None
    tool_choice: bool | None = None
    caching: bool | None = None
    tool_search: bool | None = None
    prices: ModelPrices | None = None
    token_rate: TokenRate | None = None
    toolset: str | None = None
    sampling: bool | None = None
    efforts: tuple[str, ...] | None = None
    params: Mapping[str, Any] | None = None

    @property
    def calls_tools(self) -> bool | None:
        """Whether it calls tools; a model that makes several calls or takes a tool choice does."""
        if self.tool_calling is None and (self.parallel_calls or self.tool_choice):
            return True
        return self.tool_calling


def project_model_data(model: ProjectModel) -> dict[str, Any]:
    """The stated facts about a model, as plain values."""
    values = {field.name: getattr(model, field.name) for field in fields(model)}
    if model.prices is not None:
        values["prices"] = prices_data(model.prices)
    if model.token_rate is not None:
        values["token_rate"] = stated_rate(model.token_rate)
    return {key: value for key, value in values.items() if value is not None}


MODEL_KEYS: Mapping[str, KeySpec] = MappingProxyType(
    {
        "name": KeySpec(Kind.TEXT, "As it is asked for: a litellm name, or one of your own.", ("model", "id")),
        "label": KeySpec(Kind.TEXT, "A short name, which tables, pictures and sentences show, and --model takes."),
        "base": KeySpec(
            Kind.TEXT,
            "Another model, whose facts hold where nothing else is known: what an alias stands for, what a quantised "
            "build was made of. Prices and caching are taken over only if the same provider serves both.",
            ("base_model", "extends", "alias_of"),
        ),
        "provider": KeySpec(
            Kind.TEXT,
            "Whose API it is asked through, in litellm's words, such as openai, ollama or hosted_vllm.",
            ("litellm_provider", "custom_llm_provider"),
        ),
        "api": KeySpec(
            Kind.API,
            "Over which API it is asked: OpenAI's chat completions (chat), Anthropic's Messages (messages) or OpenAI's "
            "Responses (responses). If left out: Anthropic's models over messages, OpenAI's that reason over "
            "responses, all others over chat, or as litellm chooses.",
            ("endpoint", "wire_api", "api_type"),
        ),
        "context_window": KeySpec(
            Kind.COUNT,
            "Tokens that a prompt takes at most.",
            ("window", "max_input_tokens", "input_limit", "context_length", "num_ctx", "max_model_len", "n_ctx"),
        ),
        "output_limit": KeySpec(
            Kind.COUNT,
            "Tokens of its longest answer.",
            ("max_output_tokens", "max_tokens", "max_completion_tokens", "num_predict"),
        ),
        "output_reserve": KeySpec(
            Kind.COUNT,
            "Tokens of the window to keep free for an answer. If left out, the least of 4,096, the longest answer, and "
            "a quarter of the window.",
            ("reserve", "output_tokens"),
        ),
        "max_tools": KeySpec(Kind.COUNT, "The most tools that a request may hold.", ("tool_limit", "most_tools")),
        "tool_calling": KeySpec(
            Kind.SWITCH,
            "Whether it calls tools.",
            ("tools", "function_calling", "supports_function_calling", "supports_tools"),
        ),
        "parallel_calls": KeySpec(
            Kind.SWITCH,
            "Whether it makes several calls at once.",
            ("parallel_tool_calls", "parallel_function_calling", "supports_parallel_function_calling", "parallel"),
        ),
        "tool_choice": KeySpec(Kind.SWITCH, "Whether it can be made to call a tool.", ("supports_tool_choice",)),
        "caching": KeySpec(
            Kind.SWITCH, "Whether the provider caches prompts.", ("prompt_caching", "supports_prompt_caching", "cache")
        ),
        "tool_search": KeySpec(Kind.SWITCH, "Whether its provider searches for tools.", ("supports_tool_search",)),
        "prices": KeySpec(
            Kind.PRICES, "What it costs, in USD for a million tokens.", ("price", "pricing", "cost", "costs")
        ),
        "token_rate": KeySpec(
            Kind.RATE,
            "What tool definitions come to in its prompt, in place of the rate of its family, as `toolbelt model "
            "calibrate` measures it: fixed + each × tools + factor × our count.",
            ("token_factor", "tokens_per_token"),
        ),
        "toolset": KeySpec(
            Kind.TOOLSET,
            "The recommended toolset: full, loadout:NAME, loadout:auto, tiered, dynamic or dynamic:AGENT. "
            "`auto` then chooses that loadout, or for full the whole catalog, unless it cannot fit.",
            ("loadout", "tool_set"),
        ),
        "sampling": KeySpec(
            Kind.SWITCH, "Whether it takes a temperature while it reasons.", ("temperature", "supports_sampling_params")
        ),
        "efforts": KeySpec(
            Kind.NAMES,
            "How much it may be asked to reason, of none, minimal, low, medium, high, xhigh and max; an empty list if "
            "it does not reason.",
            ("reasoning_effort", "reasoning_effort_levels", "effort"),
        ),
        "params": KeySpec(
            Kind.FIELDS,
            "Further fields of every request that an eval sends it, such as `{top_p: 0.9}`; what an option says, such "
            "as a temperature, is not among them.",
            ("parameters", "extra_body", "model_kwargs"),
        ),
    }
)
"""Each key is the field of `ProjectModel` with that name."""
PRICE_KEYS: Mapping[str, KeySpec] = MappingProxyType(
    {
        "input": KeySpec(Kind.PRICE, "Of a prompt, USD for a million tokens.", ("prompt",)),
        "output": KeySpec(Kind.PRICE, "Of an answer, USD for a million tokens.", ("completion",)),
        "cache_read": KeySpec(
            Kind.PRICE,
            "Of what is read from the provider's cache, USD for a million tokens; as `input` if left out.",
            ("cached", "cached_input", "cache_hit"),
        ),
        "cache_write": KeySpec(
            Kind.PRICE,
            "Of what is written to the cache, USD for a million tokens; as `input` if left out.",
            ("cache_creation",),
        ),
    }
)
"""Each key is the field of `ModelPrices` with that name."""
REQUIRED_PRICES = ("input", "output")
NOT_PARAMS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("model", "messages", "input", "tools", "stream", "n"), "an eval decides it"),
        **dict.fromkeys(("temperature", "seed"), "it is an option: --{}"),
        **dict.fromkeys(("max_tokens", "max_completion_tokens", "max_output_tokens"), "it is an option: --max-tokens"),
        **dict.fromkeys(("reasoning_effort", "reasoning"), "it is an option: --effort"),
        "tool_choice": "it is an option: --tool-choice",
    }
)
"""Fields that are none of a model's `params`, and why."""
_FORM = "a model's name, or a mapping with its `name` and facts about it"


@dataclass(frozen=True)
class Known:
    """Names from the rest of the project's file, to which an entry for a model may refer.

    Attributes:
        loadouts: Names of loadouts; a catalog may have more.
        agents: Names of all agents there are.
        searches: Names of the project's own search toolsets.
    """

    loadouts: Collection[str] = ()
    agents: Collection[str] = ()
    searches: Collection[str] = ()


_NOTHING = Known()


def read_models(
    document: Document, *path: Key, known: Known = _NOTHING
) -> tuple[list[str], list[ProjectModel], list[Finding]]:
    """The models of a list, and everything wrong with them.

    Args:
        document: The file.
        path: Place of the list in the file; if there is none, there are no models.
        known: The other names in the file.

    Returns:
        The names in the order written, each once, or the label where one has it; the stated facts, as far as they could
        be read; the findings.
    """
    section = Section.of(document, *path)
    models: list[ProjectModel] = []
    names: dict[str, bool] = {}
    """By name, whether the file states facts about the model."""
    earlier: dict[str, str] = {}
    items = [] if section.value is None else section.read_items(wanted="a list of names, or of mappings with a `name`")
    for item in items:
        own = _read_model(item, known)
        if own is None:
            continue
        before = earlier.setdefault(fold(own.name), own.name)
        is_definition = isinstance(item.value, dict)
        if own.name in names or before != own.name:
            if not (is_definition or names[before]):  # a name twice says nothing new
                names.setdefault(own.name, False)
                continue
            difference = "" if before == own.name else f", first as {before!r}"
            item.add_error("duplicate-entry", f"{item.label}: {own.name!r} stands here twice{difference}.")
            continue
        names[own.name] = is_definition
        if is_definition:
            models.append(own)
            _refuse_contradictions(item, own)
            if own.label and ((owner := earlier.setdefault(fold(own.label), own.name)) != own.name or "," in own.label):
                why = f"is a name of {owner!r} already" if owner != own.name else "has a comma, which parts models"
                item.child("label").add_error("bad-label", f"{item.child('label').label}: {own.label!r} {why}.")
    _refuse_cycles(section, models)
    labels = {own.name: own.label for own in models if own.label}
    return [labels.get(name, name) for name in names], models, section.findings


def _read_model(item: Section, known: Known) -> ProjectModel | None:
    if isinstance(item.value, str) and item.value.strip():
        return ProjectModel(item.value)
    if not isinstance(item.value, dict):
        item.add_wrong_type(_FORM)
        return None
    if _is_keyed_by_name(item.value):
        [name] = item.value
        item.add_error("wrong-type", f"{item.label}: write `name: {name}`, and the facts beside it.")
        return None
    written = item.read_fields(MODEL_KEYS, "model").items()
    fields: dict[str, Any] = {key: _READERS[MODEL_KEYS[key].kind](value, known) for key, value in written}
    if item.value.get("name") is None:
        item.add_error("missing-key", f"{item.label}: a model says in `name` how it is asked for.")
    return ProjectModel(**fields) if fields.get("name") else None


_READERS: Mapping[Kind, Callable[[Section, Known], Any]] = {
    Kind.TEXT: lambda value, _: value.read_text(),
    Kind.SWITCH: lambda value, _: value.read_bool() is True,
    Kind.COUNT: lambda value, _: value.read_int(least=1, allow_float=True),
    Kind.PRICES: lambda value, _: _read_prices(value),
    Kind.RATE: lambda value, _: read_stated_rate(value),
    Kind.TOOLSET: lambda value, known: _read_recommended(value, known),  # noqa: PLW0108  it stands below
    Kind.NAMES: lambda value, _: tuple(value.read_names(None, EFFORTS, "effort")),
    Kind.FIELDS: lambda value, _: _read_params(value),
    Kind.API: lambda value, _: _read_api(value),
}


def _is_keyed_by_name(value: Mapping[str, Any]) -> bool:
    """Whether the entry is written like a tool with overrides: a name, and a mapping below it."""
    if len(value) != 1:
        return False
    [(key, below)] = value.items()
    return key not in MODEL_KEYS and (below is None or isinstance(below, dict))


def _read_prices(section: Section) -> ModelPrices | None:
    if not isinstance(section.value, dict):
        section.add_wrong_type("a mapping with `input` and `output`, in USD for a million tokens")
        return None
    fields = {key: value.read_number(least=0) for key, value in section.read_fields(PRICE_KEYS, "price").items()}
    missing = [key for key in REQUIRED_PRICES if section.value.get(key) is None]
    if missing:
        section.add_error("missing-key", f"{section.label} lacks {' and '.join(f'`{key}`' for key in missing)}.")
    return ModelPrices(**fields) if None not in map(fields.get, REQUIRED_PRICES) else None  # type: ignore[arg-type]


def _read_api(section: Section) -> str | None:
    name = section.read_text()
    return name if name and section.is_known(name, APIS, "api") else None


def _read_params(section: Section) -> Mapping[str, Any] | None:
    params = section.read_mapping(wanted=Kind.FIELDS.value) or {}
    for name, value in params.items():
        place = section.child(name)
        if (reason := NOT_PARAMS.get(str(name))) is not None:
            place.add_error("not-a-param", f"{place.label}: {name!r} cannot be among `params`: {reason.format(name)}.")
        elif not isinstance(name, str) or not _is_json(value):
            place.add_wrong_type("a value that JSON can hold, under a name")
    return params or None


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _read_recommended(section: Section, known: Known) -> str | None:
    if not (text := section.read_text()):
        return None
    try:
        spec = parse_recommended(text, known.loadouts)
    except InvalidDefinitionError as error:
        section.add_error("unknown-toolset", f"{section.label}: {error}")
        return None
    if spec.kind is RecommendedKind.DYNAMIC and spec.name and fold(spec.name) not in map(fold, known.agents):
        section.is_known(spec.name, known.agents, "agent")
        return None
    if spec.kind is RecommendedKind.SEARCH:
        from toolbelt.search.presets import PRESETS  # few models are given a search

        searches = (*PRESETS, *known.searches)
        preset = spec.name.partition(":")[0]
        if preset and fold(preset) not in map(fold, searches):
            section.is_known(preset, searches, "search preset")
            return None
    return str(spec)


def _refuse_contradictions(item: Section, own: ProjectModel) -> None:
    if own.tool_calling is False:
        for key in ("parallel_calls", "tool_choice", "max_tools", "toolset"):
            if getattr(own, key):
                message = f"{item.label}: {own.name!r} calls no tools, so that `{key}` cannot be {_shown(own, key)}."
                item.child(key).add_error("contradiction", message)
    if own.output_reserve is not None and own.context_window is not None and own.output_reserve >= own.context_window:
        place = item.child("output_reserve")
        left = f"{own.output_reserve:,} tokens leave nothing of a window of {own.context_window:,}"
        place.add_error("contradiction", f"{place.label}: {left}.")


def _shown(own: ProjectModel, key: str) -> str:
    value = getattr(own, key)
    return "true" if value is True else repr(value) if isinstance(value, str) else f"{value:,}"


def _refuse_cycles(section: Section, models: Sequence[ProjectModel]) -> None:
    """Each cycle of bases once, at the first of its members in the file."""
    bases = {own.name: own.base for own in models}
    places = {item.value["name"]: item for item in _mappings(section)}
    reported: set[str] = set()
    for own in models:
        way = [own.name]
        while (base := bases.get(way[-1])) is not None and base not in way:
            way.append(base)
        if base == own.name and own.name not in reported:
            reported.update(way)
            shown = " → ".join((*way, own.name))
            place = places[own.name].child("base")
            place.add_error("cycle", f"{place.label}: models are based on each other in a cycle: {shown}.")


def _mappings(section: Section) -> list[Section]:
    items = (section.child(index) for index in range(len(section.value))) if isinstance(section.value, list) else ()
    return [item for item in items if isinstance(item.value, dict) and isinstance(item.value.get("name"), str)]
