"""Rankers that a command line names."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, redirect_stdout
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from toolbelt.catalog.ranking.spec import RankSpec, parse_rank
from toolbelt.command.options import gathered, option
from toolbelt.render.screen import ConsoleReporter
from toolbelt.search.rankers import find_own_ranker

if TYPE_CHECKING:
    from toolbelt.catalog.ranking.ranker import Ranker

RANK_HELP = "words, regex, embedding:MODEL or python:MODULE:FUNCTION."


@dataclass(frozen=True)
class RankerOptions:
    """What opening a ranker needs.

    Attributes:
        api_base: Where a model that makes vectors is asked; its provider's place if `None`.
        offline: Whether none may be asked.
        yes: Whether code needs no approval.
    """

    api_base: str | None
    offline: bool
    yes: bool

    def open(self, name: str) -> tuple[RankSpec, Ranker]:
        """A ranker by its name, approved where it is code of the user's own (rule M2).

        Args:
            name: As on the command line.

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

            embedding = EmbeddingOptions(self.api_base, is_offline=self.offline)
        reporter = ConsoleReporter()
        return spec, open_ranker(spec, approve=partial(approve, yes=self.yes), embedding=embedding, reporter=reporter)


_OPTIONS = (
    option("--api-base", metavar="URL", help="Where the model of embedding:MODEL is asked.  [default: its provider's]"),
    option("--offline", is_flag=True, help="Ask no model: embedding:MODEL has the vectors that are stored, no others."),
    option("--yes", is_flag=True, help="Import code that is not approved, this once."),
)
rank_options = gathered("ranking", RankerOptions, _OPTIONS)
"""What opening a ranker needs: the command gets `ranking: RankerOptions`."""


def output_of_rankers() -> AbstractContextManager[object]:
    """A context in which what code of the user's own prints goes to standard error, so that JSON stays one document."""
    return redirect_stdout(sys.stderr)
