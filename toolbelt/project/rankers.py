"""Opening the ranker that a setting names (rules S1, S2)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from toolbelt.catalog.ranking.ranker import Ranker
from toolbelt.catalog.ranking.regex import RegexRanker
from toolbelt.catalog.ranking.spec import RankKind, RankSpec
from toolbelt.catalog.ranking.words import WordsRanker
from toolbelt.errors import ToolbeltError
from toolbelt.reporter import SILENT, Reporter
from toolbelt.search.rankers import find_own_ranker
from toolbelt.stores.cache_files import CacheFiles
from toolbelt.stores.files import cache_folder

if TYPE_CHECKING:
    from toolbelt.project.project import Project
    from toolbelt.providers.embeddings import EmbeddingOptions
    from toolbelt.servers.spec import Approvable, PythonReference

Approve = Callable[[Sequence["Approvable"]], None]
"""Returns only if every definition may run; `toolbelt.command.approval.approve` with the command's `--yes`."""


def open_ranker(
    spec: RankSpec,
    *,
    folder: Path = Path(),
    source: str = "--rank",
    files: Sequence[Path] = (),
    approve: Approve | None = None,
    embedding: EmbeddingOptions | None = None,
    reporter: Reporter = SILENT,
) -> Ranker:
    """The ranker that a spec names.

    Args:
        spec: As `parse_rank` reads it.
        folder: Where the module of a `python:` ranker is looked for first.
        source: Where the ranker is named, as the user would write it; for messages.
        files: The files that name it, if any do; nobody else may be able to write them.
        approve: Asks whether code may be imported (rule M2). By default, what is not approved already is refused.
        embedding: How the model of an `embedding:` ranker is asked. Its vectors are made by `Ranker.index`, and for
            each text that is searched for; those that are stored already are not asked for.
        reporter: Receives what vectors of tools come to, before they are made.

    Raises:
        ToolbeltError: the code of a `python:` ranker is not approved, cannot be imported, or is no function.
        NotFoundError: its module has no such function.
    """
    match spec.kind:
        case RankKind.WORDS:
            return WordsRanker(open_index_store())
        case RankKind.REGEX:
            return RegexRanker()
        case RankKind.PYTHON:
            from toolbelt.servers.spec import PythonReference

            paths = tuple(str(path.absolute()) for path in files)
            return _open_function(spec, PythonReference(spec.target, str(folder.absolute()), source, paths), approve)
        case RankKind.EMBEDDING:
            from toolbelt.catalog.ranking.embedding import EmbeddingRanker  # numpy
            from toolbelt.providers.stored_vectors import StoredVectors

            return EmbeddingRanker(StoredVectors(spec.target, embedding, reporter=reporter))


def open_index_store() -> CacheFiles:
    """Where indexes of large catalogs are kept: in `indexes` of the cache folder."""
    return CacheFiles(cache_folder(os.environ) / "indexes")


def open_project_ranker(
    project: Project, spec: RankSpec, embedding: EmbeddingOptions | None = None, approve: Approve | None = None
) -> Ranker:
    """The ranker of a project's search: one of toolbelt's own, or as `open_ranker`, with the same errors."""
    if (own := find_own_ranker(spec)) is not None:
        return own
    if embedding is None and spec.kind is RankKind.EMBEDDING:
        from toolbelt.providers.embeddings import EmbeddingOptions

        embedding = EmbeddingOptions(table=project.models)
    return open_ranker(
        spec,
        folder=project.folder,
        source="rank",
        files=() if project.config.path is None else (project.config.path,),
        approve=approve,
        embedding=embedding,
        reporter=project.reporter,
    )


def _open_function(spec: RankSpec, reference: PythonReference, approve: Approve | None) -> Ranker:
    from toolbelt.catalog.ranking.function import FunctionRanker, MakeSearch
    from toolbelt.servers.importing import import_reference

    (approve or require_approval)([reference])
    function = import_reference(reference)
    if not callable(function):
        raise ToolbeltError(f"{reference.reference} is no function, but of type {type(function).__name__}.")
    return FunctionRanker(str(spec), cast("MakeSearch", function))


def require_approval(
    specs: Sequence[Approvable], command: str = "toolbelt catalog search QUERY --rank python:MODULE:FUNCTION"
) -> None:
    """Refuse what is not approved, for want of somebody to ask.

    Args:
        specs: What would be imported.
        command: Asks for the approval.

    Raises:
        ToolbeltError: one is not approved, or its file could be somebody else's.
    """
    from toolbelt.mcp.configs.approvals import Approvals, refuse_unsafe_files
    from toolbelt.stores.files import state_folder

    refuse_unsafe_files([file for spec in specs for file in spec.files])
    if missing := Approvals(state_folder(os.environ)).missing(specs, os.environ):
        names = ", ".join(spec.name for spec in missing)
        raise ToolbeltError(
            f"{names} is not approved. Run a command that names it at a terminal, which asks once: {command}"
        )
