"""A browser, and pages in it, for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.evals.viewer.browser import ARGUMENTS, Watched, afresh, find_chromium, watched
from tests.evals.viewer.compared import ABOUT, CHECKS, WITHIN
from tests.evals.viewer.runs import small_run
from tests.evals.viewer.writing import page_file
from toolbelt.evals.analysis.gate.verdict import GateResult, Limits

LIST = "#view=list"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        yield opened
        opened.close()


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
