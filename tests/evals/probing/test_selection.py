"""Which of several probes stands for a model."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.evals.probing.probes import SAID, make_probe
from toolbelt.errors import ToolbeltError
from toolbelt.evals.probing.checks import CHECKS, SUITE, ProbePlan
from toolbelt.evals.probing.probe_store import ProbeStore
from toolbelt.evals.probing.results import CheckOutcome, CheckResult, ProbeResult
from toolbelt.evals.probing.selection import (
    find_latest,
    find_standing,
    find_standing_and_later,
    latest_of_each,
    probes_of_run,
)
from toolbelt.evals.running.store import RunStore

EVERY = tuple(check.key for check in CHECKS)


def test_the_latest_of_all_checks_goes_before_a_later_one_of_a_few() -> None:
    few, whole, older = (
        make_probe(probe="3"),
        make_probe(probe="2", planned=EVERY),
        make_probe(probe="1", planned=EVERY),
    )
    assert find_standing([few, whole, older]) is whole
    assert find_standing([few, make_probe(probe="0")]) is few


UNKNOWN = CheckOutcome.UNKNOWN
FAILED = tuple(CheckResult(key, UNKNOWN) for key in EVERY)
"""Every check of a server that was not there."""


def _made(number: int, status: str = "finished", checks: tuple[CheckResult, ...] | None = None, **changes: Any) -> Any:
    made = {"checks": checks} if checks is not None else {}
    return make_probe(probe=str(number), created=f"2026-01-0{number}", status=status, **{**made, **changes})


_WHOLE: dict[str, Any] = {"planned": EVERY}
_OLD: dict[str, Any] = {"suite": SUITE + 1, "planned": EVERY}


@pytest.mark.parametrize(
    ("probes", "stands", "later"),
    [
        pytest.param([_made(2, "incomplete", FAILED, **_WHOLE), _made(1, **_WHOLE)], "1", "2", id="a-server-was-down"),
        pytest.param([_made(2, "killed", **_WHOLE), _made(1, **_WHOLE)], "1", "2", id="killed-on-the-way"),
        pytest.param(
            [_made(3, **_WHOLE), _made(2, "killed", **_WHOLE), _made(1, **_WHOLE)], "3", None, id="made-since"
        ),
        pytest.param([_made(2), _made(1, **_WHOLE)], "1", None, id="a-finished-one-of-a-few-is-not-unfinished"),
        pytest.param(
            [_made(3, "running", FAILED[:1], **_WHOLE), _made(2, "killed", FAILED, **_WHOLE), _made(1, **_WHOLE)],
            "1",
            "3",
            id="the-last-of-two",
        ),
        pytest.param([_made(2, "killed", **_WHOLE), _made(1, "killed", FAILED, **_WHOLE)], "2", None, id="the-fullest"),
        pytest.param([_made(2, "killed", FAILED, **_WHOLE), _made(1)], "1", "2", id="a-few-before-nothing"),
        pytest.param([_made(2, "killed", **_WHOLE), _made(1, "killed", **_WHOLE)], "2", None, id="as-full-the-latest"),
        pytest.param([_made(2, "killed", FAILED, **_WHOLE), _made(1, **_OLD)], "1", "2", id="nothing-of-now"),
    ],
)
def test_the_latest_finished_of_all_checks_stands_and_an_unfinished_later_one_is_known(
    probes: list[ProbeResult], stands: str, later: str | None
) -> None:
    found = find_standing_and_later(probes)
    assert found is not None
    assert (found.result.probe, found.later and found.later.probe) == (stands, later)


def test_one_that_came_to_nothing_stands_for_nobody() -> None:
    assert find_standing([]) is None
    assert find_standing([make_probe(checks=())]) is None


def test_one_of_the_checks_as_they_are_now_goes_before_one_of_others() -> None:
    other, now = make_probe(suite=SUITE + 1, planned=EVERY), make_probe()
    assert find_standing([other, now]) is now
    assert find_standing([other]) is other


def test_each_model_at_each_place_has_one_even_if_it_came_to_nothing() -> None:
    here, there = make_probe("m", created="2026-01-02"), make_probe("m", api_base="http://a", created="2026-01-03")
    nothing = make_probe("n", checks=(), created="2026-01-01")
    assert latest_of_each([there, here, nothing, make_probe("m", created="2026-01-01")]) == [there, here, nothing]


def test_a_run_has_the_probes_made_where_it_asked(tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.db") as store:
        kept = ProbeStore(store)
        for model, place in (("gpt-4o", None), ("gpt-4o", "http://a/v1"), ("local/bm25", None), ("n", "http://b/v1")):
            asyncio.run(kept.add_check(kept.create(ProbePlan(model, place)), SAID["one_tool"]))
        found = probes_of_run(store, ["n", "gpt-4o", "local/bm25", "gpt-4o"], "http://a/v1/")
        assert [(one.model, one.api_base) for one in found] == [("gpt-4o", "http://a/v1"), ("local/bm25", None)]
        assert [one.api_base for one in probes_of_run(store, ["gpt-4o"], None)] == [None]
    found_again = find_latest(str(tmp_path / "runs.db"), "n")
    assert found_again is not None
    assert (found_again.result.api_base, found_again.later) == ("http://b/v1", None)


def test_where_there_is_no_file_there_is_no_probe_and_none_is_made(tmp_path: Path) -> None:
    assert find_latest(str(tmp_path / "a" / "runs.db"), "m") is None
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_file_of_runs_is_told(tmp_path: Path) -> None:
    (tmp_path / "runs.db").write_text("no database, though long enough to be read as one" * 99)
    with pytest.raises(ToolbeltError, match="no file of runs"):
        find_latest(str(tmp_path / "runs.db"), "m")
