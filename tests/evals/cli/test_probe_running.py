"""What is said while a model is probed."""

from __future__ import annotations

import re
import time

import pytest

from tests.wording import each_mentions
from toolbelt.evals.cli import probe_running
from toolbelt.evals.cli.probe_running import WAIT_EVERY_SECONDS, ProbeProgress, watch
from toolbelt.evals.probing.results import CheckOutcome, CheckResult
from toolbelt.render import screen

DONE = CheckResult("unicode", CheckOutcome.WORKS)


def test_a_wait_is_told_at_once_and_then_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    now = [100.0]
    watcher = ProbeProgress(lambda _: None, clock=lambda: now[0])
    watcher.waiting(0.6, "unavailable: no\x1b[31m way.")
    watcher.waiting(2.0, "unavailable: told just now")
    now[0] += WAIT_EVERY_SECONDS
    watcher.waiting(61.0, "rate_limit: slow down")
    lines = capsys.readouterr().err.splitlines()
    assert all(re.search(r"\d\d:\d\d:\d\d", line) for line in lines), "until when"
    assert each_mentions(
        lines,
        ("unavailable", "no\\x1b[31m way", "1 s"),
        ("rate_limit", "slow down", "61 s"),
    )


def test_checks_are_counted() -> None:
    told: list[int] = []
    watcher = ProbeProgress(told.append)
    watcher.show()
    watcher.checked(DONE)
    watcher.checked(DONE)
    assert told == [0, 1, 2]


@pytest.mark.parametrize(
    ("patience", "said"), [(60.0, ""), (0.05, "probing m, checks: 0 of 19\n")], ids=["soon", "late"]
)
def test_a_model_that_takes_its_time_does_so_in_view(
    patience: float, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in (screen, probe_running):
        monkeypatch.setattr(module, "PATIENCE_SECONDS", patience)
    heard, deadline = "", time.monotonic() + 10
    with watch("m", 19):
        while said and not heard and time.monotonic() < deadline:
            time.sleep(0.01)
            heard += capsys.readouterr().err
    assert heard + capsys.readouterr().err == said
