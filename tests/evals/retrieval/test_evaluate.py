"""Rule S3: rankers over the cases of a dataset."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.evals.cases.samples import case, write_dataset
from toolbelt.catalog import Tool
from toolbelt.catalog.ranking.ranker import QueryError, QueryProblem, Ranker, SearchHit
from toolbelt.catalog.ranking.regex import RegexRanker
from toolbelt.catalog.ranking.spec import RankKind, RankSpec
from toolbelt.catalog.ranking.words import WordsRanker
from toolbelt.errors import StorageError, ToolbeltError
from toolbelt.evals.cases.dataset import open_dataset
from toolbelt.evals.retrieval.evaluate import Grouping, SearchRequest, evaluate_rankers
from toolbelt.evals.retrieval.retrieval import Retrieval, is_complete
from toolbelt.evals.retrieval.searches import Exclusion, Measure
from toolbelt.evals.running.plan import CaseFilter

WORDS, REGEX = RankSpec(RankKind.WORDS), RankSpec(RankKind.REGEX)
FIRST = RankSpec(RankKind.PYTHON, "mine:first")


class FirstRanker:
    """Finds all tools in their order, and refuses the word "refuse"."""

    name = str(FIRST)

    def __init__(self, tools: Sequence[Tool] = ()) -> None:
        self._tools = tuple(tools)

    def index(self, tools: Sequence[Tool]) -> FirstRanker:
        """An index."""
        return FirstRanker(tools)

    def within(self, ids: Collection[str]) -> FirstRanker:
        """A part."""
        return FirstRanker([tool for tool in self._tools if tool.id in ids])

    def search(self, text: str, k: int) -> tuple[SearchHit, ...]:
        """The first tools."""
        if "refuse" in text:
            raise QueryError(QueryProblem.TIMEOUT, "No.")
        return tuple(SearchHit(tool, 1.0) for tool in self._tools[:k])


def evaluate(folder: Path, rows: list[dict[str, Any]], *names: RankSpec, **request: Any) -> Retrieval:
    """Rankers over these cases."""
    rankers: dict[RankSpec, Ranker] = {WORDS: WordsRanker(), REGEX: RegexRanker(), FIRST: FirstRanker()}
    dataset = open_dataset(str(write_dataset(folder / "mine", rows)))
    return evaluate_rankers([dataset], [(name, rankers[name]) for name in names], SearchRequest(**request))


PUSH = case(id="push", query="push to the remote")
READ = case(id="read", query="read a path", expected=[{"tool": "file/read"}])
SEARCH = case(id="search", query="search", expected=[{"tool": "search"}], offered=["search", "git_log"])
_IMAGE = [{"type": "image_url", "image_url": {"url": "data:,"}}]
PICTURE = case(id="picture", query=..., messages=[{"role": "user", "content": _IMAGE}])
IDLE = case(id="idle", query="thanks", expected=[])
ANY = case(id="any", query="do something", expected=None)


def test_S3_only_cases_that_need_a_tool_are_searched(tmp_path: Path) -> None:
    found = evaluate(tmp_path, [PUSH, READ, IDLE, ANY], WORDS)
    [dataset], [words] = found.datasets, found.rankers
    assert (dataset.cases, dataset.needed, dataset.offered) == (4, 2, 0)
    assert dataset.excluded == {Exclusion.NO_TOOL: 1, Exclusion.ANY_TOOL: 1}
    assert (words.planned, words.scored, words.recall_at_1.value, words.recall_at_1.cases) == (2, 2, 1.0, 2)
    assert found.contrasts == ()


@pytest.mark.parametrize(
    ("whole_catalog", "offered", "mrr"),
    [pytest.param(False, 1, 1 / 2, id="offered"), pytest.param(True, 0, 1 / 5, id="whole-catalog")],
)
def test_S3_ranking_is_over_what_a_case_offers(tmp_path: Path, whole_catalog: bool, offered: int, mrr: float) -> None:
    found = evaluate(tmp_path, [SEARCH], FIRST, whole_catalog=whole_catalog)
    assert (found.datasets[0].whole_catalog, found.datasets[0].offered) == (whole_catalog, offered)
    assert found.rankers[0].mrr.value == pytest.approx(mrr)


def test_S3_the_query_is_the_last_user_message(tmp_path: Path) -> None:
    turns = [("user", "read a path"), ("assistant", "Done."), ("user", "now push to the remote")]
    messages = [{"role": role, "content": text} for role, text in turns]
    found = evaluate(tmp_path, [case(query=..., messages=messages)], WORDS)
    assert found.rankers[0].recall_at_1.value == 1


def test_S3_what_cannot_be_searched_is_unscored_and_counted(tmp_path: Path) -> None:
    found = evaluate(tmp_path, [PUSH, case(id="no", query="refuse"), PICTURE], FIRST, WORDS)
    first, words = found.rankers
    assert (first.planned, first.scored, first.unscored) == (3, 1, {"timeout": 1, "empty_query": 1})
    assert (words.scored, words.unscored) == (2, {"empty_query": 1})
    assert {contrast.cases for contrast in found.contrasts} == {1}


def test_S3_of_nothing_scored_there_is_no_mean(tmp_path: Path) -> None:
    [first] = evaluate(tmp_path, [case(query="refuse")], FIRST).rankers
    assert (first.scored, first.mrr.value, first.mrr.cases, first.curve[0].recall.low) == (0, None, 0, None)


class Unreachable(FirstRanker):
    """Cannot be asked."""

    def search(self, text: str, k: int) -> tuple[SearchHit, ...]:
        """Fails as a model does."""
        raise StorageError("Nothing there.")

    def index(self, tools: Sequence[Tool]) -> Unreachable:
        """An index."""
        return Unreachable(tools)


def test_X3_a_ranker_that_cannot_be_asked_leaves_the_others(tmp_path: Path) -> None:
    dataset = open_dataset(str(write_dataset(tmp_path / "mine", [PUSH])))
    found = evaluate_rankers([dataset], [(FIRST, Unreachable()), (WORDS, WordsRanker())], SearchRequest())
    first, words = found.rankers
    assert (first.scored, first.unscored, words.scored) == (0, {"ranker_failed": 1}, 1)
    assert (found.contrasts, is_complete(found)) == ((), False)


def test_S3_datasets_of_one_name_stay_apart(tmp_path: Path) -> None:
    datasets = [open_dataset(str(write_dataset(tmp_path / folder / "mine", [PUSH]))) for folder in ("one", "two")]
    found = evaluate_rankers(datasets, [(WORDS, WordsRanker())], SearchRequest())
    assert [each.dataset for each in found.rankers] == [dataset.source for dataset in datasets]


def test_S3_drafts_are_counted(tmp_path: Path) -> None:
    assert evaluate(tmp_path, [PUSH, READ | {"draft": True}], WORDS).datasets[0].drafts == 1


def test_S3_other_rankers_are_compared_with_the_first_in_every_measure(tmp_path: Path) -> None:
    rows = [case(id=f"{word}-{n}", query=word, expected=[{"tool": word}]) for n in range(20) for word in ("search",)]
    found = evaluate(tmp_path, rows, FIRST, WORDS, REGEX)
    assert [(each.a, each.b, each.measure) for each in found.contrasts] == [
        (str(FIRST), str(other), measure) for other in (WORDS, REGEX) for measure in Measure
    ]
    by_measure = {each.measure: each for each in found.contrasts if each.b == "words"}
    assert by_measure[Measure.RECALL_AT_1].difference == 1
    assert by_measure[Measure.MRR].difference == pytest.approx(4 / 5)
    assert by_measure[Measure.RECALL_AT_10].difference == 0
    assert by_measure[Measure.RECALL_AT_10].p_value == 1
    for each in found.contrasts:
        assert each.low <= each.difference <= each.high
        assert each.p_value <= each.adjusted_p
    assert by_measure[Measure.RECALL_AT_1].adjusted_p < 0.001


def test_S3_paraphrases_count_as_one(tmp_path: Path) -> None:
    rows = [case(id=f"{n}", query="push to the remote", cluster=f"{n % 2}") for n in range(20)]
    lone = evaluate(tmp_path, [row | {"cluster": row["id"]} for row in rows], FIRST).rankers[0].mrr
    [alike] = evaluate(tmp_path, rows, FIRST, WORDS).rankers[:1]
    assert lone.low is not None
    assert alike.mrr.low is not None
    assert alike.mrr.low < lone.low


@pytest.mark.parametrize(
    ("grouping", "names", "grouped_by"),
    [
        pytest.param(None, {"german": 1, "": 1}, "language", id="languages-where-there-are-some"),
        pytest.param(Grouping.TAG, {"German": 1, "easy": 2}, "tag", id="tags"),
        pytest.param(Grouping.KIND, {"single": 2}, "kind", id="kinds"),
    ],
)
def test_S3_measures_are_broken_down(
    tmp_path: Path, grouping: Grouping | None, names: dict[str, int], grouped_by: str
) -> None:
    rows = [PUSH | {"tags": ["German", "easy"], "kind": "single"}, READ | {"tags": ["easy"], "kind": "single"}]
    found = evaluate(tmp_path, rows, WORDS, grouping=grouping)
    assert found.grouped_by == grouped_by
    assert {group.name: group.mrr.cases for group in found.rankers[0].groups} == names


def test_S3_without_languages_there_are_no_groups(tmp_path: Path) -> None:
    found = evaluate(tmp_path, [PUSH], WORDS)
    assert (found.grouped_by, found.rankers[0].groups) == (None, ())


def test_S3_a_dataset_that_needs_no_tool_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolbeltError, match="No case of 'mine'"):
        evaluate(tmp_path, [IDLE], WORDS)


def test_S3_cases_are_filtered_as_for_a_run(tmp_path: Path) -> None:
    found = evaluate(tmp_path, [PUSH, READ], WORDS, filter=CaseFilter(ids=("read",)))
    assert found.datasets[0].cases == 1


def test_S3_the_curve_is_recall_against_k() -> None:
    dataset = open_dataset("tiered")
    request = SearchRequest(CaseFilter(limit=40))
    [words] = evaluate_rankers([dataset], [(WORDS, WordsRanker())], request).rankers
    curve = {point.k: point.recall for point in words.curve}
    assert list(curve) == list(range(1, 21))
    assert (curve[1], curve[5], curve[10]) == (words.recall_at_1, words.recall_at_5, words.recall_at_10)
    values = [recall.value or 0.0 for recall in curve.values()]
    assert values == sorted(values)
