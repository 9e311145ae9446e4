"""`toolbelt catalog search`."""

from __future__ import annotations

import click

from toolbelt.catalog import Tool
from toolbelt.catalog.catalog_views import hits_view
from toolbelt.catalog.ranking.ranker import SearchHit
from toolbelt.command.groups import examples
from toolbelt.command.options import option
from toolbelt.command.project import ProjectOptions, source_options
from toolbelt.command.rankers import RANK_HELP, RankerOptions, output_of_rankers, rank_options
from toolbelt.errors import nearest
from toolbelt.project.project import Project
from toolbelt.render.screen import notify, print_json, show_blocks
from toolbelt.text import plural


@click.command(
    epilog=examples(
        "toolbelt catalog search push to the remote",
        "toolbelt catalog search 'git.*branch' --rank regex --loadout developer",
        "toolbelt catalog search send a mail -k 3 --json",
    )
)
@click.argument("query", nargs=-1, required=True)
@option("--rank", "-r", metavar="R", default="words", show_default=True, help=RANK_HELP)
@option(
    "--limit",
    "-k",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    envvar="TOOLBELT_CATALOG_SEARCH_LIMIT",
    help="Tools shown at most.",
)
@option("--plugin", "plugin_names", multiple=True, metavar="P", help="Only this plugin; may be repeated.")
@option("--loadout", "-l", metavar="L", help="Only the tools that this loadout makes active.")
@rank_options
@source_options
def search(
    query: tuple[str, ...],
    rank: str,
    limit: int,
    plugin_names: tuple[str, ...],
    loadout: str | None,
    ranking: RankerOptions,
    options: ProjectOptions,
    as_json: bool,
) -> None:
    """The tools that QUERY finds, the best first, with their scores and what matched.

    Several words need no quotes. With --rank regex, QUERY is a pattern in Python's syntax. Scores are comparable within
    one search only. A part of a word that matched is shown with `…` where the word goes on.
    """
    text = " ".join(query)
    if not text.strip():
        raise click.UsageError("QUERY has no words.")
    with output_of_rankers():
        spec, ranker = ranking.open(rank)
        project = options.open(read_loadouts_too=loadout is not None)
        tools = _choose(project, plugin_names, loadout)
        hits = ranker.index(tools).search(text, limit)
    if as_json:
        about = {"catalog": project.catalog.name, "query": text, "rank": str(spec), "searched": len(tools)}
        print_json({**about, "tools": [_row(hit) for hit in hits]})
        return
    if hits:
        show_blocks(hits_view(hits))
        return
    close = nearest(text.replace(" ", "_"), [tool.name for tool in tools])
    hint = f" Tools with names like it: {', '.join(close)}." if close else ""
    notify(f"none of {plural(len(tools), 'tool')} matches.{hint}")


def _choose(project: Project, plugin_names: tuple[str, ...], loadout: str | None) -> list[Tool]:
    """The tools of these plugins, all if none is named, that are active in the loadout, if one is."""
    plugins = [project.catalog.get_plugin(name) for name in plugin_names] or project.catalog.plugins
    tools = [tool for plugin in plugins for tool in plugin.tools]
    if loadout is None:
        return tools
    active = {tool.id for tool in project.resolve(loadout).active_tools}
    return [tool for tool in tools if tool.id in active]


def _row(hit: SearchHit) -> dict[str, object]:
    return {
        "id": hit.tool.id,
        "name": hit.tool.name,
        "plugin": hit.tool.plugin,
        "score": hit.score,
        "matched": {field.value: list(words) for field, words in hit.matched.items()},
        "description": hit.tool.description,
    }
