"""Tools in processes of their own (rule R7): what they do ends with them."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.runtime import hostile
from toolbelt.errors import InvalidDefinitionError
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import FailureCode, ToolCall, ToolResult

pytestmark = pytest.mark.usefixtures("no_complaints", "importable")


def run(tool: ExecutableTool, **args: Any) -> ToolResult:
    (result,) = asyncio.run(ToolRegistry([tool]).execute_parallel([ToolCall("1", tool.name, args)]))
    return result.result


def isolated(function: Callable[..., Any], **settings: Any) -> ExecutableTool:
    return ExecutableTool.of(function, isolated=True, **settings)


@pytest.mark.parametrize("function", [hostile.add, hostile.add_later])
def test_R7_an_isolated_tool_gives_its_result(function: Callable[..., Any]) -> None:
    result = run(isolated(function), a=2)
    assert (result.value, result.structured) == ("3", 3)
    assert result.printed == ("adding\n" if function is hostile.add else "")


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        pytest.param(hostile.exit_at_once, "exit code 3", id="exits"),
        pytest.param(hostile.crash, "exit code -11", id="crashes"),
        pytest.param(hostile.exit_politely, "SystemExit: 4", id="exits-politely"),
        pytest.param(hostile.give_a_lock, "which cannot be written as JSON", id="gives-what-is-no-json"),
        pytest.param(hostile.recurse, "RecursionError", id="recurses"),
    ],
)
def test_R7_what_ends_its_process_is_a_failure(
    function: Callable[..., Any], reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    result = run(isolated(function))
    assert (result.code, reason in (result.error or "")) == (FailureCode.EXECUTION_FAILED, True)
    assert capfd.readouterr().out == ""


def test_R7_what_it_writes_past_python_goes_nowhere(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(isolated(hostile.write_to_the_descriptor)).value == "fine"
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    "function",
    [hostile.compute_without_end, hostile.compute_without_end_async, hostile.ignore_signals, hostile.hang_async],
)
def test_R7_one_that_never_yields_is_killed(function: Callable[..., Any]) -> None:
    result = run(isolated(function, timeout_seconds=1))
    assert result.code is FailureCode.TIMEOUT
    assert "still be at work" not in (result.error or "")


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def _wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_R7_what_it_has_started_is_killed_with_it(tmp_path: Path) -> None:
    path = tmp_path / "pid"

    async def main() -> None:
        registry = ToolRegistry([isolated(hostile.start_a_process)])
        call = ToolCall("1", "start_a_process", {"path": str(path)})
        batch = asyncio.create_task(registry.execute_parallel([call]))
        await asyncio.to_thread(_wait_for, lambda: path.exists() and bool(path.read_text()))
        batch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await batch

    asyncio.run(main())
    pid = int(path.read_text())
    _wait_for(lambda: not _is_alive(pid))


def test_R7_a_function_that_no_other_process_could_find_is_refused() -> None:
    def local() -> None: ...

    with pytest.raises(InvalidDefinitionError, match="'local' cannot be isolated"):
        isolated(local)


def _takes_context(ctx: ToolContext) -> None: ...


def test_R7_the_context_does_not_leave_its_process() -> None:
    with pytest.raises(InvalidDefinitionError, match="ToolContext"):
        isolated(_takes_context)
