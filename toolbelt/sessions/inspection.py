"""What agents have loaded, as plain values for a person or a program to look at."""

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
from toolbelt.sessions.store import KeptSession, SessionStore
from toolbelt.sessions.turn import SessionView

AS_WISHED = frozenset({"loaded", "unloaded", "already_loaded", "not_loaded"})
"""Statuses of an answer after which what was asked for is so, whether it had to be changed or not."""


@dataclass(frozen=True, eq=False, repr=False)
class SessionInspection:
    """How an agent stands in a session, over a catalog.

    Attributes:
        view: What is kept, and what that makes.
        toolkits: The agent's.
        tokens: What the tools of the catalog cost; others are not counted.
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
            "dropped": [{"toolkit": one.toolkit, "reason": one.reason} for one in view.dropped],
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
        there = {tool.key for tool in self.view.tools}
        adds = [tool for tool in self.toolkits.tool_keys(after) if tool not in there]
        return {
            "toolkit": key,
            "description": self.toolkits.toolkits[key].description,
            "status": "conflict" if answer["status"] == "conflict" else "loadable",
            "conflict": conflict_text(answer) if answer["status"] == "conflict" else None,
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


def kept_data(
    store: SessionStore, known: Mapping[str, Any], agent: str | None = None, session_id: str | None = None
) -> list[dict[str, Any]]:
    """Everything that is kept, as plain values.

    Args:
        store: What keeps it.
        known: The agents there are now, by name.
        agent: Only what is kept for this one.
        session_id: Only what is kept in this one.

    Raises:
        StorageError: the store cannot be read; of a single damaged state it is said instead what is wrong.
    """
    return [_kept_row(kept, known) for kept in store.states(agent) if session_id in (None, kept.session_id)]


def _kept_row(kept: KeptSession, known: Mapping[str, Any]) -> dict[str, Any]:
    unknown = None if kept.agent in known else "no agent of this name is configured any more"
    return {
        "agent": kept.agent,
        "session": kept.session_id,
        "stored": [] if kept.state is None else list(kept.state.loaded),
        "problem": kept.problem or unknown,
    }


def conflict_text(answer: Mapping[str, Any]) -> str:
    """What an answer of status `conflict` says, for a person: what conflicts, in which tool, and both sides (D6)."""
    holder = answer["conflicts_with"]
    other = "the agent's own tools" if holder == STATIC else f"toolkit {holder!r}"
    here, there = (json.dumps(answer[key], ensure_ascii=False) for key in ("overrides", "existing_overrides"))
    return f"{other} and it give {answer['conflicting_tool']!r} different overrides: {there} there, {here} here"
