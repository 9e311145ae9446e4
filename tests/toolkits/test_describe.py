"""The view for a client (rule K7): what it shows, and that nothing else gets into it."""

from __future__ import annotations

import json

import pytest

from toolbelt.errors import ToolbeltError
from toolbelt.toolkits.describe import describe
from toolbelt.toolkits.directive import DirectiveRule, DirectiveRules
from toolbelt.toolkits.policy import PolicyLine, PolicyText
from toolbelt.toolkits.switches import ToolkitCatalog
from toolbelt.toolkits.toolkit import Directive, Toolkit, ToolSpec


def secret_function(message: str, available: object) -> Directive | None:
    return None


CATALOG = ToolkitCatalog(
    (
        ToolSpec("run", "Run code", False, "Runs a program.", policy="secret: of the tool"),
        ToolSpec("search", default_on=True),
    ),
    (
        Toolkit(
            "code",
            "Code",
            True,
            ("run",),
            "Writing and running programs.",
            policy=PolicyText("secret: text", (PolicyLine(("run",), "secret: line"),), "secret: unavailable"),
            directive=DirectiveRules((DirectiveRule(("secret: phrase",)),)),
            overrides={"run": {"secret: key": "secret: value"}},
        ),
        Toolkit("find", member_tools=("search",), policy="secret: plain", directive=secret_function),
    ),
)


def test_K7_the_whole_view() -> None:
    assert describe(CATALOG, {"code": True, "run": False}) == {
        "toolkits": [
            {
                "key": "code",
                "label": "Code",
                "description": "Writing and running programs.",
                "default_on": True,
                "on": True,
                "members": ["run"],
            },
            {
                "key": "find",
                "label": "find",
                "description": "",
                "default_on": False,
                "on": False,
                "members": ["search"],
            },
        ],
        "tools": [
            {
                "key": "run",
                "label": "Run code",
                "description": "Runs a program.",
                "default_on": False,
                "enabled": False,
                "rule": "toolkit_on",
                "toolkits": ["code"],
            },
            {
                "key": "search",
                "label": "search",
                "description": "",
                "default_on": True,
                "enabled": True,
                "rule": "default",
                "toolkits": ["find"],
            },
        ],
    }


def test_K7_nothing_of_policies_code_or_overrides_is_in_it() -> None:
    assert CATALOG.toolkits[0].policy is not None  # what is looked for is there to leak
    text = json.dumps(describe(CATALOG, {"code": "secret: not a boolean", "secret: stranger": True}))
    assert "secret" not in text
    assert "function" not in text
    assert "0x" not in text


def test_K7_it_is_json_and_the_same_from_call_to_call() -> None:
    made = json.dumps(describe(CATALOG))
    assert json.dumps(describe(CATALOG, {})) == made
    assert json.loads(made) == describe(CATALOG)


def test_K7_what_a_caller_does_to_the_view_stays_his() -> None:
    describe(CATALOG)["toolkits"][0]["members"].append("more")
    assert describe(CATALOG)["toolkits"][0]["members"] == ["run"]


def test_K7_a_config_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(ToolbeltError):
        describe(CATALOG, [])  # type: ignore[arg-type]
