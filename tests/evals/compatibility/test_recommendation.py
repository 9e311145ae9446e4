"""What is to be pasted into `toolbelt.yaml`, read back by the project's own reader."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.evals.compatibility.runs import Asked, matrix_of
from toolbelt.evals.compatibility.matrix import Cell, CellState, Matrix, Pick, Row
from toolbelt.evals.compatibility.recommendation import recommendation, yaml_text
from toolbelt.stores.config import read_config

GOOD, BAD = "+" * 90 + "-" * 10, "+" * 20 + "-" * 80


def read(text: str) -> dict[str, str | None]:
    """What each model is given, as a project that has just that file reads it; all that is wrong is an error."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "toolbelt.yaml"
        path.write_text(text, encoding="utf-8")
        return {own.name: own.toolset for own in read_config(Path(folder), str(path)).own_models}


def matrix(*picks: tuple[str, str | None], is_sure: bool = True) -> Matrix:
    """Models and what each is to be given; `None` if nothing is sure."""
    rows = []
    for place, (model, toolset) in enumerate(picks):
        cell = Cell(toolset or "full", CellState.SCORED, place, definition_tokens_total=100.0)
        choice = None if toolset is None else place
        pick = Pick(model, best=place, choice=choice, toolset=toolset or "", sure=is_sure)
        rows.append(Row(model, (cell,), pick))
    return Matrix("r", "d", "c", 10, 0.02, ("full",), tuple(rows), notes=("A note.",))


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
    assert "of being wrong; where none is, the best as measured." in text.replace("\n# ", " ")
    assert text.endswith("  - name: m\n    toolset: tiered  # as measured, not sure\n")
    assert "not sure: full may be better" in text.replace("\n  # ", " ")
    assert read(text) == {"m": "tiered"}


def test_entries_go_below_those_there_are() -> None:
    added = recommendation(matrix(("a", "full"), ("b", "tiered"), is_sure=False)).partition("models:\n")[2]
    assert read(f"models:\n  - name: own\n    toolset: full\n{added}") == {"own": "full", "a": "full", "b": "tiered"}


def test_without_evidence_there_are_entries_alone() -> None:
    assert recommendation(matrix(("a", None)), evidence=False) == ""
    found = recommendation(matrix(("a", None), ("b", "tiered")), evidence=False)
    assert found == "models:\n  - name: b\n    toolset: tiered\n"


def test_a_model_by_two_names_is_an_entry_once() -> None:
    text = recommendation(matrix(("GPT-4o", "full"), ("gpt-4o", "tiered")))
    assert read(text) == {"GPT-4o": "full"}
    assert "# gpt-4o: left out, as a project takes it for GPT-4o." in text
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
