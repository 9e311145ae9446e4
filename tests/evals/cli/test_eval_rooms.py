"""What cannot fit is never asked (rule E4), and `auto` gives what fits (rule L15): proved by a server with a window."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran, Toolbelt
from tests.evals.cli.test_eval_run import CASES, RUN, office, write_dataset
from tests.servers.running import OpenAIServer
from tests.wording import mentions

__all__ = ["office"]
LITTLE = "openai/window-8192@rooms"
SERVED = "window-8192@rooms"
LIMIT = 2
MANY = 60
ASSISTANT = ("eval", "run", "--dataset", "assistant", "--limit", str(LIMIT), "--request-limit", "4", "--json")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-this-test-0123")


def say(*models: dict[str, Any]) -> None:
    Path("toolbelt.yaml").write_text(json.dumps({"models": models}))


def arms(ran: Ran) -> dict[str, dict[str, int]]:
    """Outcomes by toolset."""
    return {arm["toolset"]: arm["outcomes"] for arm in ran.json["arms"]}


def made(run: str) -> dict[str, int]:
    """Requests by toolset, as the store has them."""
    with sqlite3.connect(".toolbelt/runs.db") as connection:
        return dict(
            connection.execute(
                "SELECT toolset, sum(requests) FROM trials JOIN arms USING (run, arm) WHERE run = ? GROUP BY arm",
                (run,),
            ).fetchall()
        )


@pytest.mark.parametrize("dataset", [pytest.param("assistant", id="201-tools"), pytest.param("tiered", id="111-tools")])
def test_E4_L15_a_window_of_8192_with_a_whole_shipped_catalog(
    toolbelt: Toolbelt, openai_server: OpenAIServer, dataset: str
) -> None:
    say({"name": LITTLE, "context_window": 8_192, "tool_calling": True})
    fits = toolbelt("model", "fit", "--model", LITTLE, "--catalog", dataset, "--json").json["fits"]
    verdicts = {f"loadout:{one['toolset']}": one["verdict"] for one in fits[1:]} | {"full": fits[0]["verdict"]}
    assert verdicts["full"] == "refuses"

    openai_server.reset()
    asked = ("--suite", "compatibility", "--model", LITTLE, "--api-base", openai_server.url)
    ran = toolbelt(*ASSISTANT, "--dataset", dataset, *asked)
    assert ran.code == 0, ran.err
    assert mentions(ran.err, f"{LITTLE} is not asked", "full, loadout:")
    outcomes, requests = arms(ran), made(ran.json["run"])
    whole = {"context_overflow": LIMIT}
    for toolset, found in outcomes.items():
        refused = verdicts.get(toolset, "fits") == "refuses"
        assert (found == whole, requests[toolset] == 0) == (refused, refused), toolset
        assert refused or "context_overflow" not in found, toolset
    assert {"full", "loadout:auto", "tiered"} < outcomes.keys()
    shared = {arm["toolset"]: arm["shared"] for arm in ran.json["arms"] if arm["shared"]}
    asked_once = sum(requests[toolset] for toolset in shared)
    assert openai_server.count(SERVED) == sum(requests.values()) - asked_once, "none was sent of those that do not fit"
    assert set(shared.values()) <= {LIMIT}, "auto is one of the loadouts, in every case"
    sent = [len(request["body"]["tools"]) for request in openai_server.requests(SERVED)]
    assert max(sent) <= max(one["tools"] for one in fits if one["verdict"] != "refuses")
    assert (ran.json["suite"], ran.json["rooms"][LITTLE]["context_window"]) == ("compatibility", 8_192)
    assert ran.json["compatibility"]["run"] == ran.json["run"]


def test_E4_L15_auto_overflows_in_none_of_many_shipped_cases(toolbelt: Toolbelt, openai_server: OpenAIServer) -> None:
    model, served = "openai/able-window-8192@rooms", "able-window-8192@rooms"
    say({"name": model, "context_window": 8_192, "tool_calling": True})
    openai_server.reset()
    asked = ("--model", model, "--toolset", "full,loadout:auto", "--api-base", openai_server.url)
    ran = toolbelt("eval", "run", "--dataset", "assistant", "--limit", str(MANY), "--seed", "7", "--json", *asked)
    full, auto = ran.json["arms"]
    assert (full["outcomes"], full["turned_away"]) == ({"context_overflow": MANY}, MANY)
    assert (auto["scored"], auto["planned"]) == (MANY, MANY), auto["outcomes"]
    assert auto["accuracy"]["numerator"] > MANY / 20, "it calls what it is told"
    assert full["cost_usd_total"] == 0
    assert (full["requests"], full["prompt_tokens"], full["latency_seconds"]) == (None, None, None)
    assert openai_server.count(served) == made(ran.json["run"])["loadout:auto"]


def test_E4_what_is_said_of_a_name_may_not_hold_where_it_is_served(
    toolbelt: Toolbelt, openai_server: OpenAIServer
) -> None:
    asked = (*ASSISTANT, "--toolset", "full,loadout:pocket", "--model", "gpt-4")
    here = toolbelt(*asked, "--api-base", openai_server.url)
    by_name = (
        f"That is known from the model's name, whatever {openai_server.url} serves under it. Where that is wrong, say"
    )
    assert by_name in here.err
    say({"name": "local/bm25", "context_window": 8_192})
    ours = toolbelt(*ASSISTANT, "--toolset", "full,loadout:pocket", "--api-base", openai_server.url)
    assert mentions(ours.err, "local/bm25 is not asked", "full")
    assert "serves under it" not in ours.err, "it is asked nothing at any address"
    Path("toolbelt.yaml").unlink()
    dry = toolbelt(*(part for part in asked if part != "--json"), "--dry-run")
    assert mentions(" ".join(dry.out.split()), "`models`", "toolbelt.yaml", "--ask-anyway")
    say({"name": "gpt-4", "context_window": 128_000})
    corrected = toolbelt(*asked, "--api-base", openai_server.url)
    assert ("not asked" in corrected.err, corrected.json["arms"][0]["turned_away"]) == (True, LIMIT), "for 128 tools"
    say({"name": "gpt-4", "context_window": 128_000, "max_tools": 1_000})
    corrected = toolbelt(*asked, "--api-base", openai_server.url)
    assert ("not asked" in corrected.err, corrected.json["arms"][0]["turned_away"]) == (False, 0)


def test_E4_asked_anyway_the_server_itself_refuses(toolbelt: Toolbelt, openai_server: OpenAIServer) -> None:
    say({"name": LITTLE, "context_window": 8_192, "tool_calling": True})
    openai_server.reset()
    asked = ("--toolset", "full", "--model", LITTLE, "--api-base", openai_server.url)
    kept_back = toolbelt(*ASSISTANT, *asked)
    assert (kept_back.code, arms(kept_back)["full"]) == (3, {"context_overflow": LIMIT})
    assert "no toolset fits its model" in kept_back.err
    assert openai_server.count(SERVED) == 0

    anyway = toolbelt(*ASSISTANT, *asked, "--ask-anyway")
    assert (anyway.code, arms(anyway)["full"]) == (3, {"context_overflow": LIMIT})
    assert "every conversation was too long" in anyway.err
    assert "not asked" not in anyway.err
    assert openai_server.count(SERVED) == LIMIT
    assert anyway.json["settings"]["ask_anyway"] is True
    assert "ask_anyway" not in kept_back.json["settings"]
    both = toolbelt("eval", "compare", kept_back.json["run"], anyway.json["run"], "--json").json
    assert both["comparable"], "it is the same that was asked"


def test_E4_a_dry_run_says_that_nothing_would_be_asked_and_why(toolbelt: Toolbelt) -> None:
    say({"name": LITTLE, "context_window": 8_192, "prices": {"input": 1, "output": 1}})
    asked = (
        *ASSISTANT,
        "--toolset",
        "full,tiered",
        "--model",
        LITTLE,
        "--dry-run",
        "--api-base",
        "http://127.0.0.1:9/v1",
    )
    full, tiered = toolbelt(*asked).json["arms"]
    assert (full["requests"], full["prompt_tokens"], full["definition_tokens"], full["cost_usd"]) == (0, 0, 0, 0)
    assert (full["not_asked"], tiered["not_asked"]) == (LIMIT, 0)
    assert mentions(full["reason"], "46,493 tokens", "2,048")
    assert tiered["requests"] > LIMIT
    shown = toolbelt(*(part for part in asked if part != "--json"))
    assert mentions(" ".join(shown.out.split()), LITTLE, "2 of 2 trials", "46,493")


def test_E4_the_answer_asked_for_is_what_is_kept_free(toolbelt: Toolbelt) -> None:
    say({"name": LITTLE, "context_window": 8_192})
    asked = (*ASSISTANT, "--toolset", "loadout:pocket", "--model", LITTLE, "--dry-run")
    for tokens, unasked in ((None, 0), ("4000", 0), ("5100", LIMIT)):
        flag = () if tokens is None else ("--max-tokens", tokens)
        [arm] = toolbelt(*asked, *flag, "--api-base", "http://127.0.0.1:9/v1").json["arms"]
        assert arm["not_asked"] == unasked, tokens
    kept = toolbelt(*asked[:-1], "--max-tokens", "5100", "--api-base", "http://127.0.0.1:9/v1")
    assert (kept.code, mentions(kept.err, "--max-tokens")) == (3, True)


def test_E4_how_many_tools_a_request_may_hold_goes_by_the_name_at_any_address(
    toolbelt: Toolbelt, openai_server: OpenAIServer
) -> None:
    openai_server.reset()
    asked = (*ASSISTANT, "--toolset", "full,loadout:auto", "--model", "gpt-4o", "--api-base", openai_server.url)
    ran = toolbelt(*asked)
    assert (ran.code, arms(ran)["full"]) == (0, {"context_overflow": LIMIT})
    assert mentions(ran.err, "128 tools", 201, 73)
    assert "context_overflow" not in arms(ran)["loadout:auto"], "which steps down for the number, too"
    assert max(len(request["body"]["tools"]) for request in openai_server.requests("gpt-4o")) <= 128
    say({"name": "gpt-4o", "max_tools": 1_000})
    assert "context_overflow" not in arms(toolbelt(*asked))["full"], "what the project says goes before it"


GROWING = {
    "tiered": ("openai/tiered@rooms", "CATEGORY money\nCALL refund {}"),
    "dynamic": ("openai/dynamic@rooms", "TOOLKIT money\nCALL refund {}"),
}


@pytest.mark.parametrize("toolset", GROWING)
def test_E4_a_toolset_that_outgrows_the_window_midway(
    toolbelt: Toolbelt, tmp_path: Path, openai_server: OpenAIServer, toolset: str
) -> None:
    model, query = GROWING[toolset]
    write_dataset(Path("office"), [{**CASES[0], "query": query}])
    asked = (*RUN, "--toolset", toolset, "--model", model, "--api-base", openai_server.url)
    openai_server.reset()
    [free] = toolbelt(*asked).json["arms"]
    before = openai_server.count(model.removeprefix("openai/"))
    assert free["scored"] == 1
    say({"name": model, "context_window": int(free["definition_tokens"]) + 20, "output_reserve": 10})
    openai_server.reset()
    ran = toolbelt(*asked)
    assert (ran.code, arms(ran)) == (3, {toolset: {"context_overflow": 1}})
    assert "every conversation was too long" in ran.err
    assert 0 < openai_server.count(model.removeprefix("openai/")) < before
    assert made(ran.json["run"]) == {toolset: openai_server.count(model.removeprefix("openai/"))}


def test_E8_a_resume_decides_by_what_was_known_when_the_run_began(toolbelt: Toolbelt, office: Path) -> None:
    def narrow(most: int) -> None:
        say({"name": "local/bm25", "max_tools": most})

    narrow(2)
    asked = (*RUN, "--toolset", "full,loadout:cashier", "--max-requests", "1")
    assert toolbelt(*asked).code == 3
    narrow(100)
    resumed = toolbelt("eval", "resume", "--json")
    assert arms(resumed)["full"] == {"context_overflow": 3}
    assert "known when the run began" in resumed.err

    narrow(2)
    assert toolbelt(*asked).code == 3
    with sqlite3.connect(".toolbelt/runs.db") as connection:  # as it was written before there were rooms
        run, text = connection.execute("SELECT run, plan FROM runs ORDER BY created DESC LIMIT 1").fetchone()
        plan = {key: value for key, value in json.loads(text).items() if key not in ("rooms", "left_out", "ask_anyway")}
        connection.execute("UPDATE runs SET plan = ? WHERE run = ?", (json.dumps(plan), run))
        connection.execute("DELETE FROM trials WHERE run = ?", (run,))
    assert "context_overflow" not in arms(toolbelt("eval", "resume", "--json"))["full"]


def test_E4_local_and_scripted_models_have_all_the_room_that_the_project_gives_them(
    toolbelt: Toolbelt, office: Path
) -> None:
    plain = toolbelt(*RUN, "--toolset", "full").json
    assert (plain["rooms"], plain["arms"][0]["scored"]) == ({}, 3)
    (office / "any.json").write_text('[{"when": "*", "replies": [{"text": "no"}]}]')
    say({"name": "scripted/any.json", "context_window": 100, "output_reserve": 1})
    ran = toolbelt(*RUN, "--toolset", "full", "--model", "scripted/any.json")
    assert (ran.code, arms(ran)) == (3, {"full": {"context_overflow": 3}})


def test_E4_a_model_said_to_call_no_tools_is_asked_all_the_same_with_a_warning(
    toolbelt: Toolbelt, office: Path
) -> None:
    say({"name": "local/bm25", "tool_calling": False})
    ran = toolbelt(*RUN, "--toolset", "full")
    assert (ran.code, ran.json["scored"]) == (0, 3)
    assert mentions(ran.err, "warning", "local/bm25", "no tools")
    say({"name": "local/bm25", "tool_calling": False, "context_window": 5_000})
    chosen = toolbelt(*RUN, "--toolset", "full,loadout:auto")
    assert (chosen.code, chosen.json["scored"]) == (0, 6), "whatever the toolset"
    assert "asked anyway" in chosen.err
    suite = toolbelt(*RUN, "--suite", "compatibility")
    assert (suite.code, mentions(suite.err, "calls no tools", "toolbelt.yaml")) == (2, True)


def test_E4_what_fits_for_some_cases_is_asked_for_these(toolbelt: Toolbelt, office: Path) -> None:
    say({"name": "local/bm25", "max_tools": 2})
    ran = toolbelt(*RUN, "--toolset", "loadout")  # the case without a role is shown the whole catalog
    assert (ran.code, ran.json["scored"], arms(ran)["loadout"]["context_overflow"]) == (0, 2, 1)
    told = (
        "local/bm25 · loadout: not asked in 1 of 3 cases tried, as it does not fit. In one: A request may hold 2 tools"
    )
    assert told in ran.err
    assert toolbelt(*RUN, "--toolset", "loadout", "--variant", "shuffled").json["scored"] == 2


def test_a_case_that_was_turned_away_is_told_not_to_have_been_asked(
    toolbelt: Toolbelt, office: Path, openai_server: OpenAIServer
) -> None:
    model = "openai/able@rooms-turned"
    say({"name": model, "max_tools": 2, "tool_calling": True})
    at = ("--model", model, "--api-base", openai_server.url)
    case = CASES[0]["id"]
    ran = toolbelt(*RUN, "--toolset", "full,oracle", *at, "--limit", "3")
    assert ran.code == 0, ran.err
    shown = toolbelt("eval", "show", "--case", case)
    [line] = [line for line in shown.out.splitlines() if "not asked" in line]
    assert mentions(line, "context_overflow", "2 tools")
    assert line.endswith("; nothing was sent")
    trials = toolbelt("eval", "show", "--case", case, "--json").json["trials"]
    assert [(one["toolset"], one["turned_away"]) for one in trials] == [("full", True), ("oracle", False)]


def test_a_case_that_the_provider_turned_away_was_asked(
    toolbelt: Toolbelt, office: Path, openai_server: OpenAIServer
) -> None:
    at = ("--model", "openai/overflow@rooms-turned", "--api-base", openai_server.url)
    toolbelt(*RUN, "--toolset", "full", *at, "--limit", "3")
    shown = toolbelt("eval", "show", "--case", CASES[0]["id"])
    assert "context_overflow" in shown.out
    assert "not asked" not in shown.out


def test_L15_a_run_over_auto_tells_that_what_the_project_gives_is_no_loadout(toolbelt: Toolbelt, office: Path) -> None:
    say({"name": "openai/mine", "context_window": 8_192, "tool_calling": True, "toolset": "tiered"})
    asked = ("--model", "openai/mine", "--limit", "1", "--dry-run")
    told = "openai/mine with loadout:auto: toolbelt.yaml gives this model 'tiered', which is no loadout: "
    assert toolbelt(*RUN, "--toolset", "loadout:auto,full", *asked).err.count(told) == 1
    assert told not in toolbelt(*RUN, "--toolset", "full", *asked).err
    say({"name": "openai/mine", "context_window": 8_192, "tool_calling": True, "toolset": "full"})
    assert "toolbelt.yaml gives" not in toolbelt(*RUN, "--toolset", "loadout:auto", *asked).err
