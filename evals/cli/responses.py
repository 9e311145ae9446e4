"""`toolbelt eval responses`: recorded responses as a file to commit, what they are, and fewer of them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from toolbelt.command.boundary import OK
from toolbelt.command.groups import EXAMPLE_MODEL, LazyGroup, examples
from toolbelt.command.options import json_option, option
from toolbelt.errors import InvalidFileError, NotFoundError, ToolbeltError
from toolbelt.evals.analysis.summary.responses import read_response_keys
from toolbelt.evals.cli.completion import complete_runs
from toolbelt.evals.cli.files import keep_apart
from toolbelt.evals.cli.options import FiniteRange, complete_files, store_option
from toolbelt.evals.responses.cache import ResponseCache
from toolbelt.evals.responses.export import ExportText, ResponseExport, format_export
from toolbelt.evals.responses.recorded import DEFAULT_CACHE, format_time, is_export
from toolbelt.evals.responses.response import RecordedResponse, digest_answer
from toolbelt.evals.responses.summary import FileSummary, find_leaks, summarize_responses
from toolbelt.evals.running.store import DEFAULT_FILE, RunStore
from toolbelt.evals.views.recorded import describe_days
from toolbelt.findings import Finding, Severity
from toolbelt.providers.known_keys import find_keys
from toolbelt.render.numbers import NOTHING
from toolbelt.render.screen import notify, print_json, show_blocks
from toolbelt.stores.files import write_text
from toolbelt.text import plural
from toolbelt.views.cells import Count, Dollars, Span, Tokens
from toolbelt.views.table import Column, Row, Table

DEFAULT_EXPORT = "responses.jsonl"
_CACHE = str(DEFAULT_FILE.with_name(DEFAULT_CACHE))
_STANDARD = "-"
_MOST_LEAKS = 20


@click.group(
    "responses",
    cls=LazyGroup,
    entries={
        "export": ("toolbelt.evals.cli.responses:export", "Write them as a sorted file to commit."),
        "show": ("toolbelt.evals.cli.responses:show", "How many of which model, when, and what they cost."),
        "prune": ("toolbelt.evals.cli.responses:prune", "Delete what is old, of a model, or not used by a run."),
    },
    epilog=examples("toolbelt eval responses export -o responses.jsonl"),
)
def responses() -> None:
    """Recorded responses of hosted models, which `toolbelt eval run --response-cache FILE` records and reuses."""


_file_argument = click.argument("file", metavar="[FILE]", default=_CACHE, shell_complete=complete_files)
_run_option = option(
    "--run",
    "runs",
    multiple=True,
    metavar="RUN",
    envvar="TOOLBELT_EVAL_RESPONSES_RUN",
    shell_complete=complete_runs,
    help="Only what this run used: an id, the beginning of one, or latest; again for more.",
)


@click.command(
    epilog=examples(
        "toolbelt eval responses export",
        "toolbelt eval responses export .toolbelt/responses.db --run latest -o reports/responses.jsonl",
        "toolbelt eval responses export .toolbelt/responses.db responses.jsonl -o responses.jsonl",
    )
)
@click.argument("files", metavar="[FILE]...", nargs=-1, shell_complete=complete_files)
@option(
    "--output",
    "-o",
    default=DEFAULT_EXPORT,
    show_default=True,
    metavar="FILE",
    envvar="TOOLBELT_EVAL_RESPONSES_EXPORT_OUTPUT",
    help="Replaced as a whole where it is there, but for what is no export; - is standard output.",
)
@_run_option
@store_option
@json_option
def export(files: tuple[str, ...], output: str, runs: tuple[str, ...], store: str, as_json: bool) -> int:
    """Write the responses of FILE (caches and exports; the default is .toolbelt/responses.db) as sorted JSON Lines.

    The same responses give the same bytes, so that a pull request shows which answers it adds or changes. Nothing is
    written if the value of a key that is set in the environment occurs in an answer.
    """
    sources = files or (_CACHE,)
    caches = {f"FILE {number}": name for number, name in enumerate(sources, 1) if not is_export(Path(name))}
    keep_apart({**caches, "--store": store}, {"--output": None if output == _STANDARD else output})
    keys = _find_used(runs, store)
    with ExitStack() as stack:
        opened = [_open(name, stack) for name in sources]
        text = format_export(
            response for source in opened for response in source.read_all() if keys is None or response.key in keys
        )
        _refuse_leaks(text, output)
        before = _read_replaced(Path(output)) if output != _STANDARD else None
    content = "".join(f"{line}\n" for line in text.lines)
    if output == _STANDARD:
        click.echo(content, nl=False)
        return OK
    with contextlib.suppress(OSError):  # else the file cannot be written either, which is reported then
        Path(output).parent.mkdir(parents=True, exist_ok=True)
    write_text(output, content)
    changes = None if before is None else _compare(before, text.responses)
    if as_json:
        print_json({"file": output, "responses": len(text.responses), "digest": text.digest, "changes": changes})
        return OK
    news = "it is new" if changes is None else ", ".join(f"{count:,} {what}" for what, count in changes.items())
    notify(f"wrote {output}: {plural(len(text.responses), 'response')}, digest {text.digest[:16]}; {news}")
    return OK


@click.command(epilog=examples("toolbelt eval responses show", "toolbelt eval responses show responses.jsonl --json"))
@_file_argument
@json_option
def show(file: str, as_json: bool) -> None:
    """What FILE (a cache or an export) holds, by model and by who answered."""
    with ExitStack() as stack:
        source = _open(file, stack)
        summary = summarize_responses(source.read_all())
    if as_json:
        print_json({"file": file, **summary_data(summary)})
        return
    if not summary.responses:
        notify(f"nothing is recorded in {file}")
        return
    columns = (
        Column("answered by", is_text=True),
        Column("responses"),
        Column("recorded", is_text=True),
        Column("reported model", is_text=True),
        Column("prompt tokens", short="prompt\ntokens", is_spare=True),
        Column("answer tokens", short="answer\ntokens", is_spare=True),
        Column("cost"),
    )
    rows = (
        Row(
            model.model,
            (
                Span(model.origin),
                Count(model.responses),
                Span(describe_days(model.oldest, model.newest)),
                Span(", ".join((*model.served_by, *model.fingerprints)) or NOTHING),
                Tokens(model.prompt_tokens),
                Tokens(model.completion_tokens),
                Dollars(model.cost_usd),
            ),
        )
        for model in summary.models
    )
    show_blocks([Table("model", columns, tuple(rows))])
    notify(f"{plural(summary.responses, 'response')} in {file}, digest {summary.digest[:16]}")


@click.command(
    epilog=examples(
        "toolbelt eval responses prune --older-than 90",
        f"toolbelt eval responses prune --model {EXAMPLE_MODEL} --dry-run",
        "toolbelt eval responses prune --unused-by latest",
    )
)
@_file_argument
@option("--older-than", type=FiniteRange(min=0), metavar="DAYS", help="Recorded longer ago.")
@option("--model", "models", multiple=True, metavar="M", help="Of this model; again for more.")
@option(
    "--unused-by",
    "runs",
    multiple=True,
    metavar="RUN",
    shell_complete=complete_runs,
    help="Not used by this run (an id, the beginning of one, or latest), nor by others named so.",
)
@option("--dry-run", is_flag=True, help="Only report how many it would be.")
@store_option
@json_option
def prune(
    file: str,
    older_than: float | None,
    models: tuple[str, ...],
    runs: tuple[str, ...],
    dry_run: bool,
    store: str,
    as_json: bool,
) -> None:
    """Delete from the cache FILE the responses of which everything asked for is true.

    An export is written again with `toolbelt eval responses export --run RUN`.
    """
    if older_than is None and not models and not runs:
        raise ToolbeltError("Nothing is named that could go: give --older-than, --model or --unused-by.")
    if is_export(Path(file)):
        raise ToolbeltError(
            f"{file!r} is an export, which is not pruned: prune the cache, or write the export again with "
            "`toolbelt eval responses export --run RUN`."
        )
    used = _find_used(runs, store)
    limit = None if older_than is None else _days_ago(older_than)
    with ExitStack() as stack:
        source = _open(file, stack, read_only=dry_run)
        everything = list(source.read_all())
        known = {response.model for response in everything}
        for model in models:
            if model not in known:
                raise NotFoundError("model", model, sorted(known), f"Nothing of it is recorded in {file!r}.")
        pruned = [
            response.key
            for response in everything
            if (limit is None or response.recorded <= limit)
            and (not models or response.model in models)
            and (used is None or response.key not in used)
        ]
        if not dry_run and pruned and isinstance(source, ResponseCache):
            source.delete(pruned)
    left = len(everything) - len(pruned)
    if as_json:
        print_json({"file": file, "deleted": len(pruned), "left": left, "dry_run": dry_run})
        return
    would = "would delete" if dry_run else "deleted"
    notify(f"{would} {plural(len(pruned), 'response')} of {file}; {left:,} left")


def summary_data(summary: FileSummary) -> dict[str, Any]:
    """What a file holds, as plain values: tokens and cost in all, `null` where they are not known of each response."""
    models = [asdict(model) for model in summary.models]
    return {"responses": summary.responses, "digest": summary.digest, "models": models}


def _open(name: str, stack: ExitStack, *, read_only: bool = True) -> ResponseCache | ResponseExport:
    path = Path(name)
    if not path.exists():
        hint = "`toolbelt eval run --response-cache FILE` records responses."
        raise NotFoundError("response cache", name, _find_beside(path), hint)
    if is_export(path):
        return stack.enter_context(ResponseExport(path))
    return stack.enter_context(ResponseCache(path, read_only=read_only))


def _find_beside(path: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return [str(other) for other in sorted(path.parent.iterdir()) if other.suffix in (".db", ".jsonl")][:100]
    return []


def _find_used(runs: Sequence[str], store: str) -> set[str] | None:
    """Keys of the responses that any of the runs used or asked for; `None` where no run is named."""
    if not runs:
        return None
    with RunStore(Path(store), must_exist=True) as opened:
        used = set[str]()
        for name in runs:
            row = opened.get(name)
            keys = read_response_keys(opened.connection, row.run)
            if not keys:
                raise ToolbeltError(f"Run {row.run} used no recorded response, and recorded none.")
            used |= keys
    return used


def _days_ago(days: float) -> str:
    try:
        return format_time(datetime.now(UTC) - timedelta(days=days))
    except OverflowError:
        return ""


def _refuse_leaks(text: ExportText, output: str) -> None:
    secrets: Collection[str] = find_keys(os.environ)
    findings = [
        Finding(
            "key-in-response",
            Severity.ERROR,
            f"`{field}` of this response holds the value of a key that is set in the environment. Nothing was written: "
            "delete the response (toolbelt eval responses prune), or ask it again without the key in what is asked.",
            output,
            position + 2,
        )
        for position, field in find_leaks(text.responses, secrets)
    ]
    if findings:
        raise InvalidFileError(findings[:_MOST_LEAKS])


def _read_replaced(path: Path) -> Mapping[str, str] | None:
    """The answers of the export that is replaced, by key; `None` where there is none.

    Raises:
        ToolbeltError: it is no export.
    """
    if not path.is_file() or not path.stat().st_size:
        return None
    if not is_export(path):
        raise ToolbeltError(f"{str(path)!r} is there and is no export, so it is not replaced; name another file.")
    try:
        with ResponseExport(path) as old:
            return {response.key: digest_answer(response.reply) for response in old.read_all()}
    except InvalidFileError:
        notify(f"the export that is replaced was broken, such as by a merge: {path}", "warning")
        return None


def _compare(before: Mapping[str, str], after: Sequence[RecordedResponse]) -> dict[str, int]:
    """How many responses were added, changed and removed."""
    now = {response.key: digest_answer(response.reply) for response in after}
    return {
        "added": len(now.keys() - before.keys()),
        "changed": sum(before[key] != now[key] for key in now.keys() & before.keys()),
        "removed": len(before.keys() - now.keys()),
    }
