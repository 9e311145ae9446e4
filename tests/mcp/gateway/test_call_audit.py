"""What the gateway's audit log says of clients (rule M10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.mcp.audit_samples import make_log
from toolbelt.catalog.tokens import EstimateCounter, TokenCounter
from toolbelt.mcp.gateway.call_audit import CallAudit
from toolbelt.mcp.gateway.client import Client
from toolbelt.mcp.gateway.surface import Surface, model_text
from toolbelt.mcp.logs.audit import find_files
from toolbelt.mcp.logs.usage import read_records
from toolbelt.stores.token_cache import CachedTokenCounter

DEFINITIONS = [{"name": name, "description": name * 40, "inputSchema": {"type": "object"}} for name in ("add", "wait")]


@dataclass(frozen=True)
class Words:
    """A tokenizer that remembers what it was asked."""

    counted: list[Sequence[str]]
    name: str = "words"
    exact: bool = True

    def count(self, texts: Sequence[str]) -> list[int]:
        self.counted.append(texts)
        return [len(text.split()) for text in texts]


def record_session(folder: Path, counter: TokenCounter) -> Any:
    log = make_log(folder)
    CallAudit(log, offered=[(definition, "s") for definition in DEFINITIONS], counter=counter).begin(
        Client({}, Surface("all"), print)
    )
    log.close()
    *_, record = read_records(find_files(folder))
    return record


def test_M10_tokens_offered_are_read_from_the_cache_and_no_tokenizer_is_loaded(tmp_path: Path) -> None:
    tokenizer = Words([])
    counter = CachedTokenCounter(tokenizer, tmp_path / "cache")
    texts = [model_text(definition) for definition in DEFINITIONS]
    counter.count(texts[:1])  # not all of them, so that all are estimated
    tokenizer.counted.clear()
    record = record_session(tmp_path / "audit", counter)
    assert (record["tokenizer"], record["tokens"]) == ("estimate", sum(EstimateCounter().count(texts)))
    assert tokenizer.counted == []
    counts = counter.count(texts)
    tokenizer.counted.clear()
    record = record_session(tmp_path / "audit", counter)
    assert (record["tokenizer"], [tool["tokens"] for tool in record["offered"]]) == ("words", counts)
    assert tokenizer.counted == []
