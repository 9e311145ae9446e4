"""The gateway's audit log: clients and their calls as records (rule M10)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from toolbelt.catalog.definitions import Definition
from toolbelt.catalog.tokens import EstimateCounter, TokenCounter
from toolbelt.mcp.gateway.calls import CallOutcome
from toolbelt.mcp.gateway.client import Client
from toolbelt.mcp.gateway.surface import count_definitions, model_text, serving_digest
from toolbelt.mcp.logs.audit import AuditLog, CallRecord, OfferedTool, SessionRecord
from toolbelt.stores.token_cache import CachedTokenCounter

NOT_RECORDED = "The audit log of this gateway cannot be written, and it is required: no tool is called."


class CallAudit:
    """Writes what clients do to an audit log; refuses calls that a required log cannot record.

    Args:
        log: Started.
        offered: What each client is offered, in order: definitions, each with the server that has the tool.
        counter: Counts their tokens. Of one with a cache, the cache alone is asked: a tokenizer takes more memory than
            the gateway. Where the cache lacks a definition, the tokens of all are estimated.
        loadout: What is served; empty where an agent is.
        agent: Likewise.
    """

    def __init__(
        self,
        log: AuditLog,
        *,
        offered: Sequence[tuple[Definition, str]],
        counter: TokenCounter,
        loadout: str = "",
        agent: str = "",
    ) -> None:
        self._log = log
        self._definitions = [definition for definition, _ in offered]
        self._servers = [server for _, server in offered]
        self._counter = counter
        self._loadout = loadout
        self._agent = agent

    def begin(self, client: Client) -> None:
        """Record the client."""
        info, version, session = client.info, client.version, client.session_id
        name, client_version = str(info.get("name", "")), str(info.get("version", ""))
        of = (self._loadout, self._agent)
        self._log.write_session(
            lambda: SessionRecord(session, name, client_version, version, *of, self._digest, *self._offered)
        )

    @cached_property
    def _digest(self) -> str:
        return serving_digest(self._definitions)

    @cached_property
    def _offered(self) -> tuple[tuple[OfferedTool, ...], str]:
        """What is offered, and what counted it."""
        counts, tokenizer = _count_without_tokenizer(self._definitions, self._counter)
        rows = zip(self._definitions, self._servers, counts, strict=True)
        tools = tuple(OfferedTool(str(definition["name"]), server, tokens) for definition, server, tokens in rows)
        return tools, tokenizer

    def before(self, client: Client, name: str) -> str:
        """A refusal if the log is required and cannot be written."""
        return "" if self._log.admit(client.session_id, name) else NOT_RECORDED

    def after(self, client: Client, outcome: CallOutcome) -> None:
        """Record the call."""
        result = outcome.result
        arguments = outcome.params.get("arguments")
        record = CallRecord(
            client.session_id,
            outcome.name,
            outcome.server,
            outcome.status,
            outcome.seconds,
            outcome.reason,
            outcome.via,
            () if result is None else _texts(result),
            None if result is None else len(json.dumps(result, ensure_ascii=False).encode(errors="replace")),
            arguments if isinstance(arguments, Mapping) else {},
        )
        self._log.write_call(record)


def _count_without_tokenizer(definitions: Sequence[Definition], counter: TokenCounter) -> tuple[list[int], str]:
    if isinstance(counter, CachedTokenCounter):
        known = counter.find(list(map(model_text, definitions)))
        if known is not None:
            return known, counter.name
        counter = EstimateCounter()
    return count_definitions(definitions, counter), counter.name


def _texts(result: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts that a model reads; of what is no text nobody counts tokens."""
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    texts = (block.get("text") for block in blocks if isinstance(block, Mapping))
    return tuple(text for text in texts if isinstance(text, str))
