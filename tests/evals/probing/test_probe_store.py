"""Probes in the file that keeps the runs."""

from __future__ import annotations

import asyncio
from dataclasses import fields, replace
from pathlib import Path

import pytest

from tests.evals.running.test_store import request_record
from tests.wording import naming
from toolbelt.errors import InvalidFileError, NotFoundError, ToolbeltError
from toolbelt.evals.probing.checks import EVERY, ProbePlan
from toolbelt.evals.probing.probe_store import ProbeStore, find_open_checks
from toolbelt.evals.probing.results import CheckOutcome, CheckResult
from toolbelt.evals.running.store import RunStore

HERE = "http://127.0.0.1:1/v1"
DONE = CheckResult("unicode", CheckOutcome.PARTLY, "said \x1b[31m", 2, 1, 100, 90, 8, 0, None, 1.5, 0.25)


@pytest.fixture
def kept(tmp_path: Path) -> ProbeStore:
    return ProbeStore(RunStore(tmp_path / "runs.db"))


def begin(kept: ProbeStore, model: str = "m", api_base: str | None = None, *checks: CheckResult) -> str:
    probe = kept.create(ProbePlan(model, api_base, tokenizer="t", code={"toolbelt": "1"}))
    for check in checks:
        asyncio.run(kept.add_check(probe, check))
    return probe


def test_what_was_kept_is_found_as_it_was(kept: ProbeStore) -> None:
    probe = begin(kept, "m", HERE, DONE, CheckResult("one_tool", CheckOutcome.WORKS, cost_usd=None))
    kept.set_status(probe, "incomplete", "half a \ud800 letter")
    with RunStore(kept.store.path) as again:
        result = ProbeStore(again).get(probe)
    assert (result.model, result.api_base, result.planned, result.tokenizer) == ("m", HERE, EVERY, "t")
    assert (result.status, result.reason, result.code) == ("incomplete", "half a ? letter", {"toolbelt": "1"})
    assert [one.key for one in result.checks] == ["one_tool", "unicode"], "in the order of the suite"
    assert result.checks[1] == DONE


def test_a_check_is_a_row(kept: ProbeStore) -> None:
    columns = [row[1] for row in kept.store.connection.execute("PRAGMA table_info(probe_checks)")]
    named = ["check_key" if field.name == "key" else field.name for field in fields(CheckResult)]
    assert [name for name in columns if name not in ("probe", "finished")] == named


def test_E8_attempts_are_found_by_check_and_counted(kept: ProbeStore) -> None:
    probe = begin(kept)
    asyncio.run(kept.add_request(probe, "unicode", request_record(0, 0, 0, None)))
    asyncio.run(kept.add_request(probe, "unicode", request_record(0, 0, 1)))
    asyncio.run(kept.add_request(probe, "one_tool", request_record(0, 1, 0)))
    [(number, earlier)] = kept.find_earlier(probe, "unicode").items()
    assert (number, earlier.attempts, earlier.cost_usd) == (0, 2, 0.002)
    assert earlier.reply == request_record().reply
    assert kept.spent(probe) == (3, 0.003)
    assert kept.find_earlier("another", "unicode") == {}


def test_a_check_made_again_takes_the_place_of_its_first_end(kept: ProbeStore) -> None:
    probe = begin(kept, "m", None, replace(DONE, outcome=CheckOutcome.UNKNOWN), DONE)
    assert kept.get(probe).checks == (DONE,)
    assert find_open_checks([DONE], EVERY) == tuple(key for key in EVERY if key != "unicode")
    assert "unicode" in find_open_checks([replace(DONE, outcome=CheckOutcome.UNKNOWN)], EVERY)


def test_probes_of_a_model_or_of_all_come_with_the_latest_first(kept: ProbeStore) -> None:
    old = begin(kept, "m", HERE, DONE)
    kept.store.connection.execute("UPDATE probes SET created = '2001-01-01'")
    empty = begin(kept, "m")
    begin(kept, "n", None, DONE)
    assert [one.probe for one in kept.probes("m")] == [empty, old]
    assert kept.probes("none") == []
    assert kept.probes()[-1].probe == old
    assert len(kept.probes()) == 3


def test_what_was_spent_on_a_check_that_did_not_end_is_told(kept: ProbeStore) -> None:
    probe = begin(kept, "m", None, replace(DONE, requests=1, retries=1, cost_usd=0.002))
    asyncio.run(kept.add_request(probe, "unicode", request_record(0, 0, 0, None)))
    asyncio.run(kept.add_request(probe, "unicode", request_record(0, 0, 1)))
    assert (kept.get(probe).open_requests, kept.get(probe).open_cost_usd) == (0, 0.0)
    asyncio.run(kept.add_request(probe, "growing_tools", request_record(0, 0, 0)))
    assert kept.get(probe).open_requests == 1
    assert kept.get(probe).open_cost_usd == pytest.approx(0.001)
    asyncio.run(kept.add_request(probe, "growing_tools", replace(request_record(0, 1, 0), cost_usd=None)))
    assert (kept.get(probe).open_requests, kept.get(probe).open_cost_usd) == (2, None)


def test_probes_are_found_by_id_beginning_and_as_the_latest(kept: ProbeStore) -> None:
    with pytest.raises(NotFoundError, match="toolbelt model probe"):
        kept.get("latest")
    first = begin(kept)
    kept.store.connection.execute("UPDATE probes SET created = '2001-01-01', probe = '20010101-000000-aaaa'")
    second = begin(kept)
    assert kept.get("latest").probe == kept.get(second[:-1]).probe == second
    assert kept.get("2001").probe == "20010101-000000-aaaa" != first
    with pytest.raises(ToolbeltError, match="2 probes begin with '20'"):
        kept.get("20")
    with pytest.raises(NotFoundError, match="Did you mean 'latest'"):
        kept.get("latset")


def test_a_probe_left_running_is_killed_unless_somebody_works_on_it(kept: ProbeStore) -> None:
    probe = begin(kept)
    assert kept.get(probe).status == "killed"
    with kept.locks.claim(probe):
        assert kept.get(probe).status == "running"


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE probes SET planned = '{'",
        "UPDATE probes SET planned = '7'",
        "UPDATE probes SET code = '[1]'",
        "UPDATE probes SET status = 'banana'",
        "UPDATE probe_checks SET outcome = 'splendid'",
        "UPDATE probe_checks SET latency_seconds = 'x'",
    ],
)
def test_a_damaged_probe_is_named(kept: ProbeStore, damage: str) -> None:
    probe = begin(kept, "m", None, DONE)
    kept.store.connection.execute(damage)
    row = ("probes", probe) if " probes " in damage else ("probe_checks", "unicode")
    with pytest.raises(InvalidFileError, match=naming(str(kept.store.path), *row)):
        kept.probes()


@pytest.mark.parametrize(
    "damage",
    ["UPDATE probes SET probe = NULL", "UPDATE probes SET probe = X'ff'", "UPDATE probe_checks SET check_key = X'ff'"],
)
def test_E8_a_damaged_key_of_a_probe_is_named(kept: ProbeStore, damage: str) -> None:
    begin(kept, "m", None, DONE)
    kept.store.connection.execute(damage)
    for read in (kept.probes, lambda: kept.get("20")):
        with pytest.raises(InvalidFileError) as caught:
            read()
        assert caught.value.findings[0].rule == "damaged-row"
