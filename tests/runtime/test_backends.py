"""Backends for one call (rule R6)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from toolbelt.runtime.backends import UnservedError, serve
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool


def served(backends: Mapping[str, Any], *capabilities: str, **context: Any) -> ToolContext:
    tool = ExecutableTool.of(lambda: None, name="t", capabilities=capabilities)
    return asyncio.run(serve(tool, ToolContext(**context), ("picture",), backends, 0.05))


async def _give_async(tool: ExecutableTool, context: ToolContext) -> tuple[str, str | None]:
    return tool.name, context.session_id


def test_R6_a_value_is_given_as_it_is_and_a_function_is_asked_for_each_call() -> None:
    backends = {
        "network": _give_async,
        "process": lambda tool, context: [tool.name, context.agent],
        "storage": {"root": "/"},
        "secrets": "not declared",
    }
    context = served(backends, "network", "process", "storage", session_id="s", agent="a")
    assert context.backends == {"network": ("t", "s"), "process": ["t", "a"], "storage": {"root": "/"}}
    assert (context.session_id, context.agent, context.attachments) == ("s", "a", ())


def test_R6_attachments_are_for_those_who_declare_them() -> None:
    assert served({"attachments": True}, "attachments").attachments == ("picture",)


def test_R6_what_is_given_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        served({"storage": "disk"}, "storage").backends["network"] = "all"  # type: ignore[index]


def _raise(tool: ExecutableTool, context: ToolContext) -> None:
    raise ConnectionError("no route")


def _exit(tool: ExecutableTool, context: ToolContext) -> None:
    raise SystemExit(1)


async def _hang(tool: ExecutableTool, context: ToolContext) -> None:
    await asyncio.sleep(60)


@pytest.mark.parametrize(
    ("backend", "said"),
    [
        pytest.param(_raise, "raised ConnectionError: no route", id="raises"),
        pytest.param(_exit, "raised SystemExit: 1", id="exits"),
        pytest.param(_hang, "did not answer within 0.05 s", id="hangs"),
        pytest.param(lambda tool, context: time.sleep(60), "did not answer within 0.05 s", id="blocks"),
    ],
)
def test_R6_a_backend_that_cannot_be_had_makes_the_tool_unavailable(backend: Callable[..., Any], said: str) -> None:
    with pytest.raises(UnservedError) as caught:
        served({"network": backend}, "network")
    assert str(caught.value) == f"t is not currently available: what provides network here {said}."
