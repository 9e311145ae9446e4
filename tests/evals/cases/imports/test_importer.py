from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.evals.cases.imports.samples import (
    MAIL,
    MAILING,
    TOOLS,
    bring_in,
    calling,
    cases,
    errors_of,
    labels,
    log,
    opened,
    rows,
    says,
    user,
    write,
)
from tests.evals.cases.samples import CATALOG
from tests.wording import mentions, naming
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.evals.cases.dataset import open_dataset
from toolbelt.evals.cases.imports import import_report as report
from toolbelt.evals.cases.imports.context import OFFER_NOT_IN_CATALOG, ArgumentPolicy, ImportSettings
from toolbelt.evals.cases.imports.formats import FORMATS

REQUEST = {"messages": [user("Mail Bob.")], "tools": TOOLS}
CUT = {"finish_reason": "length", "message": says("I wi")}
MAIL_CATALOG = Catalog((Plugin("mail", tuple(Tool(each["function"]["name"]) for each in TOOLS)),))
BROKEN_ARGUMENTS = log(user("Mail."), {**calling("send_mail")})
BROKEN_ARGUMENTS["messages"][1]["tool_calls"][0]["function"]["arguments"] = "{broken"
HOSTILE = [
    pytest.param("{oops", "syntax", id="no-json"),
    pytest.param('{"messages": [], "messages": []}', "duplicate-key", id="a-key-twice"),
    pytest.param('{"messages": NaN}', "not-json", id="nan"),
    pytest.param('{"messages": "\\ud800"}', "bad-character", id="half-a-pair"),
    pytest.param("[" * 5000, "too-deep", id="deep"),
    pytest.param("\0", "not-utf8", id="nul"),
    pytest.param("7", "no-messages", id="a-number"),
    pytest.param(BROKEN_ARGUMENTS, "bad-arguments", id="arguments-that-are-no-json"),
    pytest.param(log(user("Mail."), {"role": "tool", "tool_call_id": "zz", "content": ""}), "unknown-call", id="ids"),
    pytest.param(log(user("Hi."), says(), tools=[7]), "invalid-tool", id="no-tool"),
    pytest.param(log(user("Hi."), {"role": "robot", "content": "?"}), "wrong-type", id="an-unknown-role"),
]


@pytest.mark.parametrize(("record", "rule"), HOSTILE)
def test_V6_a_broken_line_is_told_by_number_and_refuses_no_other(tmp_path: Path, record: Any, rule: str) -> None:
    source = write(tmp_path / "log.jsonl", [MAILING, record, MAILING, record])
    imported = bring_in(tmp_path / "out", source)
    assert [(finding.file, finding.line, finding.rule) for finding in imported.broken] == [
        (source, 2, rule),
        (source, 4, rule),
    ]
    assert imported.cases == 2
    assert not (tmp_path / "none").exists()
    with pytest.raises(InvalidFileError) as caught:
        bring_in(tmp_path / "none", write(tmp_path / "log.jsonl", [record]), form="openai")
    assert [finding.rule for finding in caught.value.findings] == [rule]
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(("record", "rule"), HOSTILE)
def test_E3_broken_lines_may_be_left_out_and_are_told(tmp_path: Path, record: Any, rule: str) -> None:
    source = write(tmp_path / "log.jsonl", [MAILING, record, MAILING])
    imported = bring_in(tmp_path / "out", source)
    assert (imported.cases, imported.left_out) == (2, {f"broken: {rule}": 1})
    assert [(one.source, one.line) for one in imported.lines] == [(source, 2)]
    assert [row["note"] for row in rows(tmp_path / "out")] == [f"{source}:1", f"{source}:3"]
    assert errors_of(open_dataset(str(tmp_path / "out"))) == []


BAD_TOOLS: dict[str, Any] = {
    "null": None,
    "text": "send_mail",
    "without-a-name": {"type": "function", "function": {"description": "?"}},
    "name-a-number": {"name": 7, "parameters": {}},
    "schema-a-list": {"name": "odd", "parameters": [1]},
    "name-of-another": {"name": "send_mail", "parameters": {}, "description": "By wire."},
}


@given(st.integers(0, 2), st.sampled_from(sorted(BAD_TOOLS)), st.booleans())
@settings(max_examples=30)
def test_V6_a_tool_that_cannot_be_read_refuses_neither_its_record_nor_the_other_tools(
    place: int, name: str, with_catalog: bool
) -> None:
    tools = [*TOOLS[:place], BAD_TOOLS[name], *TOOLS[place:]]
    if name == "name-of-another":
        tools = [*TOOLS, BAD_TOOLS[name]]
    record = log(user("Mail Bob."), calling("send_mail"), says("Done."), tools=tools)
    with TemporaryDirectory() as folder:
        source = write(Path(folder) / "log.jsonl", [record, MAILING, record])
        catalog = MAIL_CATALOG if with_catalog else None
        imported = bring_in(Path(folder) / "out", source, catalog=catalog)
        assert (imported.cases, imported.tools, [finding.line for finding in imported.broken]) == (3, 2, [1])
        assert all(case.offered is None for case in cases(Path(folder) / "out"))


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        pytest.param({"request": REQUEST, "response": {"choices": [CUT]}}, "cut off", id="cut-off"),
        pytest.param({"request": REQUEST, "response": "data: {}"}, "in pieces", id="streamed"),
    ],
)
def test_E3_where_every_record_is_left_out_the_reason_is_given(tmp_path: Path, record: Any, reason: str) -> None:
    with pytest.raises(ToolbeltError) as caught:
        bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [record, record]))
    assert mentions(str(caught.value), "No case", reason, "(2)", "log.jsonl:1")
    assert "--catalog" not in str(caught.value)


def test_E3_elements_on_one_line_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text(json.dumps([MAILING, BROKEN_ARGUMENTS, MAILING]))
    imported = bring_in(tmp_path / "out", str(tmp_path / "log.json"))
    assert (imported.cases, imported.left_out) == (2, {"broken: bad-arguments": 1})


def test_E3_records_cases_and_what_was_left_out_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MAX_LISTED", 2)
    records = [MAILING, *["{oops"] * 3, *[log(user("Hi."))] * 5]
    imported = bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", records))
    assert imported.records == len(records) == imported.cases + sum(imported.left_out.values())
    assert (len(imported.lines), imported.silent) == (4, 4)


def test_E3_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    source = write(tmp_path / "log.jsonl", [MAILING])
    imported = bring_in(tmp_path / "out", source, f"{tmp_path}/./log.jsonl", source)
    assert imported.cases == 1
    assert imported.notes == (f"{tmp_path}/./log.jsonl is {source}, and was read once",)


def test_E3_one_tool_is_not_several(tmp_path: Path) -> None:
    other = log(*MAILING["messages"], tools=[{"name": "send_mail", "description": "By wire."}])
    imported = bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [MAILING, other]))
    assert mentions(imported.notes[0], "1 tool")


def test_E3_many_broken_lines_are_told_as_far_as_is_useful(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MAX_LISTED", 3)
    source = write(tmp_path / "log.jsonl", [MAILING, *["{oops"] * 10])
    findings = bring_in(tmp_path / "out", source).broken
    assert len(findings) == 4
    assert any("7 more" in finding.message for finding in findings)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        pytest.param("", "empty", id="empty"),
        pytest.param("\n \n", "empty", id="blank"),
        pytest.param('{"what": 1}\n', "unknown-format", id="of-no-known-kind"),
    ],
)
def test_E3_a_source_that_is_nothing_known_is_refused(tmp_path: Path, text: str, rule: str) -> None:
    (tmp_path / "log.jsonl").write_text(text)
    with pytest.raises(InvalidFileError) as caught:
        bring_in(tmp_path / "out", str(tmp_path / "log.jsonl"))
    assert [finding.rule for finding in caught.value.findings] == [rule]


def test_E3_kinds_of_sources_are_not_mixed(tmp_path: Path) -> None:
    sample = {"input": "Mail.", "target": "send_mail"}
    sources = [write(tmp_path / "log.jsonl", [MAILING]), write(tmp_path / "samples.jsonl", [sample])]
    with pytest.raises(InvalidFileError, match="several kinds"):
        bring_in(tmp_path / "out", *sources)


def test_E3_where_nothing_makes_a_case_the_reasons_are_told(tmp_path: Path) -> None:
    with pytest.raises(ToolbeltError, match=naming("without an answer (2)")):
        bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [log(user("Hi."))] * 2))
    assert not (tmp_path / "out").exists()


def test_E3_ids_are_kept_where_they_are_unique_and_made_so_where_not(tmp_path: Path) -> None:
    odd = "id with\x1b[31m spaces/and #~2"
    records = [log(*MAILING["messages"], id=one) for one in (odd, "a", "a~2", "a", "a", 7)] + [MAILING]
    imported = bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", records))
    assert [case.id for case in cases(tmp_path / "out")] == [odd, "a", "a~2", "a~3", "a~4", "7", "log-7"]
    assert mentions(*imported.notes, "unique", "2 times")


def test_E3_a_catalog_that_is_given_is_what_names_mean_and_is_copied(tmp_path: Path) -> None:
    push = log(user("Send it off."), calling("git_push"), tools=[{"name": "git_push"}, {"name": "git_log"}])
    strange = log(user("Mail."), calling("git_push"), tools=[{"name": "git_push"}, MAIL])
    bare = log(user("Send."), calling("read"), tools=...)
    imported = bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [push, strange, bare]), catalog=CATALOG)
    first, second = cases(tmp_path / "out")
    assert (labels(first), first.offered) == ([("git/git_push",)], ("git/git_push", "git/git_log"))
    assert (labels(second), second.offered) == ([("file/read", "web/read")], None)
    assert imported.left_out == {OFFER_NOT_IN_CATALOG: 1}
    assert [tool.id for tool in opened(tmp_path / "out").catalog_file.catalog.tools] == [
        tool.id for tool in CATALOG.tools
    ]
    assert mentions(*imported.notes, "catalog", "copied")


def test_E3_without_any_tools_a_catalog_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="--catalog"):
        bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [log(*MAILING["messages"], tools=...)]))


def test_E3_a_file_whose_name_is_not_utf8_can_be_read_back(tmp_path: Path) -> None:
    source = os.fsdecode(os.fsencode(tmp_path) + b"/l\xff.jsonl")
    write(Path(source), [MAILING])
    bring_in(tmp_path / "out", source)
    assert [case.id for case in cases(tmp_path / "out")] == ["l\ufffd-1"]


@pytest.mark.parametrize("there", ["cases.jsonl", "catalog.json", "catalog.jsonl", "catalog.yaml", "loadouts.json"])
def test_E3_a_dataset_that_is_there_is_not_replaced_unasked(tmp_path: Path, there: str) -> None:
    source = write(tmp_path / "log.jsonl", [MAILING])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / there).write_text("{}")
    with pytest.raises(ToolbeltError, match="--force"):
        bring_in(tmp_path / "out", source)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [there]
    bring_in(tmp_path / "out", source, overwrite=True)
    assert len(rows(tmp_path / "out")) == 1


def test_every_format_is_on_the_page_about_imports() -> None:
    page = (Path(__file__).resolve().parents[4] / "docs" / "imports.md").read_text(encoding="utf-8")
    assert [kind for kind in FORMATS if f"\n| `{kind}` |" not in page] == []


def test_E3_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(ToolbeltError, match="is a file"):
        bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [MAILING]))
    assert (tmp_path / "out").read_text() == "mine"


@pytest.mark.parametrize("read", [200, 400], ids=["while-looking", "while-writing"])
def test_E8_what_breaks_off_leaves_nothing_behind(tmp_path: Path, read: int) -> None:
    def interrupt(done: int) -> None:
        if done == read:
            raise KeyboardInterrupt

    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    source = write(tmp_path / "log.jsonl", [MAILING] * 300)
    for folder, left in (("out", ["mine.txt"]), ("new", None)):
        with pytest.raises(KeyboardInterrupt):
            bring_in(tmp_path / folder, source, progress=interrupt)
        there = tmp_path / folder
        assert ([path.name for path in there.iterdir()] if there.exists() else None) == left


_TEXT = st.text(min_size=1).filter(lambda text: bool(text.strip()))
_ARGUMENTS = st.dictionaries(st.sampled_from(["to", "city"]), _TEXT | st.integers() | st.none(), max_size=2)
_TURN = st.tuples(_TEXT, st.lists(st.tuples(st.sampled_from(["get_weather", "send_mail"]), _ARGUMENTS), max_size=3))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(st.lists(st.lists(_TURN, min_size=1, max_size=2), min_size=1, max_size=4))
def test_E3_what_was_written_is_read_back_the_same(
    tmp_path: Path, talks: list[list[tuple[str, list[tuple[str, Any]]]]]
) -> None:
    records, expected = [], []
    for talk in talks:
        messages: list[Any] = []
        for text, calls in talk:
            messages.append(user(text))
            expected.append((messages.copy(), calls))
            made = [calling(name, start=number, **given) for number, (name, given) in enumerate(calls)]
            if made:
                joined = [call for message in made for call in message["tool_calls"]]
                messages.append({"role": "assistant", "content": None, "tool_calls": joined})
                messages += [{"role": "tool", "tool_call_id": one["id"], "content": "ok"} for one in joined]
            messages.append(says())
        records.append({"messages": messages, "tools": TOOLS})
    source = write(tmp_path / "log.jsonl", records)
    bring_in(tmp_path / "out", source, settings=ImportSettings(arguments=ArgumentPolicy.KEEP), overwrite=True)
    dataset = open_dataset(str(tmp_path / "out"))
    read = [dataset.case(index) for index in range(len(dataset))]
    assert [list(case.messages) for case in read] == [history for history, _ in expected]
    told = [
        [
            (call.tools[0], {} if call.arguments is None else {k: v[0] for k, v in call.arguments.accepted.items()})
            for call in case.expected or ()
        ]
        for case in read
    ]
    assert told == [calls for _, calls in expected]


def test_E3_memory_does_not_grow_with_the_number_of_records(tmp_path: Path) -> None:
    peaks = []
    for count in (100, 1000):
        source = write(
            tmp_path / f"{count}.jsonl",
            (log(user(f"Mail {n}." + "x" * 2000), calling("send_mail")) for n in range(count)),
        )
        tracemalloc.start()
        bring_in(tmp_path / f"out{count}", source)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # The larger file has over 2 MB more; an id and an entry in a set are some hundred bytes each.
    assert peaks[1] - peaks[0] < 600_000
