"""What is to be pasted into `toolbelt.yaml`, read back by the project's own reader."""

from __future__ import annotations

import itertools
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.analysis.matrix.runs import Asked, matrix_of
from tests.wording import mentions
from toolbelt.evals.analysis.matrix.cell import Cell, CellState
from toolbelt.evals.analysis.matrix.matrix import Matrix, ModelRow, Pick, ShownVariants
from toolbelt.evals.analysis.matrix.recommendation import models_at, recommendation, written_models, yaml_text
from toolbelt.models.project_models import ProjectModel, project_model_data
from toolbelt.stores.config import Config, read_config

GOOD, BAD = "+" * 90 + "-" * 10, "+" * 20 + "-" * 80


def project(text: str) -> Config:
    """A project that has just that file; all that is wrong is an error."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "toolbelt.yaml"
        path.write_text(text, encoding="utf-8")
        return read_config(Path(folder), str(path))


def read(text: str) -> dict[str, str | None]:
    """What each model is given, as that project reads it."""
    return {own.name: own.toolset for own in project(text).own_models}


def matrix(*picks: tuple[str, str | None], is_sure: bool = True) -> Matrix:
    """Models and the recommended toolset of each; `None` if nothing is sure."""
    rows = []
    for place, (model, toolset) in enumerate(picks):
        cell = Cell(toolset or "full", CellState.SCORED, place, definition_tokens_total=100.0)
        choice = None if toolset is None else place
        pick = Pick(model, best=place, choice=choice, toolset=toolset or "", sure=is_sure)
        rows.append(ModelRow(model, (cell,), pick))
    return Matrix("r", "d", "c", 10, 0.02, ("full",), tuple(rows), notes=(ShownVariants.SHOWN,))


def test_E7_the_whole_of_it() -> None:
    found = matrix_of(
        [
            Asked("full", GOOD, 46_000, model="gpt-4o"),
            Asked("loadout:minimal", GOOD, 4_600, model="gpt-4o"),
            Asked("full", GOOD[:20], 46_000, model="small"),
            Asked("loadout:minimal", GOOD[:20], 4_600, model="small"),
        ],
        0.05,
    )
    text = recommendation(found)
    assert (
        text
        == f"""\
# Run {found.run} of {found.created[:10]}: dataset assistant, catalog assistant, 100 cases for each
# toolset.
# A model is given the smallest toolset that is surely not worse than its best by more than 5.0
# points, with a chance below 5% of being wrong.
# Where toolbelt.yaml has `models:` already, add what is below that line to it; where a model has an
# entry there, its `toolset` alone.
models:
  # loadout:minimal is the best (90.0%), and surely not worse than any other by more than 5.0
  # points; none is smaller.
  # Definitions: 4,600 tokens a trial, 10% of full's 46,000.
  - name: gpt-4o
    toolset: loadout:minimal
  # small: Too little is answered yet: loadout:minimal is the best as measured (100.0% of 20
  # trials), and 80 of 100 trials lack an answer.
  # full was not considered: 80 of 100 trials lack an answer.
"""
    )
    assert read(text) == {"gpt-4o": "loadout:minimal"}


def test_E7_without_any_choice_all_is_a_comment() -> None:
    text = recommendation(matrix(("a", None), ("b", None)))
    assert all(line.lstrip().startswith("#") for line in text.splitlines())
    assert read(text) == {}
    assert "already" not in text, "there is nothing to be added"


def test_E7_what_is_not_sure_says_so_beside_it() -> None:
    text = recommendation(matrix_of([Asked("full", GOOD, 9000), Asked("tiered", GOOD, 90)], 0.01))
    assert "the best as measured." in text.replace("\n# ", " ")
    assert text.endswith("  - name: m\n    toolset: tiered  # as measured, not sure\n")
    assert "not sure: full" in text.replace("\n  # ", " ")
    assert read(text) == {"m": "tiered"}


def test_entries_go_below_those_there_are() -> None:
    added = recommendation(matrix(("a", "full"), ("b", "tiered"), is_sure=False)).partition("models:\n")[2]
    assert read(f"models:\n  - name: own\n    toolset: full\n{added}") == {"own": "full", "a": "full", "b": "tiered"}


def test_without_evidence_there_are_entries_alone() -> None:
    assert recommendation(matrix(("a", None)), evidence=False) == ""
    found = recommendation(matrix(("a", None), ("b", "tiered")), evidence=False)
    assert found == "models:\n  - name: b\n    toolset: tiered\n"


def test_a_label_is_written_beside_the_name_by_which_the_model_was_asked() -> None:
    found = matrix(("small", "tiered"))
    (row,) = found.rows
    found = replace(found, rows=(replace(row, asked_as="openai/a-model"),))
    (own,) = project(recommendation(found)).own_models
    assert (own.name, own.label, own.toolset) == ("openai/a-model", "small", "tiered")


def test_a_model_by_two_names_is_an_entry_once() -> None:
    text = recommendation(matrix(("GPT-4o", "full"), ("gpt-4o", "tiered")))
    assert read(text) == {"GPT-4o": "full"}
    assert mentions(text, "gpt-4o: left out", "GPT-4o")
    assert read(recommendation(matrix(("GPT-4o", None), ("gpt-4o", "tiered")))) == {"gpt-4o": "tiered"}


NAMES = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Cn", "Zl", "Zp"]) | st.sampled_from(":#'\"-*&!%@`{}[]|>?, \\"),
    min_size=1,
    max_size=20,
).filter(lambda name: name == name.strip())


@settings(max_examples=60, deadline=None)
@given(NAMES.filter(str.strip), NAMES.filter(lambda name: not name.endswith("*") and name.casefold() != "auto"))
def test_any_name_is_read_back_as_it_is(model: str, loadout: str) -> None:
    assert read(recommendation(matrix((model, f"loadout:{loadout}")))) == {model: f"loadout:{loadout}"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("gpt-4o", "gpt-4o"),
        ("loadout:minimal", "loadout:minimal"),
        ("ollama/qwen3:8b", "ollama/qwen3:8b"),
        ("yes", "'yes'"),
        ("1e5", "'1e5'"),
        ("a: b", "'a: b'"),
        ("- a", "'- a'"),
        ("财务", "财务"),
        ("a\u202eb", '"a\\u202Eb"'),
        ("a\nb", '"a\\nb"'),
        ("a\ud800b", '"a\\uD800b"'),
        ("\ud83d\ude00", '"\\uD83D\\uDE00"'),
    ],
)
def test_a_text_is_quoted_where_it_must_be(text: str, shown: str) -> None:
    assert yaml_text(text) == shown


THERE = """\
models:
  - gpt-4o
  - name: Small
    base: gpt-4o
    context_window: 8192
    output_reserve: 1024
    prices: {input: 0.05, output: 0.4}
    toolset: full
  - name: other
    base: small
    max_tools: 64
"""


def replaced(there: str, pasted: str) -> str:
    """What somebody makes of it who does what the comments say."""
    kept, lines = [], pasted.partition("models:\n")[2].splitlines()
    gone = {
        line.partition("name: ")[2].strip("'\"").casefold()
        for before, line in itertools.pairwise(lines)
        if "In place of the entry of that name" in before
    }
    for item in there.partition("models:\n")[2].split("  - ")[1:]:
        name = item.splitlines()[0].removeprefix("name: ").strip("'\"")
        if name.casefold() not in gone:
            kept.append(f"  - {item}")
    return "models:\n" + "".join(kept) + "\n".join(lines) + "\n"


@pytest.mark.parametrize("evidence", [True, False])
def test_E7_what_the_project_says_of_a_model_is_said_again_in_its_place(evidence: bool) -> None:
    before = project(THERE)
    picks = matrix(("gpt-4o", "tiered"), ("small", "loadout:minimal"), ("new", "full"), ("other", None))
    text = recommendation(replace(picks, own_models=written_models(before)), evidence=evidence)
    assert text.count("  # In place of the entry of that name in toolbelt.yaml:\n") == 2, "the new one takes no place"
    assert ("place of an entry" in text.replace("\n# ", " ")) is evidence
    after = {own.name: project_model_data(own) for own in project(replaced(THERE, text)).own_models}
    said = {own.name: project_model_data(own) for own in before.own_models}
    assert after == {
        "gpt-4o": {"name": "gpt-4o", "toolset": "tiered"},
        "Small": said["Small"] | {"toolset": "loadout:minimal"},
        "new": {"name": "new", "toolset": "full"},
        "other": said["other"],
    }


def test_E7_an_entry_that_says_so_already_is_told_so() -> None:
    text = recommendation(replace(matrix(("small", "full")), own_models=written_models(project(THERE))), evidence=False)
    assert mentions(text, "says so already:\n  - name: Small\n")
    assert text.endswith("    toolset: full\n")


def test_what_calls_no_tools_cannot_be_given_any() -> None:
    there = (ProjectModel("m", tool_calling=False, context_window=9000),)
    text = recommendation(replace(matrix(("m", "full")), own_models=there))
    assert "Without its `tool_calling: false`" in text
    [own] = project(text).own_models
    assert own == ProjectModel("m", context_window=9000, toolset="full")


def test_a_file_that_says_nothing_of_a_model_adds_nothing() -> None:
    text = recommendation(replace(matrix(("m", "full")), own_models=()))
    assert "In place" not in text
    assert "below that line" in text


ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        "base": st.sampled_from(("gpt-4o", "ollama/qwen3:8b", "yes", "a: b", "财务", "a\u202eb")),
        "provider": st.sampled_from(("openai", "1e5", "- x")),
        "context_window": st.integers(10_000, 10**7),
        "output_limit": st.integers(1, 10**6),
        "output_reserve": st.integers(1, 9_999),
        "max_tools": st.integers(1, 999),
        "tool_calling": st.just(True),
        "parallel_calls": st.booleans(),
        "tool_choice": st.booleans(),
        "caching": st.booleans(),
    },
)


@settings(max_examples=60, deadline=None)
@given(NAMES.filter(str.strip), ENTRIES)
def test_whatever_is_said_is_read_back_as_it_was(name: str, said: dict[str, Any]) -> None:
    own = ProjectModel(name, **said)
    text = recommendation(replace(matrix((name, "tiered")), own_models=(own,)))
    assert project(text).own_models == (replace(own, toolset="tiered"),)


def test_a_file_that_is_gone_or_broken_is_not_at_hand(tmp_path: Path) -> None:
    file = tmp_path / "toolbelt.yaml"
    assert models_at(None) is None
    assert models_at(str(file)) is None
    file.write_text(THERE, encoding="utf-8")
    assert models_at(str(file)) == written_models(project(THERE))
    file.write_text("models: [{nome: x}]", encoding="utf-8")
    assert models_at(str(file)) is None
    file.write_bytes(b"\xff\xfe\x00")
    assert models_at(str(file)) is None


def test_E6_like_is_held_against_like() -> None:
    """Of what was never asked the first request is known alone."""
    arms = [Asked("full", GOOD, 40_000, 90_000), Asked("tiered", GOOD, 400, 9_000)]
    assert mentions(recommendation(matrix_of(arms, 0.1)), "Definitions", "9,000 tokens", "10%", "90,000")
    never = [Asked("full", "x" * 100, 46_493, 0), Asked("tiered", GOOD, 172, 8_627)]
    text = " ".join(recommendation(matrix_of(never, 0.1)).replace("#", " ").split())
    assert mentions(text, "8,627 tokens", 172, "<1%", "46,493")
