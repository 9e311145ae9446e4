"""The measured tables of `docs/search.md`, and its picture: `make search-page`; one table with `--only NAME`.

All presets over the shipped datasets, and over those of `TOOLBELT_TEST_DATA` where they are, by a script with perfect
judgement and by `local/bm25`. Neither is an LLM.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.conftest import SHARED_DATA
from tests.evals.running.agents import make_trial_runner
from tests.evals.search.perfect import PerfectModel
from toolbelt.catalog.ranking.words import WordsRanker
from toolbelt.evals import run_eval
from toolbelt.evals.analysis.economics import ArmEconomics, Caching, run_economics
from toolbelt.evals.analysis.summary.run_summary import ArmSummary
from toolbelt.evals.cases.dataset import Dataset, open_dataset
from toolbelt.evals.running.plan import Trial
from toolbelt.evals.running.records import TrialRecord
from toolbelt.evals.scoring.outcome import Outcome
from toolbelt.evals.toolsets.search import last_user_text
from toolbelt.evals.toolsets.spec import shorten_toolset
from toolbelt.providers.litellm_table import ModelTable
from toolbelt.search.presets import PLAIN, PRESETS

PAGE = Path(__file__).parents[3] / "docs" / "search.md"
PICTURE = PAGE.parent / "images" / "search-k.png"
REVEALS = ("search:reveal=call:returns=schemas", "search:reveal=rebind")
TOOLSETS = ("full", "tiered", "search", *(f"search:{name}" for name in PRESETS if name != PLAIN))
KS = (1, 2, 3, 5, 8, 10, 15, 20)
TUNING = ("metatool", "bfcl", "seal_tools")
PRICED_AS = ("gpt-6-luna", "claude-sonnet-5-5")
_MARK = "<!-- {name}: made by `make search-page` -->"


def find_datasets() -> Iterator[tuple[str, str]]:
    """The names and places of the datasets that are here."""
    yield "assistant", "assistant"
    yield "tiered", "tiered"
    for name in ("livemcpbench", "seal_tools"):
        if (SHARED_DATA / name).is_dir():
            yield name, str(SHARED_DATA / name)


def play_perfectly(dataset: Dataset, toolset: str, limit: int) -> list[TrialRecord]:
    """Trials of the script with perfect judgement, over evenly spaced cases."""
    catalog = dataset.catalog_file.catalog
    model = PerfectModel(catalog)
    runner = make_trial_runner(model, toolset, catalog=catalog)  # type: ignore[arg-type]  # a model
    model.toolset = runner.toolset
    records = []
    for number, index in enumerate(range(0, len(dataset), max(1, len(dataset) // limit))):
        model.case = dataset.case(index)
        records.append(asyncio.run(runner.run(Trial(number, index, 0, 0), model.case)))
    return records


def preset_table(name: str, place: str, limit: int, store: Path) -> Iterator[str]:
    """Every toolset over one dataset."""
    dataset = open_dataset(place)
    run = run_eval(place, "local/bm25", TOOLSETS, limit=limit, store=store)
    count = run.summary.arms[0].scored
    tools = len(dataset.catalog_file.catalog.tools)
    yield f"`{name}`: {tools:,} tools in the catalog; {count} cases for `local/bm25`."
    yield ""
    yield "| toolset | coverage | script: right | `local/bm25`: right | surfaced | prompt tokens | re-billed tokens |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for arm in run.summary.arms:
        records = play_perfectly(dataset, arm.toolset, limit)
        right = sum(Outcome(record.outcome).is_right_by_names for record in records) / len(records)
        covered = sum(record.covered for record in records) / len(records)
        yield (
            f"| `{shorten_toolset(arm.toolset)}` | {covered:.1%} | {right:.1%} | {_share(arm.accuracy.value)} | "
            f"{_share(arm.surfaced.value)} | {_tokens(arm.own_prompt_tokens)} | {_tokens(arm.invalidated_tokens)} |"
        )


def reveal_table(limit: int, store: Path) -> Iterator[str]:
    """What each way to reveal costs, at real prices."""
    run = run_eval("assistant", "local/bm25", ("full", "search", *REVEALS), limit=limit, store=store)
    yield "| priced as | toolset | no cache | within a conversation | across conversations | re-billed, within |"
    yield "|---|---|---:|---:|---:|---:|"
    for model in PRICED_AS:
        for costs in run_economics(run.summary, ModelTable(), model):
            bills = [_usd(costs, caching) for caching in Caching]
            within = costs.of_solved(Caching.WITHIN)
            rebilled = "–" if within is None or within.rebilled_usd is None else f"${within.rebilled_usd:.5f}"
            yield f"| {model} | `{shorten_toolset(costs.arm.toolset)}` | {' | '.join(bills)} | {rebilled} |"


def k_table(limit: int, store: Path) -> Iterator[str]:
    """Accuracy against tokens with k, and the picture of it."""
    toolsets = ["full", *(f"search:k={k}" for k in KS)]
    arms = run_eval("assistant", "local/bm25", toolsets, limit=limit, store=store).summary.arms
    yield "| k | `local/bm25`: right | surfaced | prompt tokens |"
    yield "|---:|---:|---:|---:|"
    for k, arm in zip(("all tools", *KS), arms, strict=True):
        shares = f"{_share(arm.accuracy.value)} | {_share(arm.surfaced.value)}"
        yield f"| {k} | {shares} | {_tokens(arm.own_prompt_tokens)} |"
    _draw(arms)


def recall_table() -> Iterator[str]:
    """Recall of `rank=words` on the tuning sets, by which the settings of plain `search` were chosen."""
    yield f"| tuning set | cases | {' | '.join(f'k={k}' for k in KS)} |"
    yield f"|---|---:|{'---:|' * len(KS)}"
    for name in TUNING:
        if (SHARED_DATA / name).is_dir():
            dataset = open_dataset(str(SHARED_DATA / name))
            ranks = list(_ranks(dataset))
            shares = (sum(rank <= k for rank in ranks) / len(ranks) for k in KS)
            yield f"| `{name}` | {len(ranks):,} | {' | '.join(f'{share:.1%}' for share in shares)} |"


def _ranks(dataset: Dataset, most: int = 1_000) -> Iterator[float]:
    """The place at which all tools of a right answer are found; infinity if they are not."""
    from toolbelt.evals.cases.case import find_rank

    whole = WordsRanker().index(dataset.catalog_file.catalog.tools)
    for index in range(0, len(dataset), max(1, len(dataset) // most)):
        case = dataset.case(index)
        if case.expected:
            tools = whole if case.offered is None else whole.within(frozenset(case.offered))
            found = [hit.tool.id for hit in tools.search(last_user_text(case.messages), max(KS))]
            rank = find_rank(case, [found])
            yield float("inf") if rank is None else rank


def _draw(arms: Sequence[ArmSummary]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    full, *searches = arms
    tokens = [arm.own_prompt_tokens or 0.0 for arm in searches]
    right = [100 * (arm.accuracy.value or 0) for arm in searches]
    axes.plot(tokens, right, marker="o", label="search")
    for k, x, y in zip(KS, tokens, right, strict=True):
        axes.annotate(f"k={k}", (x, y), textcoords="offset points", xytext=(4, -12))
    axes.axhline(100 * (full.accuracy.value or 0), linestyle="--", color="grey", label="full (all tools)")
    axes.set(xlabel="prompt tokens of a trial", ylabel="right, % of cases", title="assistant, local/bm25 (not an LLM)")
    axes.legend()
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=130)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _tokens(amount: float | None) -> str:
    return "–" if amount is None else f"{amount:,.0f}"


def _usd(costs: ArmEconomics, caching: Caching) -> str:
    bill = costs.of_solved(caching)
    return "–" if bill is None or bill.usd is None else f"${bill.usd:.5f}"


def write(name: str, lines: Iterator[str]) -> None:
    """Put lines between the marks of that name on the page."""
    mark, text = _MARK.format(name=name), "\n".join(lines)
    page = PAGE.read_text(encoding="utf-8")
    pattern = re.compile(f"{re.escape(mark)}\n.*?{re.escape(f'<!-- end of {name} -->')}", re.DOTALL)
    PAGE.write_text(pattern.sub(lambda _: f"{mark}\n\n{text}\n\n<!-- end of {name} -->", page), encoding="utf-8")


def main() -> None:
    """Write all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=200, help="cases of each dataset")
    parser.add_argument("--only", metavar="NAME", help="of one table, such as k, which has the picture")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        limit, store = options.limit, Path(folder) / "runs.db"
        tables = {"recall": recall_table()}
        tables |= {name: preset_table(name, place, limit, store) for name, place in find_datasets()}
        tables |= {"k": k_table(limit, store), "reveal": reveal_table(limit, store)}
        for name in tables if options.only is None else (options.only,):
            write(name, tables[name])


if __name__ == "__main__":
    main()
