"""Calls under way in a process of their own: what ends it, what keeps it, and what it prints (rule R7)."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

from tests.wording import mentions


def run_python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    preamble = """
        import asyncio, os, sys, threading, time
        from toolbelt.runtime.registry import ToolRegistry
        from toolbelt.runtime.executable import ExecutableTool
        from toolbelt.runtime.results import ToolCall
        async def execute(registry, calls):
            # In development mode, asyncio complains of steps that take long, as they do on a machine that is busy.
            asyncio.get_running_loop().slow_callback_duration = 600
            return await registry.execute_parallel(calls)
        def run(registry, *names):
            calls = [ToolCall("", name) for name in names]
            return [each.result for each in asyncio.run(execute(registry, calls))]
    """
    program = textwrap.dedent(preamble) + textwrap.dedent(code)
    command = [sys.executable, "-W", "error", "-X", "dev", "-c", program]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, cwd=folder)


def test_R7_a_hanging_tool_does_not_keep_the_interpreter_from_exiting(tmp_path: Path) -> None:
    done = run_python(
        """
        def hang():
            print("this goes nowhere")
            time.sleep(600)
        async def stubborn():
            while True:
                try:
                    await asyncio.sleep(600)
                except asyncio.CancelledError:
                    pass
        tools = [ExecutableTool.of(each, timeout_seconds=0.2) for each in (hang, stubborn)]
        results = run(ToolRegistry(tools), *["hang"] * 8, "stubborn")
        print([each.code.value for each in results])
        """,
        tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{['timeout'] * 9}\n"


def test_R7_sys_exit_in_a_tool_does_not_end_the_program(tmp_path: Path) -> None:
    done = run_python(
        """
        def leave():
            sys.exit(4)
        async def leave_async():
            sys.exit(5)
        def raise_it():
            raise KeyboardInterrupt
        def well():
            return "well"
        registry = ToolRegistry([leave, leave_async, raise_it, well])
        for result in run(registry, "leave", "leave_async", "raise_it", "well"):
            print(result.text)
        """,
        tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "Tool leave failed: SystemExit: 4",
        "Tool leave_async failed: SystemExit: 5",
        "Tool raise_it failed: KeyboardInterrupt",
        "well",
    ]


def test_R7_a_protocol_on_standard_output_is_left_alone(tmp_path: Path) -> None:
    done = run_python(
        """
        def noisy():
            print("noise")
            sys.stdout.buffer.write(b"bytes")
            sys.stdout.flush()
        async def noisy_async():
            print("noise")
            await asyncio.sleep(0.01)
            await asyncio.to_thread(print, "noise of a thread")
        print("before")
        first, second = run(ToolRegistry([noisy, noisy_async]), "noisy", "noisy_async")
        print("after", repr(first.printed), repr(second.printed))
        """,
        tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert mentions(done.stdout, "noise\\nbytes", "noise\\nnoise of a thread\\n")
