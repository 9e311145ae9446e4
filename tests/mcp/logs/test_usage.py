"""What an audit log comes to (rule M10)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.mcp.audit_samples import CALL, SESSION, make_log
from toolbelt.errors import NotFoundError
from toolbelt.mcp.logs.audit import CallStatus, OfferedTool, find_files
from toolbelt.mcp.logs.usage import Usage, UsageBy, find_sources, read_records, summarize_usage

OFFERED = (
    OfferedTool("git_status", "git", 40),
    OfferedTool("git_push", "git", 70),
    OfferedTool("fetch", "web", 90),
    OfferedTool("search_tools", "", 60),
)


def write_log(folder: Path) -> None:
    times = iter([0.0, 1.0, 2.0, 3.0, 4.0, 86_400.0, 86_401.0])
    log = make_log(folder, clock=lambda: next(times))
    log.write_session(lambda: replace(SESSION, session="a", offered=OFFERED))
    log.write_call(replace(CALL, session="a"))
    log.write_call(replace(CALL, session="a", status=CallStatus.TOOL_ERROR, answer=("abcdefgh",), bytes=8))
    log.write_call(replace(CALL, session="a", tool="nope", server="", status=CallStatus.REFUSED, bytes=None, answer=()))
    log.write_guard("a", "git_status", "allow", allowed=True, reason="")
    log.write_session(lambda: replace(SESSION, session="b", offered=OFFERED[:2]))
    log.write_call(replace(CALL, session="b", tool="git_push"))
    log.close()


def usage(folder: Path, since: str = "", by: UsageBy = UsageBy.TOOL) -> Usage:
    return summarize_usage(read_records(find_files(folder)), since=since, by=by)


def test_M10_calls_failures_and_tokens_are_counted_by_tool(tmp_path: Path) -> None:
    write_log(tmp_path)
    found = usage(tmp_path)
    assert (found.sessions, found.calls, found.failures) == (2, 4, 2)
    rows = {row.name: (row.server, row.sessions, row.calls, row.failures, row.answer_tokens) for row in found.rows}
    assert rows == {"git_status": ("git", 2, 2, 1, 5), "git_push": ("git", 2, 1, 0, 3), "nope": ("", 1, 1, 1, 0)}
    assert found.rows[0].statuses == {"ok": 1, "tool_error": 1}
    assert (found.rows[0].answer_bytes, round(found.rows[0].seconds, 6)) == (28, 0.025)


def test_M10_what_was_offered_in_vain_is_listed_with_its_tokens(tmp_path: Path) -> None:
    write_log(tmp_path)
    found = usage(tmp_path)
    assert [(row.name, row.definition_tokens, row.sessions) for row in found.never_called] == [
        ("fetch", 90, 1),
        ("search_tools", 60, 1),
    ]


def test_M10_rows_by_server_add_up(tmp_path: Path) -> None:
    write_log(tmp_path)
    found = usage(tmp_path, by=UsageBy.SERVER)
    assert {row.name: (row.tools, row.calls, row.definition_tokens) for row in found.rows} == {
        "git": (2, 3, 110),
        "": (2, 1, 60),
    }
    assert [row.name for row in found.never_called] == ["web"]


def test_M10_since_leaves_out_what_was_before(tmp_path: Path) -> None:
    write_log(tmp_path)
    found = usage(tmp_path, since="1970-01-02T00:00:00.000Z")
    assert (found.sessions, found.calls) == (1, 1)
    assert [row.name for row in found.never_called] == ["git_status"]
    # A session that began before, and goes on, still counts with what it is offered.
    later = usage(tmp_path, since="1970-01-01T00:00:02.000Z")
    assert (later.sessions, later.calls) == (2, 3)
    assert "fetch" in {row.name for row in later.never_called}


@pytest.mark.parametrize(
    ("torn", "calls", "damaged"),
    [
        ('{"record":"call","tim', 4, 1),
        ('{"record":"call","tim\n', 4, 1),
        ('[1]\n{"no":1}\n"x"\nnull\n\x00\n', 4, 5),
        ('{"record":"call","session":"a","tool":3,"tokens":"x","bytes":-1}\n', 5, 0),
    ],
)
def test_M10_damaged_lines_cost_only_themselves(tmp_path: Path, torn: str, calls: int, damaged: int) -> None:
    write_log(tmp_path)
    (path,) = find_files(tmp_path)
    path.write_text(torn + path.read_text())
    found = usage(tmp_path)
    assert (found.calls, found.damaged_lines) == (calls, damaged)
    assert found.sessions == 2


def test_M10_lost_records_are_counted(tmp_path: Path) -> None:
    (tmp_path / "audit-000001.jsonl").write_text('{"record":"lost","time":"x","count":7}\n')
    assert usage(tmp_path).lost == 7


def test_sources_are_files_and_folders_and_by_default_the_users_own(tmp_path: Path) -> None:
    write_log(tmp_path / "audit")
    files = find_files(tmp_path / "audit")
    for given in ((), (str(tmp_path / "audit"),), (str(files[0]),)):
        assert find_sources(given, tmp_path / "audit") == files
    assert find_sources((), tmp_path / "nothing") == []
    with pytest.raises(NotFoundError):
        find_sources((str(tmp_path / "nothing"),), tmp_path)
