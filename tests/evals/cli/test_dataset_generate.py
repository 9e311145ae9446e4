"""`toolbelt dataset generate`, as it is called: over real HTTP, killed and gone on with, and after a human's review."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.cli.conftest import Ran, Toolbelt
from tests.evals.drafts.samples import CATALOG, said
from tests.servers.running import OpenAIServer
from tests.wording import each_mentions, mentions
from toolbelt.stores.catalogs import write_catalog


@pytest.fixture(autouse=True)
def tools(project: Path) -> Path:
    """The catalog to draft for."""
    write_catalog(CATALOG, "tools.json")
    return project / "tools.json"


def command(server: OpenAIServer | None, model: str, *more: str) -> list[str]:
    base = [] if server is None else ["--api-base", server.url]
    return ["dataset", "generate", "-c", "tools.json", "-m", model, "-o", "mine", *base, *more]


def test_E3_drafts_come_from_a_model_over_http(toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer) -> None:
    ran = toolbelt(*command(openai_server, "drafts@cli", "--json", "--max-concurrency", "2", "--temperature", "0.5"))
    assert ran.code == 0
    assert ran.json["kinds"] == {"single": 36, "irrelevant": 4}
    assert (ran.json["tools"], ran.json["requests"], ran.json["short"], ran.json["left_out"]) == (4, 4, [], {})
    assert 'take out "draft": true' in ran.err
    asked = openai_server.requests("drafts@cli")[0]["body"]
    assert "tools" not in asked
    assert (asked["temperature"], [message["role"] for message in asked["messages"]]) == (0.5, ["system", "user"])
    lint = toolbelt("dataset", "lint", "mine", "--json")
    assert lint.code == 0
    assert "draft-cases" in {finding["rule"] for finding in lint.json["findings"]}
    evaluated = toolbelt("eval", "run", "-d", "mine", "-t", "full", "--json")
    assert evaluated.code == 0
    assert evaluated.json["scored"] == 40
    again = toolbelt(*command(openai_server, "drafts@cli", "--json", "--temperature", "0.5"))
    assert (again.json["requests"], again.json["cases"]) == (0, 40)


def test_E3_a_script_can_draft_offline(toolbelt: Toolbelt, project: Path) -> None:
    answer = said([({"order": 17}, ["Undo order 17.", "17 is to be paid back."])], [("Bill 17.", "invoice")])
    (project / "script.json").write_text(
        json.dumps([{"when": "Drafting for: till/pay_back", "replies": [{"text": f"```json\n{answer}\n```"}]}])
    )
    ran = toolbelt(
        *command(
            None, "scripted/script.json", "--per-tool", "1", "--paraphrases", "2", "--tool", "pay*", "--tool", "track"
        )
    )
    assert ran.code == 0
    assert [line.split() for line in ran.out.splitlines()] == [["drafts", "cases"], ["single", "2"], ["near-miss", "1"]]
    assert each_mentions(
        ran.err.splitlines()[:4],
        "note: 3 requests, $0",
        ("note", "JSON (2)"),
        ("warning", "mail/track", "0 of 3 drafts", "JSON (2)"),
        ("note", "3 cases", "mine/cases.jsonl"),
    )
    assert toolbelt("dataset", "show", "mine", "--json").json["kinds"] == {"single": 2, "near-miss": 1}


@pytest.mark.parametrize(
    ("model", "code", "named"),
    [
        pytest.param("rate-limited-0", 0, "the answer is not JSON", id="told-to-wait-then-rubbish"),
        pytest.param("server-error-99", 3, "Something broke", id="always-500"),
        pytest.param("html", 3, "incomplete", id="html-of-a-proxy"),
        pytest.param("rubbish", 3, "incomplete", id="torn-json"),
        pytest.param("reset", 3, "incomplete", id="connection-reset"),
        pytest.param("hang", 3, "No answer within 0.3 s", id="silence"),
        pytest.param("unauthorized", 3, "authentication", id="wrong-key"),
        pytest.param("refusal", 0, "the model refused (1)", id="refused"),
        pytest.param("overflow", 0, ("too long", "(1)"), id="too-long"),
        pytest.param("none", 0, ("0 of 10 drafts", "JSON (2)"), id="no-json"),
    ],
)
def test_E9_what_servers_do(
    toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer, model: str, code: int, named: object
) -> None:
    name = f"{model}@draft-hostile"
    timeout = "0.3" if model == "hang" else "20"
    retries = "1" if model.startswith("rate") else "0"
    ran = toolbelt(*command(openai_server, name, "--max-retries", retries, "--timeout", timeout, "--tool", "track"))
    assert ran.code == code, ran.err
    assert mentions(ran.err, named)
    assert "sk-test" not in ran.err + (project / "mine/.toolbelt-drafts/answers.jsonl").read_text()
    assert not (project / "mine/cases.jsonl").exists()


def test_E9_what_exists_is_kept_where_the_server_gives_way(
    toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer
) -> None:
    name = "drafts-until-2@cli"
    ran = toolbelt(*command(openai_server, name, "--max-retries", "0", "--max-concurrency", "1", "--json"))
    assert (ran.code, ran.json["cases"], ran.json["unanswered"]) == (3, 20, 2)
    assert mentions(ran.err, "2 tools")
    assert toolbelt("dataset", "show", "mine", "--json").json["cases"] == 20


def test_E9_a_cap_ends_it_in_order(toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer) -> None:
    for cap, cases in ((1, 10), (1, 10), (3, 30), (4, 40)):
        ran = toolbelt(*command(openai_server, "drafts@cap", "--max-requests", str(cap), "--json"))
        assert (ran.code, ran.json["cases"]) == (0 if cap == 4 else 3, cases)
        assert cap == 4 or f"the cap of {cap} request" in ran.err
    assert openai_server.count("drafts@cap") == 4, "nothing was asked twice"


def test_E9_a_cost_cap_is_kept(toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer) -> None:
    # 0.15 dollars a million prompt tokens: two prompts of some hundred, and no more.
    ran = toolbelt(
        *command(openai_server, "openai/gpt-4o-mini", "--max-cost", "0.00012", "--max-concurrency", "1", "--json")
    )
    assert ran.code == 3
    assert "beyond the cap of $0.00012" in ran.err
    assert 0 < ran.json["cost_usd"] <= 0.00013
    assert 0 < ran.json["requests"] < 8


def _spawn(arguments: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "toolbelt", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _wait_for_answers(project: Path, count: int) -> None:
    path = project / "mine/.toolbelt-drafts/answers.jsonl"
    end = time.monotonic() + 60
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["kill", "ctrl-c"])
def test_E8_killed_and_gone_on_with_equals_an_unbroken_run(
    toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer, how: signal.Signals
) -> None:
    name = f"slow-drafts-250@{how.name}"
    arguments = command(openai_server, name, "--max-concurrency", "1")
    with _spawn(arguments) as process:
        _wait_for_answers(project, 1)
        busy = toolbelt(*arguments)
        process.send_signal(how)
        _, err = process.communicate(timeout=60)
    assert (busy.code, mentions(busy.err, "Another process", "mine")) == (2, True)
    if how is signal.SIGINT:
        assert process.returncode == 130
        assert "the same command goes on" in err
        assert "Traceback" not in err
        assert 10 <= toolbelt("dataset", "show", "mine", "--json").json["cases"] < 40
    ran = toolbelt(*arguments)
    assert ran.code == 0, ran.err
    assert openai_server.count(name) <= 5, "at most the one in flight is asked again"
    whole = toolbelt(*[part if part != "mine" else "whole" for part in arguments])
    assert whole.code == 0
    assert (project / "mine/cases.jsonl").read_bytes() == (project / "whole/cases.jsonl").read_bytes()


def test_E3_what_was_reviewed_is_refused_then_kept(
    toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer
) -> None:
    arguments = command(openai_server, "drafts@review", "--tool", "track")
    assert toolbelt(*arguments).code == 0
    cases = project / "mine/cases.jsonl"
    first, second, *rest = cases.read_text().splitlines()
    mended = first.replace(', "draft": true', "")
    cases.write_text("\n".join([mended, *rest]) + "\n")
    before = cases.read_bytes()
    ran = toolbelt(*arguments)
    assert ran.code == 2
    assert mentions(ran.err, "1 line", "2 drafts changed")
    assert cases.read_bytes() == before
    forced = toolbelt(*arguments, "--force", "--json")
    assert (forced.code, forced.json["kept"], forced.json["superseded"], forced.json["deleted"]) == (0, 1, 1, 1)
    assert cases.read_text().splitlines() == [mended, *rest]
    assert second not in cases.read_text()
    assert toolbelt(*arguments).code == 0, "nothing was changed since"
    assert cases.read_text().splitlines() == [mended, *rest]


def test_E3_tools_added_bit_by_bit_add_up(toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer) -> None:
    for number, tool in enumerate(("track", "invoice", "pay_back")):
        ran = toolbelt(*command(openai_server, "drafts@bits", "--tool", tool, "--json"))
        assert (ran.code, ran.json["cases"], ran.json["earlier"], ran.json["replaced"]) == (
            0,
            10 * number + 10,
            10 * number,
            0,
        )
    assert mentions(ran.err, "note", "20 drafts")
    whole = toolbelt(*command(openai_server, "drafts@bits", "--json"))
    assert (whole.json["cases"], whole.json["requests"]) == (40, 1)
    fewer = toolbelt(*command(openai_server, "drafts@bits", "--limit", "1", "--json"))
    assert (fewer.code, fewer.json["cases"], fewer.json["earlier"]) == (0, 40, 30)
    failed = toolbelt(*command(openai_server, "server-error-99@bits", "--max-retries", "0", "--json"))
    assert (failed.code, failed.json["cases"], failed.json["earlier"], failed.json["kinds"]) == (3, 40, 40, {})
    assert toolbelt("dataset", "show", "mine", "--json").json["cases"] == 40


def test_E9_json_tells_what_failed_from_what_was_not_asked(
    toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer
) -> None:
    arguments = command(openai_server, "server-error-99@told", "--max-retries", "1", "--language", "German")
    ran = toolbelt(*arguments, "--language", "Welsh", "--tool", "track", "--tool", "invoice", "--json")
    assert ran.code == 3
    assert [list(short["reasons"]) for short in ran.json["short"]] == [["asked, and failed: unavailable"]] * 4
    assert (ran.json["failed"], ran.json["unanswered"], ran.json["unanswered_tools"]) == ({"unavailable": 4}, 4, 2)
    assert mentions(ran.err, "unavailable (4)", "2 tools")


def test_E9_answers_that_cannot_be_read_are_named(
    toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer
) -> None:
    arguments = command(openai_server, "drafts@torn", "--max-requests", "2", "--tool", "track")
    assert toolbelt(*arguments).code == 0
    answers = project / "mine/.toolbelt-drafts/answers.jsonl"
    answers.write_text(f"torn\n{answers.read_text().replace('null', 'NaN')}")
    broken = [number for number, line in enumerate(answers.read_text().splitlines(), 1) if number == 1 or "NaN" in line]
    ran = toolbelt(*arguments)
    assert ran.code == 0
    places = ", ".join(f"mine/.toolbelt-drafts/answers.jsonl:{number}" for number in broken)
    assert f"cannot be read ({places})" in ran.err


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["plain", "forced"])
def test_E3_lines_that_are_no_cases_are_told_before_anything_is_spent(
    toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer, force: list[str]
) -> None:
    name = f"drafts@lines{len(force)}"
    assert toolbelt(*command(openai_server, name, "--tool", "track")).code == 0
    cases = project / "mine/cases.jsonl"
    cases.write_text(f'{cases.read_text()}not json\n{{"id": 3}}\n')
    before = cases.read_bytes()
    ran = toolbelt(*command(openai_server, name, *force))
    assert (ran.code, openai_server.count(name)) == (2, 1)
    assert "mine/cases.jsonl:11" in ran.err
    assert "mine/cases.jsonl:12" in ran.err
    assert cases.read_bytes() == before


def test_E8_answers_of_one_server_are_not_those_of_another(
    toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer
) -> None:
    assert toolbelt(*command(openai_server, "drafts@place", "--tool", "track")).code == 0
    elsewhere = [part.replace("127.0.0.1", "localhost") for part in command(openai_server, "drafts@place")]
    ran = toolbelt(*elsewhere, "--tool", "track", "--json")
    assert (ran.code, ran.json["requests"]) == (0, 1)


def test_E9_the_folder_has_a_name_where_none_is_given(
    toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer
) -> None:
    base = ["dataset", "generate", "-c", "tools.json", "-m", "drafts@name", "--api-base", openai_server.url]
    assert toolbelt(*base, "--tool", "track").code == 0
    assert (project / "drafts/cases.jsonl").exists()


def test_E6_a_dry_run_changes_nothing_and_waits_for_nobody(
    toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer
) -> None:
    arguments = command(openai_server, "drafts@dry")
    assert toolbelt(*arguments, "--tool", "track").code == 0
    answers = project / "mine/.toolbelt-drafts/answers.jsonl"
    torn = answers.read_bytes() + b'{"key": "6b'
    with FileLock(project / "mine/.toolbelt-drafts/lock"):
        assert toolbelt(*arguments).code == 2, "somebody is drafting"
        answers.write_bytes(torn)
        ran = toolbelt(*arguments, "--dry-run", "--json")
    assert (ran.code, ran.json["answered"], ran.json["requests"]) == (0, 1, 3)
    assert answers.read_bytes() == torn


def test_E9_ctrl_c_before_any_answer_names_no_file(
    toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer
) -> None:
    name = "hang@ctrl-c"
    with _spawn(command(openai_server, name)) as process:
        end = time.monotonic() + 60
        while not openai_server.count(name):
            assert time.monotonic() < end
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "no case so far" in err
    assert "cases.jsonl" not in err


def test_E3_another_catalog_is_not_replaced(toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer) -> None:
    (project / "mine").mkdir()
    (project / "mine/catalog.json").write_text('{"name": "other", "plugins": [{"name": "p", "tools": []}]}')
    ran = toolbelt(*command(openai_server, "drafts@other"))
    assert (ran.code, "has another catalog" in ran.err) == (2, True)
    assert [path.name for path in (project / "mine").iterdir()] == ["catalog.json"]


def test_E3_a_dataset_of_ones_own_is_not_touched(
    toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer
) -> None:
    (project / "mine").mkdir()
    own = '{"id": "mine", "query": "Pay.", "expected": [{"tool": "pay_back"}]}\n'
    (project / "mine/cases.jsonl").write_text(own)
    ran = toolbelt(*command(openai_server, "drafts@own"))
    assert (ran.code, (project / "mine/cases.jsonl").read_text()) == (2, own)
    assert sorted(path.name for path in (project / "mine").iterdir()) == ["cases.jsonl"]


@pytest.mark.parametrize("as_json", [True, False], ids=["json", "words"])
def test_E6_a_dry_run_asks_nobody_and_writes_nothing(toolbelt: Toolbelt, project: Path, *, as_json: bool) -> None:
    ran = toolbelt(*command(None, "gpt-4o-mini", "--dry-run", *(["--json"] if as_json else [])))
    assert (ran.code, ran.err) == (0, "")
    assert not (project / "mine").exists()
    if not as_json:
        assert mentions(ran.out, "4 tools", "40 cases", "4 requests", "gpt-4o-mini")
        return
    found: dict[str, Any] = ran.json
    assert (found["dry_run"], found["tools"], found["cases"], found["requests"]) == (True, 4, 40, 4)
    expected = 4 * (found["prompt_tokens"] / 4 * 0.15e-6 + 450 * 0.6e-6)
    assert found["cost_usd"] == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["-m", "local/bm25"], "writes nothing", id="cannot-write"),
        pytest.param(["-m", "scripted/none.json"], "No file named", id="no-script"),
        pytest.param(["-m", ""], "A model needs a name", id="no-model"),
        pytest.param(["-m", "gtp-4o-mini"], "Did you mean", id="wrong-model"),
        pytest.param(["-m", "gpt-4o-mini"], "OPENAI_API_KEY", id="no-key"),
        pytest.param(
            ["-m", "unpriced", "--api-base", "http://127.0.0.1:9/v1", "--max-cost", "1"], "price", id="no-price"
        ),
        pytest.param(["-c", "tool.json"], "tools.json", id="wrong-catalog"),
        pytest.param(["--tool", "trak"], "Did you mean 'track'", id="wrong-tool"),
        pytest.param(["--per-tool", "0", "--near-misses", "0"], "Nothing is asked for", id="nothing"),
        pytest.param(["--max-cost", "nan"], "not a finite number", id="nan"),
        pytest.param(["-o", "tools.json"], "is a file", id="output-is-a-file"),
        pytest.param(["-c", "empty.json"], "no tools", id="no-tools"),
    ],
)
def test_E9_what_is_refused(
    toolbelt: Toolbelt, project: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (project / "script.json").write_text('[{"when": "*", "replies": [{"text": "hi"}]}]')
    (project / "empty.json").write_text('{"name": "empty", "plugins": []}')
    ran: Ran = toolbelt(*command(None, "scripted/script.json", *arguments))
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert not (project / "mine").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_E9_a_folder_that_may_not_be_written(toolbelt: Toolbelt, project: Path, openai_server: OpenAIServer) -> None:
    (project / "mine").mkdir(mode=0o500)
    assert toolbelt(*command(openai_server, "drafts@readonly")).code == 3
