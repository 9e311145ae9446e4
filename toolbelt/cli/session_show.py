"""`toolbelt session show`."""

from __future__ import annotations

from pathlib import Path

import click

from toolbelt.cli.session_opening import agent_option, open_sessions, require_text, session_store_option
from toolbelt.command.groups import examples
from toolbelt.command.options import option, project_options
from toolbelt.errors import NotFoundError
from toolbelt.render.screen import notify, print_json, show_blocks
from toolbelt.sessions.inspection import SessionInspection, stored_sessions_data
from toolbelt.sessions.session_views import kept_view, session_view
from toolbelt.stores.config import read_config
from toolbelt.stores.sessions import SqliteSessionStore


@click.command(
    epilog=examples("toolbelt session show", "toolbelt session show --agent assistant --session 4711 --json")
)
@agent_option()
@option("--session", "session_id", metavar="S", help="A session's id.  [default: list the stored sessions]")
@session_store_option
@project_options
def show(
    agent: str | None,
    session_id: str | None,
    session_store: str,
    catalog: str | None,
    config: str | None,
    tokenizer: str | None,
    as_json: bool,
) -> None:
    """What agent A has in session S: loaded toolkits, those dropped and why, those it may load, and the tools.

    Without both, what is kept of all sessions, or of those of one agent or one session. Nothing is changed.
    """
    require_text("--agent", agent)
    require_text("--session", session_id)
    if agent is None or session_id is None:
        _list(agent, session_id, session_store, config, as_json)
        return
    project, sessions = open_sessions(agent, session_id, session_store, catalog, config, tokenizer)
    inspection = SessionInspection(sessions, project.counter)
    if inspection.unmatched:
        name = project.catalog.name
        notify(f"not in catalog {name!r}, so not counted: {', '.join(inspection.unmatched)}", "warning")
    data = {"store": session_store, "catalog": project.catalog.name, **inspection.to_dict()}
    if as_json:
        print_json(data)
    else:
        show_blocks(session_view(data))


def _list(agent: str | None, session_id: str | None, session_store: str, config: str | None, as_json: bool) -> None:
    known = {one.name: one for one in read_config(Path.cwd(), config).agents}
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
