"""`toolbelt usage` (rule M10)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.mcp.logs.test_usage import write_log
from tests.wording import mentions


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLBELT_STATE_DIR", str(tmp_path / "state"))


def test_M10_the_whole_output(toolbelt: Toolbelt, tmp_path: Path, expected: Callable[[str], str]) -> None:
    write_log(tmp_path / "state" / "audit")
    assert toolbelt("usage").out == expected("usage.txt")


def test_M10_as_json(toolbelt: Toolbelt, tmp_path: Path) -> None:
    write_log(tmp_path / "elsewhere")
    data = toolbelt("usage", str(tmp_path / "elsewhere"), "--by", "server", "--json").json
    assert (data["by"], data["sessions"], data["calls"], data["failures"]) == ("server", 2, 4, 2)
    assert [row["name"] for row in data["rows"]] == ["git", ""]
    assert data["never_called"][0]["definition_tokens"] == 90


def test_M10_since_takes_dates_and_how_long_ago(toolbelt: Toolbelt, tmp_path: Path) -> None:
    write_log(tmp_path / "state" / "audit")
    assert toolbelt("usage", "--since", "1970-01-02T00:00:00+00:00", "--json").json["calls"] == 1
    assert toolbelt("usage", "--since", "2w", "--json").json["calls"] == 0
    wrong = toolbelt("usage", "--since", "yesterday")
    assert wrong.code == 2
    assert mentions(wrong.err, "yesterday", "7d")


def test_M10_without_a_log_it_is_said_where_there_would_be_one(toolbelt: Toolbelt, tmp_path: Path) -> None:
    ran = toolbelt("usage")
    assert (ran.code, ran.out) == (0, "")
    assert mentions(ran.err, tmp_path / "state" / "audit")
    assert toolbelt("usage", "nowhere").code == 2


def test_M10_damage_and_loss_are_reported(toolbelt: Toolbelt, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text('{"record":"lost","time":"x","count":7}\n{"rec\n')
    ran = toolbelt("usage", str(file))
    assert mentions(ran.err, "7 records", "1 line")
