"""Answers that a model gave elsewhere as a run: scored and stored as any other, and nobody is asked.

Names of tools in the answers may be plain ones; a name that several of the tools shown have is refused. What else a
model called by a wrong name counts as such.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from toolbelt.errors import AmbiguousNameError, InvalidFileError, ToolbeltError
from toolbelt.evals.cases.case import Case
from toolbelt.evals.cases.references import CatalogNames
from toolbelt.evals.execution import RunRequest, Started, ignore
from toolbelt.evals.models.answer_rows import AnswerFiles, read_answers
from toolbelt.evals.models.imported import Answer, Answers, ImportedFrom, ImportedModel
from toolbelt.evals.models.opening import ModelOptions
from toolbelt.evals.responses.response import digest_answer
from toolbelt.evals.run import Run
from toolbelt.evals.running.client import Budget, RetryPolicy
from toolbelt.evals.running.own_thread import run_outside_loop
from toolbelt.evals.running.plan import CaseFilter, Plan, RunSettings, Trial
from toolbelt.evals.running.records import Done, TrialRecord, format_names
from toolbelt.evals.running.runner import CaseSource, Runner, RunWatcher, run_to_end
from toolbelt.evals.running.store import RunStore, find_store
from toolbelt.evals.running.trial import TrialRunner
from toolbelt.evals.scoring.outcome import Ending, Outcome
from toolbelt.evals.setup.arms import PreparedArm, make_trial_runners, prepare_arms
from toolbelt.evals.setup.inputs import ChosenCases, RunInputs, open_inputs
from toolbelt.evals.setup.planning import make_plan
from toolbelt.evals.setup.reporting import CallbackReporter, EvalReporter, NoteKind, RunNote
from toolbelt.findings import Finding, Severity, sorted_findings
from toolbelt.project.project import Project
from toolbelt.providers.chat import ModelError
from toolbelt.text import plural

AT_ONCE = 64
"""Trials that are stored together."""
_MOST_NAMED = 3


def import_answers(
    files: str | Path | Sequence[str | Path],
    dataset: str | Path,
    model: str,
    toolset: str = "full",
    *,
    filter: CaseFilter = CaseFilter(),  # noqa: A002, B008  the command's word; frozen
    seed: int = 0,
    catalog: str | Path | None = None,
    config: str | Path | None = None,
    tokenizer: str | None = None,
    project: Project | str | Path | None = None,
    store: str | Path | None = None,
    on_note: Callable[[RunNote], object] | None = None,
) -> Run:
    """Make a run of answers that a model gave elsewhere, as `toolbelt eval import` does. Nobody is asked.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from toolbelt.evals import import_answers
        >>> file = Path(tempfile.mkdtemp()) / "answers.csv"
        >>> _ = file.write_text("case_id,tool\\nsingle-glob-tsconfig-1,glob\\n")
        >>> run = import_answers(file, "assistant", "vendor/model", store=file.with_name("runs.db"))
        >>> run.end.value, run.summary.scored
        ('incomplete', 1)

    Args:
        files: JSON, JSON Lines, CSV, Parquet, or tables in Markdown; see `toolbelt.evals.models.answer_rows`.
        dataset: What was asked: a shipped name, a folder with cases.jsonl and a catalog, or a file of cases.
        model: Who answered, as the run is to call it.
        toolset: What the model was shown.
        filter: Which cases the run has.
        seed: Of everything that is drawn.
        catalog: In place of the dataset's own.
        config: Path of a `toolbelt.yaml`; the one found from the working directory if `None`.
        tokenizer: What counts definitions where a model's own tokenizer is not known; the project's if `None`.
        project: As for `run_eval`.
        store: As for `run_eval`.
        on_note: Called with each note; `Run.notes` has the same.

    Returns:
        The run; `end` is `incomplete` where a case has no answer.

    Raises:
        NotFoundError: no such file, dataset or toolset; or no row is of a case.
        InvalidFileError: a case has two answers, an answer calls a tool by a name that several have, or nothing can be
            read; every such row.
    """
    request = RunRequest(
        dataset=str(dataset),
        models=(model,),
        toolsets=(toolset,),
        settings=RunSettings(filter=filter, seed=seed),
        catalog=None if catalog is None else str(catalog),
        config=None if config is None else str(config),
        tokenizer=tokenizer,
        store=find_store(store),
        project=Path(project) if isinstance(project, str) else project,
    )
    names = (files,) if isinstance(files, str | Path) else tuple(files)
    reporter = CallbackReporter(on_note, None)
    run = run_outside_loop(lambda started: start_import(request, tuple(map(str, names)), reporter, started))
    return replace(run, notes=tuple(reporter.notes))


def start_import(request: RunRequest, files: Sequence[str], reporter: EvalReporter, started: Started = ignore) -> Run:
    """Make a run of answers; errors are those of `import_answers`.

    Args:
        request: What was asked, of one model with one toolset.
        files: The answers.
        reporter: Gets notes and progress.
        started: Called before the first trial.
    """
    inputs = open_inputs(request.dataset, request.catalog, request.config, request.tokenizer, reporter, request.project)
    names = CatalogNames(inputs.catalog)
    read = read_answers(files, lambda text: _is_tool(names, text), sys.stdin.buffer)
    _refuse_unreadable(read, files)
    imported = ImportedFrom(tuple(files), _digest(read.answers))
    settings = replace(request.settings, epochs=read.epochs, imported=imported)
    plan = make_plan(inputs, request.models, request.toolsets, (), settings, reporter)
    if len(plan.arms) > 1:
        named = ", ".join(arm.toolset for arm in plan.arms)
        raise ToolbeltError(f"Answers are of one model that was shown one toolset; name one of: {named}.")
    (arm,) = prepare_arms(
        inputs, plan, ModelOptions(is_offline=True), reporter, lambda name, _: ImportedModel(name, read.answers)
    )
    cases = inputs.cases_of(plan)
    answers = _resolve(read.answers, plan, cases, arm, names)
    _report(read, answers, inputs, reporter)
    arm = replace(arm, model=ImportedModel(arm.arm.model, answers))
    budget = Budget()
    with RunStore(request.store) as store:
        run = store.create(plan, [arm.renderer.tokenizer])
        runners = make_trial_runners(
            inputs, plan, [arm], budget, RetryPolicy(max_retries=0), partial(store.add_request, run)
        )
        with reporter.watch(run, plan, store, budget, ()) as watcher:
            runner = Runner(plan, run, store, cases, _Import(plan, run, store, cases, runners[0], answers, watcher))
            started(runner)
            end = run_to_end(runner)
        return Run(run, store.path, end, "; ".join(runner.reasons), models=inputs.project.models)


@dataclass(eq=False)
class _Import:
    """The engine: it takes every answer, whatever became of others."""

    plan: Plan
    run: str
    store: RunStore
    cases: CaseSource
    trial_runner: TrialRunner
    answers: Answers
    watcher: RunWatcher
    reasons: list[str] = field(default_factory=list)
    not_recorded: int = 0

    async def ask(self, positions: Sequence[int], done: Done) -> None:
        """Score and store what has an answer."""
        trials = list(self.plan.trials(done, positions))
        answered = [each for each in trials if (self.cases.case(each.case).id, each.epoch) in self.answers]
        for start in range(0, len(answered), AT_ONCE):
            some = answered[start : start + AT_ONCE]
            self.store.add_cases(self.run, [self.cases.case(trial.case) for trial in some])
            await asyncio.gather(*map(self._run, some))
        if missing := len(trials) - len(answered):
            self.reasons.append(f"no answer in the files, so unscored: {plural(missing, 'trial')}")

    async def close(self) -> None:
        """Nothing was opened."""

    async def _run(self, trial: Trial) -> None:
        case = self.cases.case(trial.case)
        record = await self.trial_runner.run(trial, case)
        if record.ending == Ending.NO_CALL and record.outcome == Outcome.MISSING_CALL:
            record = _without_score(record, self.answers[case.id, trial.epoch])
        await self.store.add_trial(self.run, record)
        self.watcher.finished(record)


def _without_score(record: TrialRecord, answer: Answer) -> TrialRecord:
    """The record of a trial as unscored, where all was right and more might have followed."""
    if not answer.is_open:
        return record
    steps = plural(len(answer.replies), "step")
    record = replace(record, outcome=Outcome.ERROR, ending=Ending.ERROR, hits=None, made=None, wanted=None)
    record = replace(record, arguments_checked=0, arguments_right=0, missing=format_names(()), surplus=format_names(()))
    return replace(record, reason=f"The answer ends after {steps}, with nothing wrong so far, and the case takes more.")


def _is_tool(names: CatalogNames, text: str) -> bool:
    meaning = names.resolve(text)
    return isinstance(meaning, str) or bool(meaning.candidates)


def _refuse_unreadable(read: AnswerFiles, files: Sequence[str]) -> None:
    if read.repeated:
        raise InvalidFileError(sorted_findings(read.repeated))
    if not read.answers:
        if broken := read.report.findings():
            raise InvalidFileError(broken)
        why = ", ".join(f"{reason} ({count:,} times)" for reason, count in read.report.reasons.items())
        raise ToolbeltError(f"There is no answer in {', '.join(files)}{f': {why}' if why else ''}.")


def _digest(answers: Answers) -> str:
    texts = []
    for (case, epoch), answer in sorted(answers.items(), key=lambda item: item[0]):
        replies = (str(each) if isinstance(each, ModelError) else digest_answer(each) for each in answer.replies)
        texts.append("\0".join((case, str(epoch), *replies)))
    return hashlib.sha256("\n".join(texts).encode(errors="surrogatepass")).hexdigest()[:16]


def _resolve(
    answers: Answers, plan: Plan, cases: ChosenCases, arm: PreparedArm, names: CatalogNames
) -> dict[tuple[str, int], Answer]:
    """The answers to the plan's cases, their calls by the names that tools were offered under.

    Raises:
        InvalidFileError: a name may mean several of the tools that are shown.
    """
    resolved: dict[tuple[str, int], Answer] = {}
    findings: list[Finding] = []
    for position in range(plan.cases):
        case = cases.case(position)
        for epoch in range(plan.epochs):
            if (answer := answers.get((case.id, epoch))) is None:
                continue
            finder = _NameFinder(case, arm, names)
            resolved[case.id, epoch] = answer.renamed(finder.find) if answer.calls else answer
            findings += [
                Finding(
                    "ambiguous-tool",
                    Severity.ERROR,
                    f"{error} Case {case.id!r} shows them all.",
                    answer.source,
                    answer.line,
                )
                for error in finder.ambiguous
            ]
    if findings:
        raise InvalidFileError(sorted_findings(findings))
    return resolved


@dataclass
class _NameFinder:
    """The wire names of tools that an answer to a case calls by a plain name."""

    case: Case
    arm: PreparedArm
    names: CatalogNames
    ambiguous: list[AmbiguousNameError] = field(default_factory=list)

    def find(self, name: str) -> str:
        """The name it was offered under; the same where it is that, or no exact name of any tool."""
        renderer = self.arm.renderer.within(self.case.offered)
        tool_id = renderer.find_id(name)
        if tool_id is not None and renderer.offered(tool_id).name == name:
            return name
        ids = self.names.within(self.case.offered, name) if self.case.offered else ()
        if not ids:
            meaning = self.names.resolve(name)
            ids = (meaning,) if isinstance(meaning, str) else meaning.candidates
        tools = [tool for each in ids if (tool := self.names.find_tool(each)) is not None]
        ids = tuple(tool.id for tool in tools if name in (tool.id, tool.path, tool.name))
        if len(ids) > 1:
            shown = self.arm.toolset.reach(self.case)
            ids = tuple(each for each in ids if each in shown) or ids
        if len(ids) > 1:
            self.ambiguous.append(AmbiguousNameError(name, ids))
        return renderer.offered(ids[0]).name if len(ids) == 1 else name


def _report(read: AnswerFiles, answers: Answers, inputs: RunInputs, reporter: EvalReporter) -> None:
    """What was read and what was not; raises `NotFoundError` if no row is of a case."""
    given = {case for case, _ in read.answers}
    known = inputs.dataset.known_ids(given)
    unknown = sorted(given - known)
    if not known:
        inputs.dataset.get(unknown[0])  # which says what there is

    def note(text: str, *, is_warning: bool = True) -> None:
        reporter.note(RunNote(NoteKind.IMPORTED, text, is_warning=is_warning))

    note(f"read {plural(len(answers), 'answer')}; nobody is asked", is_warning=False)
    if count := sum(read.report.reasons.values()):
        note(f"not read: {plural(count, 'row')}. The first: {next(read.report.lines())}")
    if unknown:
        named = ", ".join(map(repr, unknown[:_MOST_NAMED])) + (", …" if len(unknown) > _MOST_NAMED else "")
        note(f"no case of {inputs.dataset.name} has the id of {plural(len(unknown), 'answer')}: {named}")
    if others := sum(case in known for case, _ in read.answers) - len(answers):
        note(f"left out: {plural(others, 'answer')} to cases that the run does not have", is_warning=False)
    for text, count in read.report.notes.items():
        note(f"{plural(count, 'time')}: {text}")
