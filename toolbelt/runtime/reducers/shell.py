"""The reducer of shell output (rule R5)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from toolbelt.runtime.reducers.git_status import sum_up_status
from toolbelt.runtime.reducers.reducer import ReduceInfo
from toolbelt.runtime.reducers.shell_commands import Words, read_commands, shows_files, starts_with
from toolbelt.runtime.reducers.shell_noise import INSTALLS, TEST_RUNS, Noise, drop_noise, has_shape
from toolbelt.runtime.reducers.text import (
    clean,
    count_lines,
    excerpt,
    find_document,
    is_noted,
    noted,
    reduce_fields,
    replace_value,
    tell_count,
)
from toolbelt.runtime.results import ToolResult

MAX_CHARS = 8_192
"""8 KB, in characters: budgets are in characters, too (rule R4)."""
SMALL_CHARS = 1_024
"""What is no longer than this is not worth going through."""
NOISES: tuple[Noise, ...] = (*TEST_RUNS, *INSTALLS)
_STREAMS = ("stdout", "stderr", "output")
_AGAIN = "for the rest, run it again into a file and read parts of that"
_LEAST = 1_024


@dataclass(frozen=True, slots=True)
class ShellReducer:
    """Shortens what commands print.

    `git status` becomes counts and the first paths of each kind; of test runs and package installs goes what is known
    to be noise, lines on what passed or was fetched, and nothing else. Which it is, the command says, or the output
    itself where the command is another's (`make check`). What is still too long then, or is something else, is cut to
    its head and tail and the lines between them that look like errors. What is left out is counted where it was.

    Attributes:
        tool_name: The tool whose results these are.
        max_chars: Characters that are left at most, from 1,024 on.
    """

    tool_name: str = "terminal"
    max_chars: int = MAX_CHARS

    def reduce(self, result: ToolResult, info: ReduceInfo) -> ToolResult:
        """The result with shorter output, where it is known how."""
        if not result.ok or self._is_done(result.value):
            return result
        commands = read_commands(info.args)
        cap = max(self.max_chars, _LEAST)
        document = find_document(result)
        streams = [] if document is None else [key for key in _STREAMS if isinstance(document.get(key), str)]
        if document is None or not streams:
            return replace_value(result, shorten(result.value, commands, cap))
        share = max(cap // len(streams) - _LEAST // 2, _LEAST // 2)
        made = reduce_fields(document, streams, lambda text: shorten(text, commands, share))
        text = result.value if made is None else json.dumps(made, ensure_ascii=False)
        return replace_value(result, text if len(text) <= cap else _cut(text, text.split("\n"), None, cap))

    def _is_done(self, value: str) -> bool:
        return is_noted(value) and len(value) <= max(self.max_chars, _LEAST)


def shorten(text: str, commands: Sequence[Words], cap: int) -> str:
    """Output with what is noise left out, and cut where it is longer than `cap` characters then.

    Returns:
        The text itself where that would not make it shorter.
    """
    lines = clean(text).removesuffix("\n").split("\n")
    if (status := sum_up_status(lines, commands)) is not None:
        made = noted(status.note, excerpt(status.lines, cap - len(status.note) - 20))
    elif len(text) > SMALL_CHARS and (noises := _find_noises(lines, commands)):
        kept, numbers, note = drop_noise(lines, noises)
        made = _cut(text, kept, numbers, cap, note)
    elif len(text) > cap:
        made = _cut(text, lines, None, cap)
    else:
        return text
    return made if len(made) < len(text) else text if len(text) <= cap else _cut(text, lines, None, cap)


def _find_noises(lines: Sequence[str], commands: Sequence[Words]) -> list[Noise]:
    """Those that the commands are named in, and those that the output looks like unless it is that of a file."""
    named = [
        noise for noise in NOISES if any(starts_with(words, name) for words in commands for name in noise.programs)
    ]
    if shows_files(commands):
        return named
    others = [noise for noise in NOISES if noise not in named]
    return named + [noise for noise in others if has_shape(noise, lines)]


def _cut(text: str, lines: Sequence[str], numbers: Sequence[int] | None, cap: int, note: str = "") -> str:
    size = f"{tell_count(count_lines(text), 'line')}, {tell_count(len(text), 'character')}"
    said = f"{note}; {size} in all" if note else f"{size} in all"
    fits = sum(map(len, lines)) + len(lines) <= cap - len(said) - len(_AGAIN) - 60
    told = f"{said}; {_AGAIN}" if fits else f"{said}, head and tail shown; {_AGAIN}"
    return noted(told, excerpt(lines, cap - len(told) - 20, numbers))
