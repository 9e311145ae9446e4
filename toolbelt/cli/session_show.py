"""`toolbelt session show`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from toolbelt.cli.session_opening import agent_option, open_sessions, require_text, session_store_option
from toolbelt.command.groups import examples
from toolbelt.command.options import option
from toolbelt.command.project import ProjectOptions, project_options
from toolbelt.errors import NotFoundError
from toolbelt.project.project import Project
from toolbelt.render.screen import notify, print_json, show_blocks
from toolbelt.sessions.inspection import SessionInspection, stored_sessions_data
from toolbelt.sessions.session_views import kept_view, session_view
from toolbelt.stores.config import read_config
from toolbelt.stores.sessions import SqliteSessionStore


@click.command(
    epilog=examples(
        "toolbelt session show", "toolbelt session show --agent assistant --session 4711 --search fastmcp:k=8"
    )
)
@agent_option()
@option("--session", "session_id", metavar="S", help="A session's id.  [default: list the stored sessions]")
@option(
    "--search",
    metavar="S",
    help="What is shown if the other tools are found by search S: a preset, or as an eval has it after search:.  "
    "[default: the agent's, if it has one]",
)
@session_store_option
@project_options
def show(
    agent: str | None,
    session_id: str | None,
    search: str | None,
    session_store: str,
    options: ProjectOptions,
    as_json: bool,
) -> None:
    """What agent A has in session S: loaded toolkits, those dropped and why, those it may load, and the tools.

    Without both, what is kept of all sessions, or of those of one agent or one session. Nothing is changed.
    """
    require_text("--agent", agent)
    require_text("--session", session_id)
    require_text("--search", search)
    if agent is None or session_id is None:
        _list(agent, session_id, session_store, options.config, as_json)
        return
    project, sessions = open_sessions(  # a search may pin a loadout
        agent, session_id, session_store, options, read_loadouts_too=True
    )
    inspection = SessionInspection(sessions, project.counter)
    if inspection.unmatched:
        name = project.catalog.name
        notify(f"not in catalog {name!r}, so not counted: {', '.join(inspection.unmatched)}", "warning")
    data = {
        "store": session_store,
        "catalog": project.catalog.name,
        **inspection.to_dict(),
        "search": _inspect_search(project, agent, search, inspection),
    }
    if as_json:
        print_json(data)
    else:
        show_blocks(session_view(data))


def _inspect_search(
    project: Project, agent: str, search: str | None, inspection: SessionInspection
) -> Mapping[str, Any] | None:
    from toolbelt.project.sessions import find_search

    written, source = (find_search(project, agent) or (None, "")) if search is None else (search, "--search")
    if written is None:
        return None
    from toolbelt.search.inspection import inspect_search
    from toolbelt.search.pinned import find_pinned
    from toolbelt.search.presets import parse_search

    settings = parse_search(written, project.config.searches)
    pinned = find_pinned(settings, project.catalog, project.registry)
    return inspect_search(settings, source, project.catalog, pinned, inspection.tools, project.counter)


def _list(agent: str | None, session_id: str | None, session_store: str, config: str | None, as_json: bool) -> None:
    known = {spec.name: spec for spec in read_config(Path.cwd(), config).agents}
    store = SqliteSessionStore(session_store)
    rows = stored_sessions_data(store, known, agent, session_id)
    if agent is not None and not rows and agent not in known:
        raise NotFoundError("agent", agent, dict.fromkeys((*known, *(name for name, _ in store.sessions()))))
    if as_json:
        print_json({"store": session_store, "sessions": rows})
        return
    if rows:
        show_blocks(kept_view(rows))
    else:
        notify(f"nothing is kept in {session_store!r}{' of what was asked for' if agent or session_id else ''}.")
