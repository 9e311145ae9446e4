"""Import cases from files of other formats, and write them with their catalog as a dataset."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from toolbelt.catalog import Catalog
from toolbelt.catalog.reader import CatalogFile
from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.evals.cases.case_file import MAX_LINE, CasesWriter, case_line
from toolbelt.evals.cases.digests import id_digest
from toolbelt.evals.cases.fields import ParsedCase
from toolbelt.evals.cases.imported_layout import parse_imported_case
from toolbelt.evals.cases.imports.context import LINE, WITHOUT_CATALOG, CaseRow, Context, Format, ImportSettings
from toolbelt.evals.cases.imports.formats import FORMATS, empty_sources, find_format
from toolbelt.evals.cases.imports.import_report import BrokenError, ImportReport, LeftOutRecord, UnmappedError
from toolbelt.evals.cases.imports.redaction import Redactor
from toolbelt.evals.cases.imports.sources import Record, SourceFile, open_source, source_names
from toolbelt.evals.cases.imports.tool_pool import ToolPool
from toolbelt.evals.cases.layout import LayoutKind
from toolbelt.evals.cases.loadouts_file import LOADOUTS_FILE
from toolbelt.evals.cases.own_layout import parse_own_case
from toolbelt.findings import Finding, Severity, sorted_findings
from toolbelt.sources import parse_json
from toolbelt.stores.catalogs import CASES_FILE, CATALOG_FILES, write_catalog
from toolbelt.text import plural

_PROGRESS_EVERY = 200
AGAINST_SCHEMA = (
    "a label breaks the schema of its own tool, and is right all the same: toolbelt dataset lint lists them"
)
LABEL_AGAINST_SCHEMA = ("label-against-schema", "impossible-argument")
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The result of an import.

    Attributes:
        folder: Of the dataset.
        form: A key of `FORMATS`.
        cases: Number of cases written.
        drafts: Number of cases that nobody has reviewed yet.
        tools: Number of tools of the catalog.
        left_out: How often something made no case, by reason.
        lines: The listed records that were left out.
        broken: Findings on what cannot be read: records, and tools of records that are read without them.
        silent: Number of left-out records that `lines` does not list.
        records: Number of records read, including broken ones; one record may make several cases, or none.
        notes: Notes for the user.
        redacted: How many values were redacted, by kind.
    """

    folder: str
    form: str
    cases: int
    drafts: int
    tools: int
    left_out: Mapping[str, int]
    lines: tuple[LeftOutRecord, ...]
    broken: tuple[Finding, ...]
    silent: int
    records: int
    notes: tuple[str, ...]
    redacted: Mapping[str, int]

    @property
    def summary(self) -> str:
        """What was read, and what came of it, in a sentence."""
        drafts = f", {plural(self.drafts, 'draft')} to review" if self.drafts else ""
        read = f"read {plural(self.records, 'record')} of {FORMATS[self.form].label}"
        return f"{read}: {plural(self.cases, 'case')}{drafts}, {plural(self.tools, 'tool')} in {self.folder}"

    @property
    def redaction(self) -> str:
        """What was redacted, in a sentence; empty if nothing was."""
        listed = ", ".join(f"{kind} ({count:,})" for kind, count in self.redacted.items())
        return f"redacted: {listed}, as far as patterns find it: of names of people, some only" if listed else ""


def import_cases(
    references: Sequence[str],
    folder: str,
    *,
    standard_input: BinaryIO,
    settings: ImportSettings | None = None,
    form: str | None = None,
    catalog: CatalogFile | None = None,
    fallback: Callable[[], CatalogFile | None] = lambda: None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> ImportResult:
    """Read sources and write a dataset. A record that cannot be read does not refuse the others (rule V6).

    Args:
        references: Files, `-` for the standard input, or folders as the Berkeley leaderboard has them.
        folder: Gets `cases.jsonl` and `catalog.json`; created if it does not exist.
        standard_input: Read for the reference `-`.
        settings: The user's settings.
        form: A key of `FORMATS`; recognised from the sources if `None`.
        catalog: Resolves names, instead of the tools in the sources; it is copied beside the cases.
        fallback: Gives the catalog where there is none and the sources bring no tools.
        overwrite: Whether an existing dataset may be replaced.
        progress: Called with the number of records read so far.

    Raises:
        NotFoundError: a source does not exist.
        InvalidFileError: every mistake in the sources, where no record can be read; nothing was written.
        ToolbeltError: the folder may not be written to, there is no catalog, or the sources give no case.
        StorageError: the disk fails.
    """
    place = Path(folder)
    _make_way(place, overwrite=overwrite)
    with ExitStack() as stack:
        names, notes = source_names(references)
        sources = [open_source(name, stack, standard_input) for name in names]
        if findings := empty_sources(sources):
            raise InvalidFileError(findings)
        form = form or find_format(sources)
        work = _Import(form, sources, settings or ImportSettings(), progress)
        pool = work.collect_tools(_name_of(place))
        if catalog is None and not len(pool):
            catalog = fallback()
        context = work.context(pool, None if catalog is None else catalog.catalog)
        is_new = not place.exists()
        try:
            with CasesWriter(place / CASES_FILE, overwrite=overwrite) as writer:
                work.write(writer, context)
                work.refuse(writer.count)
                write_catalog(context.catalog, str(place / CATALOG_FILES[0]), overwrite=overwrite)
                writer.finish()
        except BaseException:
            if is_new:
                with contextlib.suppress(OSError):  # it may hold what somebody else put there
                    place.rmdir()
            raise
        return work.result(folder, context, writer.count, (*notes, *_about(place, catalog)))


class _Import:
    """One import: both passes over the sources, and the report."""

    def __init__(
        self, form: str, sources: Sequence[SourceFile], settings: ImportSettings, progress: Progress | None
    ) -> None:
        self._form = form
        self._format: Format = FORMATS[form].make()
        self._sources = sources
        self._settings = settings
        self._progress = progress
        self._report = ImportReport()
        self._broken: set[int] = set()
        self._read = 0
        self._drafts = 0
        self._count = 0
        self._ids = _Ids()
        self._redactor = Redactor() if settings.redact and FORMATS[form].is_recorded else None

    def collect_tools(self, name: str) -> ToolPool:
        """First pass: collect the tools, and find broken records."""
        pool = ToolPool(name)
        for number, record in self._records(self._complain):
            self._count += 1
            try:
                self._format.collect_tools(record, pool)
            except BrokenError as error:
                self._broken.add(number)
                self._report.add_broken(*error.all_findings(record.source, record.line))
            for refused in pool.take_refused():
                self._report.add_broken(*refused.all_findings(record.source, record.line))
        return pool

    def context(self, pool: ToolPool, catalog: Catalog | None) -> Context:
        """What the second pass needs; without a catalog, that of the collected tools."""
        if catalog is not None:
            return Context(catalog, self._settings, self._report, None)
        if not len(pool):
            self._explain_no_tools(pool)
        if count := pool.renamed():
            note = (
                f"{count:,} {'tool has' if count == 1 else 'tools have'} the name of another one with a different "
                f"definition; {'its id ends' if count == 1 else 'their ids end'} in #digits"
            )
            self._report.notes[note] = 1
        return Context(pool.catalog(), self._settings, self._report, pool)

    def _complain(self, findings: tuple[Finding, ...]) -> None:
        self._count += 1
        self._report.add_broken(*findings)

    def write(self, writer: CasesWriter, context: Context) -> None:
        """Second pass: write the cases."""
        for number, record in self._records(lambda _: None):
            if number in self._broken:
                continue
            try:
                rows = list(self._format.rows(record, context))
            except BrokenError as error:
                self._report.add_broken(*error.all_findings(record.source, record.line))
                continue
            except UnmappedError as reason:
                self._report.leave_out(record.source, record.line, reason.reason, reason.detail)
                continue
            for row in rows:
                self._add(row, record, writer, context)
        self._format.finish(context)

    def _explain_no_tools(self, pool: ToolPool) -> None:
        """Raises why the sources bring no tools: each record is left out for a reason of its own, or they name none."""
        context = Context(pool.catalog(), self._settings, self._report, pool)
        findings, rows = self._report.findings(), 0
        for number, record in self._records(lambda _: None):
            try:
                rows += 0 if number in self._broken else len(list(self._format.rows(record, context)))
            except BrokenError as error:
                self._report.add_broken(*error.all_findings(record.source, record.line))
            except UnmappedError as reason:
                self._report.leave_out(record.source, record.line, reason.reason, reason.detail)
        if rows or not WITHOUT_CATALOG.isdisjoint(self._report.reasons):
            raise InvalidFileError(findings or [self._no_catalog()])
        self.refuse(0)

    def refuse(self, count: int) -> None:
        """Raises if nothing should be written, because there is no case."""
        if not count and self._report.broken == sum(self._report.reasons.values()) > 0:
            raise InvalidFileError(sorted_findings(self._report.findings()))
        if not count:
            reasons = ", ".join(f"{reason} ({times:,})" for reason, times in self._report.reasons.most_common(10))
            first = next((f" The first: {left_out}" for left_out in self._report.lines()), "")
            raise ToolbeltError(f"No case came of it: {reasons or 'there is no record'}.{first}")

    def result(self, folder: str, context: Context, count: int, notes: Sequence[str]) -> ImportResult:
        """The result for the caller."""
        counted_notes = [
            f"{message}{f' ({times:,} times)' * (times > 1)}" for message, times in self._report.notes.items()
        ]
        return ImportResult(
            folder,
            self._form,
            count,
            self._drafts,
            len(context.catalog.tools),
            dict(self._report.reasons.most_common()),
            tuple(self._report.lines()),
            self._report.findings(),
            self._report.silent,
            self._count,
            (*notes, *counted_notes),
            dict(self._redactor.counts) if self._redactor else {},
        )

    def _records(self, complain: Callable[[tuple[Finding, ...]], None]) -> Iterator[tuple[int, Record]]:
        """Every record that can be read, numbered the same way each time."""
        number = 0
        for source in self._sources:
            for record in self._grouped(source.records(complain)):
                self._read += 1
                if self._progress is not None and self._read % _PROGRESS_EVERY == 0:
                    self._progress(self._read)
                number += 1
                yield number, record

    def _grouped(self, records: Iterator[Record]) -> Iterator[Record]:
        """The records of a file, or all of them as one where a conversation is spread over a file."""
        if not FORMATS[self._form].is_whole:
            yield from records
        elif whole := list(records):
            yield replace(whole[0], data=[record.data for record in whole], document=None)

    def _add(self, row: CaseRow, record: Record, writer: CasesWriter, context: Context) -> None:
        line = row.pop(LINE, record.line)
        case_id = row["id"] if row.get("id", "").strip() else record.own_id
        row = row | {"id": case_id, "note": f"{record.source}:{line}"}
        if self._redactor is not None:
            row = self._redactor.redact(row)
        parsed = self._parsed(row, context)
        errors = [finding for finding in parsed.findings if finding.severity is Severity.ERROR]
        if parsed.excluded:
            self._report.leave_out(record.source, line, parsed.excluded, parsed.detail)
            return
        if not errors:
            row["id"] = self._ids.unique(case_id)
            if row["id"] != case_id:
                self._report.note("an id that stood before was made unique")
            text = case_line(row)
            errors = _too_much(text, row)
        if errors:
            self._report.add_broken(*(replace(finding, file=record.source, line=line) for finding in errors))
            return
        labels = () if parsed.case is None else context.calls.check_labels(parsed.case)
        if any(finding.rule in LABEL_AGAINST_SCHEMA for finding in labels):
            self._report.note(AGAINST_SCHEMA)
        self._drafts += row.get("draft") is True
        writer.add_line(text)

    def _parsed(self, row: CaseRow, context: Context) -> ParsedCase:
        if FORMATS[self._form].layout is LayoutKind.PUBLIC:
            return parse_imported_case(row, context.names, lists=True)
        return parse_own_case(row, context.names)

    def _no_catalog(self) -> Finding:
        message = (
            f"{FORMATS[self._form].label}: these sources bring no tools; say with --catalog which the names are of: "
            "a file such as tools.json, or Python code such as shoptools.py."
        )
        if FORMATS[self._form].is_whole:
            message += (
                " Those of the servers in a client's file come with: toolbelt catalog import .mcp.json -o catalog.json"
            )
        return Finding("no-catalog", Severity.ERROR, message, self._sources[0].name)


class _Ids:
    """The ids that are in use, a few bytes for each."""

    def __init__(self) -> None:
        self._taken: set[int] = set()
        self._next: dict[int, int] = {}

    def unique(self, case_id: str) -> str:
        """`case_id` itself, or with `~2`, `~3`, … after it if it is in use."""
        digest = id_digest(case_id)
        if digest not in self._taken:
            self._taken.add(digest)
            return case_id
        number = self._next.get(digest, 2)
        while id_digest(f"{case_id}~{number}") in self._taken:
            number += 1
        self._next[digest] = number + 1
        return self.unique(f"{case_id}~{number}")


def _too_much(text: str, row: CaseRow) -> list[Finding]:
    """Errors if the line cannot be read again: it is too long, or arguments that were text made it too deep."""
    if len(text) > MAX_LINE // 4 and len(text.encode(errors="replace")) > MAX_LINE:
        message = f"Its case would be a line of more than {MAX_LINE // 1024**2} MiB."
        return [Finding("too-long", Severity.ERROR, message)]
    if any(isinstance(call, dict) and "args" in call for call in row.get("expected") or ()):
        try:
            parse_json(text, "")
        except InvalidFileError as error:
            return list(error.findings)
    return []


def _make_way(folder: Path, *, overwrite: bool) -> None:
    """Raises `ToolbeltError` before any work if the dataset could not be written."""
    if folder.exists() and not folder.is_dir():
        raise ToolbeltError(f"{str(folder)!r} is a file; name a folder.")
    there = [name for name in (CASES_FILE, *CATALOG_FILES, LOADOUTS_FILE) if (folder / name).exists()]
    if there and not overwrite:
        shown = " and ".join(there)
        raise ToolbeltError(f"{shown} in {str(folder)!r} would be replaced; use --force to do so, or another folder.")


def _name_of(folder: Path) -> str:
    """Name of the catalog: that of the folder, unless it is not UTF-8."""
    name = folder.resolve().name.strip()
    try:
        name.encode()
    except UnicodeEncodeError:
        return "imported"
    return name or "imported"


def _about(folder: Path, catalog: CatalogFile | None) -> Iterator[str]:
    if catalog is not None:
        yield f"the catalog {catalog.source} was copied beside the cases"
    for name in (*CATALOG_FILES[1:], LOADOUTS_FILE):
        if (folder / name).exists():
            yield f"{folder / name} was there before and was left as it is"
