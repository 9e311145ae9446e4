"""The names of the top-level package (section C)."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import toolbelt

FROM_THE_SPECIFICATION = frozenset(
    re.findall(
        r"\w+",
        "Tool Plugin Catalog ToolCategory PLUGIN_CATEGORY_MAP ToolLoadout ToolLoadoutBuilder ToolLoadoutRegistry "
        "WellKnownLoadouts Resolution Decision Toolkit Directive ToolRegistry ExecutableTool ToolContext ToolCall "
        "ToolResult FilterOpts AgentSession SubagentRunner SubagentType ToolbeltError open_project",
    )
)


def _seen_by_type_checkers() -> set[tuple[str, str]]:
    tree = ast.parse(Path(str(toolbelt.__file__)).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {(str(node.module), alias.name) for node in imports for alias in node.names}


def test_type_checkers_see_the_names_that_are_loaded() -> None:
    assert _seen_by_type_checkers() == {(module, name) for name, module in toolbelt._HOMES.items()}


def test_C_the_names_of_the_specification_are_there() -> None:
    assert set(toolbelt.__all__) >= FROM_THE_SPECIFICATION


@pytest.mark.parametrize("name", toolbelt.__all__)
def test_every_public_name_can_be_loaded_and_is_documented(name: str) -> None:
    value = getattr(toolbelt, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        assert (inspect.getdoc(value) or "").strip()


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="lodout"):
        toolbelt.lodout  # noqa: B018
