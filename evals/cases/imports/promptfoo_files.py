"""Files that a promptfoo configuration names by `file://…`, from its own folder, and its prompts."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.imports.context import CaseRow
from toolbelt.evals.cases.imports.import_report import BrokenError, ImportReport, UnmappedError
from toolbelt.evals.cases.imports.messages import check_messages, opening
from toolbelt.evals.cases.imports.sources import MAX_DOCUMENT, Record, parse_foreign_yaml
from toolbelt.findings import Finding, Severity
from toolbelt.sources import parse_json, parse_json_lines, read_text

_SCHEME = "file://"
_DATA = (".json", ".yaml", ".yml", ".jsonl", ".csv")
_TEXT = (".txt", ".md")


class Files:
    """Files beside a configuration. Those that would have to be executed are never read.

    Args:
        record: The configuration.

    Attributes:
        source: The configuration's file, as the user wrote it.
    """

    def __init__(self, record: Record) -> None:
        self.source = record.source
        self._record = record
        self._folder = Path(record.source).parent

    def resolve(self, value: Any) -> Any:
        """The value, or what the file that it names holds; `None` for a file that would have to be executed,
        and for a pattern of names.

        Raises:
            BrokenError: it names what is no file, or one with mistakes.
        """
        if isinstance(value, list):
            resolved = [self.resolve(one) for one in value]
            return [part for one in resolved for part in (one if isinstance(one, list) else [one])]
        if not isinstance(value, str) or not value.startswith(_SCHEME):
            return value
        path = self._folder / value.removeprefix(_SCHEME)
        suffix = path.suffix.lower()
        if suffix not in (*_DATA, *_TEXT) or "*" in value:
            return None
        # Before opening: a pipe would be waited for, and a device has no end.
        if not os.path.isfile(path):  # noqa: PTH113  pathlib refuses some names outright
            kind = "no regular file" if os.path.exists(path) else "not there"  # noqa: PTH110
            raise BrokenError("missing-file", f"{path} is {kind}.")
        if path.stat().st_size > MAX_DOCUMENT:
            raise BrokenError("too-long", f"{path} has more than {MAX_DOCUMENT // 1024**2} MiB.")
        try:
            return _parse(read_text(path), str(path), suffix)
        except InvalidFileError as error:
            raise BrokenError("invalid-file", f"{path} cannot be read.", error.findings) from None

    def tests(self, written: Any, report: ImportReport, *place: str | int) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Every test with the line it stands in; those in other files have the line that names these.

        Args:
            written: One test, or a list of tests and names of files.
            report: Receives what is no test, and files that cannot be read.
            place: Where that stands in the configuration.
        """
        for index, entry in enumerate(written if isinstance(written, list) else [written]):
            line = self.line(*place, index) if isinstance(written, list) else self.line(*place)
            is_file = isinstance(entry, str) and entry.startswith(_SCHEME)
            try:
                found = self.resolve(entry) if is_file else entry
            except BrokenError as error:
                report.add_broken(*error.all_findings(self.source, line))
                continue
            if is_file and not isinstance(found, list | Mapping):
                report.leave_out(self.source, line, "tests that a program or a service makes", entry[:100])
                continue
            for test in found if isinstance(found, list) else [found]:
                if isinstance(test, Mapping):
                    yield line, test
                else:
                    message = "A test is an object with `vars` and `assert`, or `file://` and a file of tests."
                    report.add_broken(Finding("wrong-type", Severity.ERROR, message, self.source, line))

    def follow(self, value: Any) -> Any:
        """What a `{"$ref": "#/…"}` refers to in the configuration; anything else as it is.

        Raises:
            BrokenError: it refers to nothing.
        """
        seen: set[str] = set()
        while isinstance(value, Mapping) and isinstance(place := value.get("$ref"), str):
            found: Any = self._record.data
            for part in place.removeprefix("#/").split("/"):
                found = found.get(part) if isinstance(found, Mapping) else None
            if place in seen or found is None or not place.startswith("#/"):
                raise BrokenError("bad-reference", f"The reference {place[:100]!r} leads nowhere.")
            seen.add(place)
            value = found
        return value

    def line(self, *place: str | int) -> int:
        """Where a value of the configuration stands."""
        document = self._record.document
        return (document.find_line(*place) if document is not None else None) or self._record.line


def _parse(text: str, source: str, suffix: str) -> Any:
    if suffix in _TEXT:
        return text
    if suffix == ".json":
        return parse_json(text, source).data
    if suffix == ".jsonl":
        read = list(parse_json_lines(text, source))
        if findings := [finding for _, _, finding in read if finding is not None]:
            raise InvalidFileError(findings)
        return [value for _, value, _ in read]
    if suffix == ".csv":
        return [_csv_test(row) for row in csv.DictReader(io.StringIO(text))]
    return parse_foreign_yaml(text, source).data


def _csv_test(row: Mapping[str | None, Any]) -> dict[str, Any]:
    """A line of a table: variables by column, `__expected…` columns with assertions written `type: value`."""
    made: dict[str, Any] = {"vars": {}, "assert": []}
    for column, value in row.items():
        if not isinstance(column, str) or not isinstance(value, str):
            raise BrokenError("wrong-type", "A line of a CSV file has more or fewer columns than its first one.")
        name = column.strip()
        if name.startswith("__expected"):
            # A type may have a colon of its own, after which no blank comes.
            kind, _, rest = value.partition(": " if ": " in value else ":")
            if value.strip():
                made["assert"].append({"type": kind.strip(), "value": rest.strip()})
        elif name == "__description":
            made["description"] = value
        elif not name.startswith("__"):
            made["vars"][name] = value
    return made


PROMPT_ELSEWHERE = "a prompt that a program makes, or a pattern of file names"
_VARIABLE = re.compile(r"\{\{-?\s*([A-Za-z_][\w.\[\]]*)\s*-?\}\}")
ONE_VARIABLE: tuple[str, Any] = ("vars", None)
"""In place of a prompt: the one variable that a test has."""
Prompts = list[tuple[str, Any]]
"""Each with the label or id that tests name it by, or its place: a text, or a list of messages."""


def read_prompts(written: Any, files: Files, report: ImportReport) -> Prompts:
    """The prompts that are texts; those that a program makes are left out.

    Args:
        written: As the configuration has it.
        files: Beside it.
        report: Receives what is left out.
    """
    made: Prompts = []
    for index, entry in enumerate(written if isinstance(written, list) else [written]):
        raw = entry.get("raw", entry.get("id")) if isinstance(entry, Mapping) else entry
        name = (
            next((entry[key] for key in ("label", "id") if key in entry), None) if isinstance(entry, Mapping) else raw
        )
        try:
            text = files.resolve(raw)
        except BrokenError as error:
            report.add_broken(*error.all_findings(files.source, files.line("prompts", index)))
            continue
        place = name if isinstance(name, str) else f"prompts[{index}]"
        if isinstance(text, str) and text.strip():
            made.append((place, _as_chat(text)))
        elif isinstance(text, list) and text:
            made.append((place, text))
        else:
            report.leave_out(files.source, files.line("prompts", index), PROMPT_ELSEWHERE, str(raw)[:100])
    return made


def among(prompts: Prompts, names: Any) -> Prompts:
    """Those that a test's own `prompts` name, by label or id, or by what a label begins with before `:`.

    Raises:
        UnmappedError: it names none of them.
    """
    if names is None:
        return prompts
    wanted = [name for name in (names if isinstance(names, list) else [names]) if isinstance(name, str)]
    found = [(place, text) for place, text in prompts if any(_is_named(place, name) for name in wanted)]
    if not found:
        raise UnmappedError("its own `prompts` name none that is read", ", ".join(wanted)[:100])
    return found


def _is_named(place: str, name: str) -> bool:
    return place == name or place.startswith(f"{name.removesuffix('*').removesuffix(':')}:")


def fill(prompt: Any, variables: Mapping[str, Any], prefix: str = "", suffix: str = "") -> CaseRow:
    """What opens a case: the prompt with its variables put in, between a prefix and a suffix.

    Raises:
        UnmappedError: a variable has no single value, or the prompt has logic in it.
        BrokenError: a prompt of messages that are none.
    """
    if prompt is None:
        if len(variables) != 1:
            raise UnmappedError("there is no prompt, and not just one variable")
        return {"query": _value(next(iter(variables)), variables)}
    if isinstance(prompt, str):
        return {"query": _filled(f"{prefix}{prompt}{suffix}", variables)}
    if prefix or suffix:
        raise UnmappedError("`prefix` or `suffix` around a prompt of messages")
    return opening(check_messages(_deep(prompt, variables), "prompt"))


def _as_chat(text: str) -> Any:
    """The messages that a prompt in JSON holds; the text itself where it is none."""
    if not text.lstrip().startswith("["):
        return text
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found if isinstance(found, list) and all(isinstance(one, dict) and "role" in one for one in found) else text


def _deep(value: Any, variables: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return _filled(value, variables)
    if isinstance(value, list):
        return [_deep(one, variables) for one in value]
    return {key: _deep(one, variables) for key, one in value.items()} if isinstance(value, dict) else value


def _filled(text: str, variables: Mapping[str, Any]) -> str:
    filled = _VARIABLE.sub(lambda match: _value(match[1], variables), text)
    # What a variable holds may look like a template, too, so that the prompt itself is looked at.
    if (rest := _VARIABLE.sub("", text)) and ("{%" in rest or "{{" in rest):
        raise UnmappedError("a prompt with logic in its template")
    return filled


def _value(name: str, variables: Mapping[str, Any]) -> str:
    value: Any = variables
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise UnmappedError("a prompt with a variable that the test does not give", name)
        value = value[part]
    if isinstance(value, list):
        raise UnmappedError("a variable with several values, which promptfoo combines", name)
    if isinstance(value, str) and value.startswith("file://"):
        raise UnmappedError("a variable that stands in another file", name)
    if isinstance(value, bool) or value is None or isinstance(value, Mapping):
        return json.dumps(value)
    return str(value)
