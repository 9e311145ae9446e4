"""Standard output while tools run (rule R7)."""

from __future__ import annotations

import contextvars
import io
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stdout

import pytest

from toolbelt.runtime.output_capture import MAX_CAPTURED_CHARS, CapturedOutput

say = sys.modules["builtins"].print


def printed_by(function: Callable[[], object]) -> CapturedOutput:
    """What a function prints, in a context of its own as calls have it."""
    printed = CapturedOutput()

    def run() -> None:
        with printed:
            function()

    contextvars.copy_context().run(run)
    return printed


def test_R7_what_is_printed_is_kept_and_reaches_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed_by(lambda: say("a", "b")).text == "a b\n"
    assert capsys.readouterr().out == ""


def test_R7_standard_output_is_put_back_when_the_last_is_done() -> None:
    before = sys.stdout
    seen = []

    def nest() -> None:
        printed_by(lambda: seen.append(sys.stdout))
        seen.append(sys.stdout)

    printed_by(nest)
    assert sys.stdout is before
    assert seen[0] is seen[1] is not before


def test_R7_what_somebody_put_in_its_place_is_not_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    before, other = sys.stdout, io.StringIO()

    def replace_it() -> None:
        sys.stdout = other

    try:
        printed_by(replace_it)
        assert sys.stdout is other
    finally:
        sys.stdout = before


def test_R7_who_kept_the_stand_in_still_reaches_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    kept: list[io.TextIOBase] = []
    printed_by(lambda: kept.append(sys.stdout))  # type: ignore[arg-type]
    before = sys.stdout
    kept[0].write("late")
    sys.stdout = kept[0]  # as `redirect_stdout` does that was entered before
    try:
        assert printed_by(lambda: say("inside")).text == "inside\n"
    finally:
        sys.stdout = before
    assert capsys.readouterr().out == "late"


def test_R7_what_is_redirected_while_one_hangs_is_kept_apart_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    release, entered = threading.Event(), threading.Event()

    def hang() -> None:
        entered.set()
        release.wait(10)

    hanging = threading.Thread(target=printed_by, args=(hang,))
    hanging.start()
    assert entered.wait(10)
    other = io.StringIO()
    with redirect_stdout(other):
        say("the agent")
        assert printed_by(lambda: say("the tool")).text == "the tool\n"
        say("goes on")
    say("where it was")
    release.set()
    hanging.join()
    say("to the end")
    assert other.getvalue() == "the agent\ngoes on\n"
    assert capsys.readouterr().out == "where it was\nto the end\n"


def test_R7_others_print_where_they_did_while_a_tool_runs(capsys: pytest.CaptureFixture[str]) -> None:
    def tool() -> None:
        agent = threading.Thread(target=lambda: say("the agent"))  # in a context of its own
        agent.start()
        agent.join()
        say("the tool")

    assert printed_by(tool).text == "the tool\n"
    assert capsys.readouterr().out == "the agent\n"


def test_R7_to_others_the_stand_in_is_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    real = sys.stdout
    found: list[tuple[object, ...]] = []

    def look() -> None:
        out = sys.stdout
        same = (out.encoding == real.encoding, out.isatty() == real.isatty(), out.buffer is real.buffer)
        found.append((out is real, same, isinstance(out, io.TextIOBase)))
        out.flush()
        out.writelines(["a", "b"])

    def tool() -> None:
        other = threading.Thread(target=look)
        other.start()
        other.join()

    printed_by(tool)
    assert found == [(False, (True, True, True), True)]
    assert capsys.readouterr().out == "ab"


def test_R7_to_a_tool_it_is_a_stream_without_a_file() -> None:
    found: list[object] = []

    def tool() -> None:
        found.extend([sys.stdout.isatty(), sys.stdout.encoding, sys.stdout.writable()])
        sys.stdout.flush()
        sys.stdout.writelines(["a", "b"])
        sys.stdout.buffer.write("é".encode()[:1])
        sys.stdout.buffer.flush()
        with pytest.raises(io.UnsupportedOperation):
            sys.stdout.fileno()
        with pytest.raises(TypeError):
            sys.stdout.write(b"bytes")  # type: ignore[arg-type]

    printed = printed_by(tool)
    assert found == [False, "utf-8", True]
    assert printed.text == "ab"


def test_R7_bytes_are_text_also_where_they_come_in_parts() -> None:
    def tool() -> None:
        out = sys.stdout.buffer
        for byte in "aé😀".encode():
            out.write(bytes([byte]))
        out.write(b"\xff")

    assert printed_by(tool).text == "aé😀\ufffd"


def test_R7_of_what_is_printed_without_end_the_beginning_is_kept() -> None:
    def tool() -> None:
        for _ in range(MAX_CAPTURED_CHARS // 10):
            say("123456789")
        say("x" * 1_000_000)

    assert printed_by(tool).text == "123456789\n" * (MAX_CAPTURED_CHARS // 10) + "\n[1000001 more characters]"


def test_R7_what_is_printed_after_the_end_goes_nowhere(capsys: pytest.CaptureFixture[str]) -> None:
    printed = CapturedOutput()
    context = contextvars.copy_context()

    def tool() -> None:
        with printed:
            say("in time")

    def late() -> None:
        printed_by(lambda: context.run(say, "late"))  # while another runs, so that the stand-in is there

    context.run(tool)
    late()
    assert printed.text == "in time\n"
    assert capsys.readouterr().out == ""


def test_R7_a_program_without_standard_output_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)

    def tool() -> None:
        other = threading.Thread(target=lambda: (say("nobody hears"), sys.stdout.flush()))
        other.start()
        other.join()
        say("kept")

    assert printed_by(tool).text == "kept\n"
    assert sys.stdout is None


def test_R7_many_at_once_keep_what_is_theirs() -> None:
    before = sys.stdout
    barrier = threading.Barrier(20, timeout=10)
    found: dict[int, str] = {}

    def call(number: int) -> None:
        def tool() -> None:
            barrier.wait()
            for _ in range(50):
                say(number)

        found[number] = printed_by(tool).text

    threads = [threading.Thread(target=call, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: f"{number}\n" * 50 for number in range(20)}
    assert sys.stdout is before
