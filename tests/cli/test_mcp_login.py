"""`toolbelt mcp login` and `logout` (rule M8)."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.servers.oauth_server import Accounts, oauth_server

BROWSER = f"{sys.executable} -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1])' %s"


@pytest.fixture
def private_server() -> Iterator[str]:
    """The URL of a server that asks for a login, in a thread of its own."""
    started, ended = threading.Event(), threading.Event()
    urls: list[str] = []

    async def serve() -> None:
        async with oauth_server(Accounts()) as url:
            urls.append(url)
            started.set()
            await asyncio.to_thread(ended.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert started.wait(20)
    yield urls[0]
    ended.set()
    thread.join()


def write_config(folder: Path, url: str) -> None:
    servers = {"private": {"url": url}, "process": {"command": "cat"}}
    (folder / "toolbelt.yaml").write_text(json.dumps({"servers": servers}))


def test_M8_login_and_logout_at_a_real_server(project: Path, private_server: str) -> None:
    write_config(project, private_server)

    def run(*arguments: str) -> tuple[int, dict[str, str]]:
        settings = {
            "TOOLBELT_STATE_DIR": str(project / "state"),
            "BROWSER": BROWSER,
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        }
        command = [sys.executable, "-m", "toolbelt", "mcp", *arguments, "private", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **settings})
        return done.returncode, json.loads(done.stdout)

    assert run("login", "--yes") == (0, {"server": "private", "url": private_server, "status": "logged_in"})
    assert len([*(project / "state" / "logins").glob("*.json")]) == 1
    assert run("logout") == (0, {"server": "private", "status": "logged_out"})
    assert run("logout") == (0, {"server": "private", "status": "no_login"})


def test_M2_a_login_asks_no_server_that_is_not_approved(
    toolbelt: Toolbelt, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLBELT_STATE_DIR", str(project / "state"))
    write_config(project, "https://private.example/mcp")
    ran = toolbelt("mcp", "login", "private")
    assert (ran.code, ran.out) == (2, "")
    assert "private.example" in ran.err


@pytest.mark.parametrize(("name", "hint"), [("privat", "private"), ("process", "env")])
def test_a_server_that_has_no_login_is_an_error(toolbelt: Toolbelt, project: Path, name: str, hint: str) -> None:
    write_config(project, "https://private.example/mcp")
    ran = toolbelt("mcp", "login", name, "--yes")
    assert ran.code == 2
    assert hint in ran.err
