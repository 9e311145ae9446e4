"""`toolbelt eval baseline`: what a run came to, as a file to commit and to compare later runs with."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import click

from toolbelt.command.boundary import INFRASTRUCTURE, OK
from toolbelt.command.groups import LazyGroup, examples
from toolbelt.command.options import json_option, option
from toolbelt.errors import ToolbeltError
from toolbelt.evals.analysis.evidence.baseline_format import SCHEMA
from toolbelt.evals.analysis.evidence.baseline_reader import (
    Baseline,
    is_baseline,
    parse_baseline,
    parse_lines,
    read_baseline,
)
from toolbelt.evals.analysis.evidence.baseline_writer import BaselineLines, describe_changes, why_unfit
from toolbelt.evals.cli.completion import complete_runs
from toolbelt.evals.cli.files import keep_apart
from toolbelt.evals.cli.options import arms_option, notify_environment, store_option
from toolbelt.render.numbers import NOTHING
from toolbelt.render.screen import notify, print_json, show_blocks
from toolbelt.stores.files import replacing
from toolbelt.text import plural
from toolbelt.views.blocks import Block, Note
from toolbelt.views.cells import Amount, Dollars, Proportion, Span, Tokens
from toolbelt.views.table import Column, Row, Table

DEFAULT_BASELINE = "reports/baseline.json"


@click.group(
    "baseline",
    cls=LazyGroup,
    entries={
        "save": ("toolbelt.evals.cli.baseline:save", "Write one from a run."),
        "show": ("toolbelt.evals.cli.baseline:show", "What one is of, and its figures."),
    },
    epilog=examples("toolbelt eval baseline save latest -o reports/baseline.json"),
)
def baseline() -> None:
    """What a run came to, case by case, as a small file to commit: `toolbelt eval gate` holds later runs against it."""


@click.command(
    epilog=examples(
        "toolbelt eval baseline save -o reports/baseline.json",
        "toolbelt eval baseline save 20260101-120000-ab12 --arm full --arm tiered -o tiered.json",
    )
)
@click.argument("name", metavar="[RUN]", default="latest", shell_complete=complete_runs)
@option(
    "--output",
    "-o",
    default=DEFAULT_BASELINE,
    show_default=True,
    metavar="FILE",
    envvar="TOOLBELT_EVAL_BASELINE_SAVE_OUTPUT",
    help="Replaced as a whole where it is there, but for what is no baseline.",
)
@arms_option
@store_option
@json_option
def save(name: str, output: str, arms: tuple[str, ...], store: str, as_json: bool) -> int:
    """Save RUN (an id, the beginning of one, or `latest`) as a baseline; every trial must have ended."""
    from toolbelt.evals.analysis.evidence.sides import is_path

    keep_apart({"RUN": name if is_path(name) else None, "--store": store}, {"--output": output})
    notify_environment("arms")
    path = Path(output)
    replaced = path.is_file() and path.stat().st_size > 0
    if replaced and not is_baseline(path):
        raise ToolbeltError(f"{output!r} is there and is no baseline, so it is not replaced; name another file.")
    lines = _lines_of_run(name, Path(store), arms)
    if lines is None:
        return INFRASTRUCTURE
    saved = parse_lines(lines, output) or parse_baseline("".join(lines), output)
    changes = _changes(path, saved) if replaced else "it is new"
    with contextlib.suppress(OSError):  # else the file cannot be written either, which is told then
        path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, "w") as file:
        file.writelines(lines)
    if as_json:
        print_json({"file": output, "changes": changes, **_data(saved)})
        return OK
    about = saved.about
    arms_and_cases = f"{plural(about.cases, 'case')} × {plural(len(saved.arms), 'arm')}"
    notify(f"wrote {output}, of {about.dataset}, {arms_and_cases}; {changes}")
    return OK


def _lines_of_run(name: str, store: Path, arms: tuple[str, ...]) -> BaselineLines | None:
    """The lines of the baseline; `None` where the run is not whole. What was read of it is freed on return."""
    from toolbelt.evals.analysis.evidence.sides import choose_arms, open_side

    with open_side(name, store) as side:
        chosen = choose_arms(side.arms, arms) if arms else None
        reasons = why_unfit(side, chosen)
        if not reasons:
            return BaselineLines(side, chosen)
        message = f"No baseline can be made of {side.about.name}: {'; '.join(reasons)}."
        if side.about.drafts:
            raise ToolbeltError(message)
        notify(message, "Error")
        return None


@click.command(
    epilog=examples("toolbelt eval baseline show", "toolbelt eval baseline show reports/baseline.json --json")
)
@click.argument("file", metavar="[FILE]", default=DEFAULT_BASELINE)
@json_option
def show(file: str, as_json: bool) -> None:
    """What the baseline FILE is of, and what its arms came to."""
    baseline = read_baseline(Path(file))
    if as_json:
        print_json({"file": file, **_data(baseline)})
        return
    show_blocks(_baseline_view(baseline, file))


def _baseline_view(baseline: Baseline, file: str) -> tuple[Block, ...]:
    about = baseline.about
    size = plural(about.cases, "case") + (f" × {plural(about.epochs, 'epoch')}" if about.epochs > 1 else "")
    settings = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in about.settings.items())
    columns = (
        Column("accuracy"),
        Column("definition tokens", short="definition\ntokens"),
        Column("prompt tokens", short="prompt\ntokens"),
        Column("requests", is_spare=True),
        Column("cost per trial", short="cost\n/trial", is_spare=True),
        Column("scored"),
    )
    rows = (
        Row(
            name.label,
            (
                Proportion(figures["accuracy"]),
                Tokens(figures["definition_tokens"]),
                Tokens(figures["prompt_tokens"]),
                Amount(figures["requests"]),
                Dollars(figures["cost_usd"]),
                Span(f"{figures['scored']:,}/{figures['trials']:,}"),
            ),
        )
        for name, figures in zip(baseline.arms, baseline.figures, strict=True)
    )
    return (
        Note(f"baseline {file}: dataset {about.dataset} ({about.digest}), {size}"),
        Note(f"catalog {about.catalog}, {settings}, toolbelt {about.code.get('toolbelt', NOTHING)}"),
        Table("arm", columns, tuple(rows)),
    )


def _changes(path: Path, saved: Baseline) -> str:
    try:
        return f"against the file it replaces: {describe_changes(read_baseline(path), saved)}"
    except ToolbeltError:
        return "the file it replaces could not be read"


def _data(baseline: Baseline) -> dict[str, Any]:
    about = baseline.about
    return {
        "schema": SCHEMA,
        "dataset": {"name": about.dataset, "digest": about.digest},
        "chosen": about.chosen,
        "case_count": about.cases,
        "epochs": about.epochs,
        "settings": dict(about.settings),
        "catalog": about.catalog,
        "surroundings": about.surroundings,
        "code": dict(about.code),
        "arms": [
            {"model": name.model, "toolset": name.toolset, "variant": name.variant, "tokenizer": name.tokenizer}
            | dict(figures)
            for name, figures in zip(baseline.arms, baseline.figures, strict=True)
        ],
    }
