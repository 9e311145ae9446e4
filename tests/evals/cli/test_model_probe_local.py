"""`toolbelt model probe` and `probes` where nobody is asked over a network: scripts, stores, what is left behind."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toolbelt
from tests.wording import mentions
from toolbelt.catalog.tokens import EstimateCounter
from toolbelt.evals.conversation import Reply
from toolbelt.evals.probing.check_scripts import make_scripts
from toolbelt.evals.probing.checks import CHECKS, FIRST, ProbePlan
from toolbelt.evals.probing.probe_store import ProbeStore
from toolbelt.evals.probing.probe_tools import ProbeTools
from toolbelt.evals.probing.results import CheckOutcome, CheckResult
from toolbelt.evals.probing.script import CheckRequest
from toolbelt.evals.running import schema as schema_module
from toolbelt.evals.running.store import RunStore

PROBE = ("model", "probe", "--model")
KEYS = [check.key for check in CHECKS]
STORE = Path(".toolbelt") / "runs.db"
FEW = ("--check", "unicode,empty_parameters")


def outcomes(probe: dict[str, Any]) -> dict[str, str]:
    return {check["key"]: check["outcome"] for check in probe["checks"]}


def test_fresh_begins_anew(toolbelt: Toolbelt) -> None:
    capped = (*PROBE, "local/bm25", "--max-requests", "2")
    assert [toolbelt(*capped).code, toolbelt(*capped, "--fresh").code] == [3, 3]
    shown = toolbelt("model", "probes", "local/bm25")
    assert "1 other probe of it" in shown.err
    others = [line for line in shown.out.splitlines() if line.endswith(" of 19")]
    assert len(others) == 1
    older = toolbelt("model", "probes", others[0].split()[0], "--json").json["probes"]
    assert [one["probe"] for one in older] == [others[0].split()[0]], "one is also found by its id"
    latest = toolbelt("model", "probes", "latest", "--json").json["probes"]
    assert latest[0]["probe"] in shown.out.splitlines()[0]
    ambiguous = toolbelt("model", "probes", "2")
    assert (ambiguous.code, "2 probes begin with '2'" in ambiguous.err) == (2, True)


def test_E8_a_probe_that_was_killed_is_told_so_and_gone_on_with(toolbelt: Toolbelt) -> None:
    with RunStore(STORE) as store:
        kept = ProbeStore(store)
        begun = kept.create(ProbePlan("local/bm25"))  # and nobody works on it: what a kill leaves behind
        asyncio.run(kept.add_check(begun, CheckResult(FIRST, CheckOutcome.WORKS, "It called it.", requests=1)))
    shown = toolbelt("model", "probes", "local/bm25")
    assert f"probe {begun}  killed" in shown.out
    assert mentions(shown.err, "toolbelt model probe --model", "local/bm25")
    ran = toolbelt(*PROBE, "local/bm25", "--json")
    assert mentions(ran.err, begun, "local/bm25", "18 checks")
    assert (ran.code, ran.json["probes"][0]["probe"], ran.json["probes"][0]["status"]) == (0, begun, "finished")


def test_a_model_without_a_key_is_refused_before_any_other_is_asked(
    toolbelt: Toolbelt, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    ran = toolbelt(*PROBE, "local/bm25", "-m", "anthropic/claude-3-5-haiku-20241022", *FEW)
    assert (ran.code, ran.out) == (2, "")
    assert "ANTHROPIC_API_KEY" in ran.err
    assert list(project.iterdir()) == []


def test_a_script_that_says_the_right_things_passes_the_whole_suite(toolbelt: Toolbelt, project: Path) -> None:
    (project / "model.json").write_text(json.dumps(_script()))
    ran = toolbelt(*PROBE, "scripted/model.json", "--json")
    assert ran.code == 0, ran.err
    [probe] = ran.json["probes"]
    assert set(outcomes(probe).values()) == {"works"}
    assert (probe["works"], probe["learned"]["caching"]) == (len(KEYS), True)
    assert toolbelt(*PROBE, "scripted/model.json", "--fresh", "--require", ",".join(KEYS)).code == 0


def _script() -> list[dict[str, Any]]:
    """What a model would say that does everything as it is asked, by the last words of each check's user."""
    entries = []
    for key, script in make_scripts(ProbeTools(EstimateCounter())).items():
        for number in range(len(script.ideal_replies)):
            asked = script.next_step(script.ideal_replies[:number])
            assert isinstance(asked, CheckRequest)
            if asked.messages[-1]["role"] == "user":
                replies = [_written(reply, key) for reply in script.ideal_replies[number:]]
                entries.append({"when": asked.messages[-1]["content"], "replies": replies})
    return sorted(entries, key=lambda entry: -len(entry["when"]))  # the first that fits is taken


def _written(reply: Reply, key: str) -> dict[str, Any]:
    usage = {"prompt_tokens": 5000, "completion_tokens": 5, "cached_read_tokens": 4000 * (key == "cached_tokens")}
    calls = [{"tool": call.name, "args": call.arguments} for call in reply.calls]
    return {"text": reply.text, "calls": calls, "usage": usage}


def test_two_processes_do_not_probe_one_model_at_one_place(toolbelt: Toolbelt) -> None:
    with RunStore(STORE) as store:
        kept = ProbeStore(store)
        with kept.locks.claim(kept.place_key(ProbePlan("local/bm25"))):
            refused = toolbelt(*PROBE, "local/bm25")
    assert (refused.code, refused.out) == (2, "")
    assert "another process" in refused.err
    assert toolbelt(*PROBE, "local/bm25", *FEW).code == 0


def test_nothing_probed_is_no_error(toolbelt: Toolbelt, project: Path) -> None:
    ran = toolbelt("model", "probes")
    assert (ran.code, ran.out) == (0, "")
    assert mentions(ran.err, "toolbelt model probe")
    assert toolbelt("model", "probes", "--json").json == {"probes": []}
    assert list(project.iterdir()) == []


def test_every_flag_has_its_twin_in_the_environment(toolbelt: Toolbelt, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "MODEL": "local/bm25",
        "PROBE_CHECK": "unicode, long_name",
        "REQUIRE": "parallel_calls,long_name",
        "STORE": "elsewhere.db",
        "MAX_REQUESTS": "1000",
        "JSON": "1",
    }.items():
        monkeypatch.setenv(f"TOOLBELT_{name}", value)
    ran = toolbelt("model", "probe")
    assert (ran.code, Path("elsewhere.db").exists()) == (1, True)
    assert set(outcomes(ran.json["probes"][0])) == {FIRST, "unicode", "long_name", "parallel_calls"}


@pytest.mark.parametrize("kind", ["text", "others-tables", "newer", "folder"])
def test_a_store_that_is_none_is_refused(toolbelt: Toolbelt, project: Path, kind: str) -> None:
    _spoil(project / STORE, kind)
    for arguments in ((*PROBE, "local/bm25"), ("model", "probes")):
        ran = toolbelt(*arguments)
        assert (ran.code, ran.out) == (2, ""), ran.err
        assert "runs.db" in ran.err
    inspected = toolbelt("model", "inspect", "gpt-4o", "--json")
    assert (inspected.code, inspected.json["probe"], inspected.json["name"]) == (0, None, "gpt-4o")
    assert "warning: no probes are shown: " in inspected.err
    assert [path.name for path in project.iterdir()] == [".toolbelt"]


def _spoil(path: Path, kind: str) -> None:
    path.parent.mkdir()
    if kind == "folder":
        path.mkdir()
    elif kind == "text":
        path.write_text("This is a letter, and no database at all. " * 99)
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE songs (title TEXT)")
            connection.execute(f"PRAGMA user_version={999 if kind == 'newer' else 0}")
        connection.close()


def test_a_store_that_another_program_holds_is_told(
    toolbelt: Toolbelt, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert toolbelt(*PROBE, "local/bm25", *FEW).code == 0
    monkeypatch.setattr(schema_module, "_BUSY_SECONDS", 0.05)
    holder = sqlite3.connect(project / STORE, isolation_level=None)
    try:
        holder.execute("PRAGMA journal_mode=DELETE")
        holder.execute("BEGIN EXCLUSIVE")
        refused = toolbelt(*PROBE, "local/bm25", *FEW)
        assert (refused.code, "database is locked" in refused.err) == (3, True)
        inspected = toolbelt("model", "inspect", "local/bm25", "--json")
        assert (inspected.code, inspected.json["probe"]) == (0, None)
        assert "database is locked" in inspected.err
    finally:
        holder.close()
