from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolbelt.errors import ToolbeltError
from toolbelt.evals.cases.card.card import Content
from toolbelt.evals.cases.card.check import content_data
from toolbelt.evals.cases.card.editing import new_card, with_content
from toolbelt.sources import parse_yaml

NOW = Content(cases=6, clusters=4, kinds={"multi": 3, "single": 3}, answered_tools=2, digest="0" * 64)
KINDS = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12), st.integers(0, 10**6), max_size=6
)
DIGESTS = st.text("0123456789abcdef", min_size=64, max_size=64) | st.text("0123456789", min_size=64, max_size=64)
COUNTS = st.integers(0, 10**6)
CONTENTS = st.builds(Content, COUNTS, COUNTS, KINDS, COUNTS, DIGESTS, st.none() | DIGESTS)

COMMENTED = """\
# Mine.
name: mine   # the name

content:  # counted
  # by hand
  cases: 1       # few
  clusters: 1
  kinds:
    # of old
    old: 1   # gone
    single: 1  # stays
  answered_tools: 1
  digest: {digest}

# The rest.
summary: >-
  Some   text,
  folded.
"""


def test_only_what_changed_is_written_and_comments_and_order_stay() -> None:
    assert with_content(COMMENTED.format(digest="a" * 64), NOW) == COMMENTED.format(digest=f'"{"0" * 64}"').replace(
        "cases: 1 ", "cases: 6 "
    ).replace("clusters: 1", "clusters: 4").replace("    old: 1   # gone\n", "").replace(
        "single: 1  # stays\n", "single: 3  # stays\n    multi: 3\n"
    ).replace("answered_tools: 1", "answered_tools: 2")


@settings(max_examples=200, deadline=None)
@given(CONTENTS, CONTENTS)
def test_whatever_the_content_it_reads_as_written(before: Content, after: Content) -> None:
    text = new_card("mine", before)
    assert parse_yaml(text, "x").data == {"name": "mine", "content": content_data(before)}
    changed = with_content(text, after)
    assert parse_yaml(changed, "x").data == {"name": "mine", "content": content_data(after)}
    assert [line for line in changed.splitlines() if line.startswith("#")] == [
        line for line in text.splitlines() if line.startswith("#")
    ]
    assert with_content(changed, after) == changed


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("name: a\n", id="no-content"),
        pytest.param("name: a", id="no-line-end"),
        pytest.param("content:\nname: a\n", id="nothing-in-it"),
        pytest.param("name: a\ncontent: {cases: 1, kinds: {a: 1}}  # flow\nmade: m\n", id="flow"),
        pytest.param("{name: a, content: {cases: 1}}", id="all-flow"),
        pytest.param("content: [1, 2]\nname: a\n", id="no-mapping"),
        pytest.param("content:\n  cases: >\n    x\n  kinds: {}\nname: a\n", id="values-of-another-kind"),
        pytest.param("content: &c\n  cases: 1\nname: a\n", id="an-anchor"),
        pytest.param("content:\r\n  cases: 1\r\nname: a\r\n", id="lines-of-windows"),
        pytest.param("名: ä\ncontent:\n  cases: 1\nname: 👍\n", id="characters-of-several-bytes"),
    ],
)
def test_however_it_was_written_the_rest_stays(text: str) -> None:
    made = with_content(text, NOW)
    old = parse_yaml(text, "x").data
    assert parse_yaml(made, "x").data == {**old, "content": content_data(NOW)}
    assert ("\r\n" in text) == ("\r\n" in made)
    assert made.count("\n") == made.count("\r\n") or "\r\n" not in text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("content: &a {cases: 1}\nother: *a\n", id="what-another-key-refers-to"),
        pytest.param("{name: a}", id="nowhere-to-add"),
    ],
)
def test_what_would_change_more_is_refused(text: str) -> None:
    with pytest.raises(ToolbeltError, match="cannot be changed alone"):
        with_content(text, NOW)
