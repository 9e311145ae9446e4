from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.evals.analysis.summary.rows import RUN, database
from tests.evals.viewer.reading import Read
from tests.evals.viewer.runs import HOSTILE, big_run, hostile_run, small_run
from tests.evals.viewer.writing import PICTURE, page_text
from tests.wording import mentions
from toolbelt.evals.statistics.verdict import Verdict
from toolbelt.evals.viewer import page
from toolbelt.text import UNSAFE

_PASS = Verdict.NO_REGRESSION


@pytest.mark.parametrize("make", [small_run, hostile_run, lambda: database([("m", "full", "")], [])])
def test_E10_the_same_run_makes_the_same_bytes(make: Callable[[], Any]) -> None:
    assert page_text(make()) == page_text(make())


def test_all_that_a_page_refers_to_is_in_it() -> None:
    page = page_text(small_run())
    for element in Read.of(page).elements:
        for key in ("src", "href", "srcset", "data", "action", "poster"):
            assert (element.attributes.get(key) or "#").startswith(("#", "data:"))
        assert (
            element.tag not in ("base", "iframe", "object", "embed", "form")
            or element.attributes.get("id") == "filters"
        )
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page
    assert "@import" not in page
    assert "url(" not in page


def test_nothing_in_it_goes_against_its_policy() -> None:
    read = Read.of(page_text(small_run()))
    for element in read.elements:
        assert "style" not in element.attributes
        assert not [key for key in element.attributes if key.startswith("on")]
    run = [one for one in read.find("script") if one.attributes.get("type") is None]
    assert len(run) == len(read.find("style")) == 1
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(", run[0].text)


def test_hostile_texts_are_escaped_wherever_they_stand() -> None:
    page = page_text(hostile_run())
    page.encode("utf-8")  # no half surrogate is left
    read, plain = Read.of(page), Read.of(page_text(small_run()))
    assert {one.tag for one in read.elements} == {one.tag for one in plain.elements}
    assert {key for one in read.elements for key in one.attributes} <= {
        key for one in plain.elements for key in one.attributes
    }
    assert not [character for character in UNSAFE.findall(page) if character not in "\n\t"]
    for text in (HOSTILE[0], HOSTILE[1], HOSTILE[3], r"evil\u202etxt.exe\u2066", r"nul\x00 esc\x1b[31m line\u2028sep"):
        assert f"toolset {text}" in read.text


def test_every_trial_is_in_the_blocks() -> None:
    read = Read.of(page_text(small_run()))
    assert [number for block in read.blocks("index") for number in block["trial"]] == list(range(60))
    assert sum(len(block["trials"]) for block in read.blocks("details")) == 60


def test_the_script_receives_arms_outcomes_and_whose_confusions_come_first() -> None:
    (data,) = Read.of(page_text(small_run())).find("script", id="data")
    loaded = json.loads(data.text)
    assert loaded["arms"] == ["full", "loadout", "tiered"]
    assert (loaded["first"], loaded["oracles"]) == (0, [])
    sorts = dict(loaded["outcomes"])
    assert (sorts["correct"], sorts["wrong_arguments"]) == ("right", "right")
    assert (sorts["error"], sorts["context_overflow"], sorts["refused"]) == ("unscored", "unscored", "wrong")


def test_pictures_stand_in_the_page_with_words_and_their_size() -> None:
    (picture,) = Read.of(page_text(small_run())).find("img")
    source = picture.attributes["src"] or ""
    assert base64.b64decode(source.removeprefix("data:image/svg+xml;base64,")) == PICTURE.svg
    assert picture.attributes["alt"] == "A dot. What a dot says."
    assert (picture.attributes["width"], picture.attributes["height"]) == ("40", "20")


def test_what_was_run_is_told_without_paths_of_a_machine() -> None:
    settings = {"dataset": "/home/me/x", "config": "/home/me/y", "seed": 5, "kinds": ["single", "multi"], "limit": None}
    connection = database([("m", "full", "")], [], plan={"settings": settings, "seed": 3})
    text = " ".join(Read.of(page_text(connection)).text.split())
    assert "seed3" in text
    assert "seed of sampling5" in text
    assert "kindssingle, multi" in text
    assert "/home/me" not in text


@pytest.mark.parametrize(
    ("created", "told"),
    [("2026-03-01T13:00:00.681+01:00", "2026-03-01 12:00:00 UTC"), ("some day", "some day")],
    ids=["a-moment-is-told-in-utc-without-fractions", "what-is-no-moment-is-told-as-it-stands"],
)
def test_when_it_was_begun(created: str, told: str) -> None:
    connection = small_run()
    connection.execute("UPDATE runs SET created = ?", (created,))
    assert f"begun{told}" in Read.of(page_text(connection)).text


def test_trials_written_are_told() -> None:
    told: list[int] = []
    page_text(big_run(cases=90, arms=4), advance=told.append)
    assert len(told) > 1
    assert (sorted(told), told[-1]) == (told, 360)


def test_a_run_without_trials_has_a_page() -> None:
    read = Read.of(page_text(database([("m", "full", "")], [], status="incomplete", reason="no key")))
    assert "incomplete: no key." in read.text
    assert mentions(read.text, "4 of 4 trials")
    assert read.blocks("index") == []
    assert RUN in read.text


def test_the_connection_is_left_as_it_was() -> None:
    connection = small_run()
    page_text(connection)
    assert not connection.in_transaction
    connection.execute("BEGIN")
    page_text(connection)
    assert connection.in_transaction


def test_E10_a_page_of_a_large_run_says_that_it_holds_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = page_text(small_run(20))
    assert "A sample of" not in whole
    monkeypatch.setattr(page, "MOST_TRIALS", 30)
    sampled = page_text(small_run(20))
    assert mentions(Read.of(sampled).text, "A sample of 10 of 20 cases", f"eval show {RUN} --case")
    assert len(sampled) < len(whole)
