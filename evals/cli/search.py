"""`toolbelt eval search`."""

from __future__ import annotations

import contextlib
import io
import json
from contextlib import ExitStack
from pathlib import Path

import click
from click.core import ParameterSource

from toolbelt.command.boundary import INFRASTRUCTURE, OK
from toolbelt.command.groups import examples
from toolbelt.command.options import Choice, config_option, json_option, option
from toolbelt.command.project import ProjectOptions
from toolbelt.command.rankers import RANK_HELP, RankerOptions, output_of_rankers, rank_options
from toolbelt.errors import ToolbeltError
from toolbelt.evals.cli.console_reporter import EvalConsoleReporter
from toolbelt.evals.cli.dataset_opening import open_with_project, own_catalog_option
from toolbelt.evals.cli.files import keep_apart
from toolbelt.evals.cli.options import CommaList, case_filter_options
from toolbelt.evals.retrieval.evaluate import Grouping, SearchRequest, evaluate_rankers
from toolbelt.evals.retrieval.retrieval import Retrieval, is_complete, retrieval_data
from toolbelt.evals.running.plan import CaseFilter
from toolbelt.evals.setup.default_dataset import note_other_catalog
from toolbelt.evals.setup.inputs import RunInputs
from toolbelt.render.screen import ConsoleReporter, notify, print_json, show_blocks
from toolbelt.stores.files import make_way_for, replacing, write_text

_PICTURES = (".svg", ".png")
_MARKDOWN = ("", ".md", ".markdown", ".txt")
_FORMS = (".md", ".html", ".csv", ".json")


@click.command(
    epilog=examples(
        "toolbelt eval search",
        "toolbelt eval search --rank words --rank regex --dataset tiered --plot recall.svg",
        "toolbelt eval search --rank words,embedding:text-embedding-3-small --dataset ./mine",
        "toolbelt eval search --rank words,python:mine:make_search --dataset ./mine --whole-catalog --by kind",
    )
)
@option(
    "--rank",
    "-r",
    "ranks",
    type=CommaList(),
    multiple=True,
    default=("words",),
    show_default=True,
    metavar="R",
    help=f"{RANK_HELP} Again or with commas for more, which are compared with the first.",
)
@option(
    "--dataset",
    "-d",
    "datasets",
    type=CommaList(),
    multiple=True,
    default=("assistant",),
    show_default=True,
    metavar="D",
    help="A shipped dataset, a folder with cases.jsonl and a catalog, or a file of cases; again for more.",
)
@own_catalog_option
@option("--whole-catalog", is_flag=True, help="Search the whole catalog, also in cases that offer a part of it.")
@option(
    "--by",
    type=Choice([grouping.value for grouping in Grouping]),
    envvar="TOOLBELT_EVAL_SEARCH_BY",
    help="Also break recall down by this.  [default: language, if cases are tagged with one]",
)
@case_filter_options
@option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=0,
    show_default=True,
    metavar="N",
    help="Of the draw of cases, and of what is drawn for intervals.",
)
@option(
    "--plot",
    metavar="FILE",
    envvar="TOOLBELT_EVAL_SEARCH_PLOT",
    help="Draw recall against k, as .svg or .png; its folder is made if need be.",
)
@option(
    "--output",
    "-o",
    metavar="FILE",
    envvar="TOOLBELT_EVAL_SEARCH_OUTPUT",
    help="Write it, too: by the ending of FILE as Markdown, .html, .csv (a row for each mean) or .json.",
)
@option("--force", is_flag=True, help="Replace files that exist.")
@rank_options
@config_option
@json_option
def search(
    ranks: tuple[str, ...],
    datasets: tuple[str, ...],
    catalog: str | None,
    whole_catalog: bool,
    by: str | None,
    case_filter: CaseFilter,
    seed: int,
    plot: str | None,
    output: str | None,
    force: bool,
    ranking: RankerOptions,
    config: str | None,
    as_json: bool,
) -> int:
    """How well rankers find the right tools of cases: recall, MRR and nDCG with intervals, and paired differences.

    No chat model is asked. The last user message of each case that needs a tool is searched for, among the tools that
    the case offers if it says so, else in the whole catalog. `regex` searches for a pattern that any word of the
    message matches. Recall@k is the best share, over accepted answers, of its tools within the first k.
    """
    keep_apart({}, {"--plot": plot, "--output": output})
    if plot is not None and Path(plot).suffix.lower() not in _PICTURES:
        raise ToolbeltError(f"--plot draws {' and '.join(_PICTURES)}; {plot!r} ends otherwise.")
    if output is not None and Path(output).suffix.lower() not in (*_FORMS, *_MARKDOWN):
        raise ToolbeltError(f"--output writes {', '.join(_FORMS)}; {output!r} ends otherwise.")
    for path in filter(None, (plot, output)):
        make_way_for(path, overwrite=force or not Path(path).is_file())
        with contextlib.suppress(OSError):  # else the file cannot be written either, which is reported then
            Path(path).parent.mkdir(parents=True, exist_ok=True)
    names = dict.fromkeys(name.strip() for text in ranks for name in text.split(","))
    with output_of_rankers():
        rankers = dict(ranking.open(name) for name in names)
    request = SearchRequest(case_filter, seed, whole_catalog, None if by is None else Grouping(by))
    is_default = click.get_current_context().get_parameter_source("datasets") is ParameterSource.DEFAULT
    with ExitStack() as stack:
        opened = []
        for reference in dict.fromkeys(datasets):
            dataset, project = open_with_project(reference, ProjectOptions(catalog, config))
            opened.append(stack.enter_context(contextlib.closing(dataset)))
            if is_default and catalog is None:
                note_other_catalog(RunInputs(dataset, project), EvalConsoleReporter())
        stack.enter_context(output_of_rankers())
        retrieval = evaluate_rankers(opened, list(rankers.items()), request, ConsoleReporter())
    if plot is not None:
        _draw(retrieval, Path(plot), force=force)
    if output is not None:
        _write(retrieval, Path(output), force=force)
    if as_json:
        print_json(retrieval_data(retrieval))
    else:
        from toolbelt.evals.views.retrieval import retrieval_view

        show_blocks(retrieval_view(retrieval))
    return OK if is_complete(retrieval) else INFRASTRUCTURE


def _draw(retrieval: Retrieval, path: Path, *, force: bool) -> None:
    from toolbelt.evals.views.pictures.recall import draw_recall

    is_svg = path.suffix.lower() == ".svg"
    picture = draw_recall(retrieval, pngs=not is_svg)
    with replacing(path, "wb", overwrite=force) as file:
        file.write(picture.svg if is_svg else picture.png)
    notify(f"wrote {path}")


def _write(retrieval: Retrieval, path: Path, *, force: bool) -> None:
    write_text(path, _format(retrieval, path.suffix.lower()), overwrite=force)
    notify(f"wrote {path}")


def _format(retrieval: Retrieval, ending: str) -> str:
    from toolbelt.evals.views.retrieval import retrieval_view

    match ending:
        case ".json":
            return json.dumps(retrieval_data(retrieval), ensure_ascii=False, indent=2) + "\n"
        case ".csv":
            from toolbelt.evals.views.frames import write_retrieval_csv  # pandas

            text = io.StringIO(newline="")
            write_retrieval_csv(retrieval, text)
            return text.getvalue()
        case ".html":
            from toolbelt.evals.browsing.documents import make_page

            return make_page("Search", retrieval_view(retrieval))
        case _:
            from toolbelt.render.markdown import render_markdown

            return render_markdown(retrieval_view(retrieval)) + "\n"
