"""promptfoo's configurations: `tests` whose assertions name tools, over `prompts` with `{{variables}}`.

These assertions map; every other one is left out and told by name, and a test with none of these makes no case:

- `tool-call-f1`: the list of names (or a text with commas between them) is expected, whatever its threshold;
- `trajectory:tool-used`: the tools named are expected, others beside them are allowed (`match: superset`); with
  `not-` before it they are forbidden;
- `trajectory:tool-sequence`: the steps in order (`match: ordered`, `superset` where its mode is `in_order`);
- `trajectory:tool-args-match`: a call with its arguments, further ones unchecked unless its mode is `exact`;
- `is-valid-openai-tools-call`, `is-valid-openai-function-call`, `is-valid-function-call`: any call will do.

Where there are no prompts, as in a file of tests alone, the one variable that a test has is what the user says.
A test makes a case for each prompt and each distinct list of tools among the providers; these share a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolbelt.evals.intake.context import LINE, CaseRow, Context, UnmappedError, kind_of
from toolbelt.evals.intake.ledger import BrokenError
from toolbelt.evals.intake.pool import ToolPool
from toolbelt.evals.intake.promptfoo_assertions import Assertions
from toolbelt.evals.intake.promptfoo_files import Files
from toolbelt.evals.intake.promptfoo_prompts import ONE_VARIABLE, fill, read_prompts
from toolbelt.evals.intake.sources import Record

_DECLARATIONS = ("functionDeclarations", "function_declarations")
NO_TOOLS_ASSERTED = "none of its assertions says which tools are right"


class Promptfoo:
    """Configurations of promptfoo."""

    label = "promptfoo configuration"

    @staticmethod
    def recognises(data: Any) -> bool:
        """Whether a record looks like a configuration."""
        if not isinstance(data, Mapping):
            return isinstance(data, list) and bool(data) and all(map(_is_test, data))
        return _is_test(data) or (
            "tests" in data and not {"prompts", "providers", "targets", "defaultTest"}.isdisjoint(data)
        )

    def look(self, record: Record, pool: ToolPool) -> None:
        """Gather the tools of every provider."""
        for tools in self._tool_lists(record):
            pool.add_list(tools)

    def rows(self, record: Record, context: Context) -> Iterator[CaseRow]:
        """The cases of a configuration."""
        data = _configuration(record.data)
        files = Files(record)
        universes = list(dict.fromkeys(context.offered(tools) for tools in self._tool_lists(record))) or [None]
        prompts = read_prompts(data["prompts"], files, context.ledger) if "prompts" in data else [ONE_VARIABLE]
        default = data.get("defaultTest") if isinstance(data.get("defaultTest"), Mapping) else {}
        for number, line, test in files.tests(data.get("tests"), context.ledger):
            made = _Test(test, default or {}, f"test-{number}", line, record, context)
            for offered in universes:
                try:
                    yield from made.rows(prompts, offered, many=len(universes) * len(prompts) > 1)
                except UnmappedError as reason:
                    context.ledger.leave_out(record.source, line, reason.reason, reason.detail)
                    break
                except BrokenError as error:
                    context.ledger.add_broken(error.finding(record.source, line))
                    break

    def finish(self, context: Context) -> None:
        """Nothing is joined."""

    @staticmethod
    def _tool_lists(record: Record) -> Iterator[list[Any]]:
        data = record.data
        written = data.get("providers", data.get("targets")) if isinstance(data, Mapping) else None
        files = Files(record)
        for provider in written if isinstance(written, list) else [written]:
            config = provider.get("config") if isinstance(provider, Mapping) else None
            if config is None and isinstance(provider, Mapping) and len(provider) == 1:  # `{id: {config: …}}`
                (inner,) = provider.values()
                config = inner.get("config") if isinstance(inner, Mapping) else None
            for key in ("tools", "functions"):
                tools = files.resolve(config.get(key)) if isinstance(config, Mapping) else None
                if isinstance(tools, list) and tools:
                    yield list(_declared(tools))


class _Test:
    def __init__(
        self,
        test: Mapping[str, Any],
        default: Mapping[str, Any],
        name: str,
        line: int,
        record: Record,
        context: Context,
    ) -> None:
        given = test.get("vars")
        self._variables = {**_mapping(default.get("vars")), **_mapping(given)}
        written = [one for place in (default, test) for one in _listed(place.get("assert"))]
        self._assertions = written
        described = test.get("description")
        self._name = described.strip() if isinstance(described, str) and described.strip() else name
        metadata = test.get("metadata")
        category = metadata.get("category") if isinstance(metadata, Mapping) else None
        self._tags = [category] if isinstance(category, str) and category.strip() else []
        self._line, self._record, self._context = line, record, context
        self._told = False

    def rows(self, prompts: list[tuple[str, Any]], offered: tuple[str, ...] | None, *, many: bool) -> Iterator[CaseRow]:
        label = self._label(offered)
        if "expected" not in label:
            raise UnmappedError(NO_TOOLS_ASSERTED, self._name)
        for place, prompt in prompts:
            try:
                row: CaseRow = {"id": self._name, **fill(prompt, self._variables)}
            except UnmappedError as reason:
                detail = f"{self._name}, {place}: {reason.detail}"
                self._context.ledger.leave_out(self._record.source, self._line, reason.reason, detail)
                continue
            row |= label | self._context.universe(offered)
            expected = label["expected"]
            kind = "any_call" if expected is None else kind_of([[call] for call in expected])
            row |= self._context.common(tags=self._tags, kind=kind)
            if many:
                row["cluster"] = self._name
            yield row | {LINE: self._line}

    def _label(self, offered: tuple[str, ...] | None) -> CaseRow:
        reading = Assertions(self._context, offered)
        for assertion in self._assertions:
            try:
                reading.add(assertion)
            except UnmappedError as reason:
                if not self._told:
                    detail = f"{self._name}{f': {reason.detail}' * bool(reason.detail)}"
                    self._context.ledger.leave_out(self._record.source, self._line, reason.reason, detail)
        self._told = True
        return reading.label()


def _declared(tools: list[Any]) -> Iterator[Any]:
    """Every definition; Google's APIs have them in lists of declarations."""
    for entry in tools:
        nested = [entry.get(key) for key in _DECLARATIONS] if isinstance(entry, Mapping) else []
        found = next((one for one in nested if isinstance(one, list)), None)
        yield from [entry] if found is None else found


def _is_test(data: Any) -> bool:
    return isinstance(data, Mapping) and {"vars", "assert"} <= data.keys()


def _configuration(data: Any) -> Mapping[str, Any]:
    """The configuration, which tests in a file of their own are taken for."""
    if _is_test(data) or isinstance(data, list):
        return {"tests": data if isinstance(data, list) else [data]}
    if not isinstance(data, Mapping) or "tests" not in data:
        raise BrokenError("wrong-type", "A configuration is an object with `tests`.")
    return data


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
