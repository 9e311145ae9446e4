"""A `tool_choice` in the words of providers (rule K5)."""

from __future__ import annotations

import pytest

from toolbelt.errors import NotFoundError
from toolbelt.toolkits.tool_choice import format_tool_choice

FUNCTION = {"type": "function", "function": {"name": "web_search"}}


@pytest.mark.parametrize(
    ("choice", "openai", "anthropic"),
    [
        pytest.param(None, None, None, id="nothing"),
        pytest.param("required", "required", {"type": "any"}, id="required-is-any"),
        pytest.param("auto", "auto", {"type": "auto"}, id="auto"),
        pytest.param("none", "none", {"type": "none"}, id="none"),
        pytest.param("web_search", FUNCTION, {"type": "tool", "name": "web_search"}, id="a-tool"),
        pytest.param("web.search", FUNCTION, {"type": "tool", "name": "web_search"}, id="a-tool-by-its-key"),
    ],
)
def test_K5_a_choice_as_a_provider_takes_it(choice: str | None, openai: object, anthropic: object) -> None:
    names = {"web.search": "web_search", "required": "other"}
    assert format_tool_choice(choice, "openai", names) == openai
    assert format_tool_choice(choice, "litellm", names) == openai
    assert format_tool_choice(choice, "anthropic", names) == anthropic


@pytest.mark.parametrize("form", ["mcp", "lite", "antropic"])
def test_K5_a_form_without_choices_is_refused(form: str) -> None:
    with pytest.raises(NotFoundError, match=f"No form of a tool choice named '{form}'"):
        format_tool_choice(None, form)
