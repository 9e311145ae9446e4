"""Who may reach a listener, and under which conditions there is one (rule M8)."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import ipaddress
import os
import re
import secrets
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolbelt.errors import NotFoundError, StorageError, ToolbeltError
from toolbelt.stores.files import state_folder

TOKEN_VARIABLE = "TOOLBELT_HTTP_TOKEN"  # noqa: S105  the name of a variable
TOKEN_FILE_NAME = "http-token"  # noqa: S105  the name of a file
_SHORTEST_TOKEN = 20
"""Characters; a new token has 43, which are 256 bits."""
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]+")
"""What a bearer token may consist of (RFC 6750)."""
_PRIVATE_MODES = 0o077
_LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class HttpAddress:
    """Where a listener is.

    Attributes:
        host: A name or address, without brackets.
        port: 0 for one that is free.
    """

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it; a name other than `localhost` may resolve to anything."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host.casefold() == "localhost"

    @property
    def is_wildcard(self) -> bool:
        """Whether it is every address of the machine."""
        try:
            return ipaddress.ip_address(self.host).is_unspecified
        except ValueError:
            return False

    def __str__(self) -> str:
        return f"{_bracketed(self.host)}:{self.port}"


def parse_address(text: str) -> HttpAddress:
    """`HOST:PORT`; an IPv6 address in brackets.

    Raises:
        ToolbeltError: it is something else.
    """
    match = re.fullmatch(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)]|(?P<name>[A-Za-z0-9._-]+)):(?P<port>[0-9]{1,5})", text)
    if match is None or int(match["port"]) > 65535:
        raise ToolbeltError(f"{text!r} is no HOST:PORT, such as 127.0.0.1:8000 or [::1]:8000.")
    return HttpAddress(match["six"] or match["name"], int(match["port"]))


@dataclass(frozen=True)
class HttpRules:
    """The conditions of one listener.

    Attributes:
        address: Where it listens.
        without_token: Whether anybody on this machine may use it.
        tls_certificate: A file; empty for none.
        tls_key: A file.
        is_behind_proxy: Whether a proxy in front of it has TLS.
        hosts: Names and addresses by which clients reach it besides those of `address`, with the port unless it is the
            scheme's own.
        origins: Of web pages that may use it, such as `https://app.example`.
    """

    address: HttpAddress
    without_token: bool = False
    tls_certificate: str = ""
    tls_key: str = ""
    is_behind_proxy: bool = False
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

    @property
    def scheme(self) -> str:
        """`https` with a certificate of its own."""
        return "https" if self.tls_certificate else "http"

    def check(self) -> None:
        """Refuse what would be open to more people than the user may think.

        Raises:
            NotFoundError: there is no such file.
            ToolbeltError: a condition is not met, with what to add.
        """
        if bool(self.tls_certificate) != bool(self.tls_key):
            raise ToolbeltError("--tls-cert and --tls-key belong together.")
        for file in filter(None, (self.tls_certificate, self.tls_key)):
            if not Path(file).is_file():
                raise NotFoundError("file", file)
        if self.address.is_loopback:
            if self.without_token and self.is_behind_proxy:
                raise ToolbeltError("--no-token is for this machine alone; a proxy lets in others. Leave one out.")
            return
        if self.without_token:
            raise ToolbeltError(f"--no-token is for loopback alone; {self.address.host} can be reached by others.")
        if not self.tls_certificate and not self.is_behind_proxy:
            raise ToolbeltError(
                f"{self.address.host} can be reached by others, who would read the token: give --tls-cert and "
                "--tls-key, or --behind-proxy if a proxy in front has TLS."
            )
        if self.address.is_wildcard and not self.hosts:
            raise ToolbeltError(f"{self.address.host} is no name: give --allow-host HOST for each that clients use.")

    def allowed_hosts(self, port: int) -> frozenset[str]:
        """Values of the `Host` header, in lower case, for a listener on that port.

        A web page that makes its own name resolve to this machine (DNS rebinding) sends that name.
        """
        own = _LOCAL_NAMES if self.address.is_loopback else (_bracketed(self.address.host),)
        names = {f"{name}:{port}" for name in (*own, _bracketed(self.address.host))}
        if port == (443 if self.tls_certificate else 80):
            names |= {_bracketed(self.address.host), *own}
        return frozenset(name.casefold() for name in (*names, *self.hosts))

    def allowed_origins(self, port: int) -> frozenset[str]:
        """Values of the `Origin` header, in lower case: pages of the listener itself, of which there are none, and
        those that the user named."""
        schemes = ("https",) if self.is_behind_proxy else (self.scheme,)
        own = {f"{scheme}://{host}" for scheme in schemes for host in self.allowed_hosts(port)}
        return frozenset((*own, *(origin.casefold().rstrip("/") for origin in self.origins)))


@dataclass(frozen=True, repr=False)
class Tokens:
    """Those that are let in.

    Attributes:
        source: Where they are from, to be shown.
    """

    values: tuple[str, ...]
    source: str

    def find(self, authorization: str) -> str:
        """The client that an `Authorization` header belongs to: a name made from its token; empty if it is nobody's.

        Takes the same time whichever token it is, and however much of it is right.
        """
        scheme, _, credentials = authorization.partition(" ")
        presented = credentials.strip().encode("utf-8", "surrogateescape")
        matches = [hmac.compare_digest(value.encode(), presented) for value in self.values]
        if scheme.casefold() != "bearer" or not any(matches):
            return ""
        return hashlib.sha256(presented).hexdigest()[:16]

    def __repr__(self) -> str:
        return f"Tokens(source={self.source!r})"


def open_tokens(environment: Mapping[str, str], file: str = "") -> Tokens:
    """Tokens of the environment, else of a file: one a line, so that clients can have one each.

    Args:
        environment: `TOOLBELT_HTTP_TOKEN`, and where the state folder is.
        file: Of mode 0600; the one of the state folder if empty, which is made with a new token if it is missing.

    Raises:
        NotFoundError: there is no such file.
        ToolbeltError: others may read it, or a token is too short to be random.
        StorageError: it cannot be read or made.
    """
    if not file and (value := environment.get(TOKEN_VARIABLE)):
        return Tokens((_checked(value.strip(), TOKEN_VARIABLE),), TOKEN_VARIABLE)
    path = Path(file) if file else state_folder(environment) / TOKEN_FILE_NAME
    if file and not path.exists():
        raise NotFoundError("file", file, hint="Without --token-file, one is made.")
    try:
        if not path.exists():
            _make_token_file(path)
        text = _read_private(path)
    except OSError as error:
        raise StorageError(f"{str(path)!r}: {error.strerror or error}") from None
    values = tuple(_checked(line.strip(), str(path)) for line in text.splitlines() if line.strip())
    if not values:
        raise ToolbeltError(f"{str(path)!r} holds no token; remove it, and one is made.")
    return Tokens(values, str(path))


def _make_token_file(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    staged = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as stream:
            stream.write(f"{secrets.token_urlsafe(32)}\n")
        with contextlib.suppress(FileExistsError):  # another gateway was quicker: its token counts
            os.link(staged, path)
    finally:
        staged.unlink()


def _read_private(path: Path) -> str:
    descriptor = os.open(path, os.O_RDONLY)
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as stream:
        state = os.fstat(descriptor)
        if os.name == "posix" and (state.st_mode & _PRIVATE_MODES or state.st_uid not in (os.getuid(), 0)):
            mode = f"{stat.S_IMODE(state.st_mode):o}"
            raise ToolbeltError(
                f"{str(path)!r} holds a token and may be read by others (mode {mode}): chmod 600 it, and own it."
            )
        return stream.read(1 << 16)


def _checked(value: str, source: str) -> str:
    if len(value) < _SHORTEST_TOKEN or _TOKEN.fullmatch(value) is None:
        raise ToolbeltError(
            f"The token of {source} must be {_SHORTEST_TOKEN} or more random letters, digits and - . _ ~ + / =; "
            "such as of: openssl rand -hex 32"
        )
    return value


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


__all__: Sequence[str] = ("HttpAddress", "HttpRules", "Tokens", "open_tokens", "parse_address")
