"""Tools and toolkits as an interface may know them (rule K7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolbelt.toolkits.switches import ToolkitCatalog


def describe(catalog: ToolkitCatalog, config: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A view that is safe to hand to a client: plain JSON, without policies, code, guards or overrides.

    What is in it is listed here, not what is left out, so that a new attribute of a tool does not slip through.

    Args:
        catalog: What there is.
        config: By which switches are shown; `None` for one that says nothing.

    Returns:
        `{"toolkits": [{"key", "label", "description", "default_on", "on", "members"}], "tools": [{"key", "label",
        "description", "default_on", "enabled", "rule", "toolkits"}]}`, both in the catalog's order; `on` is the state
        of the switch (rule K3), `rule` the branch that decided (`SwitchRule`).

    Raises:
        InvalidDefinitionError: the config is no mapping.
    """
    switches = {} if config is None else config
    toolkits = [
        {
            "key": toolkit.key,
            "label": toolkit.label,
            "description": toolkit.description,
            "default_on": toolkit.default_on,
            "on": catalog.toolkit_switch(toolkit.key, switches),
            "members": list(toolkit.member_tools),
        }
        for toolkit in catalog.toolkits
    ]
    tools = [
        {
            "key": tool.key,
            "label": tool.label,
            "description": tool.description,
            "default_on": tool.default_on,
            "enabled": decision.enabled,
            "rule": decision.rule.value,
            "toolkits": list(decision.toolkits),
        }
        for tool, decision in zip(catalog.tools, catalog.decisions(switches), strict=True)
    ]
    return {"toolkits": toolkits, "tools": tools}
