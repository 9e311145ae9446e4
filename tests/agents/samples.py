"""Registries, loadouts and ways of asking, for the tests of agents."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from toolbelt import Plugin, ToolLoadout, ToolLoadoutRegistry
from toolbelt.runtime.executable import ExecutableTool
from toolbelt.runtime.registry import ToolRegistry
from toolbelt.sessions.session import Session

CAPABILITIES = ("capability_list", "discover_tools", "activate_tool")


def tool(name: str, description: str = "", **settings: Any) -> ExecutableTool:
    """A tool that takes nothing and answers with its name."""
    return ExecutableTool(name=name, description=description, function=lambda: name, **settings)


PLUGINS = (
    Plugin("file", (tool("read_file", "Read a file"), tool("write_file", "Write a file"))),
    Plugin("think", (tool("think", "Take a note of a thought"),)),
    Plugin("Git", (tool("git_status", "What has changed"), tool("git_push", "Publish commits"))),
    Plugin("github", (tool("list_issues", "Issues of a repository"),)),
    Plugin("search", (tool("grep", "Search the contents of files"),)),
    Plugin("web", (tool("fetch", "Fetch a page"),)),
    Plugin("memory", (tool("remember", "Keep a fact"),)),
    Plugin("shell", (tool("run", "Run a command"),)),
    Plugin("scheduler", (tool("every", "Run something again and again"),)),
    Plugin("policy", (tool("audit", "Look at the audit log"),)),
    Plugin("docker", (tool("docker_ps", "List containers"), tool("docker_run", "Start a container")), "containers",
           "Containers of this machine"),
    Plugin("dockerhub", (tool("pull", "Fetch an image"),), "containers"),
)  # fmt: skip


def registry(*more: ExecutableTool) -> ToolRegistry:
    """The plugins above, and `more`."""
    made = ToolRegistry()
    for plugin in PLUGINS:
        made.register_all(plugin)
    made.register_all(more)
    return made


def names(of: ToolRegistry) -> list[str]:
    """What a model would be shown, capability tools aside."""
    return [shown["name"] for shown in of.to_definitions() if shown["name"] not in CAPABILITIES]


def all_names_of(session: Session) -> list[str]:
    """What a model is shown."""
    return [shown["name"] for shown in session.to_definitions()]


def names_of(session: Session) -> list[str]:
    """What a model is shown, capability tools aside."""
    return [name for name in all_names_of(session) if name not in CAPABILITIES]


def ask(session: Session, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Make calls in one batch, as a model would; of each the answer, or the code of the failure."""
    asked = [{"id": str(number), "name": name, "args": args} for number, (name, args) in enumerate(calls)]
    results = [made.result for made in asyncio.run(session.execute_parallel(asked))]
    return [_read(made.value) if made.ok else made.code for made in results]


def answer(session: Session, name: str, **args: Any) -> Any:
    """The answer to one call."""
    return ask(session, (name, args))[0]


def discovered(session: Session, **args: Any) -> dict[str, list[str]]:
    """Names of tools by plugin, over all pages."""
    first = answer(session, "discover_tools", **args)
    pages = [first, *(answer(session, "discover_tools", page=page, **args) for page in range(2, first["pages"] + 1))]
    return {entry["plugin"]: entry["tools"] for page in pages for entry in page["plugins"]}


def _read(text: str) -> Any:
    return json.loads(text) if text.startswith("{") else text


# Few names, much alike, so that they meet. Of a tool's name and its plugin's, only the plugin's may hold a slash: the
# catalog of a registry keeps tools apart by `plugin/tool`.
PLUGIN_NAMES = ["git", "GIT", "git/hub", "a", "a/b", "a*", "shell", "batchedit", "straße", "STRASSE"]
TOOL_NAMES = ["b", "B", "c", "hub", "status", "stop", "git", "a", "x1", "x2", "x3"]
CATEGORIES = ["git", "shell", "filesystem", "Finance", "finance"]
LOADOUT_NAMES = ["one", "two", "three", "minimal"]


@st.composite
def entries(draw: st.DrawFn) -> str:
    """A plugin, a pattern, a tool of a plugin, or a prefix of one."""
    name = draw(st.sampled_from([*PLUGIN_NAMES, *TOOL_NAMES]))
    kind = draw(st.sampled_from(["plain", "prefix", "tool", "tool-prefix", "all"]))
    if kind == "plain":
        return name
    if kind == "prefix":
        return f"{name[: draw(st.integers(0, len(name)))]}*"
    called = draw(st.sampled_from(TOOL_NAMES))
    return {"tool": f"{name}/{called}", "tool-prefix": f"{name}/{called[:1]}*", "all": f"{name}/*"}[kind]


@st.composite
def loadouts(draw: st.DrawFn) -> ToolLoadout:
    few = st.lists(entries(), max_size=3)
    return ToolLoadout(
        draw(st.sampled_from(LOADOUT_NAMES)),
        draw(st.one_of(st.none(), st.sampled_from(LOADOUT_NAMES))),
        frozenset(draw(few)),
        frozenset(draw(st.lists(st.sampled_from(CATEGORIES), max_size=2))),
        tuple(draw(few)),
        frozenset(draw(st.lists(entries(), max_size=2))),
    )


@st.composite
def registries(draw: st.DrawFn) -> ToolRegistry:
    """Tools of plugins and of none, in any order."""
    made = ToolRegistry()
    known = st.tuples(st.sampled_from(PLUGIN_NAMES), st.sampled_from([None, *CATEGORIES]))
    for name, category in draw(st.lists(known, max_size=4)):
        made.register_all(Plugin(name, (), category, draw(st.sampled_from(["", f"What {name} is about"]))))
    for name in draw(st.lists(st.sampled_from(TOOL_NAMES), max_size=len(TOOL_NAMES), unique=True)):
        plugin = draw(st.sampled_from([None, *PLUGIN_NAMES]))
        made.register(
            tool(name, f"What {name} does", plugin=plugin), plugin_id=draw(st.sampled_from([None, "extension"]))
        )
    return made


loadout_registries = st.lists(loadouts(), min_size=1, max_size=4).map(ToolLoadoutRegistry)
wanted: st.SearchStrategy[Sequence[str]] = st.lists(
    st.one_of(st.sampled_from([*PLUGIN_NAMES, *TOOL_NAMES, "gone", "a/*", ""]), entries()), max_size=6
)
"""What a model might ask to be activated."""
