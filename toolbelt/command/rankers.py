"""Rankers that a command line names."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from toolbelt.catalog.ranking.spec import RankSpec, parse_rank
from toolbelt.command.options import option
from toolbelt.search.rankers import find_own_ranker

if TYPE_CHECKING:
    from toolbelt.catalog.ranking.ranker import Ranker

RANK_HELP = "words, regex, embedding:MODEL or python:MODULE:FUNCTION."
yes_option = option("--yes", is_flag=True, help="Import code that is not approved, this once.")


def open_ranker_named(name: str, *, yes: bool) -> tuple[RankSpec, Ranker]:
    """A ranker by its name, approved where it is code of the user's own (rule M2).

    Raises:
        ToolbeltError: there is no such ranker, it is not approved, or cannot be opened.
    """
    spec = parse_rank(name)
    if (own := find_own_ranker(spec)) is not None:
        return spec, own
    from toolbelt.command.approval import approve
    from toolbelt.project.rankers import open_ranker

    return spec, open_ranker(spec, approve=partial(approve, yes=yes))
