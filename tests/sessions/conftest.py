"""Sessions over every store."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sessions.samples import STORES, sessions_over
from toolbelt.sessions.sessions import DynamicSessions
from toolbelt.sessions.store import SessionStore


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SessionStore:
    return STORES[request.param](tmp_path)


@pytest.fixture
def sessions(store: SessionStore) -> DynamicSessions:
    return sessions_over(store)
