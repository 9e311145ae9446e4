"""The key of a request (rule X3)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.evals.running.agents import CATALOG
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.evals.models.model import Request
from toolbelt.evals.offers import Offer, ToolRenderer
from toolbelt.evals.responses.keys import make_key
from toolbelt.providers.chat import ChatRequest, Sampling, ToolDefinitions
from toolbelt.providers.chat_body import chat_body

RENDERER = ToolRenderer(CATALOG, EstimateCounter())
OFFER = RENDERER.offer(tool.id for tool in CATALOG.tools)
MESSAGES = [{"role": "user", "content": "Ping ü."}]
REQUEST = Request(MESSAGES, OFFER, Sampling(0.0, 3, "auto", 50), epoch=1)


def canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def test_X3_the_key_is_the_digest_of_the_body_that_is_sent() -> None:
    chat = ChatRequest(REQUEST.messages, ToolDefinitions(OFFER.definitions), REQUEST.sampling)
    body = json.loads(chat_body("gpt-4o", chat))
    definitions = b"".join(hashlib.sha256(canonical(definition)).digest() for definition in body["tools"])
    body["tools"] = hashlib.sha256(definitions).hexdigest()
    wanted = hashlib.sha256(canonical({"epoch": 1, "origin": "openai", "request": body})).hexdigest()
    assert make_key("gpt-4o", "openai", REQUEST) == wanted


CHANGED = {
    "model": ("gpt-4", "openai", REQUEST),
    "origin": ("gpt-4o", "azure", REQUEST),
    "epoch": ("gpt-4o", "openai", replace(REQUEST, epoch=2)),
    "message": ("gpt-4o", "openai", replace(REQUEST, messages=[{"role": "user", "content": "Ping."}])),
    "sampling": ("gpt-4o", "openai", replace(REQUEST, sampling=Sampling(0.1, 3, "auto", 50))),
    "tool-choice": ("gpt-4o", "openai", replace(REQUEST, sampling=Sampling(0.0, 3, "required", 50))),
    "fewer-tools": ("gpt-4o", "openai", replace(REQUEST, offer=Offer(OFFER.tools[1:]))),
    "other-order": ("gpt-4o", "openai", replace(REQUEST, offer=Offer(OFFER.tools[::-1]))),
    "no-tools": ("gpt-4o", "openai", replace(REQUEST, offer=Offer())),
    "a-description": (
        "gpt-4o",
        "openai",
        replace(REQUEST, offer=Offer((RENDERER.redescribed(OFFER.tools[0], "Other."), *OFFER.tools[1:]))),
    ),
}


@pytest.mark.parametrize("changed", CHANGED.values(), ids=CHANGED)
def test_X3_whatever_may_change_an_answer_changes_the_key(changed: tuple[str, str, Request]) -> None:
    assert make_key(*changed) != make_key("gpt-4o", "openai", REQUEST)


def test_X3_another_object_with_the_same_content_has_the_same_key() -> None:
    again = ToolRenderer(CATALOG, EstimateCounter()).offer(tool.id for tool in CATALOG.tools)
    assert make_key("gpt-4o", "openai", replace(REQUEST, offer=again)) == make_key("gpt-4o", "openai", REQUEST)
