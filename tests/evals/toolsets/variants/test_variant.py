"""How variants are written (rule E1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wording import mentions
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.evals.toolsets.variants.variant import Variant, expand_variants, parse_variant

VARIANTS = st.builds(
    Variant,
    shuffled=st.booleans(),
    padded=st.integers(0, 9_999_999),
    distractors=st.integers(0, 9_999_999),
    anonymous=st.booleans(),
    undescribed=st.booleans(),
)


@pytest.mark.parametrize(
    ("text", "variant"),
    [
        pytest.param("plain", Variant(), id="plain changes nothing"),
        pytest.param("", Variant(), id="nor does nothing"),
        pytest.param(" Plain ", Variant(), id="case and space are no matter"),
        pytest.param("shuffled", Variant(shuffled=True), id="another order"),
        pytest.param("padded:46000", Variant(padded=46000), id="longer"),
        pytest.param("distractors:9", Variant(distractors=9), id="in wrong company"),
        pytest.param("distractors:9:random", Variant(distractors=9), id="any company"),
        pytest.param("Distractors : 9 : NEAR", Variant(distractors=9, near=True), id="near company"),
        pytest.param("anonymous", Variant(anonymous=True), id="without names"),
        pytest.param("undescribed", Variant(undescribed=True), id="without descriptions"),
        pytest.param(
            "undescribed + shuffled", Variant(shuffled=True, undescribed=True), id="two at once, in any order"
        ),
    ],
)
def test_E1_what_a_variant_is_written_as(text: str, variant: Variant) -> None:
    assert parse_variant(text) == variant


@given(VARIANTS)
def test_E1_a_variant_has_one_spelling_that_reads_back(variant: Variant) -> None:
    assert parse_variant(variant.name) == variant
    assert (variant == Variant()) == (variant.name == "")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        pytest.param("shufled", "Did you mean 'shuffled'", id="a slip"),
        pytest.param("padded", ("padded:N", 1), id="no number"),
        pytest.param("padded:", "write 'padded:N'", id="an empty number"),
        pytest.param("padded:0", "write 'padded:N'", id="no tokens"),
        pytest.param("padded:-5", "write 'padded:N'", id="fewer than none"),
        pytest.param("padded:٣", "write 'padded:N'", id="figures of another script"),
        pytest.param("distractors:x", "write 'distractors:N' or 'distractors:N:near'", id="no number of distractors"),
        pytest.param(
            "distractors:3:far", "write 'distractors:N' or 'distractors:N:near'", id="neither near nor random"
        ),
        pytest.param("shuffled:3", "write 'shuffled' alone", id="a number where none belongs"),
        pytest.param("plain+shuffled", ("'plain'", "alone"), id="plain and not"),
        pytest.param("plain:1", ("'plain'", "alone"), id="plain with something"),
        pytest.param("shuffled+shuffled", "says twice", id="twice"),
        pytest.param("padded:1+padded:2", ("twice", "'padded'"), id="two lengths"),
        pytest.param("shuffled+", "No variant named ''", id="nothing after the plus"),
        pytest.param("padded:99999999", "write 'padded:N'", id="more than any window holds"),
    ],
)
def test_E1_what_is_no_variant_is_refused_with_what_is(text: str, named: object) -> None:
    with pytest.raises(ToolbeltError, match=r".") as refused:
        parse_variant(text)
    assert mentions(str(refused.value), named)


def test_E1_variants_come_in_order_each_once() -> None:
    made = expand_variants(["plain, shuffled", "SHUFFLED", "anonymous+shuffled,shuffled+anonymous"])
    assert [variant.name for variant in made] == ["", "shuffled", "shuffled+anonymous"]
    with pytest.raises(ToolbeltError, match="No variant is named"):
        expand_variants([" , "])
    with pytest.raises(NotFoundError):
        expand_variants(["plain,padding:3"])
