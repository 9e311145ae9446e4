"""A run of the store as one side of a comparison, against what a real run left there."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from toolbelt.cli import run as run_command
from toolbelt.evals.analysis.evidence.evidence import ArmName
from toolbelt.evals.analysis.evidence.stored_run import StoredRun
from toolbelt.evals.running.store import RunStore

TOOLS = [
    {"name": "refund", "description": "Pay the money of an order back to the customer."},
    {"name": "parcel", "description": "Say where a parcel is at the moment."},
]
CASES = [
    {"id": "money", "query": "Refund the order.", "expected": [{"tool": "refund"}], "kind": "single", "cluster": "pay"},
    {"id": "where", "query": "Where is my parcel?", "expected": [{"tool": "parcel"}], "kind": "single"},
    {"id": "wrong", "query": "Where is my parcel now?", "expected": [{"tool": "refund"}], "kind": "odd"},
]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A file with a run of two arms and two epochs."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "shop"
    folder.mkdir()
    catalog = {"name": "shop", "plugins": [{"name": "shop", "tools": TOOLS}]}
    (folder / "catalog.json").write_text(json.dumps(catalog))
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))
    assert run_command(["eval", "run", "-d", "shop", "-t", "full,oracle", "--epochs", "2", "--json"]) == 0
    return tmp_path / ".toolbelt" / "runs.db"


def test_what_a_run_is_of(store: Path) -> None:
    with RunStore(store) as opened:
        row = opened.get("latest")
        about = StoredRun(opened, row).about
    assert (about.name, about.dataset, about.digest) == (row.run, "shop", row.plan.digest)
    assert (about.cases, about.epochs, about.chosen, about.surroundings) == (
        3,
        2,
        row.plan.chosen,
        row.plan.surroundings,
    )
    assert (about.status, about.drafts, about.is_baseline) == ("finished", 0, False)
    assert about.settings == {"seed": 0, "request_limit": 10}, "what was left to the provider is not set"
    assert "toolbelt" in about.code


def test_every_case_of_an_arm(store: Path) -> None:
    with RunStore(store) as opened:
        side = StoredRun(opened, opened.get("latest"))
        assert side.arms == (
            ArmName("local/bm25", "full", "", "o200k_base"),
            ArmName("local/bm25", "oracle", "", "o200k_base"),
        )
        found, told = side.read(0), side.read(1)
    assert list(found) == list(told) == ["money", "where", "wrong"]
    money, where, wrong = found.values()
    assert (money.cluster, where.cluster, wrong.kind) == ("pay", "where", "odd")
    assert all(len(case.scored) == 2 for case in found.values())
    right, mistaken = money.scored[0], wrong.scored[1]
    assert (right.is_right, right.called, right.missing, right.surplus) == (True, ("shop/refund",), (), ())
    assert (mistaken.is_right, mistaken.called) == (False, ("shop/parcel",))
    assert (mistaken.missing, mistaken.surplus) == (("shop/refund",), ("shop/parcel",))
    assert right.definition_tokens > told["money"].scored[0].definition_tokens > 0
    assert (right.requests, right.cost_usd, right.prompt_tokens) == (1, 0.0, None)
    assert right.own_prompt_tokens is not None
    assert right.own_prompt_tokens > right.definition_tokens
    assert right.latency_seconds is not None


def test_E5_what_was_not_covered_is_not_right(store: Path) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE trials SET covered = 0 WHERE arm = 0 AND case_id = 'money' AND epoch = 0")
    with RunStore(store) as opened:
        first, second = StoredRun(opened, opened.get("latest")).read(0)["money"].scored
    assert (first.covered, first.is_right, first.is_solved) == (False, False, False)
    assert (second.covered, second.is_right) == (True, True)


def test_what_has_not_finished_is_missing_at_its_epoch(store: Path) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute("DELETE FROM trials WHERE arm = 0 AND case_id = 'money' AND epoch = 0")
        connection.execute("DELETE FROM trials WHERE arm = 0 AND case_id = 'where'")
    with RunStore(store) as opened:
        side = StoredRun(opened, opened.get("latest"))
        found = side.read(0)
        assert set(found) == {"money", "wrong"}
        first, second = found["money"].attempts
        assert first is None
        assert second is not None
        assert list(side.read(1)) == ["money", "where", "wrong"], "the other arm is as it was"


def test_cases_are_in_the_order_asked_whatever_has_finished(store: Path) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute("DELETE FROM trials WHERE case_id = 'money' AND epoch = 0")
    with RunStore(store) as opened:
        side = StoredRun(opened, opened.get("latest"))
        assert [list(side.read(arm)) for arm in (0, 1)] == [["money", "where", "wrong"]] * 2


def test_a_killed_run_says_so(store: Path) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE runs SET status = 'running'")
    with RunStore(store) as opened:
        assert StoredRun(opened, opened.get("latest")).about.status == "killed"


def test_an_arm_that_is_looked_at_again_is_read_once(store: Path) -> None:
    with RunStore(store) as opened:
        side = StoredRun(opened, opened.get("latest"))
        asked: list[str] = []
        opened.connection.set_trace_callback(lambda text: asked.append(text) if "FROM trials" in text else None)
        first = side.read(0)
        assert side.read(0) is first
        assert len(asked) == 1
        assert side.read(1) is not first
        assert (side.read(0), len(asked)) == (first, 3), "one arm is held at a time"


@pytest.mark.parametrize(
    ("flags", "kept"),
    [
        pytest.param((), {}, id="all-cases"),
        pytest.param(("--limit", "2", "--seed", "7"), {"limit": 2, "seed": 7}, id="drawn"),
        pytest.param(
            ("--kind", "single", "--case", "money", "--case", "where"),
            {"kind": ["single"], "case": ["money", "where"]},
            id="named",
        ),
    ],
)
def test_E7_how_cases_were_chosen_is_kept(store: Path, flags: tuple[str, ...], kept: dict[str, object]) -> None:
    assert run_command(["eval", "run", "-d", "shop", "-t", "full", "--json", *flags]) == 0
    with RunStore(store) as opened:
        assert StoredRun(opened, opened.get("latest")).about.filter == kept
