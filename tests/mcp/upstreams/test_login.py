"""Logins at servers that ask for one (rule M8), at a real authorization server on loopback."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, ClassVar

import httpx2
import pytest
from mcp.shared.exceptions import MCPError

from tests.servers.oauth_server import Accounts, oauth_server
from toolbelt.mcp.upstreams.login import LoginError, LoginSettings, log_in
from toolbelt.mcp.upstreams.logins import Login, LoginStore, canonical_url
from toolbelt.mcp.upstreams.upstream import Upstream, UpstreamError, UpstreamLimits, UpstreamStatus
from toolbelt.servers.spec import ServerSpec, Transport


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LoginStore:
    monkeypatch.setenv("TOOLBELT_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    return LoginStore({"TOOLBELT_STATE_DIR": str(tmp_path / "state")})


def files_of(tmp_path: Path) -> list[Path]:
    return [*(tmp_path / "state" / "logins").glob("*.json")]


class Browser:
    """Opens pages as a user's browser does, and follows where it is sent."""

    def __init__(self, change: Callable[[str], str] = str) -> None:
        self.pages: list[str] = []
        self.visits: list[asyncio.Task[None]] = []
        self._change = change

    def __call__(self, page: str) -> None:
        self.pages.append(page)
        self.visits.append(asyncio.create_task(self._visit(page)))

    async def _visit(self, page: str) -> None:
        async with httpx2.AsyncClient(verify=False) as http:
            response = await http.get(page)
            await http.get(self._change(response.headers["location"]))


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, 30))


def upstream(url: str, headers: dict[str, str] | None = None) -> Upstream:
    server = ServerSpec("private", Transport.HTTP, url=url, headers=headers or {})
    return Upstream(server, limits=UpstreamLimits(start=10, first_wait=0.01))


async def answer_of(connection: Upstream) -> str:
    result = await connection.request("tools/call", {"name": "secret", "arguments": {}})
    return str(result["content"][0]["text"])


def test_M8_a_server_that_asks_for_a_login_needs_one_and_has_it_after_a_login(
    store: LoginStore, tmp_path: Path
) -> None:
    async def scenario() -> None:
        async with oauth_server(Accounts()) as url:
            connection = upstream(url)
            with pytest.raises(UpstreamError) as caught:
                await connection.start()
            assert (caught.value.status, connection.status) == (UpstreamStatus.NEEDS_LOGIN, UpstreamStatus.NEEDS_LOGIN)
            assert "toolbelt mcp login private" in str(caught.value)
            browser = Browser()
            assert await log_in(url, {}, store, browser)
            assert "code_challenge_method=S256" in browser.pages[0]
            await asyncio.sleep(0.05)
            assert await answer_of(connection) == "42"
            await connection.close()

    run(scenario())
    (file,) = files_of(tmp_path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_M8_a_header_of_its_own_that_is_refused_is_a_failure_and_no_login(store: LoginStore) -> None:
    async def scenario() -> None:
        async with oauth_server(Accounts()) as url:
            connection = upstream(url, {"Authorization": "Bearer of-the-config"})
            with pytest.raises(UpstreamError) as caught:
                await connection.start()
            assert caught.value.status is UpstreamStatus.FAILED
            await connection.close()

    run(scenario())


def test_M8_a_token_that_expired_is_renewed_once_for_all_and_kept(store: LoginStore) -> None:
    async def scenario() -> None:
        accounts = Accounts(seconds=1)  # less than the margin, so that it counts as expired
        async with oauth_server(accounts) as url:
            await log_in(url, {}, store, Browser())
            accounts.seconds = 3600
            connections = [upstream(url) for _ in range(5)]
            assert await asyncio.gather(*(answer_of(connection) for connection in connections)) == ["42"] * 5
            assert accounts.refreshes == 1
            renewed = store.find(url)
            assert renewed is not None
            assert renewed.tokens["access_token"] in accounts.access
            await asyncio.gather(*(connection.close() for connection in connections))

    run(scenario())


def test_M8_a_token_that_was_revoked_is_renewed_and_then_needs_a_login_again(store: LoginStore) -> None:
    async def scenario() -> None:
        accounts = Accounts()
        async with oauth_server(accounts) as url:
            await log_in(url, {}, store, Browser())
            async with upstream(url) as connection:
                accounts.access.clear()
                assert await answer_of(connection) == "42"
                assert accounts.refreshes == 1
                accounts.access.clear()
                accounts._refresh.clear()
                with pytest.raises((UpstreamError, MCPError)):
                    await answer_of(connection)
                async with asyncio.timeout(5):
                    while connection.status is not UpstreamStatus.NEEDS_LOGIN:
                        await asyncio.sleep(0.01)

    run(scenario())


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda url: url.replace("state=", "state=x"), id="state-of-another-login"),
        pytest.param(lambda url: url.replace("code=", "code=x"), id="code-of-another-login"),
    ],
)
def test_M8_an_answer_that_is_not_to_our_request_is_refused(
    change: Callable[[str], str], store: LoginStore, tmp_path: Path
) -> None:
    async def scenario() -> None:
        async with oauth_server(Accounts()) as url:
            with pytest.raises(LoginError):
                await log_in(url, {}, store, Browser(change))

    run(scenario())
    assert not files_of(tmp_path)


def test_M8_a_user_who_refuses_or_does_nothing_ends_the_login(store: LoginStore, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with oauth_server(Accounts(refuses=True)) as url:
            with pytest.raises(LoginError, match="access_denied"):
                await log_in(url, {}, store, Browser())
            with pytest.raises(LoginError):
                await log_in(url, {}, store, lambda page: None, LoginSettings(timeout_seconds=0.5))

    run(scenario())
    assert not files_of(tmp_path)


def test_M8_a_server_that_is_not_there_is_an_error(store: LoginStore) -> None:
    with pytest.raises(LoginError):
        asyncio.run(log_in("http://127.0.0.1:9/mcp", {}, store, lambda page: None))


def test_M8_logins_are_by_server_and_are_forgotten(store: LoginStore) -> None:
    store.save(Login(canonical_url("https://A.example:443/mcp?key=1"), {"access_token": "t"}))
    assert store.find("https://a.example:443/mcp") is not None
    assert store.find("https://a.example:443/other") is None
    assert store.remove("https://a.example:443/mcp?key=2")
    assert not store.remove("https://a.example:443/mcp")
    assert "secret" not in repr(Login("https://a.example", {"access_token": "secret"}))


def test_M8_the_keyring_goes_before_the_file(
    store: LoginStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import keyring
    import keyring.backend

    class Memory(keyring.backend.KeyringBackend):
        priority = 5
        kept: ClassVar[dict[tuple[str, str], str]] = {}

        def get_password(self, service: str, username: str) -> str | None:
            return self.kept.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            self.kept[service, username] = password

        def delete_password(self, service: str, username: str) -> None:
            del self.kept[service, username]

    monkeypatch.delenv("PYTHON_KEYRING_BACKEND")
    before = keyring.get_keyring()
    keyring.set_keyring(Memory())  # type: ignore[no-untyped-call]
    try:
        login = Login("https://a.example/mcp", {"access_token": "t"})
        store.save(login)
        assert not files_of(tmp_path)
        assert json.loads(*Memory.kept.values())["tokens"] == {"access_token": "t"}
        assert store.find(login.url) == login
        assert store.remove(login.url)
        assert not Memory.kept
    finally:
        keyring.set_keyring(before)
