from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import needs_shared_data
from tests.evals.cases.samples import CATALOG, case, open_public, public, write_dataset, write_imported, write_lines
from tests.wording import each_mentions, naming
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.catalog.reader import CatalogFile
from toolbelt.errors import InvalidFileError, NotFoundError, ToolbeltError
from toolbelt.evals.cases.card.check import count_content
from toolbelt.evals.cases.dataset import Dataset, open_dataset
from toolbelt.evals.cases.layout import LayoutKind
from toolbelt.stores.catalogs import datasets_folder, open_catalog, shipped_datasets


def findings(path: Path, **options: Any) -> list[tuple[str, int | None]]:
    with pytest.raises(InvalidFileError) as caught:
        open_dataset(str(path), **options)
    return [(finding.rule, finding.line) for finding in caught.value.findings]


@pytest.fixture
def mixed(tmp_path: Path) -> Dataset:
    """Cases of three kinds, two roles, and tags that overlap."""
    rows = [
        case(
            id=f"case-{number}",
            kind=("single", "multi", "none")[number % 3],
            tags=["even" if number % 2 == 0 else "odd", *(["third"] if number % 3 == 0 else [])],
            role="developer" if number < 10 else "research",
            cluster=f"c{number // 2}",
        )
        for number in range(30)
    ]
    return open_dataset(str(write_dataset(tmp_path / "mine", rows)))


def test_E3_a_folder_with_cases_and_catalog_is_a_dataset(mixed: Dataset, tmp_path: Path) -> None:
    assert (mixed.name, mixed.reference, len(mixed)) == ("mine", str(tmp_path / "mine"), 30)
    assert mixed.catalog_file.catalog == CATALOG
    assert mixed.kinds == {"single": 10, "multi": 10, "none": 10}
    assert mixed.tags == {"even": 15, "third": 10, "odd": 15}
    assert mixed.roles == {"developer", "research"}
    assert (mixed.clusters, mixed.excluded, mixed.notes, mixed.warnings) == (15, {}, (), ())
    assert [mixed.case(number).id for number in range(30)] == [f"case-{number}" for number in range(30)]
    assert not mixed.catalog_is_fallback


def test_E3_the_same_case_comes_each_time_and_none_beyond_the_last(mixed: Dataset) -> None:
    first = mixed.case(3)
    assert mixed.case(3) is first
    for number in range(30):
        mixed.case(number)
    assert mixed.case(3) == first
    for outside in (-1, 30):
        with pytest.raises(IndexError):
            mixed.case(outside)


def test_E3_a_file_of_cases_takes_the_catalog_beside_it(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "mine", [case()])
    (folder / "cases.jsonl").rename(folder / "few.jsonl")
    opened = open_dataset(str(folder / "few.jsonl"))
    assert (opened.name, opened.reference, len(opened)) == ("few", str(folder / "few.jsonl"), 1)


def test_E3_a_catalog_given_takes_the_place_of_the_one_beside(tmp_path: Path) -> None:
    other = CatalogFile(Catalog(plugins=(Plugin("p", (Tool("git_push"),)),)), "other")
    opened = open_dataset(str(write_dataset(tmp_path / "mine", [case()])), catalog=other)
    assert opened.case(0).right_ids == {"p/git_push"}
    assert not opened.catalog_is_fallback


def test_E3_without_a_catalog_beside_there_is_the_fallback_or_a_clear_error(tmp_path: Path) -> None:
    cases = write_lines(tmp_path / "cases.jsonl", [case()])
    with pytest.raises(InvalidFileError, match=naming("--catalog")):
        open_dataset(str(cases))
    write_dataset(tmp_path / "other", [case()])
    opened = open_dataset(str(cases), fallback_catalog=str(tmp_path / "other"))
    assert opened.catalog_is_fallback
    beside = open_dataset(str(tmp_path / "other"), fallback_catalog="assistant")
    assert not beside.catalog_is_fallback


def with_card(folder: Path, text: str) -> str:
    (folder / "catalog.json").unlink()
    (folder / "card.yaml").write_text(text, encoding="utf-8")
    return str(folder)


@pytest.mark.parametrize(
    ("catalog", "source"),
    [
        pytest.param("../theirs", "theirs/catalog.json", id="path-from-the-card"),
        pytest.param("tiered", "tiered", id="shipped"),
    ],
)
def test_E3_a_card_may_name_the_catalog_of_another_dataset(tmp_path: Path, catalog: str, source: str) -> None:
    write_dataset(tmp_path / "theirs", [case()])
    mine = write_dataset(tmp_path / "mine", [case(expected=[], forbidden=..., allowed_extra=...)])
    opened = open_dataset(with_card(mine, f"name: mine\ncatalog: {catalog}\n"))
    assert source in opened.catalog_file.source
    assert not opened.catalog_is_fallback
    assert count_content(opened).catalog_digest is not None


@pytest.mark.parametrize(
    ("card", "message"),
    [
        pytest.param("catalog: [tiered]", "`catalog` must be the name of a shipped catalog", id="no-text"),
        pytest.param("catalog: [", "card.yaml", id="no-YAML"),
        pytest.param("name: mine", "as `catalog` in card.yaml", id="names-none"),
        pytest.param("catalog: teired", "mine/teired", id="misspelt"),
    ],
)
def test_E3_a_card_that_names_no_catalog_is_a_clear_error(tmp_path: Path, card: str, message: str) -> None:
    folder = with_card(write_dataset(tmp_path / "mine", [case()]), card)
    with pytest.raises(ToolbeltError) as raised:
        open_dataset(folder)
    assert message in str(raised.value)


@pytest.mark.parametrize("name", shipped_datasets())
def test_E3_shipped_datasets_are_opened_by_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    opened = open_dataset(name)
    assert (opened.name, opened.reference, opened.warnings) == (name, name, ())
    assert open_dataset(str(datasets_folder() / name)).digest == opened.digest
    for number in range(len(opened)):
        assert opened.case(number).messages


def test_E3_a_folder_hides_the_shipped_dataset_of_its_name_only_if_it_has_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "assistant").mkdir()
    assert open_dataset("assistant").reference == "assistant"
    write_dataset(tmp_path / "assistant", [case()])
    assert open_dataset("assistant").reference == str(tmp_path / "assistant")


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        pytest.param("mien", "Did you mean 'mine'", id="nearest-folder"),
        pytest.param("assistnat", "Did you mean 'assistant'", id="nearest-shipped"),
        pytest.param("qqqqqqqq", "Known: .*assistant", id="nothing-near"),
        pytest.param("", "No dataset named ''", id="nothing"),
        pytest.param("a\0b", "No dataset named", id="nul"),
        pytest.param("x" * 5000, "No dataset named", id="a-name-too-long"),
        pytest.param("empty", "no cases.jsonl in this folder", id="a-folder-without-cases"),
        pytest.param("mine/catalog.json", "Not JSON", id="a-catalog-in-place-of-cases"),
    ],
)
def test_E3_what_is_no_dataset_is_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reference: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_dataset(tmp_path / "mine", [case()])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ToolbeltError, match=says):
        open_dataset(reference)


@pytest.mark.parametrize("raw", [pytest.param("", id="empty"), pytest.param("\n \r\n", id="blank-lines-alone")])
def test_E3_a_file_without_a_case_is_refused(tmp_path: Path, raw: str) -> None:
    folder = write_dataset(tmp_path / "mine", [])
    (folder / "cases.jsonl").write_text(raw)
    assert findings(folder) == [("empty", None)]


def test_E3_every_mistake_of_every_line_is_told_at_once(tmp_path: Path) -> None:
    rows = [case(id="a"), case(id="b", steps=0), case(id="a", match="x"), case(id="c", expected=[{"tool": "no"}])]
    folder = write_dataset(tmp_path / "mine", rows)
    with (folder / "cases.jsonl").open("a") as file:
        file.write("\n{\n")
    assert findings(folder) == [
        ("wrong-type", 2),
        ("duplicate-id", 3),
        ("unknown-match", 3),
        ("unknown-tool", 4),
        ("syntax", 6),
    ]


def test_E3_a_duplicate_id_names_both_lines(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "mine", [case(id="x"), case(id="y"), case(id="x"), case(id="x")])
    with pytest.raises(InvalidFileError) as caught:
        open_dataset(str(folder))
    told = [finding.message for finding in caught.value.findings]
    assert each_mentions(told, ("'x'", "line 1"), ("'x'", "line 1"))
    assert [finding.line for finding in caught.value.findings] == [3, 4]


def test_E3_errors_are_told_however_many_warnings_there_are(tmp_path: Path) -> None:
    doubtful = [{"tool": "git_push", "args": {"other": 1}}]
    rows = [case(id=str(number), expected=doubtful) for number in range(1100)]
    found = findings(write_dataset(tmp_path / "mine", [*rows, case(id="last", match="no")]))
    assert found[-2:] == [("unknown-match", 1101), ("further-findings", None)]
    assert len(found) == 1002
    opened = open_dataset(str(write_dataset(tmp_path / "other", rows)))
    assert [len(opened), len(opened.warnings), opened.warnings[-1].rule] == [1100, 1001, "further-findings"]


def test_E3_in_an_imported_set_a_label_that_is_gone_excludes_its_case(tmp_path: Path) -> None:
    rows = [
        public(id="a"),
        public(id="b", expected=["gone"]),
        public(id="c", expected=["search", "lost"]),
        public(id="d", offered=["search"]),
    ]
    opened = open_dataset(str(write_imported(tmp_path / "theirs", rows)))
    assert opened.layout is LayoutKind.PUBLIC
    assert [opened.case(number).id for number in range(len(opened))] == ["a"]
    assert opened.excluded == {"label not in the catalog": 2, "label not among the tools offered": 1}
    assert [(one.case_id, one.line, one.detail) for one in opened.exclusions] == [
        ("b", 2, "gone"),
        ("c", 3, "lost"),
        ("d", 4, "git_push"),
    ]
    with pytest.raises(NotFoundError, match=naming("excluded", "(gone)")):
        opened.get("b")


TYPO = case(expected=["git_pus"])
"""What one writes by mistake, and would be read of an imported set."""


@pytest.mark.parametrize("has_call", [pytest.param(True, id="among-calls"), pytest.param(False, id="names-alone")])
def test_E3_bare_names_in_ones_own_set_are_mistakes_with_what_to_write(tmp_path: Path, has_call: bool) -> None:
    rows = [case(id="b", expected=[{"tool": "git_push"}] if has_call else []), TYPO]
    with pytest.raises(InvalidFileError) as caught:
        open_dataset(str(write_dataset(tmp_path / "mine", rows)))
    told = {finding.rule: finding for finding in caught.value.findings}
    assert set(told) == {"wrong-type", "unknown-tool", *([] if has_call else ["bare-names"])}
    assert all(finding.line == 2 for finding in told.values())
    assert 'Write {"tool": "git_pus"}' in told["wrong-type"].message
    assert "Did you mean 'git_push'" in told["unknown-tool"].message


def test_E3_a_catalog_that_is_given_does_not_say_that_cases_are_imported(tmp_path: Path) -> None:
    folder = write_imported(tmp_path / "theirs", [TYPO, public(id="b")])
    given = open_catalog(str(folder / "catalog.jsonl"))
    assert open_dataset(str(folder), catalog=given).excluded == {"label not in the catalog": 1}
    alone = write_lines(tmp_path / "alone" / "cases.jsonl", [TYPO, public(id="b")])
    assert ("bare-names", 1) in findings(alone, catalog=given)
    assert ("bare-names", 1) in findings(alone, fallback_catalog=str(folder))


def test_E3_a_catalog_of_ones_own_beside_goes_before_one_of_lines(tmp_path: Path) -> None:
    folder = write_imported(tmp_path / "both", [TYPO])
    write_dataset(folder, [TYPO])
    assert ("bare-names", 1) in findings(folder)


def test_E3_ones_own_cases_may_stand_beside_a_catalog_of_lines(tmp_path: Path) -> None:
    opened = open_dataset(str(write_imported(tmp_path / "mine", [case(id="a", match="superset", steps=3)])))
    assert (opened.layout, opened.case(0).steps) == (LayoutKind.OWN, 3)


def test_E3_one_bare_name_hides_no_other_mistake(tmp_path: Path) -> None:
    rows = [
        case(id="a"),
        case(id="b", expected=["git_push"]),
        case(id="c", match="no"),
        case(id="d", frobidden=["git_log"]),
        public(id="e", expected_args=[{"remote": ["x"]}], macth="superset"),
        case(id="a", steps=0),
    ]
    assert findings(write_dataset(tmp_path / "mine", rows)) == [
        ("wrong-type", 2),
        ("unknown-match", 3),
        ("unknown-key", 4),
        ("mixed-layouts", 5),
        ("own-key", 5),
        ("duplicate-id", 6),
        ("wrong-type", 6),
    ]


def test_E3_a_key_of_ones_own_is_not_overlooked_in_an_imported_set(tmp_path: Path) -> None:
    rows = [public(id="a"), public(id="b", match="superset", steps=4), public(id="c", forbiden=["git_log"])]
    folder = write_imported(tmp_path / "theirs", rows)
    assert findings(folder) == [("own-key", 2), ("own-key", 2), ("own-key", 3)]


def test_E3_each_unknown_key_is_reported_once(tmp_path: Path) -> None:
    keys: dict[str, Any] = {"exspected_args": [{}], "removed_gold": 1}
    rows = [public(id="0"), *(public(id=f"{n}", **keys) for n in range(1, 4)), public(id="4", x=1, expected=["gone"])]
    warnings = open_dataset(str(write_imported(tmp_path / "theirs", rows))).warnings
    assert [(finding.rule, finding.line) for finding in warnings] == [
        ("unknown-key", 2),
        ("unknown-key", 2),
        ("unknown-key", 5),
    ]
    assert all("3 lines" in finding.message for finding in warnings[:2])
    calls = [{"tool": "search", "arg": {}}, {"tool": "git_log", "arg": {}}]
    rows = [case(id=f"{n}", exspected_args=[], expected=calls, accept=[calls]) for n in range(3)]
    assert findings(write_dataset(tmp_path / "mine", rows)) == [("unknown-key", 1), ("unknown-key", 1)]
    rows = [public(id=f"{n}", forbiden=[]) for n in range(3)]
    assert findings(write_imported(tmp_path / "slips", rows)) == [("own-key", 1)]


def test_E3_a_set_of_which_nothing_is_left_is_refused(tmp_path: Path) -> None:
    folder = write_imported(tmp_path / "theirs", [public(id=str(n), expected=["gone"]) for n in range(3)])
    with pytest.raises(InvalidFileError, match=naming("(3)", "gone")):
        open_dataset(str(folder))


def test_E3_a_line_changed_while_in_use_is_refused(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "mine", [case(id="a"), case(id="b"), case(id="c")])
    opened = open_dataset(str(folder))
    text = (folder / "cases.jsonl").read_text()
    (folder / "cases.jsonl").write_text(text.replace('"b", "query": "Send', '"b", "query": "Pull'))
    assert opened.case(0).id == "a"
    assert opened.case(2).id == "c"
    with pytest.raises(InvalidFileError, match=naming("cases.jsonl:2: error", "changed")):
        opened.case(1)


def test_E3_what_is_opened_again_is_what_the_files_hold_now(tmp_path: Path) -> None:
    """Although the index of the same cases over the same catalog is kept for the next time."""
    folder = write_dataset(tmp_path / "mine", [case(id="a"), case(id="b", query="Send it.")])
    catalog = CatalogFile(CATALOG, "catalog.json")

    def queries(catalog: CatalogFile = catalog) -> list[str]:
        opened = open_dataset(str(folder), catalog=catalog)
        return [opened.case(number).query for number in range(len(opened))]

    before = queries()
    assert queries() == before
    text = (folder / "cases.jsonl").read_text()
    (folder / "cases.jsonl").write_text(text.replace("Send it.", "Send on."))
    assert queries() == [before[0], "Send on."]
    with pytest.raises(InvalidFileError, match=naming("unknown-tool")):
        queries(CatalogFile(Catalog((Plugin("other", (Tool("other", "Other"),)),)), "catalog.json"))
    (folder / "cases.jsonl").write_text(text)
    assert queries() == before


def test_E3_a_file_cut_short_while_in_use_is_refused(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "mine", [case(id="a"), case(id="b")])
    opened = open_dataset(str(folder))
    (folder / "cases.jsonl").write_text("")
    with pytest.raises(InvalidFileError, match="was changed"):
        opened.case(1)


def test_E7_the_digest_is_of_cases_alone(tmp_path: Path) -> None:
    rows = [case(id="a", expected=[{"tool": "search"}]), case(id="b")]
    first = open_dataset(str(write_dataset(tmp_path / "one", rows)))
    renamed = Catalog(plugins=(Plugin("g", (Tool("git_push", "other"),)), Plugin("s", (Tool("search"),))))
    folder = write_dataset(tmp_path / "two", [], renamed)
    text = "\r\n\r\n".join(json.dumps(dict(reversed(row.items())), indent=None) for row in reversed(rows))
    (folder / "cases.jsonl").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert open_dataset(str(folder)).digest == first.digest
    changed = open_dataset(str(write_dataset(tmp_path / "three", [rows[0], case(id="b", expected=[])])))
    assert changed.digest != first.digest


def test_E3_cases_are_chosen_by_kind_tag_and_id(mixed: Dataset) -> None:
    assert mixed.select() == range(30)
    assert list(mixed.select(kinds=["multi"])) == list(range(1, 30, 3))
    assert list(mixed.select(tags=["third", "odd"])) == [n for n in range(30) if n % 3 == 0 or n % 2]
    assert list(mixed.select(kinds=["single"], tags=["even"])) == list(range(0, 30, 6))
    assert list(mixed.select(ids=["case-7", "case-2", "case-7"])) == [2, 7]
    assert list(mixed.select(ids=["case-7", "case-2"], kinds=["multi"])) == [7]


@pytest.mark.parametrize(
    ("wanted", "named"),
    [
        pytest.param({"kinds": ["singel"]}, ("singel", "single"), id="kind"),
        pytest.param({"tags": ["evn"]}, ("evn", "even"), id="tag"),
        pytest.param({"ids": ["case-99"]}, ("case-99", "case-9"), id="case"),
    ],
)
def test_E3_an_unknown_choice_is_an_error_with_the_nearest(mixed: Dataset, wanted: Any, named: object) -> None:
    with pytest.raises(NotFoundError, match=naming(named)):
        mixed.select(**wanted)


@pytest.fixture(scope="module")
def numbered(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """Writes a dataset of so many cases, once."""

    @cache
    def write(count: int) -> Path:
        return write_dataset(tmp_path_factory.mktemp("numbered"), [case(id=f"case-{n}") for n in range(count)])

    return write


@pytest.fixture(scope="module")
def open_numbered(numbered: Callable[[int], Path]) -> Callable[[int], Dataset]:
    """Opens it once, for tests that only ask for cases that are not there."""
    return cache(lambda count: open_dataset(str(numbered(count))))


@pytest.mark.parametrize(
    ("count", "wanted", "named"),
    [
        pytest.param(30, "xase-7", "'case-7'", id="where-the-first-letter-differs"),
        pytest.param(1, "nope", ("1 case", "'case-0'"), id="nothing-near-of-one"),
        pytest.param(30, "nope", ("30 cases", "'case-0', 'case-10', 'case-20'"), id="nothing-near"),
        pytest.param(9000, "kase-4321", "'case-4321'", id="of-thousands"),
        pytest.param(9000, "nope", ("9,000 cases", "'case-0'"), id="nothing-near-of-thousands"),
    ],
)
def test_E9_an_unknown_case_is_told_with_near_or_known_ids(
    open_numbered: Callable[[int], Dataset], count: int, wanted: str, named: object
) -> None:
    with pytest.raises(NotFoundError, match=naming(f"{wanted!r}", named)):
        open_numbered(count).get(wanted)


def test_E9_an_unknown_case_is_told_of_without_reading_them_all(numbered: Callable[[int], Path]) -> None:
    opened = open_dataset(str(numbered(9000)))
    read: list[int] = []
    seek = opened._handle.seek

    class Watched:
        def seek(self, offset: int) -> int:
            read.append(offset)
            return seek(offset)

        def __getattr__(self, name: str) -> Any:
            return getattr(opened._handle, name)

    opened._reader._handle = Watched()  # type: ignore[assignment]
    with pytest.raises(NotFoundError):
        opened.get("kase-4321")
    assert 0 < len(read) < 2100


@settings(deadline=None)
@given(st.integers(0, 40), st.integers(0, 40), st.integers(-5, 2**40))
def test_E3_a_sample_is_seeded_nested_and_in_order(small: int, large: int, seed: int) -> None:
    dataset = _thirty()
    few, many = (list(dataset.select(limit=limit, seed=seed)) for limit in sorted((small, large)))
    assert set(few) <= set(many)
    assert (few, many) == (sorted(few), sorted(many))
    assert len(few) == min(small, large, 30)
    assert list(dataset.select(limit=max(small, large), seed=seed)) == many


def test_E3_another_seed_draws_another_sample_and_a_case_more_changes_little(mixed: Dataset, tmp_path: Path) -> None:
    samples = {tuple(mixed.select(limit=5, seed=seed)) for seed in range(20)}
    assert len(samples) > 15
    assert {number for sample in samples for number in sample} == set(range(30))  # each has its chance
    drawn = {mixed.case(number).id for number in mixed.select(limit=10)}
    rows = [json.loads(line) for line in (tmp_path / "mine" / "cases.jsonl").read_text().splitlines()]
    longer = open_dataset(str(write_dataset(tmp_path / "more", [case(id="new"), *rows])))
    again = {longer.case(number).id for number in longer.select(limit=10)}
    assert len(drawn - again) <= 1


_OPENED: list[Dataset] = []


def _thirty() -> Dataset:
    if not _OPENED:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            _OPENED.append(open_dataset(str(write_dataset(Path(folder), [case(id=str(n)) for n in range(30)]))))
    return _OPENED[0]


def test_E8_memory_does_not_grow_with_what_cases_hold(tmp_path: Path) -> None:
    long = "word " * 1000
    rows = (case(id=f"case-{number}", query=f"{long}{number}") for number in range(2000))
    folder = write_dataset(tmp_path / "large", rows)
    gc.collect()
    tracemalloc.start()
    opened = open_dataset(str(folder))
    for number in range(len(opened)):
        opened.case(number)
    gc.collect()
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (folder / "cases.jsonl").stat().st_size > 9_000_000
    assert held < 1_500_000  # the few cases that are kept, of 5 kB each, among it
    assert peak < 2_000_000


def test_a_dataset_lets_go_of_its_file(tmp_path: Path) -> None:
    opened = open_dataset(str(write_dataset(tmp_path / "mine", [case()])))
    handle = opened._handle
    del opened
    gc.collect()
    assert handle.closed


@needs_shared_data
@pytest.mark.parametrize(
    ("name", "usable", "excluded"),
    [
        pytest.param("metatool", 22055, 0, id="metatool"),
        pytest.param("bfcl", 3491, 0, id="bfcl"),
        pytest.param("livemcpbench", 90, 5, id="livemcpbench"),
        pytest.param("seal_tools", 2054, 0, id="seal_tools"),
    ],
)
def test_E3_public_data_sets_are_read_whole(name: str, usable: int, excluded: int) -> None:
    opened = open_public(name)
    assert (len(opened), sum(opened.excluded.values())) == (usable, excluded)
    tools = {tool.id for tool in opened.catalog_file.catalog.tools}
    for number in range(0, len(opened), 7):
        made = opened.case(number)
        assert made.right_ids <= tools
        assert made.query
        if made.offered is not None:
            assert all(set(call.tools) <= set(made.offered) for answer in made.answers for call in answer)
