"""The key of a request: what must be the same for a recorded response to be its answer (rule X3)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from toolbelt.evals.conversation import Conversation, Reply
from toolbelt.evals.models.model import Request
from toolbelt.evals.offers import Offer, Offered
from toolbelt.evals.responses.response import digest_answer
from toolbelt.providers.chat import Sampling
from toolbelt.providers.chat_body import choice_field, sampling_fields

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_REMEMBERED = 20_000
"""Definitions whose digests are kept; descriptions that change with every trial must not fill the memory."""
_definitions: dict[Offered, bytes] = {}
_offers: WeakKeyDictionary[Offer, str] = WeakKeyDictionary()


def make_key(model: str, origin: str, request: Request, api: str = "") -> str:
    """SHA-256 of a request, of who answers it, and of the epoch; 64 hexadecimal digits.

    It is the digest of `{"epoch", "origin", "request"}` as canonical JSON (sorted keys, no blanks, ASCII). `request` is
    the body in OpenAI's form, which litellm translates for other providers. Its `tools` is replaced by the SHA-256 of
    the SHA-256 digests of each definition's canonical JSON in their order: definitions are long, many requests share
    them, and so each is written and hashed once. No header and no key of a provider is part of it.

    Args:
        model: As named on the command line.
        origin: A provider's name, or scheme, host and port.
        request: What is asked.
        api: Over which it is asked, where that is another than the one litellm asks the model over: what is sent then
            says something else. It stands beside the others, as `api`, if it is given.
    """
    body: dict[str, Any] = {"model": model, "messages": request.messages, **sampling_fields(request.sampling)}
    if request.offer.sent.tools:
        body["tools"] = digest_tools(request.offer)
        if request.sampling.tool_choice is not None:
            body["tool_choice"] = choice_field(request.sampling.tool_choice)
    content = {"epoch": request.epoch, "origin": origin, "request": body} | ({"api": api} if api else {})
    return hashlib.sha256(_canonical(content)).hexdigest()


def digest_tools(offer: Offer) -> str:
    """SHA-256 of the definitions that are sent, in their order; 64 hexadecimal digits."""
    offer = offer.sent
    digest = _offers.get(offer)
    if digest is None:
        digest = hashlib.sha256(b"".join(map(_digest_definition, offer.tools))).hexdigest()
        _offers[offer] = digest
    return digest


def _digest_definition(offered: Offered) -> bytes:
    digest = _definitions.get(offered)
    if digest is None:
        if len(_definitions) >= _REMEMBERED:
            _definitions.clear()
        digest = _definitions[offered] = hashlib.sha256(_canonical(offered.definition)).digest()
    return digest


def digest_exchange(
    model: str, sampling: Sampling, conversation: Conversation, offers: Sequence[Offer], replies: Sequence[Reply]
) -> str:
    """A digest of all requests of a trial and their answers; 16 hexadecimal digits.

    Another trial has the same where it was asked the same, and answered the same, to the letter (rule V3). Ids of calls
    are left out, which many providers draw anew each time.

    Args:
        model: As named on the command line.
        sampling: How it is asked.
        conversation: At the end of the trial.
        offers: Of the tools, one a request; also of one that was not sent, as it does not fit.
        replies: What the model answered.
    """
    content = {
        "model": model,
        "epoch": conversation.epoch,
        "opening": conversation.opening,
        "sampling": {**sampling_fields(sampling), "tool_choice": sampling.tool_choice},
        "tools": [digest_tools(offer) for offer in offers],
        "replies": [digest_answer(reply) for reply in replies],
        "results": [[*exchange.answers, exchange.follow_up] for exchange in conversation.exchanges],
    }
    return hashlib.sha256(_canonical(content)).hexdigest()[:16]


def _canonical(value: Any) -> bytes:
    return _ENCODER.encode(value).encode()
