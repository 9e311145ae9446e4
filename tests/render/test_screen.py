"""What goes where, and in which form."""

from __future__ import annotations

import io
import json
import os
import struct
import sys

import pytest

from toolbelt.findings import Finding, Severity
from toolbelt.render import screen as screens
from toolbelt.render.screen import PIPED_WIDTH, make_screen, notify, print_json, progress, show_blocks
from toolbelt.render.screen import print_findings as tell_all
from toolbelt.render.terminal import can_draw
from toolbelt.views.blocks import Code, Line, Note
from toolbelt.views.cells import Span, Tone
from toolbelt.views.table import Column, Row, Table


def test_into_a_pipe_the_screen_is_wide_and_plain(capsys: pytest.CaptureFixture[str]) -> None:
    assert make_screen().width == PIPED_WIDTH
    show_blocks([Note("[bold]:smile: x[/bold]", Tone.BAD)])
    assert capsys.readouterr().out == "[bold]:smile: x[/bold]\n"


def test_columns_are_minded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "57")
    assert make_screen().width == 57


def test_a_table_into_a_pipe_has_no_trailing_blanks(capsys: pytest.CaptureFixture[str]) -> None:
    show_blocks([Table("a", (Column("b", is_text=True),), (Row("long", (Span("x"),)), Row("y", (Span("words"),))))])
    assert [line for line in capsys.readouterr().out.split("\n") if line != line.rstrip()] == []


def test_what_other_programs_read_stays_one_line_on_a_narrow_screen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    lines = ["- name: 'a model with a long name'", "  max_tools: 128"]
    show_blocks([Code("\n".join(lines)), Line((Span("a finding "), Span("of many words")), is_whole=True)])
    assert capsys.readouterr().out.splitlines() == [*lines, "a finding of many words"]


@pytest.mark.parametrize(("encoding", "draws"), [("utf-8", True), ("ascii", False), ("latin-1", False)])
def test_blocks_are_drawn_only_where_they_can_be_shown(
    encoding: str, draws: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    assert can_draw(make_screen()) is draws


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "cp1252"])
def test_json_is_valid_in_every_encoding(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="backslashreplace")
    monkeypatch.setattr(sys, "stdout", stream)
    data = {"é漢\x1b\x9b\u202e": ["👍", "\u2028", 1, None]}
    print_json(data)
    stream.flush()
    assert json.loads(raw.getvalue().decode(encoding)) == data


def test_messages_go_to_standard_error_with_escapes_spelled_out(capsys: pytest.CaptureFixture[str]) -> None:
    notify("one\ntwo \x1b[2J", "warning")
    tell_all([Finding("a-rule", Severity.ERROR, "bad \x07\nname", "f\x1b.yaml", 3)])
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "warning: one two \\x1b[2J\nf\\x1b.yaml:3: error: bad \\x07 name [a-rule]\n"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_message_breaks_between_words_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl
    import pty
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    with os.fdopen(theirs, "w") as terminal, monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", terminal)
        notify("see names/of-a-path/that-is/wider-than/forty-columns and words")
        terminal.flush()
        lines = os.read(ours, 4096).decode().splitlines()
    os.close(ours)
    assert lines == ["note: see", "names/of-a-path/that-is/wider-than/forty-columns", "and words"]


def test_quick_work_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("counting", 3) as advance:
        for done in range(3):
            advance(done)
    assert capsys.readouterr().err == ""


def test_long_work_says_so_once_into_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screens, "PATIENCE_SECONDS", 0.0)
    with progress("counting", 2000) as advance:
        advance(1000)
        advance(2000)
    assert capsys.readouterr().err == "counting: 1,000 of 2,000\n"
