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
from toolbelt.evals.cases.imports.sources import MAX_DOCUMENT, Record
from toolbelt.findings import Finding, Severity
from toolbelt.sources import parse_json, parse_json_lines, parse_yaml, read_text

_SCHEME = "file://"
_DATA = (".json", ".yaml", ".yml", ".jsonl", ".csv")
_TEXT = (".txt", ".md")


class Files:
    """Files beside a configuration. It reads none outside its folder, and none that would have to be executed.

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
        """The value itself, or the content of the file that it names.

        Returns:
            `None` for a file that would have to be executed, and for a pattern of file names.

        Raises:
            BrokenError: it names something that is not a file, or a file outside the folder or with mistakes.
        """
        if isinstance(value, list):
            resolved = [self.resolve(item) for item in value]
            return [part for item in resolved for part in (item if isinstance(item, list) else [item])]
        if not isinstance(value, str) or not value.startswith(_SCHEME):
            return value
        path = self._folder / value.removeprefix(_SCHEME)
        suffix = path.suffix.lower()
        if suffix not in (*_DATA, *_TEXT) or "*" in value:
            return None
        if not self._is_inside(path):
            message = f"{value[:200]!r} leads out of the folder of {self.source}; nothing outside it is read."
            raise BrokenError("outside-folder", message)
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

    def _is_inside(self, path: Path) -> bool:
        """Whether a file is in the folder of the configuration, links followed."""
        try:
            return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self._folder))
        except ValueError:  # a NUL in the name, so that nothing is there
            return True

    def tests(self, written: Any, report: ImportReport, *place: str | int) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Every test with its line; a test in another file has the line that names the file.

        Args:
            written: One test, or a list of tests and names of files.
            report: Receives entries that are not tests, and files that cannot be read.
            place: Keys that lead to `written` in the configuration.
        """
        for index, entry in enumerate(written if isinstance(written, list) else [written]):
            line = self.line(*place, index) if isinstance(written, list) else self.line(*place)
            is_file = isinstance(entry, str) and entry.startswith(_SCHEME)
            try:
                content = self.resolve(entry) if is_file else entry
            except BrokenError as error:
                report.add_broken(*error.all_findings(self.source, line))
                continue
            if is_file and not isinstance(content, list | Mapping):
                report.leave_out(self.source, line, "tests that a program or a service makes", entry[:100])
                continue
            for test in content if isinstance(content, list) else [content]:
                if isinstance(test, Mapping):
                    yield line, test
                else:
                    message = "A test is an object with `vars` and `assert`, or `file://` and a file of tests."
                    report.add_broken(Finding("wrong-type", Severity.ERROR, message, self.source, line))

    def follow(self, value: Any) -> Any:
        """The target of a `{"$ref": "#/…"}` in the configuration; any other value is returned unchanged.

        Raises:
            BrokenError: the target does not exist, or the references form a cycle.
        """
        seen: set[str] = set()
        while isinstance(value, Mapping) and isinstance(place := value.get("$ref"), str):
            target: Any = self._record.data
            for part in place.removeprefix("#/").split("/"):
                target = target.get(part) if isinstance(target, Mapping) else None
            if place in seen or target is None or not place.startswith("#/"):
                raise BrokenError("bad-reference", f"The reference {place[:100]!r} leads nowhere.")
            seen.add(place)
            value = target
        return value

    def line(self, *place: str | int) -> int:
        """Line of a value of the configuration."""
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
    return parse_yaml(text, source, merges=True).data


def _csv_test(row: Mapping[str | None, Any]) -> dict[str, Any]:
    """A test from a row of a table: columns are variables; `__expected…` columns have assertions as `type: value`."""
    test: dict[str, Any] = {"vars": {}, "assert": []}
    for column, value in row.items():
        if not isinstance(column, str) or not isinstance(value, str):
            raise BrokenError("wrong-type", "A line of a CSV file has more or fewer columns than its first one.")
        name = column.strip()
        if name.startswith("__expected"):
            # A type may have a colon of its own, after which no blank comes.
            kind, _, rest = value.partition(": " if ": " in value else ":")
            if value.strip():
                test["assert"].append({"type": kind.strip(), "value": rest.strip()})
        elif name == "__description":
            test["description"] = value
        elif not name.startswith("__"):
            test["vars"][name] = value
    return test


PROMPT_ELSEWHERE = "a prompt that a program makes, or a pattern of file names"
NONE_OF_ITS_PROMPTS = "its own `prompts` name none that is read"
NO_PROMPT = "there is no prompt, and not just one variable"
TEMPLATE_LOGIC = "a prompt with logic in its template"
MISSING_VARIABLE = "a prompt with a variable that the test does not give"
SEVERAL_VALUES = "a variable with several values, which promptfoo combines"
OBJECT_IN_TEXT = "a variable that is an object, which promptfoo does not write out"
_ROUNDS = 5
_PLAIN_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_VARIABLE = re.compile(r"\{\{-?\s*([A-Za-z_][\w.\[\]]*)\s*-?\}\}")
ONE_VARIABLE: tuple[str, Any] = ("vars", None)
"""Stands for a prompt: the query is the only variable of the test."""
Prompts = list[tuple[str, Any]]
"""Each prompt, a text or a list of messages, with the label, id or place by which tests name it."""


def read_prompts(written: Any, files: Files, report: ImportReport) -> Prompts:
    """The prompts that are texts or messages; prompts that a program makes are left out.

    Args:
        written: `prompts` of the configuration.
        files: The files beside the configuration.
        report: Receives what is left out.
    """
    prompts: Prompts = []
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
            prompts.append((place, _as_chat(text)))
        elif isinstance(text, list) and text:
            prompts.append((place, text))
        else:
            report.leave_out(files.source, files.line("prompts", index), PROMPT_ELSEWHERE, str(raw)[:100])
    return prompts


def among(prompts: Prompts, names: Any) -> Prompts:
    """The prompts that a test's own `prompts` select: by label or id, or by the part of a label before `:`.

    Raises:
        UnmappedError: it selects none of them.
    """
    if names is None:
        return prompts
    chosen_names = [name for name in (names if isinstance(names, list) else [names]) if isinstance(name, str)]
    chosen = [(place, text) for place, text in prompts if any(_is_named(place, name) for name in chosen_names)]
    if not chosen:
        raise UnmappedError(NONE_OF_ITS_PROMPTS, ", ".join(chosen_names)[:100])
    return chosen


def _is_named(place: str, name: str) -> bool:
    return place == name or place.startswith(f"{name.removesuffix('*').removesuffix(':')}:")


def fill(prompt: Any, variables: Mapping[str, Any], prefix: str = "", suffix: str = "") -> CaseRow:
    """The opening of a case: the prompt with its variables filled in, between a prefix and a suffix.

    Raises:
        UnmappedError: a variable has no single value, or the prompt has logic in it.
        BrokenError: the prompt is a list, but not of messages.
    """
    if prompt is None:
        if len(variables) != 1:
            raise UnmappedError(NO_PROMPT)
        return {"query": _value(next(iter(variables)), variables)}
    if isinstance(prompt, str):
        return {"query": fill_text(f"{prefix}{prompt}{suffix}", variables)}
    if prefix or suffix:
        raise UnmappedError("`prefix` or `suffix` around a prompt of messages")
    return opening(check_messages(_deep(prompt, variables), "prompt"))


def _as_chat(text: str) -> Any:
    """The messages of a prompt that is JSON; the text itself if it is not JSON."""
    if not text.lstrip().startswith("["):
        return text
    try:
        messages = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(messages, list):
        return text
    return messages if all(isinstance(message, dict) and "role" in message for message in messages) else text


def _deep(value: Any, variables: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return fill_text(value, variables)
    if isinstance(value, list):
        return [_deep(item, variables) for item in value]
    return {key: _deep(item, variables) for key, item in value.items()} if isinstance(value, dict) else value


def resolve_variables(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Variables with those in their own texts filled in, as promptfoo does it: one at a time, in five rounds."""
    values = {name: value.removesuffix("\n") if isinstance(value, str) else value for name, value in variables.items()}
    for _ in range(_ROUNDS):
        for name, value in values.items():
            found = _PLAIN_VARIABLE.search(value) if isinstance(value, str) else None
            if found is not None and found[1] in values:
                inner = "null" if values[found[1]] is None else _text(found[1], values[found[1]])
                values[name] = value.replace(found[0], inner, 1)
    return values


def fill_text(text: str, variables: Mapping[str, Any]) -> str:
    """A text with its variables filled in; in their values, too, unless one there is of another program.

    Raises:
        UnmappedError: a variable is missing or has no single value, or there is logic in the text.
    """
    filled = _VARIABLE.sub(lambda match: _value(match[1], variables), text)
    # What a variable holds may look like a template, too, so that the text itself is looked at.
    if (rest := _VARIABLE.sub("", text)) and ("{%" in rest or "{{" in rest):
        raise UnmappedError(TEMPLATE_LOGIC)
    return filled


def _is_template(text: str, variables: Mapping[str, Any]) -> bool:
    """Whether promptfoo fills the value of a variable in: not where it is cut off or names what the test lacks."""
    if re.search(r"(?m)\{%[^%]*$|\{\{[^}]*$|\{#[^#]*$", text):
        return False
    names = re.findall(r"\{(?:\{|%-?\s*(?:el)?if|%-?\s*for\s+\w+\s+in)-?\s*([A-Za-z_]\w*)", text)
    return "{{" in text or "{%" in text if all(name in variables for name in names) else False


def _value(name: str, variables: Mapping[str, Any]) -> str:
    value: Any = variables
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise UnmappedError(MISSING_VARIABLE, name)
        value = value[part]
    text = "" if value is None else _text(name, value)
    own = name.split(".", maxsplit=1)[0]  # it may name itself
    others = {key: each for key, each in variables.items() if key != own}
    return fill_text(text, others) if _is_template(text, others) else text


def _text(name: str, value: Any) -> str:
    """The text of a value, as a template has it."""
    if isinstance(value, list):
        raise UnmappedError(SEVERAL_VALUES, name)
    if isinstance(value, Mapping):
        raise UnmappedError(OBJECT_IN_TEXT, name)
    if isinstance(value, str) and value.startswith("file://"):
        raise UnmappedError("a variable that stands in another file", name)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value)
