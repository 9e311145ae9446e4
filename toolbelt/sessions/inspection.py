"""The state of an agent in a session, and all stored states, as plain values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.tokens import ToolTokens
from toolbelt.sessions.bundles import STATIC, ActiveTool
from toolbelt.sessions.dynamic import DynamicToolkits
from toolbelt.sessions.meta_tools import AnswerStatus
from toolbelt.sessions.store import SessionStore, StoredSession
from toolbelt.sessions.turn import SessionView

FULFILLED = frozenset(
    {AnswerStatus.LOADED, AnswerStatus.UNLOADED, AnswerStatus.ALREADY_LOADED, AnswerStatus.NOT_LOADED}
)
"""Statuses after which the request is fulfilled, whether anything had to change or not."""


@dataclass(frozen=True, eq=False, repr=False)
class SessionInspection:
    """The state of an agent in a session, with token counts of a catalog.

    Attributes:
        view: The stored state, and the tools that follow from it.
        toolkits: The agent's.
        tokens: Of the tools of the catalog; other tools are not counted.
    """

    view: SessionView
    toolkits: DynamicToolkits
    tokens: ToolTokens

    @cached_property
    def uncounted(self) -> tuple[str, ...]:
        """Keys of tools the agent has that are not in the catalog."""
        return tuple(tool.key for tool in self.view.tools if tool.key not in self.tokens.by_id)

    def to_dict(self) -> dict[str, Any]:
        """The stable form for `--json`."""
        view = self.view
        return {
            "agent": view.agent,
            "session": view.session_id,
            "stored": None if view.stored is None else list(view.stored),
            "loaded": [self._loaded_data(key) for key in view.loaded],
            "dropped": [{"toolkit": each.toolkit, "reason": each.reason} for each in view.dropped],
            "not_loaded": [self._not_loaded_data(key) for key in self.toolkits.toolkits if key not in view.loaded],
            "tools": [self._tool_data(tool) for tool in view.tools],
            "tokens": {
                "tools": self._count(tool.key for tool in view.tools),
                "uncounted": len(self.uncounted),
                "tokenizer": self.tokens.tokenizer,
                "exact": self.tokens.exact,
            },
        }

    def _loaded_data(self, key: str) -> dict[str, Any]:
        brought = [tool.key for tool in self.view.tools if tool.toolkit == key]
        return {
            "toolkit": key,
            "sticky": key in self.toolkits.initial,
            "stored": key in (self.view.stored or ()),
            "tools": brought,
            "tokens": self._count(brought),
        }

    def _not_loaded_data(self, key: str) -> dict[str, Any]:
        answer, after = self.toolkits.load(key, self.view.loaded)
        is_conflict = answer["status"] == AnswerStatus.CONFLICT
        present = {tool.key for tool in self.view.tools}
        adds = [tool for tool in self.toolkits.tool_keys(after) if tool not in present]
        return {
            "toolkit": key,
            "description": self.toolkits.toolkits[key].description,
            "status": answer["status"] if is_conflict else "loadable",
            "conflict": conflict_text(answer) if is_conflict else None,
            "tools": adds,
            "tokens": self._count(adds),
        }

    def _tool_data(self, tool: ActiveTool) -> dict[str, Any]:
        return {
            "tool": tool.key,
            "toolkit": tool.toolkit,
            "overrides": thaw(tool.overrides),
            "tokens": self.tokens.by_id.get(tool.key),
        }

    def _count(self, keys: Iterable[str]) -> int:
        return sum(self.tokens.by_id.get(key, 0) for key in keys)


def stored_sessions_data(
    store: SessionStore, known: Mapping[str, Any], agent: str | None = None, session_id: str | None = None
) -> list[dict[str, Any]]:
    """All stored states, as plain values.

    Args:
        store: The store.
        known: The configured agents, by name.
        agent: Only states of this agent.
        session_id: Only states of this session.

    Raises:
        StorageError: the store cannot be read. A single damaged state has a `problem` instead.
    """
    return [_stored_row(stored, known) for stored in store.states(agent) if session_id in (None, stored.session_id)]


def _stored_row(stored: StoredSession, known: Mapping[str, Any]) -> dict[str, Any]:
    unknown = None if stored.agent in known else "no agent of this name is configured any more"
    return {
        "agent": stored.agent,
        "session": stored.session_id,
        "stored": [] if stored.state is None else list(stored.state.loaded),
        "problem": stored.problem or unknown,
    }


def conflict_text(answer: Mapping[str, Any]) -> str:
    """An answer of status `conflict` as text for a person: the toolkits, the tool, and both overrides (rule D6)."""
    holder = answer["conflicts_with"]
    other = "the agent's own tools" if holder == STATIC else f"toolkit {holder!r}"
    here, there = (json.dumps(answer[key], ensure_ascii=False) for key in ("overrides", "existing_overrides"))
    return f"{other} and it give {answer['conflicting_tool']!r} different overrides: {there} there, {here} here"
