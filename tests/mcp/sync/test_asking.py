"""Servers are asked in parallel, and none delays or fails another (rule M4)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.servers.mcp_running import run_everything
from tests.servers.mcp_scripts import listed_tool, write_config, write_script
from tests.wording import mentions
from toolbelt.mcp.configs.client_configs import read_client_config
from toolbelt.mcp.sync.asking import ask_servers
from toolbelt.mcp.sync.sync import Listing, ServerStatus
from toolbelt.servers import ServerSpec, Transport


def spec(name: str, entry: dict[str, Any]) -> ServerSpec:
    return ServerSpec(name, Transport.STDIO, command=entry["command"], args=tuple(entry["args"]))


def ask(*specs: ServerSpec, timeout_seconds: float = 20.0, **settings: Any) -> dict[str, Listing]:
    return {each.server: each for each in ask_servers(specs, {}, timeout_seconds=timeout_seconds, **settings)}


@pytest.fixture
def answers(tmp_path: Path) -> dict[str, Listing]:
    pages = [[listed_tool("a"), listed_tool("b")], [], [listed_tool("c", _meta={"x": None})]]
    entries = {
        "paged": write_script(tmp_path, "paged", pages=pages, version="3.4"),
        "looping": write_script(tmp_path, "looping", "a", loop=True),
        "noisy": write_script(tmp_path, "noisy", "a", noise="No display available. Running without."),
        "empty": write_script(tmp_path, "empty"),
        "ended": write_script(tmp_path, "ended", exit="no key\x1b[2J for the service"),
        "hanging": write_script(tmp_path, "hanging", hang=True),
        "absent": {"command": "/no/such/program", "args": []},
        "unresolved": {"command": "${NOT_SET_ANYWHERE}", "args": []},
    }
    started = time.monotonic()
    listings = ask(*(spec(name, entry) for name, entry in entries.items()), timeout_seconds=5)
    assert time.monotonic() - started < 20, "a server that hangs delays the others"
    return listings


def test_M4_each_server_answers_for_itself(answers: dict[str, Listing]) -> None:
    paged = answers["paged"]
    assert (paged.status, paged.version, paged.protocol) == (ServerStatus.OK, "3.4", "2025-06-18")
    assert list(paged.tools) == [listed_tool("a"), listed_tool("b"), listed_tool("c", _meta={"x": None})]
    assert [tool["name"] for tool in answers["noisy"].tools] == ["a"]
    assert answers["looping"].status is ServerStatus.OK, "a cursor that repeats ends the list"
    assert (answers["empty"].status, answers["empty"].tools) == (ServerStatus.OK, ())
    failed = {name for name, listing in answers.items() if listing.status is not ServerStatus.OK}
    assert failed == {"ended", "hanging", "absent", "unresolved"}
    assert not any(answers[name].tools for name in failed)
    assert mentions(answers["hanging"].error, "5 s")
    assert mentions(answers["absent"].error, "/no/such/program")
    assert mentions(answers["unresolved"].error, "NOT_SET_ANYWHERE")
    assert any("no key" in line for line in answers["ended"].log), "what it wrote last is kept"
    assert "\x1b" not in "".join(answers["ended"].log)


def test_M4_over_http_a_server_that_wants_a_token_fails_alone(tmp_path: Path) -> None:
    seen: list[str] = []
    with run_everything("http", "--token", "abc", "--extra", "30", "--page", "7") as server:
        url = server.entry["url"]
        entries = {"open": {"url": url, "headers": {"Authorization": "Bearer ${T}"}}, "shut": {"url": url}}
        config = write_config(tmp_path / "mcp.json", **entries)
        specs = read_client_config(config).servers
        listings = ask_servers(
            specs, {"T": "abc"}, timeout_seconds=30, answered=lambda listing: seen.append(listing.server)
        )
    assert [(each.server, each.status is ServerStatus.OK) for each in listings] == [("open", True), ("shut", False)]
    assert len(listings[0].tools) > 40
    assert sorted(seen) == ["open", "shut"]
