"""The policies of a project's sessions (rule R8)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from toolbelt.agents import LoadoutPolicy
from toolbelt.agents.over_catalog import toolkits_over
from toolbelt.errors import NotFoundError
from toolbelt.models.recommended import RecommendedKind, parse_recommended
from toolbelt.project.rankers import open_project_ranker
from toolbelt.search.pinned import find_pinned
from toolbelt.search.policy import SearchPolicy
from toolbelt.search.presets import parse_search
from toolbelt.sessions.toolkit_policy import ToolkitPolicy
from toolbelt.stores.sessions import SqliteSessionStore
from toolbelt.tiers.policy import TierPolicy

if TYPE_CHECKING:
    from toolbelt.project.project import Project
    from toolbelt.sessions.policy import SessionPolicy
    from toolbelt.sessions.store import SessionStore

SESSION_STORE = Path(".toolbelt") / "sessions.db"
"""Where sessions are kept, seen from the project's folder."""


def make_policies(
    project: Project,
    session_id: str | None,
    store: SessionStore | None,
    agent: str | None,
    *,
    loadout: str | None,
    tiers: bool,
    enforce_tiers: bool,
    search: str | None,
) -> list[SessionPolicy]:
    """The policies of a session; arguments and errors as `Project.session`."""
    policies: list[SessionPolicy] = []
    if agent is not None:
        if agent not in project.agents:
            raise NotFoundError("agent", agent, project.agents)
        store = SqliteSessionStore(str(project.folder / SESSION_STORE)) if store is None else store
        team = project.agents.values()
        policies.append(ToolkitPolicy(project.agents[agent], project.toolkits, store, session_id, team=team))
    if loadout is not None:
        policies.append(LoadoutPolicy(project.registry.require_loadout(loadout).name, project.registry))
    if tiers:
        policies.append(TierPolicy(project.catalog, enforce=enforce_tiers))
    if search is None and agent is not None:
        search, _ = find_search(project, agent) or (None, "")
    if search is not None:
        settings = parse_search(search, project.config.searches)
        pinned = find_pinned(settings, project.catalog, project.registry)
        ids = _find_listed(project, agent, loadout)
        ranker = open_project_ranker(project, settings.rank)
        policies.append(SearchPolicy(settings, ranker, project.catalog, pinned, ids))
    return policies


def _find_listed(project: Project, agent: str | None, loadout: str | None) -> set[str] | None:
    """Ids of the tools that a session of this agent with this loadout may have; `None` for all."""
    ids: set[str] | None = None
    if agent is not None:
        ids = set(toolkits_over(project.agents[agent], project.toolkits, project.catalog).reachable_keys())
    if loadout is not None:
        active = {tool.id for tool in project.registry.resolve(loadout, project.catalog).active_tools}
        ids = active if ids is None else ids & active
    return ids


def find_search(project: Project, agent: str) -> tuple[str, str] | None:
    """How an agent of that name finds the tools it is not shown, as after `search:`, and the key that says so: its own,
    else that of its model; `None` where neither does.
    """
    spec = project.agents[agent]
    if spec.search or not spec.model:
        return (spec.search, f"agents.{agent}.search") if spec.search else None
    own = project.models.find_project_model(spec.model)
    if own is None or own.toolset is None:
        return None
    toolset = parse_recommended(own.toolset)
    is_search = toolset.kind is RecommendedKind.SEARCH
    return (toolset.name, f"models.{own.name}.toolset") if is_search else None
