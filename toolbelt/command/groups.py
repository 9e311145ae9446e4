"""Command groups that load a command only when it is called, and know what a mistyped one was meant to be."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from toolbelt.errors import suggestion

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

EXAMPLE_MODEL = "gpt-6-luna"
"""Named in examples; a test fails when it is gone, or goes within 90 days."""
Entry = tuple[str, str]
"""Where a command is (`module:attribute`), and what it does in a line."""


_ALIKE = (
    ("inspect", "show", "view", "get", "describe", "info", "explain"),
    ("list", "ls", "all"),
    ("create", "new", "add", "make"),
    ("lint", "check", "validate", "verify"),
)
"""Words that other programs have for the same command."""


class LazyGroup(click.Group):
    """A group whose commands are a table: `--help` prints it without importing any of them."""

    def __init__(self, *args: Any, entries: Mapping[str, Entry], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command; `None` if there is none of that name."""
        if cmd_name not in self.entries:
            return None
        module, _, attribute = self.entries[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the nearest names in the error."""
        if args and args[0] not in self.entries and not args[0].startswith("-"):
            alike = next((words for words in _ALIKE if args[0] in words), ())
            meant = next((f" Did you mean {word!r}?" for word in alike if word in self.entries), "")
            message = f"No such command {args[0]!r}.{meant or suggestion(args[0], self.entries)}"
            raise click.UsageError(message, ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands of the table that begin so, and options; no command is imported."""
        from click.shell_completion import CompletionItem

        commands = [
            CompletionItem(name, help=entry[1]) for name, entry in self.entries.items() if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry[1]) for name, entry in self.entries.items()])


class SectionedCommand(click.Command):
    """A command with so many options that `--help` shows them in sections.

    Args:
        sections: Names of parameters by heading, in the order in which they are shown; what no section names is shown
            at the end of the last one.
    """

    def __init__(self, *args: Any, sections: Mapping[str, Sequence[str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The sections."""
        rows = {parameter.name: row for parameter in self.get_params(ctx) if (row := parameter.get_help_record(ctx))}
        last = list(self.sections)[-1]
        for heading, names in self.sections.items():
            chosen = [rows.pop(name) for name in names]
            with formatter.section(heading):
                formatter.write_dl([*chosen, *rows.values()] if heading == last else chosen)


def examples(*commands: str) -> str:
    """The end of a help text: commands to try, a line each."""
    heading = "Example" if len(commands) == 1 else "Examples"
    return "\n".join(["\b", f"{heading}:", *(f"  {command}" for command in commands)])
