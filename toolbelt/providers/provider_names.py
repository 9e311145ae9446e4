"""The provider of a model: from the project, from litellm's table, or from the start of its name."""

from __future__ import annotations

import json
from functools import cache

from toolbelt.providers.litellm_table import PROVIDERS, ModelTable, find_litellm_file

BY_PROJECT, BY_TABLE, BY_NAME = "toolbelt.yaml", "litellm", "name"
"""Sources of a provider's name."""


def find_provider(model: str, table: ModelTable) -> tuple[str, str] | None:
    """The provider of a model, by litellm's name, and the source of that name; `None` if unknown.

    Args:
        model: Its name; its base is not considered.
        table: What is known of models.
    """
    own = table.find_project_model(model)
    if own is not None and own.provider is not None:
        return own.provider, BY_PROJECT
    name = table.find_name(model)
    provider = None if name is None else table.providers.get(name)
    if provider is not None:
        return provider, BY_TABLE
    before, slash, _ = model.partition("/")
    if slash and (is_provider(before) or before in table.providers.values()):
        return before, BY_NAME
    return None


def is_provider(name: str) -> bool:
    """Whether litellm's list of providers has that name."""
    return name in _routes()


def served_alike(model: str, table: ModelTable) -> tuple[str, ...]:
    """`model` and its bases, nearest first, without those that another provider serves at its own price.

    An alias (a deployment, a proxy's name) has the price of its base. A build that runs elsewhere does not.
    """
    names = table.trace(model)
    providers = {name: find_provider(name, table) for name in names}
    first = next((provider for provider in providers.values() if provider is not None), None)
    return tuple(
        name
        for name in names
        if (served_by := providers[name]) is None or first is None or is_same(served_by[0], first[0])
    )


def is_same(provider: str, other: str) -> bool:
    """Whether two words are for one provider: `vertex_ai` is that of the models of `vertex_ai-…`, too."""
    short, long = sorted((provider, other), key=len)
    return long == short or long.startswith((f"{short}_", f"{short}-"))


def list_providers(table: ModelTable) -> tuple[str, ...]:
    """Providers that have a model in litellm's table, or in the project's, by name."""
    own = (model.provider for model in table.own if model.provider is not None)
    return tuple(sorted({*own, *(provider for provider in table.providers.values() if provider is not None)}))


@cache
def _routes() -> frozenset[str]:
    """The prefixes of model names by which litellm finds the provider."""
    path = find_litellm_file(PROVIDERS)
    try:
        data = json.loads(path.read_text(encoding="utf-8")) if path else {}
        return frozenset(name for name in data["providers"] if isinstance(name, str))
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset()
