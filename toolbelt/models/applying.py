"""Which rules hold for a model."""

from __future__ import annotations

from collections.abc import Iterable

from toolbelt.models.facts import ModelFacts
from toolbelt.models.provider_rules import PROVIDER_RULES
from toolbelt.models.rules import Fact, ProviderRules


def find_rules(facts: ModelFacts, table: Iterable[ProviderRules] = PROVIDER_RULES) -> ProviderRules | None:
    """The rules of the API that a model is asked through; `None` if nothing is known of it.

    A model that only looks as if it were OpenAI's (`openai/` is also how a server of one's own is called) is held to
    none of OpenAI's rules, and neither is one that is asked in another way than the rules are about.
    """
    if facts.provider is None or (facts.provider == "openai" and facts.known_as is None):
        return None
    names = [name.lower() for name in (facts.name, facts.known_as) if name]
    for rules in table:
        if facts.provider in rules.providers and any(rules.models in name for name in names):
            return rules if facts.mode is None or facts.mode in rules.modes else None
    return None


def find_tool_rules(facts: ModelFacts) -> tuple[Fact, ...]:
    """The rules that hold for a model; none where nothing is known of its API."""
    rules = find_rules(facts)
    return () if rules is None else rules.for_model(facts.name, facts.known_as)


def find_max_tools(facts: ModelFacts) -> int | None:
    """The most tools of a request to a model: what is said of it, else what is known of its API."""
    if facts.max_tools is not None:
        return facts.max_tools
    rules = find_rules(facts)
    return None if rules is None else rules.most_tools
