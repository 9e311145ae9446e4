"""`toolbelt eval report`, `export` and `schema`: a run for people and for other programs."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import click

from toolbelt.command.groups import examples
from toolbelt.command.options import Choice, json_option, option
from toolbelt.errors import ToolbeltError
from toolbelt.evals.analysis.economics import has_savings
from toolbelt.evals.cli.completion import complete_runs
from toolbelt.evals.cli.files import keep_apart
from toolbelt.evals.cli.options import details_option, own_margin_option, store_option
from toolbelt.evals.exports.formats import FORMS, TABLES, export_run, find_form
from toolbelt.evals.exports.schemas import SCHEMAS, read_schema
from toolbelt.evals.running.store import RunStore
from toolbelt.evals.views.run import result_view, run_view
from toolbelt.render.screen import notify, print_json, progress, show_blocks
from toolbelt.stores.files import make_way_for, replacing, write_text
from toolbelt.text import json_text, plural, visible_lines, visible_table
from toolbelt.views.blocks import Code, Note

_STANDARD = "-"


@click.command(
    epilog=examples(
        "toolbelt eval report",
        "toolbelt eval report 20260101-120000-ab12 --output reports --against full",
        "toolbelt eval report --baseline reports/baseline.json --margin 0.01",
    )
)
@click.argument("name", metavar="[RUN]", default="latest", shell_complete=complete_runs)
@option(
    "--output", "-o", default="reports", show_default=True, metavar="FOLDER", help="A folder for the run is made in it."
)
@option("--baseline", metavar="FILE", help="What the run is compared with: a saved baseline, or another run.")
@own_margin_option
@option(
    "--against",
    metavar="ARM",
    help="The arm that the others of the run are compared with: a toolset, which is that of their own model, "
    "`model · toolset`, or #N.  [default: the first of the same model that was scored, no oracle]",
)
@option("--priced-as", metavar="M", help="Price arms whose model has no price as this one.")
@details_option
@store_option
@json_option
def report(
    name: str,
    output: str,
    baseline: str | None,
    margin: float | None,
    against: str | None,
    priced_as: str | None,
    details: bool,
    store: str,
    as_json: bool,
) -> None:
    """Print the result of RUN (an id, the beginning of one, or `latest`), and write its report to OUTPUT/RUN.

    That is a page to open in a browser (report.html), Markdown, JSON, JUnit XML, CSV, Parquet, and pictures as SVG and
    PNG. With --baseline the verdict against it stands on top; without, those of a model are compared with one of them.
    """
    from toolbelt.evals.exports.report import write_report
    from toolbelt.evals.exports.run_report import ReportOptions, find_models

    if baseline is not None and against is not None:
        raise ToolbeltError("--against is of the arms of one run; with --baseline each is compared with its own there.")
    with contextlib.ExitStack() as stack:
        opened = stack.enter_context(RunStore(Path(store), must_exist=True))
        row = opened.get(name)
        from toolbelt.evals.analysis.evidence.sides import open_side

        wanted = ReportOptions(
            stack.enter_context(open_side(baseline, Path(store))) if baseline is not None else None,
            margin,
            against,
            priced_as,
            find_models(row.plan),
        )
        written = write_report(opened, row, Path(output) / row.run, wanted, progress=progress)
    if as_json:
        print_json({**written.findings.data, "files": [str(path) for path in written.files]})
        return
    findings = written.findings
    written_files = Code("\n".join(f"wrote {path}" for path in written.files))
    show_blocks([written_files, Note(""), *run_view(findings.summary, findings.comparison, details=details)])
    economics = findings.economics
    is_wanted = details or priced_as is not None
    if is_wanted and has_savings(economics) and any(arm.rates is not None for arm in economics):
        from toolbelt.evals.views.economics import economics_view

        show_blocks([Note(""), *economics_view(economics)])
    if findings.gate is not None:
        from toolbelt.evals.views.gate import gate_view

        show_blocks([Note(""), *gate_view(findings.gate)])
    else:
        show_blocks([Note(""), *result_view(findings.summary, findings.comparison, findings.matrix)])


@click.command(
    epilog=examples(
        "toolbelt eval export -o run.json",
        "toolbelt eval export latest --format csv --table arms",
        "toolbelt eval export 20260101-120000-ab12 --output trials.parquet",
    )
)
@click.argument("name", metavar="[RUN]", default="latest", shell_complete=complete_runs)
@option(
    "--format",
    "-f",
    "form",
    type=Choice(list(FORMS)),
    envvar="TOOLBELT_EVAL_EXPORT_FORMAT",
    help="What to write.  [default: by the ending of FILE, else json]",
)
@option(
    "--table",
    type=Choice(TABLES),
    help="With csv and parquet: a row for each trial, or for each arm.  [default: trials]",
)
@option(
    "--output",
    "-o",
    metavar="FILE",
    envvar="TOOLBELT_EVAL_EXPORT_OUTPUT",
    help="Write here, all or nothing; `-` is the standard output.  [default: -]",
)
@option("--force", is_flag=True, help="Replace FILE if it exists.")
@store_option
@json_option
def export(
    name: str, form: str | None, table: str | None, output: str | None, force: bool, store: str, as_json: bool
) -> None:
    """Write RUN (an id, the beginning of one, or `latest`) as one file, for other programs; `docs/data.md` says how.

    json is what the report's summary.json holds, csv and parquet its tables, junit a test case for each trial, markdown
    and html the report for people.
    """
    output = None if output == _STANDARD else output
    if as_json and output is None and form not in (None, "json"):
        raise ToolbeltError(f"--json prints one JSON document, which {form} is not; name a file with --output.")
    chosen = find_form(form, output)
    if table is not None and not FORMS[chosen].is_table:
        raise ToolbeltError(
            f"--table goes with {' and '.join(key for key, form in FORMS.items() if form.is_table)} alone."
        )
    if output is not None:
        keep_apart({"--store": store}, {"--output": output})
        make_way_for(output, overwrite=force or not Path(output).is_file())
    with RunStore(Path(store), must_exist=True) as opened:
        row = opened.get(name)
        from toolbelt.evals.exports.run_report import find_models

        with _opened(output, chosen, overwrite=force) as file:
            export_run(
                opened, row, chosen, file, table=table or TABLES[0], models=find_models(row.plan), progress=progress
            )
    if output is None:
        return
    notify(f"wrote {plural(row.finished, 'trial')} of run {row.run} to {output}")
    if as_json:
        data = {"run": row.run, "format": chosen, "table": None, "output": output, "trials": row.finished}
        print_json(data | ({"table": table or TABLES[0]} if FORMS[chosen].is_table else {}))


@click.command(epilog=examples("toolbelt eval schema", "toolbelt eval schema comparison -o comparison.schema.json"))
@click.argument("name", metavar="[DOCUMENT]", type=Choice(list(SCHEMAS)), default=next(iter(SCHEMAS)))
@option(
    "--output",
    "-o",
    metavar="FILE",
    envvar="TOOLBELT_EVAL_SCHEMA_OUTPUT",
    help="Write here, all or nothing, instead of to standard output.",
)
@option("--force", is_flag=True, help="Replace FILE if it exists.")
@json_option
def schema(name: str, output: str | None, force: bool, as_json: bool) -> None:
    """The JSON Schema (2020-12) of DOCUMENT: run (`eval show --json`), comparison, gate or baseline.

    Each field is described there, with its unit. A document names its schema, with a version, in `schema`.
    """
    document = read_schema(name)
    if output is None or output == _STANDARD:
        print_json(document)
        return
    write_text(output, json_text(document) + "\n", overwrite=force)
    notify(f"wrote {output}")
    if as_json:
        print_json({"output": output, "document": name})


@contextlib.contextmanager
def _opened(output: str | None, form: str, *, overwrite: bool) -> Iterator[IO[Any]]:
    """The file, replaced as a whole; or the standard output.

    A terminal gets nothing that could move its cursor, and no table through a pipe either, which may lead to one. What
    the shell writes into a file is exact.
    """
    is_binary = FORMS[form].is_binary
    if output is not None:
        with replacing(output, "wb" if is_binary else "w", overwrite=overwrite) as file:
            yield file
    elif sys.stdout.isatty():
        if is_binary:
            raise ToolbeltError(f"{form} is not for a terminal; name a file with --output, or pipe it on.")
        text = io.StringIO(newline="")
        yield text
        sys.stdout.write(visible_lines(text.getvalue()))
    elif is_binary:
        sys.stdout.flush()
        yield sys.stdout.buffer
    else:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", newline="")
        yield sys.stdout if _is_file(sys.stdout) or not FORMS[form].is_table else _VisibleTable(sys.stdout)


class _VisibleTable(io.StringIO):
    """Passes a table on with every unsafe character in it spelled out."""

    def __init__(self, target: IO[str]) -> None:
        super().__init__()
        self._target = target

    def write(self, text: str) -> int:
        self._target.write(visible_table(text))
        return len(text)


def _is_file(stream: IO[str]) -> bool:
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):  # a stream of Python's own
        return False
