"""`toolbelt model probe` and `probes`: what of tool calling works with a model, kept and shown beside its evals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.cli.conftest import Toolbelt
from tests.evals.cli.test_eval_run import RUN, office
from tests.servers.running import OpenAIServer
from tests.wording import mentions
from toolbelt.evals.exports.schemas import read_schema
from toolbelt.evals.probing.checks import CHECKS, FIRST, MAX_TOKENS
from toolbelt.sources import parse_yaml

__all__ = ["office"]
PROBE = ("model", "probe", "--model")
KEYS = [check.key for check in CHECKS]
STORE = Path(".toolbelt") / "runs.db"
FEW = ("--check", "unicode,empty_parameters")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-this-test-0123")


@pytest.fixture
def at(openai_server: OpenAIServer) -> tuple[str, str]:
    """Where the loopback server is."""
    return "--api-base", openai_server.url


def outcomes(probe: dict[str, Any]) -> dict[str, str]:
    return {check["key"]: check["outcome"] for check in probe["checks"]}


def test_E4_a_server_that_does_not_see_tools_is_the_first_result_and_no_failed_check(
    toolbelt: Toolbelt, openai_server: OpenAIServer, at: tuple[str, str]
) -> None:
    ran = toolbelt(*PROBE, "openai/blind@probecli", *at, "--require", "one_tool", "--max-tokens", "99", "--json")
    assert ran.code == 3, "an infrastructure that fails never exits 1"
    [probe] = ran.json["probes"]
    assert (outcomes(probe), probe["status"]) == ({"one_tool": "tools_not_seen"}, "incomplete")
    assert (probe["learned"], probe["requests"]) == ({}, 2)
    assert {request["body"]["max_tokens"] for request in openai_server.requests("blind@probecli")} == {99}
    assert "--jinja" in ran.err
    assert "--max-tokens 99" in ran.err
    assert [error.message for error in Draft202012Validator(read_schema("probe")).iter_errors(probe)] == []
    again = toolbelt("model", "probes", "openai/blind@probecli")
    assert "tools not seen" in again.out


def test_the_limit_of_an_answer_can_be_left_to_the_provider(
    toolbelt: Toolbelt, openai_server: OpenAIServer, at: tuple[str, str]
) -> None:
    asked = (*PROBE, "openai/able@probecli-max", *at, "--check", "unicode", "--json")
    assert toolbelt(*asked, "--max-tokens", "0").code == toolbelt(*asked).code == 0
    bodies = [request["body"] for request in openai_server.requests("able@probecli-max")]
    assert [body.get("max_tokens") for body in bodies] == [None, None, MAX_TOKENS, MAX_TOKENS]


def test_a_model_that_can_does(toolbelt: Toolbelt, openai_server: OpenAIServer, at: tuple[str, str]) -> None:
    ran = toolbelt(*PROBE, "openai/able@probecli-1", *at, "--json")
    assert ran.code == 0, ran.err
    [probe] = ran.json["probes"]
    assert probe["status"] == "finished"
    assert (probe["model"], probe["api_base"], probe["planned"]) == ("openai/able@probecli-1", openai_server.url, KEYS)
    assert [one["key"] for one in probe["checks"]] == KEYS
    assert {key for key, outcome in outcomes(probe).items() if outcome != "works"} == {"cached_tokens"}
    assert probe["learned"] == {"tool_calling": True, "parallel_calls": True, "tool_choice": True}
    assert 20 <= openai_server.count("able@probecli-1") == probe["requests"] <= 30
    assert parse_yaml(probe["yaml"], "").data == [probe["entry"]]
    schema = Draft202012Validator(read_schema("probe"))
    assert [error.message for error in schema.iter_errors(probe)] == []
    assert not schema.is_valid(probe | {"news": [{"fact": "max_tools"}]})
    stored = toolbelt("model", "probes", "openai/able@probecli-1", "--json").json["probes"]
    assert stored == [{key: probe[key] for key in stored[0]}]


def test_what_it_takes_is_said_before_and_what_was_seen_after(toolbelt: Toolbelt) -> None:
    ran = toolbelt(*PROBE, "local/bm25")
    assert ran.code == 0
    first, *_ = ran.err.splitlines()
    assert first.startswith("estimate: local/bm25: about 22 requests, ")
    assert first.endswith(": $0")
    lines = ran.out.splitlines()
    assert lines[1].startswith("local/bm25, 20")
    assert lines[3].split() == ["check", "outcome", "tokens", "time", "what", "was", "seen"]
    assert len(lines[4 : lines.index("", 4)]) == len(KEYS)
    assert any(" of 19 work; not: " in line and line.endswith("cached_tokens") for line in lines)
    assert "cached tokens are not reported; " in ran.out
    assert "\x1b" not in ran.out


def test_several_models_come_one_after_the_other_and_then_side_by_side(
    toolbelt: Toolbelt, at: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    models = ("openai/able-serial@p2", "-m", "local/bm25", "-m", "local/bm25")
    ran = toolbelt(*PROBE, *models, *at, "--check", "parallel_calls")
    assert ran.code == 0
    assert mentions(ran.err, "4 requests")
    assert ran.out.count("what was seen") == 2
    matrix = ran.out[ran.out.rindex("check ") :].splitlines()
    assert matrix[0].split() == ["check", "openai/able-serial@p2", "local/bm25"]
    assert matrix[3].split() == ["Parallel", "calls", "~", "partly", "✗", "fails"]
    monkeypatch.setenv("COLUMNS", "40")
    narrow = toolbelt("model", "probes")
    assert (narrow.code, narrow.err) == (0, "")
    assert max(map(len, narrow.out.splitlines())) <= 40
    assert narrow.out.count("works  ") == 2, "a table each"


def test_dry_run_needs_no_key_loads_no_client_and_keeps_nothing(project: Path) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "toolbelt", *PROBE, "gpt-4o", "-m", "local/bm25", "--dry-run"]
    bare = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, env=bare, timeout=60)
    assert done.returncode == 0, done.stderr
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert not loaded & {"litellm", "openai", "aiohttp", "pandas", "numpy", "matplotlib"}
    data = json.loads(done.stdout)
    assert data["dry_run"] is True
    assert 40 <= data["requests"] == sum(one["requests"] for one in data["models"]) <= 60
    hosted, local = data["models"]
    assert (hosted["model"], hosted["checks"], hosted["goes_on_with"]) == ("gpt-4o", KEYS, None)
    dollars = hosted["prompt_tokens"] * 2.5e-6 + hosted["completion_tokens"] * 10e-6
    assert data["cost_usd"] == hosted["cost_usd"] == pytest.approx(dollars)
    assert local["cost_usd"] == 0
    assert list(project.iterdir()) == []


def test_dry_run_as_a_table(toolbelt: Toolbelt) -> None:
    ran = toolbelt(*PROBE, "mine/unpriced", "-m", "gpt-4o-mini", "--dry-run", *FEW)
    assert (ran.code, ran.err) == (0, "")
    rows = [line.split() for line in ran.out.splitlines()[:3]]
    assert rows[1][:3] == ["mine/unpriced", "3", "3"]
    assert rows[1][-2:] == ["price", "unknown"]
    assert rows[2][-1].startswith("$0.00")
    assert "About 6 requests, " in ran.out
    assert "price unknown\n" in ran.out
    assert "Nothing was asked." in ran.out
    assert "take" not in ran.out.splitlines()[-2], "of few checks that goes without saying"
    whole = toolbelt(*PROBE, "gpt-4o-mini", "-m", "local/bm25", "--dry-run").out
    by_check = toolbelt(*PROBE, "gpt-4o-mini", "--dry-run", "--json").json["models"][0]["prompt_tokens_by_check"]
    most = 2 * sum(by_check[key] for key in ("tools_256", "cached_tokens", "tools_128"))
    assert mentions(whole, "tools_256", "cached_tokens", "tools_128", f"{most:,}", "--check")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param((*PROBE, "local/bm25", "--check", "paralel_calls"), "Did you mean 'parallel_calls'", id="check"),
        pytest.param((*PROBE, "local/bm25", "--check", "nosuch"), "Known: one_tool, parallel_calls, ", id="far-check"),
        pytest.param((*PROBE, "openai/", "--dry-run"), ("'openai/'", "provider"), id="provider-alone"),
        pytest.param((*PROBE, "local/bm25", "-m", "groq/ "), "'groq/' names no model", id="one-of-two-is-none"),
        pytest.param((*PROBE, "local/bm25", "--check", ","), "No check named ''", id="no-check-rather-than-all"),
        pytest.param((*PROBE, "local/bm25", "--require", "one-tool"), "Did you mean 'one_tool'", id="required-check"),
        pytest.param((*PROBE, "gpt-4oo", "--dry-run"), "Did you mean 'gpt-4o'", id="model"),
        pytest.param((*PROBE, " "), "A model needs a name", id="blank-model"),
        pytest.param((*PROBE, "scripted/none.yaml"), "none.yaml", id="script-that-is-not-there"),
        pytest.param((*PROBE, "local/bm26"), "local/bm25", id="local-model"),
        pytest.param((*PROBE, "local/bm25", "--tokenizer", "cl100k"), "Did you mean 'cl100k_base'", id="tokenizer"),
        pytest.param((*PROBE, "local/bm25", "--config", "none.yaml"), "none.yaml", id="config"),
        pytest.param((*PROBE, "m\udcff"), "is not UTF-8", id="name-that-is-no-text"),
        pytest.param(("model", "probe"), "Missing option '--model'", id="no-model"),
        pytest.param((*PROBE, "gpt-4o", "--max-cost", "0.001"), "more than --max-cost 0.001", id="too-dear"),
        pytest.param((*PROBE, "openai/nobody-knows", "--max-cost", "9"), "price of openai/nobody-knows", id="unpriced"),
        pytest.param(
            ("model", "probes", "--store", "none.db"),
            ("none.db", "toolbelt model probe"),
            id="store-that-is-not-there",
        ),
        pytest.param(
            ("model", "probes", "gpt-4o"),
            "toolbelt model probe --model gpt-4o",
            id="model-without-probes",
        ),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_asked_or_kept(
    toolbelt: Toolbelt, project: Path, arguments: tuple[str, ...], named: object
) -> None:
    ran = toolbelt(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, named)
    assert list(project.iterdir()) == []


@pytest.mark.parametrize(
    ("model", "required", "code"),
    [
        pytest.param("able", "parallel_calls,unicode", 0, id="works"),
        pytest.param("able-serial", "parallel_calls", 1, id="in-another-way-is-not-what-was-required"),
        pytest.param("able-most-tools-100", "tools_64", 0, id="another-does-not-work"),
        pytest.param("able-most-tools-100", "tools_128", 1, id="refused"),
        pytest.param("able-no-tools", "parallel_calls", 1, id="skipped-as-no-tool-is-taken"),
        pytest.param("able-until-1", "unicode", 3, id="no-answer-is-no-failure-of-the-model"),
        pytest.param("unauthorized", "one_tool", 3, id="wrong-key"),
    ],
)
def test_E9_what_is_required_has_to_work(
    toolbelt: Toolbelt, at: tuple[str, str], model: str, required: str, code: int
) -> None:
    name = f"openai/{model}@probecli-require-{code}"
    ran = toolbelt(*PROBE, name, *at, "--check", FIRST, "--require", required, "--max-retries", "0", "--fresh")
    assert ran.code == code, ran.err
    assert ("is required and " in ran.err) is (code == 1)
    assert ("not probed to the end" in ran.err) is (code == 3)


def test_E9_a_cap_ends_it_with_3_and_the_same_command_goes_on(
    toolbelt: Toolbelt, openai_server: OpenAIServer, at: tuple[str, str]
) -> None:
    command = (*PROBE, "openai/able@probecli-cap", "--model", "openai/able@probecli-cap-2", *at)
    capped = toolbelt(*command, "--max-requests", "10")
    assert capped.code == 3
    assert mentions(capped.err, "openai/able@probecli-cap-2", "10 requests")
    assert f"what is left: toolbelt {' '.join(command)}\n" in capped.err
    assert mentions(capped.out, "incomplete", "10 requests")
    assert openai_server.count("able@probecli-cap") == 10
    shown = toolbelt("model", "probes", "openai/able@probecli-cap")
    assert mentions(shown.err, " ".join(("toolbelt", *command[:4], *at)))
    left = toolbelt(*command, "--dry-run", "--json").json["models"]
    assert left[0]["goes_on_with"] is not None
    assert left[0]["requests"] < 22 == left[1]["requests"]
    done = toolbelt(*command)
    assert done.code == 0
    assert "going on with probe " in done.err
    assert openai_server.count("able@probecli-cap") == 22, "what was answered is not asked again"
    assert len(toolbelt("model", "probes", "openai/able@probecli-cap", "--json").json["probes"]) == 1


def test_E8_a_probe_that_is_interrupted_goes_on_with_the_command_it_names(
    toolbelt: Toolbelt, openai_server: OpenAIServer, at: tuple[str, str]
) -> None:
    name = "able-slow-60@probecli-interrupted"
    threading.Thread(target=_interrupt_after, args=(openai_server, name), daemon=True).start()
    ran = toolbelt(*PROBE, f"openai/{name}", *at)
    assert ran.code == 130
    command = " ".join(("toolbelt", *PROBE, f"openai/{name}", *at))
    assert mentions(ran.err, f"openai/{name}", command)
    assert 4 <= openai_server.count(name) < 22
    [kept] = toolbelt("model", "probes", "--json").json["probes"]
    assert kept["status"] == "interrupted"
    assert 0 < len(kept["checks"]) < len(KEYS)
    again = toolbelt(*PROBE, f"openai/{name}", *at, "--json")
    assert again.code == 0
    assert again.json["probes"][0]["probe"] == kept["probe"]
    assert openai_server.count(name) <= 22 + 4, "at most what was under way was asked again"


def test_a_provider_that_is_not_there_is_told_at_once(toolbelt: Toolbelt) -> None:
    nowhere = ("--api-base", "http://127.0.0.1:9/v1")
    ran = toolbelt(*PROBE, "openai/able@probecli-nowhere", *nowhere, "--max-retries", "1", *FEW)
    assert ran.code == 3
    [waiting] = [line for line in ran.err.splitlines() if line.startswith("waiting: ")]
    assert waiting.startswith("waiting: unavailable: ")
    assert mentions(waiting, "1 s")
    assert ran.err.index(waiting) < ran.err.index("not probed to the end")
    assert mentions(ran.out, "3 requests", "1 retry")


def _wait_for(server: OpenAIServer, name: str) -> None:
    deadline = time.monotonic() + 60
    while server.count(name) < 8:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _interrupt_after(server: OpenAIServer, name: str) -> None:
    _wait_for(server, name)
    os.kill(os.getpid(), signal.SIGINT)


def test_what_contradicts_is_told_and_no_longer_once_it_is_written_down(
    toolbelt: Toolbelt, project: Path, at: tuple[str, str]
) -> None:
    name = "openai/able-serial@probecli-news"
    own = {"name": name, "parallel_calls": True, "context_window": 100_000, "prices": {"input": 1, "output": 2}}
    (project / "toolbelt.yaml").write_text(json.dumps({"models": [own]}))
    command = (*PROBE, name, *at, "--check", "parallel_calls", "--max-cost", "1")
    ran = toolbelt(*command)
    assert ran.code == 0, ran.err
    assert "known: yes (toolbelt.yaml); seen: no" in ran.out
    assert "that name:\n- name: " in ran.out
    assert ": $0.0" in ran.out, "its price is the project's"
    shown = toolbelt("model", "inspect", name)
    assert any(
        line.split()[:2] == ["parallel", "calls"] and line.endswith("probe: no") for line in shown.out.splitlines()
    )
    probe = toolbelt("model", "inspect", name, "--json").json["probe"]
    assert [(one["fact"], one["contradicts"]) for one in probe["news"]] == [("parallel_calls", True)]
    pasted = ran.out[ran.out.index("- name: ") :].strip()
    (project / "toolbelt.yaml").write_text(f"models:\n{pasted}\n")
    facts = toolbelt("model", "inspect", name, "--json").json
    assert (facts["parallel_calls"], facts["context_window"], facts["prices"]["output"]) == (False, 100_000, 2.0)
    assert facts["probe"]["news"] == []
    assert "known:" not in toolbelt(*command, "--fresh").out


def test_L15_a_window_that_the_provider_names_is_told_to_be_written_down(
    toolbelt: Toolbelt, project: Path, at: tuple[str, str]
) -> None:
    name = "openai/able-window-8192@probecli-window"
    ran = toolbelt(*PROBE, name, *at, "--check", "tools_256")
    assert ran.code == 0, ran.err
    assert "known: nothing; reported: 8,192" in ran.out
    (project / "toolbelt.yaml").write_text(f"models:\n{ran.out[ran.out.index('- name: ') :].strip()}\n")
    again = toolbelt(*PROBE, name, *at, "--check", "tools_256", "--json").json["probes"][0]
    assert (again["checks"][-1]["outcome"], again["requests"]) == ("too_large", 1), "now it is known before it is asked"


def test_what_a_server_says_cannot_move_the_cursor(toolbelt: Toolbelt, at: tuple[str, str]) -> None:
    ran = toolbelt(*PROBE, "openai/able-no-tools@probecli-esc", *at)
    assert (ran.code, "\x1b" in ran.out + ran.err) == (0, False)
    assert "\\x1b[31mSee the manual." in ran.out
    assert "\x1b" not in toolbelt("model", "probes", "openai/able-no-tools@probecli-esc", "--json").out


def test_probes_stand_beside_the_evals_of_their_models(toolbelt: Toolbelt, office: Path, at: tuple[str, str]) -> None:
    run = (*RUN, "--toolset", "full", "--limit", "1")
    assert toolbelt(*run).code == 0
    assert toolbelt("eval", "show", "--json").json["probes"] == []
    assert "probe of" not in toolbelt("eval", "show").out
    assert toolbelt(*PROBE, "local/bm25", *FEW).code == 0
    lines = toolbelt("eval", "show").out.splitlines()
    assert [line.split(": ", 1)[1] for line in lines if line.startswith("probe of local/bm25, 20")] == ["3 of 3 work"]
    [beside] = toolbelt("eval", "show", "--json").json["probes"]
    assert (beside["model"], beside["works"]) == ("local/bm25", 3)
    hosted = "openai/able@probecli-beside"
    assert toolbelt(*PROBE, hosted, *at, *FEW).code == 0
    ended = toolbelt(*run, "--model", hosted, *at)
    assert (ended.code, [one["model"] for one in ended.json["probes"]]) == (0, [hosted])
    assert [one["model"] for one in toolbelt("eval", "show", "--json").json["probes"]] == [hosted]
    elsewhere = at[1].replace("127.0.0.1", "localhost")
    assert toolbelt(*run, "--model", hosted, "--api-base", elsewhere).code == 0
    assert toolbelt("eval", "show", "--json").json["probes"] == [], "made elsewhere, it says nothing of this run"


def test_what_may_be_secret_in_an_address_is_not_kept(
    toolbelt: Toolbelt, openai_server: OpenAIServer, project: Path
) -> None:
    secret = openai_server.url.replace("//", "//user:hush@")
    ran = toolbelt(*PROBE, "openai/able@probecli-secret", "--api-base", secret, *FEW, "--max-retries", "0")
    assert "hush" not in ran.out + ran.err
    assert toolbelt("model", "probes", "--json").json["probes"][0]["api_base"] == openai_server.url
    assert b"hush" not in b"".join(path.read_bytes() for path in (project / ".toolbelt").glob("runs.db*"))
