"""What a probe would take, before anything is spent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from toolbelt.catalog.tokens import TokenCounter
from toolbelt.evals.conversation import Usage
from toolbelt.evals.models.model import Model
from toolbelt.evals.probing.checks import EVERY
from toolbelt.evals.probing.kit import Kit
from toolbelt.evals.probing.scripts import make_scripts
from toolbelt.evals.probing.steps import Ask
from toolbelt.evals.probing.tally import find_no_room
from toolbelt.evals.running.limits import ModelLimits

TOKENS_OF_AN_ANSWER = 150
"""Rough: a call takes some 30, a sentence likewise; a model that thinks first takes some hundreds, or thousands."""


@dataclass(frozen=True, slots=True)
class ProbeEstimate:
    """What a probe would take if all goes well; what goes otherwise takes a request or two more, and retries.

    Attributes:
        requests: Expected.
        prompt_tokens: Over all requests, definitions among them; own count.
        completion_tokens: Over all requests, at `TOKENS_OF_AN_ANSWER` each.
        cost_usd: `None` where the price is unknown.
        by_check: The prompt tokens of each check, by key.
    """

    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    by_check: Mapping[str, int]


def estimate_probe(
    model: Model,
    counter: TokenCounter,
    form: str = "openai",
    room: ModelLimits | None = None,
    checks: Iterable[str] = EVERY,
) -> ProbeEstimate:
    """What checks would take of a model; nobody is asked.

    Args:
        model: Gives the price.
        counter: Counts as it does, as far as that is known.
        form: The provider's format that is counted, a key of `DEFINITION_FORMATS`.
        room: What is known of its window: what does not fit is not asked. `None` for nothing.
        checks: Keys of those that are left to be made.
    """
    kit = Kit(counter, form)
    scripts = make_scripts(kit)
    requests = 0
    by_check: dict[str, int] = {}
    for key in checks:
        by_check[key] = 0
        for number in range(len(scripts[key].ideal)):
            ask = scripts[key].script(scripts[key].ideal[:number])
            assert isinstance(ask, Ask)  # noqa: S101  the ideal answers are as many as the requests
            tokens = ask.offer.tokens + kit.count(ask.messages)
            if find_no_room(room, tokens):
                break
            requests += 1
            by_check[key] += tokens
    prompt, completion = sum(by_check.values()), requests * TOKENS_OF_AN_ANSWER
    cost_usd = model.cost_usd(Usage(prompt, completion))
    return ProbeEstimate(requests, prompt, completion, cost_usd, MappingProxyType(by_check))
