"""`toolbelt session load`, `unload` and `reset`."""

from __future__ import annotations

from pathlib import Path

import click

from toolbelt.cli.groups import examples
from toolbelt.cli.options import agent_option, config_option, json_option, option, session_store_option, source_options
from toolbelt.cli.session_opening import open_sessions, require_text
from toolbelt.console.screen import print_json, tell
from toolbelt.console.session_views import answer_text, refusal_text, reset_text
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.sessions.dynamic import Answer
from toolbelt.sessions.inspection import AS_WISHED
from toolbelt.sessions.turn import SessionView
from toolbelt.stores.config import read_config
from toolbelt.stores.sessions import SqliteSessionStore

session_option = option("--session", "session_id", metavar="S", required=True, help="A session's id.")


@click.command(epilog=examples("toolbelt session load research --agent assistant --session 4711"))
@click.argument("toolkit")
@agent_option(required=True)
@session_option
@session_store_option
@source_options
def load(
    toolkit: str,
    agent: str,
    session_id: str,
    session_store: str,
    catalog: str | None,
    config: str | None,
    as_json: bool,
) -> None:
    """Load TOOLKIT for agent A in session S, from its next turn on, by the rules the agent itself is held to.

    --json prints the answer of `load_tools`. What is loaded already is left as it is; anything else that keeps the
    toolkit from being loaded ends with code 2.
    """
    require_text("--session", session_id)
    sessions = open_sessions(agent, session_store, catalog, config).sessions
    _tell_dropped(sessions.show(agent, session_id))
    _answer(sessions.load(agent, session_id, toolkit), agent, session_id, as_json)


@click.command(epilog=examples("toolbelt session unload research --agent assistant --session 4711"))
@click.argument("toolkit")
@agent_option(required=True)
@session_option
@session_store_option
@source_options
def unload(
    toolkit: str,
    agent: str,
    session_id: str,
    session_store: str,
    catalog: str | None,
    config: str | None,
    as_json: bool,
) -> None:
    """Unload TOOLKIT for agent A in session S, from its next turn on, by the rules the agent itself is held to.

    --json prints the answer of `unload_tools`. What is not loaded is left as it is; anything else that keeps the
    toolkit from being unloaded ends with code 2.
    """
    require_text("--session", session_id)
    sessions = open_sessions(agent, session_store, catalog, config).sessions
    _tell_dropped(sessions.show(agent, session_id))
    _answer(sessions.unload(agent, session_id, toolkit), agent, session_id, as_json)


@click.command(epilog=examples("toolbelt session reset --agent assistant --session 4711"))
@agent_option(required=True)
@session_option
@session_store_option
@config_option
@json_option
def reset(agent: str, session_id: str, session_store: str, config: str | None, as_json: bool) -> None:
    """Forget what agent A has loaded in session S; its next turn starts with its initial toolkits.

    Also for an agent that is configured no more. Nothing is asked.
    """
    require_text("--session", session_id)
    found = read_config(Path.cwd(), config)
    store = SqliteSessionStore(session_store)
    spec = next((one for one in found.agents if one.name == agent), None)
    kept = [name for name, _ in store.sessions()]
    if spec is None and agent not in kept:
        raise NotFoundError("agent", agent, dict.fromkeys((*(one.name for one in found.agents), *kept)))
    was_kept = store.reset(agent, session_id)
    if as_json:
        print_json({"agent": agent, "session": session_id, "reset": was_kept})
    else:
        click.echo(reset_text(agent, session_id, was_kept, () if spec is None else spec.initial_toolkits))


def _tell_dropped(view: SessionView) -> None:
    for dropped in view.dropped:
        tell(dropped.reason, "warning")


def _answer(answer: Answer, agent: str, session_id: str, as_json: bool) -> None:
    if as_json:
        print_json(dict(sorted(answer.items())))
    if answer["status"] not in AS_WISHED:
        raise ToolbeltError(refusal_text(answer, agent))
    if not as_json:
        click.echo(answer_text(answer, agent, session_id))
