"""What a promptfoo configuration keeps in other files, named by `file://…` from the configuration's own folder."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from toolbelt.documents import parse_json, parse_json_lines, parse_yaml, read_text
from toolbelt.errors import InvalidFileError
from toolbelt.evals.intake.ledger import BrokenError, Ledger
from toolbelt.evals.intake.sources import MAX_DOCUMENT, Record

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
            NotFoundError: it names a file that is not there.
            InvalidFileError: every mistake in that file.
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
        if path.is_file() and path.stat().st_size > MAX_DOCUMENT:
            raise BrokenError("too-long", f"{path} has more than {MAX_DOCUMENT // 1024**2} MiB.")
        return _parse(read_text(path), str(path), suffix)

    def tests(self, written: Any, ledger: Ledger) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
        """Every test with its number and the line it stands in; those in other files have the line that names these."""
        entries = written if isinstance(written, list) else [written]
        number = 0
        for index, entry in enumerate(entries):
            line = self.line(index) if isinstance(self._record.data, list) else self.line("tests", index)
            found = self.resolve(entry) if isinstance(entry, str) and entry.startswith(_SCHEME) else entry
            if isinstance(entry, str) and not isinstance(found, list):
                ledger.leave_out(self._record.source, line, "tests that a program or a service makes", entry[:100])
                continue
            for test in found if isinstance(found, list) else [found]:
                number += 1
                if not isinstance(test, Mapping):
                    raise BrokenError("wrong-type", f"Test {number} is no object.")
                yield number, line, test

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
    return parse_yaml(text, source).data


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
