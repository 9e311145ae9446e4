"""What `toolbelt loadout create` asks at a terminal; a wrong answer is told at once and asked for again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import click

from toolbelt.console.inspection_view import inspection_view
from toolbelt.console.screen import make_screen, show_view
from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.loadouts import ToolLoadout, ToolLoadoutRegistry
from toolbelt.loadouts.inspection import Inspection
from toolbelt.loadouts.written import LOADOUT_KEYS
from toolbelt.project.workspace import Workspace
from toolbelt.text import visible

T = TypeVar("T")


@dataclass(frozen=True)
class Answers:
    """What a new loadout is to say, under the keys of a loadout file."""

    extends: str | None
    categories: tuple[str, ...]
    plugins: tuple[str, ...]
    discoverable: tuple[str, ...]
    disabled: tuple[str, ...]
    description: str

    def to_dict(self) -> dict[str, Any]:
        """As it is written; what is empty is left out."""
        made = {key: list(value) if isinstance(value, tuple) else value for key, value in vars(self).items()}
        return {key: value for key, value in made.items() if value}


Check = Callable[[str | None, Answers], None]
"""Raises what is wrong with a loadout of that name (`None` while it has none) as far as it is known."""


def ask_name(name: str | None, given: Answers, check: Check) -> str:
    """The name, asked for if it is not given.

    Raises:
        ToolbeltError: what is given is wrong, so that no answer is taken in vain.
        click.Abort: by Ctrl-C or Ctrl-D.
    """
    check(name, given)
    return _ask("Name", lambda typed: typed, lambda typed: check(typed, given)) if name is None else name


def ask_answers(workspace: Workspace, name: str, given: Answers, check: Check) -> Answers:
    """What is not given of a loadout's definition, asked for key by key.

    Raises:
        click.Abort: by Ctrl-C or Ctrl-D.
    """

    def complete(answers: Answers, key: str, question: str) -> Answers:
        if getattr(answers, key):
            return answers
        if LOADOUT_KEYS[key].many:
            question = f"{question}, separated by commas"
        return _ask(question, lambda typed: _with(answers, key, typed), lambda fuller: check(name, fuller))

    _list("Loadouts to build on", [loadout.name for loadout in workspace.registry.get_all()])
    answers = complete(given, "extends", "Extends (empty for none)")
    _list("Categories", workspace.catalog.categories)
    answers = complete(answers, "categories", "Include categories")
    _list_plugins(workspace, name, answers)
    answers = complete(answers, "plugins", "Add plugins (or plugin/tool)")
    answers = complete(answers, "discoverable", "Discoverable patterns (a trailing * makes a prefix)")
    answers = complete(answers, "disabled", "Disable")
    return complete(answers, "description", "Description")


def confirm(inspection: Inspection) -> None:
    """Show what the loadout would make active, and ask whether to write it.

    Raises:
        click.Abort: it is not to be written.
    """
    screen = make_screen()
    show_view(inspection_view(inspection, screen, show_tools=False, show_all=False), screen)
    if not _until_readable(lambda: click.confirm("Write it?", default=True)):
        raise click.Abort


def _ask(question: str, read: Callable[[str], T], check: Callable[[T], None]) -> T:
    """The answer as `read` makes it of the text, once `check` raises nothing about it."""

    def accepted(typed: str) -> T:
        try:
            answer = read(typed.strip())
            check(answer)
        except (ToolbeltError, OSError) as error:
            raise click.UsageError(visible(_message(error))) from None
        return answer

    return _until_readable(lambda: click.prompt(question, default="", show_default=False, value_proc=accepted))


def _until_readable(ask: Callable[[], T]) -> T:
    while True:
        try:
            return ask()
        except UnicodeDecodeError:
            click.echo("Error: That was no text in the encoding of this terminal; type it again.")


def _message(error: ToolbeltError | OSError) -> str:
    if isinstance(error, InvalidFileError):
        return " ".join(finding.message for finding in error.findings)
    if isinstance(error, OSError):
        return f"The system refuses that: {error.strerror}."
    return str(error)


def _with(answers: Answers, key: str, typed: str) -> Answers:
    many = LOADOUT_KEYS[key].many
    value: Any = tuple(part.strip() for part in typed.split(",") if part.strip()) if many else typed
    return replace(answers, **{key: value})


def _list_plugins(workspace: Workspace, name: str, answers: Answers) -> None:
    inherited = ToolLoadout(name, answers.extends or None, included_categories=frozenset(answers.categories))
    registry = ToolLoadoutRegistry([*(one.loadout for one in workspace.written), inherited])
    plugins = workspace.catalog.plugins
    active = set(registry.resolve_active_plugins(name, plugins))
    _list("Active so far", sorted(active))
    _list("Not active", [plugin.name for plugin in plugins if plugin.name not in active])


def _list(label: str, names: Iterable[str]) -> None:
    click.echo(f"{label}: {', '.join(map(visible, names)) or 'nothing'}")
