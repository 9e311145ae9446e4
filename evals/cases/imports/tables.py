"""The rows of tables: CSV with any separator, every table of a Markdown document, and Parquet."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.case_file import MAX_LINE
from toolbelt.findings import Finding, Severity
from toolbelt.sources import decode

MAX_MARKDOWN = 2 * 1024 * 1024
"""Bytes of a Markdown document, which its parser reads whole: two seconds for each MB, a minute where it is hostile."""
MAX_ROW_GROUP = 1024**3
"""Bytes of a part of a Parquet file when unpacked, as the file declares it."""
SURPLUS = ""
"""The key of what a row has beyond the columns of its table."""
_SEPARATORS = (",", "\t", ";")
_DELIMITER_ROW = re.compile(rb"^[ >]*\|?[ ]*:?-+:?[ ]*\|[-|: ]*\r?$", re.MULTILINE)
_PIPE = re.compile(r"(?<!\\)\|")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row below the header.

    Attributes:
        line: Where it begins, counted from 1; of Parquet, its number.
        cells: Its values by column; of CSV and Markdown, texts.
        heading: Markdown: the heading above its table, empty if there is none; elsewhere `None`.
        findings: The reasons if it cannot be read; it has no cells then.
    """

    line: int
    cells: Mapping[str, Any]
    heading: str | None = None
    findings: tuple[Finding, ...] = ()


def looks_like_markdown(beginning: bytes) -> bool:
    """Whether there is a row that separates the header of a Markdown table from the rest."""
    return _DELIMITER_ROW.search(beginning) is not None


def looks_like_csv(beginning: bytes) -> bool:
    """Whether the first line may be the header of a table: names with separators, and nothing that YAML begins with."""
    first = beginning.partition(b"\n")[0].decode(errors="replace").strip()
    return any(mark in first for mark in _SEPARATORS) and first[:1] not in "#%&*?-|>!@" and ": " not in first


def read_csv(handle: BinaryIO, source: str) -> Iterator[TableRow]:
    """Every row of a table whose separator is a comma, a tab or a semicolon: the most frequent one of its header.

    A row whose number of cells differs from the header's has a finding, as one with a quote in the wrong place has.

    Raises:
        InvalidFileError: a line is not UTF-8, or too long; what follows was not read.
    """
    handle.seek(0)
    header_line = decode(handle.readline(MAX_LINE), source)
    handle.seek(0)
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE))  # of the process; a transcript may be one field
    separator = max(_SEPARATORS, key=header_line.count)
    reader = csv.reader(_lines(handle, source), delimiter=separator, strict=True)
    columns: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            finding = Finding("syntax", Severity.ERROR, f"Not a row of a table: {error}.", source, line)
            yield TableRow(line, {}, None, (finding,))
            continue
        if not any(cell.strip() for cell in cells):
            continue
        if not columns:
            columns = _unique(cells)
        elif len(cells) != len(columns):
            count = f"{len(cells)} cells where the header has {len(columns)}"
            message = f"This row has {count}; put a text with {separator!r} in it in quotes."
            yield TableRow(line, {}, None, (Finding("columns", Severity.ERROR, message, source, line),))
        else:
            yield TableRow(line, dict(zip(columns, cells, strict=True)))


def _lines(handle: BinaryIO, source: str) -> Iterator[str]:
    number = 0
    while raw := handle.readline(MAX_LINE + 1):
        number += 1
        if len(raw) > MAX_LINE:
            message = f"A line of more than {MAX_LINE // 1024**2} MiB is no row of a table."
            raise InvalidFileError([Finding("too-long", Severity.ERROR, message, source, number)])
        if b"\0" in raw:
            message = "There are NUL bytes in this line; it is binary, or not UTF-8."
            raise InvalidFileError([Finding("not-utf8", Severity.ERROR, message, source, number)])
        try:
            yield decode(raw, source)
        except InvalidFileError as error:
            raise InvalidFileError([replace(finding, line=number) for finding in error.findings]) from None


def read_markdown(raw: bytes, source: str) -> Iterator[TableRow]:
    """Every row of every table of a document, its cells as a reader of the page sees them.

    Marks of emphasis, code and links are gone, escapes are resolved, `<br>` is a line break, and other tags stand as
    they are: in prompts they are placeholders, such as `<resource>`. A table in a block of code is none. What a row
    has beyond its columns, which a page would not show, stands under `SURPLUS`.

    Raises:
        InvalidFileError: it is too long, or not UTF-8.
    """
    from markdown_it import MarkdownIt

    if len(raw) > MAX_MARKDOWN:
        message = f"A Markdown document of more than {MAX_MARKDOWN // 1024**2} MiB is not read; write its table as CSV."
        raise InvalidFileError([Finding("too-long", Severity.ERROR, message, source)])
    text = decode(raw, source)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    heading, line = "", 1
    columns: list[str] = []
    cells: list[str] = []
    tokens = MarkdownIt("commonmark").enable("table").disable("image").parse(text)
    for place, token in enumerate(tokens):
        match token.type:
            case "heading_open":
                heading = _visible(tokens[place + 1].children or ())
            case "table_open":
                columns = []
            case "tr_open":
                line, cells = (token.map or [0])[0] + 1, []
            case "th_open" | "td_open":
                cells.append(_visible(tokens[place + 1].children or ()))
            case "tr_close" if not columns:
                columns = _unique(cells)
            case "tr_close" if any(cells):
                written = _PIPE.split(lines[line - 1].strip(" \t>").removeprefix("|").removesuffix("|"))
                surplus = "|".join(written[len(columns) :]).strip()
                yield TableRow(
                    line, dict(zip(columns, cells, strict=True)) | ({SURPLUS: surplus} if surplus else {}), heading
                )


def _visible(tokens: Sequence[Any]) -> str:
    parts = []
    for token in tokens:
        if token.type != "html_inline":
            parts.append(token.content)
        elif not token.content.startswith("<!--"):
            parts.append("\n" if _BREAK.fullmatch(token.content) else token.content)
    return "".join(parts).strip()


def read_parquet(handle: BinaryIO, source: str) -> Iterator[TableRow]:
    """Every row of a Parquet file, as a release on Hugging Face has it.

    Raises:
        InvalidFileError: it is no Parquet file, it is broken, or a part of it is too long.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    handle.seek(0)
    try:
        file = pq.ParquetFile(handle)
        metadata = file.metadata
        if any(metadata.row_group(n).total_byte_size > MAX_ROW_GROUP for n in range(metadata.num_row_groups)):
            message = f"A row group has more than {MAX_ROW_GROUP // 1024**3} GiB when unpacked; write smaller ones."
            raise InvalidFileError([Finding("too-long", Severity.ERROR, message, source)])
        number = 0
        for batch in file.iter_batches(batch_size=16):
            for cells in batch.to_pylist():
                number += 1
                yield TableRow(number, cells)
    except (pa.ArrowException, OSError, ValueError) as error:
        message = f"Not a Parquet file, or a broken one: {str(error)[:200]}"
        raise InvalidFileError([Finding("syntax", Severity.ERROR, message, source)]) from None


def _unique(names: Sequence[str]) -> list[str]:
    """The names of columns, a number after one that is missing or that stood before."""
    unique: list[str] = []
    for number, name in enumerate(map(str.strip, names), start=1):
        unique.append(name if name and name not in unique else f"{name or 'column'} {number}")
    return unique
