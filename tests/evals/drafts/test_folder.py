"""Nothing that a human wrote is lost, and what they took out stays out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.evals.cases.samples import CATALOG as OTHER_CATALOG
from tests.evals.drafts.samples import CATALOG, ONE_EACH, draft_into, lines, make_jobs, said, whole
from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.evals.cases.dataset import open_dataset
from toolbelt.evals.conversation import Reply
from toolbelt.evals.drafts.folder import DraftFolder
from toolbelt.evals.models.model import Request
from toolbelt.providers.chat import Failure, ModelError
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
    assert DraftFolder(tmp_path / "a").read_state().is_untouched


def test_E3_what_a_human_wrote_stays_as_it_is(tmp_path: Path) -> None:
    draft_into(tmp_path)
    first, second, third, *rest = lines(tmp_path)
    own = '{"id": "mine",   "query": "Something else.", "expected": []}'
    mine = [own, reviewed(second), reviewed(first, query="In my words.")]
    put(tmp_path, [*mine, *rest])
    state = DraftFolder(tmp_path).read_state()
    assert not state.is_untouched
    assert (state.human_lines, len(state.gone)) == (3, 3)
    made, _ = draft_into(tmp_path)
    assert lines(tmp_path) == [*mine, *rest], "and the third, which was taken out, does not come back"
    assert (made.human_lines, made.superseded, made.deleted) == (3, 2, 1)
    assert third not in lines(tmp_path)
    assert DraftFolder(tmp_path).read_state().is_untouched
    for _ in range(2):
        draft_into(tmp_path)
        assert lines(tmp_path) == [*mine, *rest], "nor at any later time"


def test_E3_tools_drafted_bit_by_bit_add_up(tmp_path: Path) -> None:
    draft_into(tmp_path / "whole")
    for number, tool in enumerate(CATALOG.tools):
        made, _ = draft_into(tmp_path / "parts", jobs=make_jobs(ONE_EACH, [tool]))
        assert (made.cases, made.earlier, made.replaced) == (2 * number + 2, 2 * number, 0)
        assert made.kinds.total() == 2, "of this run"
    assert lines(tmp_path / "parts") == lines(tmp_path / "whole")
    made, _ = draft_into(tmp_path / "parts")
    assert (made.cases, made.earlier, made.replaced) == (8, 0, 0)
    assert lines(tmp_path / "parts") == lines(tmp_path / "whole")
    assert len(open_dataset(str(tmp_path / "parts"))) == 8


def test_E3_other_settings_add_and_take_nothing_away(tmp_path: Path) -> None:
    draft_into(tmp_path)
    before = lines(tmp_path)
    put(tmp_path, [reviewed(before[0]), *before[2:]])

    def otherwise(request: Request) -> Reply:
        return Reply((whole(request).text or "").replace("thing", "matter"))

    languages = make_jobs(ONE_EACH, CATALOG.tools[2:], ["Welsh"])
    made, _ = draft_into(tmp_path, otherwise, jobs=languages)
    assert lines(tmp_path)[:7] == [reviewed(before[0]), *before[2:]]
    assert (made.human_lines, made.earlier, made.kinds.total(), made.cases) == (1, 6, 4, 11)
    dataset = open_dataset(str(tmp_path))
    assert (len(dataset), dataset.drafts) == (11, 10)
    made, _ = draft_into(tmp_path)
    assert (made.human_lines, made.earlier, made.superseded, made.deleted, made.cases) == (1, 4, 1, 1, 11), (
        "answers were kept; what was taken out stays out"
    )


def failing(request: Request) -> ModelError:
    return ModelError(Failure.UNAVAILABLE, f"down for {len(request.messages)}")


@pytest.mark.parametrize("lost", [False, True], ids=["answers-kept", "answers-lost"])
def test_E9_a_run_that_fails_takes_nothing_away(tmp_path: Path, *, lost: bool) -> None:
    draft_into(tmp_path)
    before = lines(tmp_path)
    if lost:
        (tmp_path / ".toolbelt-drafts/answers.jsonl").unlink()
    else:
        made, _ = draft_into(tmp_path, failing, jobs=make_jobs(ONE_EACH, CATALOG.tools, ["Welsh"]))
        assert (made.unanswered, made.earlier, made.cases) == (4, 8, 8)
        assert lines(tmp_path) == before
    made, _ = draft_into(tmp_path, failing)
    assert (made.unanswered, made.replaced, made.cases) == (4 if lost else 0, 0, 8)
    assert made.kinds == {"single": 4, "irrelevant": 4}
    assert lines(tmp_path) == before


def test_E9_half_an_answer_takes_nothing_away(tmp_path: Path) -> None:
    draft_into(tmp_path, jobs=make_jobs(ONE_EACH))
    before = lines(tmp_path)
    (tmp_path / ".toolbelt-drafts/answers.jsonl").unlink()

    def half(request: Request) -> Reply | ModelError:
        another = Reply(said([({"order": 4}, ["Take order 4 back."])]))
        return another if len(request.messages) == 2 else failing(request)

    made, _ = draft_into(tmp_path, half, jobs=make_jobs(ONE_EACH))
    assert (made.unanswered, made.cases, lines(tmp_path)) == (1, 2, before)
    assert len(open_dataset(str(tmp_path))) == 2


def test_E3_what_is_answered_otherwise_is_replaced_and_counted(tmp_path: Path) -> None:
    draft_into(tmp_path)
    before = lines(tmp_path)
    (tmp_path / ".toolbelt-drafts/answers.jsonl").unlink()
    another = Reply(said([({"order": 4}, ["Take order 4 back."])], [("Sing.", None)]))
    made, _ = draft_into(tmp_path, lambda request: another, jobs=make_jobs(ONE_EACH))
    assert (made.replaced, made.earlier, made.cases) == (2, 6, 8)
    assert lines(tmp_path)[:6] == before[2:]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: text.replace(b"\n", b"\r\n"), id="other-line-ends"),
        pytest.param(lambda text: text.removesuffix(b"\n"), id="no-last-line-end"),
        pytest.param(lambda text: b"\xef\xbb\xbf" + text, id="byte-order-mark"),
        pytest.param(lambda text: text.replace(b"\n", b"\n\n"), id="blank-lines"),
    ],
)
def test_E3_how_lines_end_is_no_change(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    draft_into(tmp_path)
    put(tmp_path, lines(tmp_path)[1:])
    draft_into(tmp_path)
    path = tmp_path / "cases.jsonl"
    before = path.read_bytes()
    path.write_bytes(change(before))
    assert DraftFolder(tmp_path).read_state().is_untouched
    draft_into(tmp_path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("added", "said"),
    [
        pytest.param(["not json"], ["cases.jsonl:9: error: Not JSON"], id="no-json"),
        pytest.param(['{"id": 3}'], ["cases.jsonl:9: error: `id`"], id="no-case"),
        pytest.param(
            ['{"id": "a", "query": "x", "expected": []}', '{"id": "a", "query": "y", "expected": []}'],
            ["cases.jsonl:10: error: ", "'a'", "line 9"],
            id="the-same-id-twice",
        ),
        pytest.param(
            ['{"id": "a", "query": "x", "expected": [{"tool": "trak"}]}', "["],
            ["cases.jsonl:9: error: ", "track", "cases.jsonl:10: error: Not JSON"],
            id="all-at-once",
        ),
    ],
)
def test_E3_lines_that_are_no_cases_are_told_and_nothing_is_written(
    tmp_path: Path, added: list[str], said: list[str]
) -> None:
    draft_into(tmp_path)
    put(tmp_path, [*lines(tmp_path), *added])
    before = lines(tmp_path)
    with pytest.raises(InvalidFileError) as caught:
        draft_into(tmp_path)
    assert [part for part in said if part not in str(caught.value)] == []
    assert lines(tmp_path) == before


def test_E3_a_draft_that_was_copied_is_one_draft(tmp_path: Path) -> None:
    draft_into(tmp_path)
    before = lines(tmp_path)
    put(tmp_path, [*before, before[0]])
    draft_into(tmp_path, jobs=make_jobs(ONE_EACH, CATALOG.tools[1:]))
    assert sorted(lines(tmp_path)) == sorted(before)


def test_E3_a_query_of_ones_own_is_not_drafted_again(tmp_path: Path) -> None:
    draft_into(tmp_path)
    query = json.loads(lines(tmp_path)[0])["query"]
    put(tmp_path, [json.dumps({"id": "mine", "query": query.upper(), "expected": []})])
    (tmp_path / ".toolbelt-drafts").rename(tmp_path / "elsewhere")
    made, _ = draft_into(tmp_path)
    assert made.refused == {"the query is there already": 1}
    assert (made.human_lines, made.cases) == (1, 8)


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
    state = DraftFolder(tmp_path).read_state()
    assert (state.is_untouched, state.human_lines, len(state.gone)) == (not edited, edited, edited)
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
    assert not (tmp_path / "catalog.yaml").exists(), "a folder has one catalog"


def test_E3_the_same_catalog_in_another_form_stays(tmp_path: Path) -> None:
    write_catalog(CATALOG, str(tmp_path / "catalog.yaml"))
    DraftFolder(tmp_path).put_catalog(CATALOG, overwrite=False)
    assert not (tmp_path / "catalog.json").exists()
