"""Recorded responses from end to end, over a real server: record, export, replay, change a tool (rule X3)."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.conftest import Ran, Toolbelt
from tests.servers.running import OpenAIServer
from tests.wording import mentions
from toolbelt.evals import run_eval
from toolbelt.evals.exports.schemas import read_schema
from toolbelt.evals.responses.cache import ResponseCache
from toolbelt.evals.responses.recorded import format_time

TOOLS = {
    "refund": "Pay the money of an order back to the customer.",
    "parcel": "Say where a parcel is at the moment.",
    "cancel": "Cancel an order that was not sent.",
}
CASES = [
    {"id": f"{tool}-{number}", "query": f"{tool} order {number}", "expected": [{"tool": tool}], "kind": "single"}
    for tool in TOOLS
    for number in range(4)
]
KEY = "sk-test-0123456789abcdef"


def write_catalog(folder: Path, **changed: str) -> None:
    tools = [{"name": name, "description": text} for name, text in (TOOLS | changed).items()]
    catalog = {"name": "shop", "plugins": [{"name": "shop", "tools": tools}]}
    (folder / "shop" / "catalog.json").write_text(json.dumps(catalog))


@pytest.fixture
def shop(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Cases over three tools, each with a price, so that costs are counted."""
    (project / "shop").mkdir()
    write_catalog(project)
    (project / "shop" / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))
    model = {"name": "hosted_vllm/pick-first@shop", "prices": {"input": 1.0, "output": 2.0}}
    (project / "toolbelt.yaml").write_text(json.dumps({"models": [model]}))
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", KEY)
    return project


def ask(toolbelt: Toolbelt, server: OpenAIServer, *options: str, model: str = "pick-first@shop") -> Ran:
    asked = ("-d", "shop", "-t", "oracle,full", "-m", f"hosted_vllm/{model}", "--api-base", server.url)
    return toolbelt("eval", "run", *asked, "--json", *options)


def rows(store: Path, columns: str = "*", run: str = "%") -> list[Any]:
    connection = sqlite3.connect(store)
    try:
        return connection.execute(f"SELECT {columns} FROM trials WHERE run LIKE ? ORDER BY trial", (run,)).fetchall()
    finally:
        connection.close()


SAME = (
    "trial, arm, epoch, case_id, outcome, reason, ending, covered, surfaced, selections, called, missing, surplus, "
    "definition_tokens_total, own_prompt_tokens, prompt_tokens, completion_tokens, requests, retries"
)
"""What a replay has in common with the run that recorded it: all but the time, the cost and the latency."""


def test_X3_record_export_replay_offline_and_ask_only_what_changed(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    openai_server.reset()
    first = ask(toolbelt, openai_server, "--response-cache", "cache.db", "--store", "first.db")
    assert first.code == 0, first.err
    asked = openai_server.count("pick-first@shop")
    [model] = first.json["responses"]
    assert (model["live"]["responses"], model["recorded"]["responses"]) == (asked, 0)
    jsonschema.validate(first.json, read_schema("run"))

    exported = toolbelt("eval", "responses", "export", "cache.db", "-o", "responses.jsonl", "--json")
    assert (exported.code, exported.json["responses"]) == (0, asked)
    committed = Path("responses.jsonl").read_bytes()
    assert KEY.encode() not in committed

    # Offline, without a key, in two stores: every trial is the same.
    monkeypatch.delenv("HOSTED_VLLM_API_KEY")
    replays = [
        ask(toolbelt, openai_server, "--response-cache", "responses.jsonl", "--offline", "--store", store)
        for store in ("second.db", "third.db")
    ]
    assert [replay.code for replay in replays] == [0, 0], replays[0].err
    assert openai_server.count("pick-first@shop") == asked
    compared = toolbelt("eval", "compare", "--store", "second.db", "-o", "compared.md")
    for text in (compared.out, Path("compared.md").read_text()):
        assert mentions(text, f"{asked:,} of {asked:,} responses recorded")
    assert rows(Path("first.db"), SAME) == rows(Path("second.db"), SAME)
    but_for_times = [[row[2:7] + row[8:] for row in rows(Path(store))] for store in ("second.db", "third.db")]
    assert but_for_times[0] == but_for_times[1], "byte for byte, but for when they finished and in which run"
    [model] = replays[0].json["responses"]
    assert (model["live"]["responses"], model["recorded"]["responses"]) == (0, asked)
    spent = sum(arm["cost_usd_total"] for arm in first.json["arms"])
    assert model["original_cost_usd"] == pytest.approx(spent)
    assert spent > 0
    assert {arm["cost_usd_total"] for arm in replays[0].json["arms"]} == {0.0}
    assert {arm["latency_seconds"] for arm in replays[0].json["arms"]} == {None}

    case = toolbelt("eval", "show", "--store", "second.db", "--case", "refund-1", "--json").json
    assert all(request["recorded"] for trial in case["trials"] for request in trial["requests"])
    assert "recorded 20" in toolbelt("eval", "show", "--store", "second.db", "--case", "refund-1").out
    assert "originally" in toolbelt("eval", "show", "--store", "second.db").out

    # One description changes: its own cases are asked in `oracle`, and every case of `full`, which shows it.
    write_catalog(shop, cancel="Stop an order.")
    offline = ask(toolbelt, openai_server, "--response-cache", "responses.jsonl", "--offline", "--store", "fourth.db")
    assert offline.code == 3
    assert mentions(offline.err, "not recorded", "16 trials", "eval resume", "--response-cache responses.jsonl")
    assert (offline.json["status"], offline.json["scored"]) == ("incomplete", 8)
    live = ask(
        toolbelt, openai_server, "--response-cache", "responses.jsonl", "--store", "fourth.db", "--max-requests", "16"
    )
    assert live.code == 0, live.err
    assert openai_server.count("pick-first@shop") == asked + 16
    assert mentions(live.err, "recorded 16 responses", "responses.db")
    again = toolbelt("eval", "responses", "export", "responses.db", "--run", "latest", "--store", "fourth.db", "--json")
    assert again.json["changes"] == {"added": 16, "changed": 0, "removed": asked}
    merged = toolbelt("eval", "responses", "export", "cache.db", "responses.db", "-o", "all.jsonl", "--json")
    assert merged.json["responses"] == asked + 16
    assert Path("cache.db").exists()
    replay = ask(toolbelt, openai_server, "--response-cache", "all.jsonl", "--offline", "--store", "fifth.db")
    assert (replay.code, openai_server.count("pick-first@shop")) == (0, asked + 16)
    assert rows(Path("fifth.db"), SAME) == rows(Path("fourth.db"), SAME, live.json["run"])


def test_X3_an_offline_run_is_finished_by_a_resume_that_asks(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer
) -> None:
    openai_server.reset()
    offline = ask(toolbelt, openai_server, "--offline")
    assert (offline.code, offline.json["scored"]) == (3, 0)
    resumed = toolbelt("eval", "resume", "--api-base", openai_server.url, "--response-cache", "c.db", "--json")
    assert (resumed.code, resumed.json["scored"]) == (0, 24), resumed.err
    assert openai_server.count("pick-first@shop") == 24
    again = ask(toolbelt, openai_server, "--response-cache", "c.db")
    assert (again.code, openai_server.count("pick-first@shop")) == (0, 24)


def test_X3_hits_count_towards_no_cap(toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer) -> None:
    ask(toolbelt, openai_server, "--response-cache", "c.db")
    capped = ask(toolbelt, openai_server, "--response-cache", "c.db", "--max-requests", "1", "--max-cost", "0.0000001")
    assert (capped.code, capped.json["scored"]) == (0, 24)


@pytest.mark.parametrize("model", ["blind", "empty-every-1", "filtered", "server-error-9", "refusal"])
def test_X3_what_is_no_valid_answer_is_not_recorded(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer, model: str
) -> None:
    long = "A long description. " * 200  # so that a prompt without tools is noticed
    write_catalog(shop, refund=long, parcel=long, cancel=long)
    ask(
        toolbelt, openai_server, "--response-cache", "c.db", "--max-retries", "0", "--limit", "2", model=f"{model}@shop"
    )
    shown = toolbelt("eval", "responses", "show", "c.db", "--json").json
    assert shown["responses"] == 0, shown


def test_X3_a_key_in_an_answer_is_removed_and_an_export_with_one_is_refused(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", "shop")  # short, and in every call and case
    ask(toolbelt, openai_server, "--response-cache", "c.db", "--limit", "2")
    monkeypatch.setenv("OTHER_API_KEY", "pick")  # set later, and in the name of the model
    refused = toolbelt("eval", "responses", "export", "c.db", "-o", "out.jsonl")
    assert refused.code == 2
    assert mentions(refused.err, "out.jsonl:", "key")
    assert "pick" not in refused.err.replace("picked", "")
    assert not Path("out.jsonl").exists()


def test_X3_local_and_scripted_models_are_neither_recorded_nor_held_back(toolbelt: Toolbelt, shop: Path) -> None:
    ran = toolbelt("eval", "run", "-d", "shop", "-t", "full", "--response-cache", "c.db", "--offline", "--json")
    assert (ran.code, ran.json["responses"]) == (0, [])
    assert not Path("c.db").exists()


def test_X3_a_broken_export_is_refused_before_anything_is_asked(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer
) -> None:
    openai_server.reset()
    ask(toolbelt, openai_server, "--response-cache", "c.db", "--limit", "2")
    before = openai_server.count("pick-first@shop")
    toolbelt("eval", "responses", "export", "c.db")
    file = Path("responses.jsonl")
    file.write_text(file.read_text().replace("refund", "return"))
    ran = ask(toolbelt, openai_server, "--response-cache", "responses.jsonl")
    assert ran.code == 2
    assert mentions(ran.err, "responses.jsonl:", "changed")
    assert openai_server.count("pick-first@shop") == before


def test_X3_prune_deletes_what_was_asked_for_and_no_more(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer
) -> None:
    ask(toolbelt, openai_server, "--response-cache", "c.db", "--limit", "4", "--epochs", "2")
    ask(toolbelt, openai_server, "--response-cache", "c.db", "--limit", "2")
    used = toolbelt("eval", "responses", "prune", "c.db", "--unused-by", "latest", "--dry-run", "--json").json
    assert used["deleted"] + used["left"] == toolbelt("eval", "responses", "show", "c.db", "--json").json["responses"]
    assert toolbelt("eval", "responses", "prune", "c.db", "--older-than", "1", "--json").json["deleted"] == 0
    assert toolbelt("eval", "responses", "prune", "c.db", "--unused-by", "latest", "--json").json == {
        **used,
        "dry_run": False,
    }
    wrong = toolbelt("eval", "responses", "prune", "c.db", "--model", "hosted_vllm/pick-frst@shop")
    assert (wrong.code, mentions(wrong.err, "pick-first")) == (2, True)
    assert toolbelt("eval", "responses", "prune", "c.db").code == 2
    assert toolbelt("eval", "responses", "prune", "c.db", "--older-than", "0", "--json").json["left"] == 0


def test_X3_python_takes_the_same(shop: Path, openai_server: OpenAIServer) -> None:
    model, base = "hosted_vllm/pick-first@shop", openai_server.url
    run_eval("shop", model, "full", api_base=base, response_cache="c.db")
    replay = run_eval("shop", model, "full", api_base=base, response_cache=["c.db"], offline=True)
    assert (replay.end.value, replay.not_recorded) == ("finished", 0)
    assert run_eval("shop", model, "oracle", api_base=base, offline=True).not_recorded == len(CASES)


def test_X3_a_replay_that_asks_another_place_names_what_differs(shop: Path, openai_server: OpenAIServer) -> None:
    model, base = "hosted_vllm/pick-first@shop", openai_server.url
    run_eval("shop", model, "full", api_base=base, response_cache="c.db")
    replay = run_eval("shop", model, "full", api_base="http://127.0.0.1:9/v1", response_cache="c.db", offline=True)
    (note,) = (note.text for note in replay.notes if note.is_warning)
    origin = base.removesuffix("/v1").rstrip("/")
    assert mentions(note, model, f"answered by {origin}", "this run asks http://127.0.0.1:9", "--api-base")
    other = run_eval("shop", "hosted_vllm/echo@shop", "full", api_base=base, response_cache="c.db", offline=True)
    (note,) = (note.text for note in other.notes if note.is_warning)
    assert note == f"nothing is recorded of hosted_vllm/echo@shop; there are responses of {model}"


def test_what_is_stored_in_the_projects_own_folder_is_ignored_by_git(shop: Path) -> None:
    run_eval("shop", "local/bm25", "full", limit=1)
    assert Path(".toolbelt/.gitignore").read_text(encoding="utf-8") == "*\n"
    Path(".toolbelt/.gitignore").unlink()
    run_eval("shop", "local/bm25", "full", limit=1)
    assert not Path(".toolbelt/.gitignore").exists(), "who removed it meant that"


_WATCHED = """
import sys
opened = []
def watch(event, arguments):
    if event == "socket.__new__" and int(arguments[1]) in (2, 10) or event == "socket.getaddrinfo":
        opened.append((event, arguments[1:]))
sys.addaudithook(watch)
from toolbelt.cli import run
code = run(sys.argv[1:])
sys.stdout.flush()
print(code, opened, "litellm" in sys.modules, "aiohttp" in sys.modules, file=sys.stderr)
"""


@pytest.mark.cold
def test_X3_an_offline_run_opens_no_socket_and_loads_no_client(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer
) -> None:
    ask(toolbelt, openai_server, "--response-cache", "c.db", "--limit", "2")
    options = ("-d", "shop", "-t", "oracle,full", "-m", "hosted_vllm/pick-first@shop", "--api-base", openai_server.url)
    command = [sys.executable, "-c", _WATCHED, "eval", "run", *options, "--limit", "2", "--offline", "--json"]
    environment = {**os.environ, "TOOLBELT_RESPONSE_CACHE": "c.db"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.stderr.splitlines()[-1] == "0 [] False False", done.stderr
    assert mentions(done.stderr, "--response-cache c.db from TOOLBELT_RESPONSE_CACHE")


def _make_older(path: Path, days: int) -> None:
    """As if the responses had been recorded so many days ago: written anew, with their checks."""
    with ResponseCache(path) as cache:
        responses = list(cache.read_all())
        cache.delete([response.key for response in responses])
        then = format_time(datetime.now(UTC) - timedelta(days=days))
        for response in responses:
            cache.add([replace(response, recorded=then)])


def test_X3_the_gate_counts_what_changed_and_refuses_what_is_too_old_to_mix(
    toolbelt: Toolbelt, shop: Path, openai_server: OpenAIServer
) -> None:
    ask(toolbelt, openai_server, "--response-cache", "c.db", "--store", "main.db")
    first = toolbelt("eval", "baseline", "save", "--store", "main.db", "-o", "base.json")
    assert first.code == 0, first.err
    saved = json.loads(Path("base.json").read_text())
    jsonschema.validate(saved, read_schema("baseline"))
    toolbelt("eval", "responses", "export", "c.db")

    def gate(*options: str) -> Ran:
        ran = toolbelt("eval", "gate", "--baseline", "base.json", "--margin", "0.9", "--json", *options)
        assert ran.out, ran.err
        return ran

    # Replayed, nothing changed: the baseline of the replay is that of the run that asked, byte for byte.
    ask(toolbelt, openai_server, "--response-cache", "responses.jsonl", "--offline")
    same = gate()
    assert (same.code, same.json["responses"]["same"]) == (0, 24), same.out
    assert same.json["responses"]["digest"] == same.json["responses"]["baseline_digest"]
    jsonschema.validate(same.json, read_schema("gate"))
    toolbelt("eval", "baseline", "save", "-o", "again.json")
    assert Path("again.json").read_bytes() == Path("base.json").read_bytes()
    assert gate("--max-cost-increase", "0").code == 0, "a replay costs what its responses cost"

    # A tool changed, and its cases are asked.
    write_catalog(shop, cancel="Stop an order.")
    ask(toolbelt, openai_server, "--response-cache", "responses.jsonl")
    changed = gate()
    assert changed.code == 0, changed.out
    counts = {key: changed.json["responses"][key] for key in ("reused", "asked", "same", "changed", "added")}
    assert counts == {"reused": 8, "asked": 16, "same": 8, "changed": 16, "added": 0}
    [check] = [check for check in changed.json["checks"] if check["name"] == "responses"]
    assert mentions(check["message"], "8 recorded responses", "16 asked", "16 changed")

    # The same with responses of forty days ago.
    _make_older(Path("c.db"), 40)
    toolbelt("eval", "responses", "export", "c.db", "-o", "old.jsonl")
    Path(".toolbelt/responses.db").unlink()
    ask(toolbelt, openai_server, "--response-cache", "old.jsonl")
    old = gate()
    assert (old.code, old.json["verdict"]) == (3, "insufficient_data")
    assert [mixed["kind"] for mixed in old.json["responses"]["mixed"]] == ["age"]
    assert gate("--allow-mixed").code == gate("--response-max-age", "41").code == 0
