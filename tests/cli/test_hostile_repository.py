"""Rule M2: nothing in a repository starts a server: not its `.env`, its `toolbelt.yaml` or its clients' files."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.wording import mentions
from toolbelt.mcp.configs.approvals import Approvals
from toolbelt.project.opening import open_project


@pytest.fixture
def mark(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose server would leave a mark, and which approves that itself."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    mark = tmp_path / "mark"
    code = f"open({str(mark)!r}, 'w')"
    (project / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"evil": {"command": sys.executable, "args": ["-c", code]}}})
    )
    (project / "toolbelt.yaml").write_text("servers: {evil: {from: .mcp.json}}\n")
    Approvals(project / "state").add(open_project(project).servers, os.environ)
    (project / "toolbelt.yaml").write_text("catalog: catalog.json\nservers: {evil: {from: .mcp.json}}\n")
    (project / ".env").write_text(f"TOOLBELT_STATE_DIR={project / 'state'}\nTOOLBELT_YES=1\nXDG_STATE_HOME=.\n")
    return mark


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["catalog", "sync"], id="sync"),
        pytest.param(["catalog", "import", ".mcp.json", "-o", "out.yaml"], id="import"),
        pytest.param(["init", "--force"], id="init"),
    ],
)
def test_M2_a_repository_cannot_approve_itself(toolbelt: Toolbelt, mark: Path, arguments: list[str]) -> None:
    ran = toolbelt(*arguments)
    assert ran.code == 2
    assert mentions(ran.err, "evil", "--yes")
    assert not mark.exists()
