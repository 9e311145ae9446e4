"""Replies that were written down beforehand (rule E2)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from toolbelt.errors import InvalidFileError, NotFoundError
from toolbelt.evals.conversation import Message, Reply, ToolUse
from toolbelt.evals.models.model import Model, Request
from toolbelt.evals.models.scripted import ScriptedModel, make_scripted_model
from toolbelt.evals.offers import Offer
from toolbelt.providers.chat import Failure, ModelError, Usage

SCRIPT = """\
- when: Commit
  replies:
    - calls:
        - {tool: git_status}
        - {tool: git_commit, args: {message: "fix: typo"}}
      usage: {prompt_tokens: 12, completion_tokens: 3}
    - text: Committed.
- when: limit
  replies:
    - {error: rate_limit, retry_after_seconds: 2}
- when: broken
  replies:
    - calls: [{tool: git_commit, args: "{not json"}]
- when: "*"
  replies:
    - text: Anything else?
"""


def user(text: str) -> Message:
    return {"role": "user", "content": text}


SAID = {"role": "assistant", "content": "…"}


def ask(model: Model, *messages: Message) -> Reply:
    return asyncio.run(model.complete(Request(messages, Offer())))


def write(folder: Path, text: str, name: str = "script.yaml") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def called(reply: Reply) -> list[tuple[str, Any]]:
    return [(call.name, call.arguments) for call in reply.calls]


def test_E2_a_script_is_played_reply_by_reply(tmp_path: Path) -> None:
    model = make_scripted_model(write(tmp_path, SCRIPT))
    first = ask(model, user("please COMMIT this"))
    assert called(first) == [("git_status", {}), ("git_commit", {"message": "fix: typo"})]
    assert (first.usage, first.finish_reason) == (Usage(12, 3), "tool_calls")
    second = ask(model, user("please commit this"), SAID, {"role": "tool", "content": "ok"})
    assert (second.text, second.calls, second.finish_reason) == ("Committed.", (), "stop")
    assert ask(model, user("commit"), SAID, SAID).calls == ()
    assert ask(model, user("commit"), SAID, user("what now")).text == "Anything else?"


def test_E2_no_state_passes_from_one_conversation_to_another(tmp_path: Path) -> None:
    model = make_scripted_model(write(tmp_path, SCRIPT))

    async def together() -> list[Reply]:
        requests = [Request((user("commit"), *([SAID] * (n % 2))), Offer()) for n in range(20)]
        return list(await asyncio.gather(*(model.complete(request) for request in requests)))

    assert [len(reply.calls) for reply in asyncio.run(together())] == [2, 0] * 10


def test_E2_call_ids_are_unique_in_a_conversation(tmp_path: Path) -> None:
    text = json.dumps({"when": "*", "replies": [{"calls": [{"tool": "a"}, {"tool": "a"}]}, {"calls": [{"tool": "a"}]}]})
    model = make_scripted_model(write(tmp_path, text, "s.jsonl"))
    ids = [call.id for reply in (ask(model, user("x")), ask(model, user("x"), SAID)) for call in reply.calls]
    assert len(set(ids)) == 3


def test_E2_a_scripted_error_is_raised(tmp_path: Path) -> None:
    model = make_scripted_model(write(tmp_path, SCRIPT))
    with pytest.raises(ModelError) as caught:
        ask(model, user("the limit"))
    assert (caught.value.failure, caught.value.retry_after_seconds) == (Failure.RATE_LIMIT, 2.0)


def test_E2_arguments_may_be_broken_on_purpose(tmp_path: Path) -> None:
    [call] = ask(make_scripted_model(write(tmp_path, SCRIPT)), user("broken")).calls
    assert (call.text, call.arguments) == ("{not json", None)


@pytest.mark.parametrize("name", ["s.jsonl", "s.json", "s.yaml"])
def test_E2_a_script_may_be_of_any_format(tmp_path: Path, name: str) -> None:
    entries = [{"when": "a", "replies": [{"text": "A"}]}, {"when": "*", "replies": [{"text": "any"}]}]
    text = "\n".join(map(json.dumps, entries)) if name.endswith("jsonl") else json.dumps(entries)
    path = write(tmp_path, text, name)
    model = make_scripted_model(path)
    assert (model.name, ask(model, user("A b")).text, ask(model, user("c")).text) == (f"scripted/{path}", "A", "any")


def test_E2_what_is_not_scripted_calls_nothing(tmp_path: Path) -> None:
    model = make_scripted_model(write(tmp_path, "- {when: a, replies: [{text: A}]}"))
    reply = ask(model, user("zzz"))
    assert (reply.calls, reply.text) == ((), "Nothing is scripted for this.")


@pytest.mark.parametrize(
    ("text", "lines", "said"),
    [
        pytest.param("", [None], "no reply", id="empty"),
        pytest.param("when: a", [1], "is a list of entries", id="no-list"),
        pytest.param("- 3", [1], "Not an entry", id="no-mapping"),
        pytest.param("- {when: a}", [1], "must have 'replies'", id="no-replies"),
        pytest.param("- {replies: []}", [1], "must have 'when'", id="no-when"),
        pytest.param("- {when: ' ', replies: []}", [1], "not blank", id="blank"),
        pytest.param("- {when: a, reply: [], replies: []}", [1], "Did you mean 'replies'", id="unknown-key"),
        pytest.param("- when: a\n  replies:\n  - {}", [3], "`text`, `calls` or `error`", id="empty-reply"),
        pytest.param("- when: a\n  replies:\n  - error: rate_limits", [3], "Did you mean 'rate_limit'", id="error"),
        pytest.param("- when: a\n  replies:\n  - {error: timeout, text: x}", [3], "has no 'text'", id="both"),
        pytest.param("- when: a\n  replies:\n  - calls: [{args: {}}]", [3], "must have 'tool'", id="no-tool"),
        pytest.param("- when: a\n  replies:\n  - calls: [{tool: x, arg: {}}]", [3], "Did you mean 'args'", id="args"),
        pytest.param("- when: a\n  replies:\n  - calls: [{tool: x, args: 3}]", [3], "`args` must be", id="args-type"),
        pytest.param("- when: a\n  replies:\n  - {text: x, usage: {prompt: 3}}", [3], "prompt_tokens", id="usage"),
        pytest.param(
            "- when: a\n  replies:\n  - text: x\n    usage: {prompt_tokens: -1}",
            [4],
            "from 0 to",
            id="tokens-below-none",
        ),
        pytest.param(
            "- when: a\n  replies:\n  - text: x\n    usage: {completion_tokens: 9999999999999999999}",
            [4],
            "from 0 to",
            id="more-tokens-than-can-be-kept",
        ),
        pytest.param(
            "- when: a\n  replies:\n  - text: 3\n  - calls: x", [3, 4], "`text` must be text", id="all-at-once"
        ),
    ],
)
def test_E2_every_mistake_is_found_with_its_line(tmp_path: Path, text: str, lines: list[int | None], said: str) -> None:
    with pytest.raises(InvalidFileError) as caught:
        make_scripted_model(write(tmp_path, text))
    assert [finding.line for finding in caught.value.findings] == lines
    assert said in str(caught.value)


def test_E2_mistakes_in_lines_are_told_by_line(tmp_path: Path) -> None:
    right = '{"when": "b", "replies": [{"text": "x"}]}'
    text = f'{{"when": "a", "replies": [{{"text": 1}}]}}\nnonsense\n{right}\n{{"replies": []}}\n'
    with pytest.raises(InvalidFileError) as caught:
        make_scripted_model(write(tmp_path, text, "s.jsonl"))
    assert [finding.line for finding in caught.value.findings] == [1, 2, 4]


def test_E2_a_missing_script_is_named(tmp_path: Path) -> None:
    write(tmp_path, SCRIPT, "demo.yaml")
    with pytest.raises(NotFoundError, match=r"Did you mean .*demo\.yaml"):
        make_scripted_model(str(tmp_path / "demmo.yaml"))


def test_E2_a_function_may_reply_and_may_wait() -> None:
    async def slowly(request: Request) -> Reply | ModelError:
        await asyncio.sleep(0)
        return Reply(text=str(len(request.messages)))

    assert ask(ScriptedModel(slowly), user("a"), SAID).text == "2"
    assert ask(ScriptedModel(lambda request: Reply(text=request.messages[0]["content"])), user("a")).text == "a"
    failing = ScriptedModel(lambda request: ModelError(Failure.TIMEOUT, "late", latency_seconds=3.0))
    with pytest.raises(ModelError) as caught:
        ask(failing, user("a"))
    assert caught.value.latency_seconds == 3.0


def test_E2_a_sequence_is_given_in_order() -> None:
    replies: Sequence[Reply | ModelError] = (
        Reply(calls=(ToolUse.from_text("1", "a", "{}"),)),
        ModelError(Failure.TIMEOUT, "late"),
        Reply(text="end"),
    )
    model = ScriptedModel(replies)
    assert [call.name for call in ask(model, user("x")).calls] == ["a"]
    with pytest.raises(ModelError, match="late"):
        ask(model, user("x"), SAID)
    assert ask(model, user("x"), SAID, SAID).text == "end"
    assert ask(model, user("x"), SAID, SAID, SAID).calls == ()


@pytest.mark.parametrize(
    ("price", "usage", "cost"),
    [(0.0, Usage(), 0.0), (0.5, Usage(3, 1), 2.0), (0.5, Usage(), None), (None, Usage(3, 1), None)],
)
def test_E6_the_price_is_what_it_was_told(price: float | None, usage: Usage, cost: float | None) -> None:
    assert ScriptedModel((), usd_per_token=price).cost_usd(usage) == cost
