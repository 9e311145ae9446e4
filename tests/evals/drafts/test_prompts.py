"""What a model is told the second time; the first time is tested with the jobs."""

from __future__ import annotations

import pytest

from tests.evals.drafts.samples import ONE_EACH, make_jobs
from toolbelt.catalog import Catalog, Plugin, Tool
from toolbelt.evals.drafts.jobs import Jobs
from toolbelt.evals.drafts.prompts import further_messages, opening_messages

BEFORE = opening_messages(make_jobs(ONE_EACH).job(0))


def test_E3_what_was_asked_and_said_is_there_again() -> None:
    made = further_messages(BEFORE, " said ", ["a: bad", "b: worse"], ["1 more"])
    assert made[:2] == BEFORE
    assert made[2] == {"role": "assistant", "content": "said"}
    assert made[3]["content"].splitlines()[:6] == [
        "Thank you. Not all of it can be used:",
        "- a: bad",
        "- b: worse",
        "",
        "Still wanted, by the same rules and unlike what you wrote before:",
        "- 1 more",
    ]


@pytest.mark.parametrize(
    ("said", "repeated"),
    [("x" * 50_000, "x" * 20_000), ("", "(nothing)"), ("  \n", "(nothing)")],
    ids=["endless", "silence", "blank"],
)
def test_E3_a_useless_answer_is_repeated_within_bounds(said: str, repeated: str) -> None:
    assert further_messages(BEFORE, said, [], ["more"])[2]["content"] == repeated


def test_E3_a_dozen_faults_are_enough_and_none_are_no_blame() -> None:
    many = further_messages(BEFORE, "x", [f"fault {n}" for n in range(40)], ["more"])[3]["content"]
    assert many.count("- fault") == 12
    none = further_messages(BEFORE, "x", [], ["more"])[3]["content"]
    assert none.startswith("Thank you. Some of it is missing.")


def test_E3_a_neighbours_description_is_one_short_line() -> None:
    tools = (Tool("one", "Sends letters."), Tool("two", "Sends\nletters. " + "word " * 500))
    catalog = Catalog((Plugin("p", tools),))
    text = opening_messages(Jobs(catalog, catalog.tools[:1], ONE_EACH).job(0))[1]["content"]
    (line,) = [line for line in text.splitlines() if line.startswith("- two: ")]
    assert line.startswith("- two: Sends letters. word")
    assert len(line) <= 410
