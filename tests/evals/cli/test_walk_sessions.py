"""From a session of Claude Code and its `.mcp.json` to a run, with the commands of docs/imports.md alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.cli.terminal import Terminal
from tests.evals.cases.imports.samples import rows
from tests.servers.mcp_scripts import write_config, write_script

SESSION = Path(__file__).parents[1] / "cases" / "imports" / "traces" / "fixtures" / "claude_code.jsonl"


def test_a_session_and_its_servers_become_a_run(
    toolbelt: Toolbelt, tmp_path_factory: pytest.TempPathFactory, project: Path
) -> None:
    home = tmp_path_factory.mktemp("servers")
    github = write_script(home, "github", "create_issue", "search", "delete_milestone", "close_milestone")
    write_config(project / ".mcp.json", github=github, shop=write_script(home, "shop", "search"))
    shutil.copy(SESSION, project / "session.jsonl")

    early = toolbelt("dataset", "import", "session.jsonl", "-o", "mine")
    assert (early.code, "toolbelt catalog import .mcp.json" in early.err) == (2, True)

    assert toolbelt("init", "--yes").code == 0
    imported = toolbelt("dataset", "import", "session.jsonl", "-o", "mine", "--json")
    assert (imported.code, imported.json["cases"], imported.json["drafts"]) == (0, 5, 5)
    assert imported.json["redacted"].keys() == {"keys", "mail addresses", "phone numbers", "names of people"}

    review = Terminal("dataset", "review", "mine")
    for answer in ("a", "a", "a", "d", "a"):
        review.answer("[q]uit", answer)
    assert review.finish() == 0, review.seen
    assert [row.get("draft", False) for row in rows(project / "mine")] == [False] * 4

    assert toolbelt("dataset", "lint", "mine").code == 0
    ran = toolbelt("eval", "run", "--dataset", "mine", "--toolset", "full", "--model", "local/bm25", "--json")
    assert (ran.code, ran.json["scored"]) == (0, 4)
