"""What every test may use."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import sys
from pathlib import Path

# Many tests start toolbelt as a process. Where no bytecode is written, each compiles all of it anew: 0.3 to 1 s of CPU.
# So do hypothesis and all tests, whose asserts pytest rewrites.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

import hypothesis  # noqa: E402
import pytest  # noqa: E402

from tests.warm import client as warm  # noqa: E402

# A busy machine is no failure: no example has a time limit. Examples are drawn anew each time, so that a law that holds
# of few is soon seen to fail in CI; `make laws` draws 20 times as many at once.
hypothesis.settings.register_profile("toolbelt", deadline=None, max_examples=50)
hypothesis.settings.register_profile("laws", deadline=None, max_examples=1000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "toolbelt"))

# Workers side by side have no core to spare, and threads of BLAS spend CPU on waiting for one. Set before numpy is
# imported. Benchmarks run without workers, and so as users do.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

warm.install()
gc.disable()  # until all tests are collected: they stay, and so does what they import


_TESTS = Path(__file__).parent

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
SHARED_DATA = Path(os.environ.get("TOOLBELT_TEST_DATA", _BESIDE))
"""Public catalogues, a folder each with a `catalog.jsonl`: in `TOOLBELT_TEST_DATA`, else in `shared/data` beside the
checkout. Tests that want them are skipped where they are not."""

needs_shared_data = pytest.mark.skipif(
    not SHARED_DATA.is_dir(), reason="no public catalogues: name their folder in TOOLBELT_TEST_DATA"
)


_IN_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 2 << 30


def pytest_configure(config: pytest.Config) -> None:
    """Keep the files of workers in memory where there is room: a third less CPU for the system, and no wait for a disk.

    They are few at a time, as those of a test that passed are deleted. Benchmarks, which run without workers, write to
    the disk, as users do.
    """
    has_room = os.access(_IN_MEMORY, os.W_OK) and shutil.disk_usage(_IN_MEMORY).free > _ROOM_BYTES
    if config.getoption("numprocesses", None) and has_room:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_IN_MEMORY))


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache folder for the whole run: what is counted once need not be again."""
    return tmp_path_factory.mktemp("cache")


def _is_long(path: Path) -> bool:
    return path.parent in (_TESTS, _TESTS / "evals") or path.parent.name in ("browsing", "engines", "viewer")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes or waits long first: at the end, other workers would wait for it, or start another cluster."""
    items.sort(key=lambda item: not _is_long(item.path))


def pytest_collection_finish() -> None:
    """Collect garbage again, but not among the tests and modules that there are."""
    gc.freeze()
    gc.enable()


_SET_UP = itertools.count(1)
_FREEZE_EVERY = 100
"""Tests after which garbage is no longer looked for among what they imported and cached: it was a sixth of all CPU."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Start processes cold where a test asks for it, or measures them; now and then, freeze what there is."""
    if next(_SET_UP) % _FREEZE_EVERY == 0:
        gc.collect()
        gc.freeze()
    folder = item.path.relative_to(_TESTS).parts[0]
    warm.set_cold(item.get_closest_marker("cold") is not None or folder in ("benchmarks", "real"))


_NUMBERS = itertools.count()


@pytest.fixture(autouse=True)
def _own_surroundings(shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the machine reaches a test, and no test leaves anything behind in the user's cache."""
    for name in list(os.environ):
        if name.startswith("TOOLBELT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("TOOLBELT_CACHE_DIR", str(shared_cache))
    # Approvals, logs and tokens of one test are not there in the next; the folder is made by who needs it.
    monkeypatch.setenv("TOOLBELT_STATE_DIR", str(shared_cache / f"state-{next(_NUMBERS)}"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("COLUMNS", raising=False)
