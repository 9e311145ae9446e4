"""V5, V9: a run notes models that go, and what their names stand for; two runs of one alias must agree on it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.evals.cli.test_estimates import MODEL, garden
from tests.servers.running import OpenAIServer
from tests.wording import mentions

__all__ = ["garden"]
GOES = ("gpt-4", "switched off on 2026-10-23")


def test_V9_a_model_that_is_gone_is_named_before_a_run_and_in_what_it_shows(
    garden: Path, toolbelt: Toolbelt, openai_server: OpenAIServer
) -> None:
    (garden / "toolbelt.yaml").write_text(json.dumps({"models": [{"name": MODEL, "base": "gpt-4"}]}))
    command = ("eval", "run", "-d", "garden", "-m", MODEL, "-t", "full", "--api-base", openai_server.url)
    planned = toolbelt(*command, "--dry-run", "--json")
    assert mentions(planned.err, "warning", MODEL, GOES[1])
    assert planned.json["model_facts"][MODEL]["deprecation_date"] == "2026-10-23"
    ran = toolbelt(*command)
    assert mentions(ran.err, "warning", MODEL, GOES[1])
    assert mentions(ran.out, MODEL, GOES[1])
    assert toolbelt("eval", "show", "--json").json["model_facts"] == planned.json["model_facts"]
    for asked in (
        ("model", "inspect", "gpt-4"),
        ("model", "fit", "-m", "gpt-4"),
        ("loadout", "inspect", "-m", "gpt-4"),
    ):
        assert mentions(toolbelt(*asked).err, *GOES)


@pytest.mark.usefixtures("garden")
def test_V5_two_runs_of_an_alias_that_stood_for_different_models_are_not_comparable(toolbelt: Toolbelt) -> None:
    for target in ("oak-1", "oak-2"):
        run = toolbelt("eval", "run", "-d", "garden", "-m", "local/bm25", "-t", "full", "--json").json["run"]
        with sqlite3.connect(".toolbelt/runs.db") as store:  # as a table with aliases would have it
            facts = json.dumps({"local/bm25": {"alias_of": target}})
            store.execute("UPDATE runs SET plan = json_set(plan, '$.model_facts', json(?)) WHERE run = ?", (facts, run))
        if target == "oak-1":
            assert toolbelt("eval", "baseline", "save", run, "-o", "base.json").code == 0
            old = run
    assert json.loads(Path("base.json").read_text())["aliases"] == {"local/bm25": "oak-1"}
    said = ("local/bm25 stands for oak-1", "oak-2")
    compared = toolbelt("eval", "compare", old, run)
    assert mentions(compared.out + compared.err, *said)
    gated = toolbelt("eval", "gate", "--baseline", "base.json", "--json")
    assert gated.json["verdict"] == "insufficient_data"
    assert mentions(json.dumps(gated.json), *said)
