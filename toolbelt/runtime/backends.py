"""What serves the capabilities that a tool declares, found for one call (rule R6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolbelt.catalog.frozen import FrozenDict
from toolbelt.runtime.asking import UnansweredError, ask
from toolbelt.runtime.context import Capability, ToolContext
from toolbelt.runtime.executable import ExecutableTool


class UnservedError(Exception):
    """A backend could not be had; says why in a sentence for the model."""


async def serve(
    tool: ExecutableTool,
    context: ToolContext,
    attachments: tuple[Any, ...],
    backends: Mapping[str, Any],
    seconds: float | None,
) -> ToolContext:
    """The context that a tool gets: with the backends of what it declares, and the attachments if it declares those.

    Args:
        tool: Whose capabilities all have a backend.
        context: Of the batch, without backends and attachments.
        attachments: Of the turn.
        backends: By capability. What can be called is called with the tool and its context so far.
        seconds: How long each may take.

    Raises:
        UnservedError: a backend raised, or took too long.
    """
    if Capability.ATTACHMENTS in tool.capabilities:
        context = replace(context, attachments=attachments)
    found = {}
    for capability in sorted(tool.capabilities):
        backend = backends[capability]
        if callable(backend):
            try:
                backend = await ask(backend, tool, context, seconds=seconds)
            except UnansweredError as error:
                raise UnservedError(
                    f"{tool.name} is not currently available: what provides {capability} here {error}."
                ) from None
        found[capability.value] = backend
    return replace(context, backends=FrozenDict(found))
