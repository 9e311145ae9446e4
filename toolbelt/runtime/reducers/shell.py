"""The reducer of shell output (rule R5)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolbelt.runtime.reducers.git_status import summarize_status
from toolbelt.runtime.reducers.reducer import ReduceInfo
from toolbelt.runtime.reducers.shell_commands import Words, prints_files, read_commands, starts_with
from toolbelt.runtime.reducers.shell_noise import INSTALLS, TEST_RUNS, OutputKind, has_shape, remove_noise
from toolbelt.runtime.reducers.text import (
    add_note,
    clean,
    count_lines,
    excerpt,
    find_document,
    format_count,
    has_note,
    reduce_fields,
    replace_if_shorter,
)
from toolbelt.runtime.results import ToolResult

MAX_CHARS = 8_192
"""8 KB, in characters: budgets are in characters, too (rule R4)."""
SMALL_CHARS = 1_024
"""Shorter output is not worth reducing."""
OUTPUT_KINDS: tuple[OutputKind, ...] = (*TEST_RUNS, *INSTALLS)
_STREAMS = ("stdout", "stderr", "output")
_ADVICE = "for the rest, run it again into a file and read parts of that"
_MIN_CHARS = 1_024


@dataclass(frozen=True, slots=True)
class ShellReducer:
    """Shortens the output of commands.

    `git status` becomes counts and the first paths of each kind. Test runs and package installs lose only the lines
    that are known to be noise: about passed tests and downloads. The command states which kind of output it is, or the
    output itself (`make check`). Output that is still too long, and any other output, is cut to its head and tail and
    the lines between them that look like errors. The number of lines left out is stated in their place.

    Failed results are shortened alike: what a failed command printed matters most.

    Attributes:
        tool_name: The tool whose results these are.
        max_chars: Size limit of the reduced output, at least 1,024.
    """

    tool_name: str = "terminal"
    max_chars: int = MAX_CHARS

    def reduce(self, result: ToolResult, info: ReduceInfo) -> ToolResult:
        """The result with shorter output, if possible; of a failed one, the error as well."""
        commands = read_commands(info.args)
        cap = max(self.max_chars, _MIN_CHARS)
        if result.error is not None and not self._is_done(result.error):
            error = shorten(result.error, commands, cap)
            result = replace(result, error=error) if len(error) < len(result.error) else result
        return result if self._is_done(result.value) else self._reduce_value(result, commands, cap)

    def _reduce_value(self, result: ToolResult, commands: Sequence[Words], cap: int) -> ToolResult:
        document = find_document(result)
        streams = [] if document is None else [key for key in _STREAMS if isinstance(document.get(key), str)]
        if document is None or not streams:
            return replace_if_shorter(result, shorten(result.value, commands, cap))
        share = max(cap // len(streams) - _MIN_CHARS // 2, _MIN_CHARS // 2)
        reduced = reduce_fields(document, streams, lambda text: shorten(text, commands, share))
        text = result.value if reduced is None else json.dumps(reduced, ensure_ascii=False)
        return replace_if_shorter(result, text if len(text) <= cap else _cut(text, text.split("\n"), None, cap))

    def _is_done(self, value: str) -> bool:
        return has_note(value) and len(value) <= max(self.max_chars, _MIN_CHARS)


def shorten(text: str, commands: Sequence[Words], cap: int) -> str:
    """The output without noise, and cut if it is still longer than `cap` characters.

    Returns:
        The text itself if the reduced one would not be shorter.
    """
    lines = clean(text).removesuffix("\n").split("\n")
    if (status := summarize_status(lines, commands)) is not None:
        reduced = add_note(status.note, excerpt(status.lines, cap - len(status.note) - 20))
    elif len(text) > SMALL_CHARS and (kinds := _find_kinds(lines, commands)):
        useful, numbers, note = remove_noise(lines, kinds)
        reduced = _cut(text, useful, numbers, cap, note)
    elif len(text) > cap:
        reduced = _cut(text, lines, None, cap)
    else:
        return text
    return reduced if len(reduced) < len(text) else text if len(text) <= cap else _cut(text, lines, None, cap)


def _find_kinds(lines: Sequence[str], commands: Sequence[Words]) -> list[OutputKind]:
    """The kinds that the commands name, and those that the output looks like, unless a command prints files."""
    named = [
        kind for kind in OUTPUT_KINDS if any(starts_with(words, name) for words in commands for name in kind.programs)
    ]
    if prints_files(commands):
        return named
    others = [kind for kind in OUTPUT_KINDS if kind not in named]
    return named + [kind for kind in others if has_shape(kind, lines)]


def _cut(text: str, lines: Sequence[str], numbers: Sequence[int] | None, cap: int, note: str = "") -> str:
    size = f"{format_count(count_lines(text), 'line')}, {format_count(len(text), 'character')}"
    summary = f"{note}; {size} in all" if note else f"{size} in all"
    fits = sum(map(len, lines)) + len(lines) <= cap - len(summary) - len(_ADVICE) - 60
    note = f"{summary}; {_ADVICE}" if fits else f"{summary}, head and tail shown; {_ADVICE}"
    return add_note(note, excerpt(lines, cap - len(note) - 20, numbers))
