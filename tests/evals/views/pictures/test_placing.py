"""Labels never lie on each other, on a mark, or outside."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from toolbelt.evals.views.pictures.placing import Box, PlacedLabel, place_labels

BOUNDS = Box(0, 0, 800, 600)
MARKS = st.lists(st.tuples(st.integers(20, 780), st.integers(20, 580)), min_size=1, max_size=30)


def _assert_clear(placed: list[PlacedLabel], marks: list[tuple[int, int]]) -> None:
    boxes = [place.box for place in placed]
    dots = [Box(x - 8, y - 8, x + 8, y + 8) for x, y in marks]
    for number, box in enumerate(boxes):
        assert box.is_inside(BOUNDS)
        assert not any(box.overlap(other) for other in boxes[number + 1 :])
        assert not any(box.overlap(dot) for dot in dots)


@given(MARKS)
@settings(max_examples=25, deadline=None)
def test_numbers_are_clear_of_each_other_and_of_all_marks(marks: list[tuple[int, int]]) -> None:
    placed = place_labels(marks, [(22, 15)] * len(marks), BOUNDS, 8, reach=60)
    assert placed is not None
    _assert_clear(placed, marks)


@given(MARKS, st.integers(30, 400))
@settings(max_examples=25, deadline=None)
def test_names_are_clear_or_refused(marks: list[tuple[int, int]], width: int) -> None:
    placed = place_labels(marks, [(width, 15)] * len(marks), BOUNDS, 8, reach=6)
    if placed is not None:
        _assert_clear(placed, marks)


def test_thirty_marks_at_one_place_all_get_a_number() -> None:
    marks = [(400, 300)] * 30
    placed = place_labels(marks, [(22, 15)] * 30, BOUNDS, 8, reach=60)
    assert placed is not None
    _assert_clear(placed, marks)


def test_a_label_too_wide_for_the_field_is_refused() -> None:
    assert place_labels([(400, 300)], [(900, 15)], BOUNDS, 8) is None


def test_a_lonely_label_stands_right_of_its_mark_unless_a_line_does() -> None:
    [alone] = place_labels([(400, 300)], [(50, 15)], BOUNDS, 8) or []
    assert alone.is_near
    assert alone.box.left > 400
    [beside] = place_labels([(400, 300)], [(50, 15)], BOUNDS, 8, avoid=[Box(400, 298, 800, 302)]) or []
    assert beside.is_near
    assert beside.box.right < 400


def test_lines_to_labels_run_round_other_labels_where_they_can() -> None:
    placed = place_labels([(400, 300)] * 9, [(14, 15)] * 9, BOUNDS, 8, reach=60) or []
    assert any(place.leader for place in placed)
    for place in placed:
        assert not any(place.box.holds(point) for other in placed if other is not place for point in other.leader)
