"""What every model keeps to (rule E2), over those that need no network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.evals.models.local.asking import TOOLS, complete, offer
from toolbelt.evals.conversation import Conversation, Reply, ToolUse
from toolbelt.evals.models.local import make_local_model
from toolbelt.evals.models.model import Model
from toolbelt.evals.models.scripted import ScriptedModel, make_scripted_model
from toolbelt.evals.offers import Offer
from toolbelt.providers.chat import Usage

Maker = Callable[[Path], Model]
QUERY = 'Read the file notes.txt, then commit the staged changes with the message "notes".'


def _from_file(folder: Path) -> Model:
    script = folder / "script.jsonl"
    replies = [{"calls": [{"tool": "read_file", "args": {"path": "x"}}, {"tool": "git_commit"}]}, {"text": "Done."}]
    script.write_text(json.dumps({"when": "*", "replies": replies}))
    return make_scripted_model(str(script))


def _from_replies(folder: Path) -> Model:
    calls = (ToolUse.from_text("1", "read_file", '{"path": "x"}'), ToolUse.from_text("2", "git_commit", ""))
    return ScriptedModel((Reply(calls=calls, finish_reason="tool_calls"), Reply(text="Done.", finish_reason="stop")))


MAKERS: dict[str, Maker] = {
    "local/bm25": lambda folder: make_local_model("local/bm25"),
    "file": _from_file,
    "replies": _from_replies,
}


@pytest.fixture(params=list(MAKERS.values()), ids=list(MAKERS))
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Model:
    make: Maker = request.param
    return make(tmp_path)


def test_E2_it_has_a_name(model: Model) -> None:
    assert model.name.strip() == model.name != ""


def test_E2_its_calls_can_go_into_the_conversation(model: Model) -> None:
    reply = complete(model, QUERY, offer(*TOOLS))
    assert [call.name for call in reply.calls] == ["read_file", "git_commit"]
    assert len({call.id for call in reply.calls}) == 2
    for call in reply.calls:
        assert isinstance(json.loads(call.text or "{}"), dict)
        assert call == ToolUse.from_text(call.id, call.name, call.text)
    opening = ({"role": "user", "content": QUERY},)
    conversation = Conversation(opening).extended(reply, ("a", "b"))
    final = complete(model, conversation.to_messages(), offer(*TOOLS))
    assert (final.calls, bool(final.text)) == ((), True)


def test_E2_the_same_request_gets_the_same_reply(model: Model) -> None:
    shown = offer(*TOOLS)
    first, second = (complete(model, QUERY, shown) for _ in range(2))
    assert (first.text, first.calls, first.usage) == (second.text, second.calls, second.usage)


def test_E2_it_answers_where_nothing_is_offered(model: Model) -> None:
    assert isinstance(complete(model, "Hello", Offer()), Reply)


def test_E6_what_it_reports_is_never_less_than_nothing(model: Model) -> None:
    reply = complete(model, QUERY, offer(*TOOLS))
    assert reply.latency_seconds >= 0
    assert model.cost_usd(reply.usage) == model.cost_usd(Usage()) == 0.0


def test_E2_it_may_be_closed_twice(model: Model) -> None:
    async def close() -> None:
        await model.close()
        await model.close()

    asyncio.run(close())
