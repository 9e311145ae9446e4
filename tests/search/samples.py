"""A small catalog to search."""

from __future__ import annotations

from collections.abc import Iterable

from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.ranking.rankers import RANKERS
from toolbelt.search.presets import parse_search
from toolbelt.search.rankers import find_own_ranker
from toolbelt.search.search import Search

PATH = {"type": "object", "properties": {"path": {"type": "string", "description": "Where it is."}}}
CATALOG = Catalog(
    (
        Plugin("files", (Tool("read", "Read a file", PATH), Tool("write", "Write a file", PATH)), description="Disk."),
        Plugin("git", (Tool("commit", "Commit changes"), Tool("push", "Push commits"), Tool("log", "Show commits"))),
        Plugin("mail", (Tool("send", "Send a message", {"type": "object", "properties": {"to": {"type": "string"}}}),)),
    ),
    core=("files/read",),
)  # fmt: skip


def make_search(written: str, catalog: Catalog = CATALOG, *, pinned: Iterable[str] | None = None) -> Search:
    settings = parse_search(written)
    ranker = find_own_ranker(settings.rank) or RANKERS[settings.rank.kind]()
    core = catalog.core if settings.pinned == "core" else ()
    return Search(catalog, settings, ranker, pinned=core if pinned is None else pinned)
