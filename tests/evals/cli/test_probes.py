"""`toolbelt model probes`: which probe of several stands for a model, and what to do about the others."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.evals.cli.test_eval_run import RUN, office
from tests.servers.running import OpenAIServer
from tests.wording import mentions
from toolbelt.evals.probing.checks import CHECKS, ProbePlan
from toolbelt.evals.probing.probe_store import ProbeStore
from toolbelt.evals.probing.results import CheckOutcome, CheckResult
from toolbelt.evals.running.store import DEFAULT_FILE, RunStore
from toolbelt.sources import parse_yaml

__all__ = ["office"]
NOWHERE = ("--api-base", "http://127.0.0.1:1/v1")
PROBE = ("model", "probe", "--model")
COUNT = len(CHECKS)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-this-test-0123")


def test_a_probe_that_failed_later_hides_none_that_is_finished(
    toolbelt: Toolbelt, office: Path, openai_server: OpenAIServer
) -> None:
    name, at = "openai/able@probes-later", ("--api-base", openai_server.url)
    assert toolbelt(*PROBE, name, *at).code == 0
    assert toolbelt(*PROBE, name, *NOWHERE, "--max-retries", "0").code == 3
    works = f"{COUNT - 1} of {COUNT} work; not: cached_tokens"

    inspected = toolbelt("model", "inspect", name)
    assert works in inspected.out
    assert "tool calling" in inspected.out
    [later] = [line for line in inspected.out.splitlines() if line.startswith("a later probe at http://127.0.0.1:1/v1")]
    assert mentions(later, f"0 of {COUNT}")
    assert toolbelt("model", "inspect", name, "--json").json["probe"]["status"] == "finished"

    shown = toolbelt("model", "probes", name)
    assert shown.out.split()[2] == "finished"
    assert works in shown.out
    assert "a later probe at http://127.0.0.1:1/v1, " in shown.err
    assert mentions(shown.err, "toolbelt model probe --model", name, "--api-base")
    first, second = toolbelt("model", "probes", name, "--json").json["probes"]
    assert (first["status"], second["status"]) == ("finished", "incomplete")
    in_full = toolbelt("model", "probes", second["probe"])
    assert in_full.out.split()[1:3] == [second["probe"], "incomplete"]
    assert "a later probe" not in in_full.err


def test_a_probe_that_was_cut_short_is_mentioned_beside_the_evals(toolbelt: Toolbelt, office: Path) -> None:
    assert toolbelt(*RUN, "--toolset", "full", "--limit", "1").code == 0
    with RunStore(DEFAULT_FILE) as store:
        kept = ProbeStore(store)
        for status in ("finished", "interrupted"):
            probe = kept.create(ProbePlan("local/bm25"))
            asyncio.run(kept.add_check(probe, CheckResult(CHECKS[0].key, CheckOutcome.WORKS)))
            kept.set_status(probe, status)
            time.sleep(0.002)  # they are in order by the millisecond they were begun in
    lines = toolbelt("eval", "show").out.splitlines()
    assert [line.split(",")[0] for line in lines if line.startswith("probe of")] == ["probe of local/bm25"]
    [later] = [line for line in lines if line.startswith("local/bm25: a later probe, ")]
    assert mentions(later, "local/bm25", probe, "interrupted", f"1 of {COUNT}")
    [beside] = toolbelt("eval", "show", "--json").json["probes"]
    assert beside["status"] == "finished"


def test_L15_a_limit_is_pasted_only_if_the_api_named_it(toolbelt: Toolbelt, openai_server: OpenAIServer) -> None:
    name, at = "openai/able-most-tools-20@probes", ("--api-base", openai_server.url)
    [probe] = toolbelt(*PROBE, name, *at, "--check", "tools_16,tools_64", "--json").json["probes"]
    assert (probe["learned"]["max_tools"], probe["entry"]["max_tools"]) == (20, 20)
    shown = toolbelt("model", "probes", name).out
    assert mentions(shown, "20 tools", 64)
    assert parse_yaml(shown[shown.index("- name: ") :], "").data == [probe["entry"]]
    Path("toolbelt.yaml").write_text(f"models:\n{shown[shown.index('- name: ') :]}")
    assert "- name: " not in toolbelt("model", "probes", name).out, "nothing is news now"


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        pytest.param("able", "Did you mean 'openai/able'?", id="without-its-provider"),
        pytest.param("Abel", "Did you mean 'openai/able'?", id="misspelled-and-without-its-provider"),
        pytest.param("openai/abel", "Did you mean 'openai/able' or ", id="misspelled"),
        pytest.param("llama3", "Did you mean 'openrouter/meta/llama3'?", id="behind-two-parts"),
        pytest.param("zzz", "toolbelt model probe --model zzz", id="near-to-none"),
    ],
)
def test_a_model_that_was_not_probed_is_answered_with_the_nearest(
    toolbelt: Toolbelt, asked: str, named: object
) -> None:
    with RunStore(DEFAULT_FILE) as store:
        for name in ("openai/able", "openrouter/meta/llama3", *(f"openai/other-{number}" for number in range(16))):
            ProbeStore(store).create(ProbePlan(name))
    ran = toolbelt("model", "probes", asked)
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, named)
    assert ran.err.count("Did you mean") <= 1
