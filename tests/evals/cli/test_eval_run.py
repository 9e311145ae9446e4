"""`toolbelt eval run`, `resume`, `list` and `show`: one command from cases to measures (rules E1 to E9)."""

from __future__ import annotations

import itertools
import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toolbelt
from tests.servers.running import OpenAIServer
from tests.wording import mentions
from toolbelt import __version__

CATALOG: dict[str, Any] = {
    "name": "office",
    "categories": {"money": "Paying and being paid.", "post": "Letters and parcels."},
    "plugins": [
        {
            "name": "till",
            "category": "money",
            "tools": [
                {
                    "name": "refund",
                    "description": "Pay the money of an order back to the customer.",
                    "parameters": {
                        "type": "object",
                        "properties": {"order": {"type": "integer", "description": "Number of the order."}},
                        "required": ["order"],
                    },
                },
                {"name": "invoice", "description": "Write an invoice and bill a customer."},
            ],
        },
        {
            "name": "mail",
            "category": "post",
            "tools": [
                {"name": "send_letter", "description": "Send a letter by post to an address."},
                {"name": "track_parcel", "description": "Say where a parcel is at the moment."},
            ],
        },
    ],
    "loadouts": {"cashier": {"categories": ["money"]}, "porter": {"categories": ["post"]}},
}
CASES: list[dict[str, Any]] = [
    {
        "id": "refund-1",
        "query": "Please pay the customer of order 17 his money back.",
        "expected": [{"tool": "refund", "args": {"order": 17}}],
        "kind": "single",
        "role": "cashier",
    },
    {
        "id": "parcel-1",
        "query": "Where is the parcel at the moment?",
        "expected": [{"tool": "track_parcel"}],
        "kind": "single",
        "role": "porter",
    },
    {"id": "chat-1", "query": "Thanks, lovely weather, isn't it?", "expected": [], "kind": "irrelevant"},
]


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a dataset of its own in it, and nothing run yet."""
    write_dataset(tmp_path / "office", CASES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_dataset(folder: Path, cases: list[dict[str, Any]]) -> None:
    folder.mkdir()
    (folder / "catalog.json").write_text(json.dumps(CATALOG))
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))


def script(*replies: dict[str, Any]) -> str:
    """A script that answers everything so."""
    return json.dumps([{"when": "*", "replies": replies}])


TURNED = tuple("".join(json.dumps(case) + "\n" for case in order) for order in (CASES[:2], CASES[1::-1]))
"""The first two lines of the cases, and the same in the other order."""
RETOLD = ('"single", "role": "porter"', '"irrelevant", "role": "porter"')
RUN = ("eval", "run", "--dataset", "office", "--json")


def test_E9_one_command_runs_cases_over_toolsets(toolbelt: Toolbelt, office: Path) -> None:
    ran = toolbelt(*RUN, "--toolset", "full,loadout,tiered,oracle", "-t", "oracle+1")
    assert ran.code == 0, ran.err
    data = ran.json
    assert {"run", "dataset", "excluded", "planned", "scored", "errors", "arms"} <= {*data}
    assert (data["planned"], data["scored"], data["errors"], data["excluded"]) == (15, 15, 0, {})
    assert data["dataset"]["name"] == "office"
    assert [arm["toolset"] for arm in data["arms"]] == ["full", "loadout", "tiered", "oracle", "oracle+1"]
    by_toolset = {arm["toolset"]: arm for arm in data["arms"]}
    assert all(sum(arm["outcomes"].values()) == 3 for arm in data["arms"])
    assert by_toolset["full"]["accuracy"] | {"low": 0, "high": 0} == {
        "value": 1.0,
        "numerator": 3,
        "denominator": 3,
        "low": 0,
        "high": 0,
    }
    assert by_toolset["tiered"]["requests"] > by_toolset["full"]["requests"] >= 1.0
    assert by_toolset["loadout"]["definition_tokens"] < by_toolset["full"]["definition_tokens"]
    assert by_toolset["full"]["cost_usd"] == 0.0
    assert toolbelt("eval", "show", "--json").json == data


def test_E1_a_star_stands_for_every_loadout_that_makes_something_active(toolbelt: Toolbelt, office: Path) -> None:
    data = toolbelt(*RUN, "--toolset", "loadout:*").json
    assert [arm["toolset"] for arm in data["arms"]] == ["loadout:cashier", "loadout:porter"]
    coverage = [arm["coverage"]["numerator"] for arm in data["arms"]]
    assert coverage == [2, 2], "each reaches its own case, and the one that needs nothing"


def test_E1_an_arm_reports_in_how_many_cases_its_distractors_are_all_shown(toolbelt: Toolbelt, office: Path) -> None:
    write_dataset(office / "narrow", [{**CASES[0], "offered": ["refund", "invoice"]}, *CASES[1:]])
    ran = toolbelt("eval", "run", "--dataset", "narrow", "--toolset", "full,oracle+3", "--json")
    assert [arm["distractors_reached"] for arm in ran.json["arms"]] == [None, 2]
    folder = office / "reports" / ran.json["run"]
    said = "oracle+3 shows all its distractors in 2 of 3 cases"
    assert said in toolbelt("eval", "report").out
    assert all(said in (folder / name).read_text(encoding="utf-8") for name in ("report.md", "report.html"))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["--toolset", "fulll"], "'full'", id="unknown-toolset"),
        pytest.param(["--toolset", "loadout:casheer"], "'cashier'", id="unknown-loadout"),
        pytest.param(["--toolset", "loadout:developer"], "developer", id="a-loadout-that-matches-nothing"),
        pytest.param(["--toolset", "oracle+many"], "oracle", id="malformed-toolset"),
        pytest.param(["--toolset", "oracle+4"], "'oracle+3'", id="more-distractors-than-there-are"),
        pytest.param(["--toolset", "loadout:auto"], "unknown", id="auto-for-an-unknown-window"),
        pytest.param(["--model", "local/bm52"], "local/bm25", id="unknown-local-model"),
        pytest.param(["--model", "scripted/none.json"], "none.json", id="a-script-that-is-not-there"),
        pytest.param(["--dataset", "offfice"], "No dataset named 'offfice'", id="unknown-dataset"),
        pytest.param(["--kind", "singel"], "'single'", id="unknown-kind"),
        pytest.param(["--case", "refund-2"], "'refund-1'", id="unknown-case"),
        pytest.param(["--catalog", "nowhere.json"], "nowhere.json", id="unknown-catalog"),
        pytest.param(["--tokenizer", "o300k"], "o200k_base", id="unknown-tokenizer"),
        pytest.param(["--tool-choice", "refnd"], "'refund'", id="unknown-tool-choice"),
        pytest.param(["--epochs", "0"], "epochs", id="no-epochs"),
        pytest.param(["--model", "openai/\udcff", "--api-base", "http://127.0.0.1:9"], "UTF-8", id="a-model-no-text"),
        pytest.param(["--epochs", "9" * 30], "trials", id="more-trials-than-can-be-counted"),
        pytest.param(["--max-cost", "nan"], "finite", id="a-cap-that-is-no-number"),
        pytest.param(["--timeout", "nan"], "finite", id="a-timeout-that-is-no-number"),
        pytest.param(["--timeout", "inf"], "finite", id="a-timeout-that-never-comes"),
        pytest.param(["--temperature", "inf"], "finite", id="a-temperature-without-end"),
        pytest.param(["--max-concurrency", "0"], "concurrency", id="no-concurrency"),
    ],
)
def test_bad_input_is_refused_before_anything_is_run(
    arguments: list[str], says: str, toolbelt: Toolbelt, office: Path
) -> None:
    ran = toolbelt("eval", "run", "--dataset", "office", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err
    assert not (office / ".toolbelt").exists()


def test_every_mistake_of_ones_own_dataset_is_told_with_its_line(toolbelt: Toolbelt, office: Path) -> None:
    write_dataset(
        office / "wrong",
        [
            {**CASES[0], "expected": [{"tool": "refundd"}]},
            CASES[1],
            {"id": "x", "query": "?"},
        ],
    )
    ran = toolbelt("eval", "run", "--dataset", "wrong")
    assert ran.code == 2
    assert "cases.jsonl:1: error:" in ran.err
    assert "'refund'" in ran.err
    assert "cases.jsonl:3: error:" in ran.err
    assert not (office / ".toolbelt").exists()


def test_dry_run_asks_nobody_and_keeps_nothing(
    toolbelt: Toolbelt, office: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    ran = toolbelt(*RUN, "--model", "gpt-4o-mini", "--toolset", "full,tiered", "--dry-run")
    assert ran.code == 0, ran.err
    data = ran.json
    assert data["planned"] == 6
    full, tiered = data["arms"]
    assert full["requests"] >= 3
    assert tiered["requests"] > full["requests"]
    assert 0 < full["definition_tokens"] < full["prompt_tokens"]
    assert data["cost_usd"] == pytest.approx(full["cost_usd"] + tiered["cost_usd"])
    assert full["cost_usd"] > 0
    assert not (office / ".toolbelt").exists()
    unknown = toolbelt(*RUN, "--model", "gpt-4o-mimi", "--dry-run")
    assert (unknown.code, "'gpt-4o-mini'" in unknown.err) == (2, True)
    shown = toolbelt(*RUN[:-1], "--dry-run")
    assert "no model was called" in shown.out


def test_limit_draws_the_same_cases_for_the_same_seed(toolbelt: Toolbelt, office: Path) -> None:
    def ids(*arguments: str) -> set[str]:
        toolbelt(*RUN, "--toolset", "full", *arguments)
        with sqlite3.connect(office / ".toolbelt" / "runs.db") as connection:
            rows = connection.execute(
                "SELECT case_id FROM trials WHERE run = (SELECT run FROM runs ORDER BY created DESC)"
            )
            return {row[0] for row in rows}

    two = ids("--limit", "2", "--seed", "5")
    assert len(two) == 2
    assert ids("--limit", "1", "--seed", "5") < two, "a smaller sample is part of a larger one"
    assert len(set.union(*(ids("--limit", "1", "--seed", str(seed)) for seed in range(8)))) > 1


def test_every_flag_has_its_twin_in_the_environment(
    toolbelt: Toolbelt, office: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLBELT_DATASET", "office")
    monkeypatch.setenv("TOOLBELT_TOOLSET", "full, loadout:cashier,oracle+1")
    monkeypatch.setenv("TOOLBELT_KIND", "single")
    monkeypatch.setenv("TOOLBELT_EPOCHS", "2")
    monkeypatch.setenv("TOOLBELT_STORE", "elsewhere/runs.db")
    ran = toolbelt("eval", "run", "--json")
    assert ran.code == 0, ran.err
    assert [arm["toolset"] for arm in ran.json["arms"]] == ["full", "loadout:cashier", "oracle+1"]
    assert ran.json["planned"] == 2 * 2 * 3
    assert (office / "elsewhere" / "runs.db").exists()


def test_E9_a_cap_ends_the_run_with_3_and_resuming_finishes_it(toolbelt: Toolbelt, office: Path) -> None:
    capped = toolbelt(*RUN, "--toolset", "full,oracle", "--max-requests", "3")
    assert capped.code == 3
    assert "cap of 3 requests" in capped.err
    hint = f"What is left: toolbelt eval resume {capped.json['run']} --max-requests 6 (caps are not kept"
    assert hint in capped.err, "pasted, it is capped, too"
    assert capped.json["scored"] <= 3 < capped.json["planned"] == 6
    before = finish_times(office)

    resumed = toolbelt("eval", "resume", "--json")
    assert resumed.code == 0, resumed.err
    assert (resumed.json["run"], resumed.json["scored"]) == (capped.json["run"], 6)
    assert before.items() <= finish_times(office).items(), "nothing finished was run again"
    unbroken = toolbelt(*RUN, "--toolset", "full,oracle").json
    measures = [(arm["accuracy"], arm["outcomes"], arm["requests"]) for arm in unbroken["arms"]]
    assert [(arm["accuracy"], arm["outcomes"], arm["requests"]) for arm in resumed.json["arms"]] == measures


def test_E8_a_finished_run_is_not_run_again(toolbelt: Toolbelt, office: Path) -> None:
    toolbelt(*RUN)
    before = finish_times(office)
    assert toolbelt("eval", "resume").code == 0
    assert finish_times(office) == before


def test_E8_what_is_left_is_asked_where_the_rest_was(
    toolbelt: Toolbelt, office: Path, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-this-test-0123")
    asked = ("--model", "openai/pick-first", "--toolset", "full", "--api-base", openai_server.url)
    assert toolbelt(*RUN, *asked, "--max-requests", "1").code == 3
    resumed = toolbelt("eval", "resume", "--json", "--max-retries", "0")
    assert (resumed.code, resumed.json["scored"]) == (0, 3), resumed.err


def test_a_folder_whose_name_is_no_text_can_be_run_and_resumed(toolbelt: Toolbelt, office: Path) -> None:
    try:
        (office / "office").rename(office / "caf\udce9")
    except OSError:
        pytest.skip("this file system takes UTF-8 alone")
    ran = toolbelt("eval", "run", "--json", "-d", "caf\udce9", "-t", "full", "--max-requests", "1")
    assert ran.code == 3, ran.err
    assert toolbelt("eval", "resume", "--json").code == 0
    assert toolbelt("eval", "show").code == 0


def test_what_may_be_secret_in_an_address_is_not_kept(toolbelt: Toolbelt, office: Path) -> None:
    address = "http://me:hush-hush@127.0.0.1:9/v1?key=hush-hush#hush-hush"
    assert toolbelt(*RUN, "--toolset", "full", "--api-base", address).code == 0
    kept = b"".join(path.read_bytes() for path in (office / ".toolbelt").rglob("*") if path.is_file())
    assert b"http://127.0.0.1:9/v1" in kept
    assert b"hush" not in kept


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        pytest.param("cases.jsonl", "order 17", "order 18", "cases", id="the-cases"),
        pytest.param("cases.jsonl", *TURNED, "order of the cases", id="the-order-of-the-cases"),
        pytest.param("cases.jsonl", *RETOLD, "fit the filter", id="what-the-filter-goes-by"),
        pytest.param("catalog.json", "by post", "by mail", "catalog", id="a-description"),
        pytest.param(
            "catalog.json", '"cashier": {"cat', '"cashier": {"description": "?", "cat', "loadout", id="a-loadout"
        ),
    ],
)
def test_E8_what_changed_meanwhile_cannot_be_taken_up(
    file: str, old: str, new: str, says: str, toolbelt: Toolbelt, office: Path
) -> None:
    toolbelt(*RUN, "--max-requests", "1", "--kind", "single")
    path = office / "office" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    ran = toolbelt("eval", "resume")
    assert ran.code == 2
    assert says in ran.err
    assert "changed since" in ran.err


def test_E7_a_run_says_with_which_code_it_was_begun_and_goes_on_with_other(
    toolbelt: Toolbelt, office: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(office.parent))
    alone = toolbelt(*RUN, "--max-requests", "1").json
    assert alone["code"] == {"toolbelt": __version__}
    identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org", "-c", "commit.gpgsign=false")
    for command in (["init", "-q"], ["add", "office"], ["commit", "-q", "-m", "one"]):
        subprocess.run(["git", *identity, *command], cwd=office, check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=office, check=True, capture_output=True, text=True)
    resumed = toolbelt("eval", "resume", "--json")
    assert (resumed.code, resumed.json["status"], resumed.json["code"]) == (0, "finished", alone["code"])
    again = toolbelt(*RUN, "--limit", "1").json
    assert again["code"] == {"toolbelt": __version__, "commit": head.stdout.strip(), "changed": "no"}
    assert (again["surroundings"], again["chosen"] == alone["chosen"]) == (alone["surroundings"], False)


def test_E9_a_run_in_which_everything_failed_exits_3_with_the_reason(toolbelt: Toolbelt, office: Path) -> None:
    (office / "down.json").write_text(script({"error": "unavailable"}))
    ran = toolbelt(*RUN, "--model", "scripted/down.json", "--toolset", "full", "--max-retries", "0")
    assert ran.code == 3
    assert "unavailable" in ran.err
    assert (ran.json["scored"], ran.json["errors"]) == (0, 3)
    assert ran.json["arms"][0]["accuracy"]["value"] is None
    (office / "down.json").write_text(script({"calls": [{"tool": "refund", "args": {"order": 17}}]}))
    assert toolbelt("eval", "resume").code == 3, "errors are not run again unasked"
    again = toolbelt("eval", "resume", "--retry-errors", "--json")
    assert (again.code, again.json["scored"], again.json["errors"]) == (0, 3, 0)
    assert again.json["arms"][0]["accuracy"]["numerator"] == 1


def test_E9_a_wrong_key_ends_the_model_at_once(toolbelt: Toolbelt, office: Path) -> None:
    (office / "key.json").write_text(script({"error": "authentication"}))
    ran = toolbelt(
        *RUN, "--model", "scripted/key.json", "--model", "local/bm25", "-t", "full", "--max-concurrency", "1"
    )
    assert ran.code == 3
    assert "authentication" in ran.err
    assert [arm["scored"] for arm in ran.json["arms"]] == [0, 3], "the other model goes on"
    assert ran.json["errors"] == 0, "what was not asked is left to be resumed, and is no error"


def test_one_case_is_shown_request_by_request(toolbelt: Toolbelt, office: Path) -> None:
    toolbelt(*RUN, "--toolset", "full,tiered")
    shown = toolbelt("eval", "show", "--case", "parcel-1")
    assert shown.code == 0
    assert "user: Where is the parcel" in shown.out
    assert "right: mail/track_parcel" in shown.out
    assert mentions(shown.out, "4 tools", "refund", "invoice", "send_letter", "track_parcel")
    assert "→ browse_tools({})" in shown.out
    assert "correct" in shown.out
    data = toolbelt("eval", "show", "latest", "--case", "parcel-1", "--json").json
    assert [trial["toolset"] for trial in data["trials"]] == ["full", "tiered"]
    assert data["answers"] == [[{"tools": ["mail/track_parcel"]}]]
    told = [(trial["called"], trial["missing"], trial["surplus"]) for trial in data["trials"]]
    assert told == [(["mail/track_parcel"], [], [])] * 2
    offered = [request["offered"] for request in data["trials"][1]["requests"]]
    assert all(now[: len(before)] == before for before, now in itertools.pairwise(offered)), "T3: appended"
    missing = toolbelt("eval", "show", "--case", "parcel-2")
    assert (missing.code, "parcel-1" in missing.err) == (2, True)


def test_runs_are_listed(toolbelt: Toolbelt, office: Path) -> None:
    none = toolbelt("eval", "list")
    assert (none.code, "toolbelt eval run" in none.err) == (2, True)
    first = toolbelt(*RUN).json["run"]
    capped = toolbelt(*RUN, "--max-requests", "1").json["run"]
    rows = toolbelt("eval", "list", "--json").json["runs"]
    assert [(row["run"], row["status"]) for row in rows] == [(capped, "incomplete"), (first, "finished")]
    assert first in toolbelt("eval", "list").out


def finish_times(folder: Path, run: str | None = None) -> dict[int, str]:
    """When each trial of the latest run, or of one, was finished."""
    with sqlite3.connect(folder / ".toolbelt" / "runs.db") as connection:
        run = run or connection.execute("SELECT run FROM runs ORDER BY created DESC").fetchone()[0]
        return dict(connection.execute("SELECT trial, finished FROM trials WHERE run = ?", (run,)))


@contextmanager
def working(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A run in a process of its own, under way and with some trials finished."""
    command = [sys.executable, "-m", "toolbelt", "eval", *arguments]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while count_trials(folder) < 50:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, "nothing is finished after a minute"
            time.sleep(0.01)
        yield process
    finally:
        process.kill()
        process.communicate()


def count_trials(folder: Path) -> int:
    try:
        with sqlite3.connect(f"file:{folder / '.toolbelt' / 'runs.db'}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM trials").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


@pytest.fixture
def many(office: Path) -> Path:
    """A run over so many cases that there is time to end it."""
    cases = [{**case, "id": f"{case['id']}-{number}"} for number in range(1000) for case in CASES]
    write_dataset(office / "many", cases)
    return office


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM], ids=lambda end: end.name)  # SIGKILL: `test_kills`
def test_E8_whatever_ends_a_run_nothing_finished_is_lost_or_repeated(
    end: signal.Signals, toolbelt: Toolbelt, many: Path
) -> None:
    with working(many, "run", "--dataset", "many", "--toolset", "full") as process:
        process.send_signal(end)
        _, said = process.communicate(timeout=30)
    if end is signal.SIGINT:
        assert process.returncode == 130
        assert "toolbelt eval resume" in said
    before = finish_times(many)
    assert 50 <= len(before) < 3000
    status = toolbelt("eval", "list", "--json").json["runs"][0]["status"]
    assert status == ("interrupted" if end is signal.SIGINT else "killed")
    assert status in toolbelt("eval", "show").out
    assert f'"status": "{status}"' in toolbelt("eval", "show", "--json").out

    resumed = toolbelt("eval", "resume", "--json")
    assert resumed.code == 0, resumed.err
    assert (resumed.json["scored"], resumed.json["planned"]) == (3000, 3000)
    assert before.items() <= finish_times(many).items()
    with sqlite3.connect(many / ".toolbelt" / "runs.db") as connection:
        asked, attempts = connection.execute("SELECT count(*), max(attempt) FROM requests").fetchone()
        wanted = connection.execute("SELECT sum(requests) FROM trials").fetchone()[0]
    assert (asked, attempts) == (wanted, 0), "no request that was answered was asked again"


def test_E8_two_processes_do_not_work_on_one_run(toolbelt: Toolbelt, many: Path) -> None:
    with working(many, "run", "--dataset", "many", "--toolset", "full") as first:
        first.send_signal(signal.SIGSTOP)  # or it may be through before this process has imported what it needs
        second = toolbelt("eval", "resume")
        assert (second.code, "another process" in second.err) == (2, True)
        first.send_signal(signal.SIGCONT)
        other = toolbelt(*RUN)
        assert other.code == 0, "another run in the same file goes on beside it"


def test_progress_is_told_in_lines_where_there_is_no_terminal(many: Path) -> None:
    command = [sys.executable, "-m", "toolbelt", "eval", "run", "--dataset", "many", "--toolset", "full,tiered"]
    with subprocess.Popen(command, cwd=many, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            if line.startswith("run: "):
                process.terminate()  # one line shows it; the rest of the run shows nothing more
    assert any(" of 6,000 trials, " in line and "right so far" in line for line in lines), lines
    assert "\x1b" not in "".join(lines)
