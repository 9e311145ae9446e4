"""The fit of every toolset to every model. Tools are inspected and counted once, whatever the number of pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from toolbelt.catalog import Tool
from toolbelt.catalog.tokens import ToolTokens
from toolbelt.loadouts.fit import ModelFit
from toolbelt.models.facts import ModelFacts
from toolbelt.models.provider_rules import find_max_tools, find_rules, find_tool_rules
from toolbelt.models.rules import Effect, Fact, RootObject, ToolName
from toolbelt.models.token_rates import AS_COUNTED, TokenRate, find_model_rate
from toolbelt.models.violations import InspectedTools, inspect_tools

CountingMethod = tuple[str, str]
"""A tokenizer, and the provider's format of the counted definitions."""


@dataclass(frozen=True, eq=False, repr=False)
class CandidateToolset:
    """Tools that can be offered together.

    Attributes:
        name: As it is shown.
        tools: In the order they are offered.
        loadout: The loadout that they are of; `None` for the whole catalog.
    """

    name: str
    tools: tuple[Tool, ...]
    loadout: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ModelToFit:
    """A model, and the method that counts its tools.

    Attributes:
        facts: The known facts about the model.
        counting: The counting method.
        exact: Whether its tokenizer is the model's own.
        rate: What the count comes to in its prompt.
    """

    facts: ModelFacts
    counting: CountingMethod
    exact: bool
    rate: TokenRate = AS_COUNTED

    @classmethod
    def of(cls, facts: ModelFacts, tokenizer: str, form: str, *, exact: bool) -> ModelToFit:
        """A model whose tools are counted as its family sees them, if that is known, else in the provider's format."""
        rate = find_model_rate(facts)
        return cls(facts, (tokenizer, rate.form or form), exact, rate)


class _Sum(NamedTuple):
    tools: int
    tokens: int
    by_plugin: tuple[tuple[str, int], ...]


@dataclass(eq=False, repr=False)
class FitCalculator:
    """Calculates the fit of toolsets to models; it counts and adds up each set of tools once.

    Args:
        wire_names: By tool id, as the catalog assigns them.
        count: Counts the tokens of at least `tools` by a counting method; called once for each method.
        tools: All tools of all toolsets.
    """

    wire_names: Mapping[str, str]
    count: Callable[[CountingMethod], ToolTokens]
    tools: Sequence[Tool]
    _counted: dict[CountingMethod, ToolTokens] = field(default_factory=dict, init=False)
    _summed: dict[tuple[CountingMethod, int], _Sum] = field(default_factory=dict, init=False)
    _refused: dict[tuple[Fact, ...], frozenset[str]] = field(default_factory=dict, init=False)
    _to_repair: dict[tuple[tuple[Fact, ...], int], int] = field(default_factory=dict, init=False)
    _toolsets: list[CandidateToolset] = field(default_factory=list, init=False)

    def fit(self, toolset: CandidateToolset, model: ModelToFit) -> ModelFit:
        """The fit of a toolset to a model."""
        facts = model.facts
        tokens = self._tokens(model.counting)
        summed = self._sum(toolset, model.counting)
        rules = find_rules(facts)
        rate = model.rate.counted_by(tokens.tokenizer)
        return ModelFit(
            model=facts.name,
            context_window=facts.context_window,
            tokens=rate.estimate(summed.tokens, summed.tools),
            tokenizer=tokens.tokenizer,
            exact=model.exact and tokens.exact,
            tools=summed.tools,
            output_reserve=facts.output_reserve,
            max_tools=find_max_tools(facts),
            tool_calling=facts.tool_calling,
            by_plugin=tuple((plugin, round(rate.factor * tokens)) for plugin, tokens in summed.by_plugin),
            api=None if rules is None else rules.title,
            to_repair=self._count_to_repair(toolset, find_tool_rules(facts)),
            error=rate.error,
        )

    @cached_property
    def inspected(self) -> InspectedTools:
        """All tools, inspected."""
        return inspect_tools(self.tools, self.wire_names)

    def _tokens(self, counting: CountingMethod) -> ToolTokens:
        if counting not in self._counted:
            self._counted[counting] = self.count(counting)
        return self._counted[counting]

    def _key(self, toolset: CandidateToolset) -> int:
        # Toolsets are few, tools are many: distinguished by identity, and kept so that no other takes their place.
        for number, stored in enumerate(self._toolsets):
            if stored is toolset:
                return number
        self._toolsets.append(toolset)
        return len(self._toolsets) - 1

    def _sum(self, toolset: CandidateToolset, counting: CountingMethod) -> _Sum:
        key = (counting, self._key(toolset))
        if key not in self._summed:
            by_id = self._tokens(counting).by_id
            by_plugin: Counter[str] = Counter()
            for tool in toolset.tools:
                by_plugin[tool.plugin or tool.name] += by_id[tool.id]
            largest_first = tuple(by_plugin.most_common())
            self._summed[key] = _Sum(len(toolset.tools), by_plugin.total(), largest_first)
        return self._summed[key]

    def _count_to_repair(self, toolset: CandidateToolset, facts: tuple[Fact, ...]) -> int:
        key = (facts, self._key(toolset))
        if key not in self._to_repair:
            refused = self._find_refused(facts)
            self._to_repair[key] = sum(tool.id in refused for tool in toolset.tools) if refused else 0
        return self._to_repair[key]

    def _find_refused(self, facts: tuple[Fact, ...]) -> frozenset[str]:
        """Ids of the tools that the API certainly refuses as they are sent: under their wire names, as objects."""
        if facts not in self._refused:
            refused = [fact for fact in facts if fact.effect is Effect.REFUSED and not fact.litellm]
            sure = [fact for fact in refused if not isinstance(fact.rule, RootObject)]
            patterns = [fact.rule.pattern for fact in sure if isinstance(fact.rule, ToolName)]
            broken = self.inspected.breaking(fact for fact in sure if not isinstance(fact.rule, ToolName))
            names = {
                tool.id for tool in self.tools for pattern in patterns if not pattern.allows(self.wire_names[tool.id])
            }
            self._refused[facts] = frozenset(broken) | names
        return self._refused[facts]


def compare(
    toolsets: Iterable[CandidateToolset], models: Sequence[ModelToFit], calculator: FitCalculator
) -> list[list[ModelFit]]:
    """The fit of every toolset to every model: a row for each toolset, a column for each model."""
    return [[calculator.fit(toolset, model) for model in models] for toolset in toolsets]
