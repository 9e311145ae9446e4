"""Rankers that a command line names."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, redirect_stdout
from functools import partial
from typing import TYPE_CHECKING

from toolbelt.catalog.ranking.spec import RankSpec, parse_rank
from toolbelt.command.options import Command, option
from toolbelt.render.screen import ConsoleReporter
from toolbelt.search.rankers import find_own_ranker

if TYPE_CHECKING:
    from toolbelt.catalog.ranking.ranker import Ranker

RANK_HELP = "words, regex, embedding:MODEL or python:MODULE:FUNCTION."
_OPTIONS = (
    option("--api-base", metavar="URL", help="Where the model of embedding:MODEL is asked.  [default: its provider's]"),
    option("--offline", is_flag=True, help="Ask no model: embedding:MODEL has the vectors that are stored, no others."),
    option("--yes", is_flag=True, help="Import code that is not approved, this once."),
)


def rank_options(command: Command) -> Command:
    """What opening a ranker needs: `api_base`, `offline` and `yes`."""
    for add in reversed(_OPTIONS):
        command = add(command)
    return command


def output_of_rankers() -> AbstractContextManager[object]:
    """A context in which what code of the user's own prints goes to standard error, so that JSON stays one document."""
    return redirect_stdout(sys.stderr)


def open_ranker_named(name: str, *, yes: bool, api_base: str | None, offline: bool) -> tuple[RankSpec, Ranker]:
    """A ranker by its name, approved where it is code of the user's own (rule M2).

    Args:
        name: As on the command line.
        yes: Whether code needs no approval.
        api_base: Where a model that makes vectors is asked; its provider's place if `None`.
        offline: Whether none may be asked.

    Raises:
        ToolbeltError: there is no such ranker, it is not approved, or cannot be opened.
    """
    spec = parse_rank(name)
    if (own := find_own_ranker(spec)) is not None:
        return spec, own
    from toolbelt.command.approval import approve
    from toolbelt.project.rankers import open_ranker

    embedding = None
    if spec.asks_model:
        from toolbelt.providers.embeddings import EmbeddingOptions  # aiohttp

        embedding = EmbeddingOptions(api_base, is_offline=offline)
    reporter = ConsoleReporter()
    return spec, open_ranker(spec, approve=partial(approve, yes=yes), embedding=embedding, reporter=reporter)
