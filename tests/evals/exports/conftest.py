"""One file of runs and one report of it, for all that only read them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.evals.exports.stores import RUN, sample_store
from toolbelt.evals.exports.report import Report, write_report
from toolbelt.evals.running.store import RunStore


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunStore]:
    """With the run of `tests.evals.views.sample`; not to be written to."""
    with RunStore(sample_store(tmp_path_factory.mktemp("kept") / "runs.db")) as opened:
        yield opened


@pytest.fixture(scope="session")
def reported(store: RunStore) -> Report:
    """The report of that run; not to be written to."""
    return write_report(store, store.get(RUN), store.path.parent / "reports" / RUN)


@pytest.fixture(scope="session")
def kept(reported: Report) -> Path:
    """The folder with both: `runs.db` and `reports/RUN`."""
    return reported.files[0].parents[2]
