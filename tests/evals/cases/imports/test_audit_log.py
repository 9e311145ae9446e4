from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.evals.cases.imports.samples import bring_in, cases, labels, rows, write
from tests.evals.cases.samples import CATALOG
from tests.mcp.audit_samples import CALL, SESSION, make_log
from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.evals.cases.imports.audit_log import FAILED, META_TOOL, NO_ARGUMENTS, NOTHING_ASKED, QUERY_START
from toolbelt.evals.cases.imports.context import NOT_IN_CATALOG, ArgumentPolicy, ImportSettings

START = {"record": "session", "time": "t", "session": "s1", "offered": [{"name": "search_tools", "server": ""}]}


def called(tool: str = "git_push", **fields: Any) -> dict[str, Any]:
    """A record of a call; `...` takes a field away."""
    record = {"record": "call", "time": "t", "session": "s1", "tool": tool, "server": "git", "status": "ok"}
    return {key: value for key, value in {**record, "arguments": {"remote": "o"}, **fields}.items() if value is not ...}


def test_M10_a_call_with_logged_arguments_becomes_a_draft(tmp_path: Path) -> None:
    source = write(tmp_path / "audit.jsonl", [START, called(), called(arguments={"n": 3, "list": ["a"]})])
    imported = bring_in(tmp_path / "out", source, catalog=CATALOG)
    assert (imported.form, imported.cases, imported.drafts) == ("toolbelt-audit", 2, 2)
    first, second = cases(tmp_path / "out")
    assert (first.id, labels(first), first.draft, first.kind) == ("s1/1", [("git/git_push",)], True, "single")
    assert [case.query for case in (first, second)] == [f"{QUERY_START} remote: o", f'{QUERY_START} n: 3; list: ["a"]']
    assert "args" not in rows(tmp_path / "out")[0]["expected"][0]


def test_M10_a_draft_stays_one_until_its_query_is_written(tmp_path: Path) -> None:
    settings = ImportSettings(arguments=ArgumentPolicy.KEEP, reviewed=True)
    bring_in(tmp_path / "out", write(tmp_path / "a.jsonl", [called()]), catalog=CATALOG, settings=settings)
    (row,) = rows(tmp_path / "out")
    assert (row["draft"], row["expected"]) == (True, [{"tool": "git/git_push", "args": {"remote": "o"}}])


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        pytest.param(called(arguments=...), NO_ARGUMENTS, id="arguments-not-logged"),
        pytest.param(called(arguments={}), NOTHING_ASKED, id="no-arguments"),
        pytest.param(called(status="tool_error"), FAILED, id="failed"),
        pytest.param(called(status="refused", reason="unknown"), FAILED, id="refused"),
        pytest.param(called("search_tools", server=""), META_TOOL, id="meta-tool"),
        pytest.param(called("nothing_known"), NOT_IN_CATALOG, id="not-in-the-catalog"),
    ],
)
def test_M10_what_makes_no_draft_is_counted(tmp_path: Path, record: Mapping[str, Any], reason: str) -> None:
    source = write(tmp_path / "audit.jsonl", [START, called(), record])
    assert bring_in(tmp_path / "out", source, catalog=CATALOG).left_out == {reason: 1}


def test_M10_a_log_without_arguments_or_without_a_catalog_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolbeltError, match=NO_ARGUMENTS):
        bring_in(tmp_path / "out", write(tmp_path / "a.jsonl", [START, called(arguments=...)]), catalog=CATALOG)
    with pytest.raises(InvalidFileError, match="catalog"):
        bring_in(tmp_path / "out", write(tmp_path / "b.jsonl", [START, called()]))


def test_M10_the_log_as_the_gateway_writes_it(tmp_path: Path) -> None:
    audit = make_log(tmp_path / "audit", log_arguments=True)
    audit.write_session(lambda: SESSION)
    audit.write_call(
        type(CALL)("s1", "git_push", "git", CALL.status, 0.1, arguments={"remote": "o", "token": "hunter2"})
    )
    audit.close()
    imported = bring_in(tmp_path / "out", str(tmp_path / "audit" / "audit-000001.jsonl"), catalog=CATALOG)
    assert (imported.cases, imported.records) == (1, 2)
    assert cases(tmp_path / "out")[0].query == f"{QUERY_START} remote: o; token: ***"
