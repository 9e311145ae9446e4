from __future__ import annotations

from pathlib import Path

import pytest

from tests.evals.cases.imports.samples import bring_in, calling, log, rows, says, user, write
from toolbelt.evals.cases.imports.context import ArgumentPolicy, ImportSettings
from toolbelt.evals.cases.imports.redaction import HOMES, KEYS, MAILS, NAMES, PHONES, Redactor


@pytest.mark.parametrize(
    ("text", "redacted", "kind"),
    [
        pytest.param("Ask jo.doe@acme.co.uk.", "Ask user1@example.com.", MAILS, id="mail"),
        pytest.param("Key sk-abcdefghijklmnop1234!", "Key REDACTED-1!", KEYS, id="key-of-a-service"),
        pytest.param("Authorization: Bearer abc.def-ghi_jkl", "Authorization: REDACTED-1", KEYS, id="header"),
        pytest.param("postgres://jo:hunter22@db/x", "postgres://REDACTED-1@db/x", KEYS, id="password-of-an-address"),
        pytest.param("DB_PASSWORD=hunter22 run", "DB_PASSWORD=REDACTED-1 run", KEYS, id="variable"),
        pytest.param('{"api_key": "abcdef99"}', '{"api_key": "REDACTED-1"}', KEYS, id="json"),
        pytest.param("cat /home/jo.doe/a.txt", "cat /home/user/a.txt", HOMES, id="linux"),
        pytest.param("open /Users/jo-doe/a", "open /Users/user/a", HOMES, id="mac"),
        pytest.param(r"dir C:\Users\Jo\a", r"dir C:\Users\user\a", HOMES, id="windows"),
        pytest.param("~/.claude/projects/-home-jo-shop", "~/.claude/projects/-home-user-shop", HOMES, id="claude-code"),
        pytest.param("Call +49 170 1234567 now", "Call +1-202-555-0101 now", PHONES, id="phone-abroad"),
        pytest.param("Call (415) 555-2671.", "Call +1-202-555-0101.", PHONES, id="phone-american"),
        pytest.param("My name is Ann Lee.", "My name is Person 1.", NAMES, id="my-name"),
        pytest.param("Dear Ann, come.", "Dear Person 1, come.", NAMES, id="dear"),
        pytest.param("Dr. Ann Lee agrees", "Dr. Person 1 agrees", NAMES, id="title"),
        pytest.param('{"author": "Ann Lee"}', '{"author": "Person 1"}', NAMES, id="field"),
    ],
)
def test_what_is_found_is_replaced_and_counted(text: str, redacted: str, kind: str) -> None:
    redactor = Redactor()
    assert redactor.redact({"query": text})["query"] == redacted
    assert redactor.counts == {kind: 1}


@pytest.mark.parametrize(
    "text",
    [
        "git clone git@github.com:acme/shop.git",
        "Released 2026-11-29 at 10:00:00+01:00",
        "version 1.105.3, 192.168.100.200, id 4155552671",
        "max_tokens: 100000 and token counts",
        "Write to someone@example.com",
        "/home/user/shop",
        "password = os.environ['PW']",
        "I'm Using nothing",
        "Dear All, hello",
        "550e8400-e29b-41d4-a716-446655440000",
    ],
)
def test_what_is_nobody_s_stays(text: str) -> None:
    redactor = Redactor()
    assert redactor.redact({"query": text}) == {"query": text}
    assert not redactor.counts


def test_one_value_has_one_substitute_in_query_arguments_and_results() -> None:
    row = {
        "id": "jo@acme.io",
        "query": "Mail jo@acme.io, not al@acme.io",
        "expected": [{"tool": "mail/send", "args": {"to": ["jo@acme.io"], "password": "hunter22"}}],
        "results": {"mail/send": "sent to jo@acme.io"},
        "messages": [
            {"role": "assistant", "tool_calls": [{"function": {"name": "x", "arguments": '{"a": "al@acme.io"}'}}]}
        ],
    }
    redacted = Redactor().redact(row)
    assert redacted["query"] == "Mail user1@example.com, not user2@example.com"
    assert redacted["expected"][0]["args"] == {"to": ["user1@example.com"], "password": "REDACTED-1"}
    assert redacted["results"] == {"mail/send": "sent to user1@example.com"}
    assert redacted["messages"][0]["tool_calls"][0]["function"]["arguments"] == '{"a": "user2@example.com"}'
    assert redacted["id"] == "jo@acme.io", "ids and names of tools stay"


@pytest.mark.parametrize("redact", [True, False])
def test_a_log_is_redacted_unless_the_user_objects(tmp_path: Path, redact: bool) -> None:
    record = log(user("Mail jo@acme.io"), calling("send_mail", to="jo@acme.io"), says())
    settings = ImportSettings(arguments=ArgumentPolicy.KEEP, redact=redact)
    imported = bring_in(tmp_path / "out", write(tmp_path / "log.jsonl", [record]), settings=settings)
    (row,) = rows(tmp_path / "out")
    address = "user1@example.com" if redact else "jo@acme.io"
    assert (row["query"], row["expected"][0]["args"]) == (f"Mail {address}", {"to": address})
    assert imported.redacted == ({MAILS: 2} if redact else {})
