"""Digests of datasets (of cases and their grading only, rule E7), of case ids and of lines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.evals.cases.case import Answer, Case, ExpectedCall

_WHOLE = 2**256
_to_json = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
"""Made once: `json.dumps` makes an encoder for each value."""


class DatasetDigest:
    """Digest of a set of cases; their order does not matter.

    It depends on the question and the right answers of each case, as written. It does not depend on white space, the
    order of keys or lines, the catalog, `kind`, `tags` or `draft`.
    """

    def __init__(self) -> None:
        self._sum = 0
        self._count = 0

    def add(self, case: Case, written: Mapping[str, str] = FrozenDict()) -> None:
        """Add a case.

        Args:
            case: With its tools as written, or with ids.
            written: For ids: the name of each tool as written, by id, one to one.
        """
        digest = hashlib.sha256(case_text(case, written).encode()).digest()
        # Ids are unique, so no case is added twice. A sum does not depend on the order.
        self._sum = (self._sum + int.from_bytes(digest)) % _WHOLE
        self._count += 1

    def hexdigest(self) -> str:
        """64 hexadecimal digits."""
        return hashlib.sha256(self._sum.to_bytes(32) + self._count.to_bytes(8)).hexdigest()


def case_text(case: Case, written: Mapping[str, str] = FrozenDict()) -> str:
    """The question and grading of a case, as JSON in one fixed form, with its tools as `written`, by id."""

    def names(tools: Iterable[str]) -> list[str]:
        return [written.get(tool, tool) for tool in tools]

    def answer_data(answer: Answer) -> list[Any]:
        return [_call(call, names(call.tools)) for call in answer]

    data = {
        "id": case.id,
        "messages": case.messages,
        "expected": None if case.expected is None else answer_data(case.expected),
        "accept": list(map(answer_data, case.accept)),
        "forbidden": sorted(names(case.forbidden)),
        "allowed_extra": sorted(names(case.allowed_extra)),
        "match": case.match,
        "role": case.role,
        "cluster": case.cluster,
        "offered": None if case.offered is None else names(case.offered),
        "results": dict(zip(names(case.results), case.results.values(), strict=True)),
        "steps": case.steps,
    }
    return _to_json(data)


def _call(call: ExpectedCall, tools: list[str]) -> list[Any]:
    if call.arguments is None:
        return [tools]
    arguments = call.arguments
    values = [tools, arguments.accepted, sorted(arguments.optional), arguments.exact, arguments.rules]
    return [*values, arguments.contains] if arguments.contains else values


def id_digest(case_id: str) -> int:
    """64 bits of an id's hash."""
    return int.from_bytes(hashlib.blake2b(case_id.encode(errors="surrogatepass"), digest_size=8).digest())


def line_digest(raw: bytes) -> int:
    """64 bits of a line's hash, to find out whether it was changed."""
    return int.from_bytes(hashlib.blake2b(raw, digest_size=8).digest())
