"""What cannot be sent to a model as it is asked, found before the first request (rule V5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from toolbelt.errors import ToolbeltError
from toolbelt.evals.models.model import Model
from toolbelt.evals.models.opening import OPENERS, ModelOptions
from toolbelt.models.facts import ModelFacts
from toolbelt.models.settings import find_refusal, join
from toolbelt.providers.chat import ModelError, Sampling
from toolbelt.providers.endpoints import Transport, find_own_api
from toolbelt.providers.hosted_search import METHODS, TOOLSET, SearchMethod

OPTIONS: Mapping[str, str] = {
    "temperature": "--temperature {:g}",
    "tool_choice": "--tool-choice {}",
    "max_tokens": "--max-tokens {}",
    "effort": "--effort {}",
    "params": "the `params` of the model in toolbelt.yaml",
    "seed": "--seed {}",
}
"""Of each setting, how a user gives it, in the order in which they are tried."""
_WRONG = "Where that is wrong, say so under `models` in toolbelt.yaml"


def refuse_by_facts(asked: Iterable[tuple[ModelFacts, Sampling]], way: str = "") -> None:
    """Raise `ToolbeltError` with every reason why models would refuse what they are to be asked, and a way out."""
    reasons = dict.fromkeys(
        reason for facts, sampling in asked if (reason := _find_refusal(facts, sampling)) is not None
    )
    if reasons:
        raise ToolbeltError(" ".join((*reasons, f"{_WRONG}{way}.")))


def _find_refusal(facts: ModelFacts, sampling: Sampling) -> str | None:
    return find_refusal(facts, sampling.temperature, sampling.effort, sampling.tool_choice, sampling.params)


def refuse_by_mapping(asked: Iterable[tuple[Model, ModelFacts, Sampling]]) -> None:
    """Raise `ToolbeltError` with every reason why what models are to be asked would not be sent, or not as it is said.

    Only for models over litellm, and over vendors' own APIs, where settings are mapped to the words of each provider.
    """
    of_model: dict[str, tuple[_Mapper, ModelFacts, list[Sampling]]] = {}
    for model, facts, sampling in asked:
        if isinstance(client := getattr(model, "client", None), _Mapper):
            of_model.setdefault(model.name, (client, facts, []))[2].append(sampling)
    reasons = dict.fromkeys(reason for each in of_model.values() for reason in _find_reasons(*each))
    if reasons:
        raise ToolbeltError(" ".join(reasons))


def choose_search(
    facts: ModelFacts, options: ModelOptions, wanted: str = "", *, ask_anyway: bool = False
) -> SearchMethod:
    """How a model's vendor is asked to search for tools itself.

    Args:
        facts: About the model.
        options: How it is asked.
        wanted: The name of a method; empty for the first that its API has.
        ask_anyway: Whether to ask where nobody says that the model has such a search.

    Raises:
        ToolbeltError: it has none, or none of that method; with what to write instead.
    """
    name = options.table.find_asked(facts.name)
    api = None if name.startswith(tuple(OPENERS)) else find_own_api(name, options.api_base, options.table)
    methods = () if api is None else METHODS[api.word]
    if not methods:
        raise ToolbeltError(
            f"{TOOLSET} is a search of Anthropic's Messages and OpenAI's Responses, and {facts.name} is asked over "
            "neither: write search, search:anthropic-bm25 or search:openai, which any model takes, or ask another."
        )
    if options.transport is Transport.LITELLM:
        raise ToolbeltError(f"{TOOLSET} is not sent through litellm: leave out --transport litellm, or {TOOLSET}.")
    if wanted and wanted not in methods:
        known = " or ".join(f"{TOOLSET}:{method}" for method in methods)
        raise ToolbeltError(f"{TOOLSET}:{wanted} is another vendor's search: for {facts.name} write {known}.")
    if facts.tool_search is not True and not ask_anyway:
        known = "has no" if facts.tool_search is False else "is not known to have a"
        raise ToolbeltError(
            f"{facts.name} {known} tool search of its own: write search in place of {TOOLSET}. {_WRONG} "
            "(`tool_search: true`), or send it with --ask-anyway."
        )
    return SearchMethod(wanted) if wanted else methods[0]


@runtime_checkable
class _Mapper(Protocol):
    @property
    def sender(self) -> str: ...

    def map_settings(self, sampling: Sampling) -> Mapping[str, Any]: ...


def _find_reasons(client: _Mapper, facts: ModelFacts, samplings: Iterable[Sampling]) -> Iterator[str]:
    efforts: dict[str, str] = {}
    for sampling in samplings:
        sent = _map(client, sampling)
        if sent is None:
            yield _describe_refusal(client, facts.name, sampling)
            continue
        budget = _find_budget(sent)
        if sampling.max_tokens is not None and budget is not None and budget >= sampling.max_tokens:
            yield (
                f"{facts.name} may reason in {budget:,} tokens with --effort {sampling.effort}, so that --max-tokens "
                f"{sampling.max_tokens} leaves none for an answer: allow more, or ask for less effort."
            )
        if (effort := sampling.effort) is None:
            continue
        if effort != facts.default_effort and sent == _map(client, replace(sampling, effort=None)):
            yield f"{client.sender} sends no --effort {effort} to {facts.name}: leave it out."
        elif effort != "none" and sent == _map(client, replace(sampling, effort="none")):
            yield f"{client.sender} sends --effort {effort} to {facts.name} as none: name another."
        elif (first := efforts.setdefault(repr(sent), effort)) != effort:
            yield f"{client.sender} sends --effort {effort} to {facts.name} as it sends {first}: name one of them."


def _map(client: _Mapper, sampling: Sampling) -> Mapping[str, Any] | None:
    try:
        return client.map_settings(sampling)
    except ModelError:
        return None


def _describe_refusal(client: _Mapper, name: str, sampling: Sampling) -> str:
    given = {key: option.format(getattr(sampling, key)) for key, option in OPTIONS.items() if key in sampling.stated}
    culprits = [option for key, option in given.items() if _map(client, replace(sampling, **{key: None})) is not None]
    which = " or ".join(culprits) if culprits else join(tuple(given.values()))
    return f"{client.sender} does not send {which} to {name}: leave {'one' if len(culprits) > 1 else 'that'} out."


def _find_budget(sent: Mapping[str, Any]) -> int | None:
    """The tokens that reasoning may take, where they are sent."""
    for key, field in (("thinking", "budget_tokens"), ("thinkingConfig", "thinkingBudget")):
        if isinstance(settings := sent.get(key), Mapping) and isinstance(budget := settings.get(field), int):
            return budget
    return None
