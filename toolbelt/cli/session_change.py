"""`toolbelt session load`, `unload` and `reset`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from toolbelt.cli.session_opening import (
    agent_option,
    open_sessions,
    require_text,
    required_session_option,
    session_store_option,
)
from toolbelt.command.groups import examples
from toolbelt.command.options import config_option, json_option
from toolbelt.command.project import ProjectOptions, source_options
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.render.screen import notify, print_json
from toolbelt.sessions.inspection import FULFILLED
from toolbelt.sessions.meta_tools import MetaToolAnswer
from toolbelt.sessions.session_views import change_text, refusal_text, reset_text
from toolbelt.sessions.stored import StoredToolkits
from toolbelt.stores.config import read_config
from toolbelt.stores.sessions import SqliteSessionStore

Change = Callable[[StoredToolkits, str], MetaToolAnswer]
"""Given the name of a toolkit."""


def _make_command(name: str, change: Change, text: str) -> click.Command:
    """A command that changes what is loaded by one toolkit, and prints the result."""

    @click.command(
        name, help=text, epilog=examples(f"toolbelt session {name} research --agent assistant --session 4711")
    )
    @click.argument("toolkit")
    @agent_option(required=True)
    @required_session_option
    @session_store_option
    @source_options
    def command(
        toolkit: str,
        agent: str,
        session_id: str,
        session_store: str,
        options: ProjectOptions,
        as_json: bool,
    ) -> None:
        project, sessions = open_sessions(agent, session_id, session_store, options)
        for dropped in sessions.show().dropped:
            notify(dropped.reason, "warning")
        answer = change(sessions, toolkit)
        if as_json:
            print_json(dict(sorted(answer.items())))
        if answer["status"] not in FULFILLED:
            raise ToolbeltError(refusal_text(answer, agent, sessions.toolkits.agent.allowed_toolkits))
        if not as_json:
            click.echo(change_text(answer, agent, session_id))
            if unmatched := sessions.toolkits.unmatched_entries((answer["toolkit"],)):
                notify(f"not in catalog {project.catalog.name!r}, so not counted: {', '.join(unmatched)}", "warning")

    return command


load = _make_command(
    "load",
    StoredToolkits.load,
    """Load TOOLKIT for agent A in session S, from its next turn on, by the agent's rules, over the catalog.

    --json prints the answer of `load_tools`. What is loaded already is left as it is; anything else that keeps the
    toolkit from being loaded ends with code 2.
    """,
)
unload = _make_command(
    "unload",
    StoredToolkits.unload,
    """Unload TOOLKIT for agent A in session S, from its next turn on, by the agent's rules, over the catalog.

    --json prints the answer of `unload_tools`. What is not loaded is left as it is; anything else that keeps the
    toolkit from being unloaded ends with code 2.
    """,
)


@click.command(epilog=examples("toolbelt session reset --agent assistant --session 4711"))
@agent_option(required=True)
@required_session_option
@session_store_option
@config_option
@json_option
def reset(agent: str, session_id: str, session_store: str, config: str | None, as_json: bool) -> None:
    """Forget what agent A has loaded in session S; its next turn starts with its initial toolkits.

    Also for an agent that is configured no more. Nothing is asked, even where A and S come from the environment; what
    is printed names both.
    """
    require_text("--session", session_id)
    project_config = read_config(Path.cwd(), config)
    store = SqliteSessionStore(session_store)
    spec = next((each for each in project_config.agents if each.name == agent), None)
    stored = [name for name, _ in store.sessions()]
    if spec is None and agent not in stored:
        raise NotFoundError("agent", agent, dict.fromkeys((*(each.name for each in project_config.agents), *stored)))
    was_stored = store.reset(agent, session_id)
    if as_json:
        print_json({"agent": agent, "session": session_id, "reset": was_stored})
    else:
        click.echo(reset_text(agent, session_id, was_stored, () if spec is None else spec.initial_toolkits))
