"""Sessions over every store."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.sessions.samples import STORES, Sessions, sessions_over
from toolbelt.sessions.store import SessionStore
from toolbelt.stores.sessions import SqliteSessionStore


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of sessions in which nothing is kept: to make one takes longer than most tests."""
    path = tmp_path_factory.mktemp("made") / "sessions.db"
    store = SqliteSessionStore(path)
    store.write("a", "s", [], None)
    store.reset("a", "s")
    return path


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, made: Path, tmp_path: Path) -> SessionStore:
    shutil.copy(made, tmp_path / made.name)
    return STORES[request.param](tmp_path)


@pytest.fixture
def sessions(store: SessionStore) -> Sessions:
    return sessions_over(store)
