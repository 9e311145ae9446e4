"""A process that starts warm is to its test, and to itself, what one that starts cold is."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.warm import client as warm

ROOT = Path(__file__).resolve().parents[2]
PROBE = [sys.executable, "-m", "tests.warm.probe"]
PROGRAM = [sys.executable, "-c", "from tests.warm.probe import main; main()"]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every process starts cold")
BOTH = pytest.mark.parametrize("is_cold", [True, False], ids=["cold", "warm"])


@pytest.fixture(autouse=True, scope="module")
def _ready() -> None:
    warm.wait_until_ready()


_READ_EARLY = {name: value for name, value in os.environ.items() if name.startswith(("OPENBLAS_", "OMP_", "MPL"))}
"""What numpy and matplotlib read as they are imported, as it is on this machine."""


def _environment(**variables: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **variables}


def _run(*arguments: str, is_cold: bool = False, **more: Any) -> subprocess.CompletedProcess[str]:
    warm.set_cold(is_cold)
    more = {"env": _environment(), "text": True, "capture_output": True, "timeout": 60, **more}
    return subprocess.run([*more.pop("start", PROBE), *arguments], **more)


def _describe(*arguments: str, is_cold: bool, **more: Any) -> dict[str, Any]:
    described: dict[str, Any] = json.loads(_run("describe", *arguments, is_cold=is_cold, **more).stdout)
    return described


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({}, id="as-it-is"),
        pytest.param({"start": PROGRAM}, id="a-program"),
        pytest.param({"cwd": "/"}, id="another-folder"),
        pytest.param({"env": {**_READ_EARLY, "PYTHONPATH": str(ROOT), "TZ": "Asia/Tokyo"}}, id="hardly-a-variable"),
        pytest.param({"env": _environment(PYTHONUNBUFFERED="1")}, id="unbuffered"),
        pytest.param({"env": _environment(PYTHONIOENCODING="ascii:namereplace")}, id="another-encoding-of-streams"),
        pytest.param({"start_new_session": True}, id="a-session-of-its-own"),
        pytest.param({"stderr": subprocess.STDOUT, "capture_output": False, "stdout": subprocess.PIPE}, id="one-pipe"),
    ],
)
def test_a_warm_process_finds_what_a_cold_one_finds(more: Mapping[str, Any]) -> None:
    cold = _describe("ä", "--flag", is_cold=True, **more)
    described = _describe("ä", "--flag", is_cold=False, **more)
    assert (cold.pop("is_warm"), described.pop("is_warm")) == (False, True)
    assert described == cold


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"env": _environment(PYTHONHASHSEED="1")}, id="a-variable-of-the-interpreter"),
        pytest.param({"env": _environment(LC_ALL="de_DE.ISO-8859-1")}, id="another-encoding"),
        pytest.param({"preexec_fn": lambda: None}, id="something-to-run-first"),
        pytest.param({"umask": 0o77}, id="another-umask"),
    ],
)
def test_what_only_a_new_interpreter_can_do_starts_cold(more: Mapping[str, Any]) -> None:
    assert not _describe(is_cold=False, **more)["is_warm"]


@pytest.mark.cold
def test_a_test_can_ask_for_cold_processes() -> None:
    done = subprocess.run([*PROBE, "describe"], env=_environment(), capture_output=True, check=True, timeout=60)
    assert not json.loads(done.stdout)["is_warm"]


@BOTH
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(["exit"], 0, "", id="nothing"),
        pytest.param(["exit", "3"], 3, "", id="a-number"),
        pytest.param(["exit", "why"], 1, "why", id="a-message"),
        pytest.param(["raise", "ValueError"], 1, "ValueError", id="an-error"),
        pytest.param(["raise", "KeyboardInterrupt"], -signal.SIGINT, "KeyboardInterrupt", id="ctrl-c"),
    ],
)
def test_the_exit_code_is_the_interpreters(is_cold: bool, arguments: list[str], code: int, message: str) -> None:
    done = _run(*arguments, is_cold=is_cold)
    assert (done.returncode, done.stdout) == (code, "registered\nat exit\n")
    assert message in done.stderr
    assert bool(message) == bool(done.stderr)


@BOTH
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_is_a_child_and_takes_signals(is_cold: bool, number: int) -> None:
    warm.set_cold(is_cold)
    process = subprocess.Popen(
        [*PROBE, "wait"], env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{process.pid} of {os.getpid()}\n"
        assert process.poll() is None
        process.send_signal(number)
        assert process.wait(30) == -number


@BOTH
def test_its_threads_send_signals_to_each_other(is_cold: bool) -> None:
    assert _run("signal", is_cold=is_cold).returncode == -signal.SIGTERM


@BOTH
def test_input_is_streamed_and_its_end_is_seen(is_cold: bool) -> None:
    warm.set_cold(is_cold)
    process = subprocess.Popen([*PROBE, "echo"], env=_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in (b"one\n", b"two\n"):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline() == line
        assert process.communicate(timeout=30)[0] == b""
        assert process.returncode == 0


@BOTH
def test_asyncio_waits_for_it(is_cold: bool) -> None:
    async def start() -> tuple[int | None, bytes]:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*PROBE, "exit", "7", stdout=pipe, env=_environment())
        out, _ = await process.communicate()
        return process.returncode, out

    warm.set_cold(is_cold)
    assert asyncio.run(start()) == (7, b"registered\nat exit\n")


@BOTH
def test_a_terminal_sends_it_ctrl_c(is_cold: bool) -> None:
    import pty

    warm.set_cold(is_cold)
    control, terminal = pty.openpty()
    process = subprocess.Popen(
        [*PROBE, "wait"],
        env=_environment(),
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        preexec_fn=warm.take_terminal,  # noqa: PLW1509
    )
    os.close(terminal)
    shown = b""
    while b"of" not in shown:  # it waits
        shown += os.read(control, 1000)
    os.write(control, b"\x03")
    assert process.wait(30) == -signal.SIGINT
    os.close(control)
