"""An eval from Python: a real dataset, a real local model, a real store, and no command line."""

from __future__ import annotations

import asyncio
import math
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.evals.cli.test_eval_run import CASES, office, write_dataset
from tests.wording import mentions, naming
from toolbelt import Project, open_project
from toolbelt.errors import NotFoundError, OutOfRangeError, ToolbeltError
from toolbelt.evals import CaseFilter, Run, load_run, resume_run, run_eval
from toolbelt.evals.running.plan import SETTING_RANGES, Plan
from toolbelt.evals.running.records import TrialRecord
from toolbelt.evals.running.runner import RunEnd
from toolbelt.evals.running.store import DEFAULT_FILE, RunStore
from toolbelt.evals.setup.asking import EXECUTION_RANGES
from toolbelt.evals.setup.reporting import NoteKind, RunNote
from toolbelt.providers.chat import Sampling

__all__ = ["office"]
BY_CHANCE = ["run", "finished", "latency_seconds"]
"""Columns that differ between two runs of the same."""


def alike(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    return bool(one.drop(columns=BY_CHANCE).equals(other.drop(columns=BY_CHANCE)))


def test_E9_a_run_is_a_value_with_its_results_and_nothing_is_printed(
    office: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    trials: list[TrialRecord] = []
    run = run_eval(
        "office", "local/bm25", ["full", "oracle+1"], variants="plain,shuffled", epochs=2, on_trial=trials.append
    )
    assert (run.end, run.reason, run.store) == (RunEnd.FINISHED, "", DEFAULT_FILE)
    assert [(arm.model, arm.toolset, arm.variant) for arm in run.summary.arms] == [
        ("local/bm25", toolset, variant) for toolset in ("full", "oracle+1") for variant in ("", "shuffled")
    ]
    assert len(trials) == len(run.trials) == run.summary.planned == len(CASES) * 4 * 2
    assert run.trials.equals(load_run(run.id))
    assert run.trials.attrs["dataset"] == run.summary.dataset
    assert capfd.readouterr() == ("", "")


def test_E9_toolsets_that_are_not_named_are_the_default_ones(office: Path) -> None:
    assert [arm.toolset for arm in run_eval("office").summary.arms] == ["full", "loadout", "tiered"]


def test_E9_a_filter_and_a_limit_choose_cases(office: Path) -> None:
    run = run_eval("office", toolsets="full", filter=CaseFilter(kinds=("single",)))
    assert set(run.trials["kind"]) == {"single"}
    assert len(run_eval("office", toolsets="full", limit=1).trials) == 1


def test_E8_a_capped_run_is_resumed_to_what_an_unbroken_one_is(office: Path) -> None:
    whole = run_eval("office", toolsets=["full", "tiered"])
    capped = run_eval("office", toolsets=["full", "tiered"], max_requests=3)
    assert capped.end is RunEnd.INCOMPLETE
    assert "cap of 3 requests" in capped.reason
    assert len(capped.trials) < len(whole.trials)
    resumed = resume_run(capped)
    assert (resumed.id, resumed.end) == (capped.id, RunEnd.FINISHED)
    assert alike(resumed.trials, whole.trials)


def test_E8_a_cap_holds_over_sessions(office: Path) -> None:
    capped = run_eval("office", toolsets="full", max_requests=1)
    again = resume_run(capped.id, max_requests=1)
    assert (again.end, len(again.trials)) == (RunEnd.INCOMPLETE, len(capped.trials))


def test_E8_an_interrupted_run_is_kept_and_a_note_says_so(office: Path) -> None:
    notes: list[RunNote] = []

    def interrupt(_: TrialRecord) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_eval("office", toolsets="full", max_concurrency=1, on_trial=interrupt, on_note=notes.append)
    [note] = notes
    assert note.kind is NoteKind.INTERRUPTED
    with RunStore(DEFAULT_FILE) as store:
        [row] = store.runs()
    assert (note.about, row.status, row.finished) == ((row.run,), "interrupted", 1)
    assert alike(resume_run(row.run).trials, run_eval("office", toolsets="full").trials)


def test_E9_it_runs_where_an_event_loop_is_running(office: Path) -> None:
    async def cell() -> Run:
        return run_eval("office", toolsets="full")

    assert asyncio.run(cell()).end is RunEnd.FINISHED


def test_E8_it_can_be_interrupted_where_an_event_loop_is_running(office: Path) -> None:
    """As in a notebook, whose kernel gets Ctrl-C in the main thread."""
    finished: list[TrialRecord] = []

    def interrupt(record: TrialRecord) -> None:
        finished.append(record)
        if len(finished) == 1:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    async def cell() -> None:
        run_eval("office", toolsets="full", epochs=1_000, max_concurrency=1, on_trial=interrupt)

    loop = asyncio.new_event_loop()  # `asyncio.run` would take Ctrl-C for itself
    try:
        with pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(cell())
    finally:
        loop.close()
    with RunStore(DEFAULT_FILE) as store:
        [row] = store.runs()
    assert row.status == "interrupted"
    assert row.finished - len(finished) in {0, 1}  # one may be stored at the moment of the interrupt
    assert row.finished < row.plan.size


def test_E9_what_should_be_known_is_a_value(office: Path) -> None:
    roleless = [{key: value for key, value in case.items() if key != "role"} for case in CASES]
    write_dataset(office / "roleless", roleless)
    heard: list[RunNote] = []
    run = run_eval("roleless", variants=["plain", "distractors:1"], on_note=heard.append)
    assert [(note.kind, note.about) for note in run.notes] == [
        (NoteKind.NO_ROLES, ("loadout",)),
        (NoteKind.NEEDLESS_VARIANT, ("full", "distractors:1")),
    ]
    assert heard == list(run.notes)
    assert str(run.notes[0]) == run.notes[0].text


def test_L10_what_is_doubtful_about_the_loadouts_is_a_note(office: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("toolbelt.yaml").write_text("loadouts: {mine: {plugins: [mail], discoverable: ['zzz*']}}\n")
    notes: list[RunNote] = []
    run_eval("office", toolsets="loadout:mine", limit=1, on_note=notes.append)
    (finding,) = (note for note in notes if note.kind is NoteKind.FINDING)
    assert finding.is_warning
    assert "toolbelt.yaml:1" in finding.text
    assert "zzz*" in finding.text
    assert capfd.readouterr() == ("", "")


def test_E8_trials_with_errors_are_run_again_if_asked(office: Path) -> None:
    run = run_eval("office", toolsets="full")
    assert resume_run(run, retry_errors=True).notes[0].kind is NoteKind.RETRIED
    notes: list[RunNote] = []
    again = resume_run(run, retry_errors=True, on_note=notes.append)
    assert ([note.kind for note in notes], tuple(notes)) == ([NoteKind.RETRIED], again.notes)


def test_E8_what_changed_since_is_not_resumed(office: Path) -> None:
    run = run_eval("office", toolsets="full", max_requests=1)
    cases = office / "office" / "cases.jsonl"
    cases.write_text(cases.read_text().replace("track_parcel", "send_letter"))
    with pytest.raises(ToolbeltError):
        resume_run(run)


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"dataset": "offfice"}, "dataset"),
        ({"toolsets": "ful"}, "toolset"),
        ({"variants": "shufled"}, "variant"),
        ({"suite": "compatability"}, "suite"),
        ({"toolsets": "loadout:nobody"}, "loadout"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_E9_what_is_unknown_is_refused_before_anything_is_kept(
    office: Path, arguments: dict[str, Any], kind: str
) -> None:
    with pytest.raises(NotFoundError) as caught:
        run_eval(**{"dataset": "office", **arguments})
    assert caught.value.kind == kind
    assert not DEFAULT_FILE.exists()


PROJECT = "loadouts: {mine: {plugins: [mail]}}\nagents: {clerk: {tools: [mail]}}\n"


def open_in_memory(folder: Path) -> Project:
    """A project that no `toolbelt.yaml` on the way to the working directory stands for."""
    return open_project(folder, tokenizer="cl100k_base")


@pytest.mark.parametrize("given", [str, Path, open_in_memory, lambda folder: folder / "toolbelt.yaml"])
def test_E9_a_run_uses_the_project_that_it_is_given(office: Path, given: Callable[[Path], Any]) -> None:
    folder = office / "deep" / "proj"
    folder.mkdir(parents=True)
    (folder / "toolbelt.yaml").write_text(PROJECT)
    run = run_eval("office", toolsets=["loadout:mine", "dynamic:clerk"], project=given(folder), max_requests=1)
    assert [arm.toolset for arm in run.summary.arms] == ["loadout:mine", "dynamic:clerk"]
    with RunStore(run.store) as store:
        plan = store.get(run.id).plan
    assert plan.config == str((folder / "toolbelt.yaml").resolve())
    assert plan.tokenizer == ("cl100k_base" if given is open_in_memory else "o200k_base")
    assert resume_run(run).end is RunEnd.FINISHED
    with pytest.raises(NotFoundError):
        run_eval("office", toolsets="loadout:mine")


def test_E8_a_project_without_a_toolbelt_yaml_is_given_again_to_resume(office: Path) -> None:
    folder = office / "proj"
    folder.mkdir()
    (folder / "mine.loadout.yaml").write_text("name: mine\nplugins: [mail]\n")
    run = run_eval("office", toolsets="loadout:mine", project=folder, max_requests=1)
    with pytest.raises(ToolbeltError):
        resume_run(run)
    assert resume_run(run, project=open_project(folder)).end is RunEnd.FINISHED


def test_E9_the_catalog_of_the_project_is_used_where_the_dataset_has_none(office: Path) -> None:
    folder = office / "proj"
    folder.mkdir()
    (folder / "toolbelt.yaml").write_text("catalog: tools.json\n")
    (office / "office" / "catalog.json").rename(folder / "tools.json")
    runs = [run_eval("office", toolsets="full", project=given) for given in (folder, open_project(folder))]
    assert alike(runs[0].trials, runs[1].trials)
    assert [resume_run(run).end for run in runs] == [RunEnd.FINISHED] * 2


def test_E9_an_opened_project_has_its_configuration(office: Path) -> None:
    Path("toolbelt.yaml").write_text(PROJECT)
    with pytest.raises(ToolbeltError, match=naming("toolbelt.yaml", "Project")):
        run_eval("office", toolsets="full", project=open_project(), config="toolbelt.yaml")
    assert not DEFAULT_FILE.exists()


def test_E9_run_resume_and_load_find_the_same_store(office: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(office))
    monkeypatch.setenv("TOOLBELT_STORE", "~/kept/runs.db")
    run = run_eval("office", toolsets="full", max_requests=1)
    assert run.store == office / "kept" / "runs.db"
    assert resume_run().end is RunEnd.FINISHED
    assert len(load_run(run.id)) == len(CASES)
    assert run_eval("office", toolsets="full", limit=1, store="other.db").store == Path("other.db")
    assert len(load_run(store="other.db")) == 1


def test_E8_a_resumed_run_is_refused_what_a_new_one_is(office: Path) -> None:
    run = run_eval("office", toolsets="full", max_requests=1)
    with pytest.raises(OutOfRangeError) as caught:
        resume_run(run, max_concurrency=0)
    assert (caught.value.name, caught.value.value) == ("max_concurrency", 0)
    seen: list[TrialRecord] = []
    resume_run(run, max_requests=2, on_trial=seen.append)
    assert len(run.trials) == len(seen) + 1


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("limit", (0, -1, 1.0)),
        ("epochs", (0, -1, 1.5, "2", True, None)),
        ("seed", (2**63, -(2**63) - 1, None)),
        ("temperature", (-0.1, math.nan, math.inf)),
        ("max_tokens", (0, -1)),
        ("request_limit", (0, -1)),
        ("max_concurrency", (0, -1, 1001)),
        ("timeout_seconds", (0, -1, math.nan, math.inf, None)),
        ("max_retries", (-1, None)),
        ("max_cost_usd", (-0.01, math.nan, math.inf)),
        ("max_requests", (-1, 1.5)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_E9_a_number_out_of_range_is_refused_before_anything_is_kept(
    office: Path, name: str, values: tuple[object, ...]
) -> None:
    for value in values:
        given: dict[str, Any] = {name: value}
        if name in ("temperature", "max_tokens"):
            given = {"sampling": Sampling(**given)}
        with pytest.raises(OutOfRangeError) as caught:
            run_eval("office", toolsets="full", **given)
        limit = {path.rpartition(".")[2]: allowed for path, allowed in {**SETTING_RANGES, **EXECUTION_RANGES}.items()}[
            name
        ]
        assert (caught.value.name, caught.value.value, caught.value.limit) == (name, value, limit)
        assert mentions(caught.value, name, repr(value))
        assert not DEFAULT_FILE.exists()


def test_E9_the_least_and_the_most_that_is_allowed_is_taken(office: Path) -> None:
    run = run_eval("office", toolsets="full", seed=-(2**63), max_concurrency=1000, max_retries=0, max_cost_usd=0)
    assert run.end is RunEnd.FINISHED


@pytest.mark.parametrize(
    ("arguments", "data"),
    [
        ({"models": []}, ("local/bm25",)),
        ({"suite": "compatibility", "toolsets": ["full", "tiered"]}, ("compatibility", "full", "tiered")),
    ],
    ids=["no-model", "a-suite-and-toolsets"],
)
def test_E9_a_request_that_is_no_run_is_refused(
    office: Path, arguments: dict[str, Any], data: tuple[object, ...]
) -> None:
    with pytest.raises(ToolbeltError) as caught:
        run_eval("office", **arguments)
    assert mentions(caught.value, *data)
    assert not DEFAULT_FILE.exists()


def test_E8_a_stored_plan_is_read_whatever_may_be_asked_for_today(office: Path) -> None:
    run = run_eval("office", toolsets="full")
    with RunStore(DEFAULT_FILE) as store:
        plan = store.get(run.id).plan
    kept = replace(plan, epochs=0, request_limit=0)
    assert Plan.from_json(kept.to_json()) == kept


def test_a_run_shows_what_it_came_to(office: Path) -> None:
    run = run_eval("office", toolsets=["full", "oracle"], store="mine/runs.db")
    full, oracle = (arm.accuracy.value for arm in run.summary.arms)
    assert full is not None
    assert oracle is not None
    size = len(CASES)
    assert repr(run) == (
        f"<Run {run.id} of office: finished, {2 * size} of {2 * size} trials; "
        f"accuracy: local/bm25 · full {full:.1%}, local/bm25 · oracle {oracle:.1%}>"
    )
    assert repr(run.summary) == repr(run).replace("<Run", "<RunSummary of")
    capped = run_eval("office", toolsets="full", max_requests=0)
    assert repr(capped) == (
        f"<Run {capped.id} of office: incomplete (the cap of 0 requests is reached), 0 of {size} trials; "
        "accuracy: local/bm25 · full –>"
    )
    (office / "mine" / "runs.db").unlink()
    assert repr(run) == f"<Run {run.id}: finished>"


def test_runs_and_their_arms_are_compared(office: Path) -> None:
    old, new = (run_eval("office", toolsets=["full", "oracle"]) for _ in range(2))
    [within] = old.compare().pairs
    assert (within.old.toolset, within.new.toolset) == ("full", "oracle")
    assert [pair.new.toolset for pair in new.compare(old, margin=0.5).pairs] == ["full", "oracle"]
    with pytest.raises(ToolbeltError, match="single arm"):
        run_eval("office", toolsets="full").compare()


def test_a_report_is_written(office: Path) -> None:
    run = run_eval("office", toolsets=["full", "oracle"])
    page, *others = run.report()
    assert page == Path("reports") / run.id / "report.html"
    assert all(path.stat().st_size for path in (page, *others))
    assert load_run(page.parent).equals(run.trials)
