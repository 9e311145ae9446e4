"""Logins at servers over HTTP, kept for the user: in the system's keyring, else in a file of mode 0600 (rule M8)."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from toolbelt.errors import StorageError
from toolbelt.stores.files import replacing, state_folder
from toolbelt.stores.locks import locked

_SERVICE = "toolbelt MCP login"
_LOCK_SECONDS = 60


@dataclass(frozen=True, repr=False)
class Login:
    """What a server's authorization server has given.

    Attributes:
        url: Of the server, without query and fragment.
        tokens: As the authorization server sent them.
        expires_at: Unix seconds; `None` if it did not say.
        client: The registration under which they were given.
        authorization_server: Its metadata, with its endpoints; `None` if it publishes none.
        resource: The server's own metadata; `None` if it publishes none.
    """

    url: str
    tokens: Mapping[str, Any]
    expires_at: float | None = None
    client: Mapping[str, Any] | None = None
    authorization_server: Mapping[str, Any] | None = None
    resource: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        return f"Login({self.url!r})"


class LoginStore:
    """Logins by the URL of their server.

    Args:
        environment: Where the state folder is.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._folder = state_folder(environment) / "logins"

    def find(self, url: str) -> Login | None:
        """The login at a server; `None` if there is none.

        Raises:
            StorageError: it cannot be read.
        """
        try:
            text: str | None = self._file(url).read_text(encoding="utf-8")
        except FileNotFoundError:
            text = _read_keyring(canonical_url(url))
        except OSError as error:
            raise StorageError(f"{str(self._file(url))!r}: {error.strerror or error}") from None
        if text is None:
            return None
        try:
            return Login(**json.loads(text))
        except (ValueError, TypeError):
            return None  # written by another version; a login replaces it

    def save(self, login: Login) -> str:
        """Keep a login, and give the place where it is.

        Raises:
            StorageError: it cannot be written.
        """
        text = json.dumps(asdict(login), sort_keys=True)
        file = self._file(login.url)
        if _write_keyring(login.url, text):
            file.unlink(missing_ok=True)
            return "the system's keyring"
        self._make_folder()
        with replacing(file, "w", is_private=True) as stream:
            stream.write(text)
        return str(file)

    def remove(self, url: str) -> bool:
        """Forget a login; whether there was one."""
        was_there = self.find(url) is not None
        self._file(url).unlink(missing_ok=True)
        _remove_keyring(canonical_url(url))
        return was_there

    def locked(self, url: str) -> AbstractContextManager[None]:
        """Renew a login in one process at a time: many a renewal makes the one before it invalid.

        Raises:
            StorageError: another process has it for too long.
        """
        lock = Path(f"{self._file(url)}.lock")
        return locked(lock, f"the login at {canonical_url(url)}", seconds=_LOCK_SECONDS)

    def _make_folder(self) -> None:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"Cannot make {str(self._folder)!r}: {error.strerror or error}.") from None

    def _file(self, url: str) -> Path:
        return self._folder / f"{hashlib.sha256(canonical_url(url).encode()).hexdigest()[:32]}.json"


def canonical_url(url: str) -> str:
    """A server's URL without what differs between two ways to write it, and without query and user information."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    port = f":{parts.port}" if parts.port is not None else ""
    return urlunsplit((parts.scheme.lower(), f"[{host}]{port}" if ":" in host else host + port, parts.path, "", ""))


def _keyring() -> Any:
    """The module, if the system has a keyring."""
    if os.environ.get("PYTHON_KEYRING_BACKEND", "").endswith("fail.Keyring"):
        return None
    try:
        import keyring
    except ImportError:
        return None
    return keyring if keyring.get_keyring().priority >= 1 else None


def _read_keyring(url: str) -> str | None:
    with contextlib.suppress(Exception):  # backends raise what they like; a file is as good
        if (keyring := _keyring()) is not None:
            text = keyring.get_password(_SERVICE, url)
            return text if isinstance(text, str) else None
    return None


def _write_keyring(url: str, text: str) -> bool:
    with contextlib.suppress(Exception):  # also those whose entries are too short
        if (keyring := _keyring()) is not None:
            keyring.set_password(_SERVICE, url, text)
            return bool(keyring.get_password(_SERVICE, url) == text)
    return False


def _remove_keyring(url: str) -> None:
    with contextlib.suppress(Exception):
        if (keyring := _keyring()) is not None:
            keyring.delete_password(_SERVICE, url)
