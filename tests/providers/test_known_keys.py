"""Keys in addresses: whoever repeats them, in whatever form, they are not shown (rule M1)."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest

from toolbelt.errors import ToolbeltError
from toolbelt.providers.endpoints import check_address
from toolbelt.providers.known_keys import find_keys, find_secrets
from toolbelt.providers.provider_errors import make_answer_error, make_model_error

KEY, PASSWORD, FROM_ENVIRONMENT = "canary+7Kd0/secret=", "canary9pass word", "canary3-of-the-environment"
ADDRESS = f"http://canary-user:{quote(PASSWORD)}@127.0.0.1:1/v1?api-version=2024-02-01&opaque={quote(KEY, safe='')}"
ECHOES: dict[str, Callable[[str], str]] = {
    "as-it-is": lambda value: value,
    "in-a-sentence": lambda value: f"Invalid key {value}.",
    "quoted": json.dumps,
    "percent-encoded": lambda value: quote(value, safe=""),
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64-of-urls": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
    "base64-without-padding": lambda value: base64.b64encode(value.encode()).decode().rstrip("="),
    "hexadecimal": lambda value: value.encode().hex(),
    "in-an-address": lambda value: f"Cannot connect to http://127.0.0.1:1/v1?key={quote(value)}",
    "twice": lambda value: f"{value} {value}",
    "in-json": lambda value: json.dumps({"error": {"message": f"denied: {value}"}}),
}


@pytest.fixture(autouse=True)
def _asked() -> None:
    check_address(ADDRESS)


@pytest.mark.parametrize("echo", ECHOES)
@pytest.mark.parametrize("secret", [KEY, FROM_ENVIRONMENT, f"canary-user:{quote(PASSWORD)}"])
def test_M1_a_key_that_a_server_or_a_transport_repeats_is_not_shown(echo: str, secret: str) -> None:
    text = ECHOES[echo](secret)
    secrets = find_secrets({"OTHER_API_KEY": FROM_ENVIRONMENT})
    answered = make_answer_error(401, {}, text.encode(), secrets, 0.1)
    raised = make_model_error(OSError(text), None, secrets, 0.1)
    for shown in (str(answered), str(raised)):
        for form in (secret, quote(secret, safe=""), secret.encode().hex(), base64.b64encode(secret.encode()).decode()):
            assert form.rstrip("=") not in shown, shown


def test_M1_a_wrong_address_is_shown_without_its_keys() -> None:
    with pytest.raises(ToolbeltError) as raised:
        check_address(f"ftp://canary-user:canary1password@127.0.0.1/v1?key={KEY}")
    assert "canary" not in str(raised.value)


def test_versions_and_other_plain_words_of_an_address_stay_in_answers() -> None:
    assert not {"2024-02-01", KEY} & {*find_keys({})}  # `opaque` is no name of a key
    check_address("http://127.0.0.1:1/v1?key=canary-5of-a-query")
    assert "canary-5of-a-query" in find_keys({})
