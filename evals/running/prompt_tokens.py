"""Counts the prompt tokens of a trial's requests (rule E6)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from itertools import takewhile

from toolbelt.catalog.tokens import TokenCounter
from toolbelt.evals.conversation import Conversation, Message
from toolbelt.evals.offers import Offer, Offered
from toolbelt.models.token_rates import AS_COUNTED, TokenRate
from toolbelt.providers.chat import Usage

_REMEMBERED = 4096
"""Messages whose counts are remembered, by a digest of their texts."""
_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class PromptCounter:
    """Counts messages as the compact JSON that is sent; remembers those that many trials share.

    Args:
        counter: Counts texts.
    """

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter
        self._remembered: dict[bytes, int] = {}

    def count_latest(self, conversation: Conversation) -> int:
        """Tokens of the new messages of the next request: the last exchange, or the opening of the conversation."""
        exchanges = conversation.exchanges
        messages = exchanges[-1].to_messages() if exchanges else conversation.opening
        return sum([self._tokens(_to_json(_without_turn(message))) for message in messages])

    def _tokens(self, text: str) -> int:
        key = blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
        if (tokens := self._remembered.get(key)) is None:
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()
            tokens = self._remembered[key] = sum(self.counter.count([text]))
        return tokens


def _without_turn(message: Message) -> Message:
    """A vendor's own form of a turn is encrypted in parts, and says what the text and calls beside it say."""
    return {key: value for key, value in message.items() if key != "turn"} if "turn" in message else message


@dataclass(eq=False)
class Meter:
    """Counts the requests of one trial.

    Attributes:
        prompts: Counts messages.
        rate: What our count of definitions comes to in the model's prompt.
        first_definition_tokens: Of the tools offered first, whether or not they could be sent; estimated.
        definition_tokens: Of the tools offered at each request, estimated.
        own_prompt_tokens: Messages and definitions over all requests, estimated.
        invalidated_tokens: Of those, what a provider's cache could have held and a change of the tools offered made
            worthless: definitions stand before the messages, so that all behind the first changed one is billed anew.
        repeated_tokens: Of those, what the next request begins with, or would if the tools offered had not changed:
            the prompts of all requests but the last. A provider's cache could serve this without `invalidated_tokens`,
            which is never more.
        surfaced: Ids of the tools offered so far.
        usages: As reported, of each request that was answered or refused.
    """

    prompts: PromptCounter
    rate: TokenRate = AS_COUNTED
    first_definition_tokens: int = 0
    definition_tokens: list[int] = field(default_factory=list)
    own_prompt_tokens: int = 0
    invalidated_tokens: int = 0
    repeated_tokens: int = 0
    surfaced: frozenset[str] = frozenset()
    usages: list[Usage] = field(default_factory=list)
    _message_tokens: int = 0
    _before: tuple[Offer, int] | None = None

    def turn_away(self, offer: Offer) -> None:
        """Count an offer that cannot be sent: only its size is known, as there is no request."""
        if not self.definition_tokens:
            self.first_definition_tokens = self._estimate(offer.tools) + offer.listed_tokens

    def count(self, offer: Offer, conversation: Conversation) -> int:
        """Count the next request, and return its prompt's tokens, estimated."""
        tokens = self._estimate(offer.tools) + offer.listed_tokens
        if not self.definition_tokens:
            self.first_definition_tokens = tokens
        self._message_tokens += self.prompts.count_latest(conversation)
        own_tokens = tokens + self._message_tokens
        if self._before is None:
            self.surfaced = offer.ids
        else:
            self.invalidated_tokens += self._invalidated(*self._before, offer)
            self.repeated_tokens += self._before[1]
            if offer is not self._before[0]:
                self.surfaced |= offer.ids
        self._before = (offer, own_tokens)
        self.definition_tokens.append(tokens)
        self.own_prompt_tokens += own_tokens
        return own_tokens

    def expand(self, tokens: int) -> None:
        """Add definitions that the vendor's own search put into the prompt of the request that was counted last."""
        tokens = round(self.rate.factor * tokens)
        self.definition_tokens[-1] += tokens
        self.own_prompt_tokens += tokens

    @property
    def usage(self) -> Usage:
        """Reported usage over all requests; a figure is unknown if one request lacks it."""
        usages = self.usages
        if len(usages) == 1:
            return usages[0]
        return Usage(*(_total([getattr(usage, each.name) for usage in usages]) for each in fields(Usage)))

    def _estimate(self, tools: Sequence[Offered]) -> int:
        return self.rate.estimate(sum(offered.tokens for offered in tools), len(tools))

    def _invalidated(self, before: Offer, tokens: int, now: Offer) -> int:
        """Tokens of a prompt that stand behind the first tool in which two offers differ.

        What a vendor's own search finds stands behind the messages.
        """
        if now is before or now.tools == before.tools or (now.beyond is not None and now.beyond is before.beyond):
            return 0
        unchanged = takewhile(lambda pair: pair[0] is pair[1], zip(before.tools, now.tools, strict=False))
        return tokens - self._estimate([old for old, _ in unchanged])


def _total(figures: Sequence[int | None]) -> int | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) if figures and len(known) == len(figures) else None
