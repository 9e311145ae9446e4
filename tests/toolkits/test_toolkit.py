"""The values of toolkits (rules K1, D1): frozen, and refused where they could only mislead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any, cast

import pytest

from tests.wording import mentions
from toolbelt.errors import InvalidDefinitionError
from toolbelt.sessions.agent import AgentSpec
from toolbelt.toolkits.toolkit import Directive, Toolkit, ToolSpec, as_names

WRONG = cast("Any", 1)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        pytest.param(lambda: ToolSpec(" "), ("key of a tool", "text"), id="a-tool-without-a-key"),
        pytest.param(lambda: ToolSpec(WRONG), ("key of a tool", "text"), id="a-key-that-is-no-text"),
        pytest.param(lambda: ToolSpec("a", default_on=WRONG), "default_on of tool 'a'", id="one-is-no-boolean"),
        pytest.param(lambda: ToolSpec("a", default_on=cast("Any", "false")), "not 'false'", id="nor-is-a-text"),
        pytest.param(lambda: ToolSpec("a", policy=WRONG), ("policy", "'a'", "text"), id="a-tools-policy"),
        pytest.param(lambda: Toolkit(""), ("key of a toolkit", "text"), id="a-toolkit-without-a-key"),
        pytest.param(lambda: Toolkit("k", default_on=WRONG), "default_on of toolkit 'k'", id="a-toolkits-default"),
        pytest.param(lambda: Toolkit("k", description=WRONG), "description of toolkit 'k'", id="a-description"),
        pytest.param(lambda: Toolkit("k", policy=WRONG), ("policy", "text", "function"), id="a-toolkits-policy"),
        pytest.param(lambda: Toolkit("k", directive=WRONG), "must be a function", id="a-directive"),
        pytest.param(lambda: Toolkit("k", member_tools=("a", "b", "a")), "names these members twice: a", id="twice"),
        pytest.param(lambda: Toolkit("k", member_tools=("a", " ")), "member of toolkit 'k'", id="a-blank-member"),
        pytest.param(
            lambda: Toolkit("k", overrides={"a": {}}), "overrides for no member: a", id="a-strangers-overrides"
        ),
        pytest.param(
            lambda: Toolkit("k", member_tools=("a",), overrides={"a": WRONG}), "those for a are not", id="no-mapping"
        ),
        pytest.param(lambda: AgentSpec("x", ("a",), overrides={"a": WRONG}), "overrides of agent 'x'", id="an-agents"),
    ],
)
def test_K1_what_could_only_mislead_is_refused(make: Callable[[], object], named: object) -> None:
    with pytest.raises(InvalidDefinitionError) as refused:
        make()
    assert mentions(str(refused.value), named)


def test_K1_a_label_left_out_is_the_key() -> None:
    assert (ToolSpec("a").label, Toolkit("k").label, ToolSpec("a", "A").label) == ("a", "k", "A")


def test_D1_nothing_that_the_caller_still_holds_changes_a_toolkit() -> None:
    members, overrides = ["a", "b"], {"a": {"limits": [1]}}
    toolkit = Toolkit("k", member_tools=cast("Any", members), overrides=overrides)
    members.append("c")
    overrides["a"]["limits"].append(2)
    assert (toolkit.member_tools, toolkit.overrides) == (("a", "b"), {"a": {"limits": [1]}})
    with pytest.raises(TypeError):
        cast("Any", toolkit.overrides)["a"]["limits"].append(3)
    with pytest.raises(FrozenInstanceError):
        toolkit.key = "other"  # type: ignore[misc]


def test_K1_a_lone_name_is_a_list_of_one() -> None:
    assert Toolkit("k", member_tools=cast("Any", "abc")).member_tools == ("abc",)
    assert Directive(cast("Any", "abc")).active_tools == ("abc",)
    assert as_names("abc") == ("abc",)
    assert as_names(iter(("a", "b"))) == ("a", "b")


def test_K5_the_tools_of_a_directive_are_a_tuple() -> None:
    assert Directive(cast("Any", ["a", "b"])) == Directive(("a", "b"))
