"""Definitions of the three meta-tools (rule D2)."""

from __future__ import annotations

from jsonschema import Draft202012Validator

from toolbelt.catalog.wire_names import is_legal_wire_name
from toolbelt.sessions.meta_tools import META_TOOLS
from toolbelt.toolkits.reserved import RESERVED, MetaRole


def test_D2_there_are_three_by_the_names_of_the_rule() -> None:
    assert [tool.name for tool in META_TOOLS.values()] == ["list_toolkits", "load_tools", "unload_tools"]
    assert list(META_TOOLS) == list(MetaRole)
    assert {"dynamic_tools", *(tool.name for tool in META_TOOLS.values())} == RESERVED


def test_definitions_are_such_that_a_provider_takes_them() -> None:
    for tool in META_TOOLS.values():
        Draft202012Validator.check_schema(tool.parameters)
        assert is_legal_wire_name(tool.name)
    for role in (MetaRole.LOAD, MetaRole.UNLOAD):
        check = Draft202012Validator(META_TOOLS[role].parameters)
        assert check.is_valid({"toolkit": "devops"})
        assert not check.is_valid({})
        assert not check.is_valid({"toolkit": 3})


def test_D4_the_model_is_told_when_a_change_takes_effect() -> None:
    for role in (MetaRole.LOAD, MetaRole.UNLOAD):
        assert "user's next message" in META_TOOLS[role].description
