"""What plugins are about: the well-known categories (rule L1) and who belongs where by default (rule L2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType

from toolbelt.patterns import fold


class ToolCategory(StrEnum):
    """The 13 well-known categories, in their fixed order; a catalog may declare more."""

    FILESYSTEM = "filesystem"
    GIT = "git"
    GITHUB = "github"
    SHELL = "shell"
    WEB = "web"
    SEARCH = "search"
    NETWORK = "network"
    MEMORY = "memory"
    ORCHESTRATION = "orchestration"
    ANALYSIS = "analysis"
    SCHEDULING = "scheduling"
    MULTIMODAL = "multimodal"
    SECURITY = "security"

    @classmethod
    def _missing_(cls, value: object) -> ToolCategory | None:
        if isinstance(value, str):
            return next((member for member in cls if member.value == fold(value.strip())), None)
        return None


CATEGORY_DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        ToolCategory.FILESYSTEM.value: "Files and folders: reading, writing, patching, notebooks, migrations",
        ToolCategory.GIT.value: "Version control of a local repository",
        ToolCategory.GITHUB.value: "Issues, pull requests, runs and releases on GitHub",
        ToolCategory.SHELL.value: "Commands, processes, the environment and the clipboard",
        ToolCategory.WEB.value: "Fetching pages and driving a browser",
        ToolCategory.SEARCH.value: "Finding text and files here, and pages on the web",
        ToolCategory.NETWORK.value: "Machines and how they reach each other",
        ToolCategory.MEMORY.value: "What the agent remembers from one session to the next",
        ToolCategory.ORCHESTRATION.value: "Tasks, agents, sessions, MCP servers and channels",
        ToolCategory.ANALYSIS.value: "Reasoning, benchmarks, usage and self-inspection",
        ToolCategory.SCHEDULING.value: "Work that runs at set times",
        ToolCategory.MULTIMODAL.value: "Images, PDFs and other media",
        ToolCategory.SECURITY.value: "Policy, audit, encoding and hashing",
    }
)


class PluginCategoryMap(Mapping[str, ToolCategory]):
    """A read-only mapping from plugin name to category whose look-up ignores case."""

    def __init__(self, rows: Mapping[str, ToolCategory]) -> None:
        self._rows = dict(rows)
        self._folded = {fold(name): category for name, category in rows.items()}

    def __getitem__(self, name: str) -> ToolCategory:
        if not isinstance(name, str):
            raise KeyError(name)
        return self._folded[fold(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"PluginCategoryMap({self._rows!r})"


def _rows(**names_by_category: str) -> Mapping[str, ToolCategory]:
    return {name: ToolCategory(category) for category, names in names_by_category.items() for name in names.split()}


PLUGIN_CATEGORY_MAP: Mapping[str, ToolCategory] = PluginCategoryMap(
    _rows(  # noqa: S604  "shell" is a category here
        filesystem="file batchEdit diff notebook migration",
        git="git",
        github="github",
        shell="shell environment clipboard runtime",
        web="web browser",
        search="search websearch",
        network="tailscale",
        memory="memory",
        orchestration="tasks sessions mcp mcpEcosystem capabilities channels",
        analysis="think parityDocs skillParity benchmark usage",
        scheduling="scheduler",
        multimodal="multimodal",
        security="policy encoding",
    )
)
"""The 32 well-known plugins. A plugin's own category wins over its row here."""
