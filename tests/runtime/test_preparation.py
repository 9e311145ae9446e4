"""Backends for one call (rule R6)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.wording import mentions
from toolbelt.catalog.frozen import FrozenDict
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.guards import ALLOW, AuditRecord, GuardDecision, GuardVerdict, ask_person, refuse
from toolbelt.runtime.preparation import BackendError, GuardCheck, open_backends
from toolbelt.runtime.results import ToolCall


def served(backends: Mapping[str, Any], *capabilities: str, **context: Any) -> ToolContext:
    tool = ExecutableTool.of(lambda: None, name="t", capabilities=capabilities)
    return asyncio.run(open_backends(tool, ToolContext(**context), ("picture",), backends, 0.05))


async def _give_async(tool: ExecutableTool, context: ToolContext) -> tuple[str, str | None]:
    return tool.name, context.session_id


def test_R6_a_value_is_given_as_it_is_and_a_function_is_asked_for_each_call() -> None:
    backends = {
        "network": _give_async,
        "process": lambda tool, context: [tool.name, context.agent],
        "storage": {"root": "/"},
        "secrets": "not declared",
    }
    context = served(backends, "network", "process", "storage", session_id="s", agent="a")
    assert context.backends == {"network": ("t", "s"), "process": ["t", "a"], "storage": {"root": "/"}}
    assert (context.session_id, context.agent, context.attachments) == ("s", "a", ())


def test_R6_attachments_are_for_those_who_declare_them() -> None:
    assert served({"attachments": True}, "attachments").attachments == ("picture",)


def test_R6_what_is_given_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        served({"storage": "disk"}, "storage").backends["network"] = "all"  # type: ignore[index]


def _raise(tool: ExecutableTool, context: ToolContext) -> None:
    raise ConnectionError("no route")


def _exit(tool: ExecutableTool, context: ToolContext) -> None:
    raise SystemExit(1)


async def _hang(tool: ExecutableTool, context: ToolContext) -> None:
    await asyncio.sleep(60)


@pytest.mark.parametrize(
    ("backend", "said"),
    [
        pytest.param(_raise, "raised ConnectionError: no route", id="raises"),
        pytest.param(_exit, "raised SystemExit: 1", id="exits"),
        pytest.param(_hang, "0.05 s", id="hangs"),
        pytest.param(lambda tool, context: time.sleep(60), "0.05 s", id="blocks"),
    ],
)
def test_R6_a_backend_that_cannot_be_had_makes_the_tool_unavailable(backend: Callable[..., Any], said: str) -> None:
    with pytest.raises(BackendError) as caught:
        served({"network": backend}, "network")
    assert mentions(str(caught.value), "network", said)


ARGUMENTS = FrozenDict({"path": "/etc"})
TOOL = ExecutableTool.of(lambda: None, name="t")


def find_refusal(guard: Any, confirm: Any = None, audit: Any = None, guard_seconds: float = 30) -> str | None:
    # Little time only for what takes for ever: on a machine that is busy, an answer at once is late, too.
    guard_seconds = 0.1 if guard in (block, hang) or audit is hang else guard_seconds
    guarding = GuardCheck(audit, guard_seconds, 0.1 if confirm in (block, hang) else 30)
    context = ToolContext(session_id="s", agent="a", confirm=confirm)
    return asyncio.run(guarding.find_refusal(TOOL, guard, ToolCall("id", "t", {}), ARGUMENTS, context))


def answer(value: Any) -> Callable[..., Any]:
    return lambda *_: value


def answer_async(value: Any) -> Callable[..., Any]:
    async def function(*_: Any) -> Any:
        await asyncio.sleep(0)
        return value

    return function


def fail(*_: Any) -> Any:
    raise ValueError("broken")


def leave(*_: Any) -> Any:
    raise SystemExit(1)


def block(*_: Any) -> Any:
    time.sleep(60)
    return ALLOW


async def hang(*_: Any) -> Any:
    await asyncio.sleep(60)


@pytest.mark.parametrize("make", [answer, answer_async], ids=["sync", "async"])
@pytest.mark.parametrize(
    ("decision", "named", "verdict"),
    [
        pytest.param(ALLOW, None, "allow", id="allowed"),
        pytest.param(GuardDecision("allow"), None, "allow", id="allowed-as-text"),  # type: ignore[arg-type]
        pytest.param(refuse("/etc is off limits."), "/etc is off limits", "refuse", id="refused"),
        pytest.param(refuse(""), "refused", "refuse", id="refused-without-a-reason"),
        pytest.param(None, ("guard", "NoneType"), "refuse", id="nothing"),
        pytest.param(True, ("guard", "bool"), "refuse", id="true"),
        pytest.param(
            GuardVerdict.ALLOW,
            ("guard", "GuardVerdict"),
            "refuse",
            id="a-verdict",
        ),
        pytest.param(
            GuardDecision("perhaps"),  # type: ignore[arg-type]
            ("guard", "verdict"),
            "refuse",
            id="a-verdict-of-its-own",
        ),
        pytest.param(
            GuardDecision(GuardVerdict.ALLOW, 5),  # type: ignore[arg-type]
            ("guard", "GuardDecision"),
            "refuse",
            id="a-reason-that-is-no-text",
        ),
    ],
)
def test_K7_a_guard_decides_and_rubbish_refuses(
    make: Callable[[Any], Any], decision: Any, named: object, verdict: str
) -> None:
    records: list[AuditRecord] = []
    refusal = find_refusal(make(decision), audit=records.append)
    assert mentions(refusal, "t was not called", named) if named else refusal is None
    (record,) = records
    assert (record.verdict, record.allowed) == (verdict, named is None)
    assert type(record.verdict) is GuardVerdict
    assert (record.tool, record.tool_call_id, record.session_id, record.agent) == ("t", "id", "s", "a")
    assert record.arguments == ARGUMENTS


@pytest.mark.parametrize(
    ("guard", "said"),
    [
        pytest.param(fail, "ValueError: broken", id="raises"),
        pytest.param(leave, "SystemExit: 1", id="exits"),
        pytest.param(block, "0.1 s", id="blocks"),
        pytest.param(hang, "0.1 s", id="hangs"),
        pytest.param(lambda: ALLOW, "TypeError", id="takes-no-arguments"),
    ],
)
def test_K7_a_guard_that_does_not_answer_refuses(guard: Callable[..., Any], said: str) -> None:
    records: list[AuditRecord] = []
    refusal = find_refusal(guard, audit=records.append)
    assert mentions(refusal, "t was not called", "guard", said)
    assert [record.allowed for record in records] == [False]


def test_K7_a_guard_gets_the_arguments_and_the_context() -> None:
    seen: list[Any] = []

    def guard(arguments: Any, context: ToolContext) -> GuardDecision:
        seen.extend([arguments, context.session_id])
        return ALLOW

    find_refusal(guard)
    assert seen == [{"path": "/etc"}, "s"]


@pytest.mark.parametrize(
    ("confirm", "named"),
    [
        pytest.param(answer(True), None, id="yes"),
        pytest.param(answer_async(True), None, id="yes-async"),
        pytest.param(answer(False), "not given", id="no"),
        pytest.param(answer_async(False), "not given", id="no-async"),
        pytest.param(None, "nobody", id="nobody"),
        pytest.param(answer("no"), "neither yes nor no", id="text-is-not-yes"),
        pytest.param(answer(1), "neither yes nor no", id="one-is-not-yes"),
        pytest.param(answer(None), "neither yes nor no", id="nothing-is-not-yes"),
        pytest.param(fail, "ValueError: broken", id="raises"),
        pytest.param(block, "0.1 s", id="blocks"),
        pytest.param(hang, "0.1 s", id="hangs"),
    ],
)
def test_K7_a_person_is_asked_and_only_yes_is_yes(confirm: Any, named: object) -> None:
    records: list[AuditRecord] = []
    refusal = find_refusal(answer(ask_person("Sure?")), confirm=confirm, audit=records.append)
    assert mentions(refusal, "t was not called", "confirmation", "Sure?", named) if named else refusal is None
    assert [(record.verdict, record.allowed) for record in records] == [(GuardVerdict.CONFIRM, named is None)]
    assert "Sure?" in records[0].reason


def test_K7_a_question_without_words_is_given_some() -> None:
    asked = []

    def confirm(question: str) -> bool:
        asked.append(question)
        return True

    assert find_refusal(answer(ask_person("")), confirm=confirm) is None
    assert asked == ["May t be called?"]


def test_K7_a_person_may_take_longer_than_a_guard() -> None:
    def think(question: str) -> bool:
        time.sleep(0.7)
        return True

    assert find_refusal(answer(ask_person("Sure?")), confirm=think, guard_seconds=0.5) is None


async def _fail_async(record: AuditRecord) -> None:
    await asyncio.sleep(0)
    raise OSError("disk full")


def _fail(record: AuditRecord) -> None:
    raise OSError("disk full")


@pytest.mark.parametrize(
    ("sink", "said"),
    [
        pytest.param(_fail, "OSError: disk full", id="raises"),
        pytest.param(_fail_async, "OSError: disk full", id="raises-async"),
        pytest.param(leave, "SystemExit: 1", id="exits"),
        pytest.param(hang, "0.1 s", id="hangs"),
    ],
)
@pytest.mark.parametrize("decision", [ALLOW, refuse("no")], ids=["allowed", "refused"])
def test_K7_what_cannot_be_recorded_is_not_done(sink: Any, said: str, decision: GuardDecision) -> None:
    assert mentions(find_refusal(answer_async(decision), audit=sink), "not called", said)


def test_K7_a_sink_that_is_async_has_recorded_before_the_tool_runs() -> None:
    records = []

    async def sink(record: AuditRecord) -> None:
        await asyncio.sleep(0.01)
        records.append(record)

    assert find_refusal(answer(ALLOW), audit=sink) is None
    assert len(records) == 1


@pytest.mark.parametrize("is_sink_async", [False, True], ids=["sync-sink", "async-sink"])
def test_K7_what_a_guard_decided_is_on_record_though_the_batch_is_cancelled(is_sink_async: bool) -> None:
    records: list[AuditRecord] = []

    async def record_async(record: AuditRecord) -> None:
        await asyncio.sleep(0)
        records.append(record)

    async def main() -> None:
        asked = asyncio.Event()

        async def hesitate(question: str) -> bool:
            asked.set()
            await asyncio.sleep(60)
            return True

        guarding = GuardCheck(record_async if is_sink_async else records.append, 60, 60)
        context = ToolContext(confirm=hesitate)
        guard = answer(ask_person("Sure?"))
        task = asyncio.create_task(guarding.find_refusal(TOOL, guard, ToolCall("id", "t", {}), ARGUMENTS, context))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    (record,) = records
    assert (record.verdict, record.allowed) == (GuardVerdict.CONFIRM, False)
    assert mentions(record.reason, "cancelled", "Sure?")
