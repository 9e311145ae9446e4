"""A run as Markdown (rule E10): complete, and foreign names show as they are."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.markdown import Markdown

from tests.evals.analysis.summary.rows import RUN
from tests.evals.views.sample import ARMS, sample_run
from toolbelt.evals.analysis.summary.run_summary import ArmSummary, Rate, RunSummary
from toolbelt.evals.analysis.summary.summarize import summarize
from toolbelt.evals.cli.run import run
from toolbelt.evals.running.overflow import LeftOutArm, ModelLimits
from toolbelt.evals.views.pictures.drawing import draw_pictures
from toolbelt.evals.views.run_markdown import _OPTIONS, report_markdown
from toolbelt.loadouts.fit import FitVerdict
from toolbelt.render.markdown import escaped

EXPECTED = Path(__file__).parent / "expected" / "report.md"


def test_E10_the_whole_report() -> None:
    summary = summarize(sample_run(), RUN)
    assert report_markdown(summary, draw_pictures(summary)) == EXPECTED.read_text(encoding="utf-8")


def _summary(*toolsets: str) -> RunSummary:
    arms = tuple(ArmSummary("m", toolset) for toolset in toolsets)
    return RunSummary("r", "2026-03-01", "finished", "d", "sha256:0", arms=arms)


@given(st.text(max_size=30))
def test_foreign_text_keeps_a_table_in_shape(name: str) -> None:
    table = report_markdown(_summary(name)).split("## Results")[1].split("</details>")[0].strip().splitlines()
    assert len(table) == 3
    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table} == {19}
    assert "<" not in table[2].replace("<!-- -->", "")
    assert not re.search(r"(?<!\\)(?:\\\\)*`", table[2])


@pytest.mark.parametrize(
    "name",
    ["a|b", "*bold*", "_em_", "snake_case", "`code`", "<b>html</b>", "[link](x)", "![x](y)", "\\", "&amp;", "a\nb"],
)
def test_foreign_text_shows_as_it_is(name: str) -> None:
    screen = Console(width=80)
    with screen.capture() as captured:
        screen.print(Markdown(escaped(name)))
    assert captured.get().strip() == name.replace("\n", " ")


def test_the_command_runs_the_same_again() -> None:
    text = report_markdown(summarize(sample_run(), RUN))
    [command] = re.findall(r"^toolbelt eval run .*$", text, re.MULTILINE)
    words = shlex.split(command)
    options = list(zip(words[3::2], words[4::2], strict=True))
    assert options[:5] == [
        ("--dataset", "/tmp/my sets/assistant"),
        ("--kind", "single"),
        ("--kind", "multi"),
        ("--limit", "8"),
        ("--temperature", "0.0"),
    ]
    assert [value for option, value in options if option == "--model"] == ["local/bm25", "gpt-4o"]
    assert len([value for option, value in options if option == "--toolset"]) == len({arm[1] for arm in ARMS})
    assert options[-2:] == [("--epochs", "1"), ("--seed", "0")]


def test_paths_are_told_as_one_would_write_them_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = {"dataset": str(tmp_path / "own"), "config": str(tmp_path / "toolbelt.yaml")}
    text = report_markdown(replace(_summary("loadout"), settings=settings))
    assert "--dataset own " in text
    assert str(tmp_path) not in text


def test_the_command_asks_at_the_same_place_with_the_same_tokenizer() -> None:
    settings = {"tokenizer": "cl100k_base", "api_base": "http://127.0.0.1:8000/v1", "without_role": 3}
    text = report_markdown(replace(_summary("loadout"), settings=settings))
    [command] = re.findall(r"^toolbelt eval run .*$", text, re.MULTILINE)
    words = shlex.split(command)
    assert words[3:9] == ["--dataset", "d", "--tokenizer", "cl100k_base", "--api-base", "http://127.0.0.1:8000/v1"]
    assert "role" not in command
    assert "| api base | http://127.0.0.1:8000/v1 |" in text
    assert "| without role" not in text
    assert "3 cases have no role" in text


def test_the_command_of_a_suite_names_every_model_in_the_order_asked_for() -> None:
    summary = replace(
        _summary("full", "tiered"),
        suite="compatibility",
        rooms={"deaf": ModelLimits(tool_calling=False), "m": ModelLimits(8192)},
        left_out=(LeftOutArm("deaf", "full", FitVerdict.UNSUPPORTED, "So."),),
        settings={"ask_anyway": True},
    )
    [command] = re.findall(r"^toolbelt eval run .*$", report_markdown(summary), re.MULTILINE)
    asked = "--model deaf --model m --suite compatibility --ask-anyway --epochs 1 --seed 0"
    assert command == f"toolbelt eval run --dataset d {asked}"


def test_every_option_of_the_command_is_one_of_eval_run() -> None:
    """What the report says to type is what the command takes."""
    settings = {name: "1" for name in _OPTIONS if name not in ("dataset", "catalog", "config")}
    text = report_markdown(replace(_summary("full"), settings=settings))
    [command] = re.findall(r"^toolbelt eval run .*$", text, re.MULTILINE)
    known = {option for parameter in run.params for option in parameter.opts}
    assert {word for word in shlex.split(command) if word.startswith("--")} - known == set()


def test_E5_abstaining_where_nothing_is_covered_is_reported_apart() -> None:
    arm = ArmSummary("m", "tiered", "shuffled", abstained_uncovered=Rate(2, 8, 0.07, 0.59), invalidated_tokens=1234.0)
    text = report_markdown(replace(_summary(), arms=(arm,)))
    headers, _, row = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in text.split("## Results")[1].split("</details>")[0].strip().splitlines()
    ]
    cells = dict(zip(headers, row, strict=True))
    assert (cells["arm"], cells["abstained uncovered"], cells["invalidated tokens"]) == (
        "tiered · shuffled",
        "25.0%",
        "1,234",
    )


def test_backticks_do_not_end_the_command() -> None:
    text = report_markdown(_summary("loadout:```x"))
    assert re.search(r"^````sh\n.*loadout:```x.*\n````$", text, re.MULTILINE)


def test_an_empty_run_has_a_report_without_noughts() -> None:
    text = report_markdown(replace(_summary("full"), planned=4, status="interrupted"))
    assert "| 1 | m | full | – | – | – |" in text
    assert "This run is interrupted." in text
    assert "nan" not in text
