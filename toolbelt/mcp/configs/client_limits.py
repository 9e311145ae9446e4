"""What clients refuse: names that are too long once they have added their prefix, and more tools than they take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

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
    """

    prefix: str
    name_chars: int
    tools: int | None
    source: str


CLIENT_LIMITS: Mapping[str, ClientLimits] = MappingProxyType(
    {
        "claude-desktop": ClientLimits("{server}:", 64, None, "sparfenyuk/mcp-proxy #45"),
        "claude-code": ClientLimits("mcp__{server}__", 64, None, "sparfenyuk/mcp-proxy #45"),
        "cursor": ClientLimits("{server}:", 60, 80, "ComposioHQ/composio #2788; Snowflake-Labs/mcp #77"),
        "vscode": ClientLimits("mcp_{server}_", 64, 128, "microsoft/vscode #243602; microsoft/azure-devops-mcp"),
        "windsurf": ClientLimits("mcp_{server}_", 64, 100, "Cascade's documentation of MCP"),
    }
)


@dataclass(frozen=True)
class ClientFinding:
    """What a client refuses.

    Attributes:
        kind: `name_too_long` or `too_many_tools`.
        tool: The name that is too long; empty for a count.
        value: Characters of the name with its prefix, or the number of tools.
        limit: The client's.
    """

    kind: str
    tool: str
    value: int
    limit: int


def find_refusals(client: str, names: Sequence[str]) -> tuple[ClientFinding, ...]:
    """What a client refuses of a list.

    Args:
        client: A key of `CLIENT_LIMITS`.
        names: As the gateway serves them.
    """
    limits = CLIENT_LIMITS[client]
    prefix = len(limits.prefix.format(server=GATEWAY_NAME))
    findings = [
        ClientFinding("name_too_long", name, prefix + len(name), limits.name_chars)
        for name in names
        if prefix + len(name) > limits.name_chars
    ]
    if limits.tools is not None and len(names) > limits.tools:
        findings.append(ClientFinding("too_many_tools", "", len(names), limits.tools))
    return tuple(findings)
