"""What clients refuse: names that are too long with their prefix, more tools than they take, and some schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

from toolbelt.catalog import Tool
from toolbelt.models.claude_rules import ANTHROPIC
from toolbelt.models.rules import ArrayItems, Fact, ParameterName, RootKeywords, read_on
from toolbelt.models.violations import Violation, inspect_tools

GATEWAY_NAME = "toolbelt"
"""The name of the gateway's entry in a client's file, which clients put before names."""


@dataclass(frozen=True)
class ClientLimits:
    """The limits of one client.

    Attributes:
        prefix: Before each name, as the client sends it to a model; `{server}` is the name of the entry.
        name_chars: The longest name, with its prefix.
        tools: The most tools, of all servers together; `None` for no limit that is known.
        source: Where this was read.
        facts: What a schema must not have, each with its source.
    """

    prefix: str
    name_chars: int
    tools: int | None
    source: str
    facts: tuple[Fact, ...] = ()


_SENT_AS_THEY_ARE = tuple(fact for fact in ANTHROPIC.facts if isinstance(fact.rule, RootKeywords | ParameterName))
"""Claude Code sends schemas to Anthropic's API as a server lists them (anthropics/claude-code #45106)."""
_VS_CODE = Fact(
    ArrayItems(),
    read_on(
        date(2026, 11, 28),
        "https://github.com/microsoft/vscode/issues/246119",
        "https://github.com/microsoft/vscode-copilot-release/issues/7462",
    ),
)

CLIENT_LIMITS: Mapping[str, ClientLimits] = MappingProxyType(
    {
        "claude-desktop": ClientLimits("{server}:", 64, None, "sparfenyuk/mcp-proxy #45"),
        "claude-code": ClientLimits("mcp__{server}__", 64, None, "sparfenyuk/mcp-proxy #45", _SENT_AS_THEY_ARE),
        "cursor": ClientLimits("{server}:", 60, 80, "ComposioHQ/composio #2788; Snowflake-Labs/mcp #77"),
        "vscode": ClientLimits("mcp_{server}_", 64, 128, "microsoft/vscode #243602", (_VS_CODE,)),
        "windsurf": ClientLimits("mcp_{server}_", 64, 100, "Cascade's documentation of MCP"),
    }
)


@dataclass(frozen=True)
class ClientFinding:
    """What a client refuses.

    Attributes:
        kind: `name_too_long`, `too_many_tools`, or the name of a rule for schemas, such as `array-items`.
        tool: Its name; empty for a count.
        value: Characters of the name with its prefix, the number of tools, or of places in a schema.
        limit: The client's; 0 for a schema.
        violation: What is wrong with a schema.
    """

    kind: str
    tool: str
    value: int
    limit: int
    violation: Violation | None = None


def find_refusals(client: str, tools: Sequence[Tool]) -> tuple[ClientFinding, ...]:
    """What a client refuses of a list.

    Args:
        client: A key of `CLIENT_LIMITS`.
        tools: As the gateway serves them, under the names that it gives them.
    """
    names = [tool.name for tool in tools]
    limits = CLIENT_LIMITS[client]
    prefix = len(limits.prefix.format(server=GATEWAY_NAME))
    findings = [
        ClientFinding("name_too_long", name, prefix + len(name), limits.name_chars)
        for name in names
        if prefix + len(name) > limits.name_chars
    ]
    if limits.tools is not None and len(names) > limits.tools:
        findings.append(ClientFinding("too_many_tools", "", len(names), limits.tools))
    violations = inspect_tools(tools, {tool.id: tool.name for tool in tools}).find_violations(limits.facts)
    findings += (ClientFinding(each.rule, each.wire_name, len(each.places), 0, each) for each in violations)
    return tuple(findings)
