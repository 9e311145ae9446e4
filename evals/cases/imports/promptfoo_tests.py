"""One test of promptfoo's, put together from what stands in several places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolbelt.evals.cases.imports.context import LINE, CaseRow, Context, kind_of
from toolbelt.evals.cases.imports.ledger import BrokenError, UnmappedError
from toolbelt.evals.cases.imports.promptfoo_assertions import Assertions
from toolbelt.evals.cases.imports.promptfoo_files import Files
from toolbelt.evals.cases.imports.promptfoo_prompts import Prompts, among, fill
from toolbelt.evals.cases.imports.sources import Record

NO_TOOLS_ASSERTED = "none of its assertions says which tools are right"
OWN_PROVIDER = "a test's own `provider` or `providers` was not looked at: it counts for every list of tools"


def joined(tests: Sequence[Mapping[str, Any]], files: Files) -> Mapping[str, Any]:
    """Several tests as one, as promptfoo joins them: the last says what it is, all say what is right.

    Args:
        tests: The default, a scenario's settings, the test itself; the last one counts most.
        files: Beside the configuration.

    Raises:
        BrokenError: a file cannot be read, or a reference leads nowhere.
        UnmappedError: something comes from a program.
    """
    made: dict[str, Any] = {}
    for test in tests:
        made |= test
    for key in ("vars", "options", "metadata"):
        made[key] = {name: value for test in tests for name, value in _mapping(test.get(key), key, files).items()}
    made["assert"] = [files.follow(one) for test in tests for one in _listed(files.resolve(test.get("assert")))]
    return made


class PromptfooTest:
    """The cases of one test.

    Args:
        test: As `joined` gives it.
        name: Of a test without a description.
        line: Where it stands.
        record: The configuration.
        context: Of the import.
    """

    def __init__(self, test: Mapping[str, Any], name: str, line: int, record: Record, context: Context) -> None:
        described = test.get("description")
        self._test = test
        self._name = described.strip() if isinstance(described, str) and described.strip() else name
        category = test["metadata"].get("category")
        self._tags = [category] if isinstance(category, str) and category.strip() else []
        self._line, self._record, self._context = line, record, context
        self._told = False

    def rows(self, prompts: Prompts, universes: Sequence[tuple[str, ...] | None]) -> Iterator[CaseRow]:
        """A case for each prompt and each list of tools.

        Raises:
            UnmappedError: it says nothing of tools, or what it says cannot be kept.
            BrokenError: an assertion is wrong in its own form.
        """
        if self._test["options"].get("transformVars"):
            raise UnmappedError("variables that a program changes", self._name)
        if self._test.get("provider") or self._test.get("providers"):
            self._context.ledger.note(OWN_PROVIDER)
        chosen = among(prompts, self._test.get("prompts"))
        count = 0
        for offered in universes:
            for row in self._rows(chosen, offered):
                count += 1
                own_id = self._name if count == 1 else f"{self._name}~{count}"
                cluster = {"cluster": self._name} if len(universes) * len(prompts) > 1 else {}
                yield {"id": own_id} | row | cluster | {LINE: self._line}

    def _rows(self, prompts: Prompts, offered: tuple[str, ...] | None) -> Iterator[CaseRow]:
        label = self._label(offered)
        if "expected" not in label:
            raise UnmappedError(NO_TOOLS_ASSERTED, self._name)
        prefix, suffix = (str(self._test["options"].get(key) or "") for key in ("prefix", "suffix"))
        for place, prompt in prompts:
            try:
                row = fill(prompt, self._test["vars"], prefix, suffix)
            except UnmappedError as reason:
                detail = f"{self._name}, {place}: {reason.detail}"
                self._context.ledger.leave_out(self._record.source, self._line, reason.reason, detail)
                continue
            row |= label | self._context.universe(offered)
            expected = label["expected"]
            kind = "any_call" if expected is None else kind_of([[call] for call in expected])
            yield row | self._context.common(tags=self._tags, kind=kind)

    def _label(self, offered: tuple[str, ...] | None) -> CaseRow:
        reading = Assertions(self._context, offered)
        for assertion in self._test["assert"]:
            try:
                reading.add(assertion)
            except UnmappedError as reason:
                if not self._told:
                    detail = f"{self._name}{f': {reason.detail}' * bool(reason.detail)}"
                    self._context.ledger.leave_out(self._record.source, self._line, reason.reason, detail)
        self._told = True
        return reading.label()


def _mapping(value: Any, key: str, files: Files) -> Mapping[str, Any]:
    found = files.resolve(value)
    if isinstance(found, Mapping):
        return found
    if value is None:
        return {}
    if isinstance(value, str):
        raise UnmappedError(f"`{key}` that a program makes, or a pattern of file names", value[:100])
    raise BrokenError("wrong-type", f"`{key}` of a test must be an object.")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
