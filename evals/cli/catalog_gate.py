"""`toolbelt catalog gate`: pass or fail two versions of a catalog, without any model."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from pathlib import Path

import click

from toolbelt.catalog.gate.catalog_gate import GateRule, compare_catalogs
from toolbelt.catalog.gate.gate_views import describe_fault, fault_data, faults_view
from toolbelt.catalog.reader import CatalogFile
from toolbelt.catalog.tokens import count_named_tools
from toolbelt.command.boundary import INFRASTRUCTURE, OK
from toolbelt.command.groups import SectionedCommand, examples
from toolbelt.command.options import Choice, option
from toolbelt.command.project import ProjectOptions, project_options
from toolbelt.command.servers import changes_data
from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.evals.cli.files import keep_apart
from toolbelt.evals.cli.gate import write_reports
from toolbelt.evals.cli.options import FiniteRange, notify_environment
from toolbelt.evals.retrieval.case_ranks import CaseRanks
from toolbelt.mcp.sync.sync_views import changes_view
from toolbelt.project.project import Project
from toolbelt.providers.tokenizers import make_cached_counter
from toolbelt.render.screen import notify, print_json, progress, show_blocks
from toolbelt.stores.catalogs import find_shipped_catalog, open_catalog
from toolbelt.stores.files import make_way_for
from toolbelt.stores.revisions import open_catalog_at
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Note

SCHEMA = "toolbelt.catalog-gate/1"
_REGRESSION = 1
_SECTIONS = {
    "What is compared": ("dataset", "catalog", "config", "tokenizer"),
    "Limits": ("allowed", "max_token_increase"),
    "Output": ("junit", "markdown", "as_json"),
}


@click.command(
    cls=SectionedCommand,
    sections=_SECTIONS,
    epilog=examples(
        "toolbelt catalog gate origin/main",
        "toolbelt catalog gate baseline/catalog.json --dataset ./evals/tools",
        "toolbelt catalog gate v1.2 --allow tool-removed --markdown gate.md",
    ),
)
@click.argument("old", metavar="OLD")
@option(
    "--dataset",
    "-d",
    metavar="D",
    help="Cases for which the right tool should still be found: a shipped dataset, a folder or a file.",
)
@option(
    "--allow",
    "allowed",
    type=Choice([rule.value for rule in GateRule]),
    multiple=True,
    metavar="RULE",
    help="Show what this rule finds, and pass all the same; again for more: "
    f"{', '.join(rule.value for rule in GateRule)}.",
)
@option(
    "--max-token-increase",
    type=FiniteRange(min=0),
    metavar="X",
    help="By which share the tokens of all definitions may grow: 0.1 is 10%.",
)
@option("--junit", metavar="FILE", help="Also write JUnit XML, over that of an earlier run.")
@option("--markdown", metavar="FILE", help="Also write Markdown, over that of an earlier run.")
@project_options
def gate(
    old: str,
    dataset: str | None,
    allowed: tuple[str, ...],
    max_token_increase: float | None,
    junit: str | None,
    markdown: str | None,
    options: ProjectOptions,
    as_json: bool,
) -> int:
    """Are the tools worse than in OLD (a git revision, a catalog file or a folder with one)? No model is asked.

    Found are descriptions that lost their words, tools that became look-alikes, definitions that grew much, tools that
    are gone or renamed, and calls that a schema no longer takes; with cases, right tools that are not found any more.

    Exit code 0: no_regression; 1: regression; 3: no case of --dataset could be ranked, which is no pass. Where
    GITHUB_STEP_SUMMARY is set, Markdown is added to that file, too.
    """
    keep_apart({"OLD": old}, {"--junit": junit, "--markdown": markdown})
    for path in filter(None, (junit, markdown)):
        make_way_for(path, overwrite=True)
    notify_environment("dataset", "allowed", "max_token_increase")
    project = options.open(read_loadouts_too=False)
    before = _open_old(old, project)
    counter = make_cached_counter(project.tokenizer)
    comparison = compare_catalogs(
        before.catalog,
        project.catalog,
        lambda tools: count_named_tools(tools, counter),
        max_token_increase=max_token_increase,
    )
    ranks = None if dataset is None else _rank(dataset, before, project)
    if ranks is not None:
        comparison = replace(comparison, faults=(*comparison.faults, *ranks.faults))
    comparison = comparison.allow(frozenset(map(GateRule, allowed)))
    verdict = "regression" if comparison.failing else "no_regression"
    if verdict == "no_regression" and ranks is not None and not ranks.cases:
        verdict = "insufficient_data"
    code = {"regression": _REGRESSION, "no_regression": OK}.get(verdict, INFRASTRUCTURE)
    blocks = [*faults_view(comparison), *_ranks_view(ranks), *changes_view(comparison.changes)]
    if as_json:
        print_json(
            {
                "schema": SCHEMA,
                "verdict": verdict,
                "exit_code": code,
                "old": old,
                "new": project.catalog_file.source,
                "faults": [fault_data(fault) for fault in comparison.faults],
                "changes": changes_data(comparison.changes),
                "tokens": {"old": comparison.tokens[0], "new": comparison.tokens[1]},
                "cases": None if ranks is None else asdict(ranks),
            }
        )
    else:
        show_blocks(blocks)

    def write_junit() -> str:
        from toolbelt.evals.views.junit import catalog_gate_junit

        return catalog_gate_junit(comparison, old)

    def write_markdown() -> str:
        from toolbelt.render.markdown import render_markdown

        return render_markdown(blocks, level=3) + "\n"

    failures = list(write_reports(junit, write_junit, markdown, write_markdown))
    for failure in failures:
        notify(failure, "Error")
    first = f": {describe_fault(comparison.failing[0])}" if comparison.failing else ""
    notify(f"{verdict}: {plural(len(comparison.failing), 'fault')} against {old}{first}", "gate")
    return code or (INFRASTRUCTURE if failures else OK)


def _open_old(reference: str, project: Project) -> CatalogFile:
    """What is there by that name, else a revision of git."""
    if os.path.lexists(reference) or find_shipped_catalog(reference) is not None:
        try:
            return open_catalog(reference)
        except InvalidFileError:
            from toolbelt.evals.analysis.evidence.baseline_reader import is_baseline  # numpy

            if is_baseline(Path(reference)):
                raise ToolbeltError(
                    f"{reference} is a baseline of `eval gate`, which has digests of definitions alone; name a git "
                    "revision, or a catalog that was kept."
                ) from None
            raise
    file = project.catalog_file
    if file.is_shipped:
        raise ToolbeltError(
            f"The present catalog is {file.catalog.name}, which is shipped, so {reference!r} cannot be a revision of "
            "it; name the project's own with --catalog, or `catalog` in toolbelt.yaml."
        )
    if ":" not in reference and (file.source.endswith(".py") or not Path(file.source).exists()):
        raise ToolbeltError(
            f"{file.source} is Python code, of which no earlier version is run. Keep its tools in a file that is "
            f"committed, and name that: toolbelt catalog import {file.source} -o tools.json; "
            f"toolbelt catalog gate {reference}:tools.json"
        )
    return open_catalog_at(reference, Path(file.source))


def _rank(reference: str, before: CatalogFile, project: Project) -> CaseRanks:
    from toolbelt.evals.cases.dataset import open_dataset
    from toolbelt.evals.retrieval.case_ranks import rank_cases

    opened = open_dataset(reference, catalog=before)
    with progress("searching the right tools of cases", len(opened)) as advance:
        return rank_cases(opened, before.catalog, project.catalog, advance)


def _ranks_view(ranks: CaseRanks | None) -> tuple[Block, ...]:
    if ranks is None:
        return ()
    if ranks.recall_at_5 is None or ranks.mrr is None:
        return (Note(f"No case of {ranks.dataset} needs a tool that both have: nothing could be ranked."),)
    (was, now), (mrr_was, mrr_now) = ranks.recall_at_5, ranks.mrr
    return (
        Note(
            f"{plural(ranks.cases, 'case')} of {ranks.dataset}: right tool among the first five {was:.1%} → {now:.1%}, "
            f"mean reciprocal rank {mrr_was:.3f} → {mrr_now:.3f} (by the words of requests; p = {ranks.p_value:.2g})"
        ),
    )
