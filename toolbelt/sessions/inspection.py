"""The state of an agent in a session, and all stored states, as plain values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolbelt.catalog.frozen import thaw
from toolbelt.catalog.tokens import TokenCounter, count_named_tools
from toolbelt.sessions.bundles import STATIC
from toolbelt.sessions.dynamic import ShownTool
from toolbelt.sessions.meta_tools import AnswerStatus
from toolbelt.sessions.store import SessionStore, StoredSession
from toolbelt.sessions.stored import SessionView, StoredToolkits

Counted = list[tuple[ShownTool, int]]
"""Tools, each with its tokens."""
FULFILLED = frozenset(
    {AnswerStatus.LOADED, AnswerStatus.UNLOADED, AnswerStatus.ALREADY_LOADED, AnswerStatus.NOT_LOADED}
)
"""Statuses after which the request is fulfilled, whether anything had to change or not."""


@dataclass(frozen=True, eq=False, repr=False)
class SessionInspection:
    """The state of an agent in a session, over a catalog, with token counts.

    Attributes:
        sessions: The agent's toolkits in the session.
        counter: Counts the definitions.
    """

    sessions: StoredToolkits
    counter: TokenCounter

    @cached_property
    def view(self) -> SessionView:
        """The stored state, and what follows from it."""
        return self.sessions.show()

    @cached_property
    def tools(self) -> tuple[ShownTool, ...]:
        """The tools of the next turn, meta-tools included."""
        return self.sessions.toolkits.shown_tools(self.view.loaded, has_session=self.sessions.session_id is not None)

    @cached_property
    def unmatched(self) -> tuple[str, ...]:
        """Entries of the agent and its loaded toolkits that match nothing of the catalog."""
        return self.sessions.toolkits.unmatched_entries(self.view.loaded)

    def to_dict(self) -> dict[str, Any]:
        """The stable form for `--json`."""
        toolkits, view = self.sessions.toolkits, self.view
        counted = self._count(self.tools)
        return {
            "agent": self.sessions.agent,
            "session": self.sessions.session_id,
            "stored": None if view.stored is None else list(view.stored),
            "loaded": [self._loaded_data(key, counted) for key in view.loaded],
            "dropped": [{"toolkit": each.toolkit, "reason": each.reason} for each in view.dropped],
            "not_loaded": [self._not_loaded_data(key) for key in toolkits.toolkits if key not in view.loaded],
            "tools": [
                {
                    "tool": tool.key,
                    "name": tool.name,
                    "meta": tool.is_meta,
                    "toolkit": tool.toolkit,
                    "overrides": thaw(tool.overrides),
                    "tokens": count,
                }
                for tool, count in counted
            ],
            "unmatched": list(self.unmatched),
            "tokens": {
                "tools": sum(count for _, count in counted),
                "uncounted": len(self.unmatched),
                "tokenizer": self.counter.name,
                "exact": self.counter.exact,
            },
        }

    def _loaded_data(self, key: str, counted: Counted) -> dict[str, Any]:
        brought = [(tool, count) for tool, count in counted if tool.toolkit == key]
        return {
            "toolkit": key,
            "sticky": key in self.sessions.toolkits.initial,
            "stored": key in (self.view.stored or ()),
            "tools": [tool.key for tool, _ in brought],
            "tokens": sum(count for _, count in brought),
        }

    def _not_loaded_data(self, key: str) -> dict[str, Any]:
        toolkits = self.sessions.toolkits
        answer, after = toolkits.load(key, self.view.loaded)
        is_conflict = answer["status"] == AnswerStatus.CONFLICT
        present = {tool.key for tool in self.tools}
        adds = [tool for tool in toolkits.shown_tools(after, has_session=False) if tool.key not in present]
        return {
            "toolkit": key,
            "description": toolkits.toolkits[key].description,
            "status": answer["status"] if is_conflict else "loadable",
            "conflict": conflict_text(answer) if is_conflict else None,
            "tools": [tool.key for tool in adds],
            "tokens": sum(count for _, count in self._count(adds)),
        }

    def _count(self, tools: Sequence[ShownTool]) -> Counted:
        counts = count_named_tools(((tool.tool, tool.name) for tool in tools), self.counter)
        return list(zip(tools, counts, strict=True))


def stored_sessions_data(
    store: SessionStore, known: Mapping[str, Any], agent: str | None, session_id: str | None = None
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
