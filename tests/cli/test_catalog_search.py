"""`toolbelt catalog search` (rule S2)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Toolbelt
from tests.wording import mentions

LOADOUT = "loadouts:\n  files: {plugins: [file, docker]}\n"


def test_the_text(toolbelt: Toolbelt, small: Path, expected: Callable[[str], str]) -> None:
    ran = toolbelt("catalog", "search", "shows|status|starts", "-r", "regex")
    assert (ran.code, ran.out, ran.err) == (0, expected("catalog_search.txt"), "")


def test_S2_the_json_has_scores_and_matched_fields(toolbelt: Toolbelt, small: Path) -> None:
    found = toolbelt("catalog", "search", "Sending money", "-k", "1", "--json").json
    [pay] = found.pop("tools")
    assert found == {"catalog": "small", "query": "Sending money", "rank": "words", "searched": 6}
    assert (pay["id"], pay["name"], pay["plugin"]) == ("payments/pay", "pay", "payments")
    assert pay["matched"] == {"description": ["Sending", "money"]}
    assert pay["score"] > 0


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        pytest.param(("status", "-r", "regex"), ["git/status", "docker/status"], id="all"),
        pytest.param(("status", "-r", "regex", "--plugin", "docker"), ["docker/status"], id="a-plugin"),
        pytest.param(("status", "-r", "regex", "--loadout", "files"), ["docker/status"], id="a-loadout"),
        pytest.param(("status", "--plugin", "git", "-l", "files"), [], id="both"),
        pytest.param(("STAT.S", "-r", "regex", "-k", "1"), ["git/status"], id="a-pattern-in-any-case"),
        pytest.param(("(?-i)STAT.S", "-r", "regex"), [], id="unless-it-says-otherwise"),
    ],
)
def test_S2_what_is_searched_is_chosen(
    toolbelt: Toolbelt, small: Path, arguments: tuple[str, ...], ids: list[str]
) -> None:
    with (small / "toolbelt.yaml").open("a") as file:
        file.write(LOADOUT)
    found = toolbelt("catalog", "search", *arguments, "--json")
    assert (found.code, [tool["id"] for tool in found.json["tools"]]) == (0, ids)


def test_S2_nothing_found_is_a_result(toolbelt: Toolbelt, small: Path) -> None:
    ran = toolbelt("catalog", "search", "pys", "-r", "regex")
    assert (ran.code, ran.out) == (0, "")
    assert mentions(ran.err, "none of 6 tools", "pay")


def test_M2_a_ranker_of_the_users_own_needs_approval(toolbelt: Toolbelt, small: Path) -> None:
    (small / "mine.py").write_text(
        "def make(tools):\n    print('loud')\n    return lambda text, k: [(tools[-1].id, 1.5)]\n"
    )
    arguments = ("catalog", "search", "status", "--rank", "python:mine:make", "--json")
    refused = toolbelt(*arguments)
    assert (refused.code, refused.out) == (2, "")
    assert mentions(refused.err, "mine:make", "--yes")
    [found] = toolbelt(*arguments, "--yes").json["tools"]
    assert (found["id"], found["score"], found["matched"]) == ("payments/pay", 1.5, {})


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        pytest.param((" ",), ("QUERY",), id="no-words"),
        pytest.param(("a", "-r", "wrds"), ("wrds", "words"), id="ranker"),
        pytest.param(("a", "-l", "develper"), ("develper", "developer"), id="loadout"),
        pytest.param(("a", "--plugin", "gti"), ("gti", "git"), id="plugin"),
        pytest.param(("(", "-r", "regex"), ("pattern", "("), id="pattern"),
        pytest.param(("a", "-k", "0"), ("0",), id="limit"),
    ],
)
def test_E9_mistakes_are_refused_with_what_is_right(
    toolbelt: Toolbelt, small: Path, arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    ran = toolbelt("catalog", "search", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert mentions(ran.err, *parts)


def test_S2_escapes_in_a_query_and_a_tool_are_made_visible(toolbelt: Toolbelt, small: Path) -> None:
    text = (small / "small.yaml").read_text()
    (small / "small.yaml").write_text(text.replace("Sends money.", '"Sends m\\x1b[31money."'))
    ran = toolbelt("catalog", "search", "m.\\[31money", "-r", "regex")
    assert ran.code == 0
    assert "\x1b" not in ran.out + ran.err
