"""Who may reach a listener (rule M8)."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from toolbelt.errors import NotFoundError, StorageError, ToolbeltError
from toolbelt.mcp.serving.http_access import HttpAddress, HttpRules, open_tokens, parse_address

LOCAL = HttpAddress("127.0.0.1", 8000)
PUBLIC = HttpAddress("192.0.2.1", 8000)
TOKEN = "a-token-of-more-than-twenty-characters"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:8000", HttpAddress("127.0.0.1", 8000)),
        ("localhost:0", HttpAddress("localhost", 0)),
        ("[::1]:80", HttpAddress("::1", 80)),
        ("gateway.example:443", HttpAddress("gateway.example", 443)),
    ],
)
def test_an_address_is_host_and_port(text: str, address: HttpAddress) -> None:
    assert parse_address(text) == address
    assert str(address) == text


@pytest.mark.parametrize(
    "text", ["", "8000", ":8000", "::1:8000", "localhost", "a:70000", "a:b", "http://a:1", "a b:1"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ToolbeltError):
        parse_address(text)


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("localhost.example", False),
        ("10.0.0.1", False),
    ],
)
def test_M8_loopback_is_decided_by_the_address(host: str, is_loopback: bool) -> None:
    assert HttpAddress(host, 1).is_loopback is is_loopback


@pytest.fixture
def certificate(tmp_path: Path) -> str:
    file = tmp_path / "file.pem"
    file.touch()
    return str(file)


@pytest.mark.parametrize(
    ("rules", "is_allowed"),
    [
        pytest.param(HttpRules(LOCAL), True, id="loopback-with-token"),
        pytest.param(HttpRules(LOCAL, without_token=True), True, id="loopback-without-token"),
        pytest.param(HttpRules(LOCAL, without_token=True, is_behind_proxy=True), False, id="no-token-behind-proxy"),
        pytest.param(HttpRules(PUBLIC), False, id="beyond-loopback-in-the-clear"),
        pytest.param(HttpRules(PUBLIC, is_behind_proxy=True), True, id="beyond-loopback-behind-proxy"),
        pytest.param(HttpRules(PUBLIC, tls_certificate="FILE", tls_key="FILE"), True, id="beyond-loopback-with-tls"),
        pytest.param(
            HttpRules(PUBLIC, without_token=True, tls_certificate="FILE", tls_key="FILE"), False, id="no-token-with-tls"
        ),
        pytest.param(HttpRules(PUBLIC, tls_certificate="FILE"), False, id="certificate-without-key"),
        pytest.param(HttpRules(HttpAddress("0.0.0.0", 1), is_behind_proxy=True), False, id="wildcard-without-names"),
        pytest.param(
            HttpRules(HttpAddress("0.0.0.0", 1), is_behind_proxy=True, hosts=("a.example",)), True, id="wildcard"
        ),
        pytest.param(HttpRules(LOCAL, tls_certificate="missing", tls_key="missing"), False, id="no-such-file"),
    ],
)
def test_M8_what_would_be_open_to_more_people_is_refused(rules: HttpRules, is_allowed: bool, certificate: str) -> None:
    if rules.tls_certificate == "FILE":
        rules = HttpRules(
            rules.address,
            without_token=rules.without_token,
            tls_certificate=certificate,
            tls_key=certificate if rules.tls_key else "",
        )
    if is_allowed:
        rules.check()
    else:
        with pytest.raises(ToolbeltError):
            rules.check()


def test_M8_hosts_and_origins_are_those_of_the_listener_and_those_that_were_named() -> None:
    rules = HttpRules(HttpAddress("localhost", 0), hosts=("Box.example",), origins=("https://App.example/",))
    hosts = rules.allowed_hosts(8000)
    assert {"127.0.0.1:8000", "localhost:8000", "[::1]:8000", "box.example"} <= hosts
    assert not {"127.0.0.1", "127.0.0.1:8001", "evil.example:8000"} & hosts
    assert "https://app.example" in rules.allowed_origins(8000)
    assert "null" not in rules.allowed_origins(8000)


def test_M8_a_token_is_made_once_for_the_user_alone(tmp_path: Path) -> None:
    environment = {"TOOLBELT_STATE_DIR": str(tmp_path / "state")}
    first, second = open_tokens(environment), open_tokens(environment)
    assert first.values == second.values
    assert len(first.values[0]) >= 43
    assert stat.S_IMODE(Path(first.source).stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(first.source).parent.stat().st_mode) == 0o700
    assert first.values[0] not in repr(first)
    assert [*(tmp_path / "state").iterdir()] == [Path(first.source)]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o601])
def test_M8_a_file_that_others_may_read_is_refused(mode: int, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(mode)
    with pytest.raises(ToolbeltError):
        open_tokens({}, str(file))


@pytest.mark.parametrize("text", ["", "\n\n", "short", "with blanks in it, many of them", "ä" * 30, f"{TOKEN}\nshort"])
def test_M8_what_is_no_random_token_is_refused_and_not_shown(text: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(ToolbeltError) as caught:
        open_tokens({}, str(file))
    assert not text.strip() or text not in str(caught.value)


def test_M8_the_environment_gives_a_token_and_a_named_file_goes_before_it(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"{TOKEN}-1\n\n{TOKEN}-2\n")
    file.chmod(0o600)
    environment = {"TOOLBELT_HTTP_TOKEN": TOKEN}
    assert open_tokens(environment).values == (TOKEN,)
    assert open_tokens(environment, str(file)).values == (f"{TOKEN}-1", f"{TOKEN}-2")


def test_a_named_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        open_tokens({}, str(tmp_path / "token"))


def test_a_state_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError):
        open_tokens({"TOOLBELT_STATE_DIR": str(tmp_path / "file" / "state")})


@pytest.mark.parametrize(
    ("authorization", "is_let_in"),
    [
        (f"Bearer {TOKEN}", True),
        (f"bearer  {TOKEN}", True),
        (f"Basic {TOKEN}", False),
        (TOKEN, False),
        ("Bearer ", False),
        ("", False),
        (f"Bearer {TOKEN}x", False),
        (f"Bearer {TOKEN.upper()}", False),
        ("Bearer \udcff", False),
    ],
)
def test_M8_only_a_bearer_token_lets_in(authorization: str, is_let_in: bool) -> None:
    tokens = open_tokens({"TOOLBELT_HTTP_TOKEN": TOKEN})
    assert bool(tokens.find(authorization)) is is_let_in


def test_M8_each_token_is_a_client_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"{TOKEN}-1\n{TOKEN}-2\n")
    file.chmod(0o600)
    tokens = open_tokens({}, str(file))
    assert tokens.find(f"Bearer {TOKEN}-1") != tokens.find(f"Bearer {TOKEN}-2")
    assert TOKEN not in tokens.find(f"Bearer {TOKEN}-1")
