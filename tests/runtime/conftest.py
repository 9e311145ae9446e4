"""What the tests of calls under way share."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def no_complaints(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """asyncio logs exceptions that nobody looked at, and tasks that nobody ended: there must be none."""
    gc.freeze()  # what other tests and libraries hold takes a second to search, and is none of this test's doing
    try:
        yield
        gc.collect()
    finally:
        gc.unfreeze()
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process finds the tests, as it finds the modules of an agent."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
