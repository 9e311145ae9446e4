"""Nothing that a human wrote is lost, and what they took out stays out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.evals.cases.samples import CATALOG as OTHER_CATALOG
from tests.evals.drafting.samples import CATALOG, ONE_EACH, draft_into, lines, make_jobs
from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.evals.cases.dataset import open_dataset
from toolbelt.evals.drafting.folder import DraftFolder
from toolbelt.stores.catalogs import write_catalog


def reviewed(line: str, **changes: object) -> str:
    """A draft as a human leaves it."""
    data = {**json.loads(line), **changes}
    del data["draft"]
    return json.dumps(data, separators=(",  ", ":"))


def put(folder: Path, made: list[str]) -> None:
    (folder / "cases.jsonl").write_text("".join(f"{line}\n" for line in made))


def test_E3_drafts_are_a_dataset_the_same_each_time(tmp_path: Path) -> None:
    made, _ = draft_into(tmp_path / "a")
    draft_into(tmp_path / "b", concurrency=4)
    assert (tmp_path / "a/cases.jsonl").read_bytes() == (tmp_path / "b/cases.jsonl").read_bytes()
    dataset = open_dataset(str(tmp_path / "a"))
    assert (len(dataset), dataset.drafts, made.cases) == (8, 8, 8)
    assert dataset.warnings == ()
    assert dataset.catalog_file.catalog == CATALOG
    assert dataset.case(0).right_ids == {"till/pay_back"}
    again, drafter = draft_into(tmp_path / "a")
    assert again.cases == 8
    assert drafter.budget.requests == 0
    assert DraftFolder(tmp_path / "a").look().is_untouched


def test_E3_what_a_human_wrote_stays_as_it_is(tmp_path: Path) -> None:
    draft_into(tmp_path)
    first, second, third, *rest = lines(tmp_path)
    own = '{"id": "mine",   "query": "Something else.", "expected": []}'
    broken = '{"id": "half'
    mine = [own, reviewed(second), reviewed(first, query="In my words."), broken]
    put(tmp_path, [*mine, *rest])
    touched = DraftFolder(tmp_path).look()
    assert not touched.is_untouched
    assert (touched.kept, len(touched.gone)) == (4, 3)
    made, _ = draft_into(tmp_path)
    assert lines(tmp_path) == [*mine, *rest], "and the third, which was taken out, does not come back"
    assert (made.kept, made.superseded, made.deleted) == (4, 2, 1)
    assert third not in lines(tmp_path)
    assert DraftFolder(tmp_path).look().is_untouched
    for _ in range(2):
        draft_into(tmp_path)
        assert lines(tmp_path) == [*mine, *rest], "nor at any later time"


def test_E3_other_settings_replace_drafts_and_nothing_else(tmp_path: Path) -> None:
    draft_into(tmp_path)
    before = lines(tmp_path)
    put(tmp_path, [reviewed(before[0]), *before[2:]])
    draft_into(tmp_path, jobs=make_jobs(ONE_EACH, CATALOG.tools[2:]))
    assert lines(tmp_path) == [reviewed(before[0]), *before[4:]]
    draft_into(tmp_path)
    assert lines(tmp_path) == [reviewed(before[0]), *before[2:]], "answers were kept; what was taken out stays out"


def test_E3_a_query_of_ones_own_is_not_drafted_again(tmp_path: Path) -> None:
    draft_into(tmp_path)
    query = json.loads(lines(tmp_path)[0])["query"]
    put(tmp_path, [json.dumps({"id": "mine", "query": query.upper(), "expected": []})])
    (tmp_path / ".toolbelt-drafts").rename(tmp_path / "elsewhere")
    made, _ = draft_into(tmp_path)
    assert made.refused == {"the query is there already": 1}
    assert (made.kept, made.cases) == (1, 8)


@pytest.mark.parametrize("edited", [0, 1], ids=["untouched", "and-an-edit-since"])
def test_E8_a_kill_between_the_memory_and_the_cases_loses_nothing(tmp_path: Path, edited: int) -> None:
    draft_into(tmp_path, jobs=make_jobs(ONE_EACH, CATALOG.tools[:2]))
    before = lines(tmp_path)
    memory = {file: file.read_bytes() for file in (tmp_path / ".toolbelt-drafts").glob("lines-*")}
    draft_into(tmp_path)
    whole = lines(tmp_path)
    for file, content in memory.items():
        file.write_bytes(content)
    put(tmp_path, [*map(reviewed, before[:edited]), *before[edited:]])
    touched = DraftFolder(tmp_path).look()
    assert (touched.is_untouched, touched.kept, len(touched.gone)) == (not edited, edited, edited)
    draft_into(tmp_path)
    assert lines(tmp_path) == [*map(reviewed, whole[:edited]), *whole[edited:]]


def test_E3_a_line_that_could_not_be_kept_as_it_is_refuses(tmp_path: Path) -> None:
    draft_into(tmp_path)
    with (tmp_path / "cases.jsonl").open("ab") as file:
        file.write(b'{"id": "\xff"}\n')
    before = (tmp_path / "cases.jsonl").read_bytes()
    with pytest.raises(InvalidFileError, match="Not UTF-8"):
        draft_into(tmp_path)
    assert (tmp_path / "cases.jsonl").read_bytes() == before


def test_E3_another_catalog_is_not_replaced_unasked(tmp_path: Path) -> None:
    write_catalog(OTHER_CATALOG, str(tmp_path / "catalog.yaml"))
    with pytest.raises(ToolbeltError, match="has another catalog"):
        DraftFolder(tmp_path).put_catalog(CATALOG, overwrite=False)
    DraftFolder(tmp_path).put_catalog(CATALOG, overwrite=True)
    assert DraftFolder(tmp_path).has_catalog(CATALOG)


def test_E3_the_same_catalog_in_another_form_stays(tmp_path: Path) -> None:
    write_catalog(CATALOG, str(tmp_path / "catalog.yaml"))
    DraftFolder(tmp_path).put_catalog(CATALOG, overwrite=False)
    assert not (tmp_path / "catalog.json").exists()
