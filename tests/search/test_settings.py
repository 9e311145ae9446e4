"""How search toolsets are written (rule S1)."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbelt.catalog.ranking.spec import RankKind, RankSpec
from toolbelt.errors import NotFoundError, ToolbeltError
from toolbelt.search.presets import PLAIN, PRESETS, parse_search, shorten_search
from toolbelt.search.settings import KEYS, Listing, Returns, Reveal, SearchSettings, Trigger, split_settings

RANKS = st.one_of(
    st.sampled_from([RankSpec(), RankSpec(RankKind.REGEX), RankSpec(RankKind.PYTHON, "my.module:rank")]),
    st.builds(RankSpec, st.just(RankKind.EMBEDDING), st.sampled_from(["m", "openai/m:k=3", "http://host:80/m"])),
)


@st.composite
def settings_of_any_kind(draw: st.DrawFn) -> SearchSettings:
    values = {
        "trigger": draw(st.sampled_from(Trigger)),
        "k": draw(st.integers(1, 1_000)),
        "returns": draw(st.sampled_from(Returns)),
        "reveal": draw(st.sampled_from(Reveal)),
        "pinned": draw(st.sampled_from(["core", "none", "dev", "two words", "a:b"])),
        "listing": draw(st.sampled_from(Listing)),
        "rank": draw(RANKS),
    }
    try:
        return SearchSettings(draw(st.sampled_from(list(PRESETS))), **values)
    except ToolbeltError:
        return PRESETS[PLAIN].settings


@given(settings_of_any_kind())
def test_S1_settings_are_read_back_from_their_full_and_their_short_form(settings: SearchSettings) -> None:
    assert parse_search(str(settings)) == settings
    assert parse_search(shorten_search(str(settings))) == settings


def test_S1_the_full_form_has_every_setting_and_rank_last() -> None:
    assert str(parse_search("")) == (
        "toolbelt-1:trigger=model:k=5:returns=names:reveal=append:pinned=core:listing=none:rank=words"
    )
    assert [field.name for field in dataclasses.fields(SearchSettings)] == ["preset", *KEYS]


@pytest.mark.parametrize(
    ("written", "short"),
    [
        ("", ""),
        ("toolbelt-1", ""),
        ("FastMCP", "fastmcp"),
        ("k=3", "toolbelt-1:k=3"),
        ("fastmcp: K = 3", "fastmcp:k=3"),
        ("fastmcp:k=5", "fastmcp"),
        ("openai:rank=embedding:a:k=3", "openai:rank=embedding:a:k=3"),
    ],
)
def test_S1_what_differs_from_the_preset_is_shown(written: str, short: str) -> None:
    assert shorten_search(str(parse_search(written.replace(" = ", "=").replace(": ", ":")))) == short


@pytest.mark.parametrize(
    ("written", "says"),
    [
        pytest.param("fastmpc", "Did you mean 'fastmcp'", id="preset"),
        pytest.param("fastmcp:rveal=call", "Did you mean 'reveal'", id="key"),
        pytest.param("reveal=cal", "Did you mean 'call'", id="value"),
        pytest.param("rank=wrds", "Did you mean 'words'", id="ranker"),
        pytest.param("k=0", "k must be a number from 1 to 1,000, not 0", id="too-small"),
        pytest.param("k=1001", "k must be a number", id="too-large"),
        pytest.param("k=٣", "k must be a number", id="digits-of-another-script"),
        pytest.param("k=3:k=4", "k= stands twice", id="twice"),
        pytest.param("fastmcp:k", "is no setting", id="no-value"),
        pytest.param("pinned=", "pinned= needs a value", id="empty-value"),
        pytest.param("reveal=call", "reveal=call needs returns=schemas", id="no-schemas"),
        pytest.param("rag-mcp:reveal=call", "do not go together", id="nothing-to-call-with"),
        pytest.param("rag-mcp:listing=names", "needs trigger=model", id="nowhere-to-list"),
        pytest.param("rag-mcp:rank=regex", "no pattern", id="words-as-a-pattern"),
    ],
)
def test_S1_what_is_wrong_is_an_error_with_what_is_right(written: str, says: str) -> None:
    with pytest.raises(ToolbeltError, match=says) as caught:
        parse_search(written)
    assert caught.value.exit_code == 2


@given(st.text(st.sampled_from("abk:=3* é\n\x1b"), max_size=20))
def test_S1_any_text_is_settings_or_an_error(text: str) -> None:
    try:
        settings = parse_search(text)
    except ToolbeltError:
        return
    assert parse_search(str(settings)) == settings


def test_S1_names_of_a_project_are_known_too() -> None:
    own = {"Mine": parse_search("fastmcp:k=2")}
    assert parse_search("mine", own) == own["Mine"]
    assert parse_search("mine:k=7", own).k == 7
    with pytest.raises(NotFoundError, match="Did you mean 'Mine'"):
        parse_search("mien", own)


def test_S1_rank_takes_the_rest() -> None:
    assert split_settings("x:k=3:rank=embedding:m:k=9") == ("x", {"k": "3", "rank": "embedding:m:k=9"})


def test_S1_every_preset_names_its_source_and_the_day() -> None:
    wanted = ["anthropic-bm25", "anthropic-regex", "openai", "pydantic-ai", "fastmcp", "bigtool", "rag-mcp", "toolhive"]
    assert set(wanted) < set(PRESETS)
    for name, preset in PRESETS.items():
        assert preset.settings.preset == name
        assert len(preset.source) > 20
        assert preset.read.year == 2026
