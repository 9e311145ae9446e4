"""Probes of models over a real server, in real processes."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.evals.probing.able_model import ServedModel, settings
from tests.servers.running import (
    ROOT,
    OpenAIServer,
    openai_server,  # noqa: F401
)
from toolbelt.evals.models.opening import ModelOptions, open_model
from toolbelt.evals.probing.checks import EVERY, FIRST, MAX_TOKENS, ProbePlan
from toolbelt.evals.probing.learned_facts import learned_facts
from toolbelt.evals.probing.probe_store import ProbeStore
from toolbelt.evals.probing.results import CheckOutcome, ProbeResult
from toolbelt.evals.probing.runner import run_probe
from toolbelt.evals.running.client import RetryPolicy
from toolbelt.evals.running.store import RunStore

WORKS, UNKNOWN, UNSEEN = CheckOutcome.WORKS, CheckOutcome.UNKNOWN, CheckOutcome.TOOLS_NOT_SEEN
PATIENT = RetryPolicy(5, base_seconds=0.01)
ALL_BUT_CACHED = dict.fromkeys(EVERY, WORKS) | {"cached_tokens": CheckOutcome.FAILS}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


def outcomes(result: ProbeResult) -> dict[str, CheckOutcome]:
    return {one.key: one.outcome for one in result.checks}


_PROBE = """
import sys
from pathlib import Path
from tests.evals.probing.able_model import ServedModel, settings
from toolbelt.evals.probing.checks import ProbePlan
from toolbelt.evals.probing.runner import run_probe
from toolbelt.evals.running.store import RunStore
path, row, url = sys.argv[1:]
with RunStore(Path(path)) as store:
    model = ServedModel(url, row)
    run_probe(store, ProbePlan(model.name, url), model, settings(max_concurrency=2))
"""


@pytest.mark.parametrize(
    ("sent", "status"), [(signal.SIGKILL, "killed"), (signal.SIGINT, "interrupted")], ids=["kill", "ctrl-c"]
)
def test_E8_a_killed_probe_goes_on_and_asks_again_only_what_was_under_way(
    path: Path,
    openai_server: OpenAIServer,  # noqa: F811
    sent: signal.Signals,
    status: str,
) -> None:
    row = f"able-slow-60@{status}"
    command = [sys.executable, "-c", _PROBE, str(path), row, openai_server.url]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    patience = time.monotonic() + 60
    while openai_server.count(row) < 8 and time.monotonic() < patience:
        time.sleep(0.02)
    process.send_signal(sent)
    process.wait(timeout=60)
    with RunStore(path) as store:
        kept = ProbeStore(store).get("latest")
        assert kept.status == status
        assert 4 <= len(kept.checks) < len(EVERY)
        before = openai_server.count(row)
        model = ServedModel(openai_server.url, row)
        result = run_probe(store, ProbePlan(model.name, openai_server.url), model, settings())
    expected = ALL_BUT_CACHED | {"cached_tokens": CheckOutcome.PARTLY}
    assert (result.probe, result.status, outcomes(result)) == (kept.probe, "finished", expected)
    in_all = openai_server.count(row)
    assert before < in_all <= 22 + 2, "two were under way"
    texts = Counter(request["raw"] for request in openai_server.requests(row))
    assert sum(texts.values()) - len(texts) <= 2


@pytest.mark.parametrize(
    ("row", "expected", "shown"),
    [
        (
            "able-cached",
            {"cached_tokens": WORKS},
            {"tool_calling": True, "parallel_calls": True, "tool_choice": True, "caching": True},
        ),
        (
            "able-refuses-choice",
            dict.fromkeys(("choice_none", "choice_required", "choice_named"), CheckOutcome.REFUSED),
            {"tool_calling": True, "parallel_calls": True, "tool_choice": False},
        ),
        (
            "able-no-choice",
            dict.fromkeys(("choice_none", "choice_required", "choice_named"), CheckOutcome.FAILS),
            {"tool_calling": True, "parallel_calls": True},
        ),
        (
            "able-most-tools-128",
            {"tools_256": CheckOutcome.REFUSED},
            {"tool_calling": True, "parallel_calls": True, "tool_choice": True, "max_tools": 128},
        ),
        (
            "able-window-8192",
            dict.fromkeys(("tools_128", "tools_256"), CheckOutcome.TOO_LARGE),
            {"context_window": 8192, "tool_calling": True, "parallel_calls": True, "tool_choice": True},
        ),
        (
            "able-no-tools",
            dict.fromkeys(EVERY, CheckOutcome.SKIPPED) | {FIRST: CheckOutcome.REFUSED},
            {"tool_calling": False},
        ),
        (
            "able-breaks-at-tools",
            dict.fromkeys(EVERY, CheckOutcome.SKIPPED) | {FIRST: CheckOutcome.REFUSED},
            {"tool_calling": False},
        ),
        ("able-after-errors-2", {}, {"tool_calling": True, "parallel_calls": True, "tool_choice": True}),
        ("able-limited-5", {}, {"tool_calling": True, "parallel_calls": True, "tool_choice": True}),
        ("blind", {FIRST: UNSEEN}, {}),
        ("blind-repeats", {FIRST: UNSEEN}, {}),
        ("unparsed", {FIRST: UNKNOWN}, {}),
        (
            "able-cut-3000",
            ALL_BUT_CACHED | {"tools_64": CheckOutcome.FAILS, "tools_128": UNSEEN, "tools_256": UNSEEN},
            {"tool_calling": True, "parallel_calls": True, "tool_choice": True},
        ),
        ("empty-after-0", {FIRST: UNKNOWN}, {}),
        ("rubbish", {FIRST: UNKNOWN}, {}),
        ("bad-request", {FIRST: UNKNOWN}, {}),
        ("unauthorized", None, {}),
        ("missing", None, {}),
    ],
)
def test_what_each_server_is_found_to_be(
    path: Path,
    openai_server: OpenAIServer,  # noqa: F811
    row: str,
    expected: dict[str, CheckOutcome] | None,
    shown: dict[str, object],
) -> None:
    name = f"openai/{row}@probed"
    with RunStore(path) as store:
        model = open_model(name, ModelOptions(openai_server.url))
        result = run_probe(store, ProbePlan(name, openai_server.url), model, settings(policy=PATIENT))
    is_whole = expected is not None and not any(one.is_open for one in expected.values())
    assert outcomes(result) == (ALL_BUT_CACHED | (expected or {}) if is_whole else expected or {})
    assert result.status == ("finished" if is_whole else "incomplete")
    assert bool(result.reason) != is_whole
    assert learned_facts(result) == shown


def test_E4_a_server_that_sees_no_tools_is_found_out_first_and_probed_once_it_does(
    path: Path,
    openai_server: OpenAIServer,  # noqa: F811
) -> None:
    row = "blind-until-2@probed"
    with RunStore(path) as store:

        def run() -> ProbeResult:
            model = open_model(f"openai/{row}", ModelOptions(openai_server.url))
            return run_probe(store, ProbePlan(f"openai/{row}", openai_server.url), model, settings())

        blind = run()
        assert (outcomes(blind), blind.status) == ({FIRST: UNSEEN}, "incomplete")
        assert "num_ctx" in blind.reason
        assert "--jinja" in blind.reason
        assert openai_server.count(row) == 2
        seeing = run()
    assert (seeing.probe, seeing.status, outcomes(seeing)) == (blind.probe, "finished", ALL_BUT_CACHED)


def test_a_model_that_rambles_is_stopped_by_a_limit_of_tokens(
    path: Path,
    openai_server: OpenAIServer,  # noqa: F811
) -> None:
    row = "ramble-200000@probed"
    model = open_model(f"openai/{row}", ModelOptions(openai_server.url))
    with RunStore(path) as store:
        result = run_probe(store, ProbePlan(f"openai/{row}", openai_server.url), model, settings())
    assert result.status == "finished"
    assert {one.outcome for one in result.checks if one.key != "choice_none"} == {CheckOutcome.FAILS}
    assert {request["body"]["max_tokens"] for request in openai_server.requests(row)} == {MAX_TOKENS}
    assert "--max-tokens" in result.checks[0].said


def test_local_bm25_and_a_script_go_through_it(path: Path, tmp_path: Path) -> None:
    local = open_model("local/bm25")
    with RunStore(path) as store:
        result = run_probe(store, ProbePlan("local/bm25"), local, settings())
        assert result.status == "finished"
        assert result.outcome(FIRST) is result.outcome("tools_256") is result.outcome("choice_named") is WORKS
        assert sum(one.cost_usd or 0.0 for one in result.checks) == 0.0
        script = tmp_path / "model.yaml"
        script.write_text("- when: Oslo\n  replies:\n  - calls: [{tool: get_weather, args: {city: Oslo}}]\n")
        scripted = run_probe(store, ProbePlan(f"scripted/{script}"), open_model(f"scripted/{script}"), settings())
    assert (scripted.status, scripted.outcome(FIRST)) == ("finished", WORKS)
    assert scripted.outcome("long_name") is CheckOutcome.FAILS
