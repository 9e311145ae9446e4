from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SHARED_DATA, needs_shared_data
from tests.evals.cases.imports.samples import answer, bring_in, calling, cases, labels, rows, says, user
from tests.evals.cases.samples import CATALOG
from tests.wording import mentions
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.errors import InvalidFileError, ToolbeltError
from toolbelt.evals.cases.imports.context import NOT_IN_CATALOG, NOT_OFFERED, OTHER_SPELLING, SEVERAL_SPELLINGS
from toolbelt.evals.cases.imports.importer import ImportResult
from toolbelt.evals.cases.imports.queries import (
    CONTEXT_IN_WORDS,
    IN_WORDS,
    NO_LABEL,
    NO_PROMPT,
    OPEN_CALL,
    OTHER_TABLES,
    SEVERAL_TURNS,
)

PUSH, LOG, READ = ("git/git_push",), ("git/git_log",), ("file/read", "web/read")


def table(*body: tuple[str, ...], header: tuple[str, ...] = ("Tool Name", "Test Prompt")) -> str:
    """A Markdown table."""
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (header, ("---",) * len(header), *body))


def noted(imported: ImportResult) -> str:
    """All notes of an import."""
    return "\n".join(imported.notes)


def import_text(tmp_path: Path, text: Any, name: str = "prompts.md", **more: Any) -> ImportResult:
    """Import a file of that text, or of that data as JSON, over the small catalog."""
    path = tmp_path / name
    path.write_text(text if isinstance(text, str) else json.dumps(text, indent=2), encoding="utf-8")
    return bring_in(tmp_path / "out", str(path), **{"catalog": CATALOG, **more})


def test_E3_several_tables_with_several_prompts_for_a_tool(tmp_path: Path) -> None:
    page = (
        f"# Prompts\n\n## Git\n\n{table(('git_push', 'Send it.'), ('git_push', 'Push <branch>.'))}\n## Files\n\n"
        + table(("`read`", '"Show a.txt" / "Open a.txt"', "x"), header=("Tool", "Example prompts", "Notes"))
    )
    imported = import_text(tmp_path, page)
    assert [(case.query, labels(case), case.tags, case.kind, case.draft) for case in cases(tmp_path / "out")] == [
        ("Send it.", [PUSH], ("Git",), "single", False),
        ("Push <branch>.", [PUSH], ("Git",), "single", False),
        ("Show a.txt", [READ], ("Files",), "single", False),
        ("Open a.txt", [READ], ("Files",), "single", False),
    ]
    assert [row["note"].rpartition(":")[2] for row in rows(tmp_path / "out")] == ["7", "8", "14", "14"]
    assert (imported.form, imported.records, imported.left_out) == ("queries", 3, {})
    assert mentions(noted(imported), "Notes (1)")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        pytest.param("git/git_push", [PUSH], id="an-id"),
        pytest.param("git_push", [PUSH], id="a-name"),
        pytest.param("web__read", [("web/read",)], id="a-wire-name"),
        pytest.param("Git Push", [PUSH], id="with-spaces"),
        pytest.param("git-push", [PUSH], id="with-hyphens"),
        pytest.param("git__git_push", [PUSH], id="with-its-server"),
        pytest.param("#git_push", [PUSH], id="as-a-mention"),
        pytest.param("read", [READ], id="a-name-of-two"),
        pytest.param("git_log, git_push", [LOG, PUSH], id="two-to-be-called"),
        pytest.param("git_log -> git_push", [LOG, PUSH], id="one-after-the-other"),
        pytest.param("git_log<br>git_push", [LOG, PUSH], id="two-lines"),
        pytest.param("git_log or git_push", [("git/git_log", "git/git_push")], id="either"),
        pytest.param("`git_push(force=true)`", [PUSH], id="with-arguments"),
        pytest.param("(none)", [], id="none"),
        pytest.param("no tool", [], id="no-tool"),
        pytest.param("(none — should refuse)", [], id="none-with-a-reason"),
        pytest.param("—", [], id="a-dash"),
    ],
)
def test_E3_the_tool_may_be_written_in_many_ways(tmp_path: Path, cell: str, expected: Any) -> None:
    import_text(tmp_path, table((cell, "Do it.")))
    (case,) = cases(tmp_path / "out")
    assert labels(case) == expected


@pytest.mark.parametrize(
    ("cell", "prompts"),
    [
        pytest.param("Send it.", ["Send it."], id="words"),
        pytest.param('"Send it."', ["Send it."], id="in-quotes"),
        pytest.param('*"Send it."*', ["Send it."], id="in-italics"),
        pytest.param('"Send it." / "Push." or “Off with it!”', ["Send it.", "Push.", "Off with it!"], id="several"),
        pytest.param('"Send it." (easy)', ["Send it."], id="a-remark-after-quotes"),
        pytest.param("Send it.<br>Push.", ["Send it.", "Push."], id="lines"),
        pytest.param('Say "hi" to <name>', ['Say "hi" to <name>'], id="quotes-within"),
        pytest.param("Send it (now).", ["Send it (now)."], id="parentheses-within"),
    ],
)
def test_E3_a_cell_may_hold_several_prompts(tmp_path: Path, cell: str, prompts: list[str]) -> None:
    import_text(tmp_path, table(("git_push", cell)))
    assert [case.query for case in cases(tmp_path / "out")] == prompts


def test_E3_another_spelling_is_noted(tmp_path: Path) -> None:
    imported = import_text(tmp_path, table(("git_push", "Send."), ("Git Push", "Send."), ("git push", "Send.")))
    assert mentions(noted(imported), OTHER_SPELLING, "2 times")


@pytest.mark.parametrize(
    ("row", "reason", "detail"),
    [
        pytest.param(("git_pusch", "Send."), NOT_IN_CATALOG, "git_push", id="no-such-tool"),
        pytest.param(("git_push, git_pusch", "Send."), NOT_IN_CATALOG, "git_pusch", id="one-of-two"),
        pytest.param(("none-such", "Send."), NOT_IN_CATALOG, "none-such", id="a-name-that-begins-like-none"),
        pytest.param(("?", "Send."), NOT_IN_CATALOG, "?", id="a-question-mark"),
        pytest.param(("", "Send."), NO_LABEL, "", id="no-tool-named"),
        pytest.param(("git_push", ""), NO_PROMPT, "", id="no-prompt"),
    ],
)
def test_E3_rows_that_make_no_case_are_counted_with_their_line(
    tmp_path: Path, row: tuple[str, str], reason: str, detail: str
) -> None:
    imported = import_text(tmp_path, table(("git_push", "Send it."), row))
    assert (imported.cases, imported.left_out) == (1, {reason: 1})
    assert [(one.line, detail in one.detail) for one in imported.lines] == [(4, True)]


def test_E3_a_spelling_of_several_tools_is_ambiguous(tmp_path: Path) -> None:
    catalog = Catalog(plugins=(Plugin("a", (Tool("get_item"), Tool("getItem"), Tool("other"))),), name="twins")
    imported = import_text(tmp_path, table(("get-item", "Get it."), ("other", "Do.")), catalog=catalog)
    assert imported.left_out == {SEVERAL_SPELLINGS: 1}
    assert mentions(imported.lines[0].detail, "a/get_item", "a/getItem")


def test_E3_a_prefix_that_all_names_share_is_not_needed(tmp_path: Path) -> None:
    imported = import_text(
        tmp_path, table(("azmcp-git-push", "Send."), ("azmcp_git_log", "What was?"), ("azmcp_search", "Find."))
    )
    assert [labels(case) for case in cases(tmp_path / "out")] == [[PUSH], [LOG], [("web/search",)]]
    assert imported.left_out == {}


def test_E3_a_prefix_of_some_names_belongs_to_them(tmp_path: Path) -> None:
    imported = import_text(tmp_path, table(("azmcp_search", "Find."), ("git_log", "What was?"), ("git_push", "Send.")))
    assert (imported.cases, imported.left_out) == (2, {NOT_IN_CATALOG: 1})


def test_E3_other_tables_of_a_page_are_counted(tmp_path: Path) -> None:
    other = table(("git_push", "Sends commits."), header=("Tool", "Description"))
    imported = import_text(tmp_path, f"{other}\n\n{table(('git_push', 'Send it.'))}")
    assert (imported.cases, imported.records, imported.left_out) == (1, 2, {OTHER_TABLES: 1})


def test_E3_what_a_table_itself_doubts_is_a_draft(tmp_path: Path) -> None:
    header = ("Tool Name", "Test Prompt", "Interaction")
    asking = table(("git_push", "Send.", "none"), ("git_log", "Show.", "clarification-required"), header=header)
    imported = import_text(tmp_path, f"{asking}\n\n{table(('git_push', 'Send | it.'))}")
    assert [(case.query, case.draft, case.tags) for case in cases(tmp_path / "out")] == [
        ("Send.", False, ()),
        ("Show.", True, ("clarification-required",)),
        ("Send", True, ()),
    ]
    assert imported.drafts == 2
    assert mentions(noted(imported), "cells beyond the last column (1)")


def test_E3_a_table_of_csv_has_ids_tags_and_prompts_as_they_are(tmp_path: Path) -> None:
    text = 'test_id,User Query,Expected Tool(s),category,seconds\nt1,"Say ""hi"", then\npush",git_push,chat,3\n'
    imported = import_text(tmp_path, text, "prompts.csv")
    (case,) = cases(tmp_path / "out")
    assert (case.id, case.query, labels(case), case.tags) == ("t1", 'Say "hi", then\npush', [PUSH], ("chat",))
    assert mentions(noted(imported), "seconds (1)")


ENTRY = {"id": "e1", "query": "Send it.", "expectedTools": ["git_push"]}
TALK = [user("What was?"), calling("git_log"), answer(0, "a commit"), says("One commit.")]


@pytest.mark.parametrize("key", [None, "testCases", "anything"])
def test_E3_a_list_of_queries_may_be_under_any_key(tmp_path: Path, key: str | None) -> None:
    entries = [ENTRY, {**ENTRY, "id": "e2", "category": "git", "reference": "It must push."}]
    imported = import_text(tmp_path, entries if key is None else {"version": "1", key: entries}, "cases.json")
    assert [(case.id, labels(case), case.tags) for case in cases(tmp_path / "out")] == [
        ("e1", [PUSH], ()),
        ("e2", [PUSH], ("git",)),
    ]
    lines = [int(row["note"].rpartition(":")[2]) for row in rows(tmp_path / "out")]
    text = (tmp_path / "cases.json").read_text().splitlines()
    assert [text[line - 1].strip() for line in lines] == ["{", "{"]
    assert mentions(noted(imported), "reference (1)")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"expectedTools": []}, [], id="no-call"),
        pytest.param({"expectedTools": ["git_log", "git_push"]}, [LOG, PUSH], id="several"),
        pytest.param({"expectedTools": [{"name": "git_push", "args": {"remote": "o"}}]}, [PUSH], id="calls"),
        pytest.param({"expectedTools": ..., "expected_tool": "Git Push"}, [PUSH], id="one-by-another-name"),
        pytest.param({"query": ..., "prompt": "Send it."}, [PUSH], id="a-prompt"),
    ],
)
def test_E3_the_fields_of_an_entry(tmp_path: Path, fields: dict[str, Any], expected: Any) -> None:
    entry = {key: value for key, value in {**ENTRY, **fields}.items() if value is not ...}
    import_text(tmp_path, [entry], "cases.json")
    (case,) = cases(tmp_path / "out")
    assert (case.query, labels(case)) == ("Send it.", expected)


@pytest.mark.parametrize(
    ("context", "before"),
    [
        pytest.param(TALK, TALK, id="messages"),
        pytest.param(
            [
                user("What was?"),
                {"role": "tool_use", "tool": "git_log", "input": {}},
                {"role": "tool_result", "tool_use_id": 12, "content": "a commit"},
            ],
            None,
            id="roles-of-apify",
        ),
        pytest.param("The last push failed.", [user("The last push failed.")], id="words"),
    ],
)
def test_E3_a_context_is_the_conversation_before(tmp_path: Path, context: Any, before: Any) -> None:
    imported = import_text(tmp_path, [{**ENTRY, "context": context}], "cases.json")
    (row,) = rows(tmp_path / "out")
    cases(tmp_path / "out")
    *history, last = row["messages"]
    assert last == user("Send it.")
    if before is not None:
        assert history == before
    else:
        assert [message["role"] for message in history] == ["user", "assistant", "tool"]
        assert history[1]["tool_calls"][0]["id"] == history[2]["tool_call_id"]
    assert (CONTEXT_IN_WORDS in imported.notes) == isinstance(context, str)


@pytest.mark.parametrize(
    ("fields", "counted"),
    [
        pytest.param({"expectedTools": None}, NO_LABEL, id="null-may-mean-anything"),
        pytest.param({"query": " "}, NO_PROMPT, id="blank"),
        pytest.param({"context": TALK[:2]}, OPEN_CALL, id="an-open-call"),
        pytest.param({"expectedTools": [7]}, "broken: wrong-type", id="a-number-for-a-tool"),
        pytest.param({"query": 7}, "broken: wrong-type", id="a-number-for-a-query"),
        pytest.param({"context": [{"role": "robot", "content": ""}]}, "broken: wrong-type", id="an-unknown-role"),
        pytest.param({"context": {"a": 1}}, "broken: wrong-type", id="an-object-for-a-context"),
        pytest.param({"query": ...}, "broken: no-query", id="no-query"),
    ],
)
def test_E3_entries_that_make_no_case_are_counted(tmp_path: Path, fields: dict[str, Any], counted: str) -> None:
    entry = {key: value for key, value in {**ENTRY, **fields}.items() if value is not ...}
    imported = import_text(tmp_path, {"cases": [ENTRY, entry]}, "cases.json")
    assert (imported.cases, imported.left_out) == (1, {counted: 1})
    assert imported.lines[0].line > 3


def test_E9_every_broken_entry_is_reported_at_once(tmp_path: Path) -> None:
    imported = import_text(tmp_path, {"cases": [ENTRY, {**ENTRY, "query": 7}, {"id": "x"}]}, "cases.json")
    assert [finding.rule for finding in imported.broken] == ["wrong-type", "no-query"]
    assert imported.cases == 1


def test_E3_definitions_that_were_offered_are_no_label(tmp_path: Path) -> None:
    offered = {"query": "Send it.", "tools": [{"name": "git_push"}]}
    labelled = offered | {"answer": "git_push"}
    imported = import_text(tmp_path, [offered, labelled, offered | {"answer": "It was sent."}], "cases.json")
    assert [labels(case) for case in cases(tmp_path / "out")] == [[PUSH]]
    assert imported.left_out == {NO_LABEL: 1, IN_WORDS: 1}


def test_E3_names_alone_need_a_catalog(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError, match="--catalog"):
        import_text(tmp_path, table(("git_push", "Send it.")), catalog=None)


def test_E3_where_no_name_is_in_the_catalog_the_reason_is_shown(tmp_path: Path) -> None:
    with pytest.raises(ToolbeltError, match="not in the catalog"):
        import_text(tmp_path, table(("mystery", "Send it.")))


@needs_shared_data
def test_E3_a_real_list_is_imported_whole(tmp_path: Path) -> None:
    source = SHARED_DATA / "apify_queries" / "test_cases.json"
    entries = json.loads(source.read_text(encoding="utf-8"))["testCases"]
    names = sorted({name for entry in entries for name in entry["expectedTools"]})
    catalog = Catalog(plugins=(Plugin("apify", tuple(Tool(name.replace("-", "_")) for name in names)),), name="apify")
    imported = bring_in(tmp_path / "out", str(source), catalog=catalog)
    assert (imported.cases, imported.left_out, imported.drafts) == (len(entries), {}, 0)
    assert [case.id for case in cases(tmp_path / "out")] == [entry["id"] for entry in entries]


XLAM_TOOLS = [
    {"name": "find_gifts", "description": "Find gifts.", "parameters": {"kind": {"type": "str", "default": "toy"}}},
    {
        "name": "split",
        "description": "Split it.",
        "parameters": {"items": {"type": "List[int]"}, "by": {"type": "int"}},
    },
]
GIFTS = {"name": "find_gifts", "arguments": {"kind": "book"}}
SPLIT = {"name": "split", "arguments": {"items": [1, 2], "by": 1}}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"answers": json.dumps([GIFTS, SPLIT])}, [GIFTS, SPLIT], id="xlam"),
        pytest.param({"ground_truth": [{"function": GIFTS}]}, [GIFTS], id="as-openai-has-calls"),
        pytest.param({"answer": f"<tool_call>\n{json.dumps(SPLIT)}\n</tool_call>"}, [SPLIT], id="hermes"),
        pytest.param(
            {"expected_output": "[find_gifts(kind='book'), split(items=[1, 2], by=1)]"}, [GIFTS, SPLIT], id="toolace"
        ),
        pytest.param({"target": {"find_gifts": {"kind": "book"}}}, [GIFTS], id="by-name"),
        pytest.param({"answer": "split"}, [{"name": "split"}], id="a-name"),
        pytest.param({"answer": "none"}, [], id="no-tool"),
        pytest.param({"tool": "find_gifts", "tool_args": {"kind": "book"}}, [GIFTS], id="arguments-in-a-field"),
        pytest.param({"tool": "find_gifts", "arguments": '{"kind": "book"}'}, [GIFTS], id="arguments-as-json"),
        pytest.param({"tool": "split", "parameters": {"properties": {}}}, [{"name": "split"}], id="a-schema"),
        pytest.param(
            {
                "correct_answer": "tool_call",
                "answers": {"direct": "Here.", "tool_call": f"<TOOLCALL>[{json.dumps(GIFTS)}]</TOOLCALL>"},
                "target_tool": json.dumps(XLAM_TOOLS[0]),
            },
            [GIFTS],
            id="when2call",
        ),
        pytest.param(
            {"correct_answer": "request_for_info", "answers": {"direct": "Here.", "request_for_info": "Which?"}},
            [],
            id="when2call-without-a-call",
        ),
        pytest.param({"expected_tools": [GIFTS]}, [GIFTS], id="a-field-of-tools-goes-first"),
    ],
)
@pytest.mark.parametrize("tools", [XLAM_TOOLS, json.dumps(XLAM_TOOLS), [json.dumps(one) for one in XLAM_TOOLS]])
def test_K6_tools_beside_an_answer_are_what_was_offered(
    tmp_path: Path, tools: Any, fields: dict[str, Any], expected: list[dict[str, Any]]
) -> None:
    other = {"query": "Do nothing.", "tools": [{"name": "third"}], "answer": "none"}
    imported = import_text(tmp_path, [{"query": "Do it.", "tools": tools, **fields}, other], "rows.json", catalog=None)
    first, _ = rows(tmp_path / "out")
    calls = [{"tool": call["name"]} | ({"args": call["arguments"]} if "arguments" in call else {}) for call in expected]
    assert (first["expected"], first["offered"]) == (calls, ["find_gifts", "split"])
    assert (imported.left_out, imported.drafts) == ({}, 0)


def test_K6_names_beside_an_answer_are_offered_and_beside_words_say_nothing(tmp_path: Path) -> None:
    names = ["git_push", "git_log"]
    entries = [
        {"query": "Send it.", "available_tools": names, "answer": "git_push"},
        {"query": "Send both.", "tools": names, "answer": "Both were sent."},
        {"query": "Read it.", "tools": names, "answer": "git_log, git_push"},
        {"query": "Open it.", "tools": ["git_push"], "answers": [{"name": "git_log"}]},
        {"query": "Hello!", "tools": names, "answer": "no call"},
        {"query": "Send it now.", "tools": ["git_push"], "answer": ""},
        {"query": "Send this.", "expected_tools": ["git_push"], "answer": "It was sent."},
    ]
    imported = import_text(tmp_path, entries, "rows.json")
    read = [(labels(case), case.offered) for case in cases(tmp_path / "out")]
    offered = ("git/git_push", "git/git_log")
    assert read == [([PUSH], offered), ([LOG, PUSH], offered), ([], offered), ([PUSH], None), ([PUSH], None)]
    assert imported.left_out == {NOT_OFFERED: 1, IN_WORDS: 1}
    assert mentions(noted(imported), "answer (1)")


@pytest.mark.parametrize(
    "call",
    [
        {"name": "git_push", "input_parameters": {"remote": "origin"}},
        {"tool_name": "git_push", "input": {"remote": "origin"}},
        {"tool": "git_push", "kwargs": '{"remote": "origin"}'},
        {"name": "git_push", "parameters": {"remote": "origin"}, "description": "Send."},
        {"name": "git_push", "args": None, "params": {"remote": "origin"}},
        {"type": "function", "function": {"name": "git_push", "arguments": '{"remote": "origin"}'}},
    ],
)
def test_K6_the_arguments_of_a_label_are_read_wherever_they_stand(tmp_path: Path, call: dict[str, Any]) -> None:
    imported = import_text(tmp_path, [{"query": "Send it.", "expected_tools": [call]}], "rows.json")
    (row,) = rows(tmp_path / "out")
    assert (row["expected"], "left aside" in noted(imported)) == (
        [{"tool": "git/git_push", "args": {"remote": "origin"}}],
        False,
    )


def test_K6_a_field_of_a_label_that_is_not_read_is_noted(tmp_path: Path) -> None:
    definition = {"name": "git_push", "parameters": {"type": "object", "properties": {"remote": {"type": "string"}}}}
    calls = [{"name": "git_push", "output": "Sent.", "payload": {"remote": "origin"}}, definition]
    imported = import_text(tmp_path, [{"query": "Send it.", "expected_tools": calls}], "rows.json")
    assert rows(tmp_path / "out")[0]["expected"] == [{"tool": "git/git_push"}] * 2
    assert mentions(noted(imported), "`output`", "`payload`", "`parameters`")


RAGAS_CALLS = [{"name": "git_push", "args": {"remote": "origin"}}]
RAGAS = {
    "user_input": [
        {"content": "Send it.", "type": "human"},
        {"content": "", "type": "ai", "tool_calls": RAGAS_CALLS},
        {"content": "Sent.", "type": "tool"},
    ],
    "reference": "It is sent.",
    "reference_tool_calls": RAGAS_CALLS,
}
DEEPEVAL_CALL = {"name": "git_push", "type": "FUNCTION", "inputParameters": {"remote": "origin"}}
DEEPEVAL = {
    "input": "Send it.",
    "actual_output": None,
    "expected_output": "It is sent.",
    "context": ["A remote is a place."],
    "tools_called": [{"name": "git_log", "type": "FUNCTION"}],
    "expected_tools": [DEEPEVAL_CALL],
}


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(RAGAS, id="ragas"),
        pytest.param(DEEPEVAL, id="deepeval"),
        pytest.param({**DEEPEVAL, "expected_tools": json.dumps([DEEPEVAL_CALL])}, id="deepeval-in-csv"),
        pytest.param(
            {"id": "e-1", "inputs": {"question": "Send it."}, "outputs": {"expected_tools": RAGAS_CALLS}},
            id="langsmith",
        ),
    ],
)
def test_K6_rows_of_other_programs_say_what_is_expected(tmp_path: Path, row: dict[str, Any]) -> None:
    import_text(tmp_path, [row], "rows.json")
    (read,) = rows(tmp_path / "out")
    calls = [{"tool": "git/git_push", "args": {"remote": "origin"}}]
    assert (read["query"], read["expected"], read.get("draft")) == ("Send it.", calls, None)


def test_V6_a_conversation_of_several_turns_has_no_single_label(tmp_path: Path) -> None:
    more = {**RAGAS, "user_input": [*RAGAS["user_input"], {"content": "And again.", "type": "human"}]}
    assert import_text(tmp_path, [RAGAS, more], "rows.json").left_out == {SEVERAL_TURNS: 1}


@pytest.mark.parametrize("answer", ["get_time", [GIFTS]])
def test_V6_offers_that_are_no_list_refuse_no_other_row(tmp_path: Path, answer: Any) -> None:
    good = {"query": "Do it.", "tools": XLAM_TOOLS, "answers": [GIFTS]}
    imported = import_text(tmp_path, [{"query": "?", "tools": 5, "answer": answer}, good], "rows.json", catalog=None)
    assert [row["expected"][0]["tool"] for row in rows(tmp_path / "out")] == ["find_gifts"]
    assert sum(imported.left_out.values()) == 1
