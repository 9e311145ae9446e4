"""`toolbelt dataset import`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import click

from toolbelt.catalog import Catalog
from toolbelt.catalog.reader import CatalogFile
from toolbelt.command.approval import approve
from toolbelt.command.groups import examples
from toolbelt.command.options import Choice, json_option, option
from toolbelt.command.servers import INCOMPLETE
from toolbelt.evals.cases.imports.context import ArgumentPolicy, ImportSettings, LabelSource
from toolbelt.evals.cases.imports.formats import FORMATS
from toolbelt.evals.cases.imports.importer import ImportResult, import_cases
from toolbelt.evals.cli.options import CommaList
from toolbelt.project.opening import approve_catalog
from toolbelt.project.project import Project
from toolbelt.providers.tokenizers import DEFAULT_TOKENIZER
from toolbelt.render.screen import notify, print_findings, print_json, progress
from toolbelt.stores.catalogs import open_catalog
from toolbelt.stores.config import examine_config
from toolbelt.text import plural

_SHOWN = 20
"""Left-out records that the screen lists; `--json` lists a thousand."""


@click.command(
    "import",
    epilog=examples(
        "toolbelt dataset import requests.jsonl -o ./mine",
        "toolbelt dataset import e2eTestPrompts.md --catalog tools.json -o ./mine",
        "toolbelt dataset import BFCL_v4_multiple.json possible_answer/BFCL_v4_multiple.json -o ./bfcl",
        "toolbelt dataset import ~/.claude/projects/-home-me-shop/session.jsonl --catalog catalog.json -o ./mine",
        "toolbelt dataset import samples.jsonl -o ./mine --catalog tools.json --target-field metadata.tools",
    ),
)
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@option("--output", "-o", required=True, metavar="FOLDER", help="Where cases.jsonl and catalog.json go.")
@option(
    "--format",
    "form",
    type=Choice(tuple(sorted(FORMATS))),
    envvar="TOOLBELT_IMPORT_FORMAT",
    help="What the sources are.  [default: found from their content]",
)
@option(
    "--catalog",
    "-c",
    metavar="C",
    envvar="TOOLBELT_IMPORT_CATALOG",
    help="What names mean: a shipped catalog, a dataset folder, a file, or Python code to import (tools.py, "
    "module:attribute); copied beside the cases.  "
    "[default: the tools in the sources, or the catalog of toolbelt.yaml]",
)
@option("--role", metavar="R", envvar="TOOLBELT_IMPORT_ROLE", help="The loadout that an agent doing this would have.")
@option("--kind", metavar="K", envvar="TOOLBELT_IMPORT_KIND", help="Of every case.  [default: found from its calls]")
@option(
    "--tag",
    "tags",
    type=CommaList(),
    multiple=True,
    metavar="T",
    envvar="TOOLBELT_IMPORT_TAG",
    help="Of every case; repeatable.",
)
@option(
    "--arguments",
    type=Choice([policy.value for policy in ArgumentPolicy]),
    help="Whether arguments of calls are part of what is right.  "
    "[default: keep those that people wrote, drop those of recorded calls, which are one wording of many]",
)
@option("--reviewed", is_flag=True, help="Recorded calls are known to be right: mark no case as a draft.")
@option("--target-field", metavar="F", help="Inspect AI: the field with the right tools, such as metadata.tools.")
@option(
    "--labels",
    type=Choice([source.value for source in LabelSource]),
    default=LabelSource.ANNOTATED.value,
    show_default=True,
    help="LiveMCPBench transcripts: what annotators wrote is right, or what the agent did.",
)
@option(
    "--redact/--no-redact",
    default=True,
    help="Logs: replace mail addresses, keys, home folders, phone numbers, and names as far as patterns find them.  "
    "[default: --redact]",
)
@option("--skip-broken", is_flag=True, help="Exit with 0, not 3, where something cannot be read.")
@option("--force", is_flag=True, help="Replace a dataset that is there.")
@json_option
def import_command(
    sources: tuple[str, ...],
    output: str,
    form: str | None,
    catalog: str | None,
    role: str | None,
    kind: str | None,
    tags: tuple[str, ...],
    arguments: str | None,
    reviewed: bool,
    target_field: str | None,
    labels: str,
    redact: bool,
    skip_broken: bool,
    force: bool,
    as_json: bool,
) -> int:
    """A dataset from SOURCEs, files or `-`: logs and sessions of agents, tables of prompts, files of other harnesses.

    Tables (Markdown, CSV, TSV) and JSON lists of prompts with their tools, MCP-Atlas, Inspect AI and sessions of agents
    name tools without defining them: --catalog says what the names mean. LiveMCPBench, ProgressiveMCPBench, BFCL,
    promptfoo and logs bring their tools along.

    What agents did is not what is right: cases made of recorded calls are drafts until somebody reviewed them, and
    every run over them says so. Nothing is left out in silence.

    Exit code 3: a record, test or tool cannot be read, or the catalog's file has such a tool; the others are written.
    """
    settings = ImportSettings(
        None if arguments is None else ArgumentPolicy(arguments),
        reviewed,
        role,
        kind,
        tags,
        target_field,
        LabelSource(labels),
        redact,
    )
    catalog_file = None if catalog is None else open_catalog(catalog, may_import=True)
    print_findings(() if catalog_file is None else catalog_file.left_out)
    if role is not None:
        _check_role(role, catalog_file)
    with progress("reading records, twice", None) as advance:
        result = import_cases(
            sources,
            output,
            standard_input=sys.stdin.buffer,
            settings=settings,
            form=form,
            catalog=catalog_file,
            fallback=_project_catalog,
            overwrite=force,
            progress=advance,
        )
    _notify_result(result)
    if as_json:
        print_json(_data(result))
    is_whole = not result.broken and not (catalog_file and catalog_file.left_out)
    return 0 if is_whole or skip_broken else INCOMPLETE


def _project_catalog() -> CatalogFile | None:
    """The catalog that `toolbelt.yaml` names, if there is one."""
    config = examine_config(Path.cwd())
    approve_catalog(config, Path.cwd(), partial(approve, yes=False))
    return None if config.catalog is None else open_catalog(config.catalog, may_import=True)


def _check_role(role: str, catalog: CatalogFile | None) -> None:
    """Raises `NotFoundError` with the nearest names if the role is not a loadout; linting would refuse it later."""
    config = examine_config(Path.cwd())
    config.refuse()
    project = Project(config, catalog or CatalogFile(Catalog(), ""), DEFAULT_TOKENIZER)
    project.registry.require_loadout(role)


def _notify_result(result: ImportResult) -> None:
    for note in result.notes:
        notify(note)
    if result.redacted:
        notify(f"{result.redaction}; --no-redact keeps them")
    for left_out in result.lines[:_SHOWN]:
        notify(str(left_out), "warning" if left_out.reason.startswith("broken: ") else "note")
    if (more := len(result.lines) - min(len(result.lines), _SHOWN) + result.silent) > 0:
        notify(f"{more:,} more left out")
    for reason, count in result.left_out.items():
        notify(f"left out {plural(count, 'time')}: {reason}")
    notify(f"{result.summary}; look at them with: toolbelt dataset lint {result.folder}")


def _data(result: ImportResult) -> dict[str, object]:
    return {
        "output": result.folder,
        "format": result.form,
        "records": result.records,
        "cases": result.cases,
        "drafts": result.drafts,
        "tools": result.tools,
        "left_out": dict(result.left_out),
        "lines": [
            {"file": left_out.source, "line": left_out.line, "reason": left_out.reason, "detail": left_out.detail}
            for left_out in result.lines
        ],
        "lines_left_off": result.silent,
        "notes": list(result.notes),
        "redacted": dict(result.redacted),
    }
