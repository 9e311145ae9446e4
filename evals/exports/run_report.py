"""All findings of a run's report, computed once for all formats."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from toolbelt.errors import ToolbeltError
from toolbelt.evals.analysis.comparison.comparison import Comparison, find_margin
from toolbelt.evals.analysis.comparison.comparison_json import comparison_data
from toolbelt.evals.analysis.economics import ArmEconomics, economics_data, run_economics
from toolbelt.evals.analysis.evidence.evidence import Side
from toolbelt.evals.analysis.evidence.stored_run import StoredRun
from toolbelt.evals.analysis.gate.verdict import GateResult, Limits
from toolbelt.evals.analysis.matrix.matrix import Matrix
from toolbelt.evals.analysis.matrix.ranking import Ranking, ranking_data
from toolbelt.evals.analysis.result import RunResult, find_result
from toolbelt.evals.analysis.summary.run_summary import RunSummary
from toolbelt.evals.analysis.summary.summarize import summarize, summary_data, time_reading
from toolbelt.evals.probing.results import ProbeResult
from toolbelt.evals.running.plan import Plan
from toolbelt.evals.running.store import RunRow, RunStore
from toolbelt.evals.views.comparison import comparison_view
from toolbelt.evals.views.result_data import describe_result
from toolbelt.evals.views.run_markdown import report_markdown
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.render.markdown import render_markdown
from toolbelt.views.json_values import to_json

if TYPE_CHECKING:
    from toolbelt.views.blocks import Picture


Progress = Callable[[str, int | None], AbstractContextManager[Callable[[int], object]]]
"""Like `toolbelt.render.screen.progress`: takes a label and the total, gives a function that reports the number done.
"""


@contextlib.contextmanager
def no_progress(_label: str, _total: int | None) -> Iterator[Callable[[int], object]]:
    """Reports no progress."""
    yield lambda _: None


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What a report contains beyond the measures of each arm.

    Attributes:
        baseline: What the run is compared with; with `None` its arms are compared with each other.
        margin: Accuracy that may be lost, a fraction; see `find_margin`.
        against: Name of the arm that the others are compared with, see `pair_against`; each with one of its own model
            if `None`, see `pair_by_model`.
        priced_as: A model whose prices are taken for those that have none.
        models: Where prices are looked up; litellm's table, without a cache, if `None`.
    """

    baseline: Side | None = None
    margin: float | None = None
    against: str | None = None
    priced_as: str | None = None
    models: ModelTable | None = None


@dataclass(frozen=True, slots=True)
class RunReport:
    """The findings of a run.

    Attributes:
        summary: Its measures.
        economics: What each arm costs, with a provider's cache and without.
        comparison: Of its arms, or with a baseline; `None` where there is nothing to compare.
        gate: What a gate with that baseline says; `None` without one.
        matrix: The run as models × toolsets; `None` where there are no toolsets to choose from.
        probes: The latest of each of its models, made where the run asked it.
        ranking: Its arms that can be used, by accuracy; `None` with fewer than two, and with a baseline.
    """

    summary: RunSummary
    economics: tuple[ArmEconomics, ...]
    comparison: Comparison | None = None
    gate: GateResult | None = None
    matrix: Matrix | None = None
    probes: tuple[ProbeResult, ...] = ()
    ranking: Ranking | None = None

    @property
    def result(self) -> RunResult:
        """What the run comes to."""
        return find_result(self.summary, self.comparison, self.matrix)

    @property
    def data(self) -> dict[str, Any]:
        """The findings as plain values: those of the run, with `economics`, and its `result` unless there is a gate.

        It also has `compatibility`, `ranking`, `probes`, `comparison` and `gate`, if there are any.
        """
        result = {} if self.gate else {"result": to_json(describe_result(self.result))}
        data = {**summary_data(self.summary), **result, "economics": economics_data(self.economics)}
        if self.matrix is not None:
            from toolbelt.evals.analysis.matrix.matrix_json import matrix_data

            data["compatibility"] = matrix_data(self.matrix)
        if self.ranking is not None:
            data["ranking"] = ranking_data(self.ranking)
        if self.probes:
            from toolbelt.evals.probing.results import probe_data

            data["probes"] = [probe_data(probe) for probe in self.probes]
        if self.comparison is not None:
            data["comparison"] = comparison_data(self.comparison)
        if self.gate is not None:
            from toolbelt.evals.analysis.gate.gate_json import gate_data

            data["gate"] = gate_data(self.gate) | {"comparison": None}  # which is there already
        return data

    def draw(self, *, pngs: bool = True) -> tuple[Picture, ...]:
        """Its pictures; importing matplotlib takes about a second.

        Args:
            pngs: Whether to make PNGs, too, which a page does without.
        """
        from toolbelt.evals.views.pictures.drawing import draw_pictures

        return draw_pictures(self.summary, economics=self.economics, matrix=self.matrix, result=self.result, pngs=pngs)

    def markdown(self, pictures: Sequence[Picture] = ()) -> str:
        """The findings as Markdown, with `pictures` in the same folder."""
        verdict = compatibility = probes = title = ""
        if self.gate is not None:
            from toolbelt.evals.views.gate_markdown import gate_markdown, gate_title

            verdict, title = gate_markdown(self.gate), gate_title(self.gate)
        if self.matrix is not None:
            from toolbelt.evals.views.matrix import matrix_markdown

            compatibility = matrix_markdown(self.matrix)
        if self.probes:
            from toolbelt.evals.views.probes import probe_markdown

            probes = probe_markdown(self.probes)
        return report_markdown(
            self.summary,
            pictures,
            result=self.result,
            economics=self.economics,
            verdict=verdict,
            title=title,
            compared=self.comparison,
            comparison="" if self.comparison is None else render_markdown(comparison_view(self.comparison), level=2),
            compatibility=compatibility,
            probes=probes,
        )

    def write_page(
        self,
        connection: sqlite3.Connection,
        file: IO[str],
        pictures: Sequence[Picture],
        advance: Callable[[int], object] | None = None,
    ) -> None:
        """The findings as one HTML page, with every trial."""
        from toolbelt.evals.analysis.matrix.recommendation import recommendation
        from toolbelt.evals.viewer.page import write_page

        write_page(
            connection,
            self.summary.run,
            file,
            summary=self.summary,
            pictures=pictures,
            comparison=self.comparison,
            gate=self.gate,
            matrix=self.matrix,
            recommendation="" if self.matrix is None else recommendation(self.matrix),
            probes=self.probes,
            ranking=self.ranking,
            advance=advance,
        )


def find_models(plan: Plan) -> ModelTable:
    """Prices, the project's own among them: by the file that a run was begun with, else by the one here."""
    from toolbelt.project.models import open_models

    begun_with = plan.config if plan.config is not None and Path(plan.config).is_file() else None
    return open_models(begun_with)[1]


def analyze_run(
    store: RunStore, row: RunRow, options: ReportOptions | None = None, *, progress: Progress = no_progress
) -> RunReport:
    """Find out everything for the report of a run, finished or not.

    Args:
        store: The file of runs; read at one moment if the caller sees to that.
        row: The run.
        options: What is to be said.
        progress: Called with the step that it is at.

    Raises:
        ToolbeltError: no trial of the run has finished.
        NotFoundError: no model has that price; or no arm that name.
    """
    options = options or ReportOptions()
    if not row.finished:
        raise ToolbeltError(
            f"Run {row.run!r} has no finished trial to report; go on with: toolbelt eval resume {row.run}"
        )
    with time_reading(store.connection, progress):
        summary = summarize(store.connection, row.run, store.find_status(row))
    economics = run_economics(summary, options.models, options.priced_as)
    side = StoredRun(store, row)
    findings = RunReport(
        summary,
        economics,
        matrix=_build_matrix(summary, side, options.margin, row.plan.config, progress),
        probes=_find_probes(store, summary),
    )
    if options.baseline is not None:
        from toolbelt.evals.analysis.gate.gate import check_run

        with progress("comparing arms", len(side.arms)) as advance:
            gate = check_run(side, Limits(find_margin(side.about, options.margin)), options.baseline, advance=advance)
        return replace(findings, comparison=gate.comparison, gate=gate)
    if len(side.arms) < 2:
        return findings
    from toolbelt.evals.analysis.comparison.compare import compare_arms
    from toolbelt.evals.analysis.comparison.pairing import pair_against, pair_by_model
    from toolbelt.evals.analysis.matrix.ranking import rank_arms

    pairing = pair_by_model(side) if options.against is None else pair_against(side.arms, options.against)
    with progress("comparing arms", len(pairing.pairs)) as advance:
        comparison = compare_arms(side, side, pairing, margin=options.margin, advance=advance)
    with progress("ranking arms", len(side.arms)) as advance:
        ranking = rank_arms(summary, side, options.margin, advance=advance)
    return replace(findings, comparison=comparison, ranking=ranking)


def _build_matrix(
    summary: RunSummary, side: Side, margin: float | None, config: str | None, progress: Progress
) -> Matrix | None:
    """The run as models × toolsets, if it is of a suite or has several toolsets that can be used."""
    from toolbelt.evals.analysis.matrix.build_matrix import build_matrix
    from toolbelt.evals.analysis.matrix.candidates import has_choice
    from toolbelt.evals.analysis.matrix.recommendation import models_at

    if not summary.suite and not has_choice(summary):
        return None
    with progress("choosing toolsets", None) as advance:
        return build_matrix(summary, side, margin, own_models=models_at(config), advance=advance)


def _find_probes(store: RunStore, summary: RunSummary) -> tuple[ProbeResult, ...]:
    from toolbelt.evals.probing.selection import probes_of_run

    models = [arm.model for arm in summary.arms] + [pair.model for pair in summary.left_out]
    return tuple(probes_of_run(store, models, summary.settings.get("api_base")))
