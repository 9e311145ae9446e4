"""What the commands about sessions share: options, and opening an agent's sessions."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from toolbelt.catalog import Catalog
from toolbelt.command.options import Command, option
from toolbelt.command.project import open_current_project
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.project.project import Project
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.sessions import DynamicSessions
from toolbelt.stores.config import Config
from toolbelt.stores.sessions import DEFAULT_FILE, SqliteSessionStore
from toolbelt.toolkits.expand import expander

session_store_option = option(
    "--session-store",
    metavar="FILE",
    default=str(DEFAULT_FILE),
    show_default=True,
    help="Where what agents have loaded is kept.",
)
required_session_option = option("--session", "session_id", metavar="S", required=True, help="A session's id.")


def agent_option(*, required: bool = False) -> Callable[[Command], Command]:
    """`--agent`, for what is about one agent."""
    return option("--agent", metavar="A", required=required, help="An agent of toolbelt.yaml.")


@dataclass(frozen=True, eq=False, repr=False)
class OpenedSessions:
    """One agent of a project, and what is kept of its sessions.

    Attributes:
        project: The project.
        toolkits: The agent's.
        sessions: Of this agent alone.
    """

    project: Project
    toolkits: DynamicToolkits
    sessions: DynamicSessions


def open_sessions(
    agent: str, store: str, catalog: str | None, config: str | None, tokenizer: str | None = None
) -> OpenedSessions:
    """One agent and its sessions; nothing is made on the disk.

    Raises:
        ToolbeltError: there are no agents, with one to begin with.
        NotFoundError: no such agent, with the nearest; else as `open_project`.
        InvalidDefinitionError: the agent's toolkits cannot be used over this catalog.
    """
    project = open_current_project(catalog, config, tokenizer, read_loadouts_too=False)
    agents = {one.name: one for one in project.config.agents}
    if not agents:
        raise ToolbeltError(_no_agents(project.config))
    if agent not in agents:
        raise NotFoundError("agent", agent, agents)
    expand = _expand_over(project.catalog)
    toolkits = DynamicToolkits(agents[agent], project.config.toolkits, expand)
    return OpenedSessions(project, toolkits, DynamicSessions([toolkits], SqliteSessionStore(store)))


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


def _expand_over(catalog: Catalog) -> Callable[[str], Sequence[str]]:
    """Entries as tools of the catalog; one that matches nothing stands for itself: not every tool is in it."""
    expand = expander(catalog)
    return lambda entry: expand(entry) or (entry,)
