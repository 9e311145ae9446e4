"""Answers that a model gave elsewhere become a run (`toolbelt eval import`)."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import Message
from anthropic.types.messages import MessageBatchIndividualResponse
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from tests.cli.conftest import Toolbelt, project, toolbelt
from toolbelt.errors import InvalidFileError, NotFoundError, ToolbeltError
from toolbelt.evals import CaseFilter, Run, import_answers, resume_run, run_eval
from toolbelt.evals.running.runner import RunEnd

__all__ = ["project", "toolbelt"]
Replies = Sequence[Mapping[str, Any]]
"""The replies of a trial, as a store keeps them: `text`, and `calls` of id, name and arguments."""
SAME = ("case_id", "outcome", "reason", "called", "missing", "surplus", "hits", "made", "wanted", "selections")
"""What must not depend on who asked."""


def read_replies(run: Run) -> dict[str, list[Mapping[str, Any]]]:
    """What a model replied in each trial of a run."""
    replies: dict[str, list[Mapping[str, Any]]] = {}
    with sqlite3.connect(run.store) as store:
        query = (
            "SELECT t.case_id, r.reply FROM trials AS t JOIN requests AS r ON r.run = t.run AND r.trial = t.trial "
            "WHERE t.run = ? ORDER BY t.trial, r.request"
        )
        for case, reply in store.execute(query, (run.id,)):
            replies.setdefault(case, []).append({"text": "", "calls": [], **json.loads(reply)})
    return replies


def openai_calls(reply: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}
        for call_id, name, text in reply["calls"]
    ]


def completion(reply: Mapping[str, Any]) -> dict[str, Any]:
    """A reply as OpenAI's SDK has it."""
    calls = openai_calls(reply)
    message = {"role": "assistant", "content": reply["text"] or None} | ({"tool_calls": calls} if calls else {})
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop", "logprobs": None}
    usage = {"prompt_tokens": 50_700, "completion_tokens": 30, "total_tokens": 50_730}
    fields = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-6-luna-2026-10-01"}
    return ChatCompletion.model_validate({**fields, "choices": [choice], "usage": usage}).model_dump(mode="json")


def response(reply: Mapping[str, Any]) -> dict[str, Any]:
    calls = [
        {"type": "function_call", "id": f"fc_{number}", "call_id": call_id, "name": name, "arguments": text}
        for number, (call_id, name, text) in enumerate(reply["calls"])
    ]
    text = {"type": "output_text", "text": reply["text"], "annotations": []}
    said = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}
    details = {"input_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 0}}
    details |= {"output_tokens_details": {"reasoning_tokens": 12}}
    usage = {"input_tokens": 50_700, "output_tokens": 30, "total_tokens": 50_730, **details}
    fields = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-6-luna", "status": "completed"}
    fields |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "usage": usage}
    return Response.model_validate({**fields, "output": calls or [said]}).model_dump(mode="json")


def anthropic_message(reply: Mapping[str, Any]) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": reply["text"]}] if reply["text"] else []
    content += [
        {"type": "tool_use", "id": call_id, "name": name, "input": json.loads(text)}
        for call_id, name, text in reply["calls"]
    ]
    stop = "tool_use" if reply["calls"] else "end_turn"
    usage = {"input_tokens": 50_600, "cache_read_input_tokens": 100, "output_tokens": 30}
    fields = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": content}
    return Message.model_validate({**fields, "stop_reason": stop, "stop_sequence": None, "usage": usage}).model_dump(
        mode="json"
    )


def openai_batch(make: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Callable[[str, Replies], Any]:
    def line(case: str, replies: Replies) -> Any:
        body = {"status_code": 200, "request_id": "req_1", "body": make(replies[0])}
        return {"id": "batch_req_1", "custom_id": case, "response": body, "error": None}

    return line


def anthropic_batch(case: str, replies: Replies) -> Any:
    result = {"type": "succeeded", "message": anthropic_message(replies[0])}
    return MessageBatchIndividualResponse.model_validate({"custom_id": case, "result": result}).model_dump(mode="json")


def log(case: str, replies: Replies) -> Any:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "…"}]
    for reply in replies:
        messages.append({"role": "assistant", "content": reply["text"] or None, "tool_calls": openai_calls(reply)})
        messages += [{"role": "tool", "tool_call_id": call_id, "content": "ok"} for call_id, _, _ in reply["calls"]]
    return {"id": case, "messages": messages}


def bfcl_result(case: str, replies: Replies) -> Any:
    calls = [{name: text} for reply in replies for _, name, text in reply["calls"]]
    return {"id": case, "result": calls or replies[0]["text"], "input_token_count": 50_700, "output_token_count": 30}


def answer(case: str, replies: Replies) -> Any:
    steps = [[{"tool": name, "args": json.loads(text)} for _, name, text in reply["calls"]] for reply in replies]
    return {"caseId": case, "answer": [step for step in steps if step]}


ONE_REPLY = {
    "openai-chat-batch": openai_batch(completion),
    "openai-responses-batch": openai_batch(response),
    "anthropic-batch": anthropic_batch,
}
"""What holds the first reply alone."""
WHOLE = {"log": log, "leaderboard": bfcl_result, "answers": answer}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that asked a model."""
    store = tmp_path_factory.mktemp("asked") / "runs.db"
    return run_eval("assistant", "local/bm25", "full", limit=120, store=store)


def write(rows: Iterable[Any], name: str = "answers.jsonl") -> str:
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return name


def by_case(run: Run) -> dict[str, dict[str, Any]]:
    return {row["case_id"]: row for row in run.trials.to_dict("records")}


@pytest.mark.parametrize("form", [*ONE_REPLY, *WHOLE])
def test_V2_imported_answers_are_scored_as_if_they_had_been_asked(form: str, asked: Run) -> None:
    replies = read_replies(asked)
    line = ONE_REPLY.get(form) or WHOLE[form]
    file = write(line(case, said) for case, said in replies.items())
    run = import_answers(file, "assistant", "vendor/model", filter=CaseFilter(limit=120))
    assert (run.end, run.summary.planned) == (RunEnd.FINISHED, 120)
    before, after = by_case(asked), by_case(run)
    assert after.keys() == before.keys()
    is_whole = form in WHOLE
    for case, row in after.items():
        if is_whole or len(replies[case]) == 1:
            assert {key: row[key] for key in SAME} == {key: before[case][key] for key in SAME}, case
    unscored = [case for case, row in after.items() if row["outcome"] == "error"]
    assert all("The answer ends after 1 step, with nothing wrong so far" in after[case]["reason"] for case in unscored)
    assert bool(unscored) is not is_whole


@pytest.mark.parametrize(
    ("form", "tokens"),
    [
        ("openai-chat-batch", (50_700, 30, None, None)),
        ("openai-responses-batch", (50_700, 30, 100, 12)),
        ("anthropic-batch", (50_700, 30, 100, None)),
        ("leaderboard", (50_700, 30, None, None)),
        ("answers", (None, None, None, None)),
    ],
)
def test_tokens_are_those_reported_and_nothing_is_made_up(
    form: str, tokens: tuple[int | None, ...], asked: Run
) -> None:
    replies = read_replies(asked)
    file = write((ONE_REPLY.get(form) or WHOLE[form])(case, said) for case, said in replies.items())
    run = import_answers(file, "assistant", "gpt-6-luna", filter=CaseFilter(limit=120))
    with sqlite3.connect(run.store) as store:
        columns = "prompt_tokens, completion_tokens, cached_read_tokens, reasoning_tokens, cost_usd"
        rows = set(store.execute(f"SELECT {columns} FROM trials WHERE run = ? AND outcome <> 'error'", (run.id,)))
    assert rows == {(*tokens, None)}
    (arm,) = run.summary.arms
    assert (arm.cost_usd, arm.latency_seconds, arm.latency_p95_seconds) == (None, None, None)
    assert arm.requests == 1 or form == "answers"


FORCE = {"type": "object", "properties": {"force": {"type": "boolean"}}}
CATALOG = {
    "plugins": [
        {"name": "git", "tools": [{"name": "status"}, {"name": "push.commits", "parameters": FORCE}]},
        {"name": "docker", "tools": [{"name": "status"}, {"name": "run"}]},
    ],
    "loadouts": {"coder": {"plugins": ["git"]}},
}
CASES: list[dict[str, Any]] = [
    {"id": "changed", "query": "What did I change?", "expected": [{"tool": "git/status"}]},
    {"id": "push", "query": "Push it.", "expected": [{"tool": "git/push.commits", "args": {"force": False}}]},
    {"id": "running", "query": "What runs?", "expected": [{"tool": "docker/status"}], "offered": ["docker/status"]},
    {"id": "thanks", "query": "Thanks!", "expected": []},
]


@pytest.fixture
def dataset(project: Path) -> str:
    folder = project / "office"
    folder.mkdir()
    (folder / "catalog.json").write_text(json.dumps(CATALOG), encoding="utf-8")
    (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, CASES)), encoding="utf-8")
    return str(folder)


RIGHT: list[dict[str, Any]] = [
    {"id": "changed", "answer": "git/status"},
    {"id": "push", "answer": [{"name": "push.commits", "arguments": '{"force": false}'}]},
    {"id": "running", "answer": "status"},
    {"id": "thanks", "answer": "You are welcome."},
]


def outcomes(run: Run) -> dict[str, str]:
    return {case: row["outcome"] for case, row in by_case(run).items()}


def import_rows(rows: Iterable[Any], dataset: str, **options: Any) -> Run:
    return import_answers(write(rows), dataset, "mine", **options)


def test_plain_names_are_accepted_where_the_case_offers_one_tool_of_that_name(dataset: str) -> None:
    run = import_rows(RIGHT, dataset)
    assert outcomes(run) == dict.fromkeys(("changed", "push", "running", "thanks"), "correct")
    assert run.end is RunEnd.FINISHED


def test_a_name_that_several_tools_have_is_refused_with_the_candidates(dataset: str) -> None:
    rows = [{"id": "changed", "answer": ["status", "docker/run"]}, *RIGHT[1:]]
    with pytest.raises(
        InvalidFileError, match="2 tools are named 'status'; say which: git/status, docker/status"
    ) as it:
        import_rows(rows, dataset)
    assert [(each.file, each.line) for each in it.value.findings] == [("answers.jsonl", 1)]
    assert not Path(".toolbelt/runs.db").exists()
    shown = import_rows([{"id": "changed", "answer": "status"}, *RIGHT[1:]], dataset, toolset="loadout:coder")
    assert outcomes(shown)["changed"] == "correct"  # the toolset has one of the two


def test_what_the_model_called_wrongly_stays_wrong(dataset: str) -> None:
    rows = [
        {"id": "changed", "answer": "GIT/STATUS"},
        {"id": "push", "answer": "git_pull"},
        {"id": "running", "answer": "docker/run"},
        {"id": "thanks", "answer": "docker/run"},
    ]
    assert outcomes(import_rows(rows, dataset)) == {
        "changed": "unoffered_tool",  # no dispatcher finds it by that name
        "push": "hallucinated_tool",
        "running": "unoffered_tool",
        "thanks": "unneeded_call",
    }


@pytest.mark.parametrize(
    "said", ["none", "", "No tool", [], "-", "I would rather talk about it.", {"role": "assistant", "content": "Hi"}]
)
def test_an_answer_without_a_call_calls_nothing(said: Any, dataset: str) -> None:
    assert outcomes(import_rows([*RIGHT[:3], {"id": "thanks", "answer": said}], dataset))["thanks"] == "correct"


def test_a_table_has_names_and_arguments_in_columns(dataset: str) -> None:
    with Path("answers.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(("Case ID", "Tool", "Arguments", "Input tokens", "Output tokens"))
        table.writerows(
            (
                ("changed", "git/status", "", "11", "2"),
                ("push", "push.commits", '{"force": false}', "12", "3"),
                ("running", "status", "", "0", ""),
                ("thanks", "none", "", "", ""),
            )
        )
    run = import_answers("answers.csv", dataset, "mine")
    assert set(outcomes(run).values()) == {"correct"}
    tokens = {case: row["prompt_tokens"] for case, row in by_case(run).items()}
    assert (tokens["changed"], tokens["push"]) == (11, 12)
    assert tokens["running"] is None, "0 is what is written where nobody counted"


def test_missing_and_unknown_answers_are_counted(dataset: str, toolbelt: Toolbelt) -> None:
    write([RIGHT[0], {"id": "thanks", "answer": None}, {"id": "thnaks", "answer": []}, {"answer": "status"}])
    ran = toolbelt("eval", "import", "answers.jsonl", "--dataset", dataset, "--model", "mine", "--json")
    assert ran.code == 3
    assert "warning: no case of office has the id of 1 answer: 'thnaks'" in ran.err
    assert "warning: not read: 2 rows. The first: answers.jsonl:4: left out: broken: no-id" in ran.err
    assert "no answer in the files, so unscored: 3 trials" in ran.err
    assert "resume" not in ran.err
    assert (ran.json["planned"], ran.json["scored"], ran.json["status"]) == (4, 1, "incomplete")
    assert ran.json["settings"]["imported_from"] == ["answers.jsonl"]


def test_a_filter_leaves_answers_out(dataset: str, toolbelt: Toolbelt) -> None:
    write(RIGHT)
    ran = toolbelt("eval", "import", "answers.jsonl", "-d", dataset, "-m", "mine", "--case", "changed", "--json")
    assert (ran.code, ran.json["planned"], ran.json["scored"]) == (0, 1, 1)
    assert "left out: 3 answers to cases that the run does not have" in ran.err


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([*RIGHT, RIGHT[0]], InvalidFileError, "Case 'changed' has an answer already, in answers.jsonl:1"),
        ([{"id": "chnaged", "answer": "run"}], NotFoundError, "No case named 'chnaged'. Did you mean 'changed'"),
        ([{"id": "changed"}], InvalidFileError, "This row has no answer: name it `answer`"),
        ([{"id": "changed", "answer": None}], ToolbeltError, "There is no answer in answers.jsonl: its answer is null"),
        ([{"id": "changed", "answer": 5}], InvalidFileError, "A call is the name of a tool, or an object"),
        ([{"id": "changed", "epoch": "first", "answer": []}], InvalidFileError, "`epoch` must be a whole number"),
    ],
    ids=["two answers", "no case", "no answer", "null", "a number", "no epoch"],
)
def test_what_is_no_set_of_answers_is_refused(rows: Any, error: type[Exception], message: str, dataset: str) -> None:
    with pytest.raises(error, match=message.replace("?", r"\?")):
        import_rows(rows, dataset)
    assert not Path(".toolbelt/runs.db").exists()


def test_answers_are_of_one_toolset(dataset: str) -> None:
    with pytest.raises(ToolbeltError, match="shown one toolset; name one of: loadout:"):
        import_rows(RIGHT, dataset, toolset="loadout:*")


def test_epochs_tell_answers_to_one_case_apart(dataset: str) -> None:
    again = [{**RIGHT[0], "epoch": 2, "answer": "docker/run"}, *({**row, "epoch": 2} for row in RIGHT[1:])]
    run = import_rows([*({**row, "epoch": 1} for row in RIGHT), *again], dataset)
    assert (run.summary.epochs, run.summary.planned, run.summary.scored) == (2, 8, 8)
    right = run.trials.set_index(["case_id", "epoch"])["outcome"]
    assert (right["changed", 0], right["changed", 1]) == ("correct", "wrong_tool")


FAILED: dict[str, tuple[Any, str]] = {
    "openai-overflow": (
        {
            "custom_id": "changed",
            "response": {
                "status_code": 400,
                "body": {"error": {"message": "…", "code": "context_length_exceeded", "type": "invalid_request_error"}},
            },
            "error": None,
        },
        "context_overflow",
    ),
    "openai-expired": (
        {"custom_id": "changed", "response": None, "error": {"code": "batch_expired", "message": "It expired."}},
        "error",
    ),
    "openai-no-key": (
        {"custom_id": "changed", "response": {"status_code": 401, "body": {"error": {"message": "No key."}}}},
        "error",
    ),
    "anthropic-errored": (
        {
            "custom_id": "changed",
            "result": {
                "type": "errored",
                "error": {"type": "error", "error": {"type": "api_error", "message": "Internal server error"}},
            },
        },
        "error",
    ),
    "anthropic-expired": ({"custom_id": "changed", "result": {"type": "expired"}}, "error"),
    "leaderboard": ({"id": "changed", "result": "Error during inference: Connection reset"}, "error"),
}


@pytest.mark.parametrize(("row", "outcome"), FAILED.values(), ids=FAILED)
def test_V2_a_request_that_failed_is_unscored(row: Any, outcome: str, dataset: str) -> None:
    run = import_rows([row, *RIGHT[1:]], dataset)
    assert outcomes(run)["changed"] == outcome
    assert (run.end, run.summary.scored) == (RunEnd.FINISHED, 3)
    assert by_case(run)["changed"]["retries"] == 0


def test_V2_the_form_of_a_reply_is_read_by_the_one_table(dataset: str) -> None:
    cut = completion({"text": "I think", "calls": []})
    cut["choices"][0]["finish_reason"] = "length"
    refused = anthropic_message({"text": "No.", "calls": []}) | {"stop_reason": "refusal"}
    empty = completion({"text": "", "calls": []})
    empty["usage"]["completion_tokens"] = 0
    rows = [
        {"id": "changed", "response": cut},
        {"id": "push", "answer": refused},
        {"id": "running", "completion": empty},
        {"id": "thanks", "answer": '<tool_call>{"name": "docker_run", "arguments": {}}</tool_call> is it'},
    ]
    run = import_rows(rows, dataset)
    assert outcomes(run) == {"changed": "truncated", "push": "refused", "running": "error", "thanks": "error"}
    assert by_case(run)["thanks"]["reason"].startswith("call_in_text")
    assert by_case(run)["running"]["reason"].startswith("broken_answer")


def test_the_leaderboards_texts_are_calls_only_where_no_row_has_functions(dataset: str) -> None:
    prompted = [
        {"id": "changed", "result": "```python\n[git.status()]\n```"},
        {"id": "push", "result": "[push.commits(force=False)]"},
        {"id": "running", "result": "The answer: status(all=True), I suppose."},
        {"id": "thanks", "result": "You are welcome."},
    ]
    rows = [{"id": "changed", "result": "[status()]"}, *prompted[1:]]
    with pytest.raises(InvalidFileError, match="2 tools are named 'status'"):
        import_rows(rows, dataset)
    run = import_rows([{"id": "changed", "result": [{"git__status": "{}"}]}, *prompted[1:]], dataset)
    assert outcomes(run) == {
        "changed": "correct",
        "push": "missing_call",
        "running": "missing_call",
        "thanks": "correct",
    }
    run = import_rows([{"id": "changed", "result": "[git__status()]"}, *prompted[1:]], dataset)
    assert (outcomes(run)["changed"], outcomes(run)["push"]) == ("correct", "correct")


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ('\n{"tool_calls": [{"name": "push.commits", "arguments": {"force": false}}]}', "correct"),
        ("push.commits(force=False), push.commits(force=False)", "extra_call"),
        (["I would rather talk about it.\n"], "missing_call"),
    ],
)
def test_models_of_the_leaderboard_write_calls_in_their_own_ways(said: Any, outcome: str, dataset: str) -> None:
    assert outcomes(import_rows([{"id": "push", "result": said}], dataset)) == {"push": outcome}


def test_a_value_that_json_cannot_have_is_its_own_text(dataset: str) -> None:
    said = "[push.commits(force=..., to={b'x', 2j}, at={**where, 1: (y, -1.5)})]"
    run = import_rows([{"id": "push", "result": said}], dataset)
    ((name, text),) = [call[1:] for reply in read_replies(run)["push"] for call in reply["calls"]]
    assert name == "push_commits"
    assert json.loads(text) == {"force": "...", "to": ["b'x'", "2j"], "at": {"": "where", "1": ["y", -1.5]}}


def test_an_imported_run_says_so_everywhere_and_nobody_is_asked(dataset: str, toolbelt: Toolbelt) -> None:
    first = import_rows(RIGHT, dataset)
    second = import_rows([{"id": "changed", "answer": "none"}, *RIGHT[1:]], dataset)
    assert "Imported: the answers were given elsewhere" in toolbelt("eval", "show", first.id).out
    page, *others = first.report("report")
    assert "Imported: the answers were given elsewhere" in page.read_text(encoding="utf-8")
    markdown = next(file for file in others if file.suffix == ".md").read_text(encoding="utf-8")
    assert "toolbelt eval import answers.jsonl --dataset" in markdown
    compared = toolbelt("eval", "compare", first.id, second.id, "--json")
    assert [side["is_imported"] for side in (compared.json["old"], compared.json["new"])] == [True, True]
    assert "were imported: how the model was asked is not known" in toolbelt("eval", "compare", first.id, second.id).out
    resumed = toolbelt("eval", "resume", first.id)
    assert (resumed.code, "so nobody is asked for more" in resumed.err) == (2, True)
    with pytest.raises(ToolbeltError, match="toolbelt eval import"):
        resume_run(first)


def test_an_imported_run_is_compared_with_one_that_asked_and_gated(asked: Run, toolbelt: Toolbelt) -> None:
    live = run_eval("assistant", "local/bm25", "full", limit=120)
    file = write(answer(case, said) for case, said in read_replies(asked).items())
    options = ("--dataset", "assistant", "--limit", "120", "--model", "local/bm25")
    assert toolbelt("eval", "import", file, *options).code == 0
    compared = toolbelt("eval", "compare", live.id, "latest", "--json").json
    assert compared["comparable"], compared["reasons"]
    accuracy = next(each for each in compared["contrasts"] if each["measure"] == "accuracy")
    assert (accuracy["difference"], compared["new"]["is_imported"]) == (0, True)
    assert toolbelt("eval", "baseline", "save", "latest", "-o", "base.json").code == 0
    assert json.loads(Path("base.json").read_text(encoding="utf-8"))["imported"] is True
    gated = toolbelt("eval", "gate", live.id, "--baseline", "base.json", "--margin", "0.2", "--json")
    assert (gated.code, gated.json["verdict"]) == (0, "no_regression")
