"""Read promptfoo configurations: `tests` whose assertions name tools, over `prompts` with `{{variables}}`.

`sources` reads the configuration from the disk; `promptfoo_files` reads the files that it names by `file://…`.

`promptfoo_assertions` reads the assertions: those about tools become the label, or their test makes no case; others are
left aside and reported by name; a test with others alone makes no case.

Where there are no prompts, as in a file of tests alone, the one variable that a test has is what the user says.
A test makes a case for each prompt and each distinct list of tools among the providers; these share a cluster.
`scenarios` are their tests with each of their settings, and `defaultTest` is joined with every test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolbelt.evals.cases.imports.context import LINE, CaseRow, Context, kind_of
from toolbelt.evals.cases.imports.import_report import BrokenError, ImportReport, UnmappedError
from toolbelt.evals.cases.imports.promptfoo_assertions import THRESHOLD, UNREADABLE, Assertions, is_below_one
from toolbelt.evals.cases.imports.promptfoo_files import (
    ONE_VARIABLE,
    Files,
    Prompts,
    among,
    fill,
    fill_text,
    read_prompts,
    resolve_variables,
)
from toolbelt.evals.cases.imports.sources import Record
from toolbelt.evals.cases.imports.tool_pool import ToolPool

_DECLARATIONS = ("functionDeclarations", "function_declarations")


class Promptfoo:
    """Configurations of promptfoo."""

    label = "promptfoo configuration"

    @staticmethod
    def recognises(data: Any) -> bool:
        """Whether a record looks like a configuration."""
        if not isinstance(data, Mapping):
            return isinstance(data, list) and bool(data) and all(map(_is_test, data))
        return _is_test(data) or (
            not {"tests", "scenarios"}.isdisjoint(data)
            and not {"prompts", "providers", "targets", "defaultTest"}.isdisjoint(data)
        )

    def collect_tools(self, record: Record, pool: ToolPool) -> None:
        """Collect the tools of every provider; if there are none, all mistakes are reported at once."""
        report, files = ImportReport(), Files(record)
        lists = list(_tool_lists(record, files, report))
        for tools in lists:
            pool.add_list(tools)
        if report.broken and not lists:
            read_prompts(_configuration(record.data).get("prompts", []), files, report)
            list(_tests(record, files, report))
            first, *_ = findings = report.findings()
            raise BrokenError(first.rule, first.message, findings)

    def rows(self, record: Record, context: Context) -> Iterator[CaseRow]:
        """The cases of a configuration."""
        files, report = Files(record), context.report
        universes = list(dict.fromkeys(context.offered(tools) for tools in _tool_lists(record, files, report))) or [
            None
        ]
        data = _configuration(record.data)
        prompts = read_prompts(data["prompts"], files, report) if "prompts" in data else [ONE_VARIABLE]
        transform = next((provider["transform"] for provider in _providers(data) if provider.get("transform")), None)
        for number, (line, test) in enumerate(_tests(record, files, report), start=1):
            try:
                own = PromptfooTest(test, f"test-{number}", line, record, context, transform)
                yield from own.rows(prompts, universes)
            except UnmappedError as reason:
                report.leave_out(record.source, line, reason.reason, reason.detail)
            except BrokenError as error:
                report.add_broken(*error.all_findings(record.source, line))

    def finish(self, context: Context) -> None:
        """Nothing is joined."""


def _tool_lists(record: Record, files: Files, report: ImportReport) -> Iterator[list[Any]]:
    """The tools of each provider; files that cannot be read are reported."""
    data = record.data if isinstance(record.data, Mapping) else {}
    key = "providers" if "providers" in data else "targets"
    written = data.get(key)
    for index, provider in enumerate(written if isinstance(written, list) else [written]):
        try:
            config = _config(files.resolve(provider) if isinstance(provider, str) else provider)
            for name in ("tools", "functions"):
                tools = files.resolve(config.get(name))
                if isinstance(tools, list) and tools:
                    yield list(_declared(tools))
        except BrokenError as error:
            line = files.line(key, index) if isinstance(written, list) else files.line(key)
            report.add_broken(*error.all_findings(record.source, line))


def _providers(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The providers that are written out."""
    for provider in _listed(data.get("providers", data.get("targets"))):
        if isinstance(provider, Mapping):
            yield provider
            yield from (value for value in provider.values() if isinstance(value, Mapping))


def _config(provider: Any) -> Mapping[str, Any]:
    config = provider.get("config") if isinstance(provider, Mapping) else None
    if config is None and isinstance(provider, Mapping) and len(provider) == 1:  # `{id: {config: …}}`
        (inner,) = provider.values()
        config = inner.get("config") if isinstance(inner, Mapping) else None
    return config if isinstance(config, Mapping) else {}


def _tests(record: Record, files: Files, report: ImportReport) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Every test with its line, joined with the defaults of the configuration."""
    for line, parts, defaults in _in_parts(record, files, report):
        try:
            yield line, joined(parts, files, defaults)
        except UnmappedError as reason:
            report.leave_out(record.source, line, reason.reason, reason.detail)
        except BrokenError as error:
            report.add_broken(*error.all_findings(record.source, line))


def _in_parts(
    record: Record, files: Files, report: ImportReport
) -> Iterator[tuple[int, tuple[Mapping[str, Any], ...], int]]:
    data = _configuration(record.data)
    defaults = tuple(test for _, test in files.tests(data.get("defaultTest") or [], report, "defaultTest"))
    place = () if isinstance(record.data, list) else ("tests",)
    for line, test in files.tests(data.get("tests", []), report, *place):
        yield line, (*defaults, test), len(defaults)
    scenarios = data.get("scenarios") or []
    for index, (line, scenario) in enumerate(files.tests(scenarios, report, "scenarios")):
        at = ("scenarios", index) if isinstance(scenarios, list) and scenarios[index : index + 1] == [scenario] else ()
        settings = [test for _, test in files.tests(scenario.get("config", [{}]), report, *at, "config")]
        for own, test in files.tests(scenario.get("tests", [{}]), report, *at, "tests"):
            for setting in settings:
                yield own if at else line, (*defaults, setting, test), len(defaults)


def _declared(tools: list[Any]) -> Iterator[Any]:
    """Every tool definition; Google's APIs nest them in lists of declarations."""
    for entry in tools:
        nested = [entry.get(key) for key in _DECLARATIONS] if isinstance(entry, Mapping) else []
        declarations = next((value for value in nested if isinstance(value, list)), None)
        yield from [entry] if declarations is None else declarations


def _is_test(data: Any) -> bool:
    return isinstance(data, Mapping) and {"vars", "assert"} <= data.keys()


def _configuration(data: Any) -> Mapping[str, Any]:
    """The configuration; tests in a file of their own count as one."""
    if _is_test(data) or isinstance(data, list):
        return {"tests": data if isinstance(data, list) else [data]}
    if not isinstance(data, Mapping) or {"tests", "scenarios"}.isdisjoint(data):
        raise BrokenError("wrong-type", "A configuration is an object with `tests` or `scenarios`.")
    return data


NO_TOOLS_ASSERTED = "none of its assertions says which tools are right"
OWN_PROVIDER = "a test's own `provider` or `providers` was not looked at: it counts for every list of tools"


def joined(tests: Sequence[Mapping[str, Any]], files: Files, defaults: int) -> Mapping[str, Any]:
    """Join several tests as promptfoo does: fields of the last one win, assertions of all count.

    Args:
        tests: The default, a scenario's settings, the test itself; the last one counts most.
        files: Beside the configuration.
        defaults: Number of them that hold for every test.

    Raises:
        BrokenError: a file cannot be read, or a reference leads nowhere.
        UnmappedError: a program makes a part of it.
    """
    merged: dict[str, Any] = {}
    for test in tests:
        merged |= test
    for key in ("vars", "options", "metadata"):
        merged[key] = {name: value for test in tests for name, value in _mapping(test.get(key), key, files).items()}
    own = tests[defaults:] if merged["options"].get("disableDefaultAsserts") is True else tests
    merged["assert"] = [
        files.follow(assertion) for test in own for assertion in _listed(files.resolve(test.get("assert")))
    ]
    merged["vars"] = resolve_variables(merged["vars"])
    return merged


class PromptfooTest:
    """The cases of one test.

    Args:
        test: As `joined` gives it.
        name: Of a test without a description.
        line: Where it stands.
        record: The configuration.
        context: Of the import.
        transform: What the providers make of their output.
    """

    def __init__(
        self,
        test: Mapping[str, Any],
        name: str,
        line: int,
        record: Record,
        context: Context,
        transform: Any = None,
    ) -> None:
        self._transform = transform
        described = test.get("description")
        self._test = test
        self._name = described.strip() if isinstance(described, str) and described.strip() else name
        category = test["metadata"].get("category")
        self._tags = [category] if isinstance(category, str) and category.strip() else []
        self._line, self._record, self._context = line, record, context
        self._is_reported = False

    def rows(self, prompts: Prompts, universes: Sequence[tuple[str, ...] | None]) -> Iterator[CaseRow]:
        """A case for each prompt and each list of tools.

        Raises:
            UnmappedError: it does not mention tools, or a case cannot express its assertions.
            BrokenError: an assertion does not have the form of its type.
        """
        if self._test["options"].get("transformVars"):
            raise UnmappedError("variables that a program changes", self._name)
        if self._test.get("assertScoringFunction"):
            raise UnmappedError(UNREADABLE, f"{self._name}: assertScoringFunction")
        if is_below_one(self._test.get("threshold")) and len(self._test["assert"]) > 1:
            raise UnmappedError(THRESHOLD, self._name)
        if self._test.get("provider") or self._test.get("providers"):
            self._context.report.note(OWN_PROVIDER)
        chosen = among(prompts, self._test.get("prompts"))
        count = 0
        labels = []
        for offered in universes:
            try:
                labels.append((offered, self._label(offered)))
            except UnmappedError as reason:
                detail = f"{self._name}{f': {reason.detail}' * bool(reason.detail)}"
                self._context.report.leave_out(self._record.source, self._line, reason.reason, detail)
        for offered, label in labels:
            for row in self._rows(chosen, offered, label):
                count += 1
                own_id = self._name if count == 1 else f"{self._name}~{count}"
                cluster = {"cluster": self._name} if len(universes) * len(prompts) > 1 else {}
                yield {"id": own_id} | row | cluster | {LINE: self._line}

    def _rows(self, prompts: Prompts, offered: tuple[str, ...] | None, label: CaseRow) -> Iterator[CaseRow]:
        prefix, suffix = (str(self._test["options"].get(key) or "") for key in ("prefix", "suffix"))
        for place, prompt in prompts:
            try:
                row = fill(prompt, self._test["vars"], prefix, suffix)
            except UnmappedError as reason:
                detail = f"{self._name}, {place}: {reason.detail}"
                self._context.report.leave_out(self._record.source, self._line, reason.reason, detail)
                continue
            row |= label | self._context.universe(offered)
            expected = label["expected"]
            kind = "any_call" if expected is None else kind_of([[call] for call in expected])
            yield row | self._context.common(tags=self._tags, kind=kind)

    def _label(self, offered: tuple[str, ...] | None) -> CaseRow:
        options = self._test["options"]
        transform = options.get("transform", options.get("postprocess"))
        reading = Assertions(
            self._context, offered, lambda text: fill_text(text, self._test["vars"]), transform or self._transform
        )
        for assertion in self._test["assert"]:
            reading.add(assertion)
        for kind in () if self._is_reported else reading.aside:
            reason = f"an assertion of the type {kind!r}"
            self._context.report.leave_out(self._record.source, self._line, reason, self._name)
        self._is_reported = True
        label = reading.label()
        if "expected" not in label:
            raise UnmappedError(NO_TOOLS_ASSERTED)
        return label


def _mapping(value: Any, key: str, files: Files) -> Mapping[str, Any]:
    resolved = files.resolve(value)
    if isinstance(resolved, Mapping):
        return resolved
    if value is None:
        return {}
    if isinstance(value, str):
        raise UnmappedError(f"`{key}` that a program makes, or a pattern of file names", value[:100])
    raise BrokenError("wrong-type", f"`{key}` of a test must be an object.")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
