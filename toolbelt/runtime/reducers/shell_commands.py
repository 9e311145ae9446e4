"""Which programs a shell command runs, as far as its words state it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeGuard

Words = tuple[str, ...]
"""A program and its arguments."""

_KEYS = ("command", "cmd", "script")
_MAX_COMMAND_CHARS = 10_000
"""Characters of a command that are read; a longer one contains whole files."""
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish"})
_PREFIXES = frozenset(
    {"sudo", "env", "time", "nice", "nohup", "exec", "command", "stdbuf", "xvfb-run", "then", "do", "!"}
)
_RUNNERS = frozenset(
    {
        *("uv run", "uvx", "poetry run", "pdm run", "pipenv run", "hatch run", "rye run", "coverage run"),
        *(
            "npx",
            "bunx",
            "pnpm exec",
            "pnpm dlx",
            "yarn exec",
            "yarn run",
            "pnpm run",
            "npm exec",
            "npm run",
            "bun run",
        ),
        *("python -m", "uv tool run"),
    }
)
"""Commands that run the program named next."""
_VERBATIM = frozenset(
    {
        *("cat", "head", "tail", "less", "more", "bat", "nl", "tac", "strings", "xxd", "hexdump", "jq", "yq"),
        *("grep", "egrep", "rg", "ag", "ack", "sed", "awk", "cut", "sort", "uniq", "diff", "ls", "find", "tree"),
        *("curl", "wget", "man", "journalctl", "git diff", "git show", "git log", "git blame", "git grep"),
    }
)
"""Programs that print files: their output is wanted, whatever it looks like."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_OPTIONS_WITH_VALUE: Mapping[str, frozenset[str]] = {
    "git": frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"}),
    "env": frozenset({"-u", "-C", "-S"}),
    "sudo": frozenset({"-u", "-g", "-h", "-p"}),
    "nice": frozenset({"-n"}),
    "uv run": frozenset({"--with", "--python", "-p", "--group", "--extra", "--directory", "--project", "--package"}),
    "npm": frozenset({"--prefix", "-C", "-w", "--workspace"}),
    "pnpm": frozenset({"--dir", "-C", "--filter", "-F"}),
    "yarn": frozenset({"--cwd"}),
    "cargo": frozenset({"--manifest-path", "-C", "--config"}),
}


def read_commands(args: Mapping[str, Any]) -> tuple[Words, ...]:
    """The programs that the arguments of a shell tool run, in order, each without its runner.

    Args:
        args: With the command in `command`, `cmd` or `script`: a text for a shell, or a list of words; further words
            in `args`.

    Returns:
        `("cd", "x")` and `("git", "status", "-s")` for `cd x && LANG=C git -C y status -s`: options before the first
        other word are left out, so that a subcommand is the second. Empty where nothing can be read.
    """
    value = next((args[key] for key in _KEYS if args.get(key)), None) if isinstance(args, Mapping) else None
    rest = args.get("args") if isinstance(args, Mapping) else None
    if isinstance(value, str) and _are_words(rest):
        return tuple(_parse_words([value, *rest]))
    if isinstance(value, str):
        return tuple(_parse_text(value))
    return tuple(_parse_words(value)) if _are_words(value) else ()


def starts_with(words: Words, program: str) -> bool:
    """Whether the words run a program, such as `git status`."""
    wanted = tuple(program.split(" "))
    return words[: len(wanted)] == wanted


def prints_files(commands: Sequence[Words]) -> bool:
    """Whether any of the programs prints files."""
    return any(starts_with(words, program) for words in commands for program in _VERBATIM)


def _parse_text(text: str, depth: int = 0) -> Iterator[Words]:
    if len(text) > _MAX_COMMAND_CHARS:
        return
    lexer = shlex.shlex(text.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    try:
        for word in lexer:
            if word and set(word) <= set("();&|"):
                yield from _parse_words(words, depth)
                words = []
            else:
                words.append(word)
    except ValueError:  # an open quote
        return
    yield from _parse_words(words, depth)


def _parse_words(command: Sequence[str], depth: int = 0) -> Iterator[Words]:
    words = [command[0].replace("\\", "/").rpartition("/")[2].removesuffix(".exe"), *command[1:]] if command else []
    while words:
        if _ASSIGNMENT.match(words[0]):
            words = words[1:]
        elif words[0] in _PREFIXES:
            words = _without_options(words[0], words[1:])
        elif (runner := _runner(words)) is not None:
            words = _without_options(runner, words[len(runner.split(" ")) :])
        else:
            break
        words = [words[0].rpartition("/")[2], *words[1:]] if words else []
    if not words:
        return
    program = "python" if re.fullmatch(r"python[\d.]*|py|pypy3?", words[0]) else words[0]
    if program in _SHELLS and depth < 3:
        script = next((after for option, after in pairwise(words) if _is_script(option)), None)
        if script is not None:
            yield from _parse_text(script, depth + 1)
            return
    if program == "python" and words[1:2] == ["-m"]:
        yield from _parse_words(words[2:], depth)
        return
    program = re.sub(r"^pip[\d.]+$", "pip", program)
    yield (program, *_without_options(program, words[1:]))


def _are_words(value: Any) -> TypeGuard[Sequence[str]]:
    return isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(word, str) for word in value)


def _is_script(option: str) -> bool:
    return re.fullmatch(r"-[a-z]*c", option) is not None


def _runner(words: Sequence[str]) -> str | None:
    return next((name for size in (3, 2, 1) if (name := " ".join(words[:size])) in _RUNNERS), None)


def _without_options(program: str, words: Sequence[str]) -> list[str]:
    """The words after the leading options."""
    position = 0
    takes_value = _OPTIONS_WITH_VALUE.get(program, frozenset())
    while position < len(words) and words[position].startswith("-") and len(words[position]) > 1:
        position += 2 if words[position] in takes_value else 1
    return list(words[position:])
