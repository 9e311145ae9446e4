"""`toolbelt serve --agent`: what is refused before anything starts (rules M5, E9)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.mcp.gateways import write_project


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--agent", "helpr"], "Did you mean 'helper'?"),
        (["--agent", "helper", "all"], "without a LOADOUT"),
        (["--agent", "helper", "--session", " "], "--session may not be blank"),
        (["--agent", "helper", "--session", "one", "--http", "127.0.0.1:0"], "without --http"),
        (["all", "--session", "one"], "--session goes with --agent"),
        (["--agent", "idle"], "Agent 'idle' serves nothing"),
        ([], "LOADOUT"),
    ],
    ids=["unknown", "with-loadout", "blank-session", "session-over-http", "session-alone", "no-tools", "nothing"],
)
def test_M5_a_wrong_agent_is_refused(
    toolbelt: Toolbelt, project: Path, arguments: list[str], part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLBELT_STATE_DIR", str(project / "state"))
    write_project(project, agents={"helper": {"tools": ["small"]}, "idle": {"tools": []}})
    ran = toolbelt("serve", "--yes", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert part in ran.err
