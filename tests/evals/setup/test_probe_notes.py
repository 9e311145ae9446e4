"""What a probe showed and nobody wrote down is told before an eval is paid for."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Toolbelt
from tests.evals.cli.test_eval_run import RUN, office
from tests.servers.running import OpenAIServer
from tests.wording import mentions
from toolbelt.evals.probing.checks import ProbePlan
from toolbelt.evals.probing.probe_store import ProbeStore
from toolbelt.evals.probing.results import CheckOutcome, CheckResult
from toolbelt.evals.running.store import DEFAULT_FILE, RunStore

__all__ = ["office"]
DRY = (*RUN, "--dry-run", "--toolset", "full", "--model")
PLACE = ("--api-base", "http://127.0.0.1:1/v1")
W, R, T = CheckOutcome.WORKS, CheckOutcome.REFUSED, CheckOutcome.TOO_LARGE
NO_TOOLS = CheckResult("one_tool", R, "No tools.", 1)
WINDOW = CheckResult("tools_256", T, "This model's maximum context length is 8192 tokens.", 1)
MOST = (CheckResult("tools_128", W, "", 1), CheckResult("tools_256", R, "At most 200 tools are taken.", 1))
BETWEEN = (CheckResult("tools_128", W, "", 1), CheckResult("tools_256", R, "Too many tools.", 1))


def keep(model: str, *checks: CheckResult, api_base: str | None = PLACE[1]) -> None:
    with RunStore(DEFAULT_FILE) as store:
        kept = ProbeStore(store)
        probe = kept.create(ProbePlan(model, api_base))
        for check in checks:
            asyncio.run(kept.add_check(probe, check))
        kept.set_status(probe, "finished")


def say(**facts: Any) -> None:
    Path("toolbelt.yaml").write_text(json.dumps({"models": [{"name": "openai/mine", **facts}]}))


def notes(error: str) -> list[str]:
    return [line for line in error.splitlines() if "its probe of" in line]


@pytest.mark.parametrize(
    ("known", "checks", "named"),
    [
        pytest.param({}, (NO_TOOLS,), "no tools", id="tools-refused"),
        pytest.param({"tool_calling": True}, (NO_TOOLS,), "no tools", id="tools-refused-and-said-to"),
        pytest.param({}, (WINDOW,), ("window", "8,192", "known: nothing"), id="a-window-nobody-knew"),
        pytest.param(
            {"context_window": 32_000}, (WINDOW,), ("window", "8,192", "known: 32,000"), id="a-smaller-window"
        ),
        pytest.param({"max_tools": 64}, MOST, ("200 tools", "known: 64"), id="more-tools"),
        pytest.param({"max_tools": 256}, MOST, ("200 tools", "known: 256"), id="fewer-tools"),
        pytest.param(
            {"max_tools": 256},
            BETWEEN,
            ("128 tools", "known: 256", "refuses 256"),
            id="a-limit-that-was-refused-and-no-other-named",
        ),
        pytest.param(
            {"max_tools": 64},
            (*MOST, CheckResult("tools_64", T, "maximum context length is 8192 tokens", 1)),
            ("8,192", "known: nothing", "200 tools", "known: 64"),
            id="both-in-one-note",
        ),
    ],
)
def test_L15_what_a_probe_contradicts_is_told_before_a_run(
    toolbelt: Toolbelt, office: Path, known: dict[str, Any], checks: tuple[CheckResult, ...], named: object
) -> None:
    say(**known)
    keep("openai/mine", *checks)
    ran = toolbelt(*DRY, "openai/mine", *PLACE)
    assert ran.code == 0, ran.err
    [note] = notes(ran.err)
    assert note.startswith("note: openai/mine: its probe of 20")
    assert mentions(note, named, "`models`", "toolbelt.yaml")
    assert mentions(note, "toolbelt model probes openai/mine")
    assert "its probe of" not in json.dumps(ran.json)


@pytest.mark.parametrize(
    ("known", "checks", "place"),
    [
        pytest.param({"tool_calling": False}, (NO_TOOLS,), PLACE, id="written-down"),
        pytest.param({"context_window": 4096}, (WINDOW,), PLACE, id="a-smaller-one-is-kept-on-purpose"),
        pytest.param({"context_window": 8192}, (WINDOW,), PLACE, id="as-known"),
        pytest.param({"max_tools": 200}, BETWEEN, PLACE, id="a-limit-that-is-borne-out"),
        pytest.param({"tool_calling": True}, BETWEEN, PLACE, id="what-was-taken-is-no-limit"),
        pytest.param({}, (CheckResult("parallel_calls", CheckOutcome.PARTLY),), PLACE, id="no-matter-for-what-is-sent"),
        pytest.param({}, (NO_TOOLS,), ("--api-base", "http://127.0.0.1:2/v1"), id="made-elsewhere"),
    ],
)
def test_L15_and_nothing_else_is(
    toolbelt: Toolbelt, office: Path, known: dict[str, Any], checks: tuple[CheckResult, ...], place: tuple[str, ...]
) -> None:
    say(**known)
    keep("openai/mine", *checks)
    ran = toolbelt(*DRY, "openai/mine", *place)
    assert (ran.code, notes(ran.err)) == (0, []), ran.err


def test_L15_a_run_of_a_suite_says_so_before_its_trials_fail_and_the_entry_ends_that(
    toolbelt: Toolbelt, office: Path, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-this-test-0123")
    model, at = "openai/able-no-tools@notes", ("--api-base", openai_server.url)
    say(name=model, context_window=8192)
    assert toolbelt("model", "probe", "--model", model, *at).code == 0
    asked = (*RUN, "--suite", "compatibility", "--model", model, *at, "--max-retries", "0")
    ran = toolbelt(*asked)
    assert (ran.code, len(notes(ran.err))) == (3, 1)
    assert ran.err.index("its API takes no tools") < ran.err.index("failed, unscored")
    shown = toolbelt("model", "probes", model).out
    entry = shown[shown.index("- name: ") :].split("\n\n")[0]
    Path("toolbelt.yaml").write_text(f"models:\n{entry}\n")
    openai_server.reset()
    left_out = toolbelt(*asked)
    assert (left_out.code, notes(left_out.err)) == (2, [])
    assert "Nothing of the suite" in left_out.err
    assert openai_server.count("able-no-tools@notes") == 0


@pytest.mark.parametrize("model", ["openai/", "groq/ ", "openai//"])
def test_a_provider_without_a_model_is_refused_and_nothing_is_asked_or_kept(
    toolbelt: Toolbelt, office: Path, openai_server: OpenAIServer, model: str
) -> None:
    ran = toolbelt(*RUN, "--toolset", "full", "--model", model, "--api-base", openai_server.url)
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, model.strip())
    assert not DEFAULT_FILE.parent.exists()


def test_another_store_is_named_and_one_that_is_damaged_says_nothing(toolbelt: Toolbelt, office: Path) -> None:
    keep("openai/mine", NO_TOOLS)
    DEFAULT_FILE.rename("other.db")
    [note] = notes(toolbelt(*DRY, "openai/mine", *PLACE, "--store", "other.db").err)
    assert mentions(note, "toolbelt model probes openai/mine --store other.db")
    Path("broken.db").write_text("no database, though long enough to be read as one" * 99)
    ran = toolbelt(*DRY, "openai/mine", *PLACE, "--store", "broken.db")
    assert (ran.code, notes(ran.err)) == (0, []), ran.err


def test_without_a_store_none_is_made(toolbelt: Toolbelt, office: Path) -> None:
    assert notes(toolbelt(*DRY, "openai/mine", *PLACE).err) == []
    assert not DEFAULT_FILE.parent.exists()
