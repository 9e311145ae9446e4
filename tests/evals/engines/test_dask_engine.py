"""Runs over the workers of a real Dask cluster (rule X5): the trials of one process, whoever is killed."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.eval_work import write_work
from tests.evals.running.test_merging import rows
from tests.servers.running import ROOT, OpenAIServer, openai_server
from tests.wording import mentions, naming

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills processes")

import dask.config  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402
from distributed.security import Security  # noqa: E402

from toolbelt.errors import ToolbeltError, UnreachableError  # noqa: E402
from toolbelt.evals import resume_run, run_eval  # noqa: E402
from toolbelt.evals.engines import parts  # noqa: E402
from toolbelt.evals.run import Run  # noqa: E402
from toolbelt.evals.running.runner import RunEnd  # noqa: E402
from toolbelt.evals.running.store import RunStore  # noqa: E402
from toolbelt.evals.setup.asking import ExecutionOptions  # noqa: E402

__all__ = ["openai_server"]

CASES, CONCURRENCY = 60, 8


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """A scheduler with two workers, as if they were elsewhere."""
    scratch = str(tmp_path_factory.mktemp("scratch"))
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", local_directory=scratch
    ) as own:
        yield own


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset with clusters."""
    work = write_work(tmp_path_factory.mktemp("data") / "work", CASES, tools=8)
    lines = [json.loads(line) for line in (work / "cases.jsonl").read_text().splitlines()]
    for number, line in enumerate(lines):
        line["cluster"] = f"task {number % 25}"
    (work / "cases.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return work


def engine(cluster: LocalCluster) -> str:
    return f"dask:{cluster.scheduler_address}"


def stored(run: Run) -> dict[str, list[tuple[Any, ...]]]:
    return rows(run.store, run.id)


def once(condition: Callable[[], bool]) -> None:
    """Wait until it holds."""
    ends = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.01)


def is_json(path: Path) -> bool:
    """Whether it is there, and written to its end."""
    try:
        json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return False
    return True


@contextmanager
def beside(act: Callable[[], None]) -> Iterator[None]:
    """While something runs, this acts in a thread."""
    thread = threading.Thread(target=act)
    thread.start()
    yield
    thread.join()


def test_X5_the_run_has_the_trials_of_one_process(cluster: LocalCluster, work: Path, tmp_path: Path) -> None:
    def ask(name: str, **settings: Any) -> tuple[Run, list[int]]:
        told: list[int] = []
        run = run_eval(
            work, "local/bm25", ["full", "oracle+3"], variants=["plain", "shuffled"], epochs=2, store=tmp_path / name,
            on_trial=lambda record: told.append(record.trial), **settings,
        )  # fmt: skip
        return run, told

    (spread, told), (whole, _) = ask("spread.db", engine=engine(cluster)), ask("whole.db")
    assert spread.end is RunEnd.FINISHED
    assert stored(spread) == stored(whole)
    assert sorted(told) == list(range(CASES * 2 * 4)), "each is reported once"
    assert any(mentions(note.text, 2, "workers", "dashboard") for note in spread.notes)


def test_X6_a_run_that_is_decided_early_stops_early(cluster: LocalCluster, work: Path, tmp_path: Path) -> None:
    def ask(name: str, **settings: Any) -> Run:
        return run_eval(
            work, "local/bm25", ["full", "oracle"], until_decided=True, margin=0.5, store=tmp_path / name, **settings
        )

    spread, whole = ask("spread.db", engine=engine(cluster)), ask("whole.db")
    for table in ("requests", "trials"):  # one process stores some cases ahead
        assert stored(spread)[table] == stored(whole)[table]
    assert [note.text for note in spread.notes if note.kind == "decision"] == [
        note.text for note in whole.notes if note.kind == "decision"
    ]


def test_X5_what_is_finished_here_is_not_asked_there(
    cluster: LocalCluster, work: Path, tmp_path: Path, openai_server: OpenAIServer
) -> None:
    model = "openai/pick-first@dask-resume"
    begun = run_eval(
        work, model, "full", store=tmp_path / "r.db", api_base=openai_server.url, max_requests=25, max_concurrency=4
    )
    assert begun.end is RunEnd.INCOMPLETE
    ended = resume_run(begun, engine=engine(cluster))
    assert ended.end is RunEnd.FINISHED
    assert openai_server.count(model.removeprefix("openai/")) == CASES


def test_X5_an_arm_that_is_left_has_the_answers_of_one_that_asked_here(
    cluster: LocalCluster, work: Path, tmp_path: Path, openai_server: OpenAIServer
) -> None:
    model = "openai/pick-first@dask-same"
    (tmp_path / "toolbelt.yaml").write_text("loadouts: {all: {plugins: ['*']}}")
    run = run_eval(
        work, model, ["full", "loadout:all"], store=tmp_path / "r.db", api_base=openai_server.url,
        config=tmp_path / "toolbelt.yaml",
    )  # fmt: skip
    before, asked = stored(run)["trials"], openai_server.count(model.removeprefix("openai/"))
    with closing(sqlite3.connect(tmp_path / "r.db", isolation_level=None)) as connection:
        shared = connection.execute("DELETE FROM trials WHERE same_as IS NOT NULL RETURNING trial").fetchall()
    assert (len(shared), asked) == (CASES, CASES)
    shown: list[int] = []
    ended = resume_run(run, engine=engine(cluster), on_trial=lambda record: shown.append(record.trial))
    assert stored(ended)["trials"] == before
    assert openai_server.count(model.removeprefix("openai/")) == asked
    assert sorted(shown) == sorted(trial for (trial,) in shared), "what had ended before is not reported again"


def test_X5_a_cap_on_requests_is_kept_over_all_workers(
    cluster: LocalCluster, work: Path, tmp_path: Path, openai_server: OpenAIServer
) -> None:
    model = "openai/pick-first@dask-cap"
    asked = openai_server.count
    capped = run_eval(
        work,
        model,
        "full",
        store=tmp_path / "r.db",
        api_base=openai_server.url,
        max_requests=31,
        engine=engine(cluster),
    )
    assert capped.end is RunEnd.INCOMPLETE
    assert mentions(capped.reason, "cap", 31)
    assert asked(model.removeprefix("openai/")) == 31
    ended = resume_run(capped, engine=engine(cluster), max_requests=60)
    assert (ended.end, asked(model.removeprefix("openai/"))) == (RunEnd.FINISHED, CASES)


def test_X5_a_cap_on_cost_is_kept_over_all_workers(
    cluster: LocalCluster, work: Path, tmp_path: Path, openai_server: OpenAIServer
) -> None:
    model = "openai/pick-first@dask-cost"
    prices = {"models": [{"name": model, "prices": {"input": 1000, "output": 1000}}]}
    (tmp_path / "toolbelt.yaml").write_text(json.dumps(prices))
    common: dict[str, Any] = {"max_concurrency": CONCURRENCY, "engine": engine(cluster)}

    def spent(run: Run) -> list[float]:
        with RunStore(run.store) as store:
            return [cost for (cost,) in store.connection.execute("SELECT cost_usd FROM requests")]

    one = run_eval(work, model, "full", limit=1, api_base=openai_server.url, config=tmp_path / "toolbelt.yaml",
                   store=tmp_path / "one.db")  # fmt: skip
    (price,) = spent(one)
    cap = 31.5 * price
    capped = run_eval(work, model, "full", api_base=openai_server.url, config=tmp_path / "toolbelt.yaml",
                      store=tmp_path / "r.db", max_cost_usd=cap, **common)  # fmt: skip
    assert capped.end is RunEnd.INCOMPLETE
    assert mentions(capped.reason, "cap", f"${cap:g}")
    costs = spent(capped)
    assert len(costs) == openai_server.count(model.removeprefix("openai/")) - 1 < CASES, "all that was sent is known"
    assert cap / 2 < sum(costs) <= cap + CONCURRENCY * max(costs), "beyond it by the answers under way at most"
    with RunStore(capped.store) as store:
        row = store.get(capped.id)
    assert (row.status, row.reason) == ("incomplete", capped.reason)

    again = resume_run(capped, max_cost_usd=cap, **common)
    assert again.end is RunEnd.INCOMPLETE
    ended = resume_run(capped, max_cost_usd=2 * CASES * price, **common)
    assert ended.end is RunEnd.FINISHED
    assert len(spent(ended)) == openai_server.count(model.removeprefix("openai/")) - 1 == CASES


def test_X5_a_killed_worker_loses_only_what_was_in_flight(
    cluster: LocalCluster, work: Path, tmp_path: Path, openai_server: OpenAIServer
) -> None:
    model = "openai/slow-40@dask-kill"
    count = openai_server.count

    def kill() -> None:
        once(lambda: count(model.removeprefix("openai/")) > CASES // 2)
        with Client(cluster.scheduler_address) as client:
            pids = client.run(os.getpid)
        os.kill(next(iter(pids.values())), signal.SIGKILL)

    with beside(kill):
        run = run_eval(
            work, model, "full", epochs=4, store=tmp_path / "r.db", api_base=openai_server.url,
            max_concurrency=CONCURRENCY, max_requests=CASES * 4 + CONCURRENCY, engine=engine(cluster),
        )  # fmt: skip
    assert run.end is RunEnd.FINISHED
    sent = count(model.removeprefix("openai/"))
    assert CASES * 4 <= sent <= CASES * 4 + CONCURRENCY // 2, "one worker's share of what is under way at once"
    assert [len(stored(run)[table]) for table in ("trials", "requests")] == [CASES * 4, CASES * 4]
    once(lambda: len(cluster.scheduler_info["workers"]) == 2)


def start_dask(*arguments: str, folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", "from dask.__main__ import main; main()", *arguments]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_X5_a_lost_scheduler_ends_the_run_which_goes_on_at_another(
    work: Path, tmp_path: Path, openai_server: OpenAIServer
) -> None:
    model = "openai/slow-40@dask-lost"
    count = openai_server.count

    @contextmanager
    def scheduled() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
        file = tmp_path / "scheduler.json"
        file.unlink(missing_ok=True)
        tell = ("--scheduler-file", str(file))
        scheduler = start_dask("scheduler", "--port", "0", "--host", "127.0.0.1", *tell, folder=tmp_path)
        options = ("--no-nanny", "--nthreads", "2", "--death-timeout", "5", "--local-directory", ".")
        worker = start_dask("worker", *tell, *options, folder=tmp_path)
        try:
            once(lambda: is_json(file))
            yield json.loads(file.read_text())["address"], scheduler
        finally:
            for process in (worker, scheduler):
                process.terminate()
                process.wait()

    with scheduled() as (address, scheduler):

        def kill() -> None:
            once(lambda: count(model.removeprefix("openai/")) > CASES)
            scheduler.kill()

        with beside(kill):
            lost = run_eval(
                work, model, "full", epochs=4, store=tmp_path / "r.db", api_base=openai_server.url,
                max_concurrency=CONCURRENCY, engine=f"dask:{address}",
            )  # fmt: skip
    assert lost.end is RunEnd.INCOMPLETE
    assert mentions(lost.reason, "scheduler")
    with scheduled() as (address, _):
        ended = resume_run(lost, max_concurrency=CONCURRENCY, engine=f"dask:{address}")
    assert ended.end is RunEnd.FINISHED
    assert CASES * 4 <= count(model.removeprefix("openai/")) <= CASES * 4 + CONCURRENCY
    assert [len(stored(ended)[table]) for table in ("trials", "requests")] == [CASES * 4, CASES * 4]


def test_X5_ctrl_c_keeps_what_has_ended(work: Path, tmp_path: Path, openai_server: OpenAIServer) -> None:
    model = "openai/slow-40@dask-interrupt"
    count = openai_server.count
    common = ["--store", "r.db", "--engine", "dask:2", "--max-concurrency", str(CONCURRENCY)]
    command = [sys.executable, "-m", "toolbelt", "eval"]
    asked = ["--dataset", str(work), "--model", model, "--toolset", "full", "--epochs", "4"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [*command, "run", *asked, "--api-base", openai_server.url, *common],
        cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        once(lambda: count(model.removeprefix("openai/")) > CASES)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does, workers and all
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in told
    assert mentions(told, "resume", "--engine dask:2")
    with RunStore(tmp_path / "r.db") as store:
        kept = store.get("latest").finished
        assert store.get("latest").status == "interrupted"
    assert CASES - CONCURRENCY <= kept < CASES * 4
    done = subprocess.run([*command, "resume", *common], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert CASES * 4 <= count(model.removeprefix("openai/")) <= CASES * 4 + CONCURRENCY
    assert not list((tmp_path / "dask").rglob("part.db"))


def configured(settings: Mapping[str, object]) -> AbstractContextManager[object]:
    """Dask with these settings of connections."""
    chosen: AbstractContextManager[object] = dask.config.set(
        {f"distributed.comm.{name}": value for name, value in settings.items()}
    )
    return chosen


def test_X5_a_scheduler_with_tls_is_asked_as_dask_is_configured(work: Path, tmp_path: Path) -> None:
    own = Security.temporary()
    settings = {
        "require-encryption": True,
        "tls.ca-file": own.tls_ca_file,
        "tls.client.cert": own.tls_client_cert,
        "tls.client.key": own.tls_client_key,
    }
    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            security=own,
            dashboard_address="127.0.0.1:0",
            local_directory=str(tmp_path / "w"),
        ) as cluster,
        configured(settings),
    ):
        assert cluster.scheduler_address.startswith("tls://")
        run = run_eval(work, "local/bm25", "full", limit=5, store=tmp_path / "r.db", engine=engine(cluster))
        assert run.end is RunEnd.FINISHED
        assert not list((tmp_path / "w").glob("**/toolbelt-parts/*")), "what was stored is removed"
        with pytest.raises(ToolbeltError, match=naming("encryption", "tls://")):
            run_eval(work, "local/bm25", "full", store=tmp_path / "r.db", engine="dask:127.0.0.1:1")


# What is refused


def assert_no_run(path: Path) -> None:
    """A start that failed leaves no empty run, which `latest` would be."""
    with RunStore(path, must_exist=True) as store:
        assert store.runs() == []


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        pytest.param({}, ("certificates", "ca-file"), id="no-certificates"),
        pytest.param(
            dict.fromkeys(("tls.ca-file", "tls.client.cert"), "/nowhere/ca.pem"),
            ("TLS", "cannot be used", "ca-file"),
            id="no-such-file",
        ),
    ],
)
def test_X5_tls_that_is_not_configured_is_refused_with_what_to_set(
    settings: dict[str, str], named: tuple[str, ...], work: Path, tmp_path: Path
) -> None:
    with (
        configured(settings),
        pytest.raises(ToolbeltError, match=naming(*named)),
    ):
        run_eval(work, "local/bm25", "full", store=tmp_path / "r.db", engine="dask:tls://127.0.0.1:1")
    assert_no_run(tmp_path / "r.db")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param({"code": {**parts.describe_code(), "Python": "2.7"}}, ("Python", "2.7"), id="another-version"),
        pytest.param({"dataset": "/nowhere/tools"}, ("/nowhere/tools",), id="no-dataset-there"),
        pytest.param({"digest": "0" * 64}, ("cases", "changed"), id="other-cases"),
    ],
)
def test_X5_a_worker_that_would_run_other_trials_is_refused_before_the_first_request(
    change: dict[str, Any], named: tuple[str, ...], cluster: LocalCluster, work: Path, tmp_path: Path
) -> None:
    run = run_eval(work, "local/bm25", "full", limit=1, store=tmp_path / "r.db")
    with RunStore(run.store) as store:
        plan = store.get(run.id).plan
    setup = parts.PartSetup(run.id, plan, ExecutionOptions(), tmp_path / "responses.db", parts.describe_code())
    setup = replace(setup, **change) if "code" in change else replace(setup, plan=replace(plan, **change))
    with Client(cluster.scheduler_address) as client:
        worker = next(iter(client.nthreads()))
        with pytest.raises(ToolbeltError, match=naming(worker, *named)):
            client.submit(parts.prepare, setup, workers=[worker]).result()


def test_X5_nothing_listens_at_the_address(work: Path, tmp_path: Path) -> None:
    with pytest.raises(UnreachableError, match=naming("127.0.0.1:1", "dask scheduler")):
        run_eval(work, "local/bm25", "full", store=tmp_path / "r.db", engine="dask:127.0.0.1:1")
    assert_no_run(tmp_path / "r.db")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        pytest.param({"engine": "dask", "offline": True}, ("--offline",), id="offline"),
        pytest.param({"engine": "dask:h:1", "response_cache": "r.db"}, ("--response-cache",), id="shared-cache"),
        pytest.param({"engine": "dask:h:1", "api_base": "http://u:key@h/v1"}, ("--api-base", "key"), id="secret"),
    ],
)
def test_X5_what_a_cluster_cannot_do_is_refused(
    options: dict[str, Any], named: tuple[str, ...], work: Path, tmp_path: Path
) -> None:
    with pytest.raises(ToolbeltError, match=naming(*named)):
        run_eval(work, "local/bm25", "full", store=tmp_path / "r.db", **options)
    assert not (tmp_path / "r.db").exists()
