"""A browser for the tests of this folder, and pages in it for those of a module."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.evals.viewer.browser import Watched, afresh, opened_browser, watched
from tests.evals.viewer.compared import ABOUT, CHECKS, WITHIN
from tests.evals.viewer.runs import small_run
from tests.evals.viewer.writing import page_file
from toolbelt.evals.analysis.gate.verdict import GateResult, Limits

LIST = "#view=list"


_CLOSING = ExitStack()
_BROWSERS: list[Browser] = []


@pytest.fixture(scope="module")
def browser() -> Browser:
    if not _BROWSERS:
        _BROWSERS.append(_CLOSING.enter_context(opened_browser()))
    return _BROWSERS[0]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Close the browser where the next test is of another folder, and may run an event loop."""
    if nextitem is None or nextitem.path.parent != item.path.parent:
        _BROWSERS.clear()
        _CLOSING.close()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page_file(small_run(), tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    gate = GateResult(ABOUT, CHECKS, Limits(), WITHIN)
    return page_file(small_run(), tmp_path_factory.mktemp("compared"), gate=gate)


@pytest.fixture
def seen(browser: Browser) -> Iterator[Watched]:
    with watched(browser) as one:
        yield one


@pytest.fixture(scope="module")
def shared(browser: Browser) -> Iterator[Watched]:
    with watched(browser) as one:
        yield one


@pytest.fixture
def page(shared: Watched, small: Path) -> Iterator[Page]:
    """The small run, its trials as a list."""
    yield from afresh(shared, small, LIST)
