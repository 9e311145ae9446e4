"""The audit log of the gateway (rule M10)."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.audit_samples import CALL, SESSION, make_log
from toolbelt.errors import StorageError
from toolbelt.mcp.logs.audit import (
    MAX_COUNTED_CHARS,
    CallRecord,
    CallStatus,
    find_files,
)
from toolbelt.mcp.logs.usage import read_records

ROOT = Path(__file__).resolve().parents[3]
posix = pytest.mark.skipif(os.name != "posix", reason="file modes and limits of POSIX")


def write(folder: Path, calls: Sequence[CallRecord] = (CALL,), **settings: Any) -> list[dict[str, Any]]:
    log = make_log(folder, **settings)
    log.start()
    log.write_session(lambda: SESSION)
    for call in calls:
        log.write_call(call)
    log.close()
    return read(folder)


def read(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in find_files(folder) for line in path.read_text().splitlines() if line]


def test_M10_a_session_and_a_call_each_have_a_record(tmp_path: Path) -> None:
    session, call = write(tmp_path / "audit", clock=lambda: 0.0)
    assert session == {
        "record": "session",
        "time": "1970-01-01T00:00:00.000Z",
        "session": "s1",
        "client": {"name": "claude\x1b[31m", "version": "1.0"},
        "protocol": "2025-11-25",
        "loadout": "developer",
        "digest": "abc",
        "tokens": 100,
        "tokenizer": "estimate",
        "offered": [
            {"name": "git_status", "server": "git", "tokens": 40},
            {"name": "search_tools", "server": "", "tokens": 60},
        ],
    }
    assert call == {
        "record": "call",
        "time": "1970-01-01T00:00:00.000Z",
        "session": "s1",
        "tool": "git_status",
        "server": "git",
        "status": "ok",
        "milliseconds": 12.5,
        "bytes": 20,
        "tokens": 3,
    }


def test_M10_the_file_escapes_what_servers_and_clients_send(tmp_path: Path) -> None:
    write(tmp_path, [replace(CALL, tool="a\u202eb\n\x7f")])
    (path,) = find_files(tmp_path)
    assert all(line.isascii() and line.isprintable() for line in path.read_text().splitlines())


@posix
def test_M10_nobody_else_reads_the_log(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "audit"
    before = os.umask(0)
    try:
        write(folder)
    finally:
        os.umask(before)
    (path,) = find_files(folder)
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(folder.stat().st_mode)) == (0o600, 0o700)


@posix
def test_M10_a_link_in_place_of_the_log_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.touch()
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / "audit-000001.jsonl").symlink_to(target)
    reports: list[str] = []
    log = make_log(tmp_path / "audit", reports)
    log.start()
    log.write_call(CALL)
    log.close()
    assert target.read_text() == ""
    assert len(reports) == 1


@pytest.mark.parametrize("is_asked_for", [False, True])
def test_M10_arguments_are_recorded_only_if_that_was_asked_for(tmp_path: Path, is_asked_for: bool) -> None:
    arguments = {"path": "a", "api_key": "hunter2hunter2", "nested": [{"Authorization": "Basic eHg6eHg="}]}
    _, call = write(tmp_path, [replace(CALL, arguments=arguments)], log_arguments=is_asked_for)
    assert call.get("arguments") == (
        {"path": "a", "api_key": "***", "nested": [{"Authorization": "***"}]} if is_asked_for else None
    )


def test_M10_arguments_that_are_too_long_are_left_out(tmp_path: Path) -> None:
    _, call = write(tmp_path, [replace(CALL, arguments={"text": "x" * 100_000})], log_arguments=True)
    assert (call.get("arguments"), call["arguments_left_out"]) == (None, True)


def test_M10_a_refused_call_has_its_reason_and_a_call_through_its_meta_tool(tmp_path: Path) -> None:
    refused = replace(CALL, status=CallStatus.REFUSED, reason="not_read_only", via="call_tool_read", bytes=None)
    _, call = write(tmp_path, [refused])
    assert (call["status"], call["reason"], call["via"], call["bytes"]) == (
        "refused",
        "not_read_only",
        "call_tool_read",
        None,
    )


def test_M10_tokens_of_a_huge_answer_are_unknown_and_not_guessed(tmp_path: Path) -> None:
    _, call = write(tmp_path, [replace(CALL, answer=("x" * (MAX_COUNTED_CHARS + 1),), bytes=MAX_COUNTED_CHARS + 1)])
    assert (call["tokens"], call["bytes"]) == (None, MAX_COUNTED_CHARS + 1)


def test_M10_files_rotate_by_size_and_the_oldest_go(tmp_path: Path) -> None:
    write(tmp_path, [CALL] * 100, max_file_bytes=2_000, max_files=3)
    files = find_files(tmp_path)
    assert len(files) == 3
    assert all(path.stat().st_size <= 2_000 for path in files)
    assert files[-1].name > "audit-000005.jsonl"
    before = read(tmp_path)
    write(tmp_path, [CALL], max_file_bytes=10**6, max_files=3)
    assert len(read(tmp_path)) == len(before) + 2  # the newest file goes on


def test_M10_a_deleted_file_is_begun_anew(tmp_path: Path) -> None:
    log = make_log(tmp_path, required=True)
    log.start()
    for path in find_files(tmp_path):
        path.unlink()
    assert log.admit("s1", "git_status")
    log.close()
    assert [record["record"] for record in read(tmp_path)] == ["started"]


FULL_DISK = """
import json, resource, signal, sys
from pathlib import Path
from tests.mcp.audit_samples import CALL, make_log
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, resource.RLIM_INFINITY))
folder, required = Path(sys.argv[1]), sys.argv[2] == "required"
reports = []
log = make_log(folder, reports, required=required)
log.start()
admitted = []
for _ in range(30):
    admitted.append(log.admit("s1", "git_status"))
    log.write_call(CALL)
log.close()
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
log = make_log(folder, reports, required=required)
log.start()
again = log.admit("s1", "git_status")
log.write_call(CALL)
log.close()
print(json.dumps([reports, admitted, again]))
"""


@posix
@pytest.mark.parametrize("required", [False, True])
def test_M10_on_a_full_disk_calls_go_on_unless_the_log_is_required(tmp_path: Path, required: bool) -> None:
    """The limit on the size of files stands for the full disk: the write is cut short, then fails."""
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path), "required" if required else "optional"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    )
    reports, admitted, again = json.loads(done.stdout)
    assert len(reports) == 1
    assert "cannot be written" in reports[0]
    assert (all(admitted), any(admitted), again) == (not required, True, True)
    (path,) = find_files(tmp_path)
    lines = path.read_text().splitlines()
    torn = [line for line in lines if line and not line.endswith("}")]
    assert len(torn) <= 1
    assert json.loads(lines[-1])["record"] == "call"


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
def test_M10_a_read_only_folder_stops_a_required_log_and_no_other(tmp_path: Path) -> None:
    _check_unwritable(tmp_path)


def test_M10_a_log_that_cannot_be_opened_stops_a_required_one_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    _check_unwritable(tmp_path / "file")


def _check_unwritable(folder: Path) -> None:
    if folder.is_dir():
        folder.chmod(0o500)
    reports: list[str] = []
    log = make_log(folder / "audit", reports)
    log.start()
    assert log.admit("s1", "git_status")
    log.write_call(CALL)
    log.write_call(CALL)
    log.close()
    assert len(reports) == 1
    with pytest.raises(StorageError):
        make_log(folder / "audit", required=True).start()


def test_M10_what_was_lost_is_counted(tmp_path: Path) -> None:
    folder = tmp_path / "audit"
    log = make_log(folder, required=True)
    log.start()
    shutil.rmtree(folder)
    folder.touch()
    assert not any(log.admit("s1", "git_status") for _ in range(3))
    folder.unlink()
    assert log.admit("s1", "git_status")
    log.close()
    assert [(record["record"], record.get("count")) for record in read(folder)] == [("lost", 3), ("started", None)]


WRITER = """
import sys, time
from dataclasses import replace
from pathlib import Path
from toolbelt.mcp.logs.audit import find_files
from tests.mcp.audit_samples import CALL, SESSION, make_log
log = make_log(Path(sys.argv[1]), max_file_bytes=50_000, max_files=1000)
log.start()
log.write_session(lambda: replace(SESSION, session=sys.argv[2]))
for number in range(int(sys.argv[3])):
    log.write_call(replace(CALL, session=sys.argv[2], tool=f"t{number}", server="s" * (number % 500)))
    if number == 200:
        while not any(path.stat().st_size for path in find_files(Path(sys.argv[1]))):
            time.sleep(0.01)
        print("written", flush=True)
log.close(30)
"""


def _start_writer(folder: Path, name: str, count: int) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    arguments = [sys.executable, "-c", WRITER, str(folder), name, str(count)]
    return subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, text=True)


def test_M10_several_gateways_share_a_log_and_no_line_is_torn(tmp_path: Path) -> None:
    writers = [_start_writer(tmp_path, name, 1_000) for name in ("a", "b", "c")]
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    records = read(tmp_path)
    assert len(find_files(tmp_path)) > 10
    for name in ("a", "b", "c"):
        tools = [record["tool"] for record in records if record["session"] == name and record["record"] == "call"]
        assert tools == [f"t{number}" for number in range(1_000)]


@posix
def test_M10_a_killed_gateway_leaves_readable_lines(tmp_path: Path) -> None:
    writer = _start_writer(tmp_path, "a", 1_000_000)
    assert writer.stdout is not None
    with writer, writer.stdout:
        assert writer.stdout.readline() == "written\n"
        writer.kill()
        writer.wait(30)
    make_log(tmp_path, required=True).admit("b", "git_status")
    *records, last = read_records(find_files(tmp_path))
    assert last is not None
    assert last["session"] == "b"
    assert records.count(None) <= 1  # at most the line that was being written
    assert {record["session"] for record in records if record is not None} == {"a"}
