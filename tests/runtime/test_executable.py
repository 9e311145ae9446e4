"""Tools that can be run (rule R1): made of any function, and refused where they could not be."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from tests.wording import mentions, naming
from toolbelt.catalog import Plugin, Tool
from toolbelt.errors import InvalidDefinitionError
from toolbelt.runtime.context import Capability, ToolContext
from toolbelt.runtime.executable import ExecutableTool, as_executable


def search(query: str, ctx: ToolContext) -> str:
    """Search.

    Args:
        query: What for.
    """
    return query


def test_R1_what_is_not_given_is_read_off_the_function() -> None:
    executable = ExecutableTool.of(search)
    assert (executable.name, executable.description, executable.function, executable.context_parameter) == (
        "search",
        "Search.",
        search,
        "ctx",
    )
    assert executable.parameters["properties"] == {"query": {"type": "string", "description": "What for."}}
    assert executable.parse is not None


def test_R1_what_is_given_goes_before() -> None:
    executable = ExecutableTool.of(
        search,
        name="find",
        description="Find.",
        parameters={"type": "object"},
        capabilities=["network"],
        toolset="x",
        plugin="notes",
        always_include=True,
    )
    assert (executable.name, executable.description, executable.parameters) == ("find", "Find.", {"type": "object"})
    assert (executable.context_parameter, executable.parse) == ("ctx", None)
    assert (executable.capabilities, executable.toolset, executable.path) == (
        frozenset({Capability.NETWORK}),
        "x",
        "notes/find",
    )


def test_R1_a_lambda_needs_a_name() -> None:
    with pytest.raises(InvalidDefinitionError, match=r"give it one: ExecutableTool.of\(function, name=...\)"):
        ExecutableTool.of(lambda text: text)
    assert ExecutableTool.of(lambda text: text, name="echo").name == "echo"


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        pytest.param({"name": " "}, ("text", "not blank"), id="blank-name"),
        pytest.param({"function": None}, ("'t'", "function"), id="no-function"),
        pytest.param({"function": "print"}, ("function", "'t'", "called"), id="function-is-text"),
        pytest.param({"is_available": True}, ("is_available", "'t'", "called"), id="available-is-a-fact"),
        pytest.param({"guard": "no"}, ("guard", "'t'", "called"), id="guard-is-text"),
        pytest.param({"capabilities": ["netwrk"]}, "Did you mean 'network'", id="unknown-capability"),
        pytest.param({"capabilities": "netwrk"}, "unknown capability 'netwrk'", id="a-lone-capability"),
        pytest.param({"max_result_chars": -1}, "from 0 up, not -1", id="limit-below-0"),
        pytest.param({"max_result_chars": 1.5}, "from 0 up, not 1.5", id="half-a-character"),
        pytest.param({"max_result_chars": True}, "from 0 up, not True", id="limit-is-true"),
        pytest.param({"timeout_seconds": 0}, "above 0, not 0", id="no-time"),
        pytest.param({"timeout_seconds": float("nan")}, "above 0, not nan", id="time-is-no-number"),
        pytest.param({"timeout_seconds": "5"}, "above 0, not '5'", id="time-is-text"),
    ],
)
def test_R1_a_tool_that_could_not_be_run_does_not_come_about(settings: dict[str, Any], named: object) -> None:
    whole: dict[str, Any] = {"name": "t", "function": print} | settings
    with pytest.raises(InvalidDefinitionError) as refused:
        ExecutableTool(**whole)
    assert mentions(str(refused.value), named)


def test_R1_a_tool_without_function_is_refused() -> None:
    with pytest.raises(InvalidDefinitionError, match="has no function to run"):
        ExecutableTool("t")


def test_R6_capabilities_may_be_given_in_any_form() -> None:
    for given in ("network", ["network"], {Capability.NETWORK}, iter(["network", "network"])):
        assert ExecutableTool.of(search, capabilities=given).capabilities == frozenset({Capability.NETWORK})


def test_R1_a_plugin_takes_it_in_as_it_is() -> None:
    executable = ExecutableTool.of(search, timeout_seconds=3, toolset="x")
    (taken,) = Plugin("notes", (executable,)).tools
    assert isinstance(taken, ExecutableTool)
    assert (taken.id, taken.function, taken.parse, taken.timeout_seconds) == (
        "notes/search",
        search,
        executable.parse,
        3,
    )


def test_R1_it_is_a_value() -> None:
    executable = ExecutableTool.of(search)
    assert executable == ExecutableTool.of(search)
    assert hash(executable) == hash(ExecutableTool.of(search))
    assert executable != replace(executable, always_include=True)
    assert copy.copy(executable) == executable
    with pytest.raises(FrozenInstanceError):
        executable.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError, match="frozen"):
        executable.parameters["properties"]["query"]["type"] = "integer"
    bare = ExecutableTool.of(search, parameters={})
    assert pickle.loads(pickle.dumps(bare)) == bare


def test_R3_what_arguments_are_held_against_is_made_once_for_a_tool() -> None:
    executable = ExecutableTool.of(search, parameters={"type": "object", "required": ["query"]})
    untouched = replace(executable)
    assert executable.validator is executable.validator is not None
    assert executable == untouched
    assert replace(executable, parameters={}).validator is None
    for again in (copy.copy(executable), pickle.loads(pickle.dumps(executable))):
        assert (again, vars(again).keys()) == (untouched, vars(untouched).keys())


def test_R1_what_a_registry_may_be_given_is_made_executable() -> None:
    executable = ExecutableTool.of(search)
    assert as_executable(executable) is executable
    assert as_executable(search) == executable
    with pytest.raises(InvalidDefinitionError, match=naming("plain", "ExecutableTool")):
        as_executable(Tool("plain"))
