"""Every command that reads the file of runs refuses what was changed in it by hand, and says where (E8, E9)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.evals.running.test_row_checks import damage
from toolbelt.errors import InvalidFileError
from toolbelt.evals import load_run
from toolbelt.evals.evaluate import run_eval


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with one run in which a tool is called."""
    path = tmp_path / "runs.db"
    run_eval("assistant", toolsets=["full", "loadout:devops"], limit=4, store=path)
    return path


def _commands(tmp_path: Path) -> Iterator[tuple[str, ...]]:
    yield ("eval", "show")
    yield ("eval", "show", "--json")
    yield ("eval", "compare", "latest")
    yield ("eval", "gate", "latest", "--baseline", "latest")
    yield ("eval", "baseline", "save", "latest", "--output", str(tmp_path / "baseline.json"))
    yield ("eval", "report", "--output", str(tmp_path / "reports"))
    yield ("eval", "export", "latest", "--output", str(tmp_path / "trials.csv"))
    yield ("eval", "resume", "latest")
    yield ("eval", "recommend", "latest")


@pytest.mark.parametrize(
    "statement",
    ["UPDATE trials SET outcome = 'banana'", "UPDATE trials SET called = '['", "UPDATE requests SET reply = '{'"],
)
def test_E9_every_reader_exits_with_2_and_names_file_and_row(
    toolbelt: Toolbelt, store: Path, tmp_path: Path, statement: str
) -> None:
    damage(store, statement)
    for command in _commands(tmp_path):
        ran = toolbelt(*command, "--store", str(store))
        assert (ran.code, ran.out) == (2, ""), command
        assert f"{store}: error: Row of " in ran.err, command
    with pytest.raises(InvalidFileError):
        load_run("latest", store=store)


def test_E9_a_damaged_probe_exits_with_2_too(toolbelt: Toolbelt, store: Path) -> None:
    damage(
        store,
        "INSERT INTO probes VALUES ('p', '2026-01-01', 'finished', '', 'm', NULL, 1, 't', '[\"unicode\"]', '{}')",
    )
    assert toolbelt("model", "probes", "--store", str(store)).code == 0
    damage(store, "UPDATE probes SET suite = 'x'")
    ran = toolbelt("model", "probes", "--store", str(store))
    assert (ran.code, ran.out) == (2, "")
    assert f"{store}: error: Row of probes: probe 'p': `suite` is 'x'" in ran.err
