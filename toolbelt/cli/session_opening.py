"""What the commands about sessions share: options, and opening an agent's sessions."""

from __future__ import annotations

import json
from collections.abc import Callable

from toolbelt.agents.over_catalog import toolkits_over
from toolbelt.command.options import Command, option
from toolbelt.command.project import ProjectOptions
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.project.project import Project
from toolbelt.sessions.agent import AgentSpec
from toolbelt.sessions.stored import StoredToolkits
from toolbelt.stores.config import Config
from toolbelt.stores.sessions import DEFAULT_FILE, SqliteSessionStore

session_store_option = option(
    "--session-store",
    metavar="FILE",
    default=str(DEFAULT_FILE),
    show_default=True,
    help="The file that stores what agents have loaded.",
)
required_session_option = option("--session", "session_id", metavar="S", required=True, help="A session's id.")


def agent_option(*, required: bool = False) -> Callable[[Command], Command]:
    """`--agent`, for what is about one agent."""
    return option("--agent", metavar="A", required=required, help="An agent of toolbelt.yaml.")


def open_sessions(
    agent: str, session_id: str, store: str, options: ProjectOptions, *, read_loadouts_too: bool = False
) -> tuple[Project, StoredToolkits]:
    """The project, and what one of its agents has loaded in a session; nothing is made on the disk.

    Raises:
        ToolbeltError: there are no agents, with one to begin with.
        NotFoundError: no such agent, with the nearest; else as `open_project`.
        InvalidDefinitionError: the agent's toolkits cannot be used over this catalog.
    """
    require_text("--session", session_id)
    project = options.open(read_loadouts_too=read_loadouts_too)
    toolkits = toolkits_over(get_agent(project, agent), project.toolkits, project.catalog)
    return project, StoredToolkits(toolkits, SqliteSessionStore(store), session_id)


def get_agent(project: Project, name: str) -> AgentSpec:
    """An agent of a project.

    Raises:
        ToolbeltError: there are no agents, with one to begin with.
        NotFoundError: no such agent, with the nearest.
    """
    if not project.agents:
        raise ToolbeltError(_no_agents(project.config))
    if name not in project.agents:
        raise NotFoundError("agent", name, project.agents)
    return project.agents[name]


def require_text(option: str, value: str | None) -> None:
    """Raise where an option is given and blank.

    Raises:
        ToolbeltError: as said.
    """
    if value is not None and not value.strip():
        raise ToolbeltError(f"{option} may not be blank.")


def _no_agents(config: Config) -> str:
    toolkits = [toolkit.key for toolkit in config.toolkits[:2]]
    allowed = json.dumps(toolkits or ["first"], ensure_ascii=False)
    missing = "there is no toolbelt.yaml from here upward" if config.path is None else f"{str(config.path)!r} has none"
    example = f"agents: {{assistant: {{tools: [file], allowed_toolkits: {allowed}}}}}"
    besides = "" if toolkits else ", and toolkits: {first: {tools: [websearch]}}"
    return f"There are no agents: {missing}. For example: {example}{besides}"
