from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.evals.cases.imports.samples import MAILING, log, rows, user, write
from tests.wording import mentions


def test_E3_an_import_can_be_run_at_once(toolbelt: Toolbelt, project: Path) -> None:
    write(project / "log.jsonl", [MAILING])
    ran = toolbelt(
        "dataset", "import", "log.jsonl", "-o", "mine", "--tag", "a", "--tag", "b", "--kind", "mail", "--json"
    )
    assert (ran.code, ran.json) == (
        0,
        {
            "output": "mine",
            "format": "openai",
            "records": 1,
            "cases": 1,
            "drafts": 1,
            "tools": 2,
            "left_out": {},
            "lines": [],
            "lines_left_off": 0,
            "notes": [],
            "redacted": {},
        },
    )
    (row,) = rows(project / "mine")
    assert (row["tags"], row["kind"], row["draft"]) == (["a", "b"], "mail", True)
    assert toolbelt("dataset", "lint", "mine").code == 0
    assert toolbelt("eval", "run", "--dataset", "mine", "--toolset", "full").code == 0


def test_E3_what_was_left_out_is_said_one_by_one_and_counted(toolbelt: Toolbelt, project: Path) -> None:
    write(project / "log.jsonl", [MAILING, "{oops", *[log(user("Hi."))] * 30])
    ran = toolbelt("dataset", "import", "log.jsonl", "-o", "mine", "--skip-broken", "--json")
    assert ran.code == 0
    assert ran.json["left_out"] == {"broken: syntax": 1, "a turn without an answer": 30}
    assert [one["line"] for one in ran.json["lines"]] == list(range(2, 33))
    lines = ran.err.splitlines()
    assert mentions(lines[0], "warning", "log.jsonl:2", "broken", "JSON")
    assert "note: 11 more left out" in lines
    assert any(mentions(line, "note", "30 times") for line in lines)
    assert mentions(lines[-1], "1 case", "1 draft", "2 tools")


def test_V6_a_broken_line_is_reported_and_the_others_are_read(toolbelt: Toolbelt, project: Path) -> None:
    write(project / "log.jsonl", [MAILING, "{oops"])
    ran = toolbelt("dataset", "import", "log.jsonl", "-o", "mine", "--json")
    assert (ran.code, ran.json["cases"]) == (3, 1)
    assert mentions(ran.err, "warning: log.jsonl:2", "Not JSON")


def test_E9_where_no_line_can_be_read_nothing_is_written(toolbelt: Toolbelt, project: Path) -> None:
    write(project / "log.jsonl", ["{oops", "{oops"])
    ran = toolbelt("dataset", "import", "log.jsonl", "-o", "mine", "--json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("log.jsonl:1: error: Not JSON")
    assert not (project / "mine").exists()


def test_V6_a_tool_of_the_catalogs_file_that_cannot_be_read_is_reported(toolbelt: Toolbelt, project: Path) -> None:
    (project / "tools.json").write_text(json.dumps([{"name": "send_mail", "parameters": {}}, {"parameters": {}}]))
    write(project / "log.jsonl", [{key: value for key, value in MAILING.items() if key != "tools"}])
    ran = toolbelt("dataset", "import", "log.jsonl", "-c", "tools.json", "-o", "mine", "--json")
    assert (ran.code, ran.json["tools"]) == (3, 1)
    assert mentions(ran.err, "tools.json:1", "name")


def test_E3_foreign_text_is_made_visible(toolbelt: Toolbelt, project: Path) -> None:
    record = log(user("Hi."), {"role": "assistant", "tool_calls": [{"function": {"name": "\x1b[31mevil"}}]})
    write(project / "log.jsonl", [MAILING, record])
    ran = toolbelt("dataset", "import", "log.jsonl", "-o", "mine")
    assert "\x1b" not in ran.err
    assert "evil" in ran.err


TABLE = (
    "| Tool | Prompt | \x1b[31mNotes |\n|--|--|--|\n| git push | Send <branch>. | x |\n| \x1b[31mevil | Do it. | |\n"
)


def test_E3_a_table_of_prompts_becomes_a_dataset_over_a_catalog(toolbelt: Toolbelt, project: Path) -> None:
    (project / "prompts.md").write_text(TABLE)
    ran = toolbelt("dataset", "import", "prompts.md", "-c", "assistant", "-o", "mine", "--json")
    assert (ran.code, ran.json["format"], ran.json["cases"]) == (0, "queries", 1)
    assert [one["line"] for one in ran.json["lines"]] == [4]
    assert "\x1b" not in ran.err
    assert "evil" in ran.err
    assert "Notes (1)" in ran.err
    (row,) = rows(project / "mine")
    assert (row["query"], [call["tool"] for call in row["expected"]]) == ("Send <branch>.", ["git/git_push"])
    assert toolbelt("dataset", "lint", "mine").code == 0


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        pytest.param("broken.csv", b'Tool,Prompt\nread,"a', id="csv"),
        pytest.param("broken.md", b"| Tool | Prompt |\n|--|--|\n| a | \xff |\n", id="markdown"),
        pytest.param("broken.parquet", b"PAR1" * 3, id="parquet"),
        pytest.param("broken.json", b'{"cases": [{"query": 1, "expectedTools": []}]}', id="json"),
    ],
)
def test_E9_broken_tables_are_wrong_input(toolbelt: Toolbelt, project: Path, name: str, raw: bytes) -> None:
    (project / name).write_bytes(raw)
    ran = toolbelt("dataset", "import", name, "-c", "assistant", "-o", "mine")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(name)
    assert "Traceback" not in ran.err
    assert not (project / "mine").exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        pytest.param(["gone.jsonl", "-o", "mine"], "No file named 'gone.jsonl'", id="no-source"),
        pytest.param([".", "-o", "mine"], "without files of the leaderboard", id="a-folder"),
        pytest.param(["log.jsonl", "-o", "log.jsonl"], "is a file", id="a-file-for-a-folder"),
        pytest.param(["log.jsonl"], "--output", id="no-output"),
        pytest.param(["log.jsonl", "-o", "mine", "--role", "develper"], "Did you mean 'developer'", id="no-such-role"),
        pytest.param(["log.jsonl", "-o", "mine", "-c", "gone"], "gone", id="no-catalog"),
        pytest.param(["log.jsonl", "-o", "mine", "--format", "inspect"], "log.jsonl:1: error", id="another-format"),
    ],
)
def test_E9_wrong_use(toolbelt: Toolbelt, project: Path, arguments: list[str], named: object) -> None:
    write(project / "log.jsonl", [MAILING])
    ran = toolbelt("dataset", "import", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert mentions(" ".join(ran.err.split()), named)


def test_E3_standard_input_is_read(project: Path) -> None:
    command = [sys.executable, "-m", "toolbelt", "dataset", "import", "-", "-o", "mine"]
    done = subprocess.run(command, input=json.dumps(MAILING), capture_output=True, text=True, cwd=project)
    assert done.returncode == 0, done.stderr
    assert [row["id"] for row in rows(project / "mine")] == ["standard-input-1"]


def test_E9_a_disk_that_refuses_is_no_mistake_of_the_users(project: Path) -> None:
    write(
        project / "log.jsonl",
        (log(user(f"Mail {number}. " + "x" * 500), *MAILING["messages"][1:]) for number in range(400)),
    )
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))"
    program = f"{limit}\nfrom toolbelt.cli import main; main()"
    command = [sys.executable, "-c", program, "dataset", "import", "log.jsonl", "-o", "mine"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=project)
    assert (done.returncode, done.stdout) == (3, "")
    assert "Cannot write" in done.stderr
    assert not (project / "mine").exists()
