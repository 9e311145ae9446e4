"""`toolbelt dataset list` and `show`."""

from __future__ import annotations

from typing import Any

import click

from toolbelt.catalog.frozen import thaw
from toolbelt.command.completion import complete_datasets
from toolbelt.command.groups import examples
from toolbelt.command.options import option
from toolbelt.command.project import ProjectOptions
from toolbelt.evals.cases.card.card import Card, card_path
from toolbelt.evals.cases.card.check import count_content, differences
from toolbelt.evals.cases.card.reader import read_card
from toolbelt.evals.cases.case import Answer, Case, ExpectedCall
from toolbelt.evals.cases.dataset import Dataset
from toolbelt.evals.cli.dataset_opening import dataset_options, open_with_project
from toolbelt.evals.cli.dataset_views import card_data, case_view, dataset_view, list_view
from toolbelt.project.project import Project
from toolbelt.render.screen import notify, print_findings, print_json, show_blocks
from toolbelt.stores.catalogs import shipped_datasets
from toolbelt.text import plural

_MOST_WARNINGS = 5


@click.command("list", epilog=examples("toolbelt dataset list", "toolbelt dataset list ./mine ./theirs/cases.jsonl"))
@click.argument("datasets", nargs=-1, metavar="[DATASET]...", shell_complete=complete_datasets)
@dataset_options
def list_datasets(datasets: tuple[str, ...], options: ProjectOptions, as_json: bool) -> None:
    """The datasets that come with toolbelt, or those named, with their cases, tools and digest."""
    rows = []
    for name in datasets or shipped_datasets():
        dataset, project = open_with_project(name, options)
        rows.append(_summary(dataset, project))
        dataset.close()
    if as_json:
        print_json({"datasets": rows})
        return
    show_blocks(list_view(rows))


@click.command(
    epilog=examples("toolbelt dataset show assistant", "toolbelt dataset show assistant --case single-git-push-tags-1")
)
@click.argument("dataset", shell_complete=complete_datasets)
@option("--case", "case_id", metavar="ID", help="One case whole: messages, right answers, results.")
@dataset_options
def show(dataset: str, case_id: str | None, options: ProjectOptions, as_json: bool) -> None:
    """What DATASET, a shipped name, a folder or a file of cases, holds: its card, counts, roles, what is left out."""
    opened, project = open_with_project(dataset, options)
    if case_id is not None:
        index = opened.get(case_id)
        data = {**case_data(opened.case(index)), "source": opened.source, "line": opened.line(index)}
        if as_json:
            print_json(data)
        else:
            show_blocks(case_view(data))
        return
    card = _card(opened)
    data = {
        **_summary(opened, project),
        **_answers_given(opened),
        "card": None if card is None else card_data(card),
    }
    if as_json:
        print_json(data)
        return
    if card is not None and differences(card.content, count_content(opened, own_catalog=options.catalog is None)):
        notify("the card is out of date; `toolbelt dataset card` says where")
    print_findings(opened.warnings[:_MOST_WARNINGS])
    if (more := len(opened.warnings) - _MOST_WARNINGS) > 0:
        notify(f"{plural(more, 'further warning')}; `toolbelt dataset lint` lists them")
    show_blocks(dataset_view(data))


def _card(dataset: Dataset) -> Card | None:
    path = card_path(dataset.source)
    return None if path is None else read_card(path, dataset)


def _answers_given(dataset: Dataset) -> dict[str, Any]:
    """How many tools are part of a right answer, and the ids of the other tools."""
    unanswered = [tool.id for tool in dataset.catalog_file.catalog.tools if tool.id not in dataset.answered]
    return {"drafts": dataset.drafts, "answered": len(dataset.answered), "unanswered": unanswered}


def _summary(dataset: Dataset, project: Project) -> dict[str, Any]:
    catalog = dataset.catalog_file.catalog
    resolve = project.registry.resolve
    names = [entry.loadout.name for entry in project.catalog_loadouts]
    return {
        "name": dataset.name,
        "source": dataset.source,
        "layout": dataset.layout.value,
        "digest": dataset.digest,
        "cases": len(dataset),
        "clusters": dataset.clusters,
        "kinds": dict(dataset.kinds),
        "tags": dict(dataset.tags),
        "roles": sorted(dataset.roles),
        "excluded": dict(dataset.excluded),
        "exclusions": [
            {
                "case": exclusion.case_id,
                "line": exclusion.line,
                "reason": exclusion.reason,
                "detail": exclusion.detail,
            }
            for exclusion in dataset.exclusions
        ],
        "catalog": {
            "name": catalog.name,
            "source": dataset.catalog_file.source,
            "plugins": len(catalog.plugins),
            "tools": len(catalog.tools),
        },
        "loadouts": [{"name": name, "tools": len(resolve(name, catalog).active_tools)} for name in names],
        "warnings": len(dataset.warnings),
        "notes": list(dataset.notes),
    }


def case_data(case: Case) -> dict[str, Any]:
    """A case as plain values, for `--json` and for the view."""
    return {
        "id": case.id,
        "kind": case.kind,
        "tags": list(case.tags),
        "role": case.role,
        "cluster": case.cluster,
        "messages": [thaw(message) for message in case.messages],
        "expected": None if case.expected is None else _answer(case.expected),
        "accept": [_answer(answer) for answer in case.accept],
        "forbidden": sorted(case.forbidden),
        "allowed_extra": sorted(case.allowed_extra),
        "match": case.match.value,
        "offered": None if case.offered is None else list(case.offered),
        "results": {tool: list(texts) for tool, texts in case.results.items()},
        "steps": case.steps,
    }


def _answer(answer: Answer) -> list[dict[str, Any]]:
    return [_call(call) for call in answer]


def _call(call: ExpectedCall) -> dict[str, Any]:
    if call.arguments is None:
        return {"tools": list(call.tools), "arguments": None}
    arguments = {
        "accepted": {name: thaw(list(values)) for name, values in call.arguments.accepted.items()},
        "contains": {name: list(texts) for name, texts in call.arguments.contains.items()},
        "optional": sorted(call.arguments.optional),
        "exact": call.arguments.exact,
        "rules": call.arguments.rules.value,
    }
    return {"tools": list(call.tools), "arguments": arguments}
