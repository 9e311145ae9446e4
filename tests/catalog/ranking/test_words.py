"""Rule S2: tools ranked by words."""

from __future__ import annotations

import subprocess
import sys

import pytest

from toolbelt.catalog import Tool
from toolbelt.catalog.ranking.ranker import Field
from toolbelt.catalog.ranking.words import WordsRanker

FILES = Tool("read_file", "Reads a file from disk.", {"properties": {"path": {"description": "Where it is"}}})
MAIL = Tool("send_mail", "Sends an e-mail.")
WEATHER = Tool("forecast", "Tells the weather.", {"properties": {"city": {}}})
INDEX = WordsRanker().index([FILES, MAIL, WEATHER])


def test_a_hit_has_the_words_that_matched_by_field() -> None:
    (hit,) = INDEX.search("Which files are on my disk? Reading one.", 1)
    assert hit.tool is FILES
    assert hit.matched == {Field.NAME: ("files", "Reading"), Field.DESCRIPTION: ("files", "disk", "Reading")}
    assert INDEX.search("path of the disk", 1)[0].matched[Field.ARGUMENTS] == ("path",)


def test_scores_fall_and_no_tool_without_a_word_is_found() -> None:
    hits = INDEX.search("read the mail of the city", 5)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len(hits) == 3
    assert INDEX.search("zzz", 5) == () == INDEX.search("mail", 0)


def test_S2_the_tool_whose_name_a_query_has_comes_first() -> None:
    tools = [
        Tool("list_commits", "Get a list of commits; each commit is returned with its author."),
        Tool("get_commit"),
    ]
    index = WordsRanker().index(tools)
    query = "call get_commit for the last commit of the list"
    assert [hit.tool.name for hit in index.search(query, 2)] == ["get_commit", "list_commits"]
    assert index.search(query.replace("_", " "), 1)[0].tool.name == "list_commits"


def test_a_part_is_searched_as_if_it_alone_were_indexed() -> None:
    part = INDEX.within({MAIL.id, WEATHER.id, "unknown"})
    assert part.search("mail the weather to a city", 5) == WordsRanker().index([MAIL, WEATHER]).search(
        "mail the weather to a city", 5
    )
    assert part.search("disk", 5) == ()


@pytest.mark.cold
def test_the_catalog_does_not_pay_for_the_search() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys, toolbelt.catalog; print(any('ranking' in name for name in sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"
    code = "import sys, toolbelt.catalog.ranking.words; print({'numpy', 'bm25s'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
