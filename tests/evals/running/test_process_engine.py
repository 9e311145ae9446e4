"""Trials of a case whose requests are the same are asked once, and are shown as the arms they are (rules E1, V3)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.servers.running import OpenAIServer, openai_server
from toolbelt.evals import Run, resume_run, run_eval
from toolbelt.evals.analysis.matrix.build_matrix import build_matrix

__all__ = ["openai_server"]

TOOLS = ("lamp_on", "lamp_off", "blinds_up")
CASES = 6
SAME = ("full", "loadout:house", "oracle+1")
"""Of the first two the requests are the same in every case; of the third where a case is offered one tool."""


@pytest.fixture
def house(tmp_path: Path, openai_server: OpenAIServer) -> Iterator[Path]:
    """Cases over three tools, half of them offered one; a loadout of all, and a price."""
    plugins = [{"name": "house", "tools": [{"name": name, "description": f"Does {name}."} for name in TOOLS]}]
    cases = [
        {"id": f"c{n}", "query": f"{TOOLS[n % 3]} in room {n}", "expected": [{"tool": TOOLS[n % 3]}]}
        | ({"offered": [f"house/{TOOLS[n % 3]}"]} if n % 2 else {})
        for n in range(CASES)
    ]
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "catalog.json").write_text(json.dumps({"name": "house", "plugins": plugins}))
    (tmp_path / "house" / "cases.jsonl").write_text("".join(f"{json.dumps(case)}\n" for case in cases))
    models = [{"name": "openai/pick-first@house", "prices": {"input": 10.0, "output": 10.0}}]
    loadouts = {"house": {"plugins": ["house"]}}
    (tmp_path / "toolbelt.yaml").write_text(json.dumps({"models": models, "loadouts": loadouts}))
    openai_server.reset()
    yield tmp_path
    openai_server.reset()


def ask(folder: Path, server: OpenAIServer, model: str = "pick-first@house", **options: Any) -> Run:
    here: dict[str, Any] = {"config": folder / "toolbelt.yaml", "store": folder / "runs.db", "toolsets": SAME}
    return run_eval(folder / "house", f"openai/{model}", api_base=server.url, **here | options)


def trials(folder: Path, columns: str, run: Run) -> list[Any]:
    with closing(sqlite3.connect(folder / "runs.db")) as connection:
        query = f"SELECT {columns} FROM trials WHERE run = ? ORDER BY trial"
        return connection.execute(query, (run.id,)).fetchall()


ANSWERS = "trial, arm, case_id, epoch, outcome, reason, called, requests, prompt_tokens, completion_tokens, cost_usd"


@pytest.mark.parametrize("epochs", [1, 2])
def test_V3_equal_offers_of_a_case_are_asked_once_an_epoch(
    house: Path, openai_server: OpenAIServer, epochs: int
) -> None:
    run = ask(house, openai_server, epochs=epochs)
    asked = epochs * (CASES + CASES // 2)  # the first two arms together; the third where it shows two of three tools
    assert openai_server.count("pick-first@house") == asked
    shares = trials(house, "arm, case_id, same_as IS NULL", run)
    for case in range(CASES):
        own = sum(is_own for _, name, is_own in shares if name == f"c{case}")
        assert own == epochs * (1 if case % 2 else 2), f"c{case}"
    summary = run.summary
    assert [arm.scored for arm in summary.arms] == [CASES * epochs] * 3
    assert sum(arm.shared for arm in summary.arms) == 3 * CASES * epochs - asked


def test_E6_an_arm_costs_what_it_takes_alone_and_the_run_what_it_spent(
    house: Path, openai_server: OpenAIServer
) -> None:
    run = ask(house, openai_server)
    alone = {name: ask(house, openai_server, toolsets=name) for name in SAME}
    of_arm = {number: [row for row in trials(house, ANSWERS, run) if row[1] == number] for number in range(3)}
    for number, name in enumerate(SAME):
        expected = trials(house, ANSWERS, alone[name])
        assert [row[2:] for row in of_arm[number]] == [row[2:] for row in expected], name
    summary = run.summary
    assert [arm.cost_usd_total for arm in summary.arms] == [
        pytest.approx(alone[name].summary.arms[0].cost_usd_total) for name in SAME
    ]
    # The kernel's clock is some 4 ms coarse: an answer of this machine may have taken 0 s.
    assert all(arm.latency_seconds is not None for arm in summary.arms), "that of the answers, whoever asked"
    with closing(sqlite3.connect(house / "runs.db")) as connection:
        [(spent,)] = connection.execute("SELECT sum(cost_usd) FROM requests WHERE run = ?", (run.id,))
    assert summary.spent_usd == pytest.approx(spent)
    assert spent < sum(arm.cost_usd_total or 0.0 for arm in summary.arms)


def test_E8_what_a_cap_cut_goes_on_and_asks_nothing_twice(house: Path, openai_server: OpenAIServer) -> None:
    ask(house, openai_server, max_requests=4, max_concurrency=2)
    assert openai_server.count("pick-first@house") == 4
    run = resume_run(store=house / "runs.db")
    assert openai_server.count("pick-first@house") == CASES + CASES // 2
    whole = ask(house, openai_server)
    assert trials(house, f"{ANSWERS}, same_as", run) == trials(house, f"{ANSWERS}, same_as", whole)


def test_E8_an_arm_that_is_left_has_the_answers_of_one_that_asked(house: Path, openai_server: OpenAIServer) -> None:
    run = ask(house, openai_server)
    before = trials(house, f"{ANSWERS}, same_as", run)
    with closing(sqlite3.connect(house / "runs.db", isolation_level=None)) as connection:
        connection.execute("DELETE FROM trials WHERE same_as IS NOT NULL")
    sent = openai_server.count("pick-first@house")
    assert trials(house, f"{ANSWERS}, same_as", resume_run(run)) == before
    assert openai_server.count("pick-first@house") == sent


def test_E4_a_failure_is_shared_and_asked_once_again(house: Path, openai_server: OpenAIServer) -> None:
    run = ask(house, openai_server, model="rubbish@house", toolsets=SAME[:2], max_retries=0)
    assert openai_server.count("rubbish@house") == CASES
    assert {row[0] for row in trials(house, "outcome", run)} == {"error"}
    resume_run(run, retry_errors=True, max_retries=0)
    assert openai_server.count("rubbish@house") == 2 * CASES


def test_X3_a_recorded_answer_is_one_hit_for_all(house: Path, openai_server: OpenAIServer) -> None:
    for _ in range(2):
        run = ask(house, openai_server, toolsets=SAME[:2], response_cache=house / "cache.db")
    [origin] = run.summary.responses
    assert (openai_server.count("pick-first@house"), origin.recorded.responses) == (CASES, CASES)


def test_V3_the_same_requests_are_no_regression_however_few_cases(house: Path, openai_server: OpenAIServer) -> None:
    run = ask(house, openai_server)
    verdicts = {pair.new.toolset: pair.main_contrast.verdict for pair in run.compare().pairs}
    assert verdicts["loadout:house"] == "no_regression"
    assert verdicts["oracle+1"] == "insufficient_data", "six cases show nothing of others"


def test_V3_a_recommendation_knows_which_arms_sent_the_same_requests(house: Path, openai_server: OpenAIServer) -> None:
    run = ask(house, openai_server, toolsets=SAME[:2])
    with run.open_side() as side:
        [row] = build_matrix(run.summary, side).rows
    verdicts = [each.contrast.verdict for each in row.pick.candidates if each.contrast is not None]
    assert verdicts == ["no_regression"]
