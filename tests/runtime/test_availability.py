"""`is_available` is someone else's function: it is asked within a time limit, at a listing and at a call (rule R7)."""

from __future__ import annotations

import asyncio
import pickle
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.runtime.samples import execute, tool_of, well
from toolbelt.runtime import availability
from toolbelt.runtime.context import ToolContext
from toolbelt.runtime.gates import Refusal, RefusalReason, find_unavailability
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.runtime.results import FailureCode

pytestmark = pytest.mark.usefixtures("no_complaints")

HANG_SECONDS = 60.0
_FREED = threading.Event()


@pytest.fixture(autouse=True)
def _freed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("toolbelt.runtime.gates.LISTING_SECONDS", 0.1)
    _FREED.clear()
    yield
    _FREED.set()


def hang() -> bool:
    return _FREED.wait(HANG_SECONDS)


async def hang_async() -> bool:
    while not _FREED.is_set():
        await asyncio.sleep(0.01)
    return True


async def block_async() -> bool:
    return hang()


async def answer_slowly() -> bool:
    await asyncio.sleep(4 * availability.QUICK_SECONDS)
    return True


HANGING = pytest.mark.parametrize("is_available", [hang, hang_async, block_async])


@HANGING
def test_R7_a_tool_that_does_not_say_whether_it_is_available_is_not_shown(is_available: Any) -> None:
    registry = ToolRegistry([tool_of("silent", well, is_available=is_available), tool_of("well", well)])
    started = time.monotonic()
    for _ in range(100):  # only the first one waits
        assert [definition["name"] for definition in registry.to_definitions()] == ["well"]
    assert [tool.name for tool in registry.get_available()] == ["well"]
    assert time.monotonic() - started < HANG_SECONDS / 2
    (silent, _) = registry.get_all()
    assert find_unavailability(silent, ()) == Refusal("silent", RefusalReason.AVAILABILITY_SILENT)


@HANGING
def test_R7_a_question_that_hangs_costs_its_own_call_within_its_limit(is_available: Any) -> None:
    tools = [tool_of("silent", well, is_available=is_available, timeout_seconds=0.2), tool_of("well", well)]
    started = time.monotonic()
    silent, fine = execute(ToolRegistry(tools), "silent", "well")
    assert time.monotonic() - started < HANG_SECONDS / 2
    assert (silent.code, fine.value) == (FailureCode.TIMEOUT, "well")


def test_R7_a_function_that_hangs_is_asked_once_and_again_when_it_has_answered() -> None:
    asked = []

    def ask() -> bool:
        asked.append(True)
        return hang()

    registry = ToolRegistry([tool_of("silent", well, is_available=ask)])
    for _ in range(3):
        assert registry.to_definitions() == []
    assert len(asked) == 1
    _FREED.set()
    for _ in range(100):
        if registry.to_definitions():
            break
        time.sleep(0.02)
    assert [definition["name"] for definition in registry.to_definitions()] == ["silent"]


def test_R3_a_tool_that_answers_slowly_is_run_all_the_same() -> None:
    registry = ToolRegistry([tool_of("slow", well, is_available=answer_slowly)])
    assert [each.value for each in execute(registry, "slow", "slow")] == ["well", "well"]


@pytest.mark.parametrize("answers", [True, False])
@pytest.mark.parametrize("slowly", [True, False], ids=["slow", "quick"])
def test_R3_availability_comes_before_backends_and_arguments(answers: bool, slowly: bool) -> None:
    async def ask() -> bool:
        await asyncio.sleep(4 * availability.QUICK_SECONDS if slowly else 0)
        return answers

    def take(number: int) -> int:
        return number

    needy = tool_of("needy", take, is_available=ask, capabilities=["network"])
    strict = tool_of("strict", take, is_available=ask)
    results = execute(ToolRegistry([needy, strict]), "needy", "strict")
    reasons = ["network", "number"] if answers else ["not currently available"] * 2
    assert [reason in (each.error or "") for reason, each in zip(reasons, results, strict=True)] == [True, True]
    assert [each.code for each in results] == [
        FailureCode.NOT_AVAILABLE,
        FailureCode.INPUT_INVALID if answers else FailureCode.NOT_AVAILABLE,
    ]
    (dry,) = execute(ToolRegistry([tool_of("well", well, is_available=ask)]), "well", ctx=ToolContext(dry_run=True))
    assert dry.ok is answers


def test_a_tool_that_was_asked_can_be_pickled() -> None:
    tool = tool_of("well", well, parameters={}, is_available=hang)
    find_unavailability(tool, ())
    assert pickle.loads(pickle.dumps(tool)) == tool
