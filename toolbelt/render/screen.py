"""The terminal: standard output, standard error, and their width."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from toolbelt.findings import Finding
from toolbelt.reporter import Advance, Reporter
from toolbelt.text import json_pieces, visible, without_commands

if TYPE_CHECKING:
    from rich.console import Console

    from toolbelt.views.blocks import Block

PIPED_WIDTH = 200
"""Columns where there is no terminal to ask: wide enough that a name is seldom cut."""
_NARROWEST = 20
"""Columns of a terminal below which it is left to break lines."""
PATIENCE_SECONDS = 1.0
"""Seconds of work after which progress is shown."""


def make_screen() -> Console:
    """The standard output: colours and width of the terminal there, plain and wide elsewhere."""
    from rich.console import Console  # which --json does without

    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and len(columns) < 6 and int(columns) > 0:
        width = int(columns)
    else:
        width = _terminal_width() if sys.stdout.isatty() and not columns else PIPED_WIDTH
    return Console(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)


def _terminal_width() -> int:
    import shutil  # with the archive formats; a pipe has no width

    return shutil.get_terminal_size().columns


def show_blocks(blocks: Iterable[Block]) -> None:
    """Print views on standard output; into a pipe without the blanks that pad tables."""
    from toolbelt.render.terminal import render_terminal

    screen = make_screen()
    lines = render_terminal(blocks, screen)
    if screen.is_terminal:
        from rich.console import Group

        screen.print(Group(*lines), soft_wrap=True)
    else:
        # Once more, as a word that is folded may begin a line in its middle.
        sys.stdout.write(without_commands("".join(f"{line.plain.rstrip()}\n" for line in lines)))


def print_json(data: Any) -> None:
    """One JSON document on standard output, and nothing else."""
    ascii_only = "utf" not in (sys.stdout.encoding or "").lower()
    for piece in json_pieces(data, ascii_only=ascii_only):
        sys.stdout.write(piece)
    sys.stdout.write("\n")


def notify(message: str, label: str = "note") -> None:
    """A message for the user on standard error, wrapped between words on a terminal; an empty label is left out."""
    text = f"{label}: {visible(message)}" if label else visible(message)
    sys.stderr.write(f"{wrap_message(text)}\n")


def wrap_message(text: str) -> str:
    """Lines that fit the terminal of standard error; paths and identifiers stay whole, so that they can be copied."""
    try:
        width = os.get_terminal_size(sys.stderr.fileno()).columns if sys.stderr.isatty() else 0
    except (OSError, ValueError):  # a terminal that is closed, or a stream that is none
        width = 0
    if width < _NARROWEST or len(text) <= width:
        return text
    import textwrap  # few messages are longer than a line

    lines = (textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) for line in text.split("\n"))
    return "\n".join("\n".join(line) for line in lines)


def print_findings(findings: Sequence[Finding]) -> None:
    """Findings on standard error, one a line."""
    for finding in findings:
        sys.stderr.write(f"{visible(str(finding))}\n")


@contextmanager
def progress(label: str, total: int | None) -> Iterator[Advance]:
    """Show progress on standard error once the work takes over a second.

    Args:
        label: What is done.
        total: How much there is to do; `None` where nobody knows.

    Yields:
        A function to call with the number done so far.
    """
    started = time.monotonic()
    terminal = sys.stderr.isatty()
    shown = False

    def advance(done: int) -> None:
        nonlocal shown
        if time.monotonic() - started < PATIENCE_SECONDS or (shown and not terminal):
            return
        shown = True
        end = "" if terminal else "\n"
        start = "\r\x1b[2K" if terminal else ""
        of = "" if total is None else f" of {total:,}"
        sys.stderr.write(f"{start}{label}: {done:,}{of}{end}")
        sys.stderr.flush()

    try:
        yield advance
    finally:
        if shown and terminal:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


class ConsoleReporter(Reporter):
    """Shows notes, findings and progress on standard error."""

    def note(self, message: str) -> None:
        """A line of its own."""
        notify(message)

    def warn(self, message: str) -> None:
        """A line of its own."""
        notify(message, "warning")

    def findings(self, findings: Sequence[Finding]) -> None:
        """One item on each line."""
        print_findings(findings)

    def progress(self, label: str, total: int | None) -> AbstractContextManager[Advance]:
        """Shown once the work takes over a second."""
        return progress(label, total)
