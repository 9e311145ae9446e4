from __future__ import annotations

import csv
import io
import string
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evals.cases.imports.samples import bring_in, mistakes
from tests.evals.cases.samples import CATALOG
from toolbelt.errors import InvalidFileError
from toolbelt.evals.cases.imports import tables
from toolbelt.evals.cases.imports.tables import SURPLUS, TableRow, read_csv, read_markdown

_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"])).map(str.strip)
_ROWS = st.lists(st.tuples(_TEXT, _TEXT).filter(any), min_size=1, max_size=5)


def _cell(text: str) -> str:
    return "".join(f"\\{letter}" if letter in string.punctuation else letter for letter in text)


def _markdown(text: str) -> list[TableRow]:
    return list(read_markdown(text.encode(), "a.md"))


@given(_ROWS)
def test_E3_a_markdown_table_is_read_back_as_it_was_written(rows: list[tuple[str, str]]) -> None:
    body = "".join(f"| {_cell(tool)} | {_cell(prompt)} |\n" for tool, prompt in rows)
    read = _markdown(f"Words.\n\n| Tool | Prompt |\n|:--|--|\n{body}\nMore words.\n")
    assert [(row.line, row.cells) for row in read] == [
        (line, {"Tool": tool, "Prompt": prompt}) for line, (tool, prompt) in enumerate(rows, start=5)
    ]


@given(st.lists(st.tuples(st.text(st.characters(codec="utf-8", exclude_characters="\0")), _TEXT)))
def test_E3_a_csv_table_is_read_back_as_it_was_written(rows: list[tuple[str, str]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerows([("Tool", "Prompt"), *rows])
    read = list(read_csv(io.BytesIO(text.getvalue().encode()), "a.csv"))
    wanted = [{"Tool": tool, "Prompt": prompt} for tool, prompt in rows if tool.strip() or prompt.strip()]
    assert [row.cells for row in read] == wanted


def test_E3_cells_are_what_a_reader_of_the_page_sees() -> None:
    page = r"""# Of `git`

> | Tool | Prompt |
> |---|---|
> | **`git_push`** | <branch> and \<x> to [it](https://a.example) \| mine<br>all <!-- not this --> of_it &lt;3 |

```
| Tool | Prompt |
|---|---|
| none | this is code |
```

## Others

Tool | Prompt
:-: | ---
git_log | what happened? | why?
"""
    assert [(row.line, row.heading, row.cells) for row in _markdown(page)] == [
        (5, "Of git", {"Tool": "git_push", "Prompt": "<branch> and <x> to it | mine\nall  of_it <3"}),
        (17, "Others", {"Tool": "git_log", "Prompt": "what happened?", SURPLUS: "why?"}),
    ]


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_E3_any_usual_separator_is_found(separator: str) -> None:
    text = separator.join(("Tool", "Prompt")) + "\r\n" + separator.join(("read", '"a, b; c\td"')) + "\r\n"
    assert [(row.line, row.cells) for row in read_csv(io.BytesIO(b"\xef\xbb\xbf" + text.encode()), "a")] == [
        (2, {"Tool": "read", "Prompt": "a, b; c\td"})
    ]


def test_E3_columns_without_a_name_of_their_own_get_one() -> None:
    (row,) = read_csv(io.BytesIO(b"Tool,,Prompt,Prompt\na,b,c,d\n"), "a.csv")
    assert row.cells == {"Tool": "a", "column 2": "b", "Prompt": "c", "Prompt 4": "d"}


_HEAD = b"Tool,Prompt\nread,Read it.\n"


@pytest.mark.parametrize(
    ("name", "raw", "rule", "line"),
    [
        pytest.param("a.csv", _HEAD + b"read,\xe9t\xe9\n", "not-utf8", 3, id="latin-1"),
        pytest.param("a.csv", "Tool,Prompt\nread,a\n".encode("utf-16"), "not-utf8", 1, id="utf-16"),
        pytest.param("a.csv", _HEAD + b"read,a\0\n", "not-utf8", 3, id="nul"),
        pytest.param("a.csv", _HEAD + b'read,"a\n\n', "syntax", 3, id="a-quote-that-never-ends"),
        pytest.param("a.csv", _HEAD + b'read,"a" b\n', "syntax", 3, id="a-quote-that-ends-too-early"),
        pytest.param("a.csv", _HEAD + b"read,one, two\n", "columns", 3, id="a-comma-too-many"),
        pytest.param("a.csv", _HEAD + b"\n\nread\n", "columns", 5, id="a-cell-too-few"),
        pytest.param("a.csv", b"", "empty", None, id="empty-csv"),
        pytest.param("a.csv", b"Tool,Prompt\n", "no-rows", None, id="header-alone"),
        pytest.param("a.csv", b"Name,City\na,b\n", "unknown-format", None, id="other-columns"),
        pytest.param("a.md", b" \n", "empty", None, id="empty-markdown"),
        pytest.param("a.md", b"# Words\n\nand | no table\n", "no-rows", None, id="no-table"),
        pytest.param("a.md", b"| Tool | City |\n|--|--|\n| a | b |\n", "unknown-format", None, id="other-tables"),
        pytest.param("a.md", b"| Tool | Prompt |\n|--|--|\n| a | \xff |\n", "not-utf8", 3, id="markdown-not-utf8"),
        pytest.param("a.parquet", b"PAR1 and nothing else", "syntax", None, id="no-parquet"),
        pytest.param("a.csv", b"\x1f\x8b\x08", "compressed", None, id="gzip"),
    ],
)
def test_E9_a_table_that_cannot_be_read_is_reported_with_its_line(
    tmp_path: Path, name: str, raw: bytes, rule: str, line: int | None
) -> None:
    (tmp_path / name).write_bytes(raw)
    findings = mistakes(tmp_path / "out", str(tmp_path / name), catalog=CATALOG)
    assert [(finding.rule, finding.line) for finding in findings] == [(rule, line)]


def test_E9_where_the_rest_of_a_file_is_not_read_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(_HEAD + b"read,Read it.\nread,\xff\nread,Read this.\n")
    (finding,) = mistakes(tmp_path / "out", str(tmp_path / "a.csv"), catalog=CATALOG)
    assert "What follows it was not read." in finding.message


def test_E3_broken_rows_may_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b'Tool,Prompt\nread,one,two\nread,"a" b\nread,Read it.\n')
    imported = bring_in(tmp_path / "out", str(tmp_path / "a.csv"), catalog=CATALOG)
    assert (imported.cases, imported.left_out) == (1, {"broken: columns": 1, "broken: syntax": 1})
    assert [left_out.line for left_out in imported.lines] == [2, 3]


@pytest.mark.parametrize(
    ("name", "limit"), [("a.md", "MAX_MARKDOWN"), ("a.csv", "MAX_LINE"), ("a.parquet", "MAX_ROW_GROUP")]
)
def test_E9_what_is_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, limit: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.setattr(tables, limit, 40)
    if name == "a.parquet":
        pq.write_table(pa.table({"Tool": ["read"], "Prompt": ["Read it." * 20]}), tmp_path / name)
    else:
        (tmp_path / name).write_text("Tool,Prompt\nread," + "it " * 40 + "\n")
    with pytest.raises(InvalidFileError) as caught:
        bring_in(tmp_path / "out", str(tmp_path / name), catalog=CATALOG, form="queries")
    assert [finding.rule for finding in caught.value.findings] == ["too-long"]


def test_E3_memory_does_not_grow_with_the_rows_of_a_table() -> None:
    def lines(count: int) -> Iterator[bytes]:
        yield b"Tool,Prompt\n"
        yield from (b"read," + b"x" * 1000 + b"\n" for _ in range(count))

    peaks = []
    for count in (200, 2000):
        handle = io.BytesIO(b"".join(lines(count)))
        tracemalloc.start()
        assert sum(1 for _ in read_csv(handle, "a.csv")) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 100_000


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("| Tool | Prompt |\n|---|---|\n| read | Read it. |\n", id="markdown"),
        pytest.param("Prompt,Tool\nRead it.,read\n", id="csv"),
        pytest.param("Prompt\tTool\nRead it.\tread\n", id="tsv"),
    ],
)
def test_E3_a_table_is_known_without_the_name_of_its_file(tmp_path: Path, text: str) -> None:
    imported = bring_in(tmp_path / "out", "-", stdin=text.encode(), catalog=CATALOG)
    assert (imported.form, imported.cases) == ("queries", 1)
