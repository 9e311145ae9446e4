"""What is known of a model: what the project says, else litellm's table; what neither says is unknown.

The table was written by many hands. What follows was seen in it, and decides how it is read:

- `supports_function_calling` is missing from one chat model in four, o3-mini on Azure and Llama 3.1 on Bedrock among
  them, which do call tools. So what is missing is unknown; only `false` is no, and to be an embedding or the like.
- `supports_tool_choice` is set for models such as Llama 2 that have no entry about tools. Without tools that
  are known to be called, it is no ground, nor is `supports_parallel_function_calling`.
- `supports_prompt_caching` is missing from hundreds of models that have a price for tokens read from the cache; who
  charges for these has a cache.
- `supports_sampling_params` and `supports_forced_tool_use` are false where a model refuses a temperature or a forced
  call. Effort has a flag for each level, or a list of levels; four in five models that reason have neither.
- `supported_endpoints` names the Responses API for models of OpenAI's that reason, and for others. Over chat
  completions the first lose their reasoning between requests, or refuse tools; the others lose nothing.
- `supports_tool_search` is set for models of OpenAI's, and for Claude on Bedrock alone: Anthropic's page "Tool search
  tool" (read 2026-11-29) names every Claude since 4.5, which are all that the table still has.
- `max_output_tokens` is as large as the window for a third of the models, so that it is no reserve.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from toolbelt.models.facts import BY_RULES, EFFORTS, ModelFacts, ModelPrices, default_reserve
from toolbelt.models.provider_rules import find_max_tools
from toolbelt.providers.current_models import list_current
from toolbelt.providers.litellm_table import ModelTable, read_window
from toolbelt.providers.prices import first_price, per_million
from toolbelt.providers.provider_names import find_provider, served_alike

if TYPE_CHECKING:
    from toolbelt.models.project_models import ProjectModel

TALKING_MODES = frozenset({"chat", "responses", "completion"})
"""Modes of models that can be asked with messages."""
_SILENT_MODES = frozenset(
    {
        *("embedding", "rerank", "moderation", "search", "ocr", "vector_store"),
        *("audio_transcription", "audio_speech", "video_generation"),
    }
)
"""Where the table need not say that no tools are called. Of pictures and live talk it has models that call some."""
_LOCAL: Mapping[str, ModelFacts] = MappingProxyType(
    {
        "local/bm25": ModelFacts(
            "local/bm25", None, "local", "chat", tool_calling=True, tool_choice=True, prices=ModelPrices(0.0, 0.0)
        )
    }
)
"""Models of our own, which no table knows. They have no window: whatever is offered is ranked."""
_FILE_NAME = "model-facts.json"
_OURS, _PROJECT, _TABLE, _RULES, _DEFAULT = "toolbelt", "toolbelt.yaml", "litellm", BY_RULES, "default"
_NUMBERS = (int, float)
_OF_THE_PROVIDER = frozenset({"api", "caching", "prices", "tool_search"})
"""Facts about a model's provider, not about the model."""


class _Entry(NamedTuple):
    """The values of a table entry that are used, as JSON."""

    mode: str | None
    context_window: int | None
    output_limit: int | None
    tool_calling: bool | None
    parallel_calls: bool | None
    tool_choice: bool | None
    reasoning: bool | None
    efforts: list[bool | None]
    default_effort: str | None
    sampling: bool | None
    caching: bool | None
    prices: list[float | None] | None
    alias_of: str | None
    deprecation_date: str | None
    successor: str | None
    over_responses: bool | None
    tool_search: bool | None


def find_facts(model: str, table: ModelTable) -> ModelFacts:
    """The known facts about a model. Never raises; an unknown fact is `None`.

    A fact comes from the project, else from the table, else from the model's `base` in the same way. Prices and
    caching come from a base only if the same provider serves it. The most tools may also come from a provider's rule.

    Args:
        model: A litellm name, or one of the project's own.
        table: What is known of models, the project's own among them.
    """
    gathered = _Gathered()
    alike = served_alike(model, table)
    known_as = None
    asked_as = table.find_asked(model)
    if asked_as != model:
        gathered.learn("asked_as", asked_as, _PROJECT)
    for name in table.trace(model):
        suffix = "" if name == asked_as else f" ({name})"
        left_out = frozenset() if name in alike else _OF_THE_PROVIDER
        provider = find_provider(name, table)
        if (own := table.find_project_model(name)) is not None:
            gathered.learn_own(own, f"{_PROJECT}{suffix}", left_out)
        if provider is not None:
            gathered.learn("provider", provider[0], f"{provider[1]}{suffix}")
        entry_name = table.find_name(name)
        if entry_name is not None:
            entry = _Entry(*_entries(table)[entry_name])
            known_as = known_as or entry.alias_of or entry_name
            gathered.learn_entry(entry, f"{_TABLE}{suffix}", left_out)
            twin = _entries(table).get(entry_name.partition("/")[2])  # azure/gpt-5-mini says less than gpt-5-mini
            gathered.learn_reasoning(entry, None if twin is None else _Entry(*twin), f"{_TABLE}{suffix}", name)
            if name in alike:
                gathered.learn_end(entry, f"{_TABLE}{suffix}", table)
    if (ours := _LOCAL.get(model)) is not None:
        gathered.learn_all(ours, _OURS)
    return gathered.sum_up(model, known_as)


def is_known(model: str, table: ModelTable) -> bool:
    """Whether the project or the table has the model, or it is one of ours."""
    return model in _LOCAL or table.find_project_model(model) is not None or table.find_name(model) is not None


def list_models(table: ModelTable) -> Iterator[str]:
    """Every model of litellm's table that can be talked to, as it is called there."""
    for name, entry in _entries(table).items():
        if _Entry(*entry).mode in TALKING_MODES:
            yield name


def list_current_names(table: ModelTable) -> tuple[str, ...]:
    """The current models of the table, by vendor, and our own."""
    return (*(name for models in list_current(table).values() for name in models), *_LOCAL)


class _Gathered:
    """Facts learned so far, each from the first source that has it."""

    def __init__(self) -> None:
        self._facts: dict[str, Any] = {}
        self._sources: dict[str, str] = {}

    def learn(self, key: str, value: object, source: str) -> None:
        if value is not None and key not in self._facts:
            self._facts[key], self._sources[key] = value, source

    def learn_all(self, facts: ModelFacts, source: str) -> None:
        for key in ("provider", "mode", "tool_calling", "tool_choice", "prices"):
            self.learn(key, getattr(facts, key), source)

    def learn_own(self, own: ProjectModel, source: str, left_out: frozenset[str]) -> None:
        self.learn("tool_calling", own.calls_tools, source)
        for key in ("api", "parallel_calls", "tool_choice", "caching", "prices", "tool_search"):
            if key not in left_out:
                self.learn(key, getattr(own, key), source)
        for key in ("context_window", "output_limit", "output_reserve", "max_tools", "efforts", "sampling", "toolset"):
            self.learn(key, getattr(own, key), source)
        self.learn("token_rate", own.token_rate, source)
        if own.efforts is not None:
            self.learn("reasoning", own.efforts not in ((), ("none",)), source)

    def learn_entry(self, entry: _Entry, source: str, left_out: frozenset[str]) -> None:
        for key in ("mode", "context_window", "output_limit", "tool_calling"):
            self.learn(key, getattr(entry, key), source)
        if entry.tool_calling or self._facts.get("tool_calling"):
            self.learn("parallel_calls", entry.parallel_calls, source)
            self.learn("tool_choice", entry.tool_choice, source)
        if not left_out:
            self.learn("api", "responses" if entry.over_responses else None, source)
            self.learn("caching", entry.caching, source)
            self.learn("tool_search", entry.tool_search, source)
            self.learn("prices", entry.prices and _prices(entry.prices), source)

    def learn_reasoning(self, entry: _Entry, twin: _Entry | None, source: str, model: str) -> None:
        """What the entry says of reasoning, else its twin; efforts as litellm itself reads them.

        Most are taken unless they are denied; xhigh and max, with Azure none, and with Claude minimal (which the types
        of Anthropic's SDK do not have) only where they are granted.
        """
        flags = entry.efforts
        if twin is not None:
            flags = [own if own is not None else other for own, other in zip(flags, twin.efforts, strict=True)]
        granted = {"xhigh", "max", *(("none",) if self._facts.get("provider") == "azure" else ())}
        granted |= {"minimal"} if "claude" in model.lower() else set()
        if any(flag is not None for flag in flags):
            taken = zip(EFFORTS, flags, strict=True)
            efforts = (effort for effort, flag in taken if flag or (flag is None and effort not in granted))
            self.learn("efforts", tuple(efforts), source)
        for key in ("reasoning", "default_effort", "sampling"):
            self.learn(key, getattr(entry, key), source)
            self.learn(key, getattr(twin, key, None), source)

    def learn_end(self, entry: _Entry, source: str, table: ModelTable) -> None:
        self.learn("alias_of", entry.alias_of, source)
        if entry.deprecation_date is not None:
            self.learn("deprecation_date", entry.deprecation_date, source)
            self.learn("days_left", (date.fromisoformat(entry.deprecation_date) - table.today).days, source)
            self.learn("successor", _find_successor(entry, table), source)

    def sum_up(self, model: str, known_as: str | None) -> ModelFacts:
        if self._facts.get("mode") in _SILENT_MODES:
            self.learn("tool_calling", False, self._sources["mode"])
        if self._facts.get("tool_calling") is False:  # then neither several at once, nor when told to
            for key in ("parallel_calls", "tool_choice"):
                self._facts[key], self._sources[key] = False, self._sources["tool_calling"]
        if self._facts.get("provider") == "anthropic":
            self.learn("api", "messages", self._sources["provider"])
            self.learn("tool_search", True, _RULES)
        reserve = default_reserve(self._facts.get("context_window"), self._facts.get("output_limit"))
        self.learn("output_reserve", reserve, _DEFAULT)
        self.learn("max_tools", find_max_tools(self._make(model, known_as)), _RULES)
        return self._make(model, known_as)

    def _make(self, model: str, known_as: str | None) -> ModelFacts:
        sources = {fact.name: self._sources[fact.name] for fact in fields(ModelFacts) if fact.name in self._sources}
        return ModelFacts(name=model, known_as=known_as, sources=MappingProxyType(sources), **self._facts)


def _find_successor(entry: _Entry, table: ModelTable) -> str | None:
    """The first successor that is not gone; `None` if there is none."""
    seen: set[str | None] = set()
    while (name := entry.successor) is not None and name not in seen:
        seen.add(name)
        row = _entries(table).get(table.find_name(name) or "")
        if row is None:
            return name
        entry = _Entry(*row)
        if entry.deprecation_date is None or date.fromisoformat(entry.deprecation_date) > table.today:
            return name
    return None


def _entries(table: ModelTable) -> Mapping[str, list[Any]]:
    return table.extract(_FILE_NAME, _entry, _is_sound)


def _entry(entry: object) -> _Entry:
    if not isinstance(entry, dict):
        return _entry({})
    mode, prices = entry.get("mode"), first_price(entry)
    cached_read = None if prices is None else prices[2]
    caching = _flag(entry, "prompt_caching")
    return _Entry(
        mode if isinstance(mode, str) else None,
        read_window(entry),
        read_window(entry, "max_output_tokens"),
        _flag(entry, "function_calling"),
        _flag(entry, "parallel_function_calling"),
        False if _flag(entry, "forced_tool_use") is False else _flag(entry, "tool_choice"),
        _flag(entry, "reasoning"),
        _effort_flags(entry),
        _default_effort(entry),
        _flag(entry, "sampling_params"),
        True if caching is None and cached_read else caching,
        prices,
        _text(entry, "alias_of"),
        day if _is_day(day := _text(entry, "deprecation_date")) else None,
        _text(entry, "successor_model"),
        _is_over_responses(entry),
        _flag(entry, "tool_search"),
    )


def _effort_flags(entry: Mapping[str, Any]) -> list[bool | None]:
    """Whether a model takes each effort; `None` where the entry does not say. A list of levels says all."""
    declared = entry.get("reasoning_effort_levels")
    if isinstance(declared, list):
        return [effort in declared for effort in EFFORTS]
    if _flag(entry, "reasoning") is False:
        return [False] * len(EFFORTS)
    flags = [_flag(entry, f"{effort}_reasoning_effort") for effort in EFFORTS]
    return [False if entry.get("thinking_always_on") is True else flags[0], *flags[1:]]


def _default_effort(entry: Mapping[str, Any]) -> str | None:
    """How much a model reasons if it is not asked; an older Claude does not."""
    if (effort := _text(entry, "default_reasoning_effort")) in EFFORTS:
        return effort
    is_older_claude = entry.get("litellm_provider") in _CLAUDE and _flag(entry, "reasoning")
    return "none" if is_older_claude and not any(entry.get(key) for key in _THINKS_BY_ITSELF) else None


_CLAUDE = ("anthropic", "vertex_ai-anthropic_models")
_THINKS_BY_ITSELF = ("supports_adaptive_thinking", "thinking_on_by_default", "thinking_always_on")


def _is_over_responses(entry: Mapping[str, Any]) -> bool | None:
    if entry.get("litellm_provider") != "openai":
        return None
    endpoints = entry.get("supported_endpoints")
    has_both = isinstance(endpoints, list) and "/v1/responses" in endpoints
    return entry.get("mode") == "responses" or (has_both and entry.get("supports_reasoning") is True)


def _text(entry: Mapping[str, Any], key: str) -> str | None:
    value = entry.get(key)
    return value if isinstance(value, str) else None


def _is_day(value: str | None) -> bool:
    with suppress(ValueError):
        return value is not None and bool(date.fromisoformat(value))
    return False


def _flag(entry: Mapping[str, Any], name: str) -> bool | None:
    value = entry.get(f"supports_{name}")
    return value if isinstance(value, bool) else None


def _prices(rates: list[float | None]) -> ModelPrices:
    prompt, completion, read, write = (None if price is None else per_million(price) for price in rates)
    return ModelPrices(prompt or 0.0, completion or 0.0, read, write)


def _is_sound(value: object) -> bool:
    # Asked of thousands of entries whenever a model is looked up: hence nothing but comparisons.
    if type(value) is not list or len(value) != len(_Entry._fields):
        return False
    *first, apart, searches = value
    mode, window, limit, calls, parallel, choice, *reasoning, caching, prices, alias, day, successor = first
    reasons, efforts, default_effort, sampling = reasoning
    return (
        (mode is None or type(mode) is str)
        and (window is None or (type(window) is int and window > 0))
        and (limit is None or (type(limit) is int and limit > 0))
        and (calls is None or calls is True or calls is False)
        and (parallel is None or parallel is True or parallel is False)
        and (choice is None or choice is True or choice is False)
        and (reasons is None or reasons is True or reasons is False)
        and (
            type(efforts) is list
            and len(efforts) == len(EFFORTS)
            and all(flag in (None, True, False) for flag in efforts)
        )
        and (default_effort is None or default_effort in EFFORTS)
        and (sampling is None or sampling is True or sampling is False)
        and (caching is None or caching is True or caching is False)
        and (prices is None or _are_prices(prices))
        and (alias is None or type(alias) is str)
        and (day is None or (type(day) is str and _is_day(day)))
        and (successor is None or type(successor) is str)
        and (apart is None or apart is True or apart is False)
        and (searches is None or searches is True or searches is False)
    )


def _are_prices(value: object) -> bool:
    if type(value) is not list or len(value) != 4:
        return False
    prompt, completion, read, write = value
    return (
        (type(prompt) in _NUMBERS and prompt >= 0)
        and (type(completion) in _NUMBERS and completion >= 0)
        and (read is None or (type(read) in _NUMBERS and read >= 0))
        and (write is None or (type(write) in _NUMBERS and write >= 0))
    )
