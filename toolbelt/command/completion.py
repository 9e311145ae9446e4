"""Names that a shell completes: of loadouts, catalogs, datasets and models. Nothing is imported before a Tab."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

VARIABLE = "_TOOLBELT_COMPLETE"
"""Set by the shell's function while it asks for completions: then nothing else is printed."""
_HARMLESS = re.compile(r"(\./)?\w[\w./:@+-]*")
"""A shell puts a completion on the command line as it is, and names come from files of others."""
Names = Iterable[tuple[str, str]]
"""What may be typed, each with what it is in a few words."""
Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def completer(find: Callable[[click.Context, str], Names], *, or_file: bool = False) -> Completer:
    """What click asks for completions.

    Args:
        find: Names, given the context and what was typed of the last one; those that begin otherwise are left out.
        or_file: Whether a file may be named instead, which the shell completes where no name begins so.
    """

    def complete(ctx: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        from toolbelt.text import visible

        before, comma, beginning = typed.rpartition(",")
        try:
            items = [
                CompletionItem(f"{before}{comma}{name}", help=visible(about)[:60])
                for name, about in dict(find(ctx, beginning)).items()
                if name.startswith(beginning) and _HARMLESS.fullmatch(name)
            ]
        except Exception:  # noqa: BLE001  whatever is wrong, the user is in the middle of a line: the command will say
            items = []
        return items or ([CompletionItem(typed, type="file")] if or_file else [])

    return complete


def _loadouts(ctx: click.Context, _: str) -> Names:
    from toolbelt.project.opening import open_project

    project = open_project(catalog=ctx.params.get("catalog"), config=ctx.params.get("config"))
    return [(loadout.name, loadout.description) for loadout in project.registry.get_all()]


def _catalogs(_: click.Context, __: str) -> Names:
    from toolbelt.stores.catalogs import shipped_catalogs

    return [(name, "shipped") for name in shipped_catalogs()]


def _datasets(_: click.Context, __: str) -> Names:
    from toolbelt.stores.catalogs import datasets_here, shipped_datasets

    return [*((name, "shipped") for name in shipped_datasets()), *((path, "folder") for path in datasets_here())]


def _models(ctx: click.Context, typed: str) -> Iterator[tuple[str, str]]:
    from toolbelt.project.models import open_models
    from toolbelt.providers.model_facts import list_current_names, list_models

    project, table = open_models(ctx.params.get("config"))
    yield from ((name, "of toolbelt.yaml") for name in (*project.models, *(own.name for own in project.own_models)))
    if ctx.command.name == "run":
        yield "local/bm25", "word matching, asks nobody"
    yield from ((name, "") for name in list_current_names(table))
    if typed:  # over 2,000
        yield from ((name, "") for name in list_models(table))


def _rankers(_: click.Context, __: str) -> Names:
    return [
        ("words", "by the words that tools share with a text"),
        ("regex", "by a pattern"),
        ("embedding:", "by vectors: embedding:MODEL"),
        ("python:", "by a function of your own: python:MODULE:FUNCTION"),
    ]


complete_loadouts = completer(_loadouts)
complete_catalogs = completer(_catalogs, or_file=True)
complete_datasets = completer(_datasets, or_file=True)
complete_models = completer(_models)
OPTIONS = {
    "--extends": complete_loadouts,
    "--loadout": complete_loadouts,
    "--catalog": complete_catalogs,
    "--dataset": complete_datasets,
    "--model": complete_models,
    "--rank": completer(_rankers),
}
"""Options whose values are such names, whatever the command."""
