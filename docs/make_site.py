"""Gather what the site is built from: the pages of this folder, and reference pages made from commands and docstrings.

`make docs` runs this and then the generator. The reference is not committed: it repeats `--help` and docstrings, and
would conflict wherever two branches touch those.
"""

from __future__ import annotations

import enum
import functools
import html
import inspect
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType

import click
import docstring_parser
from docstring_parser.common import DocstringParam

import toolbelt
import toolbelt.evals
from toolbelt.cli.root import root

HERE = Path(__file__).resolve().parent


def _escape(text: str) -> str:
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()).replace("<", "&lt;"))
    return "".join(html.unescape(part) if part[:1] == "`" else re.sub(r"([\\*_\[\]])", r"\\\1", part) for part in parts)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [" | ".join(cell.replace("|", r"\|") for cell in line) for line in (head, ("---",) * len(head), *rows)]
    return "\n".join(f"| {line} |" for line in lines) if rows else ""


def _code(text: str, language: str = "text") -> str:
    return f"```{language}\n{text}\n```"


def _paragraphs(text: str) -> str:
    r"""The paragraphs of a help text or docstring; those that are indented, or kept as written by `\b`, become code."""
    found = []
    for part in inspect.cleandoc(text).rstrip().split("\n\n"):
        as_written = part.startswith(("\b", "    "))
        found.append(_code(textwrap.dedent(part.removeprefix("\b\n"))) if as_written else _escape(part))
    return "\n\n".join(found)


def _commands(group: click.Group, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        if (command := group.get_command(context, name)) is not None:
            yield (*path, name), command
        if isinstance(command, click.Group):
            yield from _commands(command, *path, name)


def _command_section(path: tuple[str, ...], command: click.Command) -> str:
    context = click.Context(command, info_name=" ".join(("toolbelt", *path)), **root.context_settings)
    rows = []
    for option in command.params:
        names, meaning = option.get_help_record(context) or ("", "")
        if meaning:
            meaning = re.sub(r"\s*\[env var: \w+\]|env var: \w+; ", "", meaning)
            rows.append((f"`{names}`", _escape(meaning), f"`{option.envvar or '–'}`"))
    parts = [
        f"{'##' if len(path) == 1 else '###'} {context.info_name}",
        _paragraphs(command.help or ""),
        _code(" ".join((str(context.info_name), *command.collect_usage_pieces(context)))),
        _table(("option", "meaning", "variable"), rows),
        _paragraphs(command.epilog or ""),
    ]
    return "\n\n".join(filter(None, parts))


def commands_page() -> str:
    """All commands."""
    return "\n\n".join(["# Commands", "Made from `--help`.", *(_command_section(*found) for found in _commands(root))])


def variables_page() -> str:
    """All variables that stand for a flag."""
    used: dict[str, dict[str, list[str]]] = {}
    for path, command in _commands(root):
        for option in command.params:
            if option.envvar:
                flags = used.setdefault(str(option.envvar), {})
                flags.setdefault(max(option.opts, key=len), []).append(" ".join(path))
    about = "A flag wins over its variable. [Settings](../settings.md) has the order, and the variables without a flag."
    lines = [
        f"- `{variable}`: " + "; ".join(f"`{flag}` of {', '.join(places)}" for flag, places in flags.items())
        for variable, flags in sorted(used.items())
    ]
    return "\n".join(["# Environment variables", "", about, "", *lines])


def _described(value: object) -> str:
    """A docstring: its text, and a table for each of its sections."""
    text = inspect.getdoc(value) or ""
    found = docstring_parser.parse(text, style=docstring_parser.DocstringStyle.GOOGLE)
    named = [meta for meta in found.meta if isinstance(meta, DocstringParam)]
    parts = [_paragraphs(re.split(r"^(?:Args|Attributes|Returns|Raises):$", text, maxsplit=1, flags=re.MULTILINE)[0])]
    for heading, kind in (("parameter", "param"), ("attribute", "attribute")):
        rows = [(f"`{each.arg_name}`", _escape(each.description or "")) for each in named if each.args[0] == kind]
        parts.append(_table((heading, "meaning"), rows))
    if found.returns is not None:
        parts.append(f"**Returns** {_escape(found.returns.description or '')}")
    parts.append(_table(("raises", "when"), [(f"`{e.type_name}`", _escape(e.description or "")) for e in found.raises]))
    return "\n\n".join(filter(None, parts))


def _called(name: str, value: Callable[..., object]) -> str:
    try:
        written = str(inspect.signature(value)).replace("(self, ", "(").replace("(self)", "()")
    except ValueError:  # an exception has none
        return _described(value)
    written = re.sub(r"<[\w. ]+ at \w+>|<factory>", "...", written.replace("'", ""))
    wrapped = textwrap.fill(name + written, 88, subsequent_indent="    ", break_long_words=False)
    return f"{_code(wrapped, 'python')}\n\n{_described(value)}"


def _members(name: str, cls: type) -> Iterator[str]:
    ours = {key for base in cls.__mro__ if base.__module__.startswith("toolbelt") for key in base.__dict__}
    for key, value in inspect.getmembers(cls, lambda value: inspect.getdoc(value) is not None):
        if key.startswith("_") or key not in ours:
            continue
        if isinstance(value, (property, functools.cached_property)):
            yield f"### {name}.{key}\n\n{_described(value)}"
        elif inspect.isfunction(value) or inspect.ismethod(value):
            yield f"### {name}.{key}()\n\n{_called(key, value)}"


def python_page(module: ModuleType) -> str:
    """All public names of a module."""
    parts = [f"# {module.__name__}", "Made from docstrings. [Python](../python.md) has an example of every name."]
    for name in module.__all__:
        value = getattr(module, name)
        parts.append(f"## {name}")
        if isinstance(value, enum.EnumType):
            values: list[enum.Enum] = list(value)
            parts += [_described(value), "Values: " + ", ".join(f"`{each.value}`" for each in values)]
        elif inspect.isclass(value):
            parts += [_called(name, value), *_members(name, value)]
        else:
            parts.append(_called(name, value) if inspect.isroutine(value) else f"A `{type(value).__name__}`.")
    return "\n\n".join(parts)


def main(target: Path) -> None:
    """Write the folder from which the site is built."""
    shutil.rmtree(target / "pages", ignore_errors=True)
    shutil.copytree(HERE, target / "pages", ignore=shutil.ignore_patterns("*.py", "*.toml", "__pycache__"))
    shutil.copy(HERE / "zensical.toml", target)
    (target / "pages" / "reference").mkdir()
    made = {"commands": commands_page(), "variables": variables_page()}
    made |= {module.__name__.rpartition(".")[2]: python_page(module) for module in (toolbelt, toolbelt.evals)}
    for name, text in made.items():
        (target / "pages" / "reference" / f"{name}.md").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
